"""Intersection attacks by an intruder who knows the masking method and its parameters (Torra, section 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from tabprotect.errors import InputError, did_you_mean
from tabprotect.microdata.masked import Masked
from tabprotect.microdata.masking.microaggregation.fuzzy import memberships
from tabprotect.microdata.records import Records, read_records
from tabprotect.microdata.risk.knowledge import ConsecutiveGroups, FuzzyDraw, Knowledge
from tabprotect.microdata.schema import Schema, require

__all__ = ["TransparencyRisk", "transparency"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

TIE = 1 + 1e-9
"""Distances count as equal up to this factor."""

CHUNK = 4_000_000
"""Most entries of an array of memberships."""


@dataclass(frozen=True, eq=False)
class TransparencyRisk:
    """What an intruder with the method and its parameters re-identifies; confidential.

    Attributes
    ----------
    columns : tuple of str
    candidates : ndarray of int, shape (records,)
        Masked records that may be that of each original record.
    contained : ndarray of bool, shape (records,)
        Whether the true one is among them.
    records : ndarray of float, shape (records,)
        Probability that the best guess among the candidates is right; ties shared out.
    plain : ndarray of float, shape (records,)
        The same for the nearest of all masked records, without any knowledge of the method.
    """

    columns: tuple[str, ...]
    candidates: Ints
    contained: Flags
    records: Floats
    plain: Floats

    @property
    def value(self) -> float:
        """Expected share of records that are linked correctly with the knowledge."""
        return float(self.records.mean())

    @property
    def plain_value(self) -> float:
        """Expected share of records that plain distance linkage links correctly."""
        return float(self.plain.mean())

    @property
    def pinned(self) -> float:
        """Share of records with one candidate left, the true one: these links are certain."""
        return float(((self.candidates == 1) & self.contained).mean())

    def summary(self) -> str:
        """Return what was found, one line each."""
        return "\n".join(
            [
                f"attack on {', '.join(self.columns)} with knowledge of the method",
                f"linked correctly: {self.value:.2%} (plain distance linkage: {self.plain_value:.2%})",
                f"pinned to one candidate: {self.pinned:.2%}",
                f"candidates left: median {np.median(self.candidates):g}, average {self.candidates.mean():.1f}",
                f"true record among the candidates: {self.contained.mean():.2%}",
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of the file as JSON."""
        return {
            "measure": "transparency", "columns": list(self.columns), "value": self.value, "plain": self.plain_value,
            "pinned": self.pinned, "contained": float(self.contained.mean()),
            "median candidates": float(np.median(self.candidates)), "records": len(self.records),
        }  # fmt: skip

    def plot(self, axes: Any = None) -> Any:
        """Draw how many records have so many candidates left; returns matplotlib axes.

        Raises
        ------
        InputError
            Without matplotlib (extra 'plot').
        """
        if axes is None:
            try:
                from matplotlib.figure import Figure
            except ImportError as error:
                raise InputError("plots need matplotlib: pip install 'tabprotect[plot]'") from error
            axes = Figure(figsize=(6, 3.5)).subplots()
        share = np.arange(1, len(self.candidates) + 1) / len(self.candidates)
        axes.step(np.sort(self.candidates), share, where="post")
        axes.set(xscale="symlog", xlabel="candidates left", ylabel="share of records", ylim=(0, 1))
        return axes


def transparency(
    original: Any,
    masked: Any,
    schema: Schema | None = None,
    *,
    knowledge: Knowledge | Mapping[str, Knowledge] | None = None,
    columns: Sequence[str] | str | None = None,
) -> TransparencyRisk:
    """Attack a masked file as an intruder who knows the method and its parameters.

    The intruder has the original values of some columns. By what he knows of the method, every column j leaves a set
    B_j(x) of masked records that can be that of x; the true one is in the intersection of these sets. Of the candidates
    he takes the nearest one (Euclidean distance, standardised columns), or under fuzzy microaggregation the one with
    the highest probability.

    A value that is missing, in the original or in the masked record, excludes nothing, and stands at the mean of the
    column in distances. Weights are not looked at.

    Parameters
    ----------
    original : frame or path
        As `mask` takes it.
    masked : Masked, frame or path
        A frame has the same records in the same order.
    schema : Schema, optional
    knowledge : Knowledge or mapping of column to Knowledge, optional
        Such as ``ConsecutiveGroups()``. Left out, it is read from the steps of a `Masked`.
    columns : str or sequence of str, optional
        What the intruder knows of the original; by default the columns that the knowledge is about, or the keys.

    Returns
    -------
    TransparencyRisk

    Raises
    ------
    InputError

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> from tabprotect.microdata.risk import transparency
    >>> people = pd.DataFrame({"a": [1.0, 2.0, 4.0, 7.0, 8.0, 9.0], "b": [5.0, 1.0, 9.0, 2.0, 8.0, 4.0]})
    >>> masked = md.mask(people, None, md.Microaggregation(["a", "b"], k=2, method="individual-optimal"))
    >>> risk = transparency(people, masked)
    >>> bool(risk.contained.all()), risk.candidates.tolist()
    (True, [1, 2, 1, 2, 3, 1])
    """
    before = read_records(original, require(schema))
    known = knowledge if knowledge is not None else _of_steps(masked)
    if isinstance(masked, Masked):
        after, links = masked.records, masked.links
    else:
        after = read_records(masked, Schema())
        links = np.arange(len(after), dtype=np.int64)
        if len(after) != len(before):
            raise InputError(
                f"{len(before):,} original and {len(after):,} masked records: pass the Masked, which knows their links"
            )
    names = _columns(columns, known, before)
    about = known if isinstance(known, Mapping) else dict.fromkeys(names, known)
    x, y = _matrix(before, names), _matrix(after, names)
    true = np.full(len(before), -1, dtype=np.int64)
    true[links[links >= 0]] = np.flatnonzero(links >= 0)
    low, high = _limits(x, y, [about.get(name) for name in names])
    sx, sy = _standardised(x, y)
    classes = _Classes(y, sy)
    plain = classes.nearest(sx, true)
    fuzzy = [one for one in about.values() if isinstance(one, FuzzyDraw)]
    if fuzzy:
        if len({one.m2 for one in fuzzy}) > 1 or any(not isinstance(about.get(name), FuzzyDraw) for name in names):
            raise InputError("FuzzyDraw is about all columns at once, with one m2")
        everyone = np.full(len(x), len(y), dtype=np.int64)
        found = classes.most_probable(sx, true, fuzzy[0].m2)
        return TransparencyRisk(names, everyone, true >= 0, found, plain)
    candidates, contained, found = _intersect(low, high, sx, y, sy, true)
    return TransparencyRisk(names, candidates, contained, found, plain)


def _of_steps(masked: Any) -> Mapping[str, Knowledge]:
    """Return what the steps of a `Masked` tell an intruder."""
    if not isinstance(masked, Masked):
        raise InputError("give knowledge=..., such as ConsecutiveGroups(), or the Masked, whose steps say it")
    found: dict[str, Knowledge] = {}
    touched: list[str] = [name for step in masked.steps for name in step.columns]
    for step in masked.steps:
        one: Knowledge | None = None
        if step.method == "microaggregation" and str(step.parameters["method"]).startswith("individual"):
            one = ConsecutiveGroups()
        elif step.method == "fuzzy-microaggregation":
            one = FuzzyDraw(float(step.parameters["m2"]))
        if one is not None and not masked.original.schema.strata:
            found |= {name: one for name in step.columns if touched.count(name) == 1}
    if not found:
        raise InputError(
            "no step is known to limit masked values alone (univariate microaggregation without strata, fuzzy "
            "microaggregation); give knowledge=..., such as RankWindow(percent=5)"
        )
    return found


def _columns(
    given: Sequence[str] | str | None, known: Knowledge | Mapping[str, Knowledge], before: Records
) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given or ())
    if not names:
        names = tuple(known) if isinstance(known, Mapping) else tuple(before.schema.keys)
    if not names:
        raise InputError("name the columns that the intruder knows: columns=[...], or keys in the schema")
    unknown = [name for name in names if name not in before.columns]
    if unknown:
        raise InputError(*(f"no column '{name}'{did_you_mean(name, before.columns)}" for name in unknown))
    wrong = [one for one in (known.values() if isinstance(known, Mapping) else [known]) if not hasattr(one, "limits")]
    if wrong:
        raise InputError(f"knowledge must be such as ConsecutiveGroups(), not {wrong[0]!r}")
    return names


def _matrix(records: Records, names: Sequence[str]) -> Floats:
    return np.column_stack([records.numbers(name) for name in names])


def _limits(x: Floats, y: Floats, known: Sequence[Knowledge | None]) -> tuple[Floats, Floats]:
    """Return the limits of every record's masked values, infinite where nothing is known."""
    low, high = np.full(x.shape, -np.inf), np.full(x.shape, np.inf)
    for j, one in enumerate(known):
        column = np.sort(y[~np.isnan(y[:, j]), j])
        there = ~np.isnan(x[:, j])
        if one is not None and len(column) and there.any():
            low[there, j], high[there, j] = one.limits(x[there, j], column)
    return low, high


def _standardised(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Scale columns by the masked ones, which everybody has; missing values stand at the mean."""
    middle, spread = np.zeros(x.shape[1]), np.ones(x.shape[1])
    for j in range(x.shape[1]):
        there = y[~np.isnan(y[:, j]), j]
        if len(there):
            middle[j] = there.mean()
            spread[j] = there.std() or 1.0
    return np.nan_to_num((x - middle) / spread), np.nan_to_num((y - middle) / spread)


class _Classes:
    """Masked records with the same values, which no distance tells apart."""

    def __init__(self, y: Floats, scaled: Floats) -> None:
        _, first, index = np.unique(np.nan_to_num(y, nan=np.inf), axis=0, return_index=True, return_inverse=True)
        self.index = index.ravel()
        self.size = np.bincount(self.index)
        self.points = scaled[first]

    def nearest(self, x: Floats, true: Ints) -> Floats:
        """Return the probability that one of the nearest masked records, drawn at random, is the true one."""
        tree = cKDTree(self.points)
        success = np.zeros(len(x))
        todo, wanted = np.arange(len(x)), 4
        while len(todo):
            wanted = min(wanted, len(self.points))
            distance, which = (np.asarray(a).reshape(len(todo), wanted) for a in tree.query(x[todo], k=wanted))
            ties = distance <= distance[:, :1] * TIE
            complete = ~ties[:, -1] | (wanted == len(self.points))
            size = np.where(ties, self.size[which], 0).sum(axis=1)
            own = np.where(true[todo] >= 0, self.index[true[todo]], -1)
            hit = (ties & (which == own[:, None])).any(axis=1)
            success[todo[complete]] = (hit / size)[complete]
            todo, wanted = todo[~complete], wanted * 4
        return success

    def most_probable(self, x: Floats, true: Ints, m2: float) -> Floats:
        """Return the probability that the best guess is right, with memberships to the centres that are released."""
        success = np.zeros(len(x))
        step = max(1, CHUNK // len(self.points))
        for at in range(0, len(x), step):
            rows = np.arange(at, min(at + step, len(x)))
            each = memberships(x[rows], self.points, m2) / self.size
            best = each >= each.max(axis=1, keepdims=True) / TIE
            own = np.where(true[rows] >= 0, self.index[true[rows]], 0)
            hit = best[np.arange(len(rows)), own] & (true[rows] >= 0)
            success[rows] = hit / (best * self.size).sum(axis=1)
        return success


def _intersect(low: Floats, high: Floats, sx: Floats, y: Floats, sy: Floats, true: Ints) -> tuple[Ints, Flags, Floats]:
    """Return the candidates of each record, whether the true one is among them, and how good the best guess is."""
    n, p = low.shape
    gone = np.isnan(y)
    orders = [np.argsort(np.where(gone[:, j], -np.inf, y[:, j]), kind="stable") for j in range(p)]
    columns = [y[orders[j], j][int(gone[:, j].sum()) :] for j in range(p)]
    absent = [orders[j][: int(gone[:, j].sum())] for j in range(p)]
    begin = np.column_stack([np.searchsorted(columns[j], low[:, j], side="left") for j in range(p)])
    end = np.column_stack([np.searchsorted(columns[j], high[:, j], side="right") for j in range(p)])
    narrowest = (end - begin + np.array([len(a) for a in absent])).argmin(axis=1)
    count, success = np.zeros(n, dtype=np.int64), np.zeros(n)
    contained = np.zeros(n, dtype=bool)
    for i in range(n):
        j = int(narrowest[i])
        rows = orders[j][len(absent[j]) + begin[i, j] : len(absent[j]) + end[i, j]]
        rows = np.concatenate([rows, absent[j]])
        fits = (((y[rows] >= low[i]) & (y[rows] <= high[i])) | gone[rows]).all(axis=1)
        rows = rows[fits]
        count[i] = len(rows)
        if not len(rows) or true[i] < 0:
            continue
        contained[i] = bool((rows == true[i]).any())
        if contained[i]:
            apart = np.sqrt(((sy[rows] - sx[i]) ** 2).sum(axis=1))
            best = apart <= apart.min() * TIE
            success[i] = bool(best[rows == true[i]].any()) / int(best.sum())
    return count, contained, success
