"""Vectors cover what is required, contain the truth as none of them, and tell nothing about the weights."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.query.camouflage import Absolute, Covering, Relative, camouflage
from tabprotect.query.camouflage import camouflage as camouflage_function
from tabprotect.query.camouflage.bounds import Lattice, Row
from tabprotect.query.camouflage.build import at_random, build, orders_of, unit_of
from tabprotect.query.camouflage.construction import (
    Choose,
    Groups,
    draw_patterns,
    draw_weights,
    exchange,
    group_sums,
    rows_in_order,
    spread,
)
from tabprotect.query.camouflage.data import Table, groups_of, read
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
    hidden = camouflage(frame, "profit", BOUNDS[kind], k=k, steps=30, workload=WORKLOAD, seed=5)
    p, a = hidden.vectors.of["profit"], frame["profit"].to_numpy()
    low, high = p.min(axis=1), p.max(axis=1)
    if kind == "covering":
        assert np.all(low <= frame["lower"].where(np.isfinite(frame["lower"]), np.inf))
        assert np.all(high >= frame["upper"].where(np.isfinite(frame["upper"]), -np.inf))
    else:
        middle, sure = np.abs(low + high) / 2, 1 - 2 * (k - 1) / 30
        need = {"relative": 0.3 * np.maximum(middle, 10), "one number": 25.0, "by column": frame["staff"]}[kind]
        assert np.all((high - low) * sure >= need * (1 - 1e-9))
        assert np.all((high - low) * sure < need + 2 * 3.0)  # the unit is 0.1, a cell 3
    assert p @ hidden.weights == pytest.approx(a, rel=1e-12, abs=1e-9)
    assert hidden.weights.min() > 0
    assert np.abs(p - a[:, None]).max(axis=0).min() > 1e-3  # no vector is the true one
    protection = hidden.protection()
    assert (protection.uncovered, protection.values) == (0, 60)
    assert protection.candidates == math.comb(29, k - 1)


@pytest.mark.parametrize("kind", BOUNDS)
def test_another_truth_in_the_hull_gives_the_same_vectors(kind: str) -> None:
    """Who knows the vectors, the rule, and all random numbers but the weights cannot tell the weights."""
    table = read(data(40, 2), ["profit"], {"profit": BOUNDS[kind]})
    groups, rng = groups_of(table, [(), ("region",), ("size",)]), np.random.default_rng(8)
    patterns, parts, lattice = draw_patterns(40, 4, rng), draw_weights(4, 20, rng), Lattice(0.1, 20, 4)
    orders = orders_of(table, BOUNDS[kind], None, rng)

    def built(table: Table, parts: np.ndarray, choose: Choose) -> np.ndarray:
        return build("profit", table, BOUNDS[kind], lattice, parts, patterns, groups, orders, choose)

    rows = built(table, parts, at_random(rng.random(40)))

    def same(i: int, admitted: list[Row]) -> Row:
        """The row that is known, which must be among those admitted for another truth."""
        if kind in ("one number", "by column"):
            return admitted[0]
        low, high = rows[i].min(), rows[i].max()
        known = [row for row in admitted if np.allclose([row[0], row[0] + row[1][-1]], [low, high], atol=1e-6)]
        assert len(known) == 1
        return known[0]

    for _ in range(20):
        other = draw_weights(4, 20, rng)
        value = rows @ other / 20
        truth = replace(table, values={"profit": value})
        units = (value - table.values["profit"]) / 0.1
        assert units == pytest.approx(np.rint(units), abs=1e-6)
        if kind == "covering":  # given bounds are confidential; these ones, for example, have the same rows
            wide = np.ptp(rows, axis=1) > 0
            lower = np.where(wide, rows.min(axis=1) + 1e-6, -np.inf)
            upper = np.where(wide, rows.max(axis=1) - 1e-6, np.inf)
            truth = replace(truth, bounds={"lower": lower, "upper": upper})
        assert built(truth, other, same) == pytest.approx(rows, rel=1e-9, abs=1e-6)


def test_whole_numbers_do_not_tell_the_weights() -> None:
    """Every choice of weights gives whole numbers; with weights off the lattice, the true ones alone would."""
    frame = firms(30, 4)
    made = camouflage(frame, "turnover", 0.2, steps=20, seed=1)
    p = made.vectors.of["turnover"]
    parts = np.array([(a, b, 20 - a - b) for a in range(1, 19) for b in range(1, 20 - a)])
    values = p @ parts.T / 20
    assert made.units == {"turnover": 1.0}
    assert len(parts) == made.protection().candidates
    assert values == pytest.approx(np.rint(values), abs=1e-8)
    assert made.weights * 20 == pytest.approx(np.rint(made.weights * 20))
    middle = np.abs(p.min(axis=1) + p.max(axis=1)) / 2
    assert np.all(np.ptp(values, axis=1) >= 0.2 * middle * (1 - 1e-9))  # the candidates alone reach that far
    rng = np.random.default_rng(0)
    off, pattern = rng.dirichlet(np.ones(3)), rng.permuted(draw_patterns(30, 3, rng), axis=1)
    true = frame["turnover"].to_numpy()[:, None]
    others = (true + 0.2 * true * (pattern - (pattern @ off)[:, None])) @ rng.dirichlet(np.ones(3), 2000).T
    assert not np.all(np.abs(others - np.rint(others)) < 0.01, axis=0).any()


@pytest.mark.parametrize(
    ("values", "unit"),
    [([1.0, 25.0], 1.0), ([0.5, 2.25], 0.01), ([0.0], 1.0), ([np.pi, 20.0], 1e-7), ([1e12 + 0.5], 1e4)],
)
def test_the_unit_is_the_last_decimal(values: list[float], unit: float) -> None:
    assert unit_of(np.array(values)) == pytest.approx(unit)


@given(
    a=st.integers(-(10**6), 10**6),
    parts=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    q=st.floats(0, 0.999),
    width=st.floats(0.01, 0.9),
    least=st.floats(0, 1e3),
    l=st.integers(0, 100),
    u=st.integers(0, 100),
)
@settings(max_examples=150, deadline=None)
def test_admitted_rows_hold_the_value_and_the_required_range(a, parts, q, width, least, l, u) -> None:
    steps, pattern = 20, [0.0, q, 1.0]
    weights = [*parts, steps - sum(parts)]
    lattice, value = Lattice(1.0, steps, 3), np.array([float(a)])
    for bounds in (Relative(width, least), Absolute(width * 100), Covering("l", "u")):
        columns = {"l": [a - l], "u": [a + u]}
        for low, above in bounds.rows(value, columns, "x", lattice)(0, float(a), pattern, weights):
            row = low + np.array(above)
            assert row @ weights / steps == pytest.approx(a, rel=1e-12, abs=1e-9)
            assert row[0] < a < row[-1]
            assert np.array(above) / steps == pytest.approx(np.rint(np.array(above) / steps))
            if isinstance(bounds, Covering):
                assert row[0] <= a - l
                assert row[-1] >= a + u
            else:
                middle = max(abs(row[0] + row[-1]) / 2, least)
                need = width * middle if isinstance(bounds, Relative) else width * 100
                assert above[-1] * (1 - 4 / steps) >= need * (1 - 1e-12)


def test_the_position_in_the_range_is_random() -> None:
    """With a secret seed the truth is anywhere in its range, and seldom near the middle; the same seed repeats it."""
    frame = firms(1, 3)
    found = [camouflage(frame, "turnover", 0.2, unit=0.01, seed=s) for s in range(300)]
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
    hidden = camouflage(frame, "turnover", 0.2, steps=20, workload=WORKLOAD, seed=1)
    sized = camouflage(frame, "turnover", 0.2, steps=20, workload=WORKLOAD, seed=1, largest_first="staff")
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
    a, w, q = rng.random(8), draw_weights(3, 20, rng), draw_patterns(8, 3, rng)
    rule, choose = Absolute(1.0).rows(a, {}, "x", Lattice(0.01, 20, 3)), at_random(rng.random(8))
    whole = rows_in_order(a, w, q, rule, groups, range(8), choose)
    first = rows_in_order(a, w, q, rule, groups, range(5), choose)
    rest = rows_in_order(a, w, q, rule, groups, range(5, 8), choose, first.sum(axis=0, keepdims=True))
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
