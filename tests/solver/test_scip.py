"""SCIP ends when it is told to."""

from __future__ import annotations

import numpy as np
import pytest
from pyscipopt import Model, quicksum

from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.scip import optimise


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
