"""Groups of hidden cells that move independently."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tabprotect.attack.components import components
from tabprotect.problem import Problem


def with_a_sum() -> Problem:
    """Two rows of four cells, and the sum of two cells of the first one behind them."""
    rows = [[-1, 1, 1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 0, -1, 1, 1, 1, 0], [0, 0, 1, 1, 0, 0, 0, 0, -1]]
    values = [18, 6, 5, 7, 12, 3, 4, 5, 12]
    return replace(Problem.from_arrays(rows, values, primary=[1, 5], lpl=2, upl=2), sums=1)


@pytest.mark.parametrize("cells", [[1, 2, 3], [5, 6, 7]])
def test_sums_belong_to_a_group_only_if_they_are_given(cells: list[int]) -> None:
    (one,) = components(with_a_sum(), np.array(cells))
    assert one.cells.tolist() == cells


def test_a_sum_given_joins_its_cells() -> None:
    assert [one.cells.tolist() for one in components(with_a_sum(), [1, 2, 3, 8])] == [[1, 2, 3, 8]]
