"""Regional indicators."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tabprotect.errors import InputError
from tests.quick import examples


@given(st.integers(0, 10**6))
@settings(max_examples=examples(6, 15))
def test_the_shortest_combinations_that_leave_too_little(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 3, (20, 3)), columns=list("abc"))
    frame["town"] = rng.choice(list("uvwxyz"), 20)
    frame["w"] = rng.integers(1, 50, 20).astype(float)
    found = md.regional_indicators(frame, md.Schema(weight="w"), area="town", indicators=list("abc"), least=120)
    people = frame.groupby("town")["w"].sum()
    expected, short = set(), []
    for size in (1, 2, 3):
        for keys in combinations("abc", size):
            for values, part in frame.groupby(list(keys)):
                fits = part["town"].unique()
                given = dict(zip(keys, values, strict=True))
                if (len(fits) < 2 or people[fits].sum() < 120) and not any(s.items() <= given.items() for s in short):
                    short.append(given)
                    expected.add((", ".join(keys), ", ".join(map(str, values)), len(fits), people[fits].sum()))
    rows = {
        (r.indicators, r.values, r.areas, r.population)
        for r in found.table.rename(columns={"values": "v"}).assign(values=lambda t: t["v"]).itertuples()
    }
    assert rows == expected
    assert found.value == len(expected)


def test_what_is_wrong_is_named_at_once() -> None:
    frame = pd.DataFrame({"town": ["A", "B"], "urban": ["y", "n"]})
    with pytest.raises(InputError, match="did you mean 'urban'"):
        md.regional_indicators(frame, area="town", indicators=["urbn"])
    with pytest.raises(InputError, match="no population of area 'B'"):
        md.regional_indicators(frame, area="town", indicators=["urban"], population={"A": 5})
    with pytest.raises(InputError, match="not the area itself"):
        md.regional_indicators(frame, area="town", indicators=["town"])
