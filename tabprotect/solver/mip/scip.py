"""Running SCIP so that it can be stopped at any moment, and not only where it tells of an event."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from tabprotect.solver.limits import Budget

__all__ = ["count_work", "optimise"]

LOOK: Final = 0.05
"""Seconds between two looks whether somebody cancelled."""


def optimise(model: Any, budget: Budget) -> None:
    """Solve a model of PySCIPOpt; interrupt it when somebody cancels, and when time or memory is up.

    SCIP works without the lock of the interpreter while another thread watches. Only its events end a search outside
    the main thread, which alone hears signals, and one whose work is limited, which has to end at the same place every
    time.

    Parameters
    ----------
    model : pyscipopt.Model
    budget : Budget

    Examples
    --------
    >>> from pyscipopt import Model
    >>> model = Model()
    >>> model.hideOutput()
    >>> x = model.addVar(vtype="I", obj=1.0, lb=0.5)
    >>> optimise(model, Budget())
    >>> model.getObjVal()
    1.0
    """
    from pyscipopt import SCIP_STAGE

    if budget.limits.work is not None or threading.current_thread() is not threading.main_thread():
        model.optimize()
        return
    ended = threading.Event()
    raised: list[BaseException] = []

    def watch(interrupts: socket.socket) -> None:
        asked = False
        while not ended.wait(LOOK):
            try:
                asked = asked or _heard(interrupts) or budget.exhausted
            except BaseException as error:  # raised by whoever is asked whether to stop: handed on below
                raised.append(error)
                asked = True
            if asked:
                # between some of its stages SCIP refuses, and says so on stderr; the next look asks again
                with suppress(Exception):
                    if model.getStage() != SCIP_STAGE.INITSOLVE:
                        model.interruptSolve()

    with _interrupts() as heard:
        watcher = threading.Thread(target=watch, args=(heard,), daemon=True)
        watcher.start()
        try:
            model.optimizeNogil()
        finally:
            ended.set()
            watcher.join()
    if raised:
        raise raised[0]


def count_work(
    model: Any, budget: Budget, report: Callable[[], None] | None = None, ended: Callable[[], bool] | None = None
) -> None:
    """Count the simplex iterations and nodes of a model, and end its search where the budget does.

    Parameters
    ----------
    model : pyscipopt.Model
    budget : Budget
    report : callable, optional
        Called after nodes and better solutions.
    ended : callable, optional
        Whether something else ends the search.

    Examples
    --------
    >>> from pyscipopt import Model
    >>> model, budget = Model(), Budget()
    >>> model.hideOutput()
    >>> x = model.addVar(vtype="I", obj=1.0, lb=0.5)
    >>> count_work(model, budget)
    >>> optimise(model, budget)
    >>> budget.work >= model.getNNodes()
    True
    """
    from pyscipopt import SCIP_EVENTTYPE, SCIP_STAGE, Eventhdlr

    events = [SCIP_EVENTTYPE.LPEVENT, SCIP_EVENTTYPE.NODESOLVED]
    if report is not None:
        events.append(SCIP_EVENTTYPE.BESTSOLFOUND)

    class Watch(Eventhdlr):  # type: ignore[misc]
        spent = 0

        def eventinit(self) -> None:
            for event in events:
                self.model.catchEvent(event, self)

        def eventexit(self) -> None:
            for event in events:
                self.model.dropEvent(event, self)

        def eventexec(self, event: Any) -> None:
            if self.model.getStage() < SCIP_STAGE.SOLVING:  # SCIP counts nothing before
                return
            now = int(self.model.getNLPIterations()) + int(self.model.getNNodes())
            budget.spend(now - self.spent)
            self.spent = now
            if report is not None and event.getType() != SCIP_EVENTTYPE.LPEVENT:
                report()
            if budget.exhausted or (ended is not None and ended()):
                self.model.interruptSolve()

    model.includeEventhdlr(Watch(), "watch", "counts work and listens to whoever cancels")


@contextmanager
def _interrupts() -> Iterator[socket.socket]:
    """Yield what hears of signals while the main thread is in SCIP."""
    here, there = socket.socketpair()
    with here, there:
        here.setblocking(False)
        there.setblocking(False)
        before = signal.set_wakeup_fd(there.fileno(), warn_on_full_buffer=False)
        try:
            yield here
        finally:
            signal.set_wakeup_fd(before)


def _heard(interrupts: socket.socket) -> bool:
    """Tell whether there was a Ctrl-C."""
    try:
        return signal.SIGINT in interrupts.recv(64)
    except BlockingIOError:
        return False
