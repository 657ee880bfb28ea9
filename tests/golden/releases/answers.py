"""Make the answer of a case: what is told inside and outside of a release, as plain JSON."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import tabprotect as tp
from tabprotect.cli.app import run
from tests.golden.releases.cases import FILES, Case, Commands, Compare, Protect
from tests.golden.releases.data import SHAPES, finished, firms, people

__all__ = ["FOLDER", "answer", "differences", "read", "write"]

#: where the answers are kept
FOLDER = Path(__file__).parent / "answers"

#: significant digits of costs, bounds and published values
DIGITS = 9

#: work units of every case that has no limits of its own
WORK = 20_000


def answer(case: Case, folder: Path) -> dict[str, Any]:
    """Carry a case out.

    Parameters
    ----------
    case : Case
    folder : Path
        Empty; for the files of command lines.
    """
    if isinstance(case, Protect):
        return _protected(case)
    return _compared(case) if isinstance(case, Compare) else _commanded(case, folder)


def _protected(case: Protect) -> dict[str, Any]:
    data, options = SHAPES[case.shape]()
    given = {"limits": tp.Limits(work=WORK), **options, **case.options}
    try:
        release = tp.protect(data, case.rules, case.method, **given)
    except (tp.InputError, tp.InfeasibleError) as error:
        return {"refused": f"{type(error).__name__}: {error}"}
    inside = {
        "status": release.result.status,
        "safe": release.safe,
        "stopped": release.stopped,
        "cost": _plain(release.result.cost),
        "bound": _plain(release.result.bound),
        "message": _untimed(release.result.message),
        "sensitive": [str(release.problem.system.label(int(i))) for i in release.problem.primaries],
        "verified": _plain(bool(release.verify().ok)),
        "settings": _plain({name: what for name, what in release.settings.items() if what is not None}),
    }
    if isinstance(release, tp.Release):
        inside |= {
            "unions": [exposure.reason for exposure in release.unions],
            "unprotectable": [u.reason for u in release.result.unprotectable],
            "hidden": int(release.pattern.sum()),
            "problem cells": release.problem.n_cells,
        }
    else:
        inside |= {"claim": _claim(release.result.claim), "intruders know": release.result.knows}
    return {"release": inside, "published": _rows(release)}


def _rows(release: tp.Release | tp.ChangedRelease) -> list[str]:
    """Return the published table, one line a row; or why there is none."""
    try:
        frame = release.public.frame
    except tp.InfeasibleError as error:
        return [f"refused: {error}"]
    return [" | ".join(str(_plain(value)) for value in row) for row in frame.astype(object).to_numpy().tolist()]


def _claim(claim: Mapping[str, Any]) -> dict[str, Any]:
    """Return a claim with the lengths of its long lists."""
    return {
        name: f"{len(what)} entries" if isinstance(what, list) and len(what) > 20 else _plain(what)
        for name, what in claim.items()
    }


def _compared(case: Compare) -> dict[str, Any]:
    data, options = SHAPES[case.shape]()
    table = data if isinstance(data, tp.Table) else tp.tabulate(data, **options)
    problem = tp.make_problem(table, tp.assess(table, case.rules))
    found = tp.compare(problem, case.methods, limits=tp.Limits(work=WORK), seed=1, table=table)
    frame = found.frame.drop(columns="seconds")
    lines = [{name: _plain(value) for name, value in row.items()} for row in frame.to_dict("records")]
    return {"methods": [_untimed_line(line) for line in lines]}


def _untimed_line(line: dict[str, Any]) -> dict[str, Any]:
    return line | {"message": _untimed(line["message"])}


def _commanded(case: Commands, folder: Path) -> dict[str, Any]:
    for name, text in FILES.items():
        (folder / name).write_text(text)
    firms().to_csv(folder / "firms.csv", index=False)
    people().to_csv(folder / "people.csv", index=False)
    finished().to_csv(folder / "cells.csv", index=False)
    tp.write_jj(tp.instances.family("flat2d", 1, rows=4, columns=5), folder / "table.jj")
    done = []
    with contextlib.chdir(folder):
        for line in case.lines:
            told, wrong = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(told), contextlib.redirect_stderr(wrong):
                code = run(shlex.split(line))
            done.append({"line": f"tabprotect {line}", "code": int(code), **_written(Path())})
            if code == 2:
                done[-1]["error"] = re.sub(r"\s+", " ", wrong.getvalue()).strip()
    return {"commands": done}


def _written(folder: Path) -> dict[str, Any]:
    """Return what a command left: the public table, the facts of the release, a JSON file."""
    found: dict[str, Any] = {}
    table, facts, out = (folder / name for name in ("out/publish/table.csv", "out/internal/release.json", "out.json"))
    if table.exists():
        with table.open(newline="", encoding="utf-8") as file:
            found["published"] = [" | ".join(row) for row in csv.reader(file)]
    if facts.exists():
        content = json.loads(facts.read_text())
        found["release"] = {name: _plain(what) for name, what in content.items() if name in _FACTS}
    if out.exists():
        found["result"] = _plain(_without_time(json.loads(out.read_text())))
        out.unlink()
    return found


_FACTS = ("safe", "status", "cost", "bound", "claim", "settings", "kind", "title")


def _without_time(content: Any) -> Any:
    if isinstance(content, dict):
        return {
            name: _untimed(what) if name == "message" else _without_time(what)
            for name, what in content.items()
            if name != "seconds"
        }
    return [_without_time(one) for one in content] if isinstance(content, list) else content


def _untimed(message: str) -> str:
    """Return a message without the seconds in it."""
    return re.sub(r"\b[\d.,]+ s(econds)?\b", "... s", message)


def _plain(value: Any) -> Any:
    """Return what JSON holds, numbers to `DIGITS` significant digits."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        rounded = float(f"{value:.{DIGITS}g}")
        return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
    return value if isinstance(value, int | str | bool | None) else str(value)


def write(name: str, content: Mapping[str, Any], folder: Path = FOLDER) -> None:
    """Write an answer, one fact a line."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(name: str, folder: Path = FOLDER) -> Any:
    """Read an answer; None where none is recorded."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def differences(old: Any, new: Any, where: str = "") -> Iterator[str]:
    """Name every place where two answers differ, and what is there in each.

    Examples
    --------
    >>> list(differences({"cost": 3, "rows": ["a", "b"]}, {"cost": 4, "rows": ["a", "c"]}))
    ['cost: was 3, is 4', "rows[1]: was 'b', is 'c'"]
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            yield from differences(old.get(name), new.get(name), f"{where}.{name}" if where else name)
    elif isinstance(old, list) and isinstance(new, list):
        for k in range(max(len(old), len(new))):
            pair = [content[k] if k < len(content) else None for content in (old, new)]
            yield from differences(*pair, f"{where}[{k}]")
    elif old != new:
        yield f"{where}: was {old!r}, is {new!r}"
