"""A release says inside where it comes from, whichever face made it; nothing of that is published."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.cli.app import run

FIRMS = pd.DataFrame(
    {
        "region": list("nnnnnsssss"),
        "size": list("bbbssbbsss"),
        "firm": [f"firm {i}" for i in range(10)],
        "owner": [f"owner {i // 2}" for i in range(10)],
        "turnover": [90.5, 5, 4, 40, 50, 20, 30, 60, 10, 20],
    }
)
HOW: dict[str, Any] = {"by": ["region", "size"], "value": "turnover", "contributor": "firm", "holding": "owner"}
EUROPEAN = "turnover;" + FIRMS.drop(columns="turnover").to_csv(index=False, sep=";").splitlines()[0] + "\n"
EUROPEAN += "".join(f"{row.turnover:.1f};{row.region};{row.size_};{row.firm};{row.owner}\n".replace(".", ",")
                    for row in FIRMS.rename(columns={"size": "size_"}).itertuples())  # fmt: skip
SPEC = """
data = "firms.csv"
by = ["region", "size"]
value = "turnover"
contributor = "firm"
holding = "owner"
rules = ["p%=15"]
[output]
folder = "out"
"""
FLAGS = (
    "protect firms.csv --by region --by size --value turnover --contributor firm --holding owner --rule p%=15 --out out"
)


@pytest.fixture(autouse=True)
def _fixed_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")


def manifest(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "internal/release.json").read_text())
    return content


def made(folder: Path, *, face: str) -> Path:
    """Write the same release by one of the faces."""
    if face in ("specification", "flags"):
        (folder / "firms.csv").write_text(EUROPEAN, encoding="cp1252")
        (folder / "spec.toml").write_text(SPEC)
        with contextlib.chdir(folder):
            assert run(["protect", "spec.toml"] if face == "specification" else FLAGS.split()) == 0
        return folder / "out"
    if face == "frame":
        return tp.protect(FIRMS, "p%=15", **HOW).write(folder / "out")
    given = {name: column for name, column in HOW.items() if name not in ("by", "value")}
    return tp.protect(tp.tabulate(FIRMS, HOW["by"], HOW["value"], **given), "p%=15").write(folder / "out")


@pytest.mark.parametrize("face", ["frame", "table", "specification", "flags"])
def test_every_face_says_where_a_release_comes_from(tmp_path: Path, face: str) -> None:
    folder = made(tmp_path, face=face)
    content = manifest(folder)
    found = content["provenance"]
    assert (content["settings"]["contributor"], content["settings"]["holding"]) == ("firm", "owner")
    assert (found["roles"]["contributor"], found["roles"]["holding"]) == ("firm", "owner")
    assert found["roles"]["by"] == ["region", "size"]
    assert found["rules"] == content["settings"]["rules"]
    assert found["date"] == "2001-09-09T01:46:40+00:00"
    assert found["versions"]["tabprotect"] == tp.__version__
    assert found["hierarchies"]["region"]["codes"] == 3
    assert all(len(one["sha256"]) == 64 for one in found["inputs"])
    if face in ("specification", "flags"):
        assert found["command"].startswith("tabprotect protect ")
        assert found["inputs"][0]["sha256"] == hashlib.sha256((tmp_path / "firms.csv").read_bytes()).hexdigest()
        recognised = found["inputs"][0]["recognised"]
        assert (recognised["separator"], recognised["decimal"], recognised["encoding"]) == (";", ",", "utf-8")
    public = b"".join(path.read_bytes() for path in (folder / "publish").iterdir())
    for secret in (found["inputs"][0]["sha256"], found["date"], "owner", found["command"]):
        assert secret.encode() not in public


@pytest.mark.parametrize("face", ["frame", "specification"])
def test_two_runs_with_the_same_date_are_equal_to_the_byte(tmp_path: Path, face: str) -> None:
    folders = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        folders.append(made(tmp_path / name, face=face))
    assert (folders[0] / "internal/release.json").read_bytes() == (folders[1] / "internal/release.json").read_bytes()


def test_the_digest_of_records_changes_with_one_value() -> None:
    other = FIRMS.assign(turnover=FIRMS["turnover"].where(FIRMS.index != 3, 41))
    one, two = (tp.protect(frame, "p%=15", **HOW).provenance["inputs"][0]["sha256"] for frame in (FIRMS, other))
    assert one != two


def test_values_that_change_have_a_provenance_too() -> None:
    release = tp.protect(FIRMS, "p%=15", tp.ConventionalRound(base=5), allow_unsafe=True, **HOW)
    assert release.provenance["roles"]["contributor"] == "firm"


def test_a_date_that_is_none_is_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(tp.InputError, match="SOURCE_DATE_EPOCH"):
        tp.protect(FIRMS, "p%=15", **HOW)


@pytest.mark.parametrize("how", ["tabulated", "at once", "read"])
def test_files_that_python_reads_are_named_with_their_digests(tmp_path: Path, how: str) -> None:
    firms, tree = tmp_path / "firms.csv", tmp_path / "region.hrc"
    FIRMS.to_csv(firms, index=False)
    tree.write_text("land\n@n\n@s\n")
    given: Any = tp.Hierarchy.read(tree) if how == "read" else str(tree)
    if how == "at once":
        release = tp.protect(firms, "p%=15", hierarchies={"region": given}, **HOW)
    else:
        release = tp.protect(tp.tabulate(firms, hierarchies={"region": given}, **HOW), "p%=15")
    assert [(one["name"], one["sha256"]) for one in release.provenance["inputs"]] == [
        (str(path), hashlib.sha256(path.read_bytes()).hexdigest()) for path in (firms, tree)
    ]
    assert release.provenance["inputs"][0]["recognised"]["separator"] == ","


def test_what_was_tabulated_of_a_frame_is_no_finished_table() -> None:
    cells = pd.DataFrame({"region": ["n", "s"], "v": [5.0, 9]})
    tabulated = tp.protect(tp.tabulate(FIRMS, ["region"], "turnover"), "threshold=3")
    finished = tp.protect(tp.Table.from_cells(cells, ["region"], "v", margins="add"), "manual")
    names = [release.provenance["inputs"][0]["name"] for release in (tabulated, finished)]
    assert names == ["table of records in memory", "finished table"]


def test_every_face_says_what_hiding_costs(tmp_path: Path) -> None:
    release = tp.protect(FIRMS, "p%=15", **HOW)
    assert release.settings["cost"] == manifest(made(tmp_path, face="flags"))["settings"]["cost"] == "value"
    column = tp.protect(FIRMS.assign(price=1.0), "p%=15", cost="price", **HOW)
    assert column.settings["cost"] == "price"
