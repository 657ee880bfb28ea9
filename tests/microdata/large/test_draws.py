"""Random numbers of rows: the same in every batch, of the stated distributions."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tabprotect.microdata.large import draws
from tabprotect.microdata.large.draws import Draws
from tabprotect.seeds import part_of


@given(rows=st.lists(st.integers(0, 5000), max_size=60), stream=st.integers(0, 3))
def test_any_rows_in_any_order(rows: list[int], stream: int) -> None:
    whole = Draws(3, 1).words(np.arange(5001), stream)
    assert (Draws(3, 1).words(np.array(rows, dtype=np.int64), stream) == whole[rows]).all()


def test_rows_far_apart_are_drawn_piece_by_piece() -> None:
    far = np.array([1, draws.SPAN + 2, 5 * draws.SPAN + 1])
    together = Draws(1, 0).words(far, 0)
    assert together.tolist() == [int(Draws(1, 0).words(far[i : i + 1], 0)[0]) for i in range(3)]
    assert (
        together[0]
        == np.random.Philox(key=part_of(1, 0, 0).generate_state(2, np.uint64), counter=[0, 0, 0, 0]).random_raw(2)[1]
    )


def test_draws_are_none_of_the_numbers_of_the_same_seed() -> None:
    assert Draws(1, 0).words(np.arange(4), 0).tolist() != np.random.Philox(1).random_raw(4).tolist()


def test_distributions_and_streams() -> None:
    rows = np.arange(50_000)
    one = Draws(1, 0)
    u, z = one.uniform(rows, 0), one.normal(rows, 1)
    assert u.min() > 0
    assert u.max() < 1
    assert stats.kstest(u, "uniform").pvalue > 1e-4
    assert stats.kstest(z, "norm").pvalue > 1e-4
    others = [one.uniform(rows, 1), Draws(1, 1).uniform(rows, 0), Draws(2, 0).uniform(rows, 0)]
    assert all(abs(np.corrcoef(u, other)[0, 1]) < 0.03 for other in others)
