"""Flags say what a specification says, for `protect` and `compare` alike, and messages name flags that exist."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pydantic import BaseModel

from tabprotect.cli.flags import FLAGS, INPUT
from tabprotect.cli.request import specification
from tabprotect.cli.settings import read_settings
from tabprotect.workflow.specification import HierarchySpec, LimitsSpec, OutputSpec, Spec, check_spec
from tests.cli.conftest import Outcome

Run = Callable[..., Outcome]

FIRMS = pd.DataFrame(
    {
        "region": ["N1", "N1", "N2", "S1", "S1", "S2", "N2", "S2", "N1", "S2"] * 3,
        "size": ["small", "large", "small", "large", "small", "small"] * 5,
        "turnover": [float(7 + 13 * i % 97) for i in range(30)],
        "firm": [f"f{i}" for i in range(30)],
    }
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    FIRMS.to_csv("firms.csv", index=False)
    return tmp_path


SAMPLES: dict[str, Any] = {
    "by": ["region"], "rules": ["p%=15"], "cells": None, "hierarchy": {"region": {"lengths": [1, 2]}},
    "total": {"region": "all"}, "missing": {"region": ["x"]}, "tables": {}, "maxima": ["a"], "holders": ["b"],
    "margins": "add", "empty": "zero", "decimal": ",", "thousands": ".", "separator": ";", "levels": "upper",
    "lower": "50%", "upper": 5.0, "unions": "audit", "options": {"base": 5}, "tolerance": 0.5, "random_costs": 0.1,
    "seed": 3, "singletons": False, "protect_hidden": True, "intervals": False, "seconds": 5.0, "work": 100, "gap": 0.1,
    "memory": 2.0, "formats": ["xlsx"], "separate_statuses": True, "decimals": 2, "allow_unsafe": True,
    "attackers": {"office": ["N1 x s"]}, "codes": ["a"], "columns": ["a", "b"], "lengths": [1], "digits": [1, 1],
}  # fmt: skip
"""A value that each key may have, where a word does not do."""


@pytest.mark.parametrize(
    ("model", "prefix"),
    [(Spec, ""), (LimitsSpec, "limits."), (OutputSpec, "output."), (HierarchySpec, "hierarchy.region.")],
)
def test_every_key_can_be_set_on_the_command_line(model: type[BaseModel], prefix: str) -> None:
    for name in model.model_fields:
        if name in ("limits", "output", "tables"):
            continue
        value = "all" if (model, name) == (HierarchySpec, "total") else SAMPLES.get(name, "word")
        if value is None:
            continue
        text = json.dumps(value) if not isinstance(value, dict) else _inline(value)
        given = read_settings([f"{prefix}{name}={text}"])
        below = given
        for key in prefix.split(".")[:-1]:
            below = below[key]
        assert below == {name: value}
        assert model.model_validate({**_least(model), **below})


def _inline(value: dict[str, Any]) -> str:
    inner = (f"{k} = {_inline(v) if isinstance(v, dict) else json.dumps(v)}" for k, v in value.items())
    return "{" + ", ".join(inner) + "}"


def _least(model: type[BaseModel]) -> dict[str, Any]:
    return {"by": ["region"], "rules": ["p%=15"], "data": "firms.csv"} if model is Spec else {}


EXPECTED: list[tuple[str, dict[str, Any]]] = [
    ("--lengths region=1,2", {"hierarchy": {"region": {"lengths": [1, 2]}}}),
    ("--digits region=1,1", {"hierarchy": {"region": {"digits": [1, 1]}}}),
    ("--pairs region=pairs.csv", {"hierarchy": {"region": {"pairs": "pairs.csv"}}}),
    (
        "--hierarchy region=a.hrc --total size=all",
        {"hierarchy": {"region": {"file": "a.hrc"}}, "total": {"size": "all"}},
    ),
    ("--missing size=x,y", {"missing": {"size": ["x", "y"]}}),
    ("--empty drop", {"empty": "drop"}),
    ("--bounds 50%,100%", {"lower": "50%", "upper": "100%"}),
    ("--bounds 40", {"lower": 40.0, "upper": 40.0}),
    ("--levels upper", {"levels": "upper"}),
    ("--decimal , --separator tab", {"decimal": ",", "separator": "\t"}),
    ("--method round --base 5 --option levels=yes", {"method": "round", "options": {"base": "5", "levels": "yes"}}),
    ("--time-limit 3 --work-limit 7 --memory-limit 2", {"limits": {"seconds": 3.0, "work": 7, "memory": 2.0}}),
    ("--out there --format xlsx --format csv", {"output": {"folder": "there", "formats": ["xlsx", "csv"]}}),
    ("--set output.decimals=1 --seed 4", {"output": {"decimals": 1}, "seed": 4}),
]


@pytest.mark.parametrize(("words", "key"), EXPECTED, ids=[words for words, _ in EXPECTED])
def test_flags_are_the_keys_of_a_specification(
    words: str, key: dict[str, Any], place: Path, monkeypatch: pytest.MonkeyPatch, tabprotect: Run
) -> None:
    seen: list[Spec] = []
    monkeypatch.setattr("tabprotect.cli.run.carry_out", lambda spec, base, **_: seen.append(spec) or 0)
    base = {"data": "firms.csv", "by": ["region", "size"], "value": "turnover", "rules": ["p%=15"]}
    flags = ["firms.csv", "--by", "region", "--by", "size", "--value", "turnover", "--rule", "p%=15"]
    assert tabprotect("protect", *flags, *words.split()).code == 0
    assert seen == [check_spec({**base, **key}, "expected")]


def test_flags_of_finished_tables(place: Path, monkeypatch: pytest.MonkeyPatch, tabprotect: Run) -> None:
    seen: list[Spec] = []
    monkeypatch.setattr("tabprotect.cli.run.carry_out", lambda spec, base, **_: seen.append(spec) or 0)
    words = "--cells cells.csv --by region --value v --rule p%=15 --lpl low --upl high --margins add --tolerance 0.5"
    assert tabprotect("protect", *words.split()).code == 0
    (spec,) = seen
    assert (spec.cells, spec.lpl, spec.upl, spec.margins, spec.tolerance) == ("cells.csv", "low", "high", "add", 0.5)


def test_wrong_words_are_named_together(place: Path, tabprotect: Run) -> None:
    wrong = tabprotect(
        "protect", "firms.csv", "--data", "firms.csv", "--lengths", "region=one,2", "--total", "region",
        "--hierarchy", "size=a.hrc", "--pairs", "size=b.csv", "--by", "region",
    )  # fmt: skip
    assert wrong.code == 2
    for words in (
        "microdata are given twice", "--lengths 'one,2': write whole numbers", "--total 'region': write DIM=CODE",
        "--pairs size=b.csv: 'size' is given twice",
    ):  # fmt: skip
        assert words in wrong.err


def test_paths_of_flags_stay_where_they_are_beside_a_specification(place: Path) -> None:
    (place / "specs").mkdir()
    (place / "specs" / "a.toml").write_text('data = "here.csv"\nby = ["region"]\nrules = ["threshold=3"]\n')
    pairs = next(flag for flag in FLAGS if flag.flag == "--pairs")
    spec, base = specification(Path("specs/a.toml"), {pairs: ["region=pairs.csv"]}, ())
    assert base == Path("specs")
    assert spec.data == "here.csv"
    assert spec.hierarchy["region"].pairs == str(place / "pairs.csv")


def test_compare_takes_what_protect_takes(place: Path, tabprotect: Run) -> None:
    flags = ["--by", "region", "--by", "size", "--value", "turnover", "--contributor", "firm", "--lengths",
             "region=1,2", "--rule", "p%=15", "--rule", "threshold=3"]  # fmt: skip
    (place / "spec.toml").write_text(
        'data = "firms.csv"\nby = ["region", "size"]\nvalue = "turnover"\ncontributor = "firm"\n'
        'rules = ["p%=15", "threshold=3"]\nhierarchy = {region = {lengths = [1, 2]}}\n'
    )
    how = ["--method", "suppress", "--method", "round:base=10", "--json"]
    found = []
    for given in (["firms.csv", *flags], ["--data", "firms.csv", *flags], ["spec.toml"]):
        done = tabprotect("compare", *given, *how, "out.json")
        assert done.code == 0, done.err
        found.append([{k: v for k, v in one.items() if k != "seconds"} for one in _methods("out.json")])
    assert found[0] == found[1] == found[2]
    assert found[0][0]["cost"] > 0
    released = tabprotect("protect", "firms.csv", *flags, "--out", "release")
    assert released.code == 0
    cost = json.loads((place / "release" / "internal" / "release.json").read_text())["cost"]
    assert cost == found[0][0]["cost"]


def _methods(path: str) -> list[dict[str, Any]]:
    return list(json.loads(Path(path).read_text())["methods"])


def test_compare_refuses_flags_beside_an_instance(place: Path, tabprotect: Run) -> None:
    done = tabprotect("compare", "table.jj", "--by", "region")
    assert done.code == 2
    assert "--by do not go with an instance" in done.err


def test_everything_of_the_input_is_taken_by_both() -> None:
    assert set(INPUT) <= set(FLAGS)
    outputs = {flag.key.split(".")[0] for flag in set(FLAGS) - set(INPUT)}
    assert outputs == {"random_costs", "method", "options", "limits", "seed", "output"}


def cures(text: str) -> set[str]:
    """Flags that a message names."""
    return set(re.findall(r"--[a-z][-a-z]+", text))


def test_cures_are_flags_and_they_work(place: Path, tabprotect: Run) -> None:
    frame = FIRMS.copy()
    frame.loc[3, "region"] = None
    frame.to_csv("gaps.csv", index=False)
    FIRMS.assign(region=FIRMS["region"].replace("N1", "Total")).to_csv("totals.csv", index=False)
    FIRMS.assign(turnover=FIRMS["turnover"] - 20).to_csv("negative.csv", index=False)
    cells = FIRMS.groupby(["region", "size"], as_index=False).agg(turnover=("turnover", "sum"), n=("firm", "count"))
    cells.to_csv("cells.csv", index=False)
    common = ["--by", "region", "--by", "size", "--value", "turnover", "--out", "out"]
    threshold = ["--cells", "cells.csv", *common, "--rule", "threshold=3"]
    cases: list[tuple[list[str], list[str]]] = [
        (["gaps.csv", *common, "--rule", "p%=15"], ["--missing", "region=unknown"]),
        (["totals.csv", *common, "--rule", "p%=15"], ["--total", "region=all"]),
        (["negative.csv", *common, "--rule", "threshold=3"], ["--bounds", "100%"]),
        (threshold, ["--margins", "add"]),
        ([*threshold, "--margins", "add"], ["--empty", "structural"]),
        ([*threshold, "--margins", "add", "--empty", "structural"], ["--count", "n"]),
        (["negative.csv", *common[2:], "--rule", "threshold=3"], ["--by", "region"]),
    ]
    known = {flag.flag for flag in FLAGS} | {"--set"}
    for arguments, cure in cases:
        failed = tabprotect("protect", *arguments)
        assert failed.code == 2, arguments
        assert cures(failed.err) <= known, failed.err
        assert not re.search(r"Dimension\(|tabulate|[a-z]+=\[|from_cells", failed.err), failed.err
        if cure[0] == "--by":
            continue
        assert cure[0] in cures(failed.err), failed.err
        cured = tabprotect("protect", *arguments, *cure)
        # what comes next is another problem, or a release
        assert cured.code in (0, 1) or cure[0] not in cures(cured.err), cured.err
