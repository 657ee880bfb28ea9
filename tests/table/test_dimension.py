"""What callers may give as dimensions and their hierarchies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tabprotect as tp

FIRMS = pd.DataFrame(
    {"region": ["N1", "N1", "N2", "S1", "S1", "S2"] * 3, "size": list("bbssbs") * 3, "turnover": range(10, 28)}
)
HRC = "North\n@N1\n@N2\nSouth\n@S1\n@S2\n"
CODES = ("Total", "North", "N1", "N2", "South", "S1", "S2")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "region.hrc"
    file.write_text(HRC)
    return file


@pytest.mark.parametrize("kind", ["hierarchy", "path", "text"])
@pytest.mark.parametrize("word", ["by", "hierarchies"])
def test_a_hierarchy_in_a_mapping_is_used(kind: str, word: str, path: Path) -> None:
    given: Any = {"hierarchy": tp.Hierarchy.from_hrc(HRC), "path": path, "text": str(path)}[kind]
    words: dict[str, Any] = {"by": {"region": given, "size": None}}
    if word == "hierarchies":
        words = {"by": ["region", "size"], "hierarchies": {"region": given}}
    table = tp.tabulate(FIRMS, value="turnover", **words)
    assert table.dimensions[0].codes == CODES
    assert table.dimensions[1].codes == ("Total", "b", "s")
    north = table.rows.query("region == 'North' and size == 'Total'").turnover.item()
    assert north == FIRMS[FIRMS.region.str.startswith("N")].turnover.sum()
    release = tp.protect(FIRMS, "p%=15", value="turnover", **words)
    assert release.table.dimensions[0].codes == CODES


def test_codes_in_a_mapping_are_below_a_total() -> None:
    table = tp.tabulate(FIRMS, {"size": ["b", "m", "s"]}, "turnover")
    assert table.dimensions[0].codes == ("Total", "b", "m", "s")


@pytest.mark.parametrize(
    "given",
    [
        {"a": "N", "b": "N", "c": "S"},
        {"a": "N", "b": "N", "c": "S", "N": "Total", "S": "Total"},
        {"Total": ["N", "S"], "N": ["a", "b"], "S": ["c"]},
    ],
)
def test_a_mapping_of_codes_is_a_hierarchy(given: Any) -> None:
    frame = pd.DataFrame({"region": ["a", "b", "c"], "turnover": [1.0, 2.0, 4.0]})
    before = dict(given)
    table = tp.tabulate(frame, {"region": given}, "turnover")
    assert table.dimensions[0].codes == ("Total", "N", "a", "b", "S", "c")
    assert table.values.tolist() == [7.0, 3.0, 1.0, 2.0, 4.0]  # S and c are one cell
    assert given == before


def test_finished_cells_take_a_mapping_too(path: Path) -> None:
    made = tp.tabulate(FIRMS, {"region": path}, "turnover")
    again = tp.Table.from_cells(made.rows, {"region": path}, "turnover")
    assert again.dimensions[0].codes == CODES
    assert again.values.tolist() == made.values.tolist()


@pytest.mark.parametrize(
    ("by", "hierarchies", "says"),
    [
        ({"region": 3}, None, "the hierarchy of 'region' must be a Hierarchy, the path .*, not 3"),
        ({"region": []}, None, "the hierarchy of 'region' must be"),
        ({"region": "no.hrc"}, None, "no.hrc: cannot be read"),
        (["region"], {"region": "no.hrc"}, "no.hrc: cannot be read"),
        (["region"], "region.hrc", "hierarchies must be given by name"),
        (["region"], {"regoin": ["N"]}, "hierarchies names 'regoin', .* did you mean 'region'"),
        ({"region": ["a"]}, {"region": ["b"]}, "dimension 'region' is given two different hierarchies"),
        (3, None, "by must name the columns"),
        ([3], None, "a dimension needs the name of a column"),
        ({}, None, "at least one dimension"),
    ],
)
def test_what_is_no_hierarchy_is_refused(by: Any, hierarchies: Any, says: str) -> None:
    with pytest.raises(tp.InputError, match=says):
        tp.tabulate(FIRMS, by, "turnover", hierarchies=hierarchies)
