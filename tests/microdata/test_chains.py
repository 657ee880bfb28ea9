"""Random schemas and chains of methods: claims verify, nothing that came in changes, same seed same answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tabprotect.microdata as md
from tabprotect.microdata.folder import verify_masked
from tests.microdata.chains import random_chain, random_frame, random_schema, same
from tests.quick import examples


def check(seed: int, folder: Path | None = None) -> bool:
    """Check one chain; returns whether it could be carried out: a step may need more than an earlier one has left."""
    rng = np.random.default_rng(seed)
    frame, schema, chain = random_frame(rng), random_schema(rng), random_chain(rng)
    before = frame.copy(deep=True)
    words = f"seed {seed}: {'; '.join(map(str, chain))}"
    try:
        masked = md.mask(frame, schema, chain, seed=seed)
    except md.InputError as error:
        refused = error.problems
    else:
        refused = ()
    assert all("step" in problem or "pram" in problem for problem in refused), f"{words}: {refused}"
    if refused:
        return False
    found = masked.verify()
    assert found, f"{words}\n{found.summary()}"
    assert same(frame, before), words
    assert same(masked.frame, md.mask(frame, schema, chain, seed=seed).frame), words
    assert not set(schema.identifiers) & set(masked.frame.columns), words
    assert len(masked.links) == len(masked.frame), words
    if folder is not None:
        masked.write(folder / str(seed), formats=["csv", "parquet"])
        again = verify_masked(folder / str(seed))
        assert again, f"{words}\n{again.summary()}"
    return True


def test_chains_of_methods_hold_what_they_claim(tmp_path: Path) -> None:
    done = [check(seed, tmp_path if seed % 5 == 0 else None) for seed in range(examples(20, 40))]
    assert sum(done) >= examples(15, 30)


@pytest.mark.slow
def test_hundreds_of_chains_of_methods(tmp_path: Path) -> None:
    done = [check(seed, tmp_path if seed % 50 == 0 else None) for seed in range(1000, 1150)]
    assert sum(done) >= 120
