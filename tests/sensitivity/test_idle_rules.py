"""Rules that have nothing to read do not call a table safe."""

from __future__ import annotations

import pandas as pd
import pytest

from tabprotect import Hierarchy, InputError, Table, protect

FINISHED = pd.DataFrame({"r": ["Total", "a", "b", "c"], "v": [100.5, 60.5, 30.25, 9.75], "st": ["", "u", "", ""]})


@pytest.mark.parametrize("rules", ["manual", "missing", ["manual", "missing"]])
def test_rules_without_their_columns_are_said_to_find_nothing(rules: object) -> None:
    for release in (
        protect(Table.from_cells(FINISHED, ["r"], "v"), rules),
        protect(FINISHED[1:], rules, by="r", value="v"),
    ):
        assert "nothing says which cells are sensitive: " in str(release.summary())
    assert "nothing says" not in str(protect(FINISHED[1:], ["p%=15", "manual"], by="r", value="v").problem.notes)


def test_with_the_column_they_find_the_cell() -> None:
    release = protect(Table.from_cells(FINISHED, ["r"], "v", status="st"), "manual")
    assert release.problem.primaries.tolist() == [1]


def test_a_path_is_no_text_of_a_hierarchy() -> None:
    with pytest.raises(InputError, match=r"read a file by Hierarchy.read\('region.hrc'\)"):
        Hierarchy.from_hrc("region.hrc")
