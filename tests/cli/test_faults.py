"""Odd names and columns: no markup, no control characters, no traceback, and exit code 70 for what nobody foresaw."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tabprotect.cli.app import Exit
from tabprotect.cli.screen import Screen, facts
from tabprotect.release.publication import Summary
from tests.cli.conftest import Outcome, tree

FIRMS: dict[str, list[Any]] = {
    "region": list("nnnnnsssss"),
    "size": list("bbbssbbsss"),
    "firm": [str(k) for k in range(10)],
    "turnover": [90.0, 5, 4, 40, 50, 20, 30, 60, 10, 20],
    "flag": [0] * 10,
}

Call = Callable[..., Outcome]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(FIRMS).to_csv("firms.csv", index=False)
    return tmp_path


def call(data: str, *more: str, region: str = "region", value: str = "turnover") -> list[str]:
    by = ["--by", region, "--by", "size", "--value", value, "--contributor", "firm"]
    return ["protect", data, *by, "--rule", "p%=15", "--out", "out", *more]


ODD = {
    "lists": pa.array([[1, 2]] * 10),
    "texts": pa.array([["a"]] * 10),
    "records": pa.array([{"a": 1}] * 10),
    "bytes": pa.array([b"\x00\xff"] * 10),
    "maps": pa.array([[("a", 1)]] * 10, pa.map_(pa.string(), pa.int64())),
    "infinite": pa.array([np.inf, *[1.0] * 9]),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("role", ["region", "turnover", "firm", "flag"])
def test_columns_that_are_no_numbers_or_codes(place: Path, tabprotect: Call, kind: str, role: str) -> None:
    pq.write_table(pa.table({**FIRMS, role: ODD[kind]}), "odd.parquet")
    done = tabprotect(*call("odd.parquet", *(["--waiver", "flag"] if role == "flag" else [])))
    accepted = (kind, role) in {("bytes", "firm"), ("infinite", "firm")}
    assert done.code == (Exit.DONE if accepted else Exit.INPUT)
    assert accepted == (place / "out").exists()
    if not accepted:
        assert f"'{role}'" in done.err


@pytest.mark.parametrize(
    "name",
    ["[/]", '" onmouseover="x', "\x1b]0;pwn\x07z", "[link=https://evil]x[/link]", ":smile:", "\u202eabc"],
)
def test_names_are_text(place: Path, tabprotect: Call, name: str) -> None:
    frame = pd.DataFrame(FIRMS).rename(columns={"region": name})
    frame[name] = frame[name].replace("n", name)
    frame.to_csv("odd.csv", index=False)
    done = tabprotect(*call("odd.csv", "--title", name, region=name))
    assert done.code == Exit.DONE
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", done.out + done.err)
    assert done.out.count(name.translate({0x1B: "␛", 7: "␇", 0x202E: "\ufffd"})) >= 2
    attributes: set[str] = set()
    parser = HTMLParser()
    parser.handle_starttag = lambda _, given: attributes.update(key for key, _ in given)  # type: ignore[method-assign]
    parser.feed((place / "out" / "publish" / "index.html").read_text())
    assert attributes
    assert not any(key.startswith("on") for key in attributes)
    missing = tabprotect(*call("odd.csv", region=name + "y"))
    assert missing.code == Exit.INPUT
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", missing.err)


def test_every_screen_shows_text_as_it_is() -> None:
    stream = io.StringIO()
    screen = Screen(file=stream, width=60, force_terminal=True, color_system=None)
    facts(screen, [("name", "[red]x[/] :smile: \x1b[2J\x9b")])
    screen.print("\x1b]0;title\x07 [/]", style="red")
    screen.print(Summary((("verdict", "[bold]safe[/] \x1b[2J"),)))
    assert "\x1b" not in stream.getvalue()
    assert "[red]x[/] :smile: ␛[2J\ufffd" in stream.getvalue()
    assert "␛]0;title␇ [/]" in stream.getvalue()
    assert "[bold]safe[/] ␛[2J" in stream.getvalue()
    assert "\x1b" not in str(Summary((("verdict", "\x1b[2J"),)))


@pytest.mark.parametrize("error", [ZeroDivisionError("turnover of firm 7 is 90"), RecursionError(), KeyError("90")])
def test_what_nobody_foresaw_is_one_line_without_data(
    place: Path, tabprotect: Call, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    before = tree(place)
    monkeypatch.setattr(sys.modules["tabprotect.workflow.prepare"], "assess", fail)
    done = tabprotect(*call("firms.csv"))
    assert done.code == Exit.FAULT == 70
    assert type(error).__name__ in done.err
    assert re.search(r"tabprotect/[\w/]+\.py:\d+", done.err)
    assert "90" not in done.err.split("please report")[1].split(" at ")[0]
    assert "firm 7" not in done.err
    assert tree(place) == before


@pytest.mark.parametrize("text", ["null", "[]", "1", '"x"', "{}", "[" * 100_000])
def test_a_folder_for_resuming_that_is_none(place: Path, tabprotect: Call, text: str) -> None:
    (place / "pieces").mkdir()
    (place / "pieces" / "resume.json").write_text(text)
    done = tabprotect(*call("firms.csv", "--resume", "pieces"))
    assert done.code == Exit.INPUT
    assert "name a new" in done.err


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
@pytest.mark.parametrize("flag", ["--out", "--resume"])
def test_names_that_nothing_can_have(place: Path, tabprotect: Call, flag: str, name: str) -> None:
    done = tabprotect(*call("firms.csv", flag, name))
    assert done.code == Exit.INPUT
    assert re.search("Bad input|Error: Invalid value", done.err)


@pytest.mark.parametrize(
    "more",
    [
        ["--rule", "threshold=1e400"],
        ["--method", "adjust", "--option", "decimals=400"],
        ["--method", "cell-key", "--option", "decimals=400"],
        ["--memory-limit", "inf"],
    ],
)
def test_numbers_beyond_all_measure(place: Path, tabprotect: Call, more: list[str]) -> None:
    assert tabprotect(*call("firms.csv", *more)).code == Exit.INPUT


def test_options_that_are_no_names_or_decimals(place: Path, tabprotect: Call) -> None:
    (place / "spec.toml").write_text(
        'data="firms.csv"\nby=["region","size"]\nrules=["threshold=3"]\nmethod="swap"\n'
        "[options]\ngeography=1\nrisk=2\nsimilar=3\n"
    )
    (place / "a.jj").write_text(
        "0\n3\n0 5 5 s 0 9 0 0 0\n1 2 2 u 0 9 1 1 0\n2 3 3 s 0 9 0 0 0\n1\n0 3 : 0 (-1) 1 (1) 2 (1)\n"
    )
    for line in (
        ["protect", "spec.toml"],
        *(["solve", "a.jj", "--method", "adjust", "--decimals", d] for d in ("400", "-400")),
    ):
        assert tabprotect(*line).code == Exit.INPUT


def test_a_column_name_that_excel_cannot_hold(place: Path, tabprotect: Call) -> None:
    pytest.importorskip("openpyxl")
    pd.DataFrame(FIRMS).rename(columns={"region": "a\x07"}).to_csv("odd.csv", index=False)
    done = tabprotect(*call("odd.csv", "--format", "xlsx", region="a\x07"))
    assert done.code == Exit.INPUT
    assert "control characters" in done.err


def test_output_goes_through_devices_and_links(place: Path, tabprotect: Call) -> None:
    (place / "a.jj").write_text(
        "0\n3\n0 5 5 s 0 9 0 0 0\n1 2 2 u 0 9 1 1 0\n2 3 3 s 0 9 0 0 0\n1\n0 3 : 0 (-1) 1 (1) 2 (1)\n"
    )
    (place / "real.json").write_text("{}")
    (place / "link.json").symlink_to("real.json")
    assert tabprotect("solve", "a.jj", "--json", "/dev/null").code == Exit.DONE
    assert tabprotect("solve", "a.jj", "--json", "link.json").code == Exit.DONE
    assert Path("/dev/null").is_char_device()
    assert (place / "link.json").is_symlink()
    assert '"safe": true' in (place / "real.json").read_text()


def test_labels_that_spreadsheets_take_for_formulas(place: Path, tabprotect: Call) -> None:
    frame = pd.DataFrame(FIRMS)
    frame["region"] = frame["region"].replace({"n": '=HYPERLINK("x")', "s": "'s"})
    frame.to_csv("odd.csv", index=False)
    done = tabprotect(*call("odd.csv"))
    assert done.code == Exit.DONE
    assert "take 1 label of table.csv for formulas" in done.err
    assert "--format text.csv" in done.err
    done = tabprotect(*call("odd.csv", "--format", "text.csv"))
    assert "formulas" not in done.err
    text = (place / "out" / "publish" / "table.text.csv").read_text()
    assert "'=HYPERLINK" in text
    assert "\n''s," in text
    assert not re.search('(^|,)"?=', text, re.MULTILINE)
    assert tabprotect("verify", "out").code == Exit.DONE
    assert tabprotect("audit", "out").code == Exit.DONE


def test_a_reader_that_goes_away_is_no_verdict() -> None:
    running = subprocess.Popen([sys.executable, "-m", "tabprotect", "--help"], stdout=subprocess.PIPE)
    assert running.stdout is not None
    running.stdout.close()
    assert running.wait(60) == Exit.UNREAD == 141
