"""Vectors cover what is required, contain the truth as none of them, and tell nothing about the weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.query.camouflage import Absolute, Covering, Relative, camouflage
from tabprotect.query.camouflage import camouflage as camouflage_function
from tabprotect.query.camouflage.build import build, orders_of
from tabprotect.query.camouflage.construction import (
    Groups,
    draw_patterns,
    draw_weights,
    exchange,
    group_sums,
    rows_in_order,
    spread,
)
from tabprotect.query.camouflage.data import groups_of, read
from tests.query.camouflage.questions import WORKLOAD, firms

BOUNDS = {
    "relative": Relative(0.3, least=10.0),
    "one number": Absolute(25.0),
    "by column": Absolute("staff"),
    "covering": Covering("lower", "upper"),
}


def data(n: int, seed: int) -> pd.DataFrame:
    frame, rng = firms(n, seed), np.random.default_rng(seed)
    width, place = 0.2 * frame["turnover"], rng.random((2, n))
    frame["lower"] = frame["profit"] - place[0] * width
    frame["upper"] = frame["profit"] + place[1] * width
    frame.loc[::5, "lower"] = -np.inf
    frame.loc[::7, "upper"] = np.inf
    return frame


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("kind", BOUNDS)
def test_every_range_is_covered_and_the_truth_is_inside(kind: str, k: int) -> None:
    frame = data(60, k)
    hidden = camouflage(frame, "profit", BOUNDS[kind], k=k, workload=WORKLOAD, seed=5)
    p, a = hidden.vectors.of["profit"], frame["profit"].to_numpy()
    low, high = p.min(axis=1), p.max(axis=1)
    if kind == "covering":
        assert np.all(low <= frame["lower"].where(np.isfinite(frame["lower"]), np.inf))
        assert np.all(high >= frame["upper"].where(np.isfinite(frame["upper"]), -np.inf))
    else:
        middle = np.abs(low + high) / 2
        need = {"relative": 0.3 * np.maximum(middle, 10), "one number": 25.0, "by column": frame["staff"]}[kind]
        assert (high - low) == pytest.approx(np.broadcast_to(need, 60))
    assert p @ hidden.weights == pytest.approx(a, rel=1e-12, abs=1e-9)
    assert hidden.weights.min() > 0
    assert np.abs(p - a[:, None]).max(axis=0).min() > 1e-3  # no vector is the true one
    protection = hidden.protection()
    assert (protection.uncovered, protection.values) == (0, 60)


@pytest.mark.parametrize("kind", BOUNDS)
def test_another_truth_in_the_hull_gives_the_same_vectors(kind: str) -> None:
    """Who knows the vectors, the rule, and all random numbers but the weights cannot tell the weights."""
    table = read(data(40, 2), ["profit"], {"profit": BOUNDS[kind]})
    groups, rng = groups_of(table, [(), ("region",), ("size",)]), np.random.default_rng(8)
    patterns, w = draw_patterns(40, 4, rng), draw_weights(4, rng)
    orders = orders_of(table, BOUNDS[kind], None, rng)
    rows = build("profit", table, BOUNDS[kind], w, patterns, groups, orders)
    for _ in range(20):
        other = draw_weights(4, rng)
        truth = replace(table, values={"profit": rows @ other})
        if kind == "covering":  # given bounds are confidential; these ones, for example, have the same rows
            value, odd, wide = rows @ other, np.arange(40) % 2 == 1, np.ptp(rows, axis=1) > 0
            lower = np.where(wide, np.where(odd, rows.min(axis=1), value), -np.inf)
            upper = np.where(wide, np.where(odd, value, rows.max(axis=1)), np.inf)
            truth = replace(truth, bounds={"lower": lower, "upper": upper})
        again = build("profit", truth, BOUNDS[kind], other, patterns, groups, orders)
        assert again == pytest.approx(rows, rel=1e-9, abs=1e-9)


@given(
    a=st.floats(-1e6, 1e6),
    t=st.floats(0.01, 0.99),
    other=st.floats(0.01, 0.99),
    width=st.floats(0.01, 1.9),
    least=st.floats(0.1, 1e3),
    l=st.floats(0, 100),
    u=st.floats(0, 100),
)
@settings(max_examples=150, deadline=None)
def test_a_range_does_not_depend_on_where_in_it_the_value_is(a, t, other, width, least, l, u) -> None:
    placements = [
        Relative(width, least).placement(np.array([a]), {}, "x"),
        Absolute(width).placement(np.array([a]), {}, "x"),
    ]
    for place in placements:
        low, whole = place(0, a, t)
        assert whole > 0
        assert low + t * whole == pytest.approx(a, rel=1e-9, abs=1e-9)
        again = place(0, low + other * whole, other)
        assert again == pytest.approx((low, whole), rel=1e-6, abs=1e-6)
    columns = {"l": [a - l], "u": [a + u]}
    low, whole = Covering("l", "u").placement(np.array([a]), columns, "x")(0, a, t)
    assert low <= a - l + 1e-6
    assert low + whole >= a + u - 1e-6
    value = low + other * whole
    if a - l <= value <= a + u:
        again = Covering("l", "u").placement(np.array([value]), columns, "x")(0, value, other)
        assert again == pytest.approx((low, whole), rel=1e-6, abs=1e-5)


def test_the_position_in_the_range_is_random() -> None:
    """With a secret seed the truth is anywhere in its range, and seldom near the middle; the same seed repeats it."""
    frame = firms(1, 3)
    found = [camouflage(frame, "turnover", 0.2, seed=s) for s in range(300)]
    place = np.array(
        [(frame["turnover"][0] - h.vectors.of["turnover"].min()) / np.ptp(h.vectors.of["turnover"]) for h in found]
    )
    assert np.quantile(place, [0.1, 0.9]) == pytest.approx([0.2, 0.8], abs=0.08)
    assert place.mean() == pytest.approx(0.5, abs=0.05)
    secret = {camouflage(frame, "turnover", 0.2).seed for _ in range(3)}
    assert len(secret) == 3
    one, two = (camouflage(frame, "turnover", 0.2, seed=7).vectors.of["turnover"] for _ in range(2))
    assert np.array_equal(one, two)


def test_declared_sums_are_narrower_than_with_patterns_at_random() -> None:
    frame = firms(400, 1)
    hidden = camouflage(frame, "turnover", 0.2, workload=WORKLOAD, seed=1)
    sized = camouflage(frame, "turnover", 0.2, workload=WORKLOAD, seed=1, largest_first="staff")
    groups, p = groups_of(hidden.table, hidden.workload), hidden.vectors.of["turnover"]
    at_random = np.mean([spread(np.random.default_rng(s).permuted(p, axis=1), groups) for s in range(5)])
    assert spread(p, groups) < 0.5 * at_random
    assert spread(sized.vectors.of["turnover"], groups) < 0.2 * at_random


def test_exchange_lowers_what_it_minimises_and_keeps_entries() -> None:
    rng = np.random.default_rng(0)
    groups = Groups(
        np.stack([np.zeros(50, int), rng.permutation(np.arange(50) % 4) + 1]), np.array([50, 13, 13, 12, 12])
    )
    rows = draw_patterns(50, 3, rng) * rng.lognormal(0, 1, 50)[:, None]
    better = exchange(rows, groups)

    def potential(r: np.ndarray) -> float:
        return float((groups.charges * group_sums(r, groups).var(axis=1)).sum())

    assert potential(better) < 0.1 * potential(rows)
    assert np.array_equal(np.sort(better, axis=1), np.sort(rows, axis=1))
    assert np.array_equal(exchange(better, groups), better)


def test_rows_go_on_from_existing_sums() -> None:
    rng = np.random.default_rng(4)
    groups = Groups(np.zeros((1, 8), int), np.array([8]))
    a, w, q = rng.random(8), draw_weights(3, rng), draw_patterns(8, 3, rng)
    place = Absolute(1.0).placement(a, {}, "x")
    whole = rows_in_order(a, w, q, place, groups, range(8))
    first = rows_in_order(a, w, q, place, groups, range(5))
    rest = rows_in_order(a, w, q, place, groups, range(5, 8), first.sum(axis=0, keepdims=True))
    assert np.vstack([first, rest]) == pytest.approx(whole, rel=1e-12)


def test_the_frame_is_not_changed_and_any_kind_will_do() -> None:
    frame = data(20, 1)
    before = frame.copy()
    made = camouflage_function(frame, "profit", BOUNDS["covering"], seed=1)
    pd.testing.assert_frame_equal(frame, before)
    polars = pytest.importorskip("polars")
    for other in (polars.from_pandas(frame), polars.from_pandas(frame).to_arrow()):
        again = camouflage_function(other, "profit", BOUNDS["covering"], seed=1)
        assert np.array_equal(again.vectors.of["profit"], made.vectors.of["profit"])
        assert again.sum("profit", [("region", "==", "north")]) == made.sum("profit", [("region", "==", "north")])
