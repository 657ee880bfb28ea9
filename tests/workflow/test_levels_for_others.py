"""A level that is out of reach against somebody who knows a part of the cell is kept for everybody else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.cli.app import run
from tabprotect.comparison import compare
from tabprotect.release.read import read_release
from tabprotect.solver.limits import Budget, Limits
from tabprotect.workflow.hide import Sums
from tabprotect.workflow.prepare import prepare
from tabprotect.workflow.request import Request
from tabprotect.workflow.source import Finished
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


def test_a_cell_is_no_sum_that_may_be_left_out() -> None:
    release = tp.protect(table(), [], attackers={"office": ["a"]}, unions="off")
    assert release.safe
    assert release.audit().interval(1)[0] <= 100 - 23
    assert any("lowered to what a respondent" in note for note in release.problem.notes)


def test_who_only_asks_is_told_of_lower_levels() -> None:
    audited = tp.protect(table(), [], attackers={"office": ["a"]}, unions="audit")
    assert not audited.safe
    assert "T = 100 can be known more closely than its protection level" in str(audited.summary())


@pytest.mark.parametrize("method", [tp.Round(base=20), tp.Round(base=50), tp.Adjust(within=50)], ids=str)
def test_changed_values_keep_the_public_from_what_only_one_can_know(method: Any) -> None:
    release = tp.protect(table(), [], method, attackers={"office": ["a"]}, seed=1)
    assert release.safe
    assert release.verify().safe
    assert release.problem.lpl.tolist()[1:] == [9.999, 0, 0, 0, 0, 23]
    assert len(release.values) == release.loss.changed + int(np.sum(release.values == release.table.values)) == 6
    low, high = release.audit().interval(1)
    assert low <= 100 - 23
    assert high >= 101
    far = {"near": 50.0}.get(release.result.claim["method"]) or method.base * (release.result.result.steps + 1)
    # each cell is within `far` of what is published, and the table adds up
    v = dict(zip(["Total", "T", "a", "d", "U", "V"], release.values.tolist(), strict=True))
    least = max(v["T"] - far, max(v["a"] - far, 0) + max(v["d"] - far, 0), v["Total"] - v["U"] - v["V"] - 3 * far)
    assert low == pytest.approx(least)
    seen = release.audit().frame.query("label == 'sum of T for others (1)'").set_index("attacker")
    assert seen["needed_low"].to_dict() == {"public": 77.0}


def test_changed_values_that_the_public_knows_too_closely_are_refused(tmp_path: Path) -> None:
    """Neighbouring multiples of 10 leave the public 10 below at most, which was enough for the office's level."""
    method = tp.Round(base=10, steps=0, levels=False)
    release = tp.protect(table(), [], method, attackers={"office": ["a"]})
    assert not release.safe
    with pytest.raises(tp.InfeasibleError, match="sum of T for others"):
        release.write(tmp_path / "out")


def test_levels_for_others_are_no_sums_of_hidden_cells_where_none_is_hidden(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = tp.protect(table(), [], tp.Round(base=50), attackers={"office": ["a"]})
    words = "1 further protection level was judged, which some respondents are not asked about"
    assert (release.counts.sums, release.counts.levels_for_others) == (0, 1)
    assert dict(release.summary().lines)["levels"] == words
    assert run(["audit", str(release.write(tmp_path / "out"))]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert words in out
    assert "of hidden cells" not in out


def test_releases_of_changed_values_with_levels_for_others_are_read_back(tmp_path: Path) -> None:
    release = tp.protect(table(), [], tp.Round(base=50), attackers={"office": ["a"]})
    release.write(tmp_path / "out")
    released = read_release(tmp_path / "out")
    assert released.failures == ()
    assert released.certificate.verify().safe
    rows = pd.read_csv(tmp_path / "out" / "internal" / "table.csv")
    assert rows["g"].tolist() == ["Total", "T", "a", "d", "U", "V"]
    public = (tmp_path / "out" / "publish" / "table.csv").read_text()
    assert "others" not in public


def test_methods_are_compared_by_the_levels_for_others() -> None:
    request = Request.of(source=Finished(table()), rules=[], attackers={"office": ["a"]})
    narrow, wide = compare(request, ["round:base=10,steps=0,levels=no", "round:base=50"]).lines
    assert narrow.risk is not None
    assert wide.risk is not None
    assert narrow.risk.exposed > 0
    assert wide.risk.exposed == 0
    assert narrow.values is not None
    assert len(narrow.values) == 6


def test_a_look_that_a_limit_cuts_short_is_no_answer_and_is_not_remembered() -> None:
    request = Request.of(source=Finished(table()), rules=(), attackers={"office": ["a"]})
    looks = Sums(prepare(request))
    result = tp.suppress(looks.prepared.problem, method="greedy")
    everything = replace(result, pattern=result.problem.may_hide | result.problem.must_hide)
    over = Budget(Limits(seconds=0))
    # everything hidden gives nothing away, which a look without time cannot know; the cheapest pattern does
    assert [sum_.cells for sum_ in looks(everything, over)] == [(1,)]
    assert looks(everything) == ()
    assert [sum_.cells for sum_ in looks(result)] == [(1,)]


def test_what_was_not_looked_at_is_told_of_the_pattern_that_is_released(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not of the one looked at last; each is looked at once."""
    looked: list[int] = []

    def look(table: Any, rules: Any, pattern: Any, *, notes: list[str], **more: Any) -> tuple[()]:
        looked.append(int(pattern.sum()))
        notes.append(f"{looked[-1]} hidden cells")
        return ()

    monkeypatch.setattr("tabprotect.workflow.hide.union_exposures", look)
    looks = Sums(prepare(Request.of(source=Finished(table()), rules=(), attackers={"office": ["a"]})))
    result = tp.suppress(looks.prepared.problem, method="greedy")
    everything = replace(result, pattern=result.problem.may_hide | result.problem.must_hide)
    assert looks.notes(result) == ()
    for one in (result, everything, result):
        looks(one)
    assert looked == [int(result.pattern.sum()), int(everything.pattern.sum())]
    assert looks.notes(result) == (f"{looked[0]} hidden cells",)
    assert looks.notes(everything) == (f"{looked[1]} hidden cells",)
