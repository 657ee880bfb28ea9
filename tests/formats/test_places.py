"""Folders that take a place whole, whenever the run is killed, and what nobody else may read."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tabprotect.errors import InputError
from tabprotect.formats import places
from tabprotect.formats.files import check_writable, write_text
from tabprotect.formats.folder import changed_files, read_manifest, write_release
from tabprotect.formats.places import recover, temporary_prefix, writing_folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def rights(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


KILL = """
import os, signal, sys
from pathlib import Path
from tabprotect.formats import places
from tabprotect.formats.folder import write_release
how, folder = sys.argv[1], Path(sys.argv[2])
os.umask(0)
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
if how != "exchange":
    places._exchange = lambda *_: False
write_release(folder, {"a.csv": b"first"}, {"b.csv": b"secret"}, {})
if how == "writing":
    write_release(folder, {"a.csv": b"second"}, {"b.csv": b"secret", "c": die}, {})
elif how == "exchange":
    real = places._exchange
    places._exchange = lambda *both: real(*both) and die()
else:
    real = Path.rename
    Path.rename = lambda self, to: (real(self, to), str(to).endswith("earlier") and die())[0]
write_release(folder, {"a.csv": b"second"}, {"b.csv": b"secret"}, {})
"""


@pytest.mark.skipif(sys.platform != "linux", reason="kills as Linux does")
@pytest.mark.parametrize(("how", "word"), [("writing", b"first"), ("exchange", b"second"), ("renames", b"first")])
def test_a_kill_leaves_one_whole_release_and_nothing_readable(tmp_path: Path, how: str, word: bytes) -> None:
    out = tmp_path / "out"
    died = subprocess.run([sys.executable, "-c", KILL, how, str(out)], check=False)
    assert died.returncode == -signal.SIGKILL
    assert len(names(tmp_path)) == 2
    for left in tmp_path.iterdir():
        assert rights(left / "internal") == 0o700
        if left != out and how == "writing":
            assert rights(left) == 0o700
        assert {rights(path) for path in (left / "internal").iterdir()} == {0o600}
    if how == "renames":
        assert not out.exists()
    # whoever reads it next finds it whole, and the rest gone
    assert read_manifest(out)
    assert changed_files(out) == []
    assert (out / "publish" / "a.csv").read_bytes() == word
    assert names(tmp_path) == ["out"]


def test_internal_is_private_whatever_the_umask(tmp_path: Path, open_umask: None) -> None:
    out, seen = tmp_path / "out", []

    def content(path: Path) -> None:
        seen.extend(rights(place) for place in (path, path.parent, path.parent.parent))
        path.write_bytes(b"x")

    write_release(out, {"a.csv": b"x"}, {"b.csv": content}, {})
    assert seen == [0o600, 0o700, 0o700]
    assert [rights(out / name) for name in ("", "publish", "publish/a.csv")] == [0o777, 0o777, 0o666]
    assert [rights(out / "internal" / name) for name in ("", "b.csv", "release.json")] == [0o700, 0o600, 0o600]
    out.chmod(0o750)
    write_release(out, {"a.csv": b"y"}, {"b.csv": b""}, {})
    assert rights(out) == 0o750
    assert names(tmp_path) == ["out"]


def test_without_an_exchange_folders_are_replaced_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_exchange", lambda *_: False)
    out = tmp_path / "out"
    for word in ("one", "two", "three"):
        with writing_folder(out) as folder:
            (folder / word).write_text("x")
    assert names(out) == ["three"]
    assert names(tmp_path) == ["out"]


def test_a_run_at_work_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with writing_folder(out) as folder:
        recover(out)
        assert folder.is_dir()
        with writing_folder(out) as other:
            assert other != folder
    left = tmp_path / (temporary_prefix(out) + "left")
    (left / "internal").mkdir(parents=True)
    (tmp_path / (temporary_prefix(tmp_path / "other") + "x")).mkdir()
    recover(out)
    assert not left.exists()
    assert len(names(tmp_path)) == 2


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_release(tmp_path / "link", {"a.csv": b"x"}, {}, {})
    write_release(tmp_path / "link", {"a.csv": b"y"}, {}, {})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "publish" / "a.csv").read_bytes() == b"y"
    assert names(tmp_path) == ["link", "real"]


def test_links_to_files_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("x")
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "new").symlink_to(tmp_path / "made")
    write_text(tmp_path / "link", "y")
    write_text(tmp_path / "new", "z")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "y"
    assert rights(tmp_path / "real") == 0o600
    assert (tmp_path / "made").read_text() == "z"
    (tmp_path / "round").symlink_to(tmp_path / "round")
    with pytest.raises(InputError, match="cannot be written"):
        write_text(tmp_path / "round", "y")
    assert names(tmp_path) == ["link", "made", "new", "real", "round"]


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_pipes_and_devices_are_written_to_and_stay(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    check_writable(pipe)
    write_text(pipe, "text")
    reader.join(10)
    assert read == ["text"]
    assert pipe.is_fifo()
    (tmp_path / "null").symlink_to("/dev/null")
    write_text(tmp_path / "null", "text")
    write_text("/dev/null", "text")
    assert Path("/dev/null").is_char_device()
    assert names(tmp_path) == ["null", "pipe"]


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "ä" * 200])
def test_names_that_nothing_can_have(tmp_path: Path, name: str) -> None:
    for write in (check_writable, lambda path: write_release(path, {}, {}, {})):
        with pytest.raises(InputError):
            write(tmp_path / name)  # type: ignore[operator]
    with pytest.raises(InputError):
        write_text(tmp_path / name / "below", "x")
    assert names(tmp_path) == []


def test_long_names_are_no_problem(tmp_path: Path) -> None:
    for name in ("x" * 255, "ä" * 127):
        write_text(tmp_path / name, "x")
        write_release(tmp_path / f"{name[:-1]}y", {"a.csv": b""}, {}, {})
    assert len(names(tmp_path)) == 4
