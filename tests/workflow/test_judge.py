"""Levels that a search takes for reached and exact arithmetic does not: more is hidden, or the release is not safe."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.errors import InfeasibleError
from tabprotect.solver.limits import Budget
from tabprotect.workflow.judge import MOMENT

NEGLIGIBLE = 1e-8
"""Of a unit; a search counts levels as reached within 1e-7 of them."""


def regions(*, movable: bool) -> tp.Table:
    """Region a needs 2 to both sides; b, the cheapest partner, can go down by a hair less; c can or cannot help."""
    frame = pd.DataFrame(
        {
            "region": ["Total", "a", "b", "c"],
            "value": [20.0, 9, 6, 5],
            "cost": [20, 9, 1, 5],
            "sensitive": ["z", "u", "s", "s" if movable else "z"],
            "least": [0, 0, 4 + NEGLIGIBLE, 0],
            "level": [0, 2, 0, 0],
        }
    )
    return tp.Table.from_cells(
        frame, ["region"], "value", status="sensitive", cost="cost", lower="least", lpl="level", upl="level"
    )


def protected(table: tp.Table, **more: Any) -> tp.Release:
    return tp.protect(table, [], tp.Suppress(cost="cost"), **more)


def test_more_is_hidden_where_a_level_is_reached_in_floating_point_only() -> None:
    table = regions(movable=True)
    release = protected(table)
    search = tp.suppress(release.problem)
    assert search.suppressed.tolist() == [1, 2]  # what this is about: the search alone is content
    assert release.result.suppressed.tolist() == [1, 2, 3]
    assert (release.safe, release.result.cost, release.result.status) == (True, 6.0, "feasible")
    assert release.result.bound == search.bound == 1.0
    assert "1 cells are hidden for 1 levels that were reached in floating point only" in release.result.message
    assert release.verify().ok
    assert release.judgement.interval(1) == pytest.approx((0, 16 - NEGLIGIBLE))


def test_what_cannot_be_mended_is_named_with_the_level_and_what_is_reached() -> None:
    release = protected(regions(movable=False), allow_unsafe=True)
    assert not release.safe
    (line,) = [text for name, text in release.summary().lines if name == "not safe"]
    assert line == "a moves 1.99999999 upwards, needs 2"


def pressing(stage: str) -> dict[str, Any]:
    """Return arguments for Ctrl-C at a stage of the work."""
    heard: list[str] = []
    return {"progress": lambda line: heard.append(line.stage), "limits": tp.Limits(stop=lambda: stage in heard)}


def test_after_ctrl_c_in_the_audit_more_is_still_hidden() -> None:
    release = protected(regions(movable=True), **pressing("audit"))
    assert release.safe
    assert release.result.suppressed.tolist() == [1, 2, 3]


def test_what_ctrl_c_left_unsettled_is_not_called_unsafe(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = time.monotonic
    later = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock() + later[0])

    def late(_result: Any, _exposures: Any, _tight: float, budget: Budget, _options: Any) -> None:
        # the moment that is left begins at the first look
        assert not budget.exhausted
        later[0] += MOMENT
        assert budget.exhausted

    monkeypatch.setattr("tabprotect.workflow.judge.settle", late)
    release = protected(regions(movable=True), **pressing("audit"))
    assert not release.safe
    assert release.unfinished == "the search was cancelled, no safe pattern yet"
    assert "NOT SAFE" not in str(release.summary())


def test_intervals_of_changed_values_end_with_ctrl_c() -> None:
    release = tp.protect(regions(movable=True), [], tp.Round(base=5), **pressing("audit"))
    assert release.safe
    assert not release.judgement.complete
    assert release.verify().ok


def test_changed_values_that_the_audit_had_no_time_for_are_not_called_unsafe(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def rounded(**more: Any) -> Any:
        return tp.protect(regions(movable=True), [], tp.Round(base=5), **pressing("audit"), **more)

    whole = rounded()
    assert whole.safe
    assert not whole.unfinished
    for name in ("JUDGE_SECONDS", "STOP_SECONDS"):
        monkeypatch.setattr(f"tabprotect.workflow.judge.{name}", 0.0)
    release = rounded()
    assert not release.safe
    assert release.stopped
    assert release.unfinished == "whether the values are safe was not decided within the limits"
    assert release.reasons == [release.unfinished]
    assert "not decided" in repr(release)
    assert "NOT SAFE" not in str(release.summary())
    assert release.result.status == "unknown"
    assert "the audit was ended with 2 levels not decided" in release.result.message
    with pytest.raises(InfeasibleError, match=r"nothing is published\. Give it a higher limit of time"):
        release.write(tmp_path / "out")
    taken = rounded(allow_unsafe=True)
    assert "NOT SAFE" in str(taken.summary())
    assert taken.write(tmp_path / "taken").exists()


@pytest.mark.parametrize("limits", [{"seconds": 0.0}, {}])
def test_what_the_audit_had_no_time_for_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limits: dict[str, float]
) -> None:
    table = regions(movable=True)
    asked = {"limits": tp.Limits(**limits)} if limits else pressing("audit")
    assert protected(table, **asked).safe
    for name in ("JUDGE_SECONDS", "STOP_SECONDS"):
        monkeypatch.setattr(f"tabprotect.workflow.judge.{name}", 0.0)
    release = protected(table, **({"limits": tp.Limits(**limits)} if limits else pressing("audit")))
    assert not release.safe
    assert (release.result.status, release.result.cost) == ("unknown", None)
    assert "no safe pattern yet" in release.unfinished
    assert "NOT SAFE" not in str(release.summary())
    assert "the audit was ended with 2 levels not decided" in release.result.message
    with pytest.raises(InfeasibleError, match=r"nothing is published\. Give the method a higher limit"):
        release.write(tmp_path / "out")
