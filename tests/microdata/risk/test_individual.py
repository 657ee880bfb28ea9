"""Individual risk, uniqueness and special uniques against reference values and brute force."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import prod
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

import tabprotect.microdata as md
from tabprotect.microdata.risk.individual import posterior_mean_of_inverse
from tests.microdata.frames import KINDS
from tests.quick import examples

KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


def test_risks_of_the_small_reference_file(shared: Callable[[str], Path]) -> None:
    frame = pd.read_csv(shared("microdata/sdcMicro_francdat.csv"))
    found = md.risk.individual_risk(frame, schema=md.Schema(keys=["Key1", "Key2", "Key3", "Key4"], weight="w"))
    wanted = [0.0171443, 0.0220423, 0.0220423, 0.1770758, 0.0116545, 0.2970631, 0.4023595, 0.0171443]
    np.testing.assert_allclose(found.records, wanted, atol=5e-8)


def test_risks_and_special_uniques_of_the_household_file(shared: Callable[[str], Path]) -> None:
    frame = pd.read_csv(shared("microdata/sdcMicro_testdata.csv"))
    schema = md.Schema(keys=KEYS, weight="sampling_weight", household="ori_hid")
    assert md.risk.individual_risk(frame, schema=schema).value == pytest.approx(10.775525, abs=5e-7)
    assert md.risk.sample_uniqueness(frame, schema=schema).details["combinations"] == 412
    assert md.risk.sample_uniqueness(frame, schema=schema).details["uniques"] == 157
    reference = pd.read_csv(shared("reference/testdata_suda2.csv"))
    found = md.risk.suda(frame, schema=schema)
    assert found.value == 4890
    assert found.records is not None
    assert found.records.tolist() == reference["score"].tolist()
    household = md.risk.household_risk(frame, schema=schema)
    assert household.records is not None
    single = md.risk.individual_risk(frame, schema=schema).records
    assert single is not None
    assert (household.records >= single - 1e-15).all()


@given(st.integers(1, 400), st.floats(1e-6, 1.0))
def test_the_formula_is_the_integral(f: int, p: float) -> None:
    found = float(posterior_mean_of_inverse(f, p))
    # with s = 1 - t the integrand is s^(f-1) p / (p + q s)
    wanted, _ = integrate.quad(lambda s: p * s ** (f - 1) / (p + (1 - p) * s), 0, 1, limit=500, epsabs=0, epsrel=1e-11)
    assert found == pytest.approx(wanted, rel=1e-8)
    assert 0 < found <= 1 / f


def test_uniques_of_a_sample_against_the_true_population(shared: Callable[[str], Path]) -> None:
    everybody = pd.read_csv(shared("microdata/simPop_eusilcP.csv"))
    keys = ["region", "hsize", "age", "gender", "citizenship"]
    sample = everybody.sample(frac=0.1, random_state=1)
    schema = md.Schema(keys=keys)
    true = md.risk.population_uniqueness(sample, schema=schema, population=everybody)
    guess = md.risk.data_intrusion_simulation(sample, schema=schema, fraction=0.1)
    counts = everybody.groupby(keys, dropna=False).size()
    assert true.details["Pr(PU)"] == pytest.approx((counts == 1).sum() / len(everybody))
    # theta estimates sample uniques over the records of the population that match one
    assert true.records is not None
    unique = md.risk.sample_uniqueness(sample, schema=schema).records == 1
    assert guess.value == pytest.approx(unique.sum() / true.records[unique].sum(), rel=0.15)


def test_expected_re_identifications_against_the_true_population(shared: Callable[[str], Path]) -> None:
    everybody = pd.read_csv(shared("microdata/simPop_eusilcP.csv"))
    keys = ["region", "hsize", "gender", "ecoStat"]
    sample = everybody.sample(frac=0.1, random_state=2).assign(w=10.0)
    found = md.risk.individual_risk(sample, schema=md.Schema(keys=keys, weight="w"))
    population = everybody.groupby(keys).size().rename("F").reset_index()
    true = (1 / sample.merge(population, on=keys)["F"]).sum()
    assert found.value == pytest.approx(true, rel=0.35)


def brute_suda(frame: pd.DataFrame, keys: list[str]) -> list[float]:
    scores = []
    for i in range(len(frame)):
        minimal: list[set[str]] = []
        total = 0.0
        for size in range(1, len(keys) + 1):
            for chosen in combinations(keys, size):
                same = (frame[list(chosen)] == frame[list(chosen)].iloc[i]).all(axis=1).sum()
                if same == 1 and not any(part <= set(chosen) for part in minimal):
                    minimal.append(set(chosen))
                    total += prod(len(keys) - s for s in range(size, len(keys)))
        scores.append(total)
    return scores


@settings(max_examples=examples(12, 25))
@given(st.integers(0, 10**6), st.integers(2, 15), st.integers(2, 4))
def test_special_uniques_by_brute_force(seed: int, n: int, k: int) -> None:
    frame = pd.DataFrame(np.random.default_rng(seed).integers(0, 3, (n, k)), columns=[f"k{j}" for j in range(k)])
    found = md.risk.suda(frame, schema=md.Schema(keys=list(frame.columns)))
    assert found.records is not None
    assert found.records.tolist() == brute_suda(frame, list(frame.columns))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame(kind: str) -> None:
    frame = pd.DataFrame({"a": ["x", "x", "y", None], "w": [2.0, 3.0, 4.0, 5.0]})
    schema = md.Schema(keys=["a"], weight="w")
    for measure in (md.risk.individual_risk, md.risk.sample_uniqueness, md.risk.data_intrusion_simulation):
        assert measure(KINDS[kind](frame), schema=schema).value == measure(frame, schema=schema).value


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda f: md.risk.individual_risk(f, schema=md.Schema(keys=["a"])), "names no weight"),
        (lambda f: md.risk.individual_risk(f), "needs keys"),
        (lambda f: md.risk.individual_risk(f, schema=md.Schema(keys=["a"], weight="v")), "at least 1"),
        (lambda f: md.risk.suda(f, schema=md.Schema(keys=["a"])), "at least two keys"),
        (lambda f: md.risk.population_uniqueness(f, schema=md.Schema(keys=["a"])), "population is missing"),
        (lambda f: md.risk.data_intrusion_simulation(f, schema=md.Schema(keys=["a"])), "needs fraction="),
        (lambda f: md.risk.household_risk(f, schema=md.Schema(keys=["a"], weight="w")), "names no household"),
    ],
)
def test_bad_input(make: Callable[[pd.DataFrame], object], part: str) -> None:
    frame = pd.DataFrame({"a": ["x", "y"], "w": [2.0, 3.0], "v": [0.5, 1.0]})
    with pytest.raises(md.InputError, match=part):
        make(frame)
