"""What is kept is there again, is for its owner only, and is for one problem only."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from tabprotect.errors import InputError
from tabprotect.solver.tasks.store import Store, digest


@dataclass(frozen=True)
class Thing:
    a: float
    b: tuple[int, ...]


def test_a_digest_tells_values_apart_and_nothing_else() -> None:
    A = sparse.csr_array([[1.0, 0.0], [0.0, 2.0]])
    assert digest(A) == digest(A.tocsc().tocsr())
    assert digest(Thing(1.0, (1, 2)), np.arange(3)) == digest(Thing(1.0, (1, 2)), np.arange(3))
    things = [
        A,
        A * 2,
        np.zeros(4),
        np.zeros((2, 2)),
        np.zeros(4, np.int64),
        Thing(1.0, (1,)),
        (1.0, (1,)),
        None,
        "",
        b"",
    ]
    things += [{1: 2}, {1, 2}, {2, 1, 3}, [1, 2], [[1], 2], [1, [2]], "12", 12, True, -0.0, 0.0]
    assert len({digest(thing) for thing in things}) == len(things)
    with pytest.raises(TypeError, match="no digest"):
        digest(object())


def test_kept_answers_are_private_and_survive(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "resume"
    store = Store(folder, "this")
    store.put("x", np.arange(3))
    again = Store(folder, "this")
    assert again.get("x").tolist() == [0, 1, 2]
    assert again.get("y") is None
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert "CONFIDENTIAL" in json.loads((folder / "resume.json").read_text())["notice"]


def test_a_damaged_file_is_as_good_as_none(tmp_path: Path) -> None:
    store = Store(tmp_path / "r", "this")
    store.put("x", [1, 2, 3])
    path = tmp_path / "r" / "x.piece"
    for content in (path.read_bytes()[:-1], b"", b"x" * 50):
        path.write_bytes(content)
        assert store.get("x") is None


def test_other_folders_are_refused(tmp_path: Path) -> None:
    Store(tmp_path / "r", "this")
    with pytest.raises(InputError, match="another problem"):
        Store(tmp_path / "r", "that")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "report.txt").touch()
    with pytest.raises(InputError, match="not a folder for resuming"):
        Store(tmp_path / "other", "this")
    with pytest.raises(InputError, match="a file, where a folder"):
        Store(tmp_path / "other" / "report.txt", "this")
    manifest = tmp_path / "r" / "resume.json"
    manifest.write_text(manifest.read_text().replace('"version": "', '"version": "0.'))
    with pytest.raises(InputError, match="name a new folder"):
        Store(tmp_path / "r", "this")


def test_a_folder_that_others_can_write_into_is_refused(tmp_path: Path) -> None:
    Store(tmp_path / "r", "this")
    (tmp_path / "r").chmod(0o777)
    with pytest.raises(InputError, match="chmod 700"):
        Store(tmp_path / "r", "this")
