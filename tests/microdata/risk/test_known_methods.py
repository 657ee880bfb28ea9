"""What measures say of an intruder who knows the method, beside brute force over all records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tabprotect.microdata as md
from tabprotect.microdata.risk.knowledge import ConsecutiveGroups, Knowledge, RankDraw, RankWindow, ValueWindow
from tabprotect.microdata.risk.known_intervals import possible_values
from tabprotect.microdata.risk.known_noise import AddedNoise, MultipliedNoise
from tests.quick import first


@pytest.mark.parametrize(
    "known",
    [
        ConsecutiveGroups(), RankWindow(10), RankDraw(8), ValueWindow(5), AddedNoise(0.3), AddedNoise(0.3, shrunk=True),
        MultipliedNoise(0.1), MultipliedNoise(0.1, most=0.4),
    ],
    ids=repr,
)  # fmt: skip
def test_the_possible_values_are_those_whose_limits_hold_the_masked_one(known: Knowledge) -> None:
    masked = np.random.default_rng(2).lognormal(3, 0.5, 40).round(1)
    column = np.sort(masked)
    low, high = possible_values(known, masked)
    grid = column if getattr(known, "same_values", False) else np.linspace(column[0] - 40, column[-1] + 40, 4001)
    least, most = known.limits(grid, column)
    for y, start, end in zip(masked, low, high, strict=True):
        possible = (least <= y) & (y <= most)
        inside = (grid >= start) & (grid <= end)
        # the two may differ by rounding at the ends only
        assert (possible != inside).sum() <= 2
        assert possible.any()


def test_intervals_that_certain_methods_leave_hold_the_truth() -> None:
    rng = np.random.default_rng(4)
    for seed in range(12):
        n = int(rng.integers(20, 80))
        people = pd.DataFrame(
            {"x": rng.lognormal(3, 1, n).round(int(rng.integers(0, 3))), "s": rng.choice(["a", "b"], n)}
        )
        schema = md.Schema(confidential=["x"], strata=["s"] if seed % 2 else [])
        for step in (
            md.Microaggregation("x", k=3, method="individual-optimal"),
            md.RankSwapping("x", p=10),
            md.RankSwapping("x", p=10, by="range"),
            md.Noise("x", kind="multiplicative", least=0.05, most=0.2),
        ):
            masked = md.mask(people, schema, step, seed=seed)
            attack = md.risk.interval_disclosure(people, masked, width=0.2, kind="sd").details["with the method"]
            assert attack["contained"] == {"x": 1.0}, (seed, step)


@pytest.mark.parametrize("kind", ["rank", "sd", "robust"])
def test_a_value_is_disclosed_by_the_method_if_its_interval_is_narrow(kind: str) -> None:
    people = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 50.0, 90.0]})
    masked = md.mask(people, md.Schema(confidential=["x"]), md.RankSwapping("x", p=13), seed=3)
    # one rank to either side: the true value is between the two neighbours of the masked one
    y = masked.frame["x"].to_numpy()
    column = np.sort(y)
    place = np.searchsorted(column, y)
    low, high = column[np.maximum(place - 1, 0)], column[np.minimum(place + 1, 7)]
    x = people["x"].to_numpy()
    if kind == "rank":
        narrow = np.minimum(place + 1, 7) - np.maximum(place - 1, 0) <= 2 * np.floor(0.2 * 8)
    elif kind == "sd":
        narrow = high - low <= 2 * 0.2 * x.std(ddof=1)
    else:
        centre = np.median(x)
        mad = 1.4826 * np.median(np.abs(x - centre))
        narrow = high - low <= 2 * 0.2 * np.maximum(mad, np.abs(y - centre) / 3)
    found = md.risk.interval_disclosure(people, masked, width=0.2, kind=kind)
    attack = found.details["with the method"]
    assert attack["known"] == {"x": "RankWindow(percent=13)"}
    assert attack["contained"] == {"x": 1.0}
    assert attack["value"] == pytest.approx(narrow.mean())
    # an interval is as narrow as asked about for wide questions, and never for very small ones
    wide, small = (
        md.risk.interval_disclosure(people, masked, width=width, kind=kind).details["with the method"]["value"]
        for width in (1e6, 1e-6)
    )
    assert (wide, small) == (1.0, 0.0)


def test_a_step_without_known_attack_is_named() -> None:
    people = pd.DataFrame({"x": np.random.default_rng(0).lognormal(size=30)})
    masked = md.mask(people, md.Schema(confidential=["x"]), md.Noise("x", kind="romm"), seed=1)
    attack = md.risk.interval_disclosure(people, masked).details["with the method"]
    assert "value" not in attack
    assert "no attack is known" in attack["unknown"][0]
    untouched = md.mask(people.assign(z=1.0), md.Schema(confidential=["x"]), md.Noise("z"), seed=1)
    assert "with the method" not in md.risk.interval_disclosure(people.assign(z=1.0), untouched).details


def likely(people: pd.DataFrame, masked: md.Masked, keys: list[str], matrices: dict[str, list[np.ndarray]]) -> float:
    """Compare all pairs one by one; matrices by key and stratum, over the words in order of appearance."""
    words = {key: list(dict.fromkeys(v for v in people[key] if pd.notna(v))) for key in keys}
    strata = list(dict.fromkeys(people["s"]))
    released = masked.frame.reset_index(drop=True)
    total = 0.0
    for i in range(len(people)):
        scores = []
        for j in range(len(released)):
            p = float(people["s"][i] == released["s"][j])
            for key in keys:
                a, b = people[key][i], released[key][j]
                if pd.isna(a) or pd.isna(b):
                    continue
                if key in matrices:
                    p *= matrices[key][strata.index(people["s"][i])][words[key].index(a), words[key].index(b)]
                else:
                    p *= float(a == b)
            scores.append(p)
        best = max(scores)
        own = np.flatnonzero(masked.links == i)
        if best > 0 and len(own) and scores[own[0]] >= best * (1 - 1e-9):
            total += 1 / sum(score >= best * (1 - 1e-9) for score in scores)
    return total / len(people)


@pytest.mark.parametrize("seed", first(2, range(6)))
def test_linkage_by_known_matrices_is_that_of_all_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 40
    people = pd.DataFrame(
        {"sex": rng.choice(["m", "f"], n), "age": rng.choice(list("abcde"), n), "job": rng.choice(list("xyz"), n)}
    ).assign(s=rng.choice(["north", "south"], n))
    people.loc[rng.random(n) < 0.1, "job"] = None
    schema = md.Schema(keys=["sex", "age", "job"], strata=["s"])
    steps: list[md.Method] = [md.PRAM(["sex", "age"], floor=0.6)]
    if seed % 2:
        steps.append(md.LocalSuppression(k=2))
    masked = md.mask(people, schema, steps, seed=seed)
    matrices = {}
    for key in ("sex", "age"):
        facts = masked.steps[0].facts[key]
        words = list(dict.fromkeys(people[key]))
        order = [facts["values"].index(word) for word in words]
        matrices[key] = [np.array(one)[np.ix_(order, order)] for one in facts["matrices"]]
    attack = md.risk.probabilistic_linkage(people, masked).details["with the method"]
    assert attack["value"] == pytest.approx(likely(people, masked, ["sex", "age", "job"], matrices))
    assert set(attack["known"]) == {"sex", "age"}
    assert attack["unknown"] == []


def test_a_known_permutation_hides_nothing() -> None:
    people = pd.DataFrame({"age": list("abcdef")})
    turned = np.roll(np.eye(6), 1, axis=1).tolist()
    step = md.PRAM("age", kind="given", matrix=turned, categories=list("abcdef"))
    found = md.risk.probabilistic_linkage(people, md.mask(people, md.Schema(keys=["age"]), step, seed=1))
    assert found.value == 0.0
    assert found.details["with the method"]["value"] == 1.0


def test_keys_of_other_methods_are_not_used_and_named() -> None:
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"sex": rng.choice(["m", "f"], 30), "age": rng.choice(list("abcde"), 30)})
    schema = md.Schema(keys=["sex", "age"])
    masked = md.mask(people, schema, [md.PRAM("sex"), md.RandomResponse("age", truth=0.5)], seed=1)
    attack = md.risk.probabilistic_linkage(people, masked).details["with the method"]
    assert attack["keys"] == ["sex"]
    assert attack["unknown"][0].startswith("age: no linkage is known here that uses the parameters of random-response")
    plain = md.mask(people, schema, md.RandomResponse("age", truth=0.5), seed=1)
    assert "with the method" not in md.risk.probabilistic_linkage(people, plain).details


def test_assignment_answers_for_an_intruder_with_the_method_too() -> None:
    people = pd.DataFrame(np.random.default_rng(3).lognormal(size=(60, 3)), columns=list("abc"))
    masked = md.mask(people, None, md.RankSwapping(list("abc"), p=10), seed=1)
    found = md.risk.assignment_linkage(people, masked)
    whole = md.risk.transparency(people, masked, columns=list("abc"))
    assert found.details["with the method"]["value"] == whole.value
    assert whole.value > 0
