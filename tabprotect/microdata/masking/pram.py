"""The post-randomisation method (Kooiman, Willenborg, Gouweleeuw 1998; survey of Ciriani et al., section 4.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.errors import Problems
from tabprotect.microdata.claims import Claim, claim_kind
from tabprotect.microdata.masking.distances import category_distances
from tabprotect.microdata.masking.markov import EXACT, invariant, optimal_matrix, wrong_matrix
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, need_choice, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import NOMINAL, Scale

__all__ = ["PRAM"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PRAM(Method):
    """Categories are replaced at random, with the probabilities of a Markov matrix.

    Missing values stay missing and take no part. Within each stratum of the schema a matrix of its own is built (a
    given one is used everywhere). Invariant and optimal matrices keep the counts of the categories in expectation,
    with weights the weighted counts.

    Parameters
    ----------
    columns : str or sequence of str
        Columns of categories, each on its own unless `joint`.
    kind : {'invariant', 'optimal', 'given'}
        'invariant': every value stays with probability `floor`, else a new one is drawn with the shares of the file
        (which may be the old one). 'optimal': of all invariant matrices with diagonals between `floor` and
        `ceiling` one with the least expected distance between old and new categories (in their order, along their
        tree, or 0 and 1), by linear programming. 'given': `matrix`.
    matrix : nested sequence of float, optional
        Row i holds the probabilities of what category i becomes; categories in their order (of first appearance
        where they have none, or as `categories` says).
    categories : sequence, optional
        Order of the rows of `matrix`.
    floor : float
        Least probability of staying the same; truly kept by every matrix that is built here.
    ceiling : float, optional
        Only 'optimal': largest probability of staying the same, by default the mean of `floor` and 1.
    joint : bool
        The columns are one variable whose categories are their combinations that occur.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"region": list("nnnnnnsssw")})
    >>> masked = md.mask(frame, None, md.PRAM("region", floor=0.6), seed=1)
    >>> set(masked.frame["region"]) <= set("nsw"), bool(masked.verify())
    (True, True)
    """

    name: ClassVar[str] = "pram"
    family: ClassVar[str] = "perturbative"
    scales: ClassVar[tuple[Scale, ...]] = NOMINAL
    random: ClassVar[bool] = True
    claim_kinds: ClassVar[tuple[str, ...]] = ("markov",)
    source: ClassVar[str] = "Ciriani et al. 2007, section 4.2 (PRAM)"

    columns: Sequence[str] | str
    kind: Literal["invariant", "optimal", "given"] = "invariant"
    matrix: Sequence[Sequence[float]] | None = None
    categories: Sequence[Any] | None = None
    floor: float = 0.8
    ceiling: float | None = None
    joint: bool = False

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        need_choice(self, "kind", problems, ("invariant", "optimal", "given"))
        need_number(self, "floor", problems, least=0, below=1)
        need_number(self, "ceiling", problems, least=0, most=1, optional=True)
        if (self.matrix is not None) != (self.kind == "given"):
            problems.add("pram: matrix and kind='given' belong together")
        if self.categories is not None and self.kind != "given":
            problems.add("pram: categories say what the rows of a given matrix are")
        if self.ceiling is not None and self.kind != "optimal":
            problems.add("pram: ceiling belongs to kind='optimal'")
        if self.ceiling is not None and not problems.found and self.ceiling < self.floor:
            problems.add(f"pram: ceiling ({self.ceiling:g}) must not be below floor ({self.floor:g})")
        if self.joint and self.kind == "given":
            problems.add("pram: joint matrices are built from the data; a given matrix is for single columns")
        if self.matrix is not None:
            problems.found += wrong_matrix(self.matrix)

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self.columns)

    def check(self, records: Records, problems: Problems) -> None:
        """Note columns that a given matrix does not fit."""
        if self.matrix is None:
            return
        for name in self.columns:
            there = records.categories(name).values
            order = there if self.categories is None else tuple(self.categories)
            if len(order) != len(self.matrix):
                problems.add(
                    f"column '{name}' has {counted(len(order), 'category', 'categories')}, the matrix "
                    f"{counted(len(self.matrix), 'row')}"
                )
            unknown = [value for value in there if value not in order]
            if unknown:
                problems.add(f"column '{name}' holds {unknown[0]!r}, which categories do not list")

    def apply(self, call: MethodCall) -> Masking:
        """Build the matrices and draw."""
        records, facts, claims = call.records, {}, []
        if self.joint:
            return self._joint(call)
        for name in self.columns:
            one = call.records.categories(name)
            values = one.values if self.categories is None else tuple(self.categories)
            place = np.array([values.index(v) for v in one.values] + [-1], dtype=np.int64)
            index = place[one.index]
            distance = category_distances(call.records, name, values) if self.kind == "optimal" else None
            new, made = self._draw(call, index, len(values), distance)
            records = records.with_categories(name, type(one)(values, new))
            given = {"columns": [name], "values": [str(v) for v in values], **made, "floor": self.least()}
            strata = call.records.schema.strata
            claims.append(Claim("markov", (name, *strata), self.statement(name), given, (name, *strata)))
            facts[name] = {
                "changed": int((new != index).sum()),
                "matrices": made["matrices"],
                "values": given["values"],
            }
        return Masking(records, facts, tuple(claims))

    def least(self) -> float:
        """Return the probability with which every value stays, at least."""
        return 0.0 if self.kind == "given" else self.floor

    def statement(self, name: str) -> str:
        """Return what is claimed of a column, in words."""
        if self.kind == "given":
            return f"'{name}' was changed with the given probabilities only"
        return f"'{name}' keeps its counts in expectation; every value stays with probability {self.floor:g} or more"

    def _joint(self, call: MethodCall) -> Masking:
        records = call.records
        index, count = records.groups(self.columns)
        first = np.full(count, -1, dtype=np.int64)
        rows = np.arange(len(records))[::-1]
        first[index[rows]] = rows
        gone = np.any([records.missing(name) for name in self.columns], axis=0)
        index = np.where(gone, -1, index)
        new, made = self._draw(call, index, count, None)
        source = np.where(new < 0, np.arange(len(records)), first[new])
        records = records.with_rows(self.columns, source)
        return Masking(records, {"changed": int((new != index).sum()), "combinations": count, **made})

    def _draw(
        self, call: MethodCall, index: npt.NDArray[np.int64], count: int, distance: Floats | None
    ) -> tuple[npt.NDArray[np.int64], dict[str, Any]]:
        """Return the new categories, and the matrices with the counts they belong to."""
        new = index.copy()
        weights = call.records.weights()
        made: dict[str, Any] = {"matrices": [], "counts": []}
        for rows in call.records.strata():
            there = rows[index[rows] >= 0]
            counts = np.bincount(index[there], weights=weights[there], minlength=count).astype(np.float64)
            matrix = self.matrix_of(counts, distance)
            made["matrices"].append(matrix.tolist())
            made["counts"].append(counts.tolist())
            reached = np.cumsum(matrix, axis=1)
            reached[:, -1] = 1.0
            drawn = call.rng.random(len(there))
            new[there] = (drawn[:, None] >= reached[index[there]]).sum(axis=1)
        return new, made

    def matrix_of(self, counts: Floats, distance: Floats | None) -> Floats:
        """Return the Markov matrix for (weighted) counts of categories, and distances between them if it is optimal."""
        if self.kind == "given":
            return np.asarray(self.matrix, dtype=np.float64)
        if (counts > 0).sum() < 2:
            return np.eye(len(counts))
        if self.kind == "invariant":
            return invariant(counts, self.floor)
        assert distance is not None
        ceiling = (1 + self.floor) / 2 if self.ceiling is None else self.ceiling
        return optimal_matrix(counts, distance, self.floor, ceiling)


@claim_kind("markov")
def _markov(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Changes have a positive probability; matrices are Markov, invariant for the counts, with the stated floor."""
    assert before is not None
    name = given["columns"][0]
    position = {word: i for i, word in enumerate(given["values"])}
    old, new = (
        np.array([-1 if v is None or v != v else position.get(str(v), -2) for v in r.frame[name].to_list()])
        for r in (before, after)
    )
    if (old == -2).any() or (new == -2).any():
        return f"'{name}' holds a value that the matrix does not know"
    if ((old < 0) != (new < 0)).any():
        return f"missing values of '{name}' are not those of before"
    strata = before.strata()
    if len(strata) != len(given["matrices"]):
        return f"{len(given['matrices'])} matrices for {len(strata)} strata"
    for rows, matrix, counts in zip(strata, given["matrices"], given["counts"], strict=True):
        p, t = np.asarray(matrix), np.asarray(counts)
        if wrong_matrix(p.tolist()):
            return wrong_matrix(p.tolist())[0]
        if given["floor"] > 0:
            if p.diagonal()[t > 0].min(initial=1.0) < given["floor"] - EXACT:
                return f"a value stays with probability {p.diagonal().min():g} only"
            if np.abs(t @ p - t).max(initial=0.0) > 1e-6 * t.sum():
                return "the matrix does not keep the counts"
        there = rows[old[rows] >= 0]
        if (p[old[there], new[there]] <= 0).any():
            return f"'{name}' has changes that the matrix rules out"
    return ""
