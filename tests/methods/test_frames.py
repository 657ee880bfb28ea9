"""`frame` is the same kind of thing on every result: codes, value, status and what is published; confidential."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.release.publication import Publication

FIRMS = pd.DataFrame(
    {
        "region": list("nnnnnsssss"), "size": list("bbssbbsssb"), "act": list("xyxyxyxyxy"),
        "v": [90, 5, 4, 40, 50, 20, 30, 60, 10, 20],
    }
)  # fmt: skip
PROBLEM = tp.make_problem(tp.tabulate(FIRMS, ["region", "size"], "v"), "p%=15")
BARE = tp.Problem.from_arrays([[-1, 1, 1]], [3, 1, 2], primary=[1], lpl=1, upl=1)
CALLS: dict[str, Any] = {
    "suppress": tp.suppress,
    "round": lambda p: tp.round(p, 5),
    "adjust": tp.adjust,
    "random-round": lambda p: tp.random_rounding(p, 5),
    "conventional-round": lambda p: tp.conventional_rounding(p, 5),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_have_the_frame_of_their_release(name: str) -> None:
    found = CALLS[name](PROBLEM)
    frame = found.frame
    assert frame.columns.tolist() == ["region", "size", "value", "status", "published"]
    assert frame["value"].tolist() == PROBLEM.values.tolist()
    if name == "suppress":
        assert np.array_equal(frame["published"].isna(), found.pattern)
        release = tp.protect(FIRMS, "p%=15", "auto", by=["region", "size"], value="v", intervals=False)
        same = release.result.frame.rename(columns={"value": "v"})
        pd.testing.assert_frame_equal(same, release.frame, check_dtype=False)
    else:
        assert frame["published"].tolist() == found.values.tolist()
        assert "secondary" not in set(frame["status"])


@pytest.mark.parametrize("name", CALLS)
def test_cells_without_codes_make_no_frame(name: str) -> None:
    with pytest.raises(tp.InputError, match=r"no codes, so they make no frame: make the problem from a table"):
        _ = CALLS[name](BARE).frame


def test_sums_that_are_protected_as_cells_have_no_row() -> None:
    firms = FIRMS.assign(firm=range(10))
    release = tp.protect(firms, "nk=2,70", "greedy", by=["region", "size"], value="v", contributor="firm")
    assert len(release.result.frame) == release.table.n_cells


@pytest.mark.parametrize("method", ["greedy", "round"])
def test_frames_of_linked_tables_have_the_columns_of_the_public_file_in_its_order(method: str) -> None:
    tables = {"a": tp.tabulate(FIRMS, ["region", "size"], "v"), "b": tp.tabulate(FIRMS, ["act", "region"], "v")}
    release: Publication = tp.protect(tp.link(tables), "p%=15", method, intervals=False)
    shown = [name for name in release.published.columns if name != "status"]
    assert release.frame.columns.tolist() == [*shown, "status", "published"]
