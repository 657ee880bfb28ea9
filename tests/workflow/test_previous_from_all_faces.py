"""The last period's pattern carried forward: the same from Python, a specification and flags."""

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
from tabprotect.errors import InfeasibleError, InputError
from tabprotect.problem import Status
from tabprotect.workflow.carry_out import carry_out
from tabprotect.workflow.checking import check_spec
from tabprotect.workflow.specified import request_of

BASE: dict[str, Any] = {"by": ["region", "size"], "value": "v", "contributor": "firm"}
FLAGS = "--by region --by size --value v --contributor firm --rule p%=15 --method exact"


def firms(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    places = {"region": rng.choice(list("nesw"), 70), "size": rng.choice(list("abc"), 70)}
    return pd.DataFrame({**places, "v": rng.integers(1, 150, 70) ** 2, "firm": [f"f{k}" for k in range(70)]})


def protect(frame: pd.DataFrame, **more: Any) -> Any:
    return tp.protect(frame, "p%=15", tp.Suppress(method="exact"), **BASE, **more)


@pytest.fixture
def last(tmp_path: Path) -> Path:
    release = protect(firms(1))
    assert release.safe
    assert release.carried is None
    folder: Path = release.write(tmp_path / "last")
    return folder


@pytest.mark.parametrize("keep", [False, True], ids=["preferred", "kept"])
def test_all_faces_give_one_release(tmp_path: Path, last: Path, keep: bool) -> None:
    firms(2).to_csv(tmp_path / "now.csv", index=False)
    frame = pd.read_csv(tmp_path / "now.csv")
    one = protect(frame, previous=tp.Previous(last, keep=keep))
    asked = {"data": "now.csv", **BASE, "rules": ["p%=15"], "method": "exact"}
    two = carry_out(request_of(check_spec({**asked, "previous": {"release": "last", "keep": keep}}, "spec"), tmp_path))
    assert one.safe
    assert np.array_equal(one.problem.weights, two.problem.weights)
    assert np.array_equal(one.problem.status, two.problem.status)
    assert np.array_equal(one.pattern, two.pattern)
    words = ["--previous", str(last), *(["--keep-previous"] if keep else [])]
    assert run(["protect", str(tmp_path / "now.csv"), *shlex.split(FLAGS), *words, "--out", str(tmp_path / "o")]) == 0
    document = json.loads(next((tmp_path / "o").rglob("certificate.json")).read_text())
    assert {k: document[k] for k in ("cost", "bound")} == {k: one.certificate.document[k] for k in ("cost", "bound")}
    was = protect(firms(1)).pattern
    alone = protect(frame)
    assert (one.pattern & was).sum() >= (alone.pattern & was).sum()
    assert one.carried.stability.kept == int((one.pattern == was).sum())
    assert len(one.carried.stability.freed) == int((was & ~one.pattern).sum())
    assert any(name == "last period" for name, _ in one.summary().lines)
    if keep:
        free = np.isin(alone.problem.status[: alone.table.n_cells], [Status.SAFE, Status.PRIMARY])
        assert one.pattern[was & free].all()


def test_a_folder_and_its_pattern_prefer_the_same(last: Path) -> None:
    by_folder, by_pattern = protect(firms(2), previous=last), protect(firms(2), previous=protect(firms(1)).pattern)
    assert np.array_equal(by_folder.problem.weights, by_pattern.problem.weights)
    assert np.array_equal(by_folder.pattern, by_pattern.pattern)
    assert not np.array_equal(by_folder.problem.weights, protect(firms(2)).problem.weights)


def test_costs_of_an_apriori_file_are_lowered_and_transformed(tmp_path: Path, last: Path) -> None:
    """They replaced the lowered costs of cells hidden in the last period, and escaped the transform."""
    was = protect(firms(1))
    cell = int(np.flatnonzero(was.pattern)[0])
    codes = ["" if code == "Total" else str(code) for code in was.table.system.cells[cell]]
    (tmp_path / "a.hst").write_text(";".join([*codes, "c", "400"]) + "\n")
    rules = ["p%=15", f"apriori={tmp_path / 'a.hst'}"]
    release = tp.protect(firms(2), rules, tp.Suppress(transform=tp.BoxCox(0.5)), **BASE, previous=last)
    assert release.problem.weights[cell] == pytest.approx(0.1 * 400**0.5)


def test_a_revision_is_judged_with_the_release_that_it_revises(last: Path) -> None:
    same = protect(firms(1), previous=tp.Previous(last, revision=True))
    assert same.safe
    assert same.carried.both.safe
    changed = protect(firms(2), previous=tp.Previous(last, revision=True))
    assert changed.carried.both.published_before
    assert not changed.safe
    with pytest.raises(InfeasibleError, match="the last release published it"):
        _ = changed.public


def test_an_unsafe_revision_writes_nothing(tmp_path: Path, last: Path) -> None:
    firms(2).to_csv(tmp_path / "now.csv", index=False)
    words = [*shlex.split(FLAGS), "--previous", str(last), "--revision", "--out", str(tmp_path / "o")]
    assert run(["protect", str(tmp_path / "now.csv"), *words]) == 1
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("previous", "says"),
    [
        ("nowhere", "there is no folder nowhere"),
        ([True, False], "one truth value for each of the 20 cells"),
        (3.5, "one truth value for each"),
    ],
)
def test_what_is_no_last_release(previous: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        protect(firms(1), previous=previous)


def test_a_release_of_another_table(tmp_path: Path) -> None:
    other = firms(1).assign(region=lambda f: f.region + "9", size=lambda f: f["size"] + "9")
    renamed = {"region": tp.Dimension("region", total="All"), "size": tp.Dimension("size", total="All")}
    folder = tp.protect(other, "p%=15", **{**BASE, "by": list(renamed.values())}).write(tmp_path / "other")
    with pytest.raises(InputError, match="no cell of the table is in"):
        protect(firms(1), previous=folder)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"factor": 0}, "factor must be a number above 0"),
        ({"keep": 1}, "keep must be True or False"),
        ({"release": [True], "revision": True}, "give its folder"),
    ],
)
def test_options_that_cannot_be(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        tp.Previous(**{"release": "r", **given})


@pytest.mark.parametrize("method", [tp.Round(base=5), tp.Recode()], ids=["round", "recode"])
def test_methods_without_a_pattern_to_keep(last: Path, method: Any) -> None:
    with pytest.raises(InputError, match="previous"):
        tp.protect(firms(1), "p%=15", method, **BASE, previous=last)


def test_no_last_release_and_other_mistakes_are_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    firms(1).to_csv(tmp_path / "firms.csv", index=False)
    words = ["--by", "nothing", "--rule", "p%=x", "--transform", "lgo", "--previous", str(tmp_path / "none")]
    assert run(["protect", str(tmp_path / "firms.csv"), *words]) == 2
    said = capsys.readouterr().err
    assert "4 problems" in said
    for what in ("no column 'nothing'", "p must be a number", "did you mean 'log'", "there is no folder"):
        assert what in " ".join(said.split())
