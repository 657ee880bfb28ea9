"""The data of the golden releases: microdata, trees of codes and finished tables that stay the same for decades."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

import tabprotect as tp
from tabprotect.instances.streams import Stream

TREE = "N\n@n1\n@n2\n@n3\nS\n@s1\n@s2\n"
REGIONS = ("n1", "n2", "n3", "s1", "s2")
AREAS = {region: region[0].upper() for region in REGIONS}
SIZES = ("small", "large", "huge")
BRANCHES = ("x", "y", "z")

#: recodes the sizes for the methods that roll up by hand
RECODING = "all: small, large, huge\n"


def firms(n: int = 48, seed: int = 1) -> pd.DataFrame:
    """Firms with a skew turnover: ids, holdings, weights, requests, waivers, and codes of four dimensions."""
    s = Stream(7, seed)
    region = np.array(REGIONS)[s.choice([5, 4, 2, 3, 2], n)]
    turnover = np.ceil(s.lognormal(4.0, 1.4, n))
    return pd.DataFrame(
        {
            "area": [AREAS[code] for code in region],
            "region": region,
            "size": np.array(SIZES)[s.choice([4, 3, 1], n)],
            "branch": np.array(BRANCHES)[s.choice([3, 2, 2], n)],
            "firm": [f"f{k}" for k in range(n)],
            "holding": [f"h{k}" for k in s.integers(0, n // 2, n)],
            "turnover": turnover,
            "profit": np.round(turnover * (s.uniform(n) - 0.2), 1),
            "weight": np.round(1 + 2 * s.uniform(n), 1),
            "request": (s.uniform(n) < 0.1).astype(int),
            "waiver": np.where(s.uniform(n) < 0.1, "yes", "no"),
            "key": s.integers(0, 2**26, n),
            "staff": s.integers(1, 250, n),
        }
    )


def people(n: int = 150) -> pd.DataFrame:
    """Households of one in towns of districts, some of a rare origin."""
    s = Stream(8, 1)
    town = s.integers(0, 6, n)
    return pd.DataFrame(
        {
            "district": np.array(["d0", "d1"])[town // 3],
            "town": [f"t{k}" for k in town],
            "origin": np.array(["home", "near", "far"])[s.choice([12, 5, 1], n)],
            "sex": np.array(["f", "m"])[s.integers(0, 2, n)],
        }
    )


def finished() -> pd.DataFrame:
    """Return a two-way table with counts, largest contributions, statuses, levels, costs and bounds of its own."""
    inner = pd.DataFrame(
        {
            "region": np.repeat(["a", "b", "c"], 3),
            "size": np.tile(["u", "v", "w"], 3),
            "amount": [20.0, 50, 10, 8, 19, 22, 17, 32, 12],
            "n": [6, 9, 2, 1, 5, 6, 4, 8, 5],
        }
    )
    rows = pd.concat(
        [
            inner,
            inner.groupby("region", as_index=False)[["amount", "n"]].sum().assign(size="Total"),
            inner.groupby("size", as_index=False)[["amount", "n"]].sum().assign(region="Total"),
            inner[["amount", "n"]].sum().to_frame().T.assign(region="Total", size="Total"),
        ],
        ignore_index=True,
    )
    rows["n"] = rows["n"].astype(int)
    rows["status"] = np.where((rows["region"] == "c") & (rows["size"] == "w"), "p", "")
    rows["lpl"] = np.where(rows["n"] < 3, 4.0, np.nan)
    rows["upl"] = np.where(rows["n"] < 3, 5.0, np.nan)
    rows["price"] = np.arange(len(rows)) % 4 + 1
    rows["low"], rows["high"] = 0.5 * rows["amount"], 2.0 * rows["amount"]
    return rows


def region() -> tp.Dimension:
    """Return the regions in two levels."""
    return tp.Dimension("region", tp.Hierarchy.from_hrc(TREE))


def two_tables(**options: Any) -> tp.Table:
    """Region x size and branch x size, linked."""
    frame = firms()
    return tp.link(
        {
            "region": tp.tabulate(frame, [region(), "size"], "turnover", **options),
            "branch": tp.tabulate(frame, ["branch", "size"], "turnover", **options),
        }
    )


def two_counts() -> tp.Table:
    """Count the firms by region x size and by branch x size, linked."""
    frame = firms()
    return tp.link(
        {
            "region": tp.tabulate(frame, [region(), "size"]),
            "branch": tp.tabulate(frame, ["branch", "size"]),
        }
    )


_TURNOVER = {"value": "turnover", "contributor": "firm"}

#: shape of table -> how `tp.protect` is given it: the data, and its keyword arguments
SHAPES: Mapping[str, Callable[[], tuple[Any, dict[str, Any]]]] = {
    "hierarchy": lambda: (firms(), {"by": [region(), "size"], **_TURNOVER}),
    "one-way": lambda: (firms(), {"by": [region()], **_TURNOVER}),
    "flat": lambda: (firms(), {"by": ["branch", "size"], **_TURNOVER}),
    "three-way": lambda: (firms(90), {"by": ["area", "branch", "size"], **_TURNOVER}),
    "columns": lambda: (firms(), {"by": [("area", "region"), "branch"], **_TURNOVER}),
    "holdings": lambda: (
        firms(), {"by": [region(), "size"], "value": "turnover", "contributor": "firm", "holding": "holding"},
    ),
    "weights": lambda: (firms(), {"by": ["branch", "size"], **_TURNOVER, "weight": "weight"}),
    "requests": lambda: (firms(), {"by": ["branch", "size"], **_TURNOVER, "request": "request"}),
    "waivers": lambda: (firms(), {"by": [region(), "size"], **_TURNOVER, "waiver": "waiver"}),
    "shadow": lambda: (
        firms(), {"by": ["branch", "size"], "value": "staff", "shadow": "turnover", "contributor": "firm"},
    ),
    "negative": lambda: (firms(), {"by": ["branch", "size"], "value": "profit", "contributor": "firm"}),
    "counts": lambda: (firms(), {"by": [region(), "size"]}),
    "people": lambda: (people(), {"by": [("district", "town"), "origin"]}),
    "unknown": lambda: (
        firms(), {"by": [region(), tp.Dimension("branch", tp.Hierarchy.flat(BRANCHES), missing=["z"])], **_TURNOVER},
    ),
    "structural": lambda: (firms(24), {"by": ["region", "branch"], **_TURNOVER, "empty": "structural"}),
    "finished": lambda: (
        tp.Table.from_cells(
            finished(), ["region", "size"], "amount", count="n", status="status", lpl="lpl", upl="upl", cost="price",
            lower="low", upper="high",
        ),
        {},
    ),
    "linked": lambda: (two_tables(contributor="firm"), {}),
    "linked-counts": lambda: (two_counts(), {}),
}  # fmt: skip
