"""Records with gaps, and chains of methods, for every engine."""

from __future__ import annotations

import numpy as np
import pandas as pd

import tabprotect.microdata as md


def people(n: int = 600, seed: int = 0) -> pd.DataFrame:
    """Draw records of every type, with missing values and skewed categories."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": rng.permutation(n),
            "region": rng.choice(["north", "south", "east"], n, p=[0.6, 0.3, 0.1]),
            "sector": rng.choice(list("abcde"), n),
            "age": rng.integers(0, 95, n),
            "children": rng.integers(0, 5, n),
            "income": np.round(rng.lognormal(7, 1, n), 2),
            "turnover": rng.normal(0, 3, n),
            "w": rng.uniform(1, 5, n),
        }
    )
    frame.loc[rng.choice(n, n // 20, replace=False), "income"] = np.nan
    frame.loc[rng.choice(n, n // 20, replace=False), "sector"] = None
    return frame


EXACT: dict[str, list[md.Method]] = {
    "threshold": [md.TopCoding("age", threshold=80)],
    "broken threshold": [md.TopCoding("age", threshold=80.5)],
    "missing": [md.TopCoding(["age", "income"], threshold=80, replace="missing")],
    "bottom": [md.BottomCoding("turnover", threshold=-1.5)],
    "nothing beyond": [md.TopCoding("age", threshold=200)],
    "quantile": [md.TopCoding("income", quantile=0.9), md.BottomCoding("turnover", quantile=0.25)],
    "cuts": [md.GlobalRecoding("age", cuts=[18, 40, 65])],
    "labels": [md.GlobalRecoding("turnover", cuts=[-2, 2], labels=["low", "middle", "high"])],
    "width": [md.GlobalRecoding(["age", "income"], width=25, top=75)],
    "unit width": [md.GlobalRecoding("children", width=1)],
    "equal width": [md.GlobalRecoding("income", classes=5)],
    "equal frequency": [md.GlobalRecoding(["income", "age"], classes=4, equal="frequency")],
    "mapping": [md.GlobalRecoding("sector", mapping={"a": "a or b", "b": "a or b"})],
    "mapped numbers": [md.GlobalRecoding("children", mapping={3: "3 and more", 4: "3 and more"})],
    "whole numbers": [md.GlobalRecoding("children", mapping={4: 3})],
    "chain": [
        md.TopCoding("income", quantile=0.95),
        md.GlobalRecoding("income", classes=3, equal="frequency"),
        md.GlobalRecoding("sector", mapping={"e": "d"}),
    ],
}
"""Chains that draw nothing: the outcome is that of the method in memory."""

RANDOM: dict[str, list[md.Method]] = {
    "pram": [md.PRAM(["sector", "region"], floor=0.6)],
    "optimal pram": [md.PRAM("sector", kind="optimal", floor=0.4)],
    "given pram": [md.PRAM("region", kind="given", matrix=[[0.8, 0.2, 0], [0, 1, 0], [0.1, 0.1, 0.8]],
                           categories=["north", "south", "east"])],
    "noise": [md.Noise(["income", "age"], alpha=0.2)],
    "correlated": [md.Noise(["income", "turnover"], kind="correlated")],
    "linear": [md.Noise(["income", "turnover"], kind="linear", alpha=0.5)],
    "factors": [md.Noise("turnover", kind="multiplicative")],
    "bounded factors": [md.Noise("turnover", kind="multiplicative", least=0.1, most=0.3)],
    "sample": [md.GlobalRecoding("age", width=10), md.Sampling(share=0.2)],
    "neyman": [md.Sampling(size=60, allocation="neyman", spread="turnover")],
    "chain": [
        md.TopCoding("income", quantile=0.9, replace="mean"),
        md.PRAM("sector", floor=0.7),
        md.Sampling(share=0.5),
        md.Noise("income", alpha=0.1),
    ],
}  # fmt: skip
"""Chains that draw at random."""

SCHEMAS = {
    "plain": md.Schema(identifiers=["id"]),
    "weights": md.Schema(identifiers=["id"], weight="w"),
    "strata": md.Schema(identifiers=["id"], strata=["region"]),
}
