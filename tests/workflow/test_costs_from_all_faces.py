"""Transformed and preferred costs give the same release from Python, a specification and flags."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.cli.app import run
from tabprotect.errors import InputError
from tabprotect.workflow.carry_out import carry_out
from tabprotect.workflow.checking import check_spec
from tabprotect.workflow.specified import request_of

BASE = {"by": ["region", "size"], "value": "turnover", "contributor": "firm", "rules": ["p%=15"], "method": "exact"}
CHOICES: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
    ({"transform": tp.Log()}, {"transform": "log"}, ["--transform", "log"]),
    ({"transform": tp.BoxCox(0.5)}, {"transform": "boxcox=0.5"}, ["--transform", "boxcox=0.5"]),
    (
        {"preferences": {"region": [1, 50]}},
        {"preferences": {"region": [1, 50]}},
        ["--preference", "region=1,50"],
    ),
]


@pytest.fixture
def firms(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "region": rng.choice(list("nesw"), 60),
            "size": rng.choice(list("abc"), 60),
            "turnover": rng.integers(1, 200, 60) ** 2,
            "firm": [f"f{k}" for k in range(60)],
        }
    )
    path = tmp_path / "firms.csv"
    frame.to_csv(path, index=False)
    return path


def by_flags(firms: Path, flags: list[str], out: Path) -> dict[str, Any]:
    words = "--by region --by size --value turnover --contributor firm --rule p%=15 --method exact"
    assert run(["protect", str(firms), *shlex.split(words), "--out", str(out), *flags]) == 0
    found = list(out.rglob("certificate.json"))
    document: dict[str, Any] = json.loads(found[0].read_text())
    return document


@pytest.mark.parametrize(("python", "toml", "flags"), CHOICES, ids=["log", "boxcox", "preference"])
def test_all_faces_give_one_release(
    firms: Path, tmp_path: Path, python: dict[str, Any], toml: dict[str, Any], flags: list[str]
) -> None:
    given = {name: word for name, word in BASE.items() if name not in ("rules", "method")}
    one = tp.protect(pd.read_csv(firms), "p%=15", tp.Suppress(method="exact", **python), **given)
    two = carry_out(request_of(check_spec({"data": "firms.csv", **BASE, **toml}, "spec"), tmp_path))
    plain = tp.protect(pd.read_csv(firms), "p%=15", tp.Suppress(method="exact"), **given)
    assert one.safe
    assert two.safe
    assert not np.array_equal(one.problem.weights, plain.problem.weights)
    assert np.array_equal(one.problem.weights, two.problem.weights)
    assert np.array_equal(one.pattern, two.pattern)
    three, certificate = by_flags(firms, flags, tmp_path / "out"), one.certificate.document
    assert {key: three[key] for key in ("cost", "bound")} == {key: certificate[key] for key in ("cost", "bound")}


def test_transform_and_preferences_go_with_hiding_only() -> None:
    spec = check_spec({"data": "x.csv", **BASE, "method": "round", "transform": "log"}, "spec")
    with pytest.raises(InputError, match="only for hiding cells, and round hides none: transform"):
        request_of(spec, Path())


@pytest.mark.parametrize(
    ("text", "why"),
    [("boxcox=2", "from 0 to 1|between 0 and 1"), ("boxcox", "such as boxcox=0.5"), ("sqrt", "not known")],
)
def test_transforms_that_there_are_not(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        request_of(check_spec({"data": "x.csv", **BASE, "transform": text}, "spec"), Path())


def test_factors_that_are_no_numbers(firms: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--by", "region", "--rule", "threshold=3", "--preference", "region=1,x"]
    assert run(["protect", str(firms), *words]) == 2
    assert "such as --preference region=100,10,1" in " ".join(capsys.readouterr().err.split())
