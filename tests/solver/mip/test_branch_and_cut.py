"""Branch and cut over a separator: right on problems that can be enumerated, any-time, and trusting nobody."""

from __future__ import annotations

import itertools
import math
import os
import signal
import threading

import networkx as nx
import numpy as np
import pytest

from tabprotect.errors import InputError, SolverError
from tabprotect.solver import Limits, Programme, at_least, branch_and_cut
from tests.quick import examples

ENGINES = ["scip", "highs"]


class Tour:
    """Every set of towns is left by two edges: the rows that make a set of edges one tour."""

    def __init__(self, n):
        self.n = n
        self.edges = list(itertools.combinations(range(n), 2))
        self.asked = 0

    def programme(self, cost):
        degree = [[float(k in edge) for edge in self.edges] for k in range(self.n)]
        return Programme(cost, degree, 2, 2)

    def cuts(self, x, integral):
        self.asked += 1
        graph = nx.Graph()
        graph.add_nodes_from(range(self.n))
        graph.add_weighted_edges_from((*e, v) for e, v in zip(self.edges, x, strict=True) if v > 1e-9)
        if nx.is_connected(graph):
            value, (side, _) = nx.stoer_wagner(graph)
            sides = [side] if value < 2 - 1e-6 else []
        else:
            sides = list(nx.connected_components(graph))
        for side in map(set, sides):
            yield at_least((k for k, (a, b) in enumerate(self.edges) if (a in side) != (b in side)), 1.0, 2)


class Hidden:
    """A set of rows that is written down nowhere else."""

    def __init__(self, rows, only_integral=False):
        self.rows = rows
        self.only_integral = only_integral

    def cuts(self, x, integral):
        return [] if self.only_integral and not integral else [r for r in self.rows if r.slack(x) < -1e-9]


def shortest_tour(n, cost):
    length = {}
    for (a, b), c in zip(itertools.combinations(range(n), 2), cost, strict=True):
        length[a, b] = length[b, a] = c
    tours = ([0, *p, 0] for p in itertools.permutations(range(1, n)) if p[0] < p[-1])
    return min(sum(length[a, b] for a, b in itertools.pairwise(t)) for t in tours)


def enumerated(cost, rows, lower, upper):
    points = itertools.product(*(range(int(a), int(b) + 1) for a, b in zip(lower, upper, strict=True)))
    good = [p for p in points if all(r.slack(np.array(p, float)) >= -1e-9 for r in rows)]
    return min((float(np.dot(cost, p)) for p in good), default=None)


def random_case(seed, largest=1):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 8 if largest == 1 else 5))
    rows = []
    for _ in range(int(rng.integers(2, 12))):
        index = rng.choice(n, int(rng.integers(1, n + 1)), replace=False)
        values = rng.integers(-3, 6, len(index)).astype(float) * float(rng.choice([1.0, 0.001, 1000.0]))
        scale = np.abs(values).max(initial=1e-3)
        rows.append(at_least(index, values, float(rng.integers(-1, 4)) * scale / 2))
    return rng.integers(-3, 10, n).astype(float), rows, np.zeros(n), np.full(n, float(largest))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("largest", [1, 3])
@pytest.mark.parametrize("only_integral", [False, True])
def test_hidden_rows_are_kept_as_if_they_were_written(engine, largest, only_integral):
    seen = set()
    for seed in range(examples(12, 25)):
        cost, rows, lower, upper = random_case(seed, largest)
        best = enumerated(cost, rows, lower, upper)
        result = branch_and_cut(Programme(cost, lower=lower, upper=upper), Hidden(rows, only_integral), engine=engine)
        seen.add(result.status)
        if best is None:
            assert (result.status, result.x, result.objective) == ("infeasible", None, None), seed
        else:
            assert result.status == "optimal", seed
            assert result.objective == pytest.approx(best, abs=1e-9), seed
            assert result.bound == result.objective
            assert all(row.slack(result.x) >= -1e-9 for row in rows)
    assert seen == {"optimal", "infeasible"}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(3))
def test_tours_equal_those_of_enumeration(engine, seed):
    cost = np.random.default_rng(seed).integers(1, 100, 28).astype(float)
    tour = Tour(8)
    result = branch_and_cut(tour.programme(cost), tour, engine=engine)
    assert result.status == "optimal"
    assert result.objective == shortest_tour(8, cost)
    assert nx.is_connected(nx.Graph([e for e, v in zip(tour.edges, result.x, strict=True) if v]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_both_engines_agree_on_larger_tours(seed):
    points = np.random.default_rng(seed).random((24, 2))
    cost = [math.dist(points[a], points[b]) for a, b in itertools.combinations(range(24), 2)]
    one, two = (branch_and_cut((tour := Tour(24)).programme(cost), tour, engine=engine) for engine in ENGINES)
    assert one.status == two.status == "optimal"
    assert one.objective == pytest.approx(two.objective, rel=1e-9)
    assert len(one.cuts) > 3


@pytest.mark.parametrize("engine", ENGINES)
def test_continuous_columns_and_written_rows(engine):
    rows = [at_least([0, 1], [1.0, 2.0], 3), at_least([0, 2], [1.0, -1.0], -0.5)]
    programme = Programme([1, 1, -1], [[0, 1, 1]], -math.inf, 2.25, upper=[4, 4, 4], integer=[True, False, False])
    result = branch_and_cut(programme, Hidden(rows), engine=engine)
    assert result.status == "optimal"
    # x0 = 1 is too little for x2; x1 = (3 - x0) / 2, x2 = min(x0 + 1/2, 9/4 - x1)
    best = min(x0 + x1 - min(x0 + 0.5, 2.25 - x1) for x0 in range(5) for x1 in [max(0.0, (3 - x0) / 2)])
    assert result.objective == pytest.approx(best, abs=1e-6)
    assert result.x[0] == round(result.x[0])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_refusal_within_the_tolerance_excludes_the_point(engine):
    """The row says x0 + x1 <= 1, in numbers that no solver distinguishes from 2; the point itself is excluded."""
    n = 3

    class Faint:
        def cuts(self, x, integral):
            if integral and x[0] + x[1] > 1.5:
                return [at_least(range(n), [-1e-9, -1e-9, 1.0], -1.5e-9 + x[2])]
            return []

    result = branch_and_cut(Programme([-1, -1, 1]), Faint(), engine=engine)
    assert result.objective == -1
    assert result.status == "optimal"
    with pytest.raises(SolverError, match="scale the rows"):
        branch_and_cut(Programme([-1, -1, 1], upper=2), Faint(), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_heuristic_is_used_and_not_believed(engine):
    tour = Tour(8)
    cost = np.random.default_rng(5).integers(1, 100, 28).astype(float)
    ring = np.array([float(b - a in (1, 7)) for a, b in tour.edges])
    seen = []
    offers = itertools.cycle([np.zeros(28), ring, None])
    result = branch_and_cut(
        tour.programme(cost), tour, engine=engine, heuristic=lambda _: next(offers), progress=seen.append
    )
    assert result.status == "optimal"
    assert result.objective == shortest_tour(8, cost)
    costs = [p.cost for p in seen if p.cost is not None]
    assert costs
    assert min(costs) == result.objective


@pytest.mark.parametrize("engine", ENGINES)
def test_what_the_separator_raises_comes_out(engine):
    class Broken:
        def cuts(self, x, integral):
            raise ZeroDivisionError("by zero")

    class Wild:
        def cuts(self, x, integral):
            return [at_least([0, 9], 1.0, 1)]

    with pytest.raises(ZeroDivisionError, match="by zero"):
        branch_and_cut(Programme([1, 2]), Broken(), engine=engine)
    with pytest.raises(InputError, match=r"outside 0\.\.1"):
        branch_and_cut(Programme([1, 2]), Wild(), engine=engine)


def test_a_row_that_cuts_off_a_known_solution_is_found_out():
    class Wrong:
        """Passes what its own row forbids."""

        def cuts(self, x, integral):
            return [] if integral else [at_least([0], 1.0, 1)] if x[0] < 1 - 1e-6 else []

    with pytest.raises(SolverError, match="rows are wrong"):
        branch_and_cut(
            Programme([1, 1], [[2, 2]], 1), Wrong(), engine="highs", heuristic=lambda _: np.array([0.0, 1.0])
        )


@pytest.mark.parametrize("engine", ENGINES)
def test_limits_are_kept_and_said(engine):
    tour = Tour(30)
    points = np.random.default_rng(1).random((30, 2))
    programme = tour.programme([math.dist(points[a], points[b]) for a, b in tour.edges])
    for limits, word in (
        (Limits(seconds=0.0), "time"),
        (Limits(work=3), "work"),
        (Limits(stop=lambda: tour.asked > 0), "cancelled"),
        (Limits(memory=1), "memory"),
    ):
        tour.asked = 0
        result = branch_and_cut(programme, tour, engine=engine, limits=limits)
        assert (result.status, result.stopped) == ("unknown", word)
        assert result.objective is None


def test_a_gap_ends_the_search_without_a_claim():
    tour = Tour(9)
    cost = np.random.default_rng(2).integers(1, 100, 36).astype(float)
    ring = np.array([float(b - a in (1, 8)) for a, b in tour.edges])
    for engine in ENGINES:
        result = branch_and_cut(
            tour.programme(cost), tour, engine=engine, limits=Limits(gap=0.95), heuristic=lambda _: ring
        )
        assert result.gap <= 0.95
        assert result.status == ("optimal" if result.gap == 0 else "feasible")
        assert result.stopped == ""


def test_ctrl_c_ends_with_the_best_so_far():
    tour = Tour(60)
    points = np.random.default_rng(3).random((60, 2))
    programme = tour.programme([math.dist(points[a], points[b]) for a, b in tour.edges])
    ring = np.array([float(b - a in (1, 59)) for a, b in tour.edges])
    timers: list[threading.Timer] = []

    def heuristic(_):
        if not timers:
            timers.append(threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)))
            timers[0].start()
        return ring

    result = branch_and_cut(programme, tour, heuristic=heuristic, limits=Limits(seconds=60))
    timers[0].cancel()
    assert result.status in ("feasible", "optimal")
    assert result.stopped in ("cancelled", "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"A": [[1, 2, 3]]}, "must agree"),
        ({"lower": [0, 0, 0]}, "lower has shape"),
        ({"lower": 2}, "above its upper bound"),
        ({"cost": [1, math.nan]}, "finite numbers"),
        ({"integer": [True]}, "integer has shape"),
    ],
)
def test_programmes_that_cannot_be_are_refused(change, words):
    with pytest.raises(InputError, match=words):
        Programme(**({"cost": [1, 2], "A": [[1, 1]]} | change))


def test_engines_are_named():
    with pytest.raises(InputError, match="did you mean 'highs'"):
        branch_and_cut(Programme([1]), Hidden([]), engine="high")
