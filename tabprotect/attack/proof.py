"""The best bound that inequalities prove: multipliers that combine them, found in floating point and made exact.

The bound follows by weak duality (`tabprotect.certificate.rebuild.proven_bound`) for any multipliers >= 0, so those of
a floating-point solver need only be rounded. The inequalities are in `tabprotect.attack.proof_rows`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.facts import Fact
from tabprotect.attack.proof_rows import (
    BoundProof,
    Cover,
    ExactMultipliers,
    ProofRow,
    Rounded,
    Sum,
    Truncated,
)
from tabprotect.attack.statement import problem_statement
from tabprotect.certificate.limits import Malformed
from tabprotect.certificate.numbers import Numbers
from tabprotect.certificate.rebuild import Row, proven_bound, rebuild
from tabprotect.problem import Problem
from tabprotect.solver.exact import exact
from tabprotect.solver.lp import LinearProgram

__all__ = [
    "bound_of",
    "prove_bound",
    "simple_fraction",
    "snap_multipliers",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def bound_of(problem: Problem, proof: BoundProof) -> Fraction:
    """Return the lower bound that a proof gives, rebuilt from the problem in exact arithmetic.

    Examples
    --------
    One of two other cells of a row has to be hidden; the cheaper one costs 5:

    >>> from tabprotect.attack.keys import Key
    >>> from tabprotect.attack.proof_rows import Capacity
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2, weights=[99, 0, 6, 5])
    >>> cut = Capacity(Key(-1, 1, 1), (ExactMultipliers((0,), (1,), 1),))
    >>> bound_of(p, BoundProof((cut,), ((0, Fraction(5)),), Fraction(5)))
    Fraction(5, 1)
    """
    return proven_bound(Numbers(problem_statement(problem)), proof.document())


def prove_bound(problem: Problem, rows: Sequence[ProofRow], facts: Sequence[Fact] = ()) -> BoundProof:
    """Find the multipliers of rows that give the best bound, and make them exact.

    The linear relaxation of the rows is solved in floating point; its duals, rounded to fractions, prove a bound by
    themselves. Rows that do not take part are left out, and so are covers that do not hold in exact arithmetic.

    Parameters
    ----------
    problem : Problem
    rows : sequence of ProofRow
    facts : sequence of Fact
        What the rows rest on; see `tabprotect.attack.facts.facts_of`.

    Examples
    --------
    >>> from tabprotect.attack.keys import Key
    >>> from tabprotect.attack.proof_rows import Bridge, Capacity
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2, weights=[99, 0, 6, 5])
    >>> prove_bound(p, [Bridge(0, 0), Capacity(Key(-1, 1, 1), (ExactMultipliers((0,), (1,), 1),))])
    BoundProof(rows=(Capacity(key=Key(attacker=-1, cell=1, side=1),
        multipliers=(ExactMultipliers(equations=(0,), numerators=(1,), denominator=1),)),),
        multipliers=((0, Fraction(5, 1)),), bound=Fraction(5, 1), facts=())
    """
    try:
        built = _rebuilt(problem, rows, facts)
    except Malformed:
        rows = _with_covers_that_hold(problem, rows, facts)
        built = _rebuilt(problem, rows, facts)
    numbers = Numbers(problem_statement(problem))
    duals = _duals(problem, built)
    chosen = {k: snapped for k, dual in enumerate(duals.tolist()) if (snapped := simple_fraction(dual)) > 0}
    kept, place = _with_ancestors(rows, chosen)
    proof = BoundProof(kept, tuple((place[k], factor) for k, factor in chosen.items()), Fraction(0), tuple(facts))
    return replace(proof, bound=proven_bound(numbers, proof.document()))


def _rebuilt(problem: Problem, rows: Sequence[ProofRow], facts: Sequence[Fact]) -> list[Row]:
    whole = BoundProof(tuple(rows), (), Fraction(0), tuple(facts)).document()
    return rebuild(Numbers(problem_statement(problem)), whole["facts"], whole["rows"])


def _with_covers_that_hold(problem: Problem, rows: Sequence[ProofRow], facts: Sequence[Fact]) -> list[ProofRow]:
    """Return rows with its parent in place of every cover that, with multipliers as fractions, covers nothing."""
    safe: list[ProofRow] = [Sum(((row.row, Fraction(1)),)) if isinstance(row, Cover) else row for row in rows]
    built = _rebuilt(problem, safe, facts)

    def holds(row: Cover) -> bool:
        part, rhs, _ = built[row.row]
        return rhs > 0 and all(c >= 0 for c in part.values()) and sum(part.get(i, 0) for i in row.cells) < rhs

    return [row if isinstance(row, Cover) and holds(row) else one for row, one in zip(rows, safe, strict=True)]


def _duals(problem: Problem, rows: Sequence[Row]) -> Floats:
    """Multipliers of the linear relaxation, which is solved with rows divided by their right-hand sides."""
    filled = [k for k, (coefficients, _, _) in enumerate(rows) if coefficients]
    duals = np.zeros(len(rows))
    if not filled:
        return duals
    free = np.flatnonzero(problem.may_hide & ~problem.must_hide & (problem.weights > 0))
    place = np.full(problem.n_cells, -1)
    place[free] = np.arange(len(free))
    unit = [abs(float(rows[k][1])) or float(rows[k][2]) for k in filled]
    data = [float(Fraction(c)) / u for k, u in zip(filled, unit, strict=True) for c in rows[k][0].values()]
    index = place[[i for k in filled for i in rows[k][0]]]
    indptr = np.cumsum([0] + [len(rows[k][0]) for k in filled])
    A = sparse.csr_array((data, index, indptr), shape=(len(filled), len(free)))
    rhs = [float(rows[k][1]) / u for k, u in zip(filled, unit, strict=True)]
    one = np.ones(len(free))
    lp = LinearProgram(A, rhs, np.full(len(rhs), np.inf), 0 * one, one, problem.weights[free])
    solution = lp.solve()
    for k, u, dual in zip(filled, unit, solution.duals, strict=True):
        duals[k] = max(0.0, dual) * (float(rows[k][2]) / u)
    return duals


def _with_ancestors(
    rows: Sequence[ProofRow], chosen: Mapping[int, Fraction]
) -> tuple[tuple[ProofRow, ...], dict[int, int]]:
    """Keep the rows chosen and those that they are made of, renumbered."""
    needed = set(chosen)
    for k in range(len(rows) - 1, -1, -1):
        row = rows[k]
        if k in needed:
            needed |= {r for r, _ in row.terms} if isinstance(row, Sum) else set()
            needed |= {row.row} if isinstance(row, (Rounded, Truncated, Cover)) else set()
    place = {k: i for i, k in enumerate(sorted(needed))}
    kept: list[ProofRow] = []
    for k in place:
        match row := rows[k]:
            case Sum(terms):
                kept.append(Sum(tuple((place[r], factor) for r, factor in terms)))
            case Rounded(number):
                kept.append(Rounded(place[number]))
            case Truncated(number):
                kept.append(Truncated(place[number]))
            case Cover(number, cells):
                kept.append(Cover(place[number], cells))
            case _:
                kept.append(row)
    return tuple(kept), place


@lru_cache(maxsize=2**16)
def simple_fraction(value: float) -> Fraction:
    """Return a small fraction if one is meant, else a decimal of 12 digits.

    Examples
    --------
    >>> simple_fraction(0.6666666666), simple_fraction(0.70710678)
    (Fraction(2, 3), Fraction(35355339, 50000000))
    """
    for largest, tolerance in ((100, 1e-8), (10_000, 1e-10)):
        near = Fraction(value).limit_denominator(largest)
        if abs(float(near) - value) <= tolerance * max(1.0, abs(value)):
            return near
    return exact(float(f"{value:.12g}"))


def snap_multipliers(
    equations: Sequence[int] | Ints, duals: Sequence[float] | Floats, own: Sequence[float] | Floats, side: int
) -> ExactMultipliers:
    """Round floating-point multipliers of an attack to rationals with d = 0 exactly for the cell attacked.

    Parameters
    ----------
    equations : sequence of int
        Row numbers of ``problem.system.A``.
    duals : sequence of float
        lambda in d = side e_cell - A' lambda; the row duals of ``max side * z_cell`` as HiGHS reports them.
    own : sequence of float
        Coefficients of the cell attacked (or of its group) in these equations.
    side : int
        +1 or -1; 0 leaves d as it comes (the ends of a sliding level).

    Examples
    --------
    >>> snap_multipliers([0, 7], [0.3333333333, 1e-12], [3.0, 1.0], 1)
    ExactMultipliers(equations=(0,), numerators=(1,), denominator=3)
    """
    fractions = [(int(r), simple_fraction(float(v)), exact(a)) for r, v, a in zip(equations, duals, own, strict=True)]
    snapped = [(r, f, a) for r, f, a in fractions if f]
    total = sum((f * a for _, f, a in snapped), Fraction(0))
    factor = side / total if side and total else Fraction(1)
    found = {r: f * factor for r, f, _ in snapped}
    denominator = math.lcm(1, *(f.denominator for f in found.values()))
    rows = tuple(sorted(found))
    return ExactMultipliers(rows, tuple(int(found[r] * denominator) for r in rows), denominator)
