"""Calls of the public names for microdata, with data that must stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tabprotect.microdata as md
from tabprotect.microdata import choosing, risk, utility
from tests.microdata.people import SIZES, TREE, people
from tests.project.given import Given

__all__ = ["ARRAYS", "FRAMES", "NO_DATA"]

Call = Callable[[Given, Callable[[pd.DataFrame], Any], Path], object]


def records() -> pd.DataFrame:
    """Return records without missing values, which some methods refuse."""
    return people().fillna({"pay": 900.0}).drop(columns="day").rename(columns={"w": "weight"})


def schema(**changed: Any) -> md.Schema:
    """Return a schema made of things that a caller can change."""
    given: dict[str, Any] = {
        "keys": ["region", "sex", "age"],
        "confidential": ["pay"],
        "weight": "weight",
        "hierarchies": {"region": TREE},
        "orders": {"size": list(SIZES)},
    }
    return md.Schema(**{**given, **changed})


METHODS: dict[str, Callable[[], md.Method]] = {
    "BlankAndImpute": lambda: md.BlankAndImpute(["pay"], rate=0.2, by={"pay": ["sex"]}),
    "Bootstrap": lambda: md.Bootstrap(["pay", "debt"]),
    "BottomCoding": lambda: md.BottomCoding(["debt"], threshold=50),
    "Cholesky": lambda: md.Cholesky(["pay", "debt"]),
    "FuzzyMicroaggregation": lambda: md.FuzzyMicroaggregation(["pay", "debt"]),
    "Generalisation": lambda: md.Generalisation(
        k=2, keys=["region", "age"], ladders={"age": md.Intervals([20, 40])}, suppression=0.9
    ),
    "GlobalRecoding": lambda: md.GlobalRecoding(["sex"], mapping={"f": "x", "m": "x"}),
    "HouseholdNumbers": md.HouseholdNumbers,
    "HybridMasking": lambda: md.HybridMasking(["pay", "debt"]),
    "IPSO": lambda: md.IPSO(["pay"], given=["debt"]),
    "LatinHypercube": lambda: md.LatinHypercube(["pay", "debt"]),
    "LocalSuppression": lambda: md.LocalSuppression(k=2, importance={"region": 3.0}),
    "LossyCompression": lambda: md.LossyCompression(["pay", "debt"]),
    "MASSC": lambda: md.MASSC(core=["region", "sex"], outcomes=["pay"], bias=0.9, variance=0.9),
    "MaximumEntropy": lambda: md.MaximumEntropy(["sex", "size"], margins=[["sex", "size"]]),
    "Microaggregation": lambda: md.Microaggregation(["pay", "debt"]),
    "Mondrian": lambda: md.Mondrian(k=2, constraints=[md.Diversity("pay", 2)]),
    "MultipleImputation": lambda: md.MultipleImputation(
        ["pay"], background=["sex", "age"], population=records()[["sex", "age"]], replicates=1
    ),
    "Noise": lambda: md.Noise(["pay", "debt"]),
    "PRAM": lambda: md.PRAM(["sex"], kind="given", matrix=[[0.9, 0.1], [0.2, 0.8]], categories=["f", "m"]),
    "PartiallySynthetic": lambda: md.PartiallySynthetic(["sex"], where={"region": ["n1"]}),
    "RandomResponse": lambda: md.RandomResponse(["sex"]),
    "RankSwapping": lambda: md.RankSwapping(["pay", "size"]),
    "RecordSwapping": lambda: md.RecordSwapping(["region"], risk=["age"], similar=[["sex"], []], k=2),
    "Resampling": lambda: md.Resampling(["pay"]),
    "Rounding": lambda: md.Rounding(["pay"], points=[100.0, 1000.0, 2000.0]),
    "SMIKe": lambda: md.SMIKe(["region", "sex"], near=["debt"]),
    "Sampling": lambda: md.Sampling(size=20),
    "SequentialTrees": lambda: md.SequentialTrees(["sex", "pay"]),
    "Swapping": lambda: md.Swapping(["debt"], match=["sex"], rate=0.5),
    "TopCoding": lambda: md.TopCoding(["pay"], threshold=1000),
    "WeightNoise": md.WeightNoise,
}
SCHEMAS: dict[str, dict[str, Any]] = {
    "HouseholdNumbers": {"household": "hid"},
    "MASSC": {"confidential": ["pay", "debt"]},
}
"""What a method needs besides the schema of the others."""

MEASURES: dict[str, dict[str, Any]] = {
    "attribute_disclosure": {"column": "pay", "tolerance": 10.0},
    "l_diversity": {"column": "pay"},
    "t_closeness": {"column": "pay"},
    "domain_estimates": {"columns": ["pay"], "by": ["sex"]},
    "regression_fit": {"target": "pay", "on": ["debt", "age"]},
    "transparency": {"knowledge": {"pay": risk.AddedNoise(0.1)}, "columns": ["pay"]},
    "cluster_linkage": {"columns": ["pay"], "masked_columns": ["debt"], "clusters": 2},
    "learned_linkage": {"columns": ["pay", "debt"], "rounds": 1},
    "rank_linkage": {"columns": ["pay", "debt"]},
    "assignment_linkage": {"columns": ["pay", "debt"]},
    "distance_linkage": {"columns": ["pay", "debt"], "weights": {"pay": 1.0, "debt": 2.0}},
    "interval_disclosure": {"columns": ["pay"]},
    "household_risk": {},
    "population_uniqueness": {"population": records()},
    "poisson_gamma_uniques": {"population_size": 400},
    "dirichlet_multinomial_uniques": {"population_size": 400},
    "pitman_uniques": {"population_size": 400},
    "zayatz_uniques": {"population_size": 400},
    "log_linear_risk": {"population_size": 400},
    "propensity": {"columns": ["pay", "debt"]},
    "numeric_loss": {"columns": ["pay"]},
    "probabilistic_loss": {"columns": ["pay"]},
    "categorical_loss": {"columns": ["sex", "region"]},
    "entropy_loss": {"columns": ["sex"]},
    "contingency_loss": {"columns": ["sex", "region"]},
}
"""What a measure is given besides original, masked and schema."""


def _masks(name: str) -> Call:
    def call(given: Given, frames: Callable[[pd.DataFrame], Any], folder: Path) -> None:
        stated = given(schema(**SCHEMAS.get(name, {})))
        method = given(METHODS[name]())
        masked = md.mask(given(frames(records())), stated, given([method]), seed=1)
        masked.write(folder / "release")

    return call


def _measures(package: Any, name: str) -> Call:
    def call(given: Given, frames: Callable[[pd.DataFrame], Any], folder: Path) -> None:
        original, changed = records(), records()
        changed["pay"] += np.arange(len(changed)) % 3
        changed.loc[::7, "sex"] = "f"
        stated = given(schema(household="hid" if name == "household_risk" else None))
        more = {key: given(one) for key, one in MEASURES.get(name, {}).items()}
        getattr(package, name)(given(frames(original)), given(frames(changed)), stated, **more)

    return call


def _mask(given: Given, frames: Any, folder: Path) -> None:
    steps = given([md.Noise(["pay"]), md.PRAM(["sex"])])
    masked = md.mask(given(frames(records())), given(schema()), steps, seed=1)
    given(masked.frame)
    masked.verify()
    masked.summary()
    choosing.disclosure_report(masked)


def _mask_large(given: Given, frames: Any, folder: Path) -> None:
    batches = given(md.Large(batch=7, folder=str(folder)))
    md.mask(given(frames(records())), given(schema()), given([md.TopCoding(["pay"], threshold=1000)]), seed=1,
            large=batches)  # fmt: skip


def _combinations(given: Given, frames: Any, folder: Path) -> None:
    md.unsafe_combinations(
        given(frames(records())), given(schema()), keys=given(["sex", "region"]), threshold=given({1: 2})
    )
    md.key_frequencies(given(frames(records())), given(schema()), keys=given(["sex", "region"]))


def _records(given: Given, frames: Any, folder: Path) -> None:
    read = md.read_records(given(frames(records())), given(schema()))
    given(read.pandas())
    read.numbers("pay")[:] = 0.0
    read.with_numbers("pay", given(np.zeros(len(records()))))


def _regions(given: Given, frames: Any, folder: Path) -> None:
    md.regional_indicators(given(frames(records())), given(schema()), area="region", indicators=given(["sex", "size"]),
                           population=given(dict.fromkeys(TREE.leaves, 5000.0)))  # fmt: skip


def _compare(given: Given, frames: Any, folder: Path) -> None:
    candidates = given({"noise": [md.Noise(["pay"])], "swap": md.RankSwapping(["pay"])})
    choosing.compare_masks(given(frames(records())), given(schema()), candidates, seed=1)


def _score(given: Given, frames: Any, folder: Path) -> None:
    changed = records()
    changed["pay"] += 1.0
    choosing.score(given(frames(records())), given(frames(changed)), given(schema()))


def _estimates(given: Given, frames: Any, folder: Path) -> None:
    md.pram_estimate(given(np.array([60.0, 40.0])), given(np.array([[0.9, 0.1], [0.2, 0.8]])))
    md.random_response_estimate(given({"f": 0.6, "m": 0.4}), given(md.RandomResponse("sex")))
    estimates, variances = given([1.0, 2.0, 1.5]), given([0.1, 0.2, 0.1])
    md.combine_fully_synthetic(estimates, variances)
    md.combine_partially_synthetic(estimates, variances)


def _mappings(given: Given, frames: Any, folder: Path) -> None:
    md.make_method("generalisation", given({"k": 2, "ladders": {"age": {"widths": [10]}}, "suppression": 0.1}))
    choosing.expand_grid(given({"method": "noise", "columns": ["pay"], "grid": {"alpha": [0.1, 0.2]}}))


def _ladders(given: Given, frames: Any, folder: Path) -> None:
    rows = {"n1": ("north",), "n2": ("north",), "s1": ("south",), "s2": ("south",)}
    for ladder in (md.Steps(given(rows)), md.Tree(given(TREE)), md.Prefixes(given([1]))):
        given(ladder)
        method = md.Generalisation(k=2, keys=["region"], ladders=given({"region": ladder}), suppression=0.9)
        md.mask(given(frames(records())), given(md.Schema(keys=["region"])), method, seed=1)


def _massc(given: Given, frames: Any, folder: Path) -> None:
    stated, links = given(schema(confidential=["pay", "debt"])), given(np.arange(40))
    moved, flags = given(frames(records().assign(sex="f"))), given(np.arange(40) % 2 == 0)
    risk.massc_risk(given(frames(records())), moved, stated, links=links, substituted=flags)


HOME = "tabprotect.microdata"
FRAMES: dict[str, Call] = {
    **{f"{HOME}.{name}": _masks(name) for name in METHODS},
    **{
        f"{package.__name__}.{name}": _measures(package, name)
        for package in (risk, utility)
        for name in package.__all__
        if not isinstance(getattr(package, name), type) and name != "massc_risk"
    },
    f"{HOME}.risk.massc_risk": _massc,
    f"{HOME}.mask": _mask,
    f"{HOME}.choosing.disclosure_report": _mask,
    f"{HOME}.Large": _mask_large,
    f"{HOME}.unsafe_combinations": _combinations,
    f"{HOME}.key_frequencies": _combinations,
    f"{HOME}.read_records": _records,
    f"{HOME}.Records": _records,
    f"{HOME}.regional_indicators": _regions,
    f"{HOME}.choosing.compare_masks": _compare,
    f"{HOME}.choosing.score": _score,
    f"{HOME}.Steps": _ladders,
    f"{HOME}.Tree": _ladders,
    f"{HOME}.Prefixes": _ladders,
}
ARRAYS: dict[str, Call] = {
    **{f"{HOME}.{name}": _estimates for name in (
        "pram_estimate", "random_response_estimate", "combine_fully_synthetic", "combine_partially_synthetic",
    )},
    f"{HOME}.make_method": _mappings,
    f"{HOME}.choosing.expand_grid": _mappings,
}  # fmt: skip
_RESULTS = (
    "Check", "Claim", "CombinedEstimate", "KeyFrequencies", "LargeMasked", "LargeUnsafeCombinations", "Masked",
    "RegionalIndicators", "Step", "UnsafeCombinations", "Verification", "choosing.Candidate", "choosing.Comparison",
    "choosing.Score", "risk.TransparencyRisk",
)  # fmt: skip
_PARAMETERS = (
    "Closeness", "Diversity", "Intervals", "Scale", "Schema", "risk.AddedNoise", "risk.ConsecutiveGroups",
    "risk.FuzzyDraw", "risk.MultipliedNoise", "risk.RankDraw", "risk.RankWindow", "risk.ValueWindow",
)  # fmt: skip
NO_DATA = {
    **{f"{HOME}.{name}": "a result: made by calls that are tested here" for name in _RESULTS},
    **{f"{HOME}.{name}": "parameters: given to a call that is tested here" for name in _PARAMETERS},
    **{f"{HOME}.{name}": "what methods and knowledge have in common" for name in ("Method", "risk.Knowledge")},
    **{f"{HOME}.{name}": "lists what is registered" for name in ("methods", "claim_kinds")},
}
