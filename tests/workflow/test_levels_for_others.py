"""A level that is out of reach against somebody who knows a part of the cell is kept for everybody else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tests.checker import Judge

SUBTOTALS = tp.Hierarchy.from_pairs([("Total", part) for part in ("T", "U", "V")] + [("T", "a"), ("T", "d")])


def table() -> tp.Table:
    """T = a + d = 90 + 10 needs 23 below; whoever knows a is never in doubt about 90 of it."""
    frame = pd.DataFrame(
        {
            "g": ["Total", "T", "a", "d", "U", "V"],
            "value": [320.0, 100, 90, 10, 60, 160],
            "status": ["s", "u", "s", "s", "s", "s"],
            "least": [0.0, 23, 0, 0, 0, 0],
            "most": [0.0, 1, 0, 0, 0, 0],
        }
    )
    return tp.Table.from_cells(
        frame, [tp.Dimension("g", SUBTOTALS)], "value", status="status", lpl="least", upl="most"
    )  # fmt: skip


@pytest.mark.parametrize("method", ["exact", "greedy", "local"])
def test_the_public_is_kept_from_what_only_one_can_know(method: str) -> None:
    release = tp.protect(table(), [], tp.Suppress(method=method), attackers={"office": ["a"]})
    assert release.safe
    assert release.verify().safe
    low, high = release.audit().interval(1)
    assert low <= 100 - 23
    assert high >= 101
    # a alone would leave the office no doubt, d alone tells everybody that T is 90 at least
    names = [release.table.system.label(int(i)) for i in release.result.suppressed if i < release.table.n_cells]
    assert names == ["T", "a", "d", "U"]
    seen = release.audit().frame.query("label == 'sum of T for others (2)'").set_index("attacker")
    assert seen["needed_low"].to_dict() == pytest.approx({"public": 77.0, "office": np.nan}, nan_ok=True)
    assert seen.loc["office", "low"] == 90
    (office,) = release.problem.attackers
    assert [release.problem.system.label(i) for i in office.spared] == ["sum of T for others (2)"]
    assert Judge(release.problem).safe(release.result.pattern)
    assert any("lowered to what a respondent" in note for note in release.problem.notes)


def test_nobody_who_knows_a_part_changes_nothing() -> None:
    release = tp.protect(table(), [])
    assert release.problem.sums == 0
    assert release.audit().interval(1)[0] <= 100 - 23


def test_who_is_not_asked_to_look_for_sums_is_told_of_lower_levels() -> None:
    release = tp.protect(table(), [], attackers={"office": ["a"]}, unions="off")
    assert release.problem.sums == 0
    assert any("lowered to what a respondent" in note for note in release.problem.notes)
    audited = tp.protect(table(), [], attackers={"office": ["a"]}, unions="audit")
    assert not audited.safe
    assert "T = 100 can be known more closely than its protection level" in str(audited.summary())
