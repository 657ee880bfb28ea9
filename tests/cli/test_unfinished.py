"""A search that a limit ended without a pattern is no verdict on the table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.cli.exits import Exit
from tabprotect.cli.run import _report
from tabprotect.formats.dialect import Dialect


@pytest.mark.parametrize(
    ("stopped", "said", "cure"),
    [
        ("time", "Time ran out, no safe pattern yet", "try --time-limit 120"),
        ("work", "The limit of work was reached, no safe pattern yet", "try --work-limit 40"),
        ("cancelled", "The search was cancelled, no safe pattern yet", ""),
    ],
)
def test_a_limit_is_said_with_its_cure(stopped: str, said: str, cure: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = pd.DataFrame({"region": list("nnsss"), "turnover": [90, 5, 40, 50, 60], "firm": range(5)})
    found = tp.protect(data, "p%=15", by=["region"], value="turnover", contributor="firm", bounds="1%")
    assert not found.safe
    settings = {**found.settings, "time limit (seconds)": 30.0, "work limit": 10}
    result = replace(found.result, status="unknown", stopped=stopped, unprotectable=())
    code = _report(replace(found, result=result, settings=settings), Path("out"), Dialect())
    text = " ".join(capsys.readouterr().out.split())
    assert code == Exit.UNSAFE
    assert f"{said}: nothing was written" in text
    assert cure in text
    assert "NOT SAFE" not in text
    assert ("; try" in text) == bool(cure)


def test_what_is_proven_to_be_out_of_reach_stays_a_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    data = pd.DataFrame({"region": list("nnsss"), "turnover": [90, 5, 40, 50, 60], "firm": range(5)})
    found = tp.protect(data, "p%=15", by=["region"], value="turnover", contributor="firm", bounds="1%")
    assert _report(found, Path("out"), Dialect()) == Exit.UNSAFE
    assert "NOT SAFE" in capsys.readouterr().out


def test_a_method_without_values_offers_no_flag_that_would_write_them(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is published, so nothing is unsafe; --allow-unsafe has nothing to write."""
    data = pd.DataFrame({"region": list("nnsss"), "turnover": [90, 5, 40, 50, 60], "firm": range(5)})
    found = tp.protect(data, "p%=15", tp.Round(base=1), by=["region"], value="turnover", contributor="firm")
    assert found.values is None
    assert _report(found, Path("out"), Dialect()) == Exit.UNSAFE
    text = " ".join(capsys.readouterr().out.split())
    assert "NOT SAFE" not in text
    assert "allow-unsafe" not in text
    assert "verdict no values: infeasible" in text
    assert "no rounding with this base" in text
    assert "Nothing was written: round base=1 has no values for this table." in text
