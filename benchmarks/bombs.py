"""Documents that are made to cost their reader time or memory, for `benchmarks.fuzz_verify`."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.alterations import resealed

__all__ = ["bombs"]


def bombs(certificate: Mapping[str, Any], folder: Path) -> dict[str, Path]:
    """Write documents that are made to cost their reader time or memory."""
    found: dict[str, Path] = {}

    def put(name: str, document: Any) -> None:
        found[name] = folder / f"bomb-{len(found)}.json"
        found[name].write_text(document if isinstance(document, str) else json.dumps(document))

    def changed(**sections: Any) -> dict[str, Any]:
        return resealed({**copy.deepcopy(dict(certificate)), **sections})

    problem = certificate["problem"]
    n = len(problem["cells"])
    witness = certificate["witnesses"][0]
    knows = [{"name": str(k), "known": [k % n]} for k in range(1000)]
    put("160,000 witnesses and 1,000 attackers", changed(
        witnesses=[witness] * 160_000, problem={**problem, "attackers": knows}))  # fmt: skip
    put("40,000 witnesses and 20,000 attackers", changed(
        witnesses=[witness] * 40_000,
        problem={**problem, "attackers": [{"name": "", "known": [witness["cells"][0]]}] * 20_000}))  # fmt: skip
    put("40,000 attackers who know everything", changed(
        problem={**problem, "attackers": [{"name": "", "known": list(range(n))}] * 40_000}))  # fmt: skip
    long = 10**4000 + 1
    moved = len(witness["cells"])
    put("witnesses of long numbers", changed(witnesses=[
        {**witness, "numerators": [long + k] * moved, "denominator": long} for k in range(500)]))  # fmt: skip
    chain = [[[k, f"{long + k}/{long - k - 2}"], [max(0, k - 1), "1/3"]] for k in range(3000)]
    put("a chain of sums", changed(bound="0", proof={"facts": [], "multipliers": [], "rows": [
        {"kind": "at_least_0", "cell": _free(problem)},
        *({"kind": "sum", "terms": terms} for terms in chain)]}))  # fmt: skip
    put("weights of many digits", changed(problem={**problem, "weights": [f"1e-{300 + k % 99}" for k in range(n)]}))
    put("lists of nothing", "[" + "[]," * 20_000_000 + "[]]")
    put("lists in lists", "[" * 20_000_000)
    put("objects", '{"a":[' + '{"b":{}},' * 6_000_000 + "{}]}")
    put("a long number", '{"a":' + "9" * 50_000_000 + "}")
    packed = folder / "bomb.json.gz"
    with gzip.open(packed, "wb", compresslevel=9) as stream:
        for _ in range(2000):
            stream.write(b" " * 1_000_000)
    found["2 GB of blanks, packed"] = packed
    return found


def _free(problem: Mapping[str, Any]) -> int:
    """Return a cell that may be hidden or not."""
    both = zip(problem["status"], problem["weights"], strict=True)
    return next(i for i, (status, weight) in enumerate(both) if status == 0 and weight != "0")
