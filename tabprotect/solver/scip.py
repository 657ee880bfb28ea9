"""Running SCIP so that it can be stopped at any moment, and not only where it tells of an event."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Final

from tabprotect.solver.limits import Budget

__all__ = ["optimise"]

LOOK: Final = 0.05
"""Seconds between two looks whether somebody cancelled."""


def optimise(model: Any, budget: Budget) -> None:
    """Solve a model of PySCIPOpt; interrupt it when somebody cancels, and when time or memory is up.

    SCIP works in a thread of its own, without the lock of the interpreter, so that this one hears Ctrl-C and others
    can report. The events of the model are handled in that thread; a limit of work is their business, since it has to
    end the search at the same place every time.

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
    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(model.optimizeNogil)
        try:
            while not wait([future], timeout=LOOK).done:
                if budget.exhausted and budget.stopped != "work":
                    model.interruptSolve()
        except BaseException:
            model.interruptSolve()
            raise
    future.result()
