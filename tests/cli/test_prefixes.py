"""Hierarchies by prefixes in a specification."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tabprotect.cli.app import run

DATA = "nuts,v,id\nDE111,5,1\nDE112,7,2\nDE211,9,3\nunknown,4,4\nDE212,8,5\n"


def protect(tmp_path: Path, digits: str) -> int:
    (tmp_path / "d.csv").write_text(DATA)
    (tmp_path / "s.toml").write_text(
        'data = "d.csv"\nby = ["nuts"]\nvalue = "v"\ncontributor = "id"\nrules = ["p%=10"]\n'
        f'missing = {{nuts = ["unknown"]}}\n[hierarchy.nuts]\ndigits = {digits}\n'
    )
    return run(["protect", str(tmp_path / "s.toml"), "--allow-unsafe", "--out", str(tmp_path / "out")])


def test_a_code_for_unknown_is_not_cut_into_levels(tmp_path: Path) -> None:
    assert protect(tmp_path, "[2, 1, 2]") == 0
    codes = set(pd.read_csv(tmp_path / "out/publish/table.csv")["nuts"])
    assert codes == {"Total", "DE", "DE1", "DE2", "DE111", "DE112", "DE211", "DE212", "unknown"}


def test_digits_that_do_not_add_up_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert protect(tmp_path, "[2, 1]") == 2
    assert (
        "hierarchy.nuts: digits = [2, 1] add up to 3 characters but the longest code has 5" in capsys.readouterr().err
    )
    assert not (tmp_path / "out").exists()
