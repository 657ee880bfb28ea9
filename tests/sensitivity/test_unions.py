"""Sums of hidden cells, found and judged from the records themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.models import cell_suppression
from tabprotect.sensitivity import assess, make_problem, parse_rules
from tabprotect.sensitivity.sums_as_cells import protect_unions
from tabprotect.sensitivity.unions import determined_unions, union_exposures
from tabprotect.table.dimension import Dimension
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.system import LinearSystem
from tabprotect.table.tabulate import tabulate
from tests.checker import Judge
from tests.quick import examples
from tests.sensitivity.cells import Unit, table_of, units

TREE = Hierarchy((("Total", ("N", "S")), ("N", ("n1", "n2", "n3")), ("S", ("s1", "s2"))))
LEAVES = TREE.leaves
records = st.lists(
    st.tuples(st.sampled_from(LEAVES), st.sampled_from("xyz"), st.integers(0, 5), st.integers(1, 60)),
    min_size=6,
    max_size=24,
)


def tabulated(rows, top, **more):
    data = pd.DataFrame(rows, columns=["region", "kind", "firm", "turnover"]).astype({"turnover": float})
    by = [Dimension("region", TREE), Dimension("kind", Hierarchy.flat(list("xyz")))]
    return tabulate(data, by, "turnover", contributor="firm", top=top, **more)


def holdings(table, rows, cells):
    """Contributions by firm to a set of cells, straight from the records; every record once."""
    below = {code: {code} for code in LEAVES} | {"N": {"n1", "n2", "n3"}, "S": {"s1", "s2"}, "Total": set(LEAVES)}
    sums: dict[int, float] = {}
    for region, kind, firm, value in rows:
        hits = [
            cell
            for cell in cells
            if region in below[table.system.cells[cell][0]] and table.system.cells[cell][1] in ("Total", kind)
        ]
        assert len(hits) <= 1, "cells of a sum must be disjoint"
        if hits:
            sums[firm] = sums.get(firm, 0) + value
    return sorted(sums.values(), reverse=True)


def excess(x, p, n=1):
    return p / 100 * x[0] - sum(x[n + 1 :]) if x else -1.0


@given(records, st.integers(0, 2**24 - 1))
@settings(max_examples=examples(20, 40))
def test_every_union_is_determined_and_every_row_is_found(rows, bits):
    table = tabulated(rows, 2)
    n = table.n_cells
    hidden = np.array([bits >> (i % 24) & 1 for i in range(n)], bool) & (table.values > 0)
    unions = determined_unions(table.system, hidden)
    A = table.system.A.toarray()[:, hidden]
    rank = np.linalg.matrix_rank(A)
    for cells in unions:
        wanted = np.isin(np.flatnonzero(hidden), cells).astype(float)
        assert np.linalg.matrix_rank(np.vstack([A, wanted])) == rank
        holdings(table, rows, cells)
    found = {tuple(cells.tolist()) for cells in unions}
    for row in A:
        if (row >= 0).all() and row.sum() >= 2:
            assert tuple(np.flatnonzero(hidden)[row > 0].tolist()) in found


@given(records, st.integers(0, 2**24 - 1), st.sampled_from([(15, 1), (60, 1), (40, 2)]))
@settings(max_examples=examples(20, 40))
def test_exposures_are_those_of_the_records(rows, bits, rule):
    p, n = rule
    full, short = tabulated(rows, 10), tabulated(rows, n + 1)
    hidden = np.array([bits >> (i % 24) & 1 for i in range(full.n_cells)], bool) & (full.values > 0)
    truth = {
        tuple(cells.tolist()): excess(holdings(full, rows, cells), p, n)
        for cells in determined_unions(full.system, hidden)
    }
    sensitive = {cells: level for cells, level in truth.items() if level > 1e-9}
    exact = union_exposures(full, f"p%={p},{n}", hidden)
    assert {e.cells: e.upl for e in exact} == pytest.approx({c: max(level, 1.0) for c, level in sensitive.items()})
    assert all(e.decided for e in exact)
    careful = {e.cells: e for e in union_exposures(short, f"p%={p},{n}", hidden)}
    assert set(sensitive) <= set(careful)
    assert {cells for cells, e in careful.items() if e.decided} <= set(sensitive)
    for cells, level in sensitive.items():
        assert careful[cells].upl >= level - 1e-9


@given(records, st.integers(0, 2**24 - 1))
@settings(max_examples=examples(12, 25))
def test_too_few_contributors_together(rows, bits):
    full, short = tabulated(rows, 10), tabulated(rows, 1)
    hidden = np.array([bits >> (i % 24) & 1 for i in range(full.n_cells)], bool) & (full.values > 0)
    few = {
        tuple(cells.tolist())
        for cells in determined_unions(full.system, hidden)
        if len(holdings(full, rows, cells)) < 3
    }
    assert {e.cells for e in union_exposures(full, "threshold=3", hidden)} == few
    careful = union_exposures(short, "threshold=3", hidden)
    assert few <= {e.cells for e in careful}
    assert {e.cells for e in careful if e.decided} <= few


def test_a_margin_replaced_by_its_parts_and_a_difference():
    system = LinearSystem.from_equations(
        [("t", ["A", "B", "C"]), ("A", ["a", "b", "c"]), ("B", ["d", "e"]), ("t", ["P", "Q"]), ("P", ["a", "B"])]
    )
    hidden = np.isin(system.cells, ["A", "B", "a", "b", "d", "e"])
    named = [system.cells[u].tolist() for u in determined_unions(system, hidden)]
    assert sorted(map(sorted, named)) == [
        ["A", "B"],
        ["A", "d", "e"],
        ["B", "a"],
        ["B", "a", "b"],
        ["a", "b", "d", "e"],
        ["a", "d", "e"],
    ]
    nested = LinearSystem.from_equations([("t", ["a", "b", "c", "d"]), ("u", ["a", "b"])])
    hidden = np.isin(nested.cells, ["a", "b", "c", "d"])
    assert [nested.cells[u].tolist() for u in determined_unions(nested, hidden)] == [
        ["a", "b"],
        ["a", "b", "c", "d"],
        ["c", "d"],
    ]


def test_other_coefficients_are_left_alone():
    system = LinearSystem.from_equations([{"a": 2.0, "b": 1.0, "t": -1.0}, {"t": 1.0, "c": -1.0, "d": -1.0}])
    assert determined_unions(system, np.isin(system.cells, ["a", "b"])) == ()
    assert [u.tolist() for u in determined_unions(system, np.isin(system.cells, ["c", "d"]))] == [[3, 4]]


def test_one_holding_in_two_safe_cells_dominates_their_sum():
    rows = [
        ("n1", "x", 0, 60),
        ("n1", "x", 1, 50),
        ("n1", "x", 2, 40),
        ("n2", "x", 0, 60),
        ("n2", "x", 3, 50),
        ("n2", "x", 4, 40),
        ("n3", "x", 5, 10),
    ]
    table = tabulated(rows, 3)
    hidden = np.isin(np.arange(table.n_cells), table.system.cells.get_indexer([("n1", "x"), ("n2", "x")]))
    (exposure,) = union_exposures(table, "nk=1,39", hidden)
    assert exposure.rules == ("nk=1,39",)
    assert exposure.upl == pytest.approx(120 / 0.39 - 300)
    assert exposure.reason == "n1 x x + n2 x x = 300 can be computed and violates nk=1,39"
    assert union_exposures(table, "nk=1,41", hidden) == ()


def test_sums_that_are_declared_safe_or_waived_are_passed_over():
    data = pd.DataFrame(
        [("n", 90.0, True), ("?", 4.0, False), ("??", 5.0, False), ("s", 7.0, True)],
        columns=["region", "turnover", "consent"],
    )
    by = [Dimension("region", missing=("?", "??"))]
    table = tabulate(data, by, "turnover", waiver="consent")
    where = dict(zip(table.system.cells.get_level_values(0), range(table.n_cells), strict=True))

    def exposed(rules, *codes):
        hidden = np.isin(np.arange(table.n_cells), [where[code] for code in codes])
        return [e.cells for e in union_exposures(table, rules, hidden)]

    assert len(exposed("p%=15", "?", "??")) == 1
    assert exposed("p%=15|missing", "?", "??") == []
    assert exposed("p%=15", "n", "s") == []
    assert exposed("missing", "n", "?") == []


def test_finished_tables_and_sampling_weights():
    """Nobody is named: contributors count as different ones; weights are kept."""
    system = LinearSystem.from_equations([("t", ["a", "b", "c"])])
    cells = [units(9, 9, 9, 9), units(9), units(9), units(9, 9)]
    hidden = np.array([False, True, True, False])
    assert len(union_exposures(table_of(cells, system=system), "threshold=3", hidden)) == 1
    assert union_exposures(table_of(cells, system=system), "nk=1,50", hidden) == ()
    counted = replace(table_of(cells, system=system), contributions=None, kind="frequency")
    assert len(union_exposures(counted, "threshold=3", hidden)) == 1
    weighted = [units(1), [Unit(9, 4)], [Unit(9, 1.5)], units(1)]
    assert union_exposures(table_of(weighted, system=system), "threshold=3|nk=1,20", hidden) == ()
    assert len(union_exposures(table_of(weighted, system=system), "nk=1,18", hidden)) == 1


def test_a_weighted_holding_in_two_cells_is_one_contributor_to_their_sum():
    """As in the margin that holds both: its weight is the mean, weighted by the contributions."""
    rows = [("n", "a", 30.0, 1.0), ("n", "b", 20.0, 1.0), ("s", "a", 60.0, 1.5), ("s", "c", 25.0, 1.2)]
    rows += [("w", "d", 40.0, 1.0), ("w", "e", 30.0, 2.0)]
    data = pd.DataFrame(rows, columns=["region", "firm", "turnover", "weight"])
    table = tabulate(data, ["region"], "turnover", contributor="firm", weight="weight")
    hidden = np.isin(table.system.cells.get_level_values("region"), ["n", "s"])
    found = union_exposures(table, "p%=50", hidden)
    # a: 90 with weight (30 + 1.5 * 60) / 90 = 4/3, so 120 of 170; b and c have 20 and 1.2 * 25. Largest two: 90 + a
    # third of another 90; 0.5 * 90 - (170 - 180) is more than 0
    assert [(e.cells, e.value) for e in found] == [((1, 2), 170.0)]
    margin = data.assign(region=data["region"].replace({"n": "x", "s": "x"}))
    as_cell = assess(tabulate(margin, ["region"], "turnover", contributor="firm", weight="weight"), "p%=50")
    at = as_cell.table.system.cells.get_level_values("region").get_loc("x")
    assert as_cell.upl[at] > 0
    assert found[0].upl == pytest.approx(as_cell.upl[at])


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from("abcd"), st.sampled_from("vwxyz"), st.integers(1, 60), st.sampled_from([0.5, 1.0, 1.5, 3.0])
        ),
        min_size=4, max_size=14,
    ),
    rule=st.sampled_from(["p%=50", "pq=20,60", "nk=1,60", "nk=2,80", "threshold=3"]),
)  # fmt: skip
@settings(max_examples=examples(30, 100))
def test_sums_of_weighted_holdings_are_judged_as_the_cell_that_holds_them(rows, rule):
    data = pd.DataFrame(rows, columns=["region", "firm", "turnover", "weight"]).astype({"turnover": float})
    data["pair"] = data["region"].map(lambda code: "ab" if code in "ab" else "rest")
    options = {"value": "turnover", "contributor": "firm", "weight": "weight", "top": 8}
    table = tabulate(data, ["region"], **options)
    cells = table.system.cells.get_level_values("region")
    inside = np.isin(cells, ["a", "b"])
    if inside.sum() < 2 or not np.isin(cells, ["c", "d"]).any():
        return
    found = [e for e in union_exposures(table, rule, inside) if e.cells == tuple(np.flatnonzero(inside).tolist())]
    coarse = tabulate(data, ["pair"], **options)
    verdict = parse_rules(rule)[0].judge(coarse)
    at = int(np.flatnonzero(coarse.system.cells.get_level_values("pair") == "ab")[0])
    assert [at in verdict.cells.tolist()] == [bool(found)]


@pytest.mark.parametrize(
    ("seed", "rounds", "cost"),
    [
        (31, 1, 1339),
        pytest.param(13, 2, 1013, marks=pytest.mark.slow),
        pytest.param(1, 1, 1074, marks=pytest.mark.slow),
        pytest.param(24, 1, 1392, marks=pytest.mark.slow),
        pytest.param(33, 1, 1338, marks=pytest.mark.slow),
        pytest.param(36, 1, 1068, marks=pytest.mark.slow),
    ],
)
def test_repair_ends_without_exposed_sums(seed, rounds, cost):
    """Protecting exposed sums and solving again ends, and the result protects cells and sums alike."""
    rng = np.random.default_rng(seed)
    rows = [
        (LEAVES[rng.integers(5)], "xyz"[rng.integers(3)], int(rng.integers(8)), int(rng.integers(1, 61)))
        for _ in range(34)
    ]
    table = tabulated(rows, 10)
    extended = problem = make_problem(table, "p%=10")
    answer = cell_suppression.solve(problem)
    before, needed = answer.cost, 0
    while exposures := union_exposures(table, "p%=10", answer.pattern):
        needed += 1
        extended = protect_unions(extended, exposures)
        answer = cell_suppression.solve(extended)
        with pytest.raises(InputError, match="is in the problem already"):
            protect_unions(extended, exposures[:1])
    assert needed == rounds
    assert extended.cost(answer.pattern) == problem.cost(answer.pattern[: problem.n_cells]) == cost > before
    assert Judge(extended).safe(answer.pattern)
    assert Judge(problem).safe(answer.pattern[: problem.n_cells])


def test_who_knows_all_cells_of_a_sum_does_not_attack_it():
    rows = [("n1", "x", 0, 60), ("n2", "x", 0, 5), ("n3", "x", 1, 7), ("s1", "x", 1, 7), ("s2", "x", 2, 9)]
    table = tabulated(rows, 3)
    hidden = np.isin(np.arange(table.n_cells), table.system.cells.get_indexer([("n1", "x"), ("n2", "x")]))
    problem = make_problem(table, "p%=15")
    extended = protect_unions(problem, union_exposures(table, "p%=15", hidden))
    assert [a.name for a in extended.attackers if problem.n_cells in a.known] == ["0"]


def test_the_worst_case_of_what_is_not_kept():
    """Two of three are kept: the holder of 50 in one cell may have all of the 30 beyond in the other, or nothing."""
    first, second = (
        [("n1", "x", 0, 50), ("n1", "x", 1, 40), ("n1", "x", 2, 30)],
        [("n2", "x", 3, 45), ("n2", "x", 4, 35), ("n2", "x", 5, 30)],
    )
    table = tabulated([*first, *second, ("n3", "x", 6, 1)], 2)
    hidden = np.isin(np.arange(table.n_cells), table.system.cells.get_indexer([("n1", "x"), ("n2", "x")]))
    assert union_exposures(table, "nk=1,34.8", hidden) == ()
    (exposure,) = union_exposures(table, "nk=1,34", hidden)
    assert not exposure.decided
    assert exposure.upl == pytest.approx(80 / 0.34 - 230)
    assert "may violate nk=1,34 (the table keeps too few contributions to tell)" in exposure.reason
    assert union_exposures(tabulated([*first, *second, ("n3", "x", 6, 1)], 3), "nk=1,34", hidden) == ()


def test_sums_inherit_bounds_levels_and_codes():
    rows = [("n1", "x", 0, 60), ("n2", "x", 1, 5), ("n3", "x", 2, 7)]
    table = tabulated(rows, 3)
    hidden = np.isin(np.arange(table.n_cells), table.system.cells.get_indexer([("n1", "x"), ("n2", "x")]))
    exposures = union_exposures(table, "nk=1,40", hidden)
    problem = protect_unions(make_problem(table, "nk=1,40", bounds=(None, "50%")), exposures)
    assert problem.system.cells[-1] == ("sum of n1 x x + n2 x x", "")
    assert (problem.values[-1], problem.lower[-1], problem.upper[-1]) == (65, 0, 97.5)
    assert (problem.lpl[-1], problem.upl[-1]) == (65, 85)
    assert not problem.system.residuals(problem.values).any()
    assert union_exposures(table, "nk=1,40", hidden, levels="sliding")[0].spl == pytest.approx(170)
    with pytest.raises(InputError, match="entries for"):
        union_exposures(table, "nk=1,40", hidden[:3])
    assert protect_unions(problem, ()) is problem
