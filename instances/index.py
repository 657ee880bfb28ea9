"""The index of the benchmark instances: what there is, how large it is, and the best answers known."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from tabprotect.errors import InputError, did_you_mean
from tabprotect.instances.families import family
from tabprotect.kinds import of_kinds
from tabprotect.problem import Problem
from tabprotect.sensitivity.build import make_problem
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.table import Table

__all__ = ["FILE", "data", "index", "load", "names", "recipe"]

_FOLDER = Path(__file__).parent
#: The index itself; kept by ``python -m benchmarks.record``.
FILE = _FOLDER / "index.csv"


@of_kinds()
def data(name: str) -> Path:
    """Return the path of a bundled file.

    Examples
    --------
    >>> data("nuts.hrc").read_text().split()[:2]
    ['IE04', '@IE041']
    """
    files = sorted(path.name for path in (_FOLDER / "data").iterdir())
    if name not in files:
        raise InputError(f"there is no bundled file '{name}'{did_you_mean(name, files)}")
    return _FOLDER / "data" / name


@cache
def _index() -> pd.DataFrame:
    words = {"arguments": "", "proof": ""}
    return pd.read_csv(FILE, dtype=dict.fromkeys(words, str)).fillna(words).set_index("name")


def index() -> pd.DataFrame:
    """Return one row an instance, by name.

    Columns: ``family`` (or ``table`` for a bundled finished table), ``seed``, ``arguments``, then ``cells``,
    ``primaries``, ``equations`` and ``attackers``, the cost of the best safe pattern known, the best bound proven
    (both missing when nobody has tried), and how they were found.
    """
    return _index().copy()


def names() -> list[str]:
    """Return the names of all instances, family by family.

    Examples
    --------
    >>> names()[0]
    'eustat-investment'
    """
    return [str(name) for name in _index().index]


@of_kinds()
def load(name: str) -> Problem:
    """Build an instance of the index.

    Raises
    ------
    InputError
        If there is no such instance.

    Examples
    --------
    >>> load("eustat-investment").n_cells
    16
    """
    which, seed, arguments = recipe(name)
    if which == "table":
        return _table(data(f"{name}.csv"), **arguments)
    return family(which, seed, **arguments)


def recipe(name: str) -> tuple[str, int, dict[str, Any]]:
    """Return family, seed and arguments of an instance of the index; the family of a finished table is ``table``.

    Raises
    ------
    InputError
        If there is no such instance.

    Examples
    --------
    >>> recipe("flat2d-4x5")
    ('flat2d', 1, {'rows': 4, 'columns': 5})
    """
    if name not in names():
        raise InputError(f"there is no instance '{name}'{did_you_mean(name, names())}")
    row = _index().loc[[name]].to_dict("records")[0]
    which = str(row["family"])
    return which, 0 if which == "table" else int(row["seed"]), _parse(row["arguments"])


def _parse(text: str) -> dict[str, Any]:
    """Read ``rows=4 activity=3,2 cost=unit``."""

    def read(word: str) -> Any:
        if "," in word:
            return tuple(read(part) for part in word.split(","))
        return int(word) if word.isdigit() else word

    return {key: read(word) for key, word in (part.split("=") for part in text.split())}


def _table(path: Path, *, bounds: float | None = None, integer: int = 0, rounding: float = 0.0) -> Problem:
    """Read a finished table; `bounds` are in percent of the value, `rounding` is the largest residual accepted."""
    cells = pd.read_csv(path, dtype=str)
    by = list(cells.columns[: cells.columns.get_loc("value")])
    table = Table.from_cells(
        cells,
        by,
        "value",
        hierarchies={name: Hierarchy.flat([code for code in cells[name].unique() if code != "Total"]) for name in by},
        status="status",
        lpl="lpl",
        upl="upl",
        kind="frequency" if integer else None,
        tolerance=rounding or None,
    )
    return make_problem(table, [], bounds=None if bounds is None else f"{bounds:g}%", singletons=False)
