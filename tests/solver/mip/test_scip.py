"""SCIP ends when it is told to."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from pyscipopt import SCIP_STAGE, Model, quicksum

from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.mip.scip import optimise


def market_split() -> Model:
    """Nobody waits for the end of this one (Cornuejols and Dawande 1999)."""
    model = Model()
    model.hideOutput()
    x = [model.addVar(vtype="B") for _ in range(50)]
    for weights in np.random.default_rng(0).integers(1, 100, (6, 50)).tolist():
        over, under = model.addVar(obj=1.0), model.addVar(obj=1.0)
        model.addCons(quicksum(w * v for w, v in zip(weights, x, strict=True)) + under - over == sum(weights) // 2)
    return model


def test_a_stop_ends_the_search() -> None:
    looks: list[bool] = []

    def stop() -> bool:
        looks.append(True)
        return len(looks) > 3

    model = market_split()
    optimise(model, Budget(Limits(stop=stop)))
    assert model.getStatus() == "userinterrupt"


def test_an_interrupt_ends_the_search_and_is_handed_on() -> None:
    def stop() -> bool:
        raise KeyboardInterrupt

    model = market_split()
    with pytest.raises(KeyboardInterrupt):
        optimise(model, Budget(Limits(stop=stop)))
    assert model.getStatus() == "userinterrupt"


class Hesitant:
    """A model that refuses to be interrupted at first, as SCIP does between some of its stages."""

    def __init__(self) -> None:
        self.asked = 0
        self.interrupted = threading.Event()

    def getStage(self) -> int:
        return int(SCIP_STAGE.SOLVING)

    def interruptSolve(self) -> None:
        self.asked += 1
        if self.asked < 3:
            raise Exception("SCIP: method cannot be called at this time in solution process!")
        self.interrupted.set()

    def optimizeNogil(self) -> None:
        assert self.interrupted.wait(20), "never interrupted"


def test_scip_is_asked_again_when_it_refuses_to_stop() -> None:
    model = Hesitant()
    optimise(model, Budget(Limits(stop=lambda: True)))
    assert model.asked == 3


class Starting(Hesitant):
    """A model that begins to solve, when a request to stop is an error that SCIP itself prints."""

    stages = 0

    def getStage(self) -> int:
        self.stages += 1
        return int(SCIP_STAGE.INITSOLVE if self.stages < 3 else SCIP_STAGE.SOLVING)

    def interruptSolve(self) -> None:
        assert self.stages >= 3
        self.interrupted.set()


def test_scip_is_not_asked_while_it_begins_to_solve() -> None:
    model = Starting()
    optimise(model, Budget(Limits(stop=lambda: True)))
    assert model.stages == 3


def test_who_is_asked_whether_to_stop_and_fails_is_heard_once_scip_has_stopped() -> None:
    def stop() -> bool:
        raise ValueError("the caller's own")

    model = Hesitant()
    with pytest.raises(ValueError, match="the caller's own"):
        optimise(model, Budget(Limits(stop=stop)))
    assert model.asked == 3
