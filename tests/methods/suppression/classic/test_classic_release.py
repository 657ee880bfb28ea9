"""From data to a release by a classic method, sums of hidden cells protected like those of every other method."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.methods.suppression.suppress import CLASSIC

GIVEN = {"by": ["region", "size"], "value": "turnover", "contributor": "firm", "singletons": False, "intervals": False}


def data(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = 24
    return pd.DataFrame(
        {
            "region": rng.choice(list("nsew"), n),
            "size": rng.choice(list("bms"), n),
            "firm": rng.integers(0, 12, n),
            "turnover": np.ceil(rng.lognormal(3, 1.2, n)),
        }
    )


@pytest.mark.parametrize("method", CLASSIC)
def test_releases_are_safe_and_proven(method: str) -> None:
    grown = 0
    for seed in range(4):
        release = tp.protect(data(seed), "p%=15", tp.Suppress(method=method), **GIVEN)  # type: ignore[arg-type]
        assert release.safe, (seed, release.summary())
        assert release.verify().safe
        assert release.result.method.startswith(method)
        assert release.unions == ()
        grown += release.problem.n_cells > release.table.n_cells
    assert grown > 0
