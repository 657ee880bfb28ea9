"""One-to-one linkage: the model against the fast engine."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tabprotect.microdata as md
from tabprotect.models import linkage


@pytest.mark.parametrize("seed", range(6))
def test_one_to_one_linkage_is_the_optimum_of_the_model(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 7)), int(rng.integers(2, 7))
    x, y = (pd.DataFrame(rng.normal(size=(7, 2)), columns=["a", "b"]) for _ in range(2))
    # records with missing values are left out, so the files differ in length
    x.loc[n:, "a"], y.loc[m:, "b"] = np.nan, np.nan
    found = md.risk.assignment_linkage(x, y)
    a, b = x.dropna().to_numpy(), y.dropna().to_numpy()
    cost = np.sqrt((((a[:, None] - b[None]) / a.std(axis=0)) ** 2).sum(axis=2))
    model = linkage.build(cost if n <= m else cost.T)
    answer = linkage.solve(model)
    assert answer.objective == pytest.approx(found.details["total distance"], abs=1e-6)
    chosen = {(i, j) if n <= m else (j, i) for (i, j) in model.x if model.x[i, j].value > 0.5}
    assert len(chosen) == found.details["records linked"] == min(n, m)
    right = [float((i, i) in chosen) for i in range(7)]
    assert found.records is not None
    assert found.records.tolist() == right


def test_files_change_places_for_the_model() -> None:
    with pytest.raises(ValueError, match="transpose"):
        linkage.build(np.ones((3, 2)))
