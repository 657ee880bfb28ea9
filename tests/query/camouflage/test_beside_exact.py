"""Intervals and exact answers about the same data: each of them safe, together not."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.query import Auditor, Camouflage, Records
from tabprotect.query.camouflage import camouflage
from tabprotect.solver.mip.milp import solve_milp
from tests.query.camouflage import questions


def hidden(k: int) -> Camouflage:
    frame = questions.firms(80, 3)
    frame["turnover"] = np.round(1000 * frame["turnover"]) + np.random.default_rng(3).integers(0, 1000, 80)
    return camouflage(frame, ["turnover"], 0.2, k=k, steps=5 * k, workload=questions.WORKLOAD, seed=5)


def shares(made: Camouflage, exact: list[np.ndarray], intervals: bool) -> np.ndarray:
    """What is left of every range, as a share, by linear programmes over the weights under all answers together."""
    p, x, k = made.vectors.of["turnover"], made.table.values["turnover"], made.vectors.k
    rows, low, high = [np.ones(k)], [1.0], [1.0]
    for members in exact:
        rows.append(p[members].sum(axis=0) / x[members].sum())
        low.append(1.0)
        high.append(1.0)
    if intervals:
        for region in ("north", "south", "east", "west"):
            where = [("region", "==", region)]
            members, answer = made.public["region"] == region, made.sum("turnover", where)
            unit = x[members].sum()
            rows.append(p[members].sum(axis=0) / unit)
            low.append(answer.low / unit)
            high.append(answer.high / unit)
    A, slack = np.vstack(rows), 1e-11
    left = []
    for row in p:
        ends = []
        for sign in (1.0, -1.0):
            found = solve_milp(A, np.array(low) - slack, np.array(high) + slack, np.zeros(k), np.ones(k), sign * row)
            assert found.x is not None
            ends.append(float(row @ found.x))
        left.append((ends[1] - ends[0]) / np.ptp(row))
    return np.array(left)


@pytest.mark.parametrize("k", [3, 4])
def test_sums_that_the_auditor_answers_open_every_camouflaged_value(k: int) -> None:
    """Every exact sum is an equation of the secret weights; k - 1 of them leave one choice, and with it all values."""
    made = hidden(k)
    auditor = Auditor(Records.of(made.table.values["turnover"]), "p%=10")
    region, size = made.public["region"], made.public["size"]
    asked = [region == "north", region == "south", size == "S"][: k - 1]
    assert all(auditor.ask(np.flatnonzero(members)).answered for members in asked)

    assert shares(made, [], intervals=True) == pytest.approx(1.0, abs=1e-6)
    assert np.median(shares(made, asked[:1], intervals=True)) < 0.9
    assert np.max(shares(made, asked, intervals=True)) < 0.01
