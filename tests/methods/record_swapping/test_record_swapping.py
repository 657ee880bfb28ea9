"""Record swapping: what stays, who moves, and that it is drawn and not chosen."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from tabprotect.errors import InputError
from tabprotect.methods.record_swapping import swap_records

GEOGRAPHY = ["region", "district", "town"]


def people(n=600, seed=0):
    """Households of one to four, in 2 regions, 6 districts, 18 towns."""
    rng = np.random.default_rng(seed)
    rows = []
    for h in range(n):
        town = int(rng.integers(18))
        kind = int(rng.choice(5, p=[0.5, 0.3, 0.15, 0.04, 0.01]))
        size = int(rng.integers(1, 5))
        rows += [(h, town // 9, town // 3, town, kind, rng.integers(2), rng.integers(6)) for _ in range(size)]
    frame = pd.DataFrame(rows, columns=["household", *GEOGRAPHY, "origin", "sex", "age"])
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def swap(data, **options):
    given = {"geography": GEOGRAPHY, "risk": ["origin"], "similar": [["sex"], []], "household": "household", "k": 3}
    given["seed"] = 0
    return swap_records(data, **(given | options))


def table(frame, columns):
    return frame.value_counts(columns).sort_index()


def test_only_places_change_and_households_stay_together():
    data = people()
    result = swap(data, rate=0.1)
    others = [c for c in data if c not in GEOGRAPHY]
    assert result.frame[others].equals(data[others])
    assert result.frame.groupby("household")["town"].nunique().max() == 1
    assert sorted(table(result.frame.drop_duplicates("household"), GEOGRAPHY)) == sorted(
        table(data.drop_duplicates("household"), GEOGRAPHY)
    )
    nested = result.frame.drop_duplicates(GEOGRAPHY)
    assert nested["town"].is_unique


def test_tables_of_likeness_stay_as_they_are():
    data = people()
    result = swap(data, similar=[["sex"]], rate=0.2)
    assert len(result.pairs) > 30
    assert table(result.frame, [*GEOGRAPHY, "sex"]).equals(table(data, [*GEOGRAPHY, "sex"]))
    assert not table(result.frame, ["town", "origin"]).equals(table(data, ["town", "origin"]))


def test_a_pair_exchanges_towns_within_the_area_above():
    data = people()
    result = swap(data)
    before = data.drop_duplicates("household").set_index("household")
    after = result.frame.drop_duplicates("household").set_index("household")
    assert len(result.pairs)
    for first, second, level, _ in result.pairs.itertuples(index=False):
        assert after.loc[first, GEOGRAPHY].tolist() == before.loc[second, GEOGRAPHY].tolist()
        assert after.loc[second, GEOGRAPHY].tolist() == before.loc[first, GEOGRAPHY].tolist()
        assert before.loc[first, level] != before.loc[second, level]
        depth = GEOGRAPHY.index(level)
        if depth:
            above = GEOGRAPHY[depth - 1]
            assert before.loc[first, above] == before.loc[second, above]
    moved = pd.concat([result.pairs["first"], result.pairs["second"]])
    assert moved.is_unique
    still = before.index.difference(moved)
    assert after.loc[still].equals(before.loc[still])


def risky_by_hand(data, k):
    """Households and the largest area in which one of their combinations is in fewer than k households."""
    found = {}
    for level in reversed(GEOGRAPHY):
        for _, group in data.groupby([level, "origin"]):
            if group["household"].nunique() < k:
                found |= dict.fromkeys(group["household"], level)
    return found


@pytest.mark.parametrize("k", [1, 2, 4])
def test_households_at_risk_are_swapped_where_they_are(k):
    data = people(seed=3)
    result = swap(data, k=k, similar=[[]])
    expected = risky_by_hand(data, k)
    assert result.risky == len(expected)
    at_risk = set(result.pairs["first"]) | set(result.pairs["second"])
    assert set(expected) - at_risk == set(result.unmatched)
    for first, level in result.pairs[["first", "level"]].itertuples(index=False):
        assert expected[first] == level
    if k == 1:
        assert len(result.pairs) == 0


def test_the_rate_is_reached_in_every_town():
    data = people(n=2000)
    result = swap(data, rate=0.15, similar=[["sex"], []])
    homes = data.drop_duplicates("household").set_index("household")["town"]
    moved = pd.concat([result.pairs["first"], result.pairs["second"]])
    share = homes.loc[moved].value_counts().reindex(range(18), fill_value=0) / homes.value_counts()
    assert (share >= 0.15).all()
    assert 0.15 <= result.rate < 0.5


def test_partners_are_drawn_uniformly():
    """Chi-square at a significance of 1e-3 over 500 seeds: who swaps with the household at risk."""
    n = 11
    data = pd.DataFrame({"town": [0] + [1] * (n - 1), "odd": [1] + [0] * (n - 1)})
    partners = np.zeros(n, int)
    for seed in range(500):
        pairs = swap_records(data, geography=["town"], risk=["odd"], similar=[[]], k=2, seed=seed).pairs
        partners[pairs["second"].iloc[0]] += 1
    assert partners[0] == 0
    assert chisquare(partners[1:]).pvalue > 1e-3


def test_same_seed_same_swaps():
    data = people()
    one, two, other = (swap(data, rate=0.2, seed=seed) for seed in (1, 1, 2))
    assert one.frame.equals(two.frame)
    assert one.pairs.equals(two.pairs)
    assert not one.pairs.equals(other.pairs)


def test_without_a_seed_swaps_are_drawn_afresh_and_the_result_tells_how():
    data = people()
    one, two = (swap(data, rate=0.2, seed=None) for _ in range(2))
    assert not one.pairs.equals(two.pairs)
    assert swap(data, rate=0.2, seed=one.seed).pairs.equals(one.pairs)
    assert str(one.seed) not in repr(one)


def test_records_without_households():
    data = people()
    result = swap(data, household=None, similar=[["sex", "age"]])
    assert table(result.frame, ["town", "sex", "age"]).equals(table(data, ["town", "sex", "age"]))
    assert result.households == len(data)


def test_the_index_of_the_caller_is_kept():
    data = people().set_index(np.arange(5000, 5000 + len(people())))
    assert swap(data).frame.index.equals(data.index)


def test_bad_input():
    data = people(n=20)
    for options, word in (
        ({"risk": ["origine"]}, "did you mean 'origin'"),
        ({"k": 0}, "k must be"),
        ({"rate": 1.5}, "share from 0 to 1"),
        ({"similar": []}, "at least one entry"),
        ({"similar": [["town"]]}, "'town' is swapped"),
        ({"geography": ["town", "region"]}, "not nested"),
    ):
        with pytest.raises(InputError, match=word):
            swap(data, **options)
    with pytest.raises(InputError, match="several areas"):
        swap(data.assign(household=0))
    with pytest.raises(InputError, match="missing values"):
        swap(data.assign(sex=np.nan))
