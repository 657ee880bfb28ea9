"""Linked tables in coordinated passes: judged across all of them by an independent check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabprotect.errors import InputError
from tabprotect.instances import load
from tabprotect.methods.suppression.classic import passes
from tabprotect.methods.suppression.classic.modular import pieces_of, rows_within
from tabprotect.methods.suppression.classic.passes import Passes, Piece
from tabprotect.methods.suppression.linked import suppress_linked
from tabprotect.methods.suppression.options import Options, changed
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.tasks.pieces import Means
from tabprotect.solver.tasks.store import Store
from tests.checker import Judge
from tests.quick import examples
from tests.random_problems import random_problem


def covered(problem: Problem) -> dict[str, np.ndarray]:
    """As tables, the pieces between which the margins of the rows are shared."""
    return {str(k): piece.cells for k, piece in enumerate(pieces_of(problem.system))}


def test_passes_are_safe_across_all_tables() -> None:
    ours = best = 0.0
    for seed in range(40, examples(43, 46)):
        problem = random_problem(seed, kinds=("linked",))
        judge = Judge(problem)
        result = suppress_linked(problem, covered(problem), together=0)
        assert result.safe == (not judge.exposed(problem.may_hide)), seed
        if result.safe:
            assert not judge.exposed(result.pattern), seed
            together = suppress_linked(problem, covered(problem))
            assert together.status == "optimal"
            ours, best = ours + result.cost, best + together.cost  # type: ignore[operator]
    assert 0 < best * (1 - 1e-9) <= ours


def test_equations_outside_all_tables_are_named() -> None:
    problem = random_problem(44, kinds=("linked",))
    tables = covered(problem)
    del tables["1"]
    with pytest.raises(InputError, match="equations are in none of the tables, such as "):
        suppress_linked(problem, tables, together=0)


def test_cells_of_tables_that_are_not_there_are_named() -> None:
    problem = random_problem(44, kinds=("linked",))
    with pytest.raises(InputError, match="table 'x' must be one bool a cell or positions in 0"):
        suppress_linked(problem, {"x": np.array([problem.n_cells])}, together=0)


def test_a_first_safe_pattern_may_take_all_of_the_limits() -> None:
    problem = load("linked-small")
    options = changed(Options(), "choice.whole_cells", 10)
    for work in (400, 800, 1600):
        assert suppress_linked(problem, covered(problem), limits=Limits(work=work), options=options).safe, work


def test_tables_too_large_for_the_engine_go_by_subtables() -> None:
    problem = load("linked-small")
    whole = {"all": np.arange(problem.n_cells)}
    options = changed(Options(), "classic.passes.exact_cells", 50)
    result = suppress_linked(problem, whole, together=0, limits=Limits(work=100_000), options=options)
    assert result.safe
    assert result.cost is not None
    assert result.cost >= 26_832


def test_passes_go_on_from_the_tables_that_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(44, max_cells=90, kinds=("linked",))
    tables = covered(problem)
    solved: list[int] = []
    engine = passes.exact

    def exact(part: Problem, **words: Any) -> SuppressionResult:
        if len(solved) == dies:
            raise KeyboardInterrupt
        solved.append(part.n_cells)
        return engine(part, **words)

    def run(folder: str) -> SuppressionResult:
        solved.clear()
        means = Means(store=Store(tmp_path / folder, "this"))
        return suppress_linked(problem, tables, together=0, limits=Limits(work=20_000), means=means)

    monkeypatch.setattr(passes, "exact", exact)
    dies = -1
    whole = run("in one go")
    pieces = len(solved)
    assert pieces > 1
    dies = 1
    with pytest.raises(KeyboardInterrupt):
        run("killed")
    dies = -1
    resumed = run("killed")
    assert len(solved) == pieces - 1
    assert (resumed.pattern == whole.pattern).all()
    assert (resumed.cost, resumed.work) == (whole.cost, whole.work)


def test_what_is_hidden_in_one_piece_is_hidden_and_no_more_in_the_others() -> None:
    """Two rows that share their total: it is hidden for the first one, and the second leaves it to the repair."""
    A = np.array([[-1.0, 1, 1, 0, 0], [-1, 0, 0, 1, 1]])
    problem = Problem.from_arrays(A, [9, 4, 5, 2, 7], primary=[1], lpl=1, upl=3, weights=[1, 4, 9, 2, 7])
    pieces = [Piece(np.array([0]), np.array([0, 1, 2])), Piece(np.array([1]), np.array([0, 3, 4]))]
    passes = Passes(problem, pieces, problem.must_hide)
    passes.run(Budget(), 0, "test")
    assert np.flatnonzero(passes.pattern).tolist() == [0, 1]


def test_a_published_margin_is_hidden_where_nothing_else_helps() -> None:
    """The second row can protect its cell by the common total alone; what that opens in the first one is repaired."""
    A = np.array([[-1.0, 1, 1, 0, 0], [-1, 0, 0, 1, 1]])
    problem = Problem.from_arrays(A, [9, 4, 5, 2, 7], primary=[3], lpl=1, upl=1, protected=[4])
    pieces = [Piece(np.array([0]), np.array([0, 1, 2])), Piece(np.array([1]), np.array([0, 3, 4]))]
    passes = Passes(problem, pieces, problem.must_hide)
    passes.run(Budget(), 0, "test")
    assert np.flatnonzero(passes.pattern).tolist() == [0, 3]
    tables = {str(k): piece.cells for k, piece in enumerate(pieces)}
    assert suppress_linked(problem, tables, together=0).suppressed.tolist() == [0, 1, 3]


def test_rows_within_cells() -> None:
    problem = load("flat2d-4x5")
    A = problem.system.A
    rows = np.arange(A.shape[0])
    assert rows_within(A, rows, np.arange(A.shape[1])).tolist() == rows.tolist()
    first = A.indices[A.indptr[2] : A.indptr[3]]
    assert rows_within(A, rows, np.sort(first)).tolist() == [2]
