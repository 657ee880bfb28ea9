"""A path that nothing can have is a fault of the input, wherever it is given."""

from __future__ import annotations

import errno
import sys
from pathlib import Path

import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.cli.app import run
from tabprotect.paths import possible

LONG = "a" * 400


@pytest.mark.parametrize("name", [LONG, f"{LONG}.csv", f"./{LONG}/is", "a\0b"])
def test_a_name_that_nothing_can_have_is_named_in_short(name: str) -> None:
    with pytest.raises(tp.InputError, match="can be no name") as caught:
        possible(name)
    assert len(str(caught.value)) < 250


def test_whatever_may_be_there_is_possible(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "file", tmp_path / "file" / "below", tmp_path / "absent" / "below"):
        assert possible(place) == place


@pytest.mark.parametrize("ending", ["", ".csv", ".parquet", ".xlsx", ".duckdb"])
def test_data_with_such_a_name_are_refused(ending: str) -> None:
    with pytest.raises(tp.InputError, match="can be no name"):
        tp.protect(LONG + ending, ["p%=15"], by=["region"], value="turnover")
    with pytest.raises(tp.InputError, match="can be no name"):
        tp.Table.from_cells(LONG + ending, ["region"], "turnover")


COMMANDS = [
    ["verify", LONG],
    ["verify", f"{LONG}.json"],
    ["verify", "m.csv", "--against", LONG],
    ["audit", LONG],
    ["audit", f"{LONG}.jj", "--pattern", "p.json"],
    ["audit", "m.csv", "--pattern", LONG],
    ["export", LONG, "table.px"],
    ["export", "m.csv", f"{LONG}.px"],
    ["protect", LONG],
    ["protect", f"{LONG}.csv", "--by", "region"],
    ["protect", f"{LONG}.toml"],
    ["protect", "m.csv", "--by", "region", "--value", "v", "--rule", "p%=15", "--previous", LONG],
    ["protect", "m.csv", "--by", "region", "--value", "v", "--rule", "p%=15", "--out", LONG],
    ["protect", "m.csv", "--by", "region", "--hierarchy", f"region={LONG}", "--value", "v", "--rule", "p%=15"],
    ["apply", "m.csv", "--data", LONG, "--out", "out"],
    ["apply", LONG, "--data", "m.csv", "--out", "out"],
    ["mask", LONG, "--out", "out"],
    ["compare", LONG],
    ["compare-masks", LONG, "--out", "out"],
    ["unsafe", f"{LONG}.csv", "--keys", "region"],
    ["risk", f"{LONG}.csv"],
    ["query", LONG, "--policy", LONG],
    ["serve", LONG, "--policy", LONG],
    ["solve", f"{LONG}.jj"],
    ["arb", LONG],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: " ".join(w.replace(LONG, "LONG") for w in words))
def test_commands_call_it_bad_input(command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"region": list("aabb"), "v": [1, 2, 3, 4]}).to_csv("m.csv", index=False)
    assert run(command) == 2
    assert {path.name for path in tmp_path.iterdir()} == {"m.csv"}


def test_the_system_s_word_for_it_is_bad_input_wherever_it_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    def long(*_: object, **__: object) -> None:
        raise OSError(errno.ENAMETOOLONG, "File name too long", LONG)

    monkeypatch.setattr(sys.modules["tabprotect.release.period"], "releases_in", long)
    assert run(["verify", "m.json"]) == 2
