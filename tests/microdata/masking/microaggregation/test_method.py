"""Microaggregation as a method: worked example, claims, missing values, strata, weights, categories, bad input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tabprotect.errors import InputError
from tabprotect.microdata.claims import check_claims
from tabprotect.microdata.folder import verify_masked
from tabprotect.table.hierarchy import Hierarchy
from tests.microdata.frames import KINDS, as_pandas

PATIENTS = pd.DataFrame(
    {
        "disease": ["h", "o", "c", "o", "h", "s", "s", "o", "c", "o", "s"],
        "chol": [260, 170, 200, 280, 190, 185, 200, 290, 170, 300, 200],
    }
)
"""Figure 2 of the survey, in the order of its rows."""


def numbers(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"a": rng.normal(size=n), "b": rng.integers(0, 9, n), "c": rng.exponential(size=n)})


def test_figure_11_of_the_survey() -> None:
    masked = md.mask(PATIENTS, None, md.Microaggregation("chol", k=2, method="given", by="disease"))
    assert masked.frame["chol"].tolist() == [225, 260, 185, 260, 225, 195, 195, 260, 185, 260, 195]
    assert masked.verify()
    assert masked.steps[0].facts["smallest group"] == 2
    assert masked.steps[0].facts["largest group"] == 4


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"method": "v-mdav", "gamma": 1.1},
        {"method": "ward"},
        {"method": "ward", "order": "z-scores"},
        {"method": "single-axis"},
        {"method": "single-axis", "order": "variable", "by": "c"},
        {"method": "mhm", "improve": True, "trials": 5},
        {"method": "genetic", "population": 8, "generations": 5},
        {"method": "individual"},
        {"method": "individual-optimal"},
        {"aggregate": "median"},
        {"aggregate": {"b": "mode"}},
        {"standardise": False},
    ],
    ids=str,
)
def test_every_claim_holds_and_the_same_seed_gives_the_same(words: dict[str, Any]) -> None:
    frame = numbers(60)
    kept = frame.copy()
    method = md.Microaggregation(["a", "b", "c"], k=4, **words)
    masked = md.mask(frame, None, method, seed=5)
    assert masked.verify(), masked.verify().summary()
    pd.testing.assert_frame_equal(frame, kept)
    pd.testing.assert_frame_equal(masked.frame, md.mask(frame, None, method, seed=5).frame)
    facts = masked.steps[0].facts
    assert 4 <= facts["smallest group"] <= facts["largest group"] <= 7
    assert 0 <= facts["bound"] <= facts["sse"] <= facts["sst"]
    kinds = [claim.kind for claim in masked.claims]
    assert "aggregated-groups" in kinds
    assert ("same-sums" in kinds) == (words.get("aggregate") != "median")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame(kind: str) -> None:
    masked = md.mask(KINDS[kind](numbers(30)), None, md.Microaggregation(["a", "b"]))
    assert masked.verify()
    wanted = md.mask(numbers(30), None, md.Microaggregation(["a", "b"])).frame
    np.testing.assert_allclose(as_pandas(masked.frame)["b"].astype(float), wanted["b"].astype(float))


def test_exact_is_proven_and_no_worse() -> None:
    frame = numbers(12)
    exact = md.mask(frame, None, md.Microaggregation(["a", "c"], k=3, method="exact"), seed=1).steps[0].facts
    mdav = md.mask(frame, None, md.Microaggregation(["a", "c"], k=3)).steps[0].facts
    assert exact["gap"] <= 1e-6
    assert exact["sse"] <= mdav["sse"]


def test_groups_stay_within_strata_and_sums_too() -> None:
    frame = numbers(40).assign(s=["x", "y"] * 20)
    masked = md.mask(frame, md.Schema(strata=["s"]), md.Microaggregation(["a", "c"]))
    assert masked.verify()
    assert len(set(masked.frame.loc[frame.s == "x", "a"]) & set(masked.frame.loc[frame.s == "y", "a"])) == 0
    np.testing.assert_allclose(masked.frame.groupby("s")["a"].sum(), frame.groupby("s")["a"].sum())


def test_weighted_sums_stay() -> None:
    frame = numbers(40).assign(w=np.arange(1.0, 41.0))
    masked = md.mask(frame, md.Schema(weight="w"), md.Microaggregation(["a", "c"]))
    assert masked.verify()
    assert (masked.frame.a * frame.w).sum() == pytest.approx((frame.a * frame.w).sum())
    assert masked.frame.a.sum() != pytest.approx(frame.a.sum(), rel=1e-6)


def test_records_that_lack_the_same_values_share_groups() -> None:
    frame = numbers(40)
    frame.loc[:9, "a"] = np.nan
    frame.loc[38:, ["a", "b", "c"]] = np.nan
    masked = md.mask(frame, None, md.Microaggregation(["a", "b", "c"]))
    assert masked.verify(), masked.verify().summary()
    assert masked.frame.isna().to_numpy().tolist() == frame.isna().to_numpy().tolist()
    own = masked.frame.loc[:9, ["b", "c"]].drop_duplicates()
    assert len(own) == 3
    assert not own["c"].isin(masked.frame.loc[10:, "c"]).any()
    with pytest.raises(InputError, match=r"1 parts have fewer than k=11 records.*too_small='missing'"):
        md.mask(frame, None, md.Microaggregation(["a", "b", "c"], k=11))
    blanked = md.mask(frame, None, md.Microaggregation(["a", "b", "c"], k=11, too_small="missing"))
    assert blanked.verify()
    assert blanked.frame.loc[:9, ["b", "c"]].isna().all(axis=None)
    assert "20 values are blanked" in blanked.notes[0]
    assert "same-sums" not in [claim.kind for claim in blanked.claims]


def test_individual_ranking_leaves_missing_values_alone() -> None:
    frame = numbers(20)
    frame.loc[0, "a"] = np.nan
    masked = md.mask(frame, None, md.Microaggregation(["a", "c"], method="individual"))
    assert masked.verify()
    assert masked.frame["a"].isna().sum() == 1
    assert sorted(np.unique(masked.frame["c"], return_counts=True)[1]) == [3, 3, 3, 3, 3, 5]


def categorical(n: int = 60) -> tuple[pd.DataFrame, md.Schema]:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "size": rng.choice(["small", "middle", "large"], n),
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(["n1", "n2", "s1", "s2"], n),
            "income": rng.normal(size=n),
        }
    )
    tree = Hierarchy((("all", ("n", "s")), ("n", ("n1", "n2")), ("s", ("s1", "s2"))))
    return frame, md.Schema(orders={"size": ["small", "middle", "large"]}, hierarchies={"region": tree})


@pytest.mark.parametrize("method", ["mdav", "ward", "mhm"])
def test_categories_get_medians_and_modes(method: str) -> None:
    frame, schema = categorical()
    masked = md.mask(frame, schema, md.Microaggregation(["size", "sex", "region", "income"], method=method))
    assert masked.verify(), masked.verify().summary()
    for name in ("size", "sex", "region"):
        assert set(masked.frame[name]) <= set(frame[name])


def test_value_trees_measure_the_path_between_values() -> None:
    from tabprotect.microdata.masking.microaggregation.space import make_space
    from tabprotect.microdata.records import read_records

    frame, schema = categorical()
    points = make_space(read_records(frame, schema), ["region"], False).points
    at = {value: points[int(np.flatnonzero(frame.region == value)[0])] for value in ("n1", "n2", "s1")}
    assert ((at["n1"] - at["n2"]) ** 2).sum() == pytest.approx(0.5)
    assert ((at["n1"] - at["s1"]) ** 2).sum() == pytest.approx(1.0)


def test_an_ordered_median_is_the_lower_one() -> None:
    frame = pd.DataFrame({"grade": ["a", "a", "b", "c"]})
    schema = md.Schema(orders={"grade": ["a", "b", "c"]})
    masked = md.mask(frame, schema, md.Microaggregation("grade", k=4))
    assert masked.frame["grade"].tolist() == ["a"] * 4


def broken(claim: Any, **changes: Any) -> Any:
    return replace(claim, parameters={**claim.parameters, **changes})


def test_checkers_find_what_is_wrong() -> None:
    frame = numbers(12).assign(s=["x", "y"] * 6)
    masked = md.mask(frame, None, md.Microaggregation(["a", "c"]))
    groups, shared, sums = masked.claims
    other = masked.records.with_numbers("a", np.roll(masked.records.numbers("a"), 1))
    moved = masked.records.with_numbers("a", masked.records.numbers("a") + 0.001)
    blank = masked.records.with_missing("a", np.arange(12) == 3)
    names = str(groups.parameters["group"]).split()

    def why(claim: Any, records: Any = masked.records) -> str:
        return check_claims((claim,), records, masked.before).checks[0].why

    assert not why(groups)
    assert "another mean" in why(groups, moved)
    assert "differ" in why(groups, other) or "another mean" in why(groups, other)
    assert "missing in other records" in why(groups, blank)
    assert "not 4 to 5" in why(broken(groups, least=4))
    assert "not 3 to 2" in why(broken(groups, most=2))
    assert "11 records have a group" in why(broken(groups, group=" ".join(names[1:])))
    assert "off by" in why(sums, moved)
    assert "fewer than 9 records" in why(broken(shared, k=9))
    before = {0: masked.original}
    strata = replace(broken(groups, strata=["s"]), before=("a", "c", "s"))
    assert "several strata" in check_claims((strata,), masked.records, before).checks[0].why
    median = broken(groups, columns={"a": "median", "c": "mean"})
    assert "no median" in why(median, moved)
    mode = broken(groups, columns={"a": "mode", "c": "mean"})
    assert "most frequent" in why(mode, moved)


def test_a_release_verifies_from_its_files(tmp_path: Path) -> None:
    frame = numbers(30).assign(s=["x", "y"] * 15)
    schema = md.Schema(strata=["s"])
    steps = [md.Microaggregation(["a", "c"], method="individual-optimal"), md.Microaggregation("b", aggregate="median")]
    md.mask(frame, schema, steps).write(tmp_path / "out")
    assert verify_masked(tmp_path / "out")


def test_limits_of_an_earlier_step_survive_averages() -> None:
    steps = [md.TopCoding("c", threshold=1.0), md.Microaggregation(["a", "c"])]
    masked = md.mask(numbers(30), None, steps)
    assert "at-most" in [claim.kind for claim in masked.claims]
    assert masked.verify()


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from(["mdav", "v-mdav", "ward", "mhm", "individual", "individual-optimal"]))
def test_claims_hold_of_any_data(seed: int, method: str) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(12, 50)), int(rng.integers(2, 5))
    frame = pd.DataFrame(
        {"a": rng.integers(0, 4, n).astype(float), "b": rng.lognormal(0, 3, n), "w": rng.random(n) + 0.1}
    )
    frame["s"] = rng.choice(["x", "y"], n)
    frame.loc[rng.random(n) < 0.2, "a"] = np.nan
    schema = md.Schema(weight="w" if seed % 2 else None, strata=["s"] if seed % 3 else [])
    masked = md.mask(frame, schema, md.Microaggregation(["a", "b"], k=k, method=method, too_small="missing"), seed=seed)
    assert masked.verify(), masked.verify().summary()


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: md.Microaggregation("a", k=1), "at least 2"),
        (lambda: md.Microaggregation("a", method="mdva"), "did you mean 'mdav'"),
        (lambda: md.Microaggregation("a", gamma=0.5), "gamma is for v-mdav, not for method='mdav'"),
        (lambda: md.Microaggregation("a", method="exact", trials=3), "trials is for"),
        (lambda: md.Microaggregation("a", method="given"), "by names the column"),
        (lambda: md.Microaggregation("a", method="mhm", order="pca"), "there are 'principal-component'"),
        (lambda: md.Microaggregation("a", aggregate="men"), "did you mean 'mean'"),
        (lambda: md.Microaggregation("a", aggregate={"b": "mean"}), "'b', which is no column of it"),
        (lambda: md.Microaggregation("a", improve="yes"), "true or false"),  # type: ignore[arg-type]
        (lambda: run("a", k=31), "fewer than k=31 records"),
        (lambda: run("s", method="individual"), "needs an order"),
        (lambda: run("s", aggregate="mean"), "has no mean"),
        (lambda: run("a", method="given", by="x"), "no column 'x'"),
        (lambda: run("a", method="mhm", order="variable", by="s"), "gives no order"),
        (lambda: run("s", schema=md.Schema(strata=["s"])), "is a stratum"),
        (lambda: run("c", schema=md.Schema(weight="c")), "is the weight"),
        (
            lambda: run("s", schema=md.Schema(hierarchies={"s": Hierarchy((("all", ("x", "z")),))})),
            "'y', not in its hierarchy",
        ),
    ],
)
def test_bad_input_gives_one_clear_error(make: Callable[[], Any], part: str) -> None:
    with pytest.raises(InputError, match=part):
        make()


def run(column: str, schema: md.Schema | None = None, **words: Any) -> Any:
    frame = numbers(30).assign(s=["x", "y"] * 15)
    return md.mask(frame, schema, md.Microaggregation(column, **words))


def test_ward_refuses_more_records_than_its_matrix_holds() -> None:
    with pytest.raises(InputError, match="up to 6,000 records"):
        md.mask(numbers(6001), None, md.Microaggregation("a", method="ward"))
