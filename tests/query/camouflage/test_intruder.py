"""Who knows some values: what is left of the ranges, against linear programmes, and how more vectors help."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from tabprotect.errors import InputError
from tabprotect.query.camouflage import camouflage
from tests.query.camouflage import questions


def firms(n: int, seed: int) -> pd.DataFrame:
    """The same in smaller units: ranges have some hundred cells, so that no two rows are alike."""
    frame, rng = questions.firms(n, seed), np.random.default_rng(seed)
    return frame.assign(
        turnover=frame["turnover"] * 1000 + rng.integers(0, 1000, n), profit=np.round(frame["profit"] * 1000) + 7
    )


@pytest.mark.parametrize("known", [0, 1, 2])
def test_ranges_are_those_of_linear_programmes(known: int) -> None:
    made = camouflage(firms(15, known), ["turnover"], 0.2, k=5, steps=20, seed=known)
    p, a = made.vectors.of["turnover"], made.table.values["turnover"]
    low, high = made.ranges_given({"turnover": list(range(known))})["turnover"]
    equal, right = np.vstack([np.ones(5), p[:known] / a[:known, None]]), np.ones(known + 1)
    for i in range(known, 15):
        ends = [s * linprog(s * p[i], A_eq=equal, b_eq=right, bounds=[(0, None)] * 5).fun for s in (1, -1)]
        assert (low[i], high[i]) == (pytest.approx(ends[0], rel=1e-6), pytest.approx(ends[1], rel=1e-6))
    assert np.all((low <= a * (1 + 1e-9)) & (a <= high * (1 + 1e-9)))
    assert low[:known] == pytest.approx(high[:known])


def test_as_many_known_values_as_unknown_weights_disclose_all() -> None:
    made = camouflage(firms(40, 1), ["turnover", "profit"], 0.2, k=4, steps=20, seed=2)
    for known in ({"turnover": [3, 17, 30]}, {"turnover": [3], "profit": [3, 8]}):
        for field, (low, high) in made.ranges_given(known).items():
            assert low == pytest.approx(made.table.values[field], rel=1e-5)
            assert high == pytest.approx(made.table.values[field], rel=1e-5)


@pytest.mark.parametrize("known", [1, 2])
def test_vectors_for_intruders_who_know_values(known: int) -> None:
    """With known = m, no value follows from any m others; with the default number most of a range is left."""
    frame, rng = firms(60, known), np.random.default_rng(known)
    left = {}
    for k in (known + 2, None):
        shares = []
        for seed in range(8):
            made = camouflage(frame, "turnover", 0.2, k=k, known=known, steps=40, seed=seed)
            for _ in range(4):
                low, high = made.ranges_given({"turnover": rng.choice(60, known, replace=False).tolist()})["turnover"]
                width = np.ptp(made.vectors.of["turnover"], axis=1)
                shares.append(np.sort((high - low) / width)[known:])  # those who are known have none
        left[k] = np.array(shares)
    assert left[known + 2].min() > 1e-8
    assert left[None].min() > 0.01
    assert np.median(left[None]) > max(0.4, 1.5 * np.median(left[known + 2]))


def test_too_few_vectors_for_what_is_known() -> None:
    with pytest.raises(InputError, match="at least 5"):
        camouflage(firms(9, 0), "turnover", 0.2, k=4, known=3)
    assert camouflage(firms(9, 0), "turnover", 0.2, known=2).vectors.k == 7
    made = camouflage(firms(9, 0), "turnover", 0.2)
    with pytest.raises(InputError, match="did you mean 'turnover'"):
        made.ranges_given({"turnovr": [1]})
