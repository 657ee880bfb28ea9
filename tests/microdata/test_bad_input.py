"""Whatever is wrong with a specification, a command line or a release: one clear error, nothing written or changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tabprotect.microdata as md
from tabprotect.cli.app import run
from tests.microdata.people import people, says

SPEC = """
data = "p.csv"
seed = 3

[schema]
keys = ["region", "sex"]
confidential = ["pay"]
identifiers = ["id"]
weight = "w"
hierarchies = {region = "region.hrc"}

[[steps]]
method = "top-coding"
columns = "pay"
threshold = 2000

[[steps]]
method = "pram"
columns = "sex"
floor = 0.7
"""
HRC = "north\n@n1\n@n2\nsouth\n@s1\n@s2\n"
Change = Callable[[Path], object]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data, a specification and a release made from it."""
    people().to_csv(tmp_path / "p.csv", index=False)
    (tmp_path / "spec.toml").write_text(SPEC)
    (tmp_path / "region.hrc").write_text(HRC)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def replaced(old: str, new: str, file: str = "spec.toml") -> Change:
    """Change a piece of a file."""

    def change(folder: Path) -> None:
        text = (folder / file).read_text()
        assert old in text
        (folder / file).write_text(text.replace(old, new, 1))

    return change


def written(file: str, text: str) -> Change:
    """Write a file."""
    return lambda folder: (folder / file).write_text(text)


def gone(file: str) -> Change:
    """Take a file away."""
    return lambda folder: (folder / file).unlink()


SPECS: dict[str, tuple[Change, tuple[str, ...]]] = {
    "no TOML": (replaced("seed = 3", "seed = = 3"), ("not TOML", "line 3")),
    "no such specification": (gone("spec.toml"), ("spec.toml",)),
    "bytes that are no text": (lambda folder: (folder / "spec.toml").write_bytes(b"\xff\xfe\x00"), ("spec.toml",)),
    "an unknown key": (replaced("seed = 3", "sed = 3"), ("unknown key 'sed'", "did you mean 'seed'")),
    "no data": (replaced('data = "p.csv"', ""), ("'data' is missing",)),
    "data that are not there": (replaced("p.csv", "q.csv"), ("q.csv", "no such file")),
    "data of another kind": (replaced("p.csv", "p.xls"), ("p.xls",)),
    "an empty data file": (written("p.csv", ""), ("the file is empty",)),
    "data without records": (written("p.csv", "id,region,sex,pay,w\n"), ("no records",)),
    "the same name twice in the data": (
        written("p.csv", "id,region,sex,pay,w,id\n1,n1,f,5,1,2\n"),
        ("several columns are called id", "rename"),
    ),
    "a folder as data": (replaced("p.csv", "."), ("a folder, where a file of data is wanted",)),
    "a negative seed": (replaced("seed = 3", "seed = -3"), ("seed", "at least 0", "-3")),
    "a seed as text": (replaced("seed = 3", 'seed = "3"'), ("seed must be a whole number", "'3'")),
    "an unknown format": (replaced("seed = 3", 'formats = ["sas"]'), ("formats", "csv", "sas")),
    "a decimal sign of two letters": (replaced("seed = 3", 'decimal = ",,"'), ("decimal", ",,")),
    "an unknown key of the schema": (replaced("confidential", "confidental"), ("did you mean 'confidential'",)),
    "keys as one word": (replaced('["region", "sex"]', '"region"'), ("keys must be a list",)),
    "schema as a word": (
        written("spec.toml", 'data = "p.csv"\nschema = "x"\n[[steps]]\nmethod = "pram"\ncolumns = "sex"\n'),
        ("schema must be a table",),
    ),
    "a column in two roles": (replaced('"sex"]', '"sex", "id"]'), ("'id' is an identifier", "keys")),
    "no such hierarchy": (replaced("region.hrc", "area.hrc"), ("area.hrc",)),
    "a hierarchy that is none": (written("region.hrc", "@@a\nb\n"), ("region.hrc", "line 1")),
    "a hierarchy that lacks a code": (
        lambda folder: (
            replaced("@s2\n", "", "region.hrc")(folder),
            replaced('method = "pram"\ncolumns = "sex"\nfloor = 0.7', 'method = "mondrian"\nk = 2')(folder),
        ),
        ("'region'", "'s2'", "hierarchy"),
    ),
    "hierarchies as a list": (replaced('{region = "region.hrc"}', '["region.hrc"]'), ("hierarchies",)),
    "no steps": (lambda folder: (folder / "spec.toml").write_text(SPEC[: SPEC.index("[[steps]]")]), ("[[steps]]",)),
    "steps as a table": (replaced("[[steps]]", "[steps]"), ("TOML|steps",)),
    "a step without a method": (replaced('method = "pram"', ""), ("step 2", "method = 'top-coding'")),
    "an unknown method": (replaced('"pram"', '"pramm"'), ("step 2", "did you mean 'pram'")),
    "an unknown parameter": (replaced("floor", "flor"), ("step 2", "'flor'", "did you mean 'floor'")),
    "a parameter out of range": (replaced("0.7", "1.7"), ("step 2", "floor must be below 1")),
    "a column that is not there": (replaced('"sex"\nfloor', '"sx"\nfloor'), ("step 2 (pram)", "did you mean 'sex'")),
    "text in the weights": (replaced("\np3,", "\nextra,n1,small,f,3,4,5,much,1,\np3,", "p.csv"), ("'w'", "much")),
    "a mapping where a word belongs": (replaced('"sex"\nfloor', "{a = 1}\nfloor"), ("step 2", "list of columns")),
    "no .grc file": (
        replaced(
            'method = "pram"\ncolumns = "sex"\nfloor = 0.7',
            'method = "global-recoding"\ncolumns = "sex"\nrules = "s.grc"',
        ),
        ("step 2", "s.grc"),
    ),
    "no ladder file": (
        replaced(
            'method = "pram"\ncolumns = "sex"\nfloor = 0.7',
            'method = "generalisation"\nk = 2\nladders = {region = {file = "ladder.csv"}}',
        ),
        ("step 2", "ladder of 'region'", "ladder.csv"),
    ),
    "many at once": (
        lambda folder: (
            replaced("seed = 3", "sed = 3")(folder),
            replaced("0.7", "7")(folder),
            replaced("threshold", "treshold")(folder),
            replaced('"region", "sex"', '"region", "id"')(folder),
        ),
        ("problems", "'sed'", "step 1", "'treshold'", "step 2", "floor", "'id' is an identifier"),
    ),
}


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """What stands on the error stream, on one line."""
    return " ".join(capsys.readouterr().err.split())


def test_the_specification_itself_is_good(place: Path) -> None:
    assert run(["mask", "spec.toml", "--out", "out"]) == 0
    assert run(["verify", "out"]) == 0


@pytest.mark.parametrize("name", SPECS)
def test_a_wrong_specification_gives_one_clear_error(
    name: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, parts = SPECS[name]
    change(place)
    before = files(place)
    assert run(["mask", "spec.toml", "--out", "out"]) == 2
    says(told(capsys), parts)
    assert files(place) == before


LINES: dict[str, tuple[list[str], int, tuple[str, ...]]] = {
    "mask: no arguments": (["mask"], 2, ("SPEC.toml|Missing",)),
    "mask: no folder": (["mask", "spec.toml"], 2, ("--out",)),
    "mask: a negative seed": (
        ["mask", "spec.toml", "--out", "o", "--seed", "-1"],
        2,
        ("--seed", "greater than or equal to 0"),
    ),
    "mask: a seed as text": (["mask", "spec.toml", "--out", "o", "--seed", "x"], 2, ("--seed", "whole number")),
    "mask: an unknown option": (["mask", "spec.toml", "--out", "o", "--sede", "1"], 2, ("--sede",)),
    "mask: data for a specification": (["mask", "p.csv", "--out", "o"], 2, ("p.csv", "not TOML")),
    "mask: a folder for a specification": (["mask", ".", "--out", "o"], 2, (".",)),
    "mask: a file for a folder": (["mask", "spec.toml", "--out", "p.csv"], 2, ("p.csv is a file",)),
    "mask: a folder that holds something else": (
        ["mask", "spec.toml", "--out", "."],
        2,
        ("holds files but no release",),
    ),
    "unsafe: no keys": (["unsafe", "p.csv"], 2, ("--keys",)),
    "unsafe: empty keys": (["unsafe", "p.csv", "--keys", ","], 2, ("at least one key",)),
    "unsafe: no such key": (["unsafe", "p.csv", "--keys", "sx"], 2, ("no column 'sx'", "did you mean 'sex'")),
    "unsafe: a key twice": (["unsafe", "p.csv", "--keys", "sex,sex"], 2, ("none twice",)),
    "unsafe: no such file": (["unsafe", "q.csv", "--keys", "sex"], 2, ("q.csv",)),
    "unsafe: a threshold as text": (
        ["unsafe", "p.csv", "--keys", "sex", "--threshold", "x"],
        2,
        ("--threshold", "'x'"),
    ),
    "unsafe: a threshold of zero": (["unsafe", "p.csv", "--keys", "sex", "--threshold", "0"], 2, ("threshold",)),
    "unsafe: thresholds beyond the keys": (
        ["unsafe", "p.csv", "--keys", "sex", "--threshold", "3,2,2", "--up-to", "3"],
        2,
        ("threshold for 2 keys",),
    ),
    "unsafe: sizes from zero": (["unsafe", "p.csv", "--keys", "sex", "--up-to", "0"], 2, ("--up-to",)),
    "unsafe: a result in no folder": (
        ["unsafe", "p.csv", "--keys", "sex", "--json", "no/where.json"],
        2,
        ("no/where.json|no' |no ",),
    ),
    "verify: nothing there": (["verify", "nowhere"], 2, ("nowhere",)),
    "verify: a folder that is no release": (["verify", "empty"], 2, ("empty", "not a release")),
    "methods: a list in no folder": (["methods", "--json", "no/where.json"], 2, ("no/where.json|no",)),
    "methods: too many words": (["methods", "pram"], 2, ("pram",)),
}


@pytest.mark.parametrize("name", LINES)
def test_a_wrong_command_line_gives_one_clear_error(name: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "empty").mkdir()
    before = files(place)
    arguments, code, parts = LINES[name]
    assert run(arguments) == code
    says(told(capsys), parts)
    assert files(place) == before


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release that verifies."""
    folder = tmp_path_factory.mktemp("release") / "out"
    schema = md.Schema(keys=["region", "sex"], identifiers=["id"], confidential=["pay"])
    md.mask(people(), schema, [md.TopCoding("pay", threshold=2000), md.PRAM("sex")], seed=1).write(folder)
    assert run(["verify", str(folder)]) == 0
    return folder


def edited(file: str, change: Callable[[Any], object]) -> Change:
    """Change a JSON document."""

    def edit(folder: Path) -> None:
        path = folder / file
        document = json.loads(path.read_text())
        change(document)
        path.write_text(json.dumps(document))

    return edit


DAMAGES: dict[str, tuple[Change, int, tuple[str, ...]]] = {
    "no manifest": (gone("internal/release.json"), 2, ("not a release",)),
    "a manifest that is no JSON": (written("internal/release.json", "{"), 2, ("release.json is damaged",)),
    "a manifest as a list": (written("internal/release.json", "[]"), 2, ("release.json is damaged",)),
    "no claims": (gone("internal/claims.json"), 2, ("claims.json",)),
    "claims that are no JSON": (written("internal/claims.json", "{"), 2, ("claims.json is damaged",)),
    "claims as a list": (written("internal/claims.json", "[]"), 2, ("claims.json is damaged",)),
    "a claim without a kind": (
        edited("internal/claims.json", lambda d: d["claims"][0].pop("kind")),
        2,
        ("claims.json is damaged",),
    ),
    "a claim of an unknown kind": (
        edited("internal/claims.json", lambda d: d["claims"][0].update(kind="safe")),
        1,
        ("safe",),
    ),
    "a claim about a column that is not there": (
        edited("internal/claims.json", lambda d: d["claims"][0]["parameters"].update(column="zip")),
        1,
        ("zip",),
    ),
    "a claim without its parameters": (
        edited("internal/claims.json", lambda d: d["claims"][0].update(parameters={})),
        1,
        ("at-most",),
    ),
    "a claim with other parameters": (
        edited("internal/claims.json", lambda d: d["claims"][0].update(parameters={"column": "pay", "most": "x"})),
        1,
        ("at-most",),
    ),
    "parameters as a list": (
        edited("internal/claims.json", lambda d: d["claims"][0].update(parameters=[1])),
        1,
        ("at-most",),
    ),
    "a step that is text": (
        edited("internal/claims.json", lambda d: d["claims"][0].update(step="x")),
        2,
        ("claims.json is damaged",),
    ),
    "a wrong schema": (
        edited("internal/claims.json", lambda d: d["schema"].update(weight=["a"])),
        2,
        ("claims.json is damaged",),
    ),
    "a schema with unknown keys": (
        edited("internal/claims.json", lambda d: d["schema"].update(key=["a"])),
        2,
        ("claims.json is damaged",),
    ),
    "no values": (gone("internal/released.parquet"), 2, ("released.parquet",)),
    "values that are no Parquet": (written("internal/released.parquet", "x"), 2, ("released.parquet cannot be read",)),
    "no values of before": (gone("internal/before-1.parquet"), 2, ("before-1.parquet",)),
    "no published file": (gone("publish/data.csv"), 1, ("data.csv",)),
    "an altered file": (replaced("n1", "n2", "publish/data.csv"), 1, ("does not hold the values",)),
    "a further file": (written("publish/more.csv", "a"), 1, ("more.csv",)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_release_is_named(
    name: str, release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(release, folder)
    change, code, parts = DAMAGES[name]
    change(folder)
    before = files(folder)
    assert run(["verify", str(folder)]) == code
    captured = capsys.readouterr()
    says(" ".join((captured.err + captured.out).split()), parts)
    assert files(folder) == before


def test_a_folder_that_holds_a_release_and_more_is_not_replaced(release: Path, place: Path) -> None:
    shutil.copytree(release, place / "out")
    (place / "out/publish/notes.txt").write_text("mine")
    before = files(place)
    assert run(["mask", "spec.toml", "--out", "out"]) == 2
    assert files(place) == before
