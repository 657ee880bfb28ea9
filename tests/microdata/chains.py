"""Random microdata, schemas and chains of methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

import tabprotect as tp
import tabprotect.microdata as md

REGIONS = tp.Hierarchy((("all", ("north", "south")), ("north", ("n1", "n2")), ("south", ("s1", "s2", "s3"))))
SIZES = ("small", "medium", "large")


def random_frame(rng: np.random.Generator) -> pd.DataFrame:
    """Records with columns of every scale, missing values, weights and households."""
    n = int(rng.integers(12, 120))
    frame = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "region": rng.choice(REGIONS.leaves, n),
            "size": rng.choice(SIZES, n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(0, 90, n),
            "pay": rng.lognormal(7, 0.6, n).round(2),
            "debt": (rng.lognormal(5, 1, n)).round(1),
            "w": rng.integers(1, 20, n).astype(float),
            "hid": np.sort(rng.integers(0, max(2, n // 3), n)),
        }
    )
    for name, share in (("region", 0.1), ("pay", 0.1), ("size", 0.05)):
        if rng.random() < 0.4:
            frame[name] = frame[name].mask(rng.random(n) < share)
    return frame


def random_schema(rng: np.random.Generator) -> md.Schema:
    """Roles and scales that fit the frame."""
    return md.Schema(
        keys=["region", "sex", "age"] if rng.random() < 0.7 else ["region", "sex"],
        confidential=["pay"],
        identifiers=["id"] if rng.random() < 0.8 else [],
        weight="w" if rng.random() < 0.5 else None,
        household="hid" if rng.random() < 0.3 else None,
        strata=["sex"] if rng.random() < 0.2 else [],
        hierarchies={"region": REGIONS} if rng.random() < 0.7 else {},
        orders={"size": SIZES},
    )


STEPS: Sequence[Callable[[np.random.Generator], md.Method]] = (
    lambda r: md.TopCoding("pay", quantile=float(r.uniform(0.7, 0.99)), replace=str(r.choice(["threshold", "mean"]))),  # type: ignore[arg-type]
    lambda r: md.BottomCoding("debt", threshold=float(r.uniform(10, 200))),
    lambda r: md.Noise(["pay", "debt"], kind=str(r.choice(["uncorrelated", "correlated", "romm"])), alpha=0.2),  # type: ignore[arg-type]
    lambda r: md.Noise("debt", kind="multiplicative", least=0.05, most=0.3),
    lambda r: md.Noise("pay", kind="linear", exact=True),
    lambda r: md.PRAM("sex", floor=float(r.uniform(0, 0.9))),
    lambda r: md.PRAM("size", kind="optimal", floor=0.2, ceiling=0.95),
    lambda r: md.Swapping(["debt", "size"], match=["region"], rate=float(r.uniform(0.1, 1))),
    lambda r: md.RankSwapping(["pay", "size"], p=float(r.uniform(2, 50))),
    lambda r: md.RankSwapping("debt", p=20, by="range"),
    lambda r: md.Resampling("pay", samples=3),
    lambda r: md.Rounding("debt", base=5, direction=str(r.choice(["nearest", "random"]))),  # type: ignore[arg-type]
    lambda r: md.RandomResponse("sex", truth=0.8),
    lambda r: md.Microaggregation(["pay", "debt"], k=3, too_small="missing"),
    lambda r: md.Microaggregation("pay", k=4, method="individual-optimal", too_small="missing"),
    lambda r: md.LocalSuppression(k=2),
    lambda r: md.Sampling(size=10),
    lambda r: md.HybridMasking(["pay", "debt"], share=0.5),
    lambda r: md.IPSO("pay", given="debt", variant=str(r.choice(["A", "B", "C"]))),  # type: ignore[arg-type]
    lambda r: md.BlankAndImpute(["pay", "size"], rate=0.2, how="draw"),
    lambda r: md.RecordSwapping("region", risk=["age"], similar=[["sex"], []], k=2, rate=float(r.uniform(0, 0.5))),
    lambda r: md.SMIKe(["region", "sex"], near=["debt"], threshold=3, mixing=5),
)


def random_chain(rng: np.random.Generator) -> list[md.Method]:
    """One to four methods."""
    return [STEPS[int(k)](rng) for k in rng.integers(0, len(STEPS), int(rng.integers(1, 5)))]


def same(a: Any, b: Any) -> bool:
    """Whether two frames hold the same, missing values included."""
    return bool(a.equals(b))
