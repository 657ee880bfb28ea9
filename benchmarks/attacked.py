"""Random releases of every kind, written and attacked from their public folder alone.

Microdata with few records, so that much is sensitive: hierarchies, holdings, weights, waivers, shadow variables,
negative values, counts, linked tables; every method, every strategy of suppression, every treatment of empty cells.
What the intruder is taken to know is said in `benchmarks.intruder`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

import tabprotect as tp
from benchmarks.intruder.attack import Known, Report, attack
from benchmarks.intruder.rules import Register
from tabprotect.methods.base.method import Method

__all__ = ["Attacked", "assault", "case"]

STRATEGIES = ("auto", "exact", "greedy", "local", "modular", "hypercube", "network", "joint", "passes")

EMPTY = (None, "zero", "structural", "drop")

MAGNITUDES = ("p%=10", "p%=30", "p%=50", "pq=10,60", "nk=1,75", "nk=2,90", "threshold=3")


@dataclass(frozen=True, eq=False)
class Attacked:
    """One call of `protect`, and what there is to know about it.

    Attributes
    ----------
    words : str
    data : DataFrame
    tables : sequence of sequences of dimensions
        The dimensions of every table, by their columns; several tables are linked.
    empty : tuple of str
        How every table treats its empty cells; None for what is usual.
    of_data, options : dict
        What `tabulate` and what `protect` is given.
    rules : tuple of str
    method : Any
    """

    words: str
    data: pd.DataFrame
    tables: tuple[tuple[tuple[str, ...], ...], ...]
    empty: tuple[str | None, ...]
    of_data: dict[str, Any]
    options: dict[str, Any]
    rules: tuple[str, ...]
    method: Any


def case(seed: int, seconds: float = 3.0) -> Attacked:
    """Return the call of a seed.

    Examples
    --------
    >>> case(3).words == case(3).words
    True
    """
    rng = np.random.default_rng([seed, 17])
    data, dimensions = _records(rng)
    n = len(data)
    counts = bool(rng.random() < 0.3)
    empty = (EMPTY[int(rng.integers(4))],)
    of_data: dict[str, Any] = {}
    options: dict[str, Any] = {}
    if counts:
        rules: tuple[str, ...] = (f"threshold={int(rng.choice([2, 3, 5]))}",)
    else:
        of_data["value"] = "value"
        rules = tuple(str(r) for r in rng.choice(MAGNITUDES, int(rng.choice([1, 1, 2])), replace=False))
        _values(rng, data, of_data, options)
        data["firm"] = rng.integers(0, max(3, int(n * rng.choice([0.4, 1.0]))), n).astype(str)
        of_data["contributor"] = "firm"
        if rng.random() < 0.4:
            groups = max(2, n // 3)
            data["group"] = (data["firm"].astype(int) % groups).astype(str)
            of_data["holding"] = "group"
        if rng.random() < 0.2:
            data["waiver"] = rng.random(n) < 0.3
            of_data["waiver"] = "waiver"
        if rng.random() < 0.2:
            data["shadow"] = np.round(rng.lognormal(3, 1, n))
            of_data["shadow"] = "shadow"
    if rng.random() < 0.15:
        data["weight"] = np.round(rng.uniform(1, 4, n), int(rng.choice([0, 1])))
        of_data["weight"] = "weight"
    linked = len(dimensions) == 3 and rng.random() < 0.5
    tables = ((dimensions[:2], (dimensions[0], dimensions[2])) if linked else (dimensions,))  # fmt: skip
    if linked:
        empty = (*empty, EMPTY[int(np.random.default_rng([seed, 18]).integers(4))])
    method = _method(rng, counts, linked, len(dimensions))
    options["singletons"] = bool(rng.random() < 0.7)
    options["levels"] = str(rng.choice(["symmetric", "symmetric", "upper", "sliding"]))
    options["seed"] = int(rng.integers(0, 100))
    words = f"{n} records, {rules}, {method}, tables {tables}, {empty}, {of_data}, {options}"
    return Attacked(
        words, data, tables, empty, of_data, {**options, "limits": tp.Limits(seconds=seconds)}, rules, method
    )


def _records(rng: np.random.Generator) -> tuple[pd.DataFrame, tuple[tuple[str, ...], ...]]:
    n = int(rng.choice([6, 10, 16, 25, 40]))
    sizes = [int(rng.integers(2, 5)) for _ in range(int(rng.choice([1, 2, 2, 2, 3])))]
    data = pd.DataFrame(index=range(n))
    dimensions: list[tuple[str, ...]] = []
    for k, size in enumerate(sizes):
        letters = pd.Series([chr(97 + int(code)) for code in rng.integers(0, size, n)])
        data[f"d{k}"] = letters
        dimensions.append((f"d{k}",))
        if rng.random() < 0.25:
            data[f"e{k}"] = letters + rng.integers(1, 3, n).astype(str)
            dimensions[-1] = (f"d{k}", f"e{k}")
    return data, tuple(dimensions)


def _values(rng: np.random.Generator, data: pd.DataFrame, of_data: dict[str, Any], options: dict[str, Any]) -> None:
    n = len(data)
    values = rng.lognormal(3, float(rng.choice([0.4, 1.5])), n)
    data["value"] = np.round(values, int(rng.choice([0, 0, 1])))
    if rng.random() < 0.15:
        data["value"] *= rng.choice([1.0, -1.0], n, p=[0.9, 0.1])
        options["bounds"] = str(rng.choice(["100%", "200%"]))
    elif rng.random() < 0.2:
        options["bounds"] = str(rng.choice(["60%", "100%"]))


def _method(rng: np.random.Generator, counts: bool, linked: bool, dimensions: int) -> Any:
    hiding = [name for name in STRATEGIES if linked or name != "passes"]
    if rng.random() < 0.6:
        return tp.Suppress(method=str(rng.choice(hiding)))
    base = None if rng.random() < 0.5 else float(rng.choice([3, 5] if counts else [5, 20, 100]))
    made: list[Any] = [
        tp.Round(base=base),
        tp.RandomRound(base=base),
        tp.UnbiasedRound(base=base),
        tp.SuccessiveRound(base=base),
        tp.ConventionalRound(base=base),
        tp.Adjust(fixed=str(rng.choice(["nothing", "totals", "margins"]))),  # type: ignore[arg-type]
        tp.Adjust(within=float(rng.choice([5, 20, 100]))),
        tp.Recode(then=tp.Suppress()),
    ]
    if dimensions > 1:
        made.append(tp.Swap(geography="d0", risk="d1", similar="d1"))
    if counts:
        made += [tp.SmallCounts(base=int(rng.choice([3, 5]))), tp.CellKey(deviation=int(rng.choice([2, 4])))]
    return made[int(rng.integers(len(made)))]


def release(call: Attacked) -> Any:
    """Make the release."""
    if len(call.tables) == 1:
        of_data = {**call.of_data, "empty": call.empty[0]}
        return tp.protect(call.data, list(call.rules), call.method, by=_by(call.tables[0]), **of_data, **call.options)
    tables = {
        f"t{k}": tp.tabulate(call.data, _by(by), empty=empty, **call.of_data)  # type: ignore[arg-type]
        for k, (by, empty) in enumerate(zip(call.tables, call.empty, strict=True))
    }
    return tp.protect(tp.link(tables), list(call.rules), call.method, **call.options)


def _by(dimensions: Sequence[tuple[str, ...]]) -> list[Any]:
    return [names if len(names) > 1 else names[0] for names in dimensions]


def assault(call: Attacked, made: Any, seconds: float = 8.0) -> Report | None:
    """Write a release and attack what is public of it; None where it does not call itself safe."""
    if not made.safe:
        return None
    with tempfile.TemporaryDirectory() as folder:
        made.write(folder)
        return attack(Path(folder) / "publish", register(call), known(call, made), seconds)


def register(call: Attacked) -> Register:
    """Return the microdata in plain arrays."""
    data, given = call.data, call.of_data
    n = len(data)
    counts = "value" not in given
    value = np.ones(n) if counts else data["value"].to_numpy(np.float64)
    holder: npt.NDArray[np.int64] = np.arange(n)
    if "contributor" in given:
        holder = pd.factorize(data[given.get("holding", "firm")])[0].astype(np.int64)
    weight = data["weight"].to_numpy(np.float64) if "weight" in given else np.ones(n)
    places = max(_decimals(value), _decimals(value * weight))
    waived = data["waiver"].to_numpy(bool) if "waiver" in given else np.zeros(n, bool)
    size = data["shadow"].to_numpy(np.float64) if "shadow" in given else value
    codes = {
        name: [data[column].to_numpy(object) for column in columns]
        for by in call.tables
        for columns, name in zip(by, _names(call, by), strict=True)
    }
    whole = counts and bool(np.all(weight == np.rint(weight)))
    return Register(
        codes, value, size, weight, holder, waived, call.rules, call.options["levels"], 10.0**-places, whole,
        "shadow" in given,
    )  # fmt: skip


def _names(call: Attacked, by: Sequence[tuple[str, ...]]) -> list[str]:
    found = tp.tabulate(call.data, _by(by))
    return [str(dimension.name) for dimension in found.dimensions]


def _decimals(values: npt.NDArray[np.float64]) -> int:
    return next((k for k in range(6) if np.allclose(values, np.round(values, k), rtol=0, atol=1e-9)), 6)


def known(call: Attacked, made: Any) -> Known:
    """Return what everybody knows of the method."""
    counts = "value" not in call.of_data
    usual = "zero" if counts or isinstance(call.method, tp.Swap) else "structural"
    shown = tuple(
        frozenset(_names(call, by))
        for by, empty in zip(call.tables, call.empty, strict=True)
        if (empty or usual) != "zero"
    )
    bounds = call.options.get("bounds")
    name, given = "hidden", {}
    method, result = call.method, made.result
    if isinstance(method, Method):
        name = "nothing"
        if isinstance(method, tp.Adjust) and method.within is not None:
            name, given = "within", {"most": method.within}
        elif isinstance(method, tp.CellKey):
            name, given = "noise", {"most": float(method.deviation)}
            name = name if counts else "nothing"
        elif isinstance(method, tp.SmallCounts):
            name, given = "small", {"base": float(method.base)}
        elif isinstance(method, tp.ConventionalRound):
            name, given = "nearest", {"base": float(result.result.base)}
        elif not isinstance(method, tp.Adjust | tp.Swap):
            steps = 1 if isinstance(method, tp.SuccessiveRound) else int(result.result.steps)
            name, given = "multiple", {"base": float(result.result.base), "steps": steps}
    share = None if bounds is None else float(bounds.rstrip("%")) / 100
    return Known(name, given, shown, share, call.options["singletons"])
