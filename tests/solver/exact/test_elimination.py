"""Elimination modulo a prime: entries are taken for what they stand for."""

from __future__ import annotations

from scipy import sparse

from tabprotect.solver.exact.elimination import eliminate


def test_thirds_that_differ_in_the_last_bit_make_no_new_row() -> None:
    third, two_thirds = 0.33333333333333337, 0.6666666666666666  # sums of quotients round differently
    assert two_thirds != 2 * third
    assert eliminate(sparse.csr_array([[third, 1.0, 1.0], [two_thirds, 2.0, 2.0]])).rank == 1


def test_decimals_that_differ_are_different_rows() -> None:
    assert eliminate(sparse.csr_array([[0.123456789012, 1.0], [0.123456789013, 1.0]])).rank == 2
