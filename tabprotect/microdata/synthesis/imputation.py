"""Columns that are imputed anew, in files that are released several times over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, Problems
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, need_number
from tabprotect.microdata.records import Records, read_records
from tabprotect.microdata.scales import ANY, Scale
from tabprotect.microdata.synthesis.sequential import target_of
from tabprotect.microdata.synthesis.trees import draw_donors, predictors

__all__ = ["MultipleImputation", "PartiallySynthetic", "stack"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PartiallySynthetic(Method):
    """Sensitive columns of (some) records are imputed anew, several times; all other values stay.

    Each imputed column is drawn from a tree on all columns that stay and on the columns imputed before it. With several
    replicates the records come once for each, with its number in a column ``replicate``; estimates are combined with
    `combine_partially_synthetic`. Missing values of chosen records are imputed like others (and may be missing again).
    Trees are weighted; strata are not looked at.

    Parameters
    ----------
    columns : str or sequence of str
        What is imputed.
    where : mapping of str to sequence, optional
        Only records with one of these values in each of these columns; by default all records.
    replicates : int
    leaf : int
        Least number of records in a leaf of the trees.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"sex": list("mf") * 20, "pay": range(40)})
    >>> masked = md.mask(frame, None, md.PartiallySynthetic("pay", replicates=2), seed=1)
    >>> len(masked.frame), masked.frame["replicate"].unique().tolist()
    (80, [1, 2])
    """

    name: ClassVar[str] = "partially-synthetic"
    family: ClassVar[str] = "partially synthetic"
    scales: ClassVar[tuple[Scale, ...]] = ANY
    random: ClassVar[bool] = True
    source: ClassVar[str] = "Ciriani et al. 2007, section 5.2; Reiter 2003"

    columns: Sequence[str] | str
    where: dict[str, Sequence[Any]] | None = None
    replicates: int = 1
    leaf: int = 5

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        need_number(self, "replicates", problems, least=1, whole=True)
        need_number(self, "leaf", problems, least=1, whole=True)
        wrong = [n for n, v in (self.where or {}).items() if not isinstance(v, str | list | tuple | set | frozenset)]
        if wrong:
            problems.add(f"partially-synthetic: where maps columns to lists of values; that of '{wrong[0]}' is none")

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the imputed columns."""
        return tuple(self.columns)

    def uses(self, records: Records) -> tuple[str, ...]:
        """Return the columns that say which records are chosen."""
        return tuple(self.where or ())

    def check(self, records: Records, problems: Problems) -> None:
        """Note a column that is in the way."""
        if self.replicates > 1 and "replicate" in records.columns:
            problems.add("there is a column 'replicate' already; rename it")

    def apply(self, call: MethodCall) -> Masking:
        """Impute."""
        records = call.records
        chosen = np.ones(len(records), dtype=bool)
        for name, values in (self.where or {}).items():
            given = {str(v) for v in ([values] if isinstance(values, str) else values)}
            chosen &= np.array([v is not None and str(v) in given for v in records.frame[name].to_list()])
        rows = np.flatnonzero(chosen)
        kept = [n for n in records.columns if n not in self.columns and n not in _not_predictors(records)]
        copies = [self._impute(records, rows, kept, call.rng) for _ in range(self.replicates)]
        facts = {"records imputed": len(rows), "replicates": self.replicates}
        if self.replicates == 1:
            return Masking(copies[0], facts)
        stacked, order = stack(copies)
        return Masking(stacked, facts, rows=order)

    def _impute(self, records: Records, rows: Ints, kept: Sequence[str], rng: np.random.Generator) -> Records:
        made = records
        for j, name in enumerate(self.columns):
            names = [*kept, *self.columns[:j]]
            target, categorical = target_of(records, name)
            new = predictors(made.take(rows), names, like=records) if len(rows) else np.zeros((0, 1))
            if not len(rows):
                continue
            donors = np.arange(len(records))
            donors[rows] = draw_donors(
                predictors(records, names),
                target,
                new,
                records.weights(),
                categorical=categorical,
                leaf=self.leaf,
                rng=rng,
            )
            made = made.with_values_of(name, records.select([name]).take(donors).frame[name])
        return made


def _not_predictors(records: Records) -> set[str | None]:
    """Columns that say who somebody is, or nothing of him."""
    schema = records.schema
    return {*schema.identifiers, schema.weight, schema.household}


def stack(copies: Sequence[Records]) -> tuple[Records, Ints]:
    """Return files below each other with a column ``replicate``, and the row in each that a record comes from."""
    size = len(copies[0])
    order = np.tile(np.arange(size), len(copies))
    stacked = copies[0].take(order)
    for name in copies[0].columns:
        numeric = all(one.frame[name].dtype.is_numeric() for one in copies)
        if numeric:
            stacked = stacked.with_numbers(name, np.concatenate([one.numbers(name) for one in copies]))
        else:
            stacked = stacked.with_values(name, [v for one in copies for v in one.frame[name].to_list()])
    return stacked.with_values("replicate", np.repeat(np.arange(1, len(copies) + 1), size).tolist()), order


@dataclass(frozen=True)
class MultipleImputation(Method):
    """Synthetic files from a multiply imputed population (Rubin 1993): background A known for all, B and C imputed.

    A simple random sample is drawn from the population outside of the file, once for each replicate, and its columns
    are drawn from trees on the background (and on the columns drawn before): the same as imputing everybody first,
    without the work. The records of the file are never released. Estimates are combined with `combine_fully_synthetic`.
    Missing values are drawn like others; trees are weighted; strata are not looked at.

    Parameters
    ----------
    columns : sequence of str
        Attributes to be imputed (B and C).
    background : sequence of str
        Attributes known for the whole population (A); released as they are.
    population : frame or path
        The background columns of everybody who is not in the file.
    replicates : int
    n : int, optional
        Records of each replicate; by default as many as the file has.
    leaf : int
        Least number of records in a leaf of the trees.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> sample = pd.DataFrame({"age": [20, 30, 40, 50] * 5, "income": [1, 2, 3, 4] * 5})
    >>> others = pd.DataFrame({"age": [20, 30, 40, 50] * 100})
    >>> method = md.MultipleImputation(["income"], background=["age"], population=others, replicates=2)
    >>> md.mask(sample, None, method, seed=1).frame.groupby("replicate").size().tolist()
    [20, 20]
    """

    name: ClassVar[str] = "multiple-imputation"
    family: ClassVar[str] = "fully synthetic"
    scales: ClassVar[tuple[Scale, ...]] = ANY
    random: ClassVar[bool] = True
    source: ClassVar[str] = "Ciriani et al. 2007, section 5.1 (multiple imputation)"

    columns: Sequence[str] | str
    background: Sequence[str] | str
    population: Any = None
    replicates: int = 5
    n: int | None = None
    leaf: int = 5

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        as_columns(self, "background", problems)
        need_number(self, "replicates", problems, least=1, whole=True)
        need_number(self, "n", problems, least=1, whole=True, optional=True)
        need_number(self, "leaf", problems, least=1, whole=True)
        if self.population is None:
            problems.add("multiple-imputation: population is missing: the background columns of everybody else")
        both = sorted(set(self.columns) & set(self.background))
        if both:
            problems.add(f"multiple-imputation: '{both[0]}' cannot be both background and imputed")

    @classmethod
    def located(cls, parameters: Mapping[str, Any], base: Path) -> dict[str, Any]:
        """Return parameters with the path of the population relative to a folder."""
        given = parameters.get("population")
        return {**parameters, "population": str(base / given)} if isinstance(given, str) else dict(parameters)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters; the population by its name only."""
        shown = self.population if isinstance(self.population, str) else type(self.population).__name__
        return {**{k: v for k, v in vars(self).items() if k != "population"}, "population": shown}

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the imputed columns."""
        return tuple(self.columns)

    def uses(self, records: Records) -> tuple[str, ...]:
        """Return the background columns."""
        return tuple(self.background)

    def apply(self, call: MethodCall) -> Masking:
        """Impute the population and sample from it."""
        records = call.records
        everybody = read_records(self.population, records.schema.only(list(self.background)))
        missing = [name for name in self.background if name not in everybody.columns]
        if missing:
            raise InputError(f"multiple-imputation: the population has no column '{missing[0]}'")
        n = len(records) if self.n is None else int(self.n)
        if n > len(everybody):
            raise InputError(f"multiple-imputation: {n} records cannot be drawn from a population of {len(everybody)}")
        copies = []
        for _ in range(self.replicates):
            rows = np.sort(call.rng.choice(len(everybody), n, replace=False))
            copies.append(self._replicate(records, everybody.select(list(self.background)).take(rows), call.rng))
        stacked, _ = stack(copies)
        names = [*self.background, *self.columns]
        lost = [c for c in records.columns if c not in names and c not in records.schema.identifiers]
        notes = (f"not imputed and so not released: {', '.join(lost)}",) if lost else ()
        facts = {"replicates": self.replicates, "population": len(everybody)}
        return Masking(stacked, facts, rows=np.full(len(stacked), -1, dtype=np.int64), notes=notes)

    def _replicate(self, records: Records, persons: Records, rng: np.random.Generator) -> Records:
        names = [*self.background, *self.columns]
        made = records.blank(names, len(persons))
        for name in self.background:
            if made.frame[name].dtype.is_numeric():
                made = made.with_numbers(name, persons.numbers(name))
            else:
                made = made.with_values(name, persons.frame[name].to_list())
        for j, name in enumerate(self.columns):
            before = [*self.background, *self.columns[:j]]
            target, categorical = target_of(records, name)
            train, new = predictors(records, before), predictors(made, before, like=records)
            donors = draw_donors(
                train, target, new, records.weights(), categorical=categorical, leaf=self.leaf, rng=rng
            )
            made = made.with_values_of(name, records.select([name]).take(donors).frame[name])
        return made
