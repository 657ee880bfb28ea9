"""Hidden cells that no level is asked for and that everybody can compute: said everywhere, protected on request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.attack.audit import audit
from tabprotect.cli.app import run


def carried_over() -> pd.DataFrame:
    """A table whose first inner cell was suppressed elsewhere, alone in its row and column."""
    cells = [(r, c) for r in ("Total", "r1", "r2", "r3") for c in ("Total", "c1", "c2", "c3")]
    inner = np.array([[40, 20, 30], [25, 35, 10], [15, 45, 50]])
    full = np.zeros((4, 4), int)
    full[1:, 1:] = inner
    full[0, 1:], full[1:, 0], full[0, 0] = inner.sum(axis=0), inner.sum(axis=1), inner.sum()
    frame = pd.DataFrame(cells, columns=["r", "c"]).assign(v=full.ravel(), status="")
    frame.loc[(frame["r"] == "r1") & (frame["c"] == "c1"), "status"] = "x"
    return frame


def table() -> tp.Table:
    return tp.Table.from_cells(carried_over(), ["r", "c"], "v", status="status")


@pytest.mark.parametrize("intervals", [True, False])
def test_a_recomputable_cell_is_a_warning_everywhere(intervals: bool, tmp_path: Path) -> None:
    made = tp.protect(table(), "manual", intervals=intervals)
    assert made.safe
    words = "1 hidden cell without protection level can be computed by everybody, exactly"
    summary = str(made.summary())
    assert words in summary
    assert "1: 0 primary, 0 secondary, 1 suppressed already" in summary
    assert words in made.audit().summary()
    made.write(tmp_path / "out")
    facts = json.loads((tmp_path / "out" / "internal" / "release.json").read_text())
    assert facts["hidden"] == {"primary": 0, "secondary": 0, "forced": 1}
    assert words in facts["warnings"][0]
    assert words in (tmp_path / "out" / "internal" / "report.html").read_text()
    public = "".join(p.read_text() for p in (tmp_path / "out" / "publish").iterdir())
    assert "without protection level" not in public


def test_audit_and_protect_say_so_and_end_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    carried_over().to_csv(tmp_path / "cells.csv", index=False)
    call = ["protect", "--cells", str(tmp_path / "cells.csv"), "--by", "r", "--by", "c", "--value", "v"]
    call += ["--status", "status", "--rule", "manual", "--out", str(tmp_path / "out")]
    assert run(call) == 0
    assert "hidden cell without protection level" in " ".join(capsys.readouterr().out.split())
    assert run(["audit", str(tmp_path / "out"), "--json", str(tmp_path / "audit.json")]) == 0
    verdict = json.loads((tmp_path / "audit.json").read_text())
    assert len(verdict["left_open"]) == len(verdict["warnings"]) == 1
    assert run([*call, "--protect-hidden"]) == 0
    assert "without protection level" not in capsys.readouterr().out
    assert run(["audit", str(tmp_path / "out"), "--json", str(tmp_path / "audit.json")]) == 0
    assert json.loads((tmp_path / "audit.json").read_text())["left_open"] == []


def test_cells_suppressed_elsewhere_get_the_levels_of_cells_marked_by_hand() -> None:
    made = tp.protect(table(), "manual=10", protect_hidden=True)
    cell = made.table.system.cells.get_loc(("r1", "c1"))
    low, high = made.audit().interval(cell)
    assert low <= 36
    assert high >= 44
    assert made.pattern.sum() == 4
    assert not made.judgement.warnings()
    assert "4: 1 primary, 3 secondary" in str(made.summary())
    assert tp.protect(table(), "manual", protect_hidden=True).problem.upl[cell] == 8


def test_a_secondary_cell_that_gives_itself_away_gets_a_width() -> None:
    """Bounds of half a per cent tell the second cell, whose cost is small, although they leave the first its level."""
    A = [[-1.0, 1, 1, 1]]
    p = tp.Problem.from_arrays(
        A, [300, 100, 100, 100], primary=[1], lpl=0.2, upl=0.2, lower=[0, 0, 99.8, 0], upper=[999, 999, 100.2, 999]
    )
    found = audit(p, [1, 2])
    assert found.left_open.tolist() == [2]
    assert "to within 1 %" in found.warnings()[0]
    assert audit(p, [1, 3]).left_open.tolist() == []


def protected_secondaries(**how: Any) -> tp.Release:
    cells = pd.DataFrame({"r": ["Total", "a", "b", "c"], "v": [300.0, 100, 100, 100], "status": ["p", "u", "", ""]})
    cells = cells.assign(lower=[0, 0, 99.8, 0], upper=[999, 999, 100.2, 999], cost=[9, 1, 1, 5])
    cells = cells.assign(lpl=[0, 0.2, 0, 0], upl=[0, 0.2, 0, 0])
    columns = {name: name for name in ("status", "lower", "upper", "cost", "lpl", "upl")}
    return tp.protect(tp.Table.from_cells(cells, ["r"], "v", **columns), "manual", **how)


def test_secondaries_are_searched_for_again() -> None:
    plain, again = protected_secondaries(), protected_secondaries(protect_hidden=True)
    assert np.flatnonzero(plain.pattern).tolist() == [1, 2]
    assert len(plain.judgement.warnings()) == 1
    assert again.safe
    assert not again.judgement.warnings()
    # nothing makes the second cell less certain, so the dearer third one is hidden
    assert np.flatnonzero(again.pattern).tolist() == [1, 3]
    assert any("not hidden" in note for note in again.problem.notes)
