"""Linked tables: table by table in coordinated passes, then all of them as one system where that fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.errors import InputError, need
from tabprotect.masks import cell_mask
from tabprotect.methods.suppression.classic.modular import pieces_of, rows_within
from tabprotect.methods.suppression.classic.passes import Passes, Piece
from tabprotect.methods.suppression.merge import joined
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.portfolio import ended
from tabprotect.methods.suppression.postsolve.completion import complete
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.search.exact import exact
from tabprotect.methods.suppression.search.known import Known
from tabprotect.methods.suppression.suppress import suppress
from tabprotect.problem import Problem, need_problem
from tabprotect.seeds import Seed, as_seed
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.solver.tasks.pieces import Means
from tabprotect.table.system import LinearSystem

__all__ = ["suppress_linked"]

Ints = npt.NDArray[np.int64]


def suppress_linked(
    problem: Problem,
    tables: Mapping[str, Ints],
    *,
    limits: Limits | Budget | float | None = None,
    seed: Seed = 0,
    progress: Callable[[Progress], None] | None = None,
    together: int | None = None,
    means: Means | None = None,
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Protect linked tables in coordinated passes, and up to `together` cells as one system from there.

    In passes the tables are protected one after the other by the exact engine, large ones subtable by subtable, the
    smallest first (they are the margins of larger ones); cells hidden in one are hidden in all others that have them,
    and tables in which something changed are looked at again. Then all tables are judged together and what is still
    open is repaired, so the answer is safe for who sees all of them. Systems that are not too large are made cheaper
    by the exact engine after that, which also gives a bound; small ones are handed to it at once.

    Parameters
    ----------
    problem : Problem
        Of the linked tables (`tabprotect.link`).
    tables : mapping of str to ndarray of int
        The cells of every table (`tabprotect.table.link.clusters.cells_by_table`).
    limits : Limits, float or Budget, optional
    seed : int or numpy.random.Generator
    progress : callable, optional
    together : int, optional
        Cells of one system at most, by default those of the options; 0 asks for passes alone.
    means : Means, optional
        Where the exact engine works on independent pieces, and where their answers and those of passes are kept.
    options : Options
        What search and passes were tuned with (`tabprotect.methods.suppression.options`).

    Returns
    -------
    SuppressionResult
        With a bound when solved as one system, without one after passes alone.

    Raises
    ------
    InputError
        If an equation of the system is in none of the tables.

    Examples
    --------
    Two rows that share their total:

    >>> from tabprotect.table.system import LinearSystem
    >>> A = [[-1, 1, 1, 0, 0], [-1, 0, 0, 1, 1]]
    >>> p = Problem.from_arrays(A, [9, 4, 5, 2, 7], primary=[1], lpl=1, upl=1, weights=[9, 4, 1, 2, 7])
    >>> tables = {"one": np.array([0, 1, 2]), "two": np.array([0, 3, 4])}
    >>> result = suppress_linked(p, tables, together=0)
    >>> result.suppressed.tolist(), result.safe
    ([1, 2], True)
    """
    need_problem(problem, "suppress_linked")
    if not isinstance(tables, Mapping):
        raise InputError(f"tables must map the name of every table to its cells, not {tables!r}")
    need(options, Options, "suppress_linked(options=)", "of tabprotect.methods.suppression.options")
    if means is not None:
        need(means, Means, "suppress_linked(means=)", "of tabprotect.solver.tasks.pieces")
    if together is not None and (isinstance(together, bool) or not isinstance(together, int) or together < 0):
        raise InputError(f"together must be a number of cells, 0 or more, not {together!r}")
    budget, seed = Budget.of(limits, progress), as_seed(seed)
    together = options.choice.never_exact_cells if together is None else together
    if problem.n_cells <= min(together, options.choice.whole_cells):
        return suppress(problem, limits=budget, seed=seed, options=options)
    every = np.arange(problem.system.n_equations)
    named = (np.flatnonzero(cell_mask(cells, problem.n_cells, f"table '{name}'")) for name, cells in tables.items())
    pieces = [Piece(rows_within(problem.system.A, every, cells), cells) for cells in named]
    covered = np.zeros(len(every), bool)
    for piece in pieces:
        covered[piece.rows] = True
    if not covered.all():
        lost = int(np.flatnonzero(~covered)[0])
        raise InputError(
            f"{counted(int((~covered).sum()), 'equation is', 'equations are')} in none of the tables, such as "
            f"{problem.system.equation(lost)}; "
            "name the cells of all tables of the system"
        )
    alone = problem.n_cells > together
    with budget.run() as part:
        first = _passes(
            problem,
            pieces,
            part,
            1.0 if alone else options.classic.passes.before_exact_limit_share,
            seed,
            means,
            options,
        )
    if alone or not first.safe or ended(first):
        return first
    with budget.run() as rest:
        return joined(
            first, exact(problem, limits=rest, seed=seed, known=Known(first.pattern), means=means, options=options)
        )


def _passes(
    problem: Problem,
    pieces: list[Piece],
    budget: Budget,
    share: float,
    seed: int,
    means: Means | None,
    options: Options,
) -> SuppressionResult:
    """Go table by table, then repair and clean up the whole; beyond a share of the limits only if nothing is safe."""
    with cancel_on_interrupt(budget):
        smallest = sorted(pieces, key=lambda piece: len(piece.cells))
        parts = [small for piece in smallest for small in _parts(problem, piece, options)]
        passes = Passes(problem, parts, problem.must_hide, means=means, options=options)
        name = f"passes over {len(pieces)} linked tables"
        with budget.part(share) as early:
            with early.part(options.classic.passes.tables_limit_share) as most:
                passes.run(most, seed, "passes")
            return complete(problem, passes.pattern, early, name, repair=budget, options=options)


def _parts(problem: Problem, piece: Piece, options: Options) -> list[Piece]:
    """Split a table that is too large for the exact engine into its subtables."""
    if len(piece.cells) <= options.classic.passes.exact_cells:
        return [piece]
    A = problem.system.A[piece.rows][:, piece.cells]
    system = LinearSystem(A, problem.system.b[piece.rows], problem.system.cells[piece.cells])
    return [Piece(piece.rows[part.rows], piece.cells[part.cells]) for part in pieces_of(system)]
