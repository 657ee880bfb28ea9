"""Noise by cell keys: the design of the tables, what is published, and whether it is the same everywhere."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from tabprotect.certificate.reach import Reach
from tabprotect.errors import InputError
from tabprotect.methods.cell_key import (
    KEYS,
    Flex,
    PerturbationTable,
    cell_key,
    cell_key_magnitudes,
    cell_keys,
    design_perturbation,
    other_key,
    record_keys,
    record_keys_of,
)
from tabprotect.methods.cell_key.entropy import maximum_entropy, second_moments
from tabprotect.problem import Problem
from tabprotect.sensitivity import make_problem
from tabprotect.table.tabulate import tabulate
from tests.quick import examples

#: Probability with which a test of randomness may fail by chance; seeds are fixed, so it never fails twice.
SIGNIFICANCE = 1e-6


def entropy(p):
    return -float(np.sum(p[p > 0] * np.log(p[p > 0])))


@given(st.integers(1, 6), st.floats(0.02, 0.98), st.integers(0, 2))
@settings(max_examples=examples(30, 100))
def test_no_distribution_of_the_same_moments_has_more_entropy(most, where, blocked):
    """Against a general-purpose optimiser on the primal problem."""
    points = np.array([v for v in range(-1 - blocked, most + 1 + blocked) if not -1 - blocked < v < 0], float)
    least, largest = second_moments(points)
    if largest - least < 0.1:
        return
    wanted = least + where * (largest - least)
    p = maximum_entropy(points, wanted)
    assert p.sum() == pytest.approx(1, abs=1e-12)
    assert p @ points == pytest.approx(0, abs=1e-11)
    assert p @ points**2 == pytest.approx(wanted, abs=1e-10)
    constraints = [
        {"type": "eq", "fun": lambda q, w=w, b=b: w @ q - b}
        for w, b in ((np.ones(len(points)), 1), (points, 0), (points**2, wanted))
    ]
    other = optimize.minimize(
        lambda q: np.sum(q * np.log(np.maximum(q, 1e-300))), np.full(len(points), 1 / len(points)), method="SLSQP",
        bounds=[(0, 1)] * len(points), constraints=constraints, options={"maxiter": 500, "ftol": 1e-12},
    )  # fmt: skip
    if other.success:
        assert entropy(p) >= -other.fun - 1e-6


@given(st.integers(1, 8), st.integers(0, 3), st.floats(0.1, 0.9), st.sampled_from([None, 0.1, 0.4]))
@settings(max_examples=60)
def test_designed_tables_keep_what_they_promise(deviation, blocked, where, stay):
    ceiling = min(deviation, (1 - (stay or 0)) * deviation)
    variance = where * ceiling
    try:
        table = design_perturbation(deviation, variance, stay=stay, blocked=blocked)
    except InputError as error:
        refusals = error.problems
    else:
        refusals = ()
    if refusals:
        assert all("variance can be from" in p or "larger deviation" in p for p in refusals)
        return
    counts = np.arange(len(table.probabilities))
    target = counts[:, None] + table.noise
    p = table.probabilities
    assert np.all(p >= 0)
    assert np.allclose(p.sum(axis=1), 1, atol=1e-12)
    assert np.allclose(p @ table.noise, 0, atol=1e-10)
    assert not np.any(p[target < 0])
    assert not np.any(p[(target >= 1) & (target <= blocked)])
    assert np.allclose(table.variance[1 + blocked :], variance, atol=1e-9)
    assert p[0, deviation] == 1
    if stay is not None:
        assert np.allclose(table.stay[1 + blocked :], stay)
    assert np.allclose(p[-1], p[-1][::-1], atol=1e-9)


def test_design_of_one_and_two_can_be_done_by_hand():
    """Noise -1, 0, 1 of variance v: p = v/2, 1 - v, v/2. For count 1 with 1, 2 blocked only -1 and +2 are left."""
    table = design_perturbation(1, 0.6)
    assert table.probabilities.round(12).tolist() == [[0, 1, 0], [0.3, 0.4, 0.3]]
    blocked = design_perturbation(3, 1.5, blocked=2)
    assert np.allclose(blocked.probabilities[1], [0, 0, 2 / 3, 0, 0, 1 / 3, 0])
    assert blocked.variance == pytest.approx([0, 2, 2, 1.5, 1.5, 1.5, 1.5])


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"deviation": 0, "variance": 1}, "deviation must be a whole number of at least 1"),
        ({"deviation": 2.5, "variance": 1}, "deviation must be a whole number"),
        ({"deviation": 2, "variance": 0}, "variance must be a number above 0"),
        ({"deviation": 2, "variance": 1, "stay": 1}, "stay must be a probability below 1"),
        ({"deviation": 3, "variance": 4}, "count 1: the variance can be from 0 to 3, not 4"),
        (
            {"deviation": 3, "variance": 0.2, "stay": 0.1},
            "count 1: the variance can be from 0.9 to 2.7 with stay = 0.1",
        ),
        ({"deviation": 1, "variance": 0.5, "blocked": 2}, "count 1: no noise of mean 0 is possible"),
        ({"deviation": 2, "variance": 1.5, "blocked": 2}, "count 3: the variance can be from 0 to 0, not 1.5"),
    ],
)
def test_designs_that_cannot_be_are_refused(how, words):
    with pytest.raises(InputError, match=words):
        design_perturbation(**how)


@pytest.mark.parametrize(
    ("noise", "p", "words"),
    [
        ([-1, 0, 1], [[0, 1, 0], [0.3, 0.4, 0.2]], "count 1: probabilities must be >= 0 and add up to 1, not 0.9"),
        ([-1, 0, 1], [[0, 1, 0], [0.2, 0.4, 0.4]], "count 1: the noise is biased by 0.2"),
        ([-1, 0, 1], [[0.5, 0, 0.5]], "count 0 could become negative"),
        ([0, 1], [[1, 0]], "ascending and symmetric"),
        ([-1, 0, 1], [[1, 0]], r"shape \(1, 2\)"),
    ],
)
def test_tables_made_elsewhere_are_checked(noise, p, words):
    with pytest.raises(InputError, match=words):
        PerturbationTable(np.array(noise, float), np.array(p, float))


def test_lookup_gives_every_noise_its_share_of_the_keys():
    table = design_perturbation(4, 2, stay=0.25, blocked=1)
    keys = np.arange(0, KEYS, 64)
    for count in range(len(table.probabilities) + 2):
        noise = table.lookup(np.full(len(keys), count), keys)
        row = table.probabilities[min(count, len(table.probabilities) - 1)]
        share = np.array([np.mean(noise == v) for v in table.noise])
        assert np.allclose(share, row, atol=2e-6)
    edges = table.lookup(np.array([9, 9]), np.array([0, KEYS - 1]))
    assert edges.tolist() == [-4, 4]
    frame = table.frame
    assert frame.columns.tolist() == ["i", "j", "p", "v", "p_int_lb", "p_int_ub", "type"]
    assert np.allclose(frame["p_int_ub"] - frame["p_int_lb"], frame["p"], atol=1e-7)
    assert frame.groupby("i")["p"].sum().tolist() == pytest.approx([1] * len(table.probabilities))


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(7)
    n = 20_000
    return pd.DataFrame(
        {
            "region": rng.choice(list("abcdefgh"), n, p=[0.4, 0.3, 0.15, 0.1, 0.03, 0.01, 0.007, 0.003]),
            "sex": rng.choice(["m", "f"], n),
            "age": rng.choice([str(k) for k in range(30)], n),
            "income": np.ceil(rng.lognormal(7, 1.5, n)),
            "key": record_keys(n, seed=11),
        }
    )


def published(data, by, table, **options):
    cells = tabulate(data, by, **options)
    result = cell_key(make_problem(cells, "threshold=1"), cell_keys(data, by, "key"), table)
    return pd.Series(result.values, cells.system.cells), cells, result


def test_same_cell_same_figure_in_every_table(people):
    table = design_perturbation(5, 3, blocked=2)
    one, _, _ = published(people, ["region", "sex"], table)
    two, _, _ = published(people.sample(frac=1, random_state=1), ["sex", "age", "region"], table)
    for region, sex in one.index:
        assert two[sex, "Total", region] == one[region, sex]


def test_noise_is_unbiased_with_the_stated_variance(people):
    """All cells of region x sex x age; z-tests of mean and variance with known moments of the noise."""
    table = design_perturbation(5, 3, stay=0.2)
    _, cells, result = published(people, ["region", "sex", "age"], table)
    inner = np.flatnonzero(result.problem.values > 0)
    noise = result.noise[inner]
    n = len(noise)
    limit = stats.norm.isf(SIGNIFICANCE / 2)
    assert n > 700
    assert abs(noise.mean()) / math.sqrt(3 / n) < limit
    fourth = float(table.probabilities[-1] @ table.noise**4)
    assert abs((noise**2).mean() - 3) / math.sqrt((fourth - 9) / n) < limit
    assert abs(np.mean(noise == 0) - 0.2) / math.sqrt(0.16 / n) < limit
    assert np.abs(noise).max() <= 5
    assert result.values.min() >= 0
    assert result.expected_variance == pytest.approx(3 * n / cells.n_cells)


def test_loss_of_additivity_is_reported(people):
    table = design_perturbation(2, 1)
    _, cells, result = published(people, ["region", "sex"], table)
    off = np.abs(cells.system.A @ result.values)
    assert result.additivity.equations == len(off)
    assert result.additivity.broken == np.sum(off > 0) > 0
    assert result.additivity.largest == off.max()
    assert result.additivity.mean == pytest.approx(off.mean())
    untouched = cell_key(result.problem, np.full(cells.n_cells, KEYS // 2), table)
    assert untouched.additivity.broken == 0
    assert len(untouched.changed) == 0


def test_known_and_published_cells_stay(people):
    cells = tabulate(people[people.region > "f"], ["region", "sex", "age"], empty="structural")
    keys = cell_keys(people[people.region > "f"], ["region", "sex", "age"], "key")
    problem = make_problem(cells, "threshold=1")
    result = cell_key(problem, keys, design_perturbation(3, 2, blocked=1))
    assert np.all(result.values[problem.values == 0] == 0)
    assert not np.any(result.values[problem.values > 0] == 1)
    status = problem.status.copy()
    status[:5] = 3
    fixed = Problem(**{**{f: getattr(problem, f) for f in problem.__dataclass_fields__}, "status": status})
    assert np.array_equal(cell_key(fixed, keys, design_perturbation(3, 2)).values[:5], problem.values[:5])


@given(
    st.lists(
        st.tuples(st.sampled_from("xy"), st.sampled_from("uvw"), st.integers(0, KEYS - 1)), min_size=1, max_size=30
    )
)
@settings(max_examples=25)
def test_cell_keys_are_sums_of_record_keys_modulo(rows):
    data = pd.DataFrame(rows, columns=["a", "b", "key"])
    keys = cell_keys(data, ["a", "b"], "key")
    for cell, key in zip(tabulate(data, ["a", "b"]).system.cells, keys, strict=True):
        inside = [k for a, b, k in rows if cell[0] in (a, "Total") and cell[1] in (b, "Total")]
        assert key == sum(inside) % KEYS


def test_keys_are_uniform_and_mixing_is_one_to_one():
    keys = record_keys(200_000, seed=3)
    assert stats.kstest(keys / KEYS, "uniform").pvalue > SIGNIFICANCE
    assert stats.kstest(record_keys_of(range(50_000), b"a secret of sixteen") / KEYS, "uniform").pvalue > SIGNIFICANCE
    assert len(np.unique(other_key(np.arange(0, KEYS, 67), 2))) == len(np.arange(0, KEYS, 67))
    few = keys[:100_000]
    for stream in (1, 2, 3):
        assert abs(np.corrcoef(few, other_key(few, stream))[0, 1]) < stats.norm.isf(SIGNIFICANCE / 2) / math.sqrt(1e5)
        grid = np.histogram2d(few, other_key(few, stream), bins=8)[0].ravel()
        assert stats.chisquare(grid).pvalue > SIGNIFICANCE
    assert np.array_equal(other_key(few, 0), few)


def test_magnitudes_by_the_words_of_the_method(people):
    """One cell at a time, straight from the description."""
    by, table, flex = ["region", "sex"], design_perturbation(4, 2, step=2), Flex(0.25, 0.05, 5000, 3, (1, 0.6, 0.2))
    cells = tabulate(people, by, "income", top=3)
    keys = cell_keys(people, by, "key")
    result = cell_key_magnitudes(make_problem(cells, "nk=1,90"), keys, table, flex, cells)
    for i in range(cells.n_cells):
        value = cells.values[i]
        for j, x in enumerate(cells.contributions.values[i]):
            share = 0.25
            if x >= 5000:
                share = 0.05 * (1 + (0.25 * x - 0.05 * 5000) / (0.05 * 5000) * (10000 / (5000 + x)) ** 3)
            d = share * (1, 0.6, 0.2)[j] * x
            a = min(value / d, 4)
            key = other_key(keys[i : i + 1], j + 1)
            low, high = math.floor(a), math.ceil(a)
            v = [float(table.lookup(np.array([row]), key)[0]) for row in (low, high)]
            part = a - low
            value += d * ((1 - part) * v[0] + part * v[1])
        assert result.values[i] == pytest.approx(value, rel=1e-12)


def test_magnitudes_keep_their_sign_and_are_unbiased():
    rng = np.random.default_rng(5)
    n = 4000
    data = pd.DataFrame(
        {
            "cell": np.arange(n).repeat(3).astype(str),
            "x": np.ceil(rng.lognormal(3, 1, 3 * n)) * np.repeat(rng.choice([-1, 1], n), 3),
        }
    )
    cells = tabulate(data, ["cell"], "x", top=2)
    problem = make_problem(cells, "threshold=1", bounds="1000%")
    table, flex = design_perturbation(3, 1.5, step=4), Flex(0.9, 0.9, 1.0, 3, (1, 0.5))
    keys = np.asarray(record_keys(cells.n_cells, 1))
    result = cell_key_magnitudes(problem, keys, table, flex, cells)
    assert np.all(result.values * problem.values >= 0)
    relative = (result.noise / np.abs(problem.values))[1:]
    assert abs(relative.mean()) < stats.norm.isf(SIGNIFICANCE / 2) * relative.std() / math.sqrt(n)
    assert len(result.changed) > 0.5 * n
    counts = cell_key_magnitudes(problem, keys, table, flex, cells, same_key=True)
    assert not np.array_equal(counts.values, result.values)


def test_what_does_not_fit_is_refused(people):
    cells = tabulate(people, ["sex"], "income", top=1)
    problem, keys = make_problem(cells, "nk=1,90"), cell_keys(people, ["sex"], "key")
    table, flex = design_perturbation(2, 1), Flex(0.3, 0.1, 100, 3, (1, 0.5))
    with pytest.raises(InputError, match="keys have shape"):
        cell_key(problem, keys[:1], table)
    with pytest.raises(InputError, match="keys must be whole numbers from 0"):
        cell_key(problem, keys / 2, table)
    with pytest.raises(InputError, match="the table keeps 1: give top=2"):
        cell_key_magnitudes(problem, keys, table, flex, cells)
    with pytest.raises(InputError, match="has fractions"):
        cell_key(problem, keys, design_perturbation(2, 1, step=2))
    halves = Problem.from_arrays([[-1, 1, 1]], [1, 0.5, 0.5], primary=[], lpl=0, upl=0)
    with pytest.raises(InputError, match="perturbs counts"):
        cell_key(halves, np.zeros(3, np.int64), table)
    with pytest.raises(InputError, match="must hold record keys"):
        cell_keys(people.assign(key=-1), ["sex"], "key")
    with pytest.raises(InputError, match="must hold record keys"):
        cell_keys(people.assign(key=0.5), ["sex"], "key")
    with pytest.raises(InputError, match="'a' is there 2 times"):
        record_keys_of(["a", "b", "a"], b"0123456789abcdef")
    with pytest.raises(InputError, match="at least 16"):
        record_keys_of(["a"], b"short")
    with pytest.raises(InputError, match="0 < large <= small"):
        Flex(0.1, 0.2, 100)
    with pytest.raises(InputError, match="must start with 1 and fall"):
        Flex(0.2, 0.1, 100, 3, (1, 0.2, 0.5))


@settings(deadline=None, max_examples=40)
@given(
    st.floats(0.05, 0.5),
    st.floats(0.1, 1.0),
    st.floats(1.0, 6.0),
    st.sampled_from([(1.0,), (1.0, 0.5), (1.0, 1.0, 0.3)]),
    st.integers(0, 2**32 - 1),
)
def test_no_contributions_make_more_noise_than_the_reach(small, part, power, weights, seed):
    flex = Flex(small, small * part, 100.0, power, weights)
    corners, slope = flex.reach(3.0, 0.5)
    reach = Reach.read([[repr(a), repr(n)] for a, n in corners], repr(slope))
    rng = np.random.default_rng(seed)
    for size in 10 ** rng.uniform(-1, 9, 30):
        x = np.sort(size * rng.dirichlet(np.full(4, 0.3)))[::-1]
        most = 3 * sum(float(flex.share(v)) * w * v for v, w in zip(x, weights, strict=False))
        assert most <= float(reach(Fraction(float(size)))) - 0.5 + 1e-6 * size
    if weights == (1.0,):
        # nothing is given away: one contributor reaches it somewhere below
        below = np.linspace(0, 5000.0, 20001)
        sharp = 3 * np.max(flex.share(below) * below)
        assert float(reach(Fraction(5000))) - 0.5 <= sharp * 1.01


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), max_size=4), st.integers(0, 12), st.integers(0, 30))
def test_what_a_value_may_come_from_is_found_by_trying(steps, slope, v):
    at, far = [0], [steps[0][1] if steps else 1]
    for step, rise in steps:
        at.append(at[-1] + step)
        far.append(far[-1] + rise)
    reach = Reach.read([[str(a), str(n)] for a, n in zip(at, far, strict=True)], str(slope / 10))
    fits = [a for a in (Fraction(k, 8) for k in range(8 * 60)) if abs(v - a) <= reach(a)]
    low, high = reach.known(Fraction(v))
    assert slope >= 10 or high is not None
    inside = [a for a in fits if a < 59]
    if inside:
        assert low <= inside[0] < low + Fraction(1, 8)
    if high is not None and high < 59:
        assert high - Fraction(1, 8) < fits[-1] <= high
