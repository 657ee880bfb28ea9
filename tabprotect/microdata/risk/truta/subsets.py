"""The subset of keys with the largest risk (Truta et al. 2004, eq. 3.9 to 3.11).

The measure of a subset is a product of factors, which falls with every key, and a sum over clusters. For the minimal
and the maximal measure the sum rises with every key, so keys with factor 1 - icf = 1 belong to a largest subset and
keys with icf = 1 to none. For a weight matrix the first half does not hold in general: a key that splits released
clusters and not the original ones can move records away from the diagonal. So the weighted measure is searched over
keys with icf = 0 as well; its bound is the sum of the maximal measure, which it never exceeds.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tabprotect.microdata.risk.truta.clusters import ClusterRisk

__all__ = ["Kind", "Largest", "largest_subset"]

Kind = Literal["least", "most", "weighted"]
Subset = tuple[int, ...]


@dataclass(frozen=True)
class Largest:
    """The largest value that was found, and a bound on what there can be.

    Attributes
    ----------
    value, bound : float
        Equal if the value is proven to be the largest.
    subset : tuple of int
        Positions of the keys.
    evaluated : int
        How many subsets were looked at.
    """

    value: float
    bound: float
    subset: Subset
    evaluated: int

    @property
    def proven(self) -> bool:
        """Whether no subset has a larger value."""
        return self.bound <= self.value


def largest_subset(
    evaluate: Callable[[Subset], ClusterRisk], factors: Sequence[float], kind: Kind, limit: int
) -> Largest:
    """Search the subset of keys with the largest risk, best bound first.

    Parameters
    ----------
    evaluate : callable
        Sums of the measures for a subset; called once for each.
    factors : sequence of float
        The inversion-change factors of the keys.
    kind : {'least', 'most', 'weighted'}
    limit : int
        After so many evaluations of subsets the search ends, with the best value so far and a bound. A greedy search,
        which drops one key after the other, comes first and is carried out in any case.
    """
    search = _Search(evaluate, factors, kind)
    useful = tuple(k for k, icf in enumerate(factors) if icf < 1)
    if not useful:
        return Largest(0.0, 0.0, (), 0)
    search.greedy(useful)
    fixed = tuple(k for k in useful if factors[k] == 0) if kind != "weighted" else ()
    free = tuple(sorted((k for k in useful if k not in fixed), key=lambda k: -factors[k]))
    search.branch(fixed, free, limit)
    return Largest(search.value, search.bound, search.subset, len(search.known))


class _Search:
    def __init__(self, evaluate: Callable[[Subset], ClusterRisk], factors: Sequence[float], kind: Kind) -> None:
        self.evaluate, self.factors, self.kind = evaluate, factors, kind
        self.known: dict[Subset, ClusterRisk] = {}
        self.value, self.bound = -1.0, float("inf")
        self.subset: Subset = ()

    def _factor(self, subset: Sequence[int]) -> float:
        # in one order: rounding must not depend on how a subset was reached
        return float(np.prod([1 - self.factors[k] for k in sorted(subset)]))

    def _sums(self, subset: Sequence[int]) -> ClusterRisk:
        key = tuple(sorted(subset))
        if key not in self.known:
            self.known[key] = self.evaluate(key)
        return self.known[key]

    def _try(self, subset: Sequence[int]) -> float:
        """Return the measure of a subset, and keep it if it is the largest so far."""
        if not subset:
            return 0.0
        value = float(self._factor(subset) * getattr(self._sums(subset), self.kind))
        if value > self.value:
            self.value, self.subset = value, tuple(sorted(subset))
        return value

    def greedy(self, keys: Subset) -> None:
        """Drop the key whose absence helps most, as long as one does."""
        current, value = keys, self._try(keys)
        while len(current) > 1:
            tries = [(self._try(tuple(k for k in current if k != gone)), gone) for gone in current]
            best, gone = max(tries)
            if best <= value:
                return
            current, value = tuple(k for k in current if k != gone), best

    def branch(self, fixed: Subset, free: Subset, limit: int) -> None:
        """Decide one key after the other; what is left is bounded by the sum of all keys that it may still have."""
        rising: Kind = "most" if self.kind == "weighted" else self.kind

        def bound(inside: Subset, rest: Subset) -> float:
            if not inside and not rest:
                return 0.0
            return float(self._factor(inside) * getattr(self._sums((*inside, *rest)), rising))

        heap: list[tuple[float, int, Subset, Subset]] = [(-bound(fixed, free), 0, fixed, free)]
        number = 0
        while heap and -heap[0][0] > self.value and len(self.known) < limit:
            _, _, inside, rest = heapq.heappop(heap)
            if not rest:
                self._try(inside)
                continue
            for chosen in ((*inside, rest[0]), inside):
                self._try((*chosen, *rest[1:]))
                number += 1
                heapq.heappush(heap, (-bound(chosen, rest[1:]), number, chosen, rest[1:]))
        self.bound = max(self.value, -heap[0][0] if heap else -np.inf)
