"""Every path inside a specification is relative to the specification, wherever the command runs."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from tabprotect.cli.app import run
from tabprotect.errors import InputError
from tabprotect.microdata.specification import read_mask_spec

SPEC = """
data = "data/p.csv"
seed = 1
[schema]
keys = ["region", "zip", "town"]
hierarchies = {region = "trees/region.hrc"}
[[steps]]
method = "global-recoding"
columns = "age"
rules = "trees/age.grc"
[[steps]]
method = "generalisation"
k = 2
levels = {region = 1, zip = 1, town = 1}
ladders = {zip = {file = "trees/zip.csv", separator = ","}, town = "trees/town.hrc"}
"""
IMPUTED = """
data = "data/p.csv"
seed = 1
[[steps]]
method = "multiple-imputation"
columns = "age"
background = "region"
population = "data/all.csv"
replicates = 1
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "specs"
    (folder / "data").mkdir(parents=True)
    (folder / "trees").mkdir()
    frame = pd.DataFrame(
        {"region": ["n1", "n2", "s1", "s2"] * 2, "zip": ["1a", "1b", "2a", "2b"] * 2, "town": list("abcd") * 2,
         "age": [5, 15, 25, 35] * 2}
    )  # fmt: skip
    frame.to_csv(folder / "data/p.csv", index=False)
    frame.to_csv(folder / "data/all.csv", index=False)
    (folder / "trees/region.hrc").write_text("north\n@n1\n@n2\nsouth\n@s1\n@s2\n")
    (folder / "trees/town.hrc").write_text("left\n@a\n@b\nright\n@c\n@d\n")
    (folder / "trees/zip.csv").write_text("1a,1\n1b,1\n2a,2\n2b,2\n")
    (folder / "trees/age.grc").write_text("young: - 17\nold: 18 -\n")
    (folder / "spec.toml").write_text(SPEC)
    (folder / "imputed.toml").write_text(IMPUTED)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    return folder


def test_data_trees_ladders_and_rules_are_found_from_another_folder(place: Path) -> None:
    assert run(["mask", "../specs/spec.toml", "--out", "out"]) == 0
    released = pd.read_csv("out/publish/data.csv", dtype=str)
    assert released["region"].tolist() == ["north", "north", "south", "south"] * 2
    assert released["zip"].tolist() == ["1", "1", "2", "2"] * 2
    assert released["town"].tolist() == ["left", "left", "right", "right"] * 2
    assert released["age"].tolist() == ["young", "young", "old", "old"] * 2


def test_the_population_of_an_imputation_is_found(place: Path) -> None:
    assert run(["mask", "../specs/imputed.toml", "--out", "out"]) == 0
    steps = json.loads(Path("out/internal/steps.json").read_text())["steps"]
    assert steps[0]["facts"]["population"] == 8


def test_absolute_paths_stay(place: Path) -> None:
    rules = {"method": "global-recoding", "columns": "age", "rules": str(place / "trees/age.grc")}
    spec = read_mask_spec({"data": str(place / "data/p.csv"), "steps": [rules]}, Path("nowhere"))
    assert Path(spec.data) == place / "data/p.csv"
    assert spec.steps[0].parameters()["rules"] == rules["rules"]


@pytest.mark.parametrize("file", ["trees/age.grc", "trees/zip.csv", "trees/town.hrc", "trees/region.hrc"])
def test_a_missing_file_is_named_with_its_folder(place: Path, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    (place / file).unlink()
    # a file of the name where the command runs is not meant
    Path(file).parent.mkdir()
    Path(file).write_text("")
    assert run(["mask", "../specs/spec.toml", "--out", "out"]) == 2
    assert f"../specs/{file}" in " ".join(capsys.readouterr().err.split())
    assert not Path("out").exists()


def test_rules_as_text_are_no_path(place: Path) -> None:
    step = {"method": "global-recoding", "columns": "age", "rules": "young: - 17\nold: 18 -\n"}
    spec = read_mask_spec({"data": "p.csv", "steps": [step]}, place)
    assert spec.steps[0].parameters()["rules"] == step["rules"]
    with pytest.raises(InputError, match=r"trees/none\.grc"):
        read_mask_spec({"data": "p.csv", "steps": [{**step, "rules": "trees/none.grc"}]}, place)
