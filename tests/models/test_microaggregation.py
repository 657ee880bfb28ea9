"""The compact statement and the engine find the same partitions."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.microdata.masking.microaggregation.exact import exact_partition
from tabprotect.microdata.masking.microaggregation.mdav import mdav
from tabprotect.microdata.masking.microaggregation.partition import sum_of_squares
from tabprotect.models import microaggregation


@pytest.mark.parametrize(("seed", "n", "k"), [(0, 7, 2), (1, 8, 2), (2, 6, 3), (3, 7, 3)])
def test_the_compact_model_agrees_with_set_partitioning(seed: int, n: int, k: int) -> None:
    points = np.random.default_rng(seed).normal(size=(n, 2))
    answer = microaggregation.solve(points, k)
    found = exact_partition(points, k, mdav(points, k))
    assert answer.status == "optimal"
    assert answer.group is not None
    assert sum_of_squares(points, answer.group) == pytest.approx(answer.loss, rel=1e-6)
    assert np.bincount(answer.group).min() >= k
    assert answer.loss == pytest.approx(sum_of_squares(points, found.group), rel=1e-6)
