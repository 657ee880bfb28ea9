"""Microdata of a small table, and releases of it with changed values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import tabprotect as tp
from tabprotect.certificate.document import digest, seal
from tabprotect.certificate.values import SECTIONS

RULES = ["p%=15", "threshold=3"]
REGIONS = {"T": ["N", "S"], "N": ["n1", "n2", "n3"], "S": ["s1", "s2"]}
SIZES = {"all": ["small", "large", "huge"]}


def microdata(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = 60
    return pd.DataFrame(
        {
            "region": rng.choice([*REGIONS["N"], *REGIONS["S"]], n),
            "size": rng.choice(SIZES["all"], n),
            "firm": rng.permutation(n),
            "turnover": np.ceil(rng.lognormal(8, 1.5, n)),
        }
    )


def dimensions() -> list[tp.Dimension]:
    return [
        tp.Dimension("region", tp.Hierarchy.from_pairs([(p, c) for p, cs in REGIONS.items() for c in cs])),
        tp.Dimension("size", tp.Hierarchy.flat(SIZES["all"], "all")),
    ]


def make(method: Any, seed: int = 0, counts: bool = False, **options: Any) -> tp.ChangedRelease:
    table: dict[str, Any] = {} if counts else {"value": "turnover", "contributor": "firm"}
    rules = RULES[1:] if counts else RULES
    found = tp.protect(
        microdata(seed), rules, method, by=dimensions(), title="Turnover", limits=tp.Limits(work=2000),
        allow_unsafe=True, **table, **options,
    )  # fmt: skip
    assert isinstance(found, tp.ChangedRelease)
    return found


def people(seed: int, n: int = 80) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    town = rng.choice(["n1", "n2", "n3", "s1", "s2"], n)
    return pd.DataFrame(
        {
            "region": [code[0].upper() for code in town], "town": town, "sex": rng.choice(["f", "m"], n),
            "origin": rng.choice(list("aaaaaaaabbc"), n), "income": rng.integers(1, 90, n) * 10.0,
        }
    )  # fmt: skip


def resealed(document: dict[str, Any]) -> dict[str, Any]:
    """A forger computes the seals anew."""
    return {**document, "seal": seal((name, digest(document[name])) for name in SECTIONS)}
