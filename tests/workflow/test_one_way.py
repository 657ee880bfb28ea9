"""Every face asks the same thing in the same words, and so gets the same pattern, cost and bound."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect as tp
from tabprotect.cli.app import run
from tabprotect.comparison import compare
from tabprotect.workflow.request import Request
from tabprotect.workflow.source import Records
from tests.quick import examples

WORK = 3_000


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    """A random table with everything that all faces can say of it."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, rows, columns = draw(st.integers(15, 60)), draw(st.integers(2, 5)), draw(st.integers(2, 4))
    frame = pd.DataFrame(
        {
            "region": rng.choice([f"r{k}" for k in range(rows)], n),
            "size": rng.choice([f"s{k}" for k in range(columns)], n),
            "turnover": rng.integers(0, 200, n),
            "firm": [f"f{k}" for k in rng.integers(0, max(3, n // 2), n)],
        }
    )
    counts = draw(st.booleans())
    hides = ["auto", "exact", "greedy", "modular", "hypercube"]
    method = draw(st.sampled_from([*hides, "round", "small-counts"] if counts else [*hides, "adjust", "round"]))
    keeps = method in hides
    return {
        "frame": frame,
        "counts": counts,
        "rules": [draw(st.sampled_from(["threshold=2", "threshold=3"] if counts else ["p%=15", "nk=1,70", "p%=30"]))],
        "method": method,
        "levels": draw(st.sampled_from(["symmetric", "upper"])),
        "protect_hidden": keeps and draw(st.booleans()),
        "seed": draw(st.integers(0, 5)),
    }


def _flags(asked: dict[str, Any]) -> str:
    words = ["--by region --by size --levels", asked["levels"], "--method", asked["method"], f"--seed {asked['seed']}"]
    words += [] if asked["counts"] else ["--value turnover --contributor firm"]
    words += [f'--rule "{rule}"' for rule in asked["rules"]] + (["--protect-hidden"] if asked["protect_hidden"] else [])
    return " ".join(words)


def _specification(asked: dict[str, Any]) -> str:
    columns = "" if asked["counts"] else 'value = "turnover"\ncontributor = "firm"\n'
    hidden = "protect_hidden = true\n" if asked["protect_hidden"] else ""
    return (
        f'data = "firms.csv"\nby = ["region", "size"]\n{columns}rules = {json.dumps(asked["rules"])}\n'
        f'levels = "{asked["levels"]}"\nmethod = "{asked["method"]}"\nseed = {asked["seed"]}\n{hidden}'
        f'[limits]\nwork = {WORK}\n[output]\nfolder = "spec"\nallow_unsafe = true\n'
    )


Answer = tuple[str, float | None, float | None, list[float] | None]


def _command(line: str, folder: Path) -> Answer:
    wrong = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(wrong):
        code = run(shlex.split(line))
    assert code in (0, 1, 3), wrong.getvalue()
    facts = json.loads((folder / "internal/release.json").read_text())
    table = pd.read_csv(folder / "publish/table.csv")
    return facts["status"], facts["cost"], facts["bound"], _values(table)


def _values(table: pd.DataFrame) -> list[float]:
    """Return the published column of numbers, the rows in the order of their codes."""
    ordered = table.sort_values(["region", "size"])
    (column,) = (name for name in ("turnover", "count") if name in table)
    return pd.to_numeric(ordered[column], errors="coerce").astype(float).tolist()


def _released(release: tp.Release | tp.ChangedRelease) -> Answer:
    result = release.result
    return result.status, result.cost, result.bound, _values(release.public.frame)


def _compared(asked: dict[str, Any], request: Request) -> Answer:
    name = (
        asked["method"]
        if asked["method"] in ("round", "small-counts", "adjust")
        else f"suppress:method={asked['method']}"
    )
    found = compare(request, [name])
    (line,), problem = found.lines, found.problem
    keys = pd.DataFrame([problem.system.cells[k] for k in range(problem.n_cells)], columns=["region", "size"])
    values: npt.NDArray[np.float64] | None = line.values
    assert values is not None
    return line.status, line.cost, line.bound, _values(keys.assign(turnover=values))


def _same(one: Answer, other: Answer) -> None:
    assert one[0] == other[0].split(" by the solver")[0]
    np.testing.assert_allclose([one[1] or 0, one[2] or 0], [other[1] or 0, other[2] or 0], rtol=1e-9)
    np.testing.assert_array_equal(np.array(one[3]), np.array(other[3]))


def _check(asked: dict[str, Any], folder: Path) -> None:
    asked["frame"].to_csv(folder / "firms.csv", index=False)
    (folder / "spec.toml").write_text(_specification(asked))
    columns = {} if asked["counts"] else {"value": "turnover", "contributor": "firm"}
    roles = {"by": ["region", "size"], **columns}
    method = asked["method"] if asked["method"] in tp.methods.suppression.methods() else None
    how = tp.Suppress(method=method) if method else tp.methods.registry.entry(asked["method"]).factory()
    same = {
        "levels": asked["levels"], "seed": asked["seed"], "limits": tp.Limits(work=WORK), "allow_unsafe": True,
        "protect_hidden": asked["protect_hidden"],
    }  # fmt: skip
    release = tp.protect(asked["frame"], asked["rules"], how, **roles, **same)
    if release.result.status in ("infeasible", "unknown"):
        return
    here = Path.cwd()
    os.chdir(folder)
    try:
        flags = f"protect firms.csv {_flags(asked)} --work-limit {WORK} --out flags --allow-unsafe"
        _same(_released(release), _command(flags, folder / "flags"))
        _same(_released(release), _command("protect spec.toml", folder / "spec"))
    finally:
        os.chdir(here)
    request = Request.of(source=Records(asked["frame"], roles), rules=asked["rules"], method=how, **same)
    _same(_released(release), _compared(asked, request))


@given(requests())
@settings(max_examples=examples(3, 6), deadline=None, derandomize=True)
def test_every_face_gives_the_same_answer(tmp_path_factory: pytest.TempPathFactory, asked: dict[str, Any]) -> None:
    _check(asked, tmp_path_factory.mktemp("faces"))


@pytest.mark.slow
@given(requests())
@settings(max_examples=20, deadline=None)
def test_every_face_gives_the_same_answer_to_many_requests(
    tmp_path_factory: pytest.TempPathFactory, asked: dict[str, Any]
) -> None:
    _check(asked, tmp_path_factory.mktemp("faces"))
