"""Claims about records that are checked batch by batch, from the released values and those of before.

Claims that are about one record at a time are checked by the checkers that files in memory have, on each batch. The
others have checkers of their own here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tabprotect.errors import InputError
from tabprotect.microdata.checks import ROUNDING
from tabprotect.microdata.claims import Check, Claim, Verification, claim_kinds
from tabprotect.microdata.large.part import Codebook, Part, plain, records_of
from tabprotect.microdata.large.stage import COUNT, Stage, codebook, distinct
from tabprotect.microdata.masking.markov import EXACT, wrong_matrix
from tabprotect.microdata.schema import Schema

__all__ = ["check_large"]

Ints = npt.NDArray[np.int64]

ONE_BY_ONE = ("at-most", "at-least", "categories", "moved-at-least")
"""Kinds of claims that hold of a file where they hold of every batch."""

Checker = Callable[[Claim, Stage, Stage | None], str]


def check_large(claims: Sequence[Claim], after: Stage, before: Mapping[int, Stage]) -> Verification:
    """Check claims against released records; `before` has, by step, the records that the step started from."""
    return Verification(tuple(Check(claim, _why(claim, after, before.get(claim.step))) for claim in claims))


def _why(claim: Claim, after: Stage, before: Stage | None) -> str:
    try:
        return _wrong(claim, after, before)
    except InputError as error:
        return f"it cannot be checked: {'; '.join(error.problems)}"
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # the parameters come from a file, which may be damaged
        return f"it cannot be checked, as its parameters are damaged ({type(error).__name__})"


def _wrong(claim: Claim, after: Stage, before: Stage | None) -> str:
    gone = [name for name in claim.columns if name not in after.arrow.names]
    if gone:
        return f"the released records have no column '{gone[0]}'"
    if claim.before and (before is None or any(name not in before.arrow.names for name in claim.before)):
        return "the values of before are not there"
    if claim.kind == "absent":
        there = [name for name in claim.parameters["columns"] if name in after.arrow.names]
        return f"column '{there[0]}' is released" if there else ""
    if claim.kind in ONE_BY_ONE:
        work = _OneByOne(claim.kind, claim.parameters)
        return _first(after.fold(work, claim.columns, before if claim.before else None, claim.before))
    if claim.kind not in _OWN:
        return f"nobody knows how to check '{claim.kind}' in batches"
    return _OWN[claim.kind](claim, after, before)


def _first(found: Sequence[str]) -> str:
    return next((why for why in found if why), "")


@dataclass(frozen=True)
class _OneByOne:
    kind: str
    parameters: Mapping[str, Any]

    def __call__(self, part: Part) -> str:
        if not len(part.rows):
            return ""
        before = None if part.before is None else records_of(part.before, Schema())
        return claim_kinds()[self.kind](records_of(part.table, Schema()), before, self.parameters)


@dataclass(frozen=True)
class _Same:
    columns: tuple[str, ...]

    def __call__(self, part: Part) -> str:
        assert part.before is not None
        for name in self.columns:
            new, old = plain(part.table.column(name)), plain(part.before.column(name))
            equal = np.asarray(pc.fill_null(pc.equal(new, old.cast(new.type)), False))
            absent = np.asarray(pc.is_null(new)) & np.asarray(pc.is_null(old))
            if not (equal | absent).all():
                return f"values of '{name}' are not those of before"
        return ""


def _sampled(claim: Claim, after: Stage, before: Stage | None) -> str:
    return _first(after.fold(_Same(tuple(claim.columns)), claim.columns, before, claim.before))


def _function_of(claim: Claim, after: Stage, before: Stage | None) -> str:
    """Equal values of before have equal values now: what old values became is noted batch by batch."""
    assert before is not None
    column = claim.parameters["column"]
    new = codebook(after, [column])[0]
    work = _Became(column, new)
    became: dict[Any, int] = {}
    apart = 0
    for old, index in after.fold(work, [column], before, [column]):
        for value, code in zip(old, index, strict=True):
            apart += became.setdefault(value, code) != code
    return f"equal values of '{column}' have become different ones" if apart else ""


@dataclass(frozen=True)
class _Became:
    column: str
    new: Codebook

    def __call__(self, part: Part) -> tuple[list[Any], list[int]]:
        assert part.before is not None
        index = self.new.columns(part.table.select([self.column]))[:, 0]
        old = plain(part.before.column(self.column)).dictionary_encode("encode")
        pairs = np.unique(np.column_stack([np.asarray(old.indices, dtype=np.int64), index]), axis=0)
        return old.dictionary.take(pa.array(pairs[:, 0])).to_pylist(), pairs[:, 1].tolist()


@dataclass(frozen=True)
class _Within:
    """How many values are outside of the interval that they have become."""

    column: str
    book: Codebook
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]

    def __call__(self, part: Part) -> int:
        assert part.before is not None
        x = Part(part.rows, part.before).numbers(self.column)
        at = self.book.columns(part.table.select([self.column]))[:, 0]
        inside = (x >= self.low[at]) & (x < self.high[at])
        return int(np.where(np.isnan(x), at >= 0, (at < 0) | ~inside).sum())


def _interval(claim: Claim, after: Stage, before: Stage | None) -> str:
    """Every value of before is in the interval that its record states now; missing ones are missing."""
    column, given = claim.parameters["column"], claim.parameters
    book = Codebook.of([column], distinct(after, [column]))
    place = dict(zip(given["values"], given["ends"], strict=True))
    words = [str(value) for value in book.values[0].to_pylist()]
    unknown = [word for word in words if word not in place]
    if unknown:
        return f"'{column}' holds {unknown[0]!r}, which is none of the intervals"
    # the last place is for missing values
    low = np.array([-np.inf if place[w][0] is None else place[w][0] for w in words] + [np.nan])
    high = np.array([np.inf if place[w][1] is None else place[w][1] for w in words] + [np.nan])
    off = sum(after.fold(_Within(column, book, low, high), [column], before, [column]))
    return f"{off} values of '{column}' are not in the interval that they have become" if off else ""


@dataclass(frozen=True)
class _Moves:
    """How often each category becomes which, by stratum; -1 for missing, -2 for values that are not known."""

    column: str
    strata: Codebook
    values: tuple[str, ...]
    old: tuple[Codebook, Ints]
    new: tuple[Codebook, Ints]

    def __call__(self, part: Part) -> Ints:
        assert part.before is not None
        columns = [self.strata.codes(part.before)]
        for (book, place), table in ((self.old, part.before), (self.new, part.table)):
            at = book.columns(table.select([self.column]))[:, 0]
            columns.append(np.where(at < 0, -1, place[at]))
        return np.unique(np.column_stack(columns), axis=0)


def _markov(claim: Claim, after: Stage, before: Stage | None) -> str:
    assert before is not None
    given, column = claim.parameters, claim.parameters["columns"][0]
    strata = codebook(before, given["strata"])[0]
    if len(strata) != len(given["matrices"]):
        return f"{len(given['matrices'])} matrices for {len(strata)} strata"
    for matrix, counts in zip(given["matrices"], given["counts"], strict=True):
        p, t = np.asarray(matrix), np.asarray(counts)
        if wrong := wrong_matrix(matrix):
            return wrong[0]
        if given["floor"] > 0:
            if p.diagonal()[t > 0].min(initial=1.0) < given["floor"] - EXACT:
                return f"a value stays with probability {p.diagonal().min():g} only"
            if np.abs(t @ p - t).max(initial=0.0) > 1e-6 * t.sum():
                return "the matrix does not keep the counts"
    books = [_words(stage, column, given["values"]) for stage in (before, after)]
    work = _Moves(column, strata, tuple(given["values"]), *books)
    moves = np.concatenate(after.fold(work, [column], before, claim.before))
    if (moves[:, 1:] == -2).any():
        return f"'{column}' holds a value that the matrix does not know"
    if ((moves[:, 1] < 0) != (moves[:, 2] < 0)).any():
        return f"missing values of '{column}' are not those of before"
    h, old, new = moves[moves[:, 1] >= 0].T
    if len(h) and (np.asarray(given["matrices"])[h, old, new] <= 0).any():
        return f"'{column}' has changes that the matrix rules out"
    return ""


def _words(stage: Stage, column: str, values: Sequence[str]) -> tuple[Codebook, Ints]:
    """Return the different values of a column, and the category that each is as a word (-2 for none)."""
    book = Codebook.of([column], distinct(stage, [column]))
    position = {word: i for i, word in enumerate(values)}
    place = np.array([position.get(str(v), -2) for v in book.values[0].to_pylist()] + [-2], dtype=np.int64)
    return book, place


@dataclass(frozen=True)
class _Weights:
    weight: str
    base: str | None
    strata: Codebook
    ratio: npt.NDArray[np.float64]

    def __call__(self, part: Part) -> tuple[int, Ints]:
        index = self.strata.codes(part.table)
        base = np.ones(len(part.rows))
        if self.base is not None:
            assert part.before is not None
            base = Part(part.rows, part.before).numbers(self.base)
        want = base * self.ratio[index]
        off = ~(np.abs(part.numbers(self.weight) - want) <= ROUNDING * np.abs(want))
        return int((off | (index < 0)).sum()), np.bincount(index[index >= 0], minlength=len(self.ratio))


def _weights(claim: Claim, after: Stage, before: Stage | None) -> str:
    """Weights are those of before times N / n in every stratum, of which so many records are released."""
    given = claim.parameters
    sizes = np.asarray(given["sizes"], dtype=np.int64)
    source = before if before is not None else after
    strata, table = codebook(source, given["strata"]) if before is not None else codebook(after, [])
    counts = np.asarray(table.column(COUNT), dtype=np.int64)
    if len(counts) != len(sizes) or (before is not None and (counts != sizes[:, 1]).any()):
        return "the strata are not those of before"
    ratio = np.divide(sizes[:, 1], sizes[:, 0], out=np.zeros(len(sizes)), where=sizes[:, 0] > 0)
    columns = tuple(dict.fromkeys((given["weight"], *given["strata"])))
    base = claim.before if given["base"] is not None else ()
    found = after.fold(_Weights(given["weight"], given["base"], strata, ratio), columns, before if base else None, base)
    drawn = np.sum([one[1] for one in found], axis=0)
    if (drawn != sizes[:, 0]).any():
        h = int(np.argmax(drawn != sizes[:, 0]))
        return f"{drawn[h]} records of stratum {h + 1} are released, {sizes[h, 0]} were drawn"
    off = sum(one[0] for one in found)
    return f"{off} weights are not those of before over the probability" if off else ""


_OWN: dict[str, Checker] = {
    "sampled": _sampled,
    "function-of": _function_of,
    "interval": _interval,
    "markov": _markov,
    "weights-by-stratum": _weights,
}
