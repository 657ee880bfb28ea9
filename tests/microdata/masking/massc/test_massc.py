"""MASSC: strata by hand, probabilities against the stated programme, calibrated totals, the released file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect.microdata as md
from tabprotect.microdata.claims import check_claims
from tabprotect.microdata.masking.massc.calibration import rake
from tabprotect.microdata.masking.massc.design import subsampling_design, substitution_design
from tabprotect.microdata.masking.massc.strata import partners, risk_strata
from tabprotect.models import massc
from tabprotect.solver.pyomo import solve_model
from tests.microdata.frames import KINDS, as_pandas

SCHEMA = md.Schema(keys=["age", "sex", "region"], confidential=["income"], weight="w")


def people(n: int = 600, seed: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(list("abcdef"), n),
            "income": rng.lognormal(9, 0.5, n).round(),
            "works": rng.choice(["yes", "no"], n),
            "w": rng.uniform(1, 3, n),
        }
    )


METHOD = md.MASSC(["age", "sex"], ["region"], outcomes=["income", "works"], domains=["sex"], bias=0.03, variance=0.05)


def test_risk_strata_of_table_6_1() -> None:
    frame = pd.DataFrame({"age": [1, 1, 2, 2, 2, 4, 4, 3, 3, 3], "gender": [1, 0, 1, 0, 0, 0, 0, 1, 1, 1]})
    records = md.read_records(frame, md.Schema())
    assert risk_strata(records, ["age", "gender"], []).tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 1, 1]
    assert risk_strata(records, ["age"], ["gender"]).tolist() == [1, 1, 1, 2, 2, 2, 2, 2, 2, 2]


def test_partners_differ_and_are_the_nearest() -> None:
    frame = pd.DataFrame({"age": [20, 21, 40, 41, 41], "sex": ["m", "m", "f", "f", "f"]})
    records = md.read_records(frame, md.Schema())
    assert partners(records, ["age", "sex"]).tolist() == [1, 0, 3, 2, 2]
    assert partners(records.select(["sex"]).take(np.array([0, 1])), ["sex"]).tolist() == [-1, -1]


@pytest.mark.parametrize("seed", range(3))
def test_designs_are_those_of_the_stated_programmes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    s, j = 4, 3
    sums, squares = rng.normal(0, 0.2, (s, j)), rng.uniform(0, 0.02, (s, j))
    cost = rng.uniform(1, 10, s)
    fast = substitution_design(sums, squares, np.ones(j), 0.004, cost, (0.01, 0.5))
    model = massc.substitution(sums.tolist(), squares.tolist(), 0.004, cost.tolist(), (0.01, 0.5))
    assert fast.feasible
    assert fast.cost == pytest.approx(_solved(model), rel=1e-4)
    other = subsampling_design(squares, np.ones(j), 0.004, cost, (0.5, 0.99))
    model = massc.subsampling(squares.tolist(), 0.004, cost.tolist(), (0.5, 0.99))
    assert other.feasible
    assert other.cost == pytest.approx(_solved(model), rel=1e-4)


def _solved(model: Any) -> float:
    answer = solve_model(model, "scip_direct")
    assert answer.objective is not None
    return answer.objective


def test_the_released_file() -> None:
    frame = people()
    masked = md.mask(frame, SCHEMA, METHOD, seed=11)
    out = masked.frame
    facts = masked.steps[0].facts
    assert 300 < len(out) < 600
    assert masked.verify().holds
    for sex in ("f", "m"):
        one, two = frame[frame["sex"] == sex], out[out["sex"] == sex]
        assert (one["w"] * one["income"]).sum() == pytest.approx((two["w"] * two["income"]).sum(), rel=1e-7)
        assert one["w"].sum() == pytest.approx(two["w"].sum(), rel=1e-7)
    assert facts["largest relative root mean squared error"] <= facts["bound on it"]
    # only core and noncore columns are substituted
    np.testing.assert_array_equal(out["income"], frame["income"].to_numpy()[masked.links])
    moved = (out[["age", "sex", "region"]].to_numpy() != frame[["age", "sex", "region"]].to_numpy()[masked.links]).any(
        axis=1
    )
    assert 0 < moved.sum() <= facts["substituted"]
    risk = md.risk.massc_risk(frame, masked, SCHEMA)
    assert risk.details["at risk after"] < risk.details["at risk before"]


def test_a_wrong_weight_breaks_the_claim() -> None:
    masked = md.mask(people(), SCHEMA, METHOD, seed=11)
    weights = masked.records.numbers("w")
    weights[0] *= 1.001
    assert not check_claims(masked.claims, masked.records.with_numbers("w", weights), {}).holds


def test_same_seed_same_file_and_nothing_changes() -> None:
    frame = people()
    copy = frame.copy()
    one, two, three = (md.mask(frame, SCHEMA, METHOD, seed=s).frame for s in (1, 1, 2))
    pd.testing.assert_frame_equal(one, two)
    pd.testing.assert_frame_equal(frame, copy)
    assert len(one) != len(three) or not one.equals(three)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame(kind: str) -> None:
    frame = people(80)
    frame.loc[3, "sex"] = None
    masked = md.mask(KINDS[kind](frame), SCHEMA, METHOD, seed=5)
    assert masked.verify().holds
    assert len(as_pandas(masked.frame)) == len(masked.records)


def test_raking_says_when_no_weights_exist() -> None:
    assert rake(np.ones(2), np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([2.0, 1.0])) is None
    assert rake(np.ones(2), np.array([[1.0], [1.0]]), np.array([-1.0])) is None


def test_one_error_for_all_that_is_wrong() -> None:
    with pytest.raises(md.InputError, match=r"(?s)bias must be above 0.*highest must be at most 0.5"):
        md.MASSC(["a"], bias=0, highest=0.7)
    with pytest.raises(md.InputError, match="both core and noncore"):
        md.MASSC(["a"], ["a"])


def test_measures_use_the_weights_that_the_method_adds() -> None:
    frame, schema = people().drop(columns="w"), md.Schema(keys=["age", "sex", "region"])
    masked = md.mask(frame, schema, METHOD, seed=2)
    found = md.utility.domain_estimates(frame, masked, schema, columns=["income"], by=["sex"])
    assert masked.verify().holds
    assert found.value == pytest.approx(0, abs=1e-7)
