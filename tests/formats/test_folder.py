from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabprotect.errors import InputError
from tabprotect.formats.folder import changed_files, check_outside, read_manifest, write_release


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_two_folders_and_the_digest_of_every_file(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_release(out, {"a.csv": b"x"}, {"b.csv": b"y"}, {"seed": 3})
    assert set(tree(out)) == {"publish/a.csv", "internal/b.csv", "internal/release.json"}
    manifest = read_manifest(out)
    assert manifest["seed"] == 3
    # sha256 of "x", as sha256sum prints it
    assert manifest["publish"] == {"a.csv": "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}
    assert changed_files(out) == []


def test_every_change_is_found(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_release(out, {"a.csv": b"x", "b.csv": b"x"}, {"c.csv": b"y"}, {})
    (out / "publish/a.csv").write_bytes(b"z")
    (out / "publish/b.csv").unlink()
    (out / "internal/new").write_bytes(b"")
    assert changed_files(out) == [
        "publish/a.csv was altered",
        "publish/b.csv is missing",
        "internal/new is not part of the release",
    ]


def test_a_release_is_two_folders_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_release(out, {"a.csv": b"x"}, {"c.csv": b"y"}, {})
    (out / "a.csv").write_bytes(b"")
    (out / "publish").rename(tmp_path / "elsewhere")
    (out / "publish").symlink_to(tmp_path / "elsewhere")
    assert changed_files(out) == [
        "publish is a link, not a folder of the release",
        "a.csv is not part of the release, which is publish/ and internal/",
    ]


def test_nothing_else_is_written_into_a_release(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_release(out, {"a.csv": b"x"}, {"c.csv": b"y"}, {})
    (tmp_path / "link").symlink_to(out / "publish")
    for place in (out / "x.px", out / "publish" / "x.px", tmp_path / "link" / "x.px", out / "publish" / ".." / "x.px"):
        with pytest.raises(InputError, match="is in the release"):
            check_outside(place)
    check_outside(tmp_path / "x.px")


def test_an_earlier_release_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_release(out, {"a.csv": b"x"}, {}, {})
    write_release(out, {"b.csv": b"x"}, {}, {})
    assert set(tree(out)) == {"publish/b.csv", "internal/release.json"}
    (out / "publish/mine.txt").write_text("precious")
    before = tree(out)
    with pytest.raises(InputError, match=r"not of it \(publish/mine.txt\)"):
        write_release(out, {"a.csv": b"x"}, {}, {})
    assert tree(out) == before
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("precious")
    with pytest.raises(InputError, match="holds files but no release"):
        write_release(tmp_path / "other", {"a.csv": b"x"}, {}, {})
    with pytest.raises(InputError, match="is a file"):
        write_release(tmp_path / "other" / "mine.txt", {}, {}, {})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other", "out"]


def test_what_is_no_release_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a release"):
        read_manifest(tmp_path)
    (tmp_path / "internal").mkdir()
    for text in ("{", "[]", '{"publish": {}}', '{"publish": {"../x": ""}, "internal": {}}'):
        (tmp_path / "internal" / "release.json").write_text(text)
        with pytest.raises(InputError, match="damaged"):
            read_manifest(tmp_path)
    (tmp_path / "internal" / "release.json").write_text(json.dumps({"publish": {}, "internal": {}}))
    assert read_manifest(tmp_path) == {"publish": {}, "internal": {}}
