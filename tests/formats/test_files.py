from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from tabprotect.errors import InputError
from tabprotect.formats.files import read_text, write_text
from tabprotect.formats.places import writing_folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_files_are_replaced_whole(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "one")
    write_text(tmp_path / "a.txt", "two")
    assert (tmp_path / "a.txt").read_text() == "two"
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o666 & ~_umask()


def test_compressed_files_hold_no_clock(tmp_path: Path) -> None:
    write_text(tmp_path / "a.gz", "text")
    assert (tmp_path / "a.gz").read_bytes() == gzip.compress(b"text", mtime=0)
    assert read_text(tmp_path / "a.gz") == "text"


def test_unwritable_places_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "no" / "a.txt", tmp_path / "file" / "a.txt", tmp_path):
        with pytest.raises(InputError, match=r"folder|cannot be written"):
            write_text(place, "text")
    with pytest.raises(InputError, match="cannot be written"), writing_folder(tmp_path / "file" / "out"):
        pass
    assert names(tmp_path) == ["file"]


def test_a_failed_folder_leaves_nothing_and_a_finished_one_replaces_all(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    fail(out)
    assert not out.exists()
    for word in ("one", "two"):
        with writing_folder(out) as folder:
            (folder / word).write_text("x")
    assert names(out) == ["two"]
    assert names(out.parent) == ["out"]
    assert out.stat().st_mode & 0o777 == 0o777 & ~_umask()
    fail(out)
    assert names(out) == ["two"]
    assert names(out.parent) == ["out"]


def fail(out: Path) -> None:
    with pytest.raises(ZeroDivisionError), writing_folder(out) as folder:  # noqa: PT012
        (folder / "half").write_text("x")
        raise ZeroDivisionError


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
