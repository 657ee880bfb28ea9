"""No call changes what it is given: every public name, with frames of every library, and every file of a command."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import tabprotect as tp
from tabprotect.cli.app import run
from tests.cli.conftest import tree
from tests.microdata.frames import KINDS
from tests.project.given import Given
from tests.project.public_calls import ARRAYS, FIRMS, FRAMES, NO_DATA, Call, public_callables

LIBRARIES = ("pandas", "polars", "pyarrow", "duckdb")


def test_every_public_name_is_called_or_takes_no_data() -> None:
    named, called = set(public_callables()), FRAMES.keys() | ARRAYS.keys()
    assert named - called - NO_DATA.keys() == set(), "new public names: call them, or say why they take no data"
    assert called & NO_DATA.keys() == set()
    assert (called | NO_DATA.keys()) - named == set(), "names that are public no more"


def once(calls: dict[str, Call]) -> list[str]:
    """Return one name for every call, some of which stand for several names."""
    return list({call: name for name, call in calls.items()}.values())


NO_RELATIONS = ("tabprotect.query.camouflage.camouflage",)
"""What takes frames of memory only, and says so of a DuckDB relation."""
CASES = [
    (name, library) for name in once(FRAMES) for library in LIBRARIES if library != "duckdb" or name not in NO_RELATIONS
]


@pytest.mark.parametrize(("name", "library"), CASES)
def test_a_call_leaves_the_frames_it_is_given(name: str, library: str, tmp_path: Path) -> None:
    given = Given()
    FRAMES[name](given, KINDS[library], tmp_path)
    assert len(given), "the call was given nothing"
    assert given.changed() == []


@pytest.mark.parametrize("name", once(ARRAYS))
def test_a_call_leaves_the_arrays_it_is_given(name: str, tmp_path: Path) -> None:
    given = Given()
    ARRAYS[name](given, KINDS["pandas"], tmp_path)
    assert len(given), "the call was given nothing"
    assert given.changed() == []


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of files of every kind that a command reads, where the command runs."""
    folder = tmp_path / "inputs"
    folder.mkdir()
    FIRMS.to_csv(folder / "firms.csv", index=False)
    FIRMS.to_csv(
        folder / "semicolon.csv", index=False, sep=";", decimal=",", encoding="utf-8-sig", lineterminator="\r\n"
    )
    FIRMS.to_parquet(folder / "firms.parquet")
    FIRMS.to_excel(folder / "firms.xlsx", index=False)
    with duckdb.connect(folder / "firms.duckdb") as connection:
        connection.execute(f"CREATE TABLE firms AS SELECT * FROM '{folder / 'firms.csv'}'")
    (folder / "region.hrc").write_text("n\ns\n")
    common = 'by = ["region", "size"]\nvalue = "turnover"\nrules = ["p%=15"]\nhierarchy = {region = "region.hrc"}\n'
    (folder / "table.toml").write_text('data = "semicolon.csv"\n' + common)
    masked = 'seed = 1\n[schema]\nkeys = ["region", "size"]\nhierarchies = {region = "region.hrc"}\n'
    (folder / "mask.toml").write_text(
        f'data = "firms.csv"\n{masked}[[steps]]\nmethod = "noise"\ncolumns = "turnover"\n'
    )
    (folder / "risk.toml").write_text(
        f'data = "firms.csv"\n{masked}[[steps]]\nmethod = "noise"\ncolumns = "turnover"\n'
        '[[measures]]\nmeasure = "k-anonymity"\n'
    )
    tp.write_jj(tp.instances.load("eustat-investment"), folder / "table.jj")
    (folder / "pattern.json").write_text("[5, 7, 13, 15]")
    monkeypatch.chdir(folder)
    return folder


TABLE = ("--by", "region", "--by", "size", "--value", "turnover", "--rule", "p%=15", "--hierarchy", "region=region.hrc")
COMMANDS: dict[str, tuple[str, ...]] = {
    **{f"protect {file}": ("protect", file, *TABLE, "--out", "../out") for file in (
        "firms.csv", "semicolon.csv", "firms.parquet", "firms.xlsx", "firms.duckdb",
    )},
    "protect by a specification": ("protect", "table.toml", "--out", "../out"),
    "protect by rounding": ("protect", "firms.csv", *TABLE, "--method", "round", "--out", "../out"),
    "compare": ("compare", "table.toml", "--method", "suppress", "--method", "round"),
    "compare an instance": ("compare", "table.jj", "--method", "suppress"),
    "audit": ("audit", "table.jj", "--pattern", "pattern.json", "--intervals", "../intervals.csv"),
    "solve": ("solve", "table.jj", "--json", "../solved.json"),
    "mask": ("mask", "mask.toml", "--out", "../masked"),
    "risk": ("risk", "risk.toml", "--json", "../risk.json"),
    "unsafe": ("unsafe", "firms.csv", "--keys", "region,size"),
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_leaves_its_files(command: str, inputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in inputs.iterdir()}
    assert run(list(COMMANDS[command])) in (0, 1), capsys.readouterr().err
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in inputs.iterdir()} == before


@pytest.mark.parametrize("again", ["audit", "verify", "risk"])
def test_a_command_leaves_the_release_that_it_reads(
    again: str, inputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if again == "risk":
        asked, first = ["risk", "risk.toml", "--release", "../out"], ["mask", "mask.toml", "--out", "../out"]
    else:
        asked, first = [again, "../out"], ["protect", "table.toml", "--out", "../out"]
    assert run(first) == 0
    release = inputs.parent / "out"
    before = tree(release)
    assert run(asked) == 0, capsys.readouterr().err
    assert tree(release) == before
