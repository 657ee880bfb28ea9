"""Arguments of another kind altogether: one error that names the argument, never a traceback from within."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
import tabprotect.microdata as md
from tests.wrong_kinds import arguments, check, named

N = 16
RECORDS = pd.DataFrame(
    {
        "region": ["n1", "n2", "s1", "s2"] * 4,
        "sex": list("ffmm") * 4,
        "size": ["small", "large"] * 8,
        "pay": np.arange(N) ** 1.5 + 1,
        "debt": (np.arange(N) * 7) % N + 2.5,
        "age": (np.arange(N) * 5) % N + 20,
        "w": np.arange(N) % 3 + 1.0,
        "hid": np.arange(N) // 2,
    }
)
TREE = tp.Hierarchy({"all": ["n", "s"], "n": ["n1", "n2"], "s": ["s1", "s2"]})
SCHEMA = md.Schema(
    keys=["region", "sex"], confidential=["pay"], weight="w", household="hid", hierarchies={"region": TREE}
)
LADDERS = {"age": md.Intervals(widths=(5, 10))}
NUMBERS = {"columns": ["pay", "debt"]}
WORDS = {"columns": ["sex"]}

METHODS = [
    (md.IPSO, {"columns": ["pay"], "given": ["debt"]}),
    (md.MASSC, {"core": ["region"], "noncore": ["sex"], "outcomes": ["pay"], "bias": 0.9, "variance": 0.9}),
    (md.PRAM, WORDS),
    (md.BlankAndImpute, {**NUMBERS, "rate": 0.2}),
    (md.Bootstrap, {**NUMBERS, "samples": 3}),
    (md.BottomCoding, {"columns": "pay", "threshold": 5}),
    (md.TopCoding, {"columns": "pay", "threshold": 5}),
    (md.Cholesky, NUMBERS),
    (md.FuzzyMicroaggregation, {**NUMBERS, "iterations": 3}),
    (md.Generalisation, {"k": 2, "keys": ["region"]}),
    (md.GlobalRecoding, {"columns": ["age"], "width": 5}),
    (md.HouseholdNumbers, {}),
    (md.HybridMasking, NUMBERS),
    (md.LatinHypercube, {**NUMBERS, "rounds": 2}),
    (md.LocalSuppression, {"k": 2}),
    (md.LossyCompression, NUMBERS),
    (md.MaximumEntropy, {"columns": ["sex", "size"], "margins": [["sex", "size"]]}),
    (md.Microaggregation, NUMBERS),
    (md.Mondrian, {"k": 2}),
    (md.MultipleImputation, {"columns": ["pay"], "background": ["debt"], "replicates": 1}),
    (md.Noise, NUMBERS),
    (md.PartiallySynthetic, {"columns": ["pay"]}),
    (md.RandomResponse, WORDS),
    (md.RankSwapping, NUMBERS),
    (md.RecordSwapping, {"geography": ["region"], "risk": ["sex"], "k": 2}),
    (md.Resampling, NUMBERS),
    (md.Rounding, {"columns": ["pay"], "base": 5.0}),
    (md.SMIKe, {"columns": ["sex"], "near": ["size"], "threshold": 1, "mixing": 1}),
    (md.Sampling, {"share": 0.5}),
    (md.SequentialTrees, NUMBERS),
    (md.Swapping, WORDS),
    (md.WeightNoise, {}),
]


@pytest.mark.parametrize(("method", "given", "name"), arguments(METHODS), ids=named)
def test_options_of_methods(method, given, name):
    def call(wrong: Any) -> None:
        md.mask(RECORDS, SCHEMA, method(**{**given, name: wrong}), seed=1)

    check(call)


MASKED = md.mask(RECORDS, SCHEMA, md.Noise("pay"), seed=1)
CHANGED = MASKED.records.frame.to_native()
BOTH = {"original": RECORDS, "masked": CHANGED, "schema": SCHEMA}
ONE = {"original": RECORDS, "schema": SCHEMA}
PLAIN = md.Schema(keys=["region", "sex"], confidential=["pay"])

FUNCTIONS = [
    (md.Schema, {"keys": ["sex"]}),
    (md.Closeness, {"column": "pay", "t": 0.5}),
    (md.Diversity, {"column": "sex", "l": 2}),
    (md.Intervals, {}),
    (md.Prefixes, {}),
    (md.Steps, {"rows": {"a": ("b",)}}),
    (md.Tree, {"hierarchy": TREE}),
    (md.Large, {}),
    (md.mask, {"data": RECORDS, "schema": SCHEMA, "methods": md.Noise("pay"), "seed": 1}),
    (md.read_records, {"data": RECORDS, "schema": SCHEMA}),
    (md.make_method, {"name": "noise", "parameters": {"columns": "pay"}}),
    (md.key_frequencies, {"data": RECORDS, "schema": SCHEMA}),
    (md.unsafe_combinations, {"data": RECORDS, "schema": SCHEMA}),
    (md.regional_indicators, {"data": RECORDS, "area": "region", "indicators": ["sex"]}),
    (md.combine_fully_synthetic, {"estimates": [1.0, 2.0], "variances": [0.5, 0.5]}),
    (md.combine_partially_synthetic, {"estimates": [1.0, 2.0], "variances": [0.5, 0.5]}),
    (md.pram_estimate, {"counts": [5, 5], "matrix": [[0.9, 0.1], [0.1, 0.9]]}),
    (md.random_response_estimate, {"shares": {"f": 0.5, "m": 0.5}, "method": md.RandomResponse("sex")}),
    (md.choosing.compare_masks, {"data": RECORDS, "schema": PLAIN, "candidates": {"a": md.Noise("pay")}, "seed": 1}),
    (md.choosing.disclosure_report, {"masked": MASKED}),
    (md.choosing.expand_grid, {"given": {"method": "noise", "columns": "pay", "alpha": [0.1, 0.2]}}),
    (md.choosing.score, BOTH),
    (md.risk.AddedNoise, {"deviation": 1.0}),
    (md.risk.FuzzyDraw, {"m2": 2.0}),
    (md.risk.MultipliedNoise, {"alpha": 0.1}),
    (md.risk.RankDraw, {"percent": 5}),
    (md.risk.RankWindow, {"percent": 5}),
    (md.risk.ValueWindow, {"percent": 5}),
    (md.risk.transparency, {**BOTH, "columns": ["pay"], "knowledge": md.risk.AddedNoise(1.0)}),
    (md.risk.assignment_linkage, {**BOTH, "columns": ["pay"]}),
    (md.risk.attribute_disclosure, {**BOTH, "column": "pay"}),
    (md.risk.cluster_linkage, {**BOTH, "columns": ["pay"], "clusters": 2}),
    (md.risk.data_intrusion_simulation, {**ONE, "fraction": 0.5}),
    (md.risk.deterministic_linkage, {**BOTH, "columns": ["sex"]}),
    (md.risk.dirichlet_multinomial_uniques, ONE),
    (md.risk.distance_linkage, {**BOTH, "columns": ["pay"]}),
    (md.risk.global_risk, {**BOTH, "keys": ["sex"]}),
    (md.risk.household_risk, ONE),
    (md.risk.individual_risk, ONE),
    (md.risk.interval_disclosure, {**BOTH, "columns": ["pay"]}),
    (md.risk.k_anonymity, ONE),
    (md.risk.l_diversity, {**ONE, "column": "pay"}),
    (md.risk.learned_linkage, {**BOTH, "columns": ["pay"], "rounds": 1}),
    (md.risk.log_linear_risk, ONE),
    (md.risk.massc_risk, BOTH),
    (md.risk.pitman_uniques, ONE),
    (md.risk.poisson_gamma_uniques, ONE),
    (md.risk.population_uniqueness, ONE),
    (md.risk.probabilistic_linkage, BOTH),
    (md.risk.rank_linkage, {**BOTH, "columns": ["pay"]}),
    (md.risk.sample_uniqueness, ONE),
    (md.risk.suda, ONE),
    (md.risk.t_closeness, {**ONE, "column": "pay"}),
    (md.risk.unsafe_combinations, ONE),
    (md.risk.zayatz_uniques, ONE),
    (md.utility.categorical_loss, {**BOTH, "columns": ["sex"]}),
    (md.utility.contingency_loss, {**BOTH, "columns": ["sex"]}),
    (md.utility.domain_estimates, {**BOTH, "columns": ["pay"], "by": ["sex"]}),
    (md.utility.entropy_loss, {**BOTH, "columns": ["sex"]}),
    (md.utility.numeric_loss, {**BOTH, "columns": ["pay", "debt"]}),
    (md.utility.probabilistic_loss, {**BOTH, "columns": ["pay"]}),
    (md.utility.propensity, {**BOTH, "columns": ["pay"]}),
    (md.utility.regression_fit, {**BOTH, "target": "pay", "on": ["debt"]}),
]


@pytest.mark.parametrize(("function", "given", "name"), arguments(FUNCTIONS), ids=named)
def test_arguments_of_functions(function, given, name):
    check(lambda wrong: function(**{**given, name: wrong}))
