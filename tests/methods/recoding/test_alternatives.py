"""The least of several groupings, against enumeration of all combinations."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from tabprotect.errors import InputError
from tabprotect.methods.recoding import least_grouping
from tabprotect.solver.limits import Limits
from tabprotect.table.tabulate import tabulate
from tests.quick import first

CODES = [str(k) for k in range(6)]


def groupings_of(edges):
    """Return groupings into runs of codes; each entry of edges tells where a run starts."""
    return {str(cuts): {code: f"g{np.searchsorted(cuts, int(code), side='right')}" for code in CODES} for cuts in edges}


GROUPINGS = {
    "age": groupings_of([(1, 2, 3, 4, 5), (2, 4), (1, 3, 5), (3,), (2,), ()]),
    "region": groupings_of([(1, 2, 4), (3, 5), (2, 4), (4,), ()]),
}


def by_both(data):
    return tabulate(data, ["age", "region"])


def smallest(data, chosen):
    """Return the least count of a combination that occurs: totals are never less."""
    return data.groupby([data[name].map(GROUPINGS[name][which]) for name, which in chosen.items()]).size().min()


@pytest.mark.parametrize("seed", first(4, range(12)))
def test_enumeration_finds_nothing_less(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(5, 90))
    data = pd.DataFrame({name: random.choice(CODES, n) for name in GROUPINGS})
    costs = []
    for pair in product(*GROUPINGS.values()):
        chosen = dict(zip(GROUPINGS, pair, strict=True))
        if smallest(data, chosen) >= 3:
            costs.append(36 - np.prod([len(set(GROUPINGS[d][w].values())) for d, w in chosen.items()]))
    result = least_grouping(data, GROUPINGS, by_both, "threshold=3")
    assert result.status == "optimal"
    assert result.cost == result.bound == min(costs)
    assert smallest(data, result.chosen) >= 3


def test_without_a_safe_combination():
    data = pd.DataFrame({"age": ["1", "2"], "region": ["0", "0"]})
    result = least_grouping(data, GROUPINGS, by_both, "threshold=3")
    assert (result.status, result.chosen, result.bound, result.assessed) == ("infeasible", None, None, 30)


def test_a_limit_leaves_a_bound_that_holds():
    random = np.random.default_rng(5)
    data = pd.DataFrame({name: random.choice(CODES, 40) for name in GROUPINGS})
    full = least_grouping(data, GROUPINGS, by_both, "threshold=3")
    cut = least_grouping(data, GROUPINGS, by_both, "threshold=3", limits=Limits(work=80))
    assert cut.assessed < full.assessed
    assert (cut.status, cut.chosen) == ("unknown", None)
    assert "not proven" in cut.message
    assert cut.bound <= full.cost


def test_the_given_data_stay():
    data = pd.DataFrame({"age": CODES * 3, "region": CODES * 3})
    before = data.copy()
    least_grouping(data, GROUPINGS, by_both, "threshold=3")
    pd.testing.assert_frame_equal(data, before)


@pytest.mark.parametrize(
    ("groupings", "words"),
    [
        ({"agee": GROUPINGS["age"]}, "no column"),
        ({"age": {}}, "no grouping"),
        ({"age": {"a": dict.fromkeys(CODES, "x"), "b": {"0": "x"}}}, "differ in code '1'"),
        ({"age": {"a": {"0": "x"}}}, "has no group"),
        ({}, "no groupings are given"),
    ],
)
def test_wrong_groupings_are_named(groupings, words):
    data = pd.DataFrame({"age": CODES, "region": CODES})
    with pytest.raises(InputError, match=words):
        least_grouping(data, groupings, by_both, "threshold=3")


def test_codes_may_be_numbers_as_in_the_data():
    data = pd.DataFrame({"age": [0, 5, 10, 10, 15, 15]})
    tens = {0: "0-9", 5: "0-9", 10: "10-19", 15: "10-19"}
    found = least_grouping(data, {"age": {"ten": tens}}, lambda recoded: tabulate(recoded, ["age"]), "threshold=2")
    assert (found.status, found.chosen, found.cost) == ("optimal", {"age": "ten"}, 2.0)
