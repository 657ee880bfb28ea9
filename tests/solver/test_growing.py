"""A matrix that grows by rows is what stacking the rows gives."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tabprotect.solver.growing import GrowingRows

WIDTH = 6

blocks = st.lists(st.lists(st.sets(st.integers(0, WIDTH - 1)), max_size=4), max_size=8)


@given(blocks)
def test_it_holds_all_rows_in_order(parts: list[list[set[int]]]) -> None:
    growing = GrowingRows(WIDTH, np.float64)
    dense = np.zeros((0, WIDTH))
    number = 0.0
    for part in parts:
        columns = [np.array(sorted(row), dtype=np.int64) for row in part]
        values = []
        for row in columns:
            values.append(number + np.arange(1.0, len(row) + 1))
            number += len(row)
            dense = np.vstack([dense, np.zeros(WIDTH)])
            dense[-1, row] = values[-1]
        growing.extend(columns, values)
        assert isinstance(growing.matrix, sparse.csr_array)
        assert np.array_equal(growing.matrix.toarray(), dense)
        assert growing.entries == int(number)
