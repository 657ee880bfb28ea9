"""Every path of a specification is relative to it, wherever the command runs; and external bounds of single cells."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import get_args

import pandas as pd
import pytest
from pydantic import BaseModel

import tabprotect as tp
import tabprotect.microdata as md
from tabprotect.cli.app import run
from tabprotect.methods.registry import VALUE_METHODS
from tabprotect.sensitivity.rules import RULES
from tabprotect.workflow.protocol.model import OwnKeys, PreviousSpec
from tabprotect.workflow.protocol.read import read_protocol
from tabprotect.workflow.specification import CarriedSpec, HierarchySpec, LimitsSpec, OutputSpec, Spec, TableSpec

PATHS = {
    "Spec.data", "Spec.cells", "TableSpec.data", "TableSpec.cells", "HierarchySpec.file", "HierarchySpec.pairs",
    "OutputSpec.folder", "CarriedSpec.release", "OwnKeys.rules", "OwnKeys.structure",
}  # fmt: skip
"""Keys of specifications and protocols that are paths; each has a case below, or in tests/cli/test_protocol.py."""
TEXTS = {
    *(f"{model}.{name}" for model in ("Spec", "TableSpec") for name in (
        "by", "value", "unit", "shadow", "contributor", "holding", "weight", "request", "waiver", "kind", "count",
        "weighted_count", "maxima", "holders", "status", "lpl", "upl", "spl", "margins", "hierarchy", "total",
        "missing", "empty", "decimal", "thousands", "separator", "encoding", "member", "sheet", "relation", "measure",
    )),
    "Spec.holding_rules",
    *(f"Spec.{name}" for name in (
        "tables", "cost", "rules", "levels", "lower", "upper", "attackers", "unions", "method", "options", "engine",
        "transform", "preferences", "unpublished",
    )),
    *(f"HierarchySpec.{name}" for name in ("leader", "codes", "columns", "separator", "total")),
    *(f"OutputSpec.{name}" for name in ("formats", "separator", "decimal", "encoding", "thousands", "title", "source")),
    *(f"OwnKeys.{name}" for name in ("title", "clusters", "microdata", "trial")),
}  # fmt: skip
"""Other keys that hold texts. Rules and options hold paths, too: they have cases of their own."""


def test_every_key_that_holds_text_is_a_path_or_is_not() -> None:
    models: tuple[type[BaseModel], ...] = (
        Spec,
        TableSpec,
        HierarchySpec,
        LimitsSpec,
        OutputSpec,
        CarriedSpec,
        PreviousSpec,
        OwnKeys,
    )
    found = {
        f"{model.__name__}.{name}"
        for model in models
        for name, field in model.model_fields.items()
        if any(word in str(field.annotation) for word in ("str", "Literal", "Spec", "Any"))
        and not {LimitsSpec, OutputSpec, CarriedSpec, PreviousSpec} & {field.annotation, *get_args(field.annotation)}
    }
    assert set() == PATHS & TEXTS
    assert found == PATHS | TEXTS, "a new key: is it a path? give it a case here"


def test_no_other_rule_method_or_step_has_a_file() -> None:
    files = {
        rule.__name__
        for rule in RULES.values()
        if any(field.name in ("path", "file") for field in dataclasses.fields(rule))
    }
    assert files == {"APriori"}
    paths = ("path", "file", "folder", "table")
    assert [n for n, m in VALUE_METHODS.items() if any(f.name in paths for f in dataclasses.fields(m))] == []
    located = {name for name, step in md.methods().items() if step.located.__func__ is not md.Method.located.__func__}
    assert located == {"generalisation", "global-recoding", "multiple-imputation"}, "see tests/microdata/test_paths.py"


FIRMS = pd.DataFrame(
    {
        "region": ["n1", "n1", "n2", "n2", "s1", "s1", "s2", "s2"] * 2,
        "size": list("bsbsbsbs") * 2,
        "age": [5, 15, 25, 35] * 4,
        "turnover": [90, 5, 40, 50, 20, 30, 60, 10, 30, 25, 7, 8, 40, 22, 31, 17],
    }
)
COMMON = 'by = ["region", "size"]\nvalue = "turnover"\n'
TREE = '[hierarchy]\nregion = "trees/region.hrc"\n'
PAIRS = '[hierarchy]\nregion = {pairs = "trees/region.csv"}\n'
CASES = {
    "data, hierarchy file, a-priori rule": 'data = "data/firms.csv"\nrules = ["p%=15", "apriori=rules/cells.hst"]\n'
    + COMMON + TREE,
    "pairs": 'data = "data/firms.csv"\nrules = ["p%=15", "apriori=rules/cells.hst"]\n' + COMMON + PAIRS,
    "cells": 'cells = "data/cells.csv"\nrules = ["apriori=rules/cells.hst"]\n' + COMMON + TREE,
    "linked tables": 'rules = ["p%=15"]\nvalue = "turnover"\n'
    '[tables.a]\ndata = "data/firms.csv"\nby = ["region"]\n[tables.a.hierarchy]\nregion = "trees/region.hrc"\n'
    '[tables.b]\ndata = "data/firms.csv"\nby = ["size"]\n',
    "recodings by hand": 'data = "data/firms.csv"\nby = ["age"]\nvalue = "turnover"\nrules = ["p%=15"]\n'
    'method = "recode"\n[options]\nrules = {age = "rules/age.grc"}\n',
}  # fmt: skip


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the specification; the command runs in another one."""
    folder = tmp_path / "specs"
    for name in ("data", "trees", "rules"):
        (folder / name).mkdir(parents=True)
    FIRMS.to_csv(folder / "data/firms.csv", index=False)
    hierarchies = {"region": tp.Hierarchy.read(tree(folder))}
    cells = tp.assess(tp.tabulate(FIRMS, ["region", "size"], "turnover", hierarchies=hierarchies), "p%=15").frame
    cells[["region", "size", "turnover"]].to_csv(folder / "data/cells.csv", index=False)
    (folder / "trees/region.csv").write_text(
        "parent,child\nTotal,north\nTotal,south\nnorth,n1\nnorth,n2\nsouth,s1\nsouth,s2\n"
    )
    (folder / "rules/cells.hst").write_text("n1;b;u\nn1;b;pl;10;10\nn1;b;ab;100;150\n")
    (folder / "rules/age.grc").write_text("young: - 17\nold: 18 -\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    return folder


def tree(folder: Path) -> Path:
    path = folder / "trees/region.hrc"
    path.write_text("north\n@n1\n@n2\nsouth\n@s1\n@s2\n")
    return path


@pytest.mark.parametrize("case", CASES)
def test_paths_are_relative_to_the_specification(case: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "spec.toml").write_text(CASES[case] + '[output]\nfolder = "out"\n')
    assert run(["protect", "../specs/spec.toml"]) == 0, capsys.readouterr().err
    assert (place / "out/publish").is_dir()
    assert list(Path().iterdir()) == []


def test_the_last_release_is_beside_the_specification(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = 'data = "data/firms.csv"\nrules = ["p%=15"]\n' + COMMON
    (place / "spec.toml").write_text(plain + '[previous]\nrelease = "last"\n[output]\nfolder = "out"\n')
    assert run(["protect", "../specs/spec.toml"]) == 2
    assert str(Path("../specs/last")) in capsys.readouterr().err
    (place / "first.toml").write_text(plain + '[output]\nfolder = "last"\n')
    assert run(["protect", "../specs/first.toml"]) == 0
    assert run(["protect", "../specs/spec.toml"]) == 0, capsys.readouterr().err
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("case", "file"),
    [(case, file) for case, text in CASES.items() for file in (
        "data/firms.csv", "data/cells.csv", "trees/region.hrc", "trees/region.csv", "rules/cells.hst", "rules/age.grc",
    ) if file in text],
)  # fmt: skip
def test_a_file_where_the_command_runs_is_not_meant(
    case: str, file: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "spec.toml").write_text(CASES[case])
    Path(file).parent.mkdir()
    Path(file).write_bytes((place / file).read_bytes())
    (place / file).unlink()
    assert run(["protect", "../specs/spec.toml"]) == 2
    assert Path(file).name in capsys.readouterr().err


def test_external_bounds_of_an_apriori_file_count_in_every_face(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The intruder knows 100 <= n1 x b <= 150: by the specification, by flags, and in Python."""
    (place / "spec.toml").write_text(CASES["data, hierarchy file, a-priori rule"] + '[output]\nfolder = "spec"\n')
    assert run(["protect", "../specs/spec.toml"]) == 0
    monkeypatch.chdir(place)
    flags = ["--by", "region", "--by", "size", "--value", "turnover", "--hierarchy", "region=trees/region.hrc"]
    rules = ["--rule", "p%=15", "--rule", "apriori=rules/cells.hst"]
    assert run(["protect", "data/firms.csv", *flags, *rules, "--out", "flags"]) == 0
    release = tp.protect(
        FIRMS, ["p%=15", "apriori=rules/cells.hst"], by=["region", "size"], value="turnover",
        hierarchies={"region": "trees/region.hrc"},
    )  # fmt: skip
    release.write(place / "tp")
    cell = release.problem.system.cells.get_loc(("n1", "b"))
    assert (release.problem.lower[cell], release.problem.upper[cell]) == (100.0, 150.0)
    spec, *others = (place / name for name in ("spec", "flags", "tp"))
    for file in ("publish/table.csv", "internal/certificate.json"):
        for other in others:
            assert (other / file).read_bytes() == (spec / file).read_bytes()


def test_rules_of_a_protocol_are_relative_to_their_own_file(place: Path) -> None:
    (place / "rules/rules.toml").write_text('rules = ["p%=15", "apriori=cells.hst"]\n')
    (place / "protocol.toml").write_text(
        'rules = "rules/rules.toml"\nvalue = "turnover"\n[tables.a]\ndata = "data/firms.csv"\nby = ["region", "size"]\n'
        '[tables.a.hierarchy]\nregion = "trees/region.hrc"\n'
    )
    protocol = read_protocol("../specs/protocol.toml")
    assert protocol.spec().rules == ["p%=15", "apriori=rules/cells.hst"]
    assert run(["develop", "../specs/protocol.toml"]) == 0
    assert run(["apply", "../specs/protocol.fixed.toml", "--data", "../specs/data", "--out", "out"]) == 0
