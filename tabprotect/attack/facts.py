"""Facts about a problem that a bound proof may use: which cells never move, and which move only together."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.statement import problem_statement
from tabprotect.certificate.groups import Groups
from tabprotect.certificate.numbers import Numbers
from tabprotect.problem import Problem
from tabprotect.solver.exact import ExactSolver, exact
from tabprotect.solver.exact.elimination import eliminate
from tabprotect.solver.tolerances import FLOAT_ERROR

__all__ = ["Fact", "facts_of"]

SIMPLE = 10**6
"""Denominators up to this one are recognised in a float."""

Fact = tuple[tuple[int, ...], tuple[int, ...]]
"""Equations of the problem and their integer multipliers."""


def facts_of(
    problem: Problem,
    together: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]] = (),
    still: Sequence[int] | npt.NDArray[np.int64] = (),
) -> tuple[Fact, ...]:
    """Find the facts that single equations tell, and combinations of equations for what else is asked for.

    Parameters
    ----------
    problem : Problem
    together : sequence of (ndarray of int, ndarray of float)
        Groups of cells that are multiples of each other in every solution of A z = 0 (what a reduction merged), and
        their scales: z_cell = scale * z_group.
    still : sequence of int
        Cells that are 0 in every solution.

    Examples
    --------
    Cell 0 is the sum of one other cell and a fixed zero; equation 0 says that both move together:

    >>> p = Problem.from_arrays([[-1, 1, 1]], [3, 3, 0], [0], lpl=1, upl=1, zero=[2])
    >>> facts_of(p)
    (((0,), (1,)),)
    """
    numbers = Numbers(problem_statement(problem))
    groups = Groups(numbers)
    facts = _from_equations(groups)
    wanted = [
        (int(cells[0]), int(j), _ratio(float(scale), float(scales[0])))
        for cells, scales in together
        for j, scale in zip(cells[1:], scales[1:], strict=True)
    ]
    open_ = [(i, j, ratio) for i, j, ratio in wanted if groups.of[i][0] != groups.of[j][0]]
    alone = [int(j) for j in still if not groups.still[groups.of[int(j)][0]]]
    return tuple(facts + _from_combinations(groups, open_, alone)) if open_ or alone else tuple(facts)


def _ratio(scale: float, other: float) -> Fraction:
    """The simple fraction that a quotient of two floats stands for, such as 2/3; the equations prove it or not."""
    plain = exact(scale) / exact(other)
    simple = plain.limit_denominator(SIMPLE)
    return simple if abs(simple - plain) <= abs(plain) * Fraction(FLOAT_ERROR) else plain


def _from_equations(groups: Groups) -> list[Fact]:
    numbers = groups.numbers
    facts: list[Fact] = []
    queue = deque(range(len(numbers.rows)))
    waiting = [True] * len(numbers.rows)
    while queue:
        r = queue.popleft()
        waiting[r] = False
        left = groups.collected(_summed(numbers.rows[r]))
        rises = any(groups.up[g] != 0 if v > 0 else groups.down[g] != 0 for g, v in left.items())
        falls = any(groups.down[g] != 0 if v > 0 else groups.up[g] != 0 for g, v in left.items())
        if not left or (len(left) > 2 and rises and falls):
            continue
        touched = [j for group in left for j in groups.members[group]]
        groups.learn([[r], [1]], "equation")
        facts.append(((r,), (1,)))
        for other in {row for j in touched for row, _ in numbers.columns[j]}:
            if not waiting[other]:
                waiting[other] = True
                queue.append(other)
    return facts


def _from_combinations(groups: Groups, pairs: list[tuple[int, int, Fraction]], alone: list[int]) -> list[Fact]:
    """Solve for the multipliers of the equations that leave one cell, or two."""
    numbers = groups.numbers
    live = [g for g in range(numbers.n) if groups.of[g][0] == g and not groups.still[g]]
    place = {g: k for k, g in enumerate(live)}
    scales, entries = [], []
    for r, row in enumerate(numbers.rows):
        left = groups.collected(_summed(row))
        scales.append(math.lcm(1, *(Fraction(v).denominator for v in left.values())))
        entries += [(r, place[g], int(v * scales[-1])) for g, v in left.items()]
    r_, c_, v_ = (np.array(part, np.int64) for part in zip(*entries, strict=True))
    A = sparse.coo_array((v_, (r_, c_)), shape=(len(numbers.rows), len(live))).tocsr()
    rows = eliminate(A.astype(np.float64)).independent
    solver = ExactSolver(sparse.csr_array(A[rows].T))
    targets: list[dict[int, Fraction]] = [{j: Fraction(1)} for j in alone]
    targets += [{j: Fraction(1), i: -ratio} for i, j, ratio in pairs]
    facts = []
    for target in targets:
        wanted = {g: Fraction(v) for g, v in groups.collected(target).items() if g in place}
        rhs = np.zeros(len(live), dtype=np.int64)
        common = math.lcm(1, *(v.denominator for v in wanted.values()))
        for g, v in wanted.items():
            rhs[place[g]] = int(v * common)
        solution = solver.solve(rhs)
        if solution is None:
            raise ValueError("these cells are not tied by the equations")
        used = np.flatnonzero(solution.numerators)
        equations = rows[used].tolist()
        factors = [int(solution.numerators[k]) * scales[rows[k]] for k in used.tolist()]
        groups.learn([equations, factors], "combination")
        facts.append((tuple(equations), tuple(factors)))
    return facts


def _summed(row: list[tuple[int, int]]) -> dict[int, int | Fraction]:
    terms: dict[int, int | Fraction] = {}
    for j, a in row:
        terms[j] = terms.get(j, 0) + a
    return terms
