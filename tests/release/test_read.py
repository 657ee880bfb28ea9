"""A release read back is what was proven, byte for byte, whoever made the digests."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.alterations import CERTIFICATE, LAYOUT, new_digests
from tabprotect.cli.app import run
from tabprotect.release.read import read_release
from tests.release.kinds import KINDS


@pytest.mark.parametrize("folder", [*KINDS, "all formats"], indirect=True)
def test_it_is_what_was_proven(folder: Path) -> None:
    assert read_release(folder).failures == ()
    assert run(["verify", str(folder)]) == 0
    assert run(["verify", str(folder), "--no-limits"]) == 0
    assert run(["audit", str(folder), "--no-limits"]) == 0


def _status(folder: Path) -> None:
    path = folder / "publish" / "table.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-1], lines[-1] + "17"]) + "\n")


def _column(folder: Path) -> None:
    path = folder / "publish" / "table.csv"
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    inside = pd.read_csv(folder / "internal" / "table.csv")
    frame.insert(2, "note", inside["turnover"].to_numpy())
    frame.to_csv(path, index=False, lineterminator="\n")


def _foreign(folder: Path) -> None:
    shutil.copy(folder / "internal" / "table.csv", folder / "publish" / "table2.csv")


def _report(folder: Path) -> None:
    shutil.copy(folder / "internal" / "report.html", folder / "publish" / "index.html")


def _small_change(folder: Path) -> None:
    path = folder / "publish" / "table.csv"
    lines = path.read_text().splitlines()
    row = lines[1].split(",")
    row[2] = str(float(row[2]) + 1e-7)
    path.write_text("\n".join([lines[0], ",".join(row), *lines[2:]]) + "\n")


def _parquet(folder: Path) -> None:
    path = folder / "publish" / "table.parquet"
    frame = pd.read_parquet(path)
    frame["true"] = pd.read_parquet(folder / "internal" / "table.parquet")["turnover"]
    frame.to_parquet(path)


def _excel(folder: Path) -> None:
    shutil.copy(folder / "internal" / "table.xlsx", folder / "publish" / "table.xlsx")


def _link(folder: Path) -> None:
    (folder / "publish" / "index.html").rename(folder / "page.html")
    (folder / "publish" / "index.html").symlink_to(folder / "page.html")


def _empty_folder(folder: Path) -> None:
    (folder / "publish" / "more").mkdir()


def _linked_folder(folder: Path) -> None:
    (folder / "publish").rename(folder.parent / "elsewhere")
    (folder / "publish").symlink_to(folder.parent / "elsewhere")


def _beside(folder: Path) -> None:
    shutil.copy(folder / "internal" / "table.csv", folder / "table.csv")


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "publish" / "more.csv")


def _missing(folder: Path) -> None:
    (folder / "publish" / "index.html").unlink()


@pytest.mark.parametrize(
    ("alter", "words"),
    [
        (_status, "publish/table.csv is not, byte for byte, what was proven"),
        (_column, "foreign are note"),
        (_foreign, "publish/table2.csv is not part of the release"),
        (_report, "publish/index.html is not, byte for byte"),
        (_small_change, "has another value than was proven"),
        (_parquet, "publish/table.parquet is not, byte for byte"),
        (_excel, "publish/table.xlsx is not, byte for byte"),
        (_link, "publish/index.html is no plain file"),
        (_empty_folder, "publish/more is not part of the release"),
        (_linked_folder, "publish is a link"),
        (_beside, "table.csv is not part of the release, which is publish/ and internal/"),
        (_pipe, "publish/more.csv is not part of the release"),
        (_missing, "publish/index.html is missing"),
    ],
)
@pytest.mark.parametrize("folder", ["all formats"], indirect=True)
def test_new_digests_do_not_help(folder: Path, alter: Callable[[Path], None], words: str) -> None:
    alter(folder)
    new_digests(folder)  # no secret is needed for them
    failures = read_release(folder).failures
    assert any(words in failure for failure in failures), failures


@pytest.mark.parametrize("folder", KINDS, indirect=True)
def test_the_command_line_refuses_what_was_altered(folder: Path) -> None:
    _status(folder)
    new_digests(folder)
    assert run(["verify", str(folder)]) == 1
    assert run(["audit", str(folder)]) == 1


def test_a_value_shown_that_the_certificate_hides_is_what_the_intruder_sees(folder: Path) -> None:
    before = read_release(folder).pattern
    path = folder / "publish" / "table.csv"
    path.write_text(path.read_text().replace(",,suppressed", ",5,suppressed", 1))
    new_digests(folder)
    assert read_release(folder).pattern.sum() == before.sum() - 1


@pytest.mark.parametrize("name", [CERTIFICATE, LAYOUT, "internal/release.json", "publish/table.csv"])
def test_a_pipe_in_place_of_a_file_is_refused_at_once(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    refused = (1,) if name.startswith("publish") else (2,)
    for command in ("verify", "audit"):
        assert run([command, str(folder)]) in refused
    if name.startswith("publish"):
        assert run(["export", str(folder), str(folder.parent / "table.px")]) == 2
    assert run(["verify", str(folder / name)]) == 2


@pytest.mark.parametrize("folder", ["all formats"], indirect=True)
def test_files_written_by_other_versions_say_so(folder: Path) -> None:
    path = folder / "internal" / "layout.json"
    document = json.loads(path.read_text())
    document["written"]["pandas"] = "0.1"
    path.write_text(json.dumps(document))
    new_digests(folder)
    assert read_release(folder).failures == ()  # the same bytes are the same bytes
    _report(folder)
    new_digests(folder)
    assert any("written with pandas 0.1, this is" in failure for failure in read_release(folder).failures)
