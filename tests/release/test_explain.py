"""A release says what became of a cell, and takes every name of it everywhere."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import tabprotect as tp

FIRMS = pd.DataFrame(
    {
        "region": ["N1", "N1", "N1", "N2", "N2", "N2", "S1", "S1", "S1", "S1", "S1", "S1"],
        "size": list("abbaabaabbbb"),
        "v": [90, 5, 4, 40, 50, 20, 30, 60, 10, 20, 25, 0],
        "firm": range(12),
    }
)
#: S has one part, so that both are one cell
TREE = {"N1": "N", "N2": "N", "S1": "S"}


def released(method: Any) -> Any:
    table = tp.tabulate(FIRMS, ["region", "size"], "v", contributor="firm", hierarchies={"region": TREE})
    return tp.protect(table, "p%=15", method, seed=1)


@pytest.fixture(scope="module")
def release() -> Any:
    return released("exact")


def test_the_first_line_says_what_became_of_the_cell(release: Any) -> None:
    seen = set()
    for cell, word in enumerate(release.words):
        first = release.explain(release.table.system.cells[cell]).split("\n")[0]
        assert first.endswith(f", {'hidden' if release.pattern[cell] else 'published'}, {word}")
        seen.add(word)
    assert {"primary", "secondary", "safe"} <= seen


def test_of_changed_values_it_says_what_is_published() -> None:
    changed = released(tp.Adjust())
    cell = int(changed.assessment.primaries[0])
    first = changed.explain(changed.table.system.cells[cell]).split("\n")[0]
    assert first.endswith(f", published as {changed.values[cell]:g}, primary")


def test_a_column_that_nobody_gave_is_not_told_as_a_rule() -> None:
    """Combinations without records are fixed at zero by a column of the table."""
    few = FIRMS[(FIRMS["region"] != "N2") | (FIRMS["size"] != "b")]
    release: Any = tp.protect(few, "p%=15", by=["region", "size"], value="v", contributor="firm")
    assert "status" in release.table.columns
    assert "manual" not in release.explain(("N1", "a"))


@pytest.mark.parametrize("method", ["exact", tp.Adjust()])
def test_every_name_of_a_cell_is_taken_everywhere(method: Any) -> None:
    made = released(method)
    audits = made.audit(), tp.audit(made), made.judgement
    names = [("S", "a"), ("S1", "a"), "S x a", "S1 x a", {"region": "S1", "size": "a"}, {"region": "S", "size": "a"}]
    assert len({made.explain(name) for name in names}) == 1
    for found in audits:
        assert len({_interval(found, name) for name in names}) == 1


def _interval(found: tp.Audit, name: Any) -> Any:
    try:
        return found.interval(name)
    except tp.InputError as error:
        return "not hidden" if "is not hidden" in str(error) else str(error)
