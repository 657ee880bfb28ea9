"""Releases of every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

import tabprotect as tp


def microdata() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "region": list("aaaabbbbcccc") * 3,
            "size": list("xyzz") * 9,
            "firm": range(36),
            "turnover": [900, 20, 31, 45, 16, 70, 18, 9, 410, 11, 12, 13, 14, 15, 6, 17, 8, 95] * 2,
        }
    )


def linked() -> Any:
    """Tables that share cells, of which one has a code with one part."""
    data = microdata().assign(country=lambda d: d["region"].map({"a": "A", "b": "B", "c": "B"}), kind=list("uvw") * 12)
    region = tp.Dimension(["country", "region"])
    size = tp.tabulate(data, [region, "size"], value="turnover", contributor="firm")
    kind = tp.tabulate(data, ["kind"], value="turnover", contributor="firm")
    return tp.protect(tp.link({"by size": size, "by kind": kind}), ["p%=15"], limits=tp.Limits(work=2000))


KINDS: dict[str, Callable[[], Any]] = {
    "suppression": lambda: made(tp.Suppress(method="exact")),
    "statuses apart": lambda: made(tp.Suppress(method="exact"), separate_statuses=True, decimals=-1),
    "rounding": lambda: made(tp.Round(base=50)),
    "linked, with a code of one part": linked,
}


def made(method: Any, **options: Any) -> Any:
    return tp.protect(
        microdata(), ["p%=15", "threshold=4"], method, by=["region", "size"], value="turnover", contributor="firm",
        limits=tp.Limits(work=2000), **options,
    )  # fmt: skip
