"""Answering queries from protecting vectors and public columns: nothing here sees a true value or a weight."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.kinds import check_fields, of_kinds
from tabprotect.query.camouflage import ranges
from tabprotect.query.camouflage.answer import Answer
from tabprotect.query.camouflage.conditional import Aggregate, Conditional, quantile
from tabprotect.query.camouflage.conditions import Condition, public_rows, split
from tabprotect.query.camouflage.ranges import Range
from tabprotect.query.camouflage.vectors import Vectors

__all__ = ["FUNCTIONS", "Answering", "Query"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FUNCTIONS = ("count", "sum", "mean", "minimum", "maximum", "median", "quantile", "ratio", "variance", "coefficient")
"""What a `Query` may ask for."""


@dataclass(frozen=True)
class Query:
    """One question, as data.

    Attributes
    ----------
    function : str
        One of `FUNCTIONS`.
    field : str
        The confidential field ('' for 'count').
    where : tuple of Condition
    denominator : str
        Of 'ratio': a confidential or a public column.
    regressors : tuple of str
        Of 'coefficient': public columns.
    name : str
        Of 'coefficient': which one, a regressor or 'intercept'.
    level : float
        Of 'quantile'.
    kind : {'sample', 'population'}
        Of 'variance'.
    """

    function: str
    field: str = ""
    where: tuple[Condition, ...] = ()
    denominator: str = ""
    regressors: tuple[str, ...] = ()
    name: str = "intercept"
    level: float = 0.5
    kind: Literal["sample", "population"] = "sample"

    def __post_init__(self) -> None:
        check_fields(self, "function", "field", "denominator", "regressors", "name", "level", "kind")


@dataclass(frozen=True, eq=False)
class Answering:
    """Answers with an interval over the hull; each record is read once for a query, as for the true answer.

    Conditions are ``(column, operator, value)``, all of which must be met. On confidential columns they are understood
    by `count`, `sum`, `mean`, `minimum` and `maximum`.
    """

    vectors: Vectors
    public: Mapping[str, npt.NDArray[Any]]
    n: int

    @of_kinds()
    def answer(self, query: Query) -> Answer:
        """Answer a question given as data."""
        q = query
        if q.function in ("sum", "mean", "minimum", "maximum"):
            return self._aggregate(q.function, q.field, q.where)  # type: ignore[arg-type]
        if q.function == "coefficient":
            found = self.regression(q.field, q.regressors, q.where)
            if q.name not in found:
                raise InputError(f"there is no coefficient '{q.name}'{did_you_mean(q.name, found)}")
            return found[q.name]
        if q.function == "count":
            return self.count(q.where)
        if q.function in ("median", "quantile"):
            return self.quantile(q.field, 0.5 if q.function == "median" else q.level, q.where)
        if q.function == "ratio":
            return self.ratio(q.field, q.denominator, q.where)
        if q.function == "variance":
            return self.variance(q.field, q.where, kind=q.kind)
        raise InputError(f"there is no function '{q.function}'{did_you_mean(q.function, FUNCTIONS)}")

    def count(self, where: Sequence[Condition] = ()) -> Answer:
        """Count records: exact with public conditions only, else a safe outer bound."""
        return self._aggregate("count", "", where)

    @of_kinds("field", "level", "kind", "denominator", "regressors")
    def sum(self, field: str, where: Sequence[Condition] = ()) -> Answer:
        """Sum of a field: exact with public conditions, else a safe outer bound."""
        return self._aggregate("sum", field, where)

    @of_kinds("field", "level", "kind", "denominator", "regressors")
    def mean(self, field: str, where: Sequence[Condition] = ()) -> Answer:
        """Mean of a field: exact with public conditions, else a safe outer bound."""
        return self._aggregate("mean", field, where)

    @of_kinds("field", "level", "kind", "denominator", "regressors")
    def minimum(self, field: str, where: Sequence[Condition] = ()) -> Answer:
        """Smallest value: exact with public conditions, by a linear programme, else a safe outer bound."""
        return self._aggregate("minimum", field, where)

    @of_kinds("field", "level", "kind", "denominator", "regressors")
    def maximum(self, field: str, where: Sequence[Condition] = ()) -> Answer:
        """Largest value: exact with public conditions, by a linear programme, else a safe outer bound."""
        return self._aggregate("maximum", field, where)

    @of_kinds("field", "level", "kind", "denominator", "regressors")
    def median(self, field: str, where: Sequence[Condition] = ()) -> Answer:
        """Median: a safe outer bound, exact where it is found to be attained."""
        return self.quantile(field, 0.5, where)

    @of_kinds("field", "level", "kind", "denominator", "regressors")
    def quantile(self, field: str, level: float, where: Sequence[Condition] = ()) -> Answer:
        """Quantile of a field, linear between order statistics: an outer bound, exact where found to be attained."""
        if not 0 <= level <= 1:
            raise InputError(f"the level of a quantile is between 0 and 1, not {level!r}")
        (p,) = self._rows((field,), where, "a quantile")
        return _answer(quantile(p, level)) if len(p) else _empty()

    @of_kinds("field", "level", "kind", "denominator", "regressors")
    def ratio(self, numerator: str, denominator: str, where: Sequence[Condition] = ()) -> Answer:
        """Ratio of two sums (of confidential or public columns): exact; infinite where the denominator may be 0."""
        above, below = self._rows((numerator, denominator), where, "a ratio")
        return _answer(ranges.ratio(above, below)) if len(above) else _empty()

    @of_kinds("field", "level", "kind", "denominator", "regressors")
    def variance(
        self, field: str, where: Sequence[Condition] = (), *, kind: Literal["sample", "population"] = "sample"
    ) -> Answer:
        """Variance, divided by n - 1 ('sample') or n: exact, by a convex quadratic programme over the weights."""
        if kind not in ("sample", "population"):
            raise InputError(f"the kind of a variance is 'sample' or 'population', not {kind!r}")
        (p,) = self._rows((field,), where, "a variance")
        return _answer(ranges.variance(p, kind)) if len(p) > (kind == "sample") else _empty()

    @of_kinds("field", "level", "kind", "denominator", "regressors")
    def regression(self, field: str, on: Sequence[str], where: Sequence[Condition] = ()) -> dict[str, Answer]:
        """Least-squares coefficients of a confidential field on public numerical columns, with intercept: exact.

        Returns
        -------
        dict of str to Answer
            'intercept', and one for every regressor.
        """
        with collect() as problems:
            for name in on:
                if name not in self.public:
                    hint = "" if name in self.vectors.of else did_you_mean(name, self.public)
                    problems.add(f"regressors are public columns, and '{name}' is none{hint}")
                elif self.public[name].dtype.kind not in "iufb":
                    problems.add(f"regressor '{name}' must hold numbers")
        at = self._records(where, "a regression")
        p = self._entries(field, at)
        design = np.column_stack([np.ones(len(at)), *(self.public[name][at].astype(float) for name in on)])
        if not np.isfinite(design).all():
            raise InputError("regressors have missing or infinite values in the query set; exclude them by a condition")
        found = ranges.coefficients(p, design)
        return {name: _answer(r) for name, r in zip(("intercept", *on), found, strict=True)}

    def _aggregate(self, function: Aggregate, field: str, where: Sequence[Condition]) -> Answer:
        public, confidential = split(where, list(self.public), list(self.vectors.of))
        at = public_rows(public, self.public, self.n)
        if not confidential:
            if function == "count":
                return Answer(float(len(at)), float(len(at)), True)
            p = self._entries(field, at)
            if function == "sum" or not len(at):
                return _answer(ranges.total(p)) if function == "sum" else _empty()
            return _answer({"mean": ranges.mean, "minimum": ranges.minimum, "maximum": ranges.maximum}[function](p))
        names = [c for c, _, _ in confidential] + ([] if function == "count" else [field])
        rows = {name: self._entries(name, at) for name in dict.fromkeys(names)}
        found, may_be_empty = Conditional(function, field, confidential).range(rows, len(at))
        return _answer(found, may_be_empty)

    def _records(self, where: Sequence[Condition], what: str) -> Ints:
        public, confidential = split(where, list(self.public), list(self.vectors.of))
        if confidential:
            raise InputError(
                f"{what} is answered with conditions on public columns only, and '{confidential[0][0]}' is confidential"
            )
        return public_rows(public, self.public, self.n)

    def _rows(self, fields: Sequence[str], where: Sequence[Condition], what: str) -> tuple[Floats, ...]:
        at = self._records(where, what)
        read = {name: self._entries(name, at) for name in dict.fromkeys(fields)}
        return tuple(read[name] for name in fields)

    def _entries(self, name: str, at: Ints) -> Floats:
        """Entries of all vectors; a public column has the same ones in all."""
        if name in self.vectors.of:
            return self.vectors.read(name, at)
        if name not in self.public:
            raise InputError(f"there is no column '{name}'{did_you_mean(name, [*self.vectors.of, *self.public])}")
        column = self.public[name][at]
        if column.dtype.kind not in "iufb" or not np.isfinite(column.astype(float)).all():
            raise InputError(f"public column '{name}' must hold finite numbers to be computed with")
        return np.repeat(column.astype(float)[:, None], self.vectors.k, axis=1)


def _answer(found: Range, may_be_empty: bool = False) -> Answer:
    return Answer(found.low, found.high, found.exact, may_be_empty)


def _empty() -> Answer:
    return Answer(math.nan, math.nan, True, True)
