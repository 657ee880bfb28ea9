"""Seeds: whole numbers and generators go in everywhere, anything else is refused with one clear error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.methods.record_swapping import swap_records
from tabprotect.methods.small_counts import small_counts
from tabprotect.seeds import part_of
from tabprotect.solver import Programme, branch_and_cut

A = [
    [-1, 1, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, -1, 1, 1, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, -1, 1, 1],
    [-1, 0, 0, 1, 0, 0, 1, 0, 0],
    [0, -1, 0, 0, 1, 0, 0, 1, 0],
    [0, 0, -1, 0, 0, 1, 0, 0, 1],
]
PROBLEM = tp.Problem.from_arrays(A, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], lpl=1, upl=1)
FIRMS = pd.DataFrame({"region": list("nnnsss"), "size": list("bsbsbs"), "turnover": [90, 7, 20, 60, 4, 80]})


class Nothing:
    """A separator that never finds anything."""

    def cuts(self, x: Any, integral: bool) -> list[Any]:
        return []


TAKERS: dict[str, Callable[[Any], Any]] = {
    "suppress": lambda seed: tp.suppress(PROBLEM, seed=seed).pattern,
    "suppress_linked": lambda seed: tp.suppress_linked(PROBLEM, {"all": np.arange(9)}, seed=seed, together=0).pattern,
    "round": lambda seed: tp.round(PROBLEM, 5, seed=seed).values,
    "random_rounding": lambda seed: tp.random_rounding(PROBLEM, 5, seed=seed).values,
    "unbiased_rounding": lambda seed: tp.unbiased_rounding(PROBLEM, 5, seed=seed).values,
    "adjust": lambda seed: tp.adjust(PROBLEM, seed=seed).values,
    "small_counts": lambda seed: small_counts(PROBLEM, 5, seed=seed).values,
    "compare": lambda seed: len(tp.compare(PROBLEM, ["suppress"], seed=seed).lines),
    "branch_and_cut": lambda seed: branch_and_cut(Programme([1.0]), Nothing(), seed=seed).objective,
    "swap_records": lambda seed: swap_records(
        FIRMS, geography=["region"], risk=["size"], similar=[[]], rate=0.5, seed=seed
    ).frame.to_numpy(),
    "protect": lambda seed: (
        tp.protect(
            FIRMS,
            "p%=15",
            tp.RandomRound(base=5),
            by=["region", "size"],
            value="turnover",
            seed=seed,
            allow_unsafe=True,
        )
        .published["turnover"]
        .to_numpy()
    ),
}


@pytest.mark.parametrize("name", TAKERS)
def test_numbers_and_generators_are_seeds(name: str) -> None:
    take = TAKERS[name]
    assert np.array_equal(take(3), take(np.int64(3)))
    assert np.array_equal(take(np.random.default_rng(3)), take(np.random.default_rng(3)))


@pytest.mark.parametrize("name", TAKERS)
@pytest.mark.parametrize("odd", ["x", -1, 1.5, True, [1]])
def test_anything_else_is_refused(name: str, odd: Any) -> None:
    with pytest.raises(tp.InputError, match="seed must be a whole number of at least 0"):
        TAKERS[name](odd)


def test_a_generator_goes_on() -> None:
    rng = np.random.default_rng(3)
    drawn = [tp.random_rounding(PROBLEM, 7, seed=rng).values.tolist() for _ in range(8)]
    assert len({tuple(values) for values in drawn}) > 1


def test_parts_of_masking_share_numbers_with_nothing_else() -> None:
    rngs = [np.random.default_rng(part_of(1, *part)) for part in ((0,), (1,), (0, 0), (0, 1), (1, 0))]
    rngs += [np.random.default_rng(other) for other in (1, [1, 1], [1, 0, 1], 2)]
    rngs += np.random.default_rng(1).spawn(2)
    assert len({rng.random() for rng in rngs}) == len(rngs)
    assert np.random.default_rng(part_of(1, 0)).random() == np.random.default_rng(part_of(1, 0)).random()
