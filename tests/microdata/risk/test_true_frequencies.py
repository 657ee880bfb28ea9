"""Estimated risk of eusilcS against the true frequencies of eusilcP; see `benchmarks.microdata.uniques`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.microdata.uniques import compare, read


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "uniques", "zayatz", "individual"),
    # eusilcP was made from eusilcS, which is no part of it: estimates are farther off than those of a true sample
    [("eusilcS", (1.0, 1.8), (1.0, 2.5), 0.15), ("drawn from eusilcP", (0.9, 1.35), (1.0, 1.9), 0.06)],
)
def test_estimates_are_within_a_factor_of_the_truth(
    shared: Callable[[str], Path],
    name: str,
    uniques: tuple[float, float],
    zayatz: tuple[float, float],
    individual: float,
) -> None:
    files = [shared(f"microdata/simPop_eusilc{letter}.csv") for letter in "SP"]
    found = compare(*read(*files)[name]).set_index("model")
    assert found.loc["individual risk", "ratio"] == pytest.approx(1, abs=individual)
    for model in ("poisson-gamma", "dirichlet-multinomial", "Pitman"):
        assert uniques[0] <= found.loc[model, "ratio"] <= uniques[1], model
    assert zayatz[0] <= found.loc["Zayatz", "ratio"] <= zayatz[1]
    # the share that is estimated is far from 0 and 1
    assert 0.1 < found.loc["Pitman", "truth"] < 0.25
