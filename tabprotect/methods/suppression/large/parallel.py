"""Questions looked at side by side, in threads: each in the pattern as it was before all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from tabprotect.methods.suppression.large.answers import Answers, Proposal
from tabprotect.methods.suppression.large.nearby import Search
from tabprotect.methods.suppression.options import DEFAULTS
from tabprotect.methods.suppression.options.local import ParallelOptions
from tabprotect.solver.limits import Budget
from tabprotect.solver.tasks.pieces import processors

__all__ = ["Findings", "ParallelSearch"]


class Findings(NamedTuple):
    """What was found for a question.

    Attributes
    ----------
    question : int
    proposals : tuple of Proposal
        Empty where nothing was found.
    rough : bool
        Whether a quick search gave up programmes, or the answer is rough.
    """

    question: int
    proposals: tuple[Proposal, ...]
    rough: bool


class ParallelSearch:
    """Threads that look at questions, each with buffers and prices of its own.

    Solvers let go of the interpreter while they work: in three dimensions two threads take two thirds of the time of
    one. Batches are the same whatever the number of threads, and so are answers.

    Parameters
    ----------
    answers : Answers
        At the prices of the cover itself.
    threads : int
        No more than there are processors are of use.
    options : ParallelOptions
    """

    def __init__(self, answers: Answers, threads: int = 1, options: ParallelOptions = DEFAULTS.local.parallel) -> None:
        self._options = options
        self._answers = answers
        self._width = max(1, min(processors(), threads))
        self._twins: list[Answers] = []
        self._free: SimpleQueue[Answers] = SimpleQueue()
        self._free.put(answers)

    @contextmanager
    def open(self) -> Iterator[Executor]:
        """Within the block a pool of threads, and twins at the prices of now."""
        while len(self._twins) < self._width - 1:
            self._twins.append(self._answers.twin())
            self._free.put(self._twins[-1])
        for twin in self._twins:
            twin.price[:] = self._answers.price
        with ThreadPoolExecutor(self._width) as pool:
            yield pool

    def batches(self, order: Sequence[int], most: int | None = None) -> Iterator[list[int]]:
        """Yield open questions, a few at a time, in their order; both sides of a cell are never in one batch."""
        first, last = self._options.batch
        most = last if most is None else most
        cover, waiting, done = self._answers.cover, list(reversed(order)), 0
        while waiting:
            size = min(most, max(first, done // self._options.growth))
            batch: list[int] = []
            later: list[int] = []
            cells: set[int] = set()
            while waiting and len(batch) < size:
                k = waiting.pop()
                done += 1
                if cover.relies[k]:
                    continue
                cell = cover.keys[k].cell
                (later if cell in cells else batch).append(k)
                cells.add(cell)
            waiting += reversed(later)
            if batch:
                yield batch

    def look(self, questions: Sequence[int], search: Search, budget: Budget, pool: Executor) -> list[Findings]:
        """Return what is found for some questions, in their order; nothing is changed."""
        with ExitStack() as stack:
            parts = [stack.enter_context(budget.part(1.0)) for _ in questions]
            if len(questions) == 1 or self._width == 1:
                return [self._look(k, search, part) for k, part in zip(questions, parts, strict=True)]
            tasks = [pool.submit(self._look, k, search, part) for k, part in zip(questions, parts, strict=True)]
            return [task.result() for task in tasks]

    def moved(self, looked: Sequence[Findings]) -> None:
        """Take over the prices of cells that the proposals move, once these were taken or left."""
        cells = [p.deviation.cells for one in looked for p in one.proposals]
        if cells and self._twins:
            changed = np.unique(np.concatenate(cells))
            for twin in self._twins:
                twin.price[changed] = self._answers.price[changed]

    def _look(self, question: int, search: Search, budget: Budget) -> Findings:
        worker = self._free.get()
        try:
            worker.nearby.rough = False
            return Findings(question, worker.propose(question, budget, search), worker.nearby.rough)
        finally:
            self._free.put(worker)
