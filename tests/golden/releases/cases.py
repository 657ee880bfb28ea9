"""The golden releases, declared: what each of them is made of, for every face."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import tabprotect as tp
from tabprotect.methods.suppression import methods
from tests.golden.releases.data import TREE

__all__ = ["CASES", "FILES", "Case", "Commands", "Compare", "Protect"]


@dataclass(frozen=True)
class Protect:
    """One call of `tabprotect.protect`: rules and a method on a shape of table."""

    name: str
    shape: str
    rules: Any = "p%=15"
    method: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Compare:
    """One call of `tabprotect.compare` on the problem of a shape of table."""

    name: str
    shape: str
    rules: Any
    methods: tuple[str, ...] | None


@dataclass(frozen=True)
class Commands:
    """Command lines, one after the other, in a folder with `FILES` in it."""

    name: str
    lines: tuple[str, ...]


Case = Protect | Compare | Commands

_SPEC = """
data = "firms.csv"
by = ["region", "size"]
value = "turnover"
contributor = "firm"
rules = ["p%=15"]
hierarchy = {region = "region.hrc"}

[output]
folder = "out"
"""
_COUNTS = _SPEC.replace('value = "turnover"\ncontributor = "firm"\n', "seed = 7\n").replace("p%=15", "threshold=3")
_CELLS = """
cells = "cells.csv"
by = ["region", "size"]
value = "amount"
count = "n"
status = "status"
lpl = "lpl"
upl = "upl"
lower = "low"
upper = "high"
cost = "price"
rules = ["threshold=2"]

[output]
folder = "out"
formats = ["csv"]
decimals = 0
separate_statuses = true
"""
_LINKED = """
data = "firms.csv"
value = "turnover"
contributor = "firm"
rules = ["p%=15", "threshold=2"]
unions = "off"

[tables.region]
by = ["region", "size"]

[tables.branch]
by = ["branch", "size"]

[hierarchy]
region = "region.hrc"

[output]
folder = "out"
"""
_RECODED = _SPEC.replace('rules = ["p%=15"]', 'rules = ["p%=15"]\nmethod = "recode"').replace(
    "[output]", '[options]\nleast = false\nrules = {size = "size.grc"}\n\n[output]'
)
_SWAP = """
data = "people.csv"
by = ["town", "origin"]
rules = ["threshold=3"]
method = "swap"
seed = 3
hierarchy = {town = {columns = ["district", "town"]}}

[options]
geography = "district+town"
risk = "origin"
similar = "sex/"

[output]
folder = "out"
allow_unsafe = true
"""

#: what lies in the folder of command lines, besides ``firms.csv``, ``people.csv``, ``cells.csv``, ``table.jj``
FILES: Mapping[str, str] = {
    "region.hrc": TREE,
    "size.grc": "all: small, large, huge\n",
    "changes.hst": "n1;huge;u\ns1;small;s\nn2;large;c;1\nn3;small;pl;10;20\n",
    "spec.toml": _SPEC,
    "counts.toml": _COUNTS,
    "cells.toml": _CELLS,
    "linked.toml": _LINKED,
    "recoded.toml": _RECODED,
    "swap.toml": _SWAP,
    "wrong.toml": _SPEC.replace("rules", "rulez").replace('"size"]', '"sise"]'),
}

_UNSAFE = {"allow_unsafe": True}
_FLAGS = "--by region --by size --value turnover --contributor firm --hierarchy region=region.hrc --out out"

_THREE_WAY = "--by area --by branch --by size --value turnover --contributor firm --rule p%=10 --out out"

_HIDDEN: tuple[Case, ...] = (
    # rules
    Protect("rule-p-percent", "hierarchy"),
    Protect("rule-p-percent-coalition", "hierarchy", "p%=20,2"),
    Protect("rule-dominance", "hierarchy", "nk=2,85"),
    Protect("rule-pq", "hierarchy", "pq=10,50"),
    Protect("rule-threshold", "hierarchy", "threshold=3"),
    Protect("rule-several", "flat", ["p%=10", "nk=1,75", "threshold=3"]),
    Protect("rule-request", "requests", ["request=20,20,10", "threshold=2"]),
    Protect("rule-waiver", "waivers"),
    Protect("rule-granularity", "three-way", "granularity=5"),
    Protect("rule-manual", "finished", ["manual=10", "threshold=2"]),
    Protect("rule-zero", "counts", ["threshold=3", "zero=1"]),
    Protect("rule-refused", "counts", "p%=15"),
    Protect("rule-missing-safe", "unknown", ["missing", "p%=15"]),
    Protect("rule-none-sensitive", "flat", "threshold=1"),
    # shapes
    Protect("shape-one-way", "one-way"),
    Protect("shape-three-way", "three-way", "p%=10"),
    Protect("shape-columns", "columns"),
    Protect("shape-holdings", "holdings"),
    Protect("shape-weights", "weights", ["p%=15", "threshold=3"]),
    Protect("shape-shadow", "shadow"),
    Protect("shape-negative", "negative", "p%=15", None, {"bounds": "200%"}),
    Protect("shape-counts", "counts", "threshold=3"),
    Protect("shape-structural", "structural", "threshold=2"),
    Protect("shape-linked", "linked", "p%=15"),
    # what intruders know
    Protect("levels-sliding", "hierarchy", "p%=15", None, {"levels": "sliding"}),
    Protect("levels-upper", "hierarchy", "p%=15", None, {"levels": "upper"}),
    Protect("bounds-half", "hierarchy", "p%=15", None, {"bounds": "50%"}),
    Protect("bounds-too-near", "flat", "p%=50", None, {"bounds": "5%", **_UNSAFE}),
    Protect("no-singletons", "hierarchy", "threshold=3", None, {"singletons": False}),
    Protect("unions-off", "hierarchy", ["p%=15", "threshold=3"], None, {"unions": "off"}),
    Protect("unions-audit", "hierarchy", ["p%=15", "threshold=3"], None, {"unions": "audit", **_UNSAFE}),
    # methods that hide
    Protect("hide-exact", "hierarchy", "p%=15", tp.Suppress(method="exact")),
    Protect("hide-greedy", "hierarchy", "p%=15", tp.Suppress(method="greedy"), {"seed": 5}),
    Protect("hide-local", "hierarchy", "p%=15", tp.Suppress(method="local"), {"seed": 5}),
    Protect("hide-modular", "hierarchy", "p%=15", tp.Suppress(method="modular")),
    Protect("hide-hypercube", "hierarchy", "p%=15", tp.Suppress(method="hypercube")),
    Protect("hide-network", "flat", "p%=15", tp.Suppress(method="network")),
    Protect("hide-joint", "hierarchy", "p%=15", tp.Suppress(method="joint")),
    Protect("hide-passes", "linked", "p%=15", tp.Suppress(method="passes")),
    Protect("hide-highs", "flat", ["p%=15", "threshold=3"], tp.Suppress(method="exact", engine="highs")),
    Protect("hide-unit-cost", "hierarchy", "p%=15", tp.Suppress("unit", "exact")),
    Protect("hide-box-cox", "hierarchy", "p%=15", tp.Suppress("count", "exact", tp.BoxCox(0.5))),
    Protect("hide-preferences", "hierarchy", "p%=15", tp.Suppress(preferences={"region": {1: 10.0}})),
    Protect("hide-stopped", "three-way", "p%=10", None, {"limits": tp.Limits(work=150)}),
    Protect("hide-not-found", "three-way", "p%=10", None, {"limits": tp.Limits(work=40)}),
    Protect(
        "hide-decimals", "weights", "p%=15", None, {"decimals": 0, "separate_statuses": True, "intervals": False}
    ),
    Protect("recode-least", "hierarchy", "p%=15", tp.Recode()),
    Protect("recode-kept", "hierarchy", "p%=15", tp.Recode(keep={"region": 1})),
)  # fmt: skip

_SEED = {"seed": 3, **_UNSAFE}

_CHANGED: tuple[Case, ...] = (
    Protect("round", "hierarchy", "p%=15", tp.Round(base=20), _UNSAFE),
    Protect("round-counts", "counts", "threshold=3", tp.Round(base=4, levels=False), _UNSAFE),
    Protect("round-linked", "linked", "p%=15", tp.Round(), _UNSAFE),
    Protect("round-unbiased", "flat", "p%=15", tp.UnbiasedRound(base=50), {"seed": 2, **_UNSAFE}),
    Protect("round-successive", "three-way", "p%=10", tp.SuccessiveRound(base=50), _UNSAFE),
    Protect("round-random", "hierarchy", "p%=15", tp.RandomRound(base=50), {"seed": 2, **_UNSAFE}),
    Protect("round-conventional", "hierarchy", "p%=15", tp.ConventionalRound(base=50), _UNSAFE),
    Protect("adjust", "hierarchy", "p%=15", tp.Adjust(), _SEED),
    Protect("adjust-within", "flat", "p%=15", tp.Adjust(within=200, weights="unit", senses="up"), _SEED),
    Protect("adjust-squares", "flat", "p%=15", tp.Adjust(norm="l2", fixed="totals", decimals=2), _SEED),
    Protect("adjust-means", "flat", "p%=15", tp.Adjust(preserve="means"), _SEED),
    Protect("small-counts", "counts", "threshold=3", tp.SmallCounts(), _UNSAFE),
    Protect("cell-key-counts", "counts", "threshold=3", tp.CellKey(), {"seed": 4, **_UNSAFE}),
    Protect("cell-key-magnitudes", "hierarchy", "p%=15", tp.CellKey(small=0.2, key="key"), {"seed": 4, **_UNSAFE}),
    Protect(
        "swap", "people", "threshold=3",
        tp.Swap(geography=["district", "town"], risk=["origin"], similar=[["sex"], []], rate=0.1),
        {"seed": 4, **_UNSAFE},
    ),
)  # fmt: skip

_COMPARED: tuple[Case, ...] = (
    Compare("compare-magnitudes", "flat", "p%=15", ("suppress", "suppress:method=greedy", "recode", "round:base=20",
                                                    "adjust:norm=l2", "conventional-round:base=20")),
    Compare("compare-default", "counts", "threshold=3", None),
)  # fmt: skip

_COMMANDS: tuple[Case, ...] = (
    Commands("command-flags", (f"protect firms.csv {_FLAGS} --rule p%=15", "verify out", "audit out")),
    Commands("command-spec", ("protect spec.toml", "verify out", "audit out")),
    Commands("command-cells", ("protect cells.toml",)),
    Commands("command-linked", ("protect linked.toml", "protect linked.toml --method passes", "verify out")),
    Commands("command-apriori", ("protect spec.toml --rule p%=15 --rule apriori=changes.hst",)),
    Commands("command-options", ("protect spec.toml --method exact --cost unit --levels sliding --title Firms",)),
    Commands(
        "command-stopped",
        ("protect spec.toml --work-limit 1", *(f"protect firms.csv {_THREE_WAY} --work-limit {n}" for n in (300, 600))),
    ),
    Commands("command-round", ("protect spec.toml --method round --base 50 --allow-unsafe", "verify out")),
    Commands("command-adjust", ("protect spec.toml --method adjust --option senses=up --allow-unsafe --seed 3",)),
    Commands("command-cell-key", ("protect counts.toml --method cell-key --allow-unsafe",)),
    Commands("command-recode", ("protect recoded.toml",)),
    Commands("command-swap", ("protect swap.toml",)),
    Commands("command-not-safe", ("protect spec.toml --method conventional-round --base 2",)),
    Commands("command-wrong", ("protect wrong.toml", "protect spec.toml --method rond", "solve none.jj")),
    Commands(
        "command-compare",
        ("compare spec.toml --method suppress --method round:base=50 --work-limit 5000 --json out.json",),
    ),
    Commands(
        "command-solve",
        tuple(
            f"solve table.jj --method {method} --work-limit 5000 --json out.json"
            for method in (*methods(), "adjust", "round --base 5", "small-counts --base 3")
        ),
    ),
)  # fmt: skip

CASES: Mapping[str, Case] = {case.name: case for case in (*_HIDDEN, *_CHANGED, *_COMPARED, *_COMMANDS)}
