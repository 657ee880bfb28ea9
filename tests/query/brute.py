"""Brute force over small databases: every set of units, by a linear programme over single records."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog


class Brute:
    """The definition of safety, record by record, without classes, witnesses or shared programmes."""

    def __init__(self, values, lower, upper, units, rules):
        self.x = np.asarray(values, float)
        self.lo, self.hi = (np.broadcast_to(np.asarray(b, float), self.x.shape) for b in (lower, upper))
        self.units, self.rules = np.asarray(units), rules

    def interval(self, sets, known, chosen):
        """Smallest and largest total of the chosen records over all data sets with the same answers."""
        lo, hi = self.lo.copy(), self.hi.copy()
        lo[list(known)] = hi[list(known)] = self.x[list(known)]
        A = np.array([np.asarray(s, float) for s in sets]) if len(sets) else None
        b = A @ self.x if A is not None else None
        bounds = [(l, None if np.isinf(h) else h) for l, h in zip(lo, hi, strict=True)]
        ends = []
        for sign in (1, -1):
            r = linprog(sign * np.asarray(chosen, float), A_eq=A, b_eq=b, bounds=bounds, method="highs")
            if r.status == 4:  # numerical trouble: presolve off, then on again with interior point
                r = linprog(sign * np.asarray(chosen, float), A_eq=A, b_eq=b, bounds=bounds, method="highs-ipm")
            assert r.status in (0, 3), r.message
            ends.append(-sign * np.inf if r.status == 3 else sign * r.fun)
        return ends

    def demands(self, sets, known):
        """Yield every set of records that a rule protects, with its levels down and up."""
        free = np.ones(len(self.x), bool)
        free[list(known)] = False
        kinds = sorted(set(self.units[free].tolist()))
        for rule in self.rules:
            kind, size, ratio = rule
            for k in range(1, size + 1):
                for chosen in itertools.combinations(kinds, k):
                    records = np.isin(self.units, chosen) & free
                    totals = [self.x[records & (self.units == u)].sum() for u in chosen]
                    tops = [(self.hi - self.x)[records & (self.units == u)].sum() for u in chosen]
                    ends = [(self.x - self.lo)[records & (self.units == u)].sum() for u in chosen]
                    if kind == "largest":
                        u = int(np.argmax(np.abs(totals)))
                        want = float(ratio) * abs(totals[u])
                        yield records, min(want, ends[u]), min(want, tops[u])
                    elif kind == "share":
                        want = [float(ratio) * abs(t) for t in totals]
                        yield records, sum(map(min, want, ends)), sum(map(min, want, tops))

    def whole(self, sets, known):
        """Yield unions of classes with few units (the threshold rule)."""
        free = np.ones(len(self.x), bool)
        free[list(known)] = False
        keys = {}
        for i in np.flatnonzero(free):
            keys.setdefault(tuple(bool(s[i]) for s in sets), []).append(i)
        classes = [v for k, v in keys.items() if any(k)]
        for kind, size, ratio in self.rules:
            if kind != "whole":
                continue
            for r in range(1, size + 1):
                for some in itertools.combinations(classes, r):
                    records = np.zeros(len(self.x), bool)
                    records[[i for c in some for i in c]] = True
                    if len(set(self.units[records].tolist())) <= size:
                        want = max(float(ratio) * abs(self.x[records].sum()), 1.0)
                        yield (
                            records,
                            min(want, (self.x - self.lo)[records].sum()),
                            min(want, (self.hi - self.x)[records].sum()),
                        )

    def breaches(self, sets, known=()):
        """Return the sets of records that are confined too closely."""
        found = []
        for records, down, up in itertools.chain(self.demands(sets, known), self.whole(sets, known)):
            low, high = self.interval(sets, known, records)
            total, tolerance = self.x[records].sum(), 1e-6 * max(1.0, np.abs(self.x).sum())
            if low > total - down + tolerance or high < total + up - tolerance:
                found.append((records, low, high, down, up))
        return found


RULES = {
    "p%=20": [("largest", 2, Fraction(1, 5))],
    "pq=10,40": [("largest", 2, Fraction(1, 4))],
    "p%=15,2": [("largest", 3, Fraction(15, 100))],
    "nk=1,75": [("share", 1, Fraction(1, 3))],
    "nk=2,80": [("share", 2, Fraction(1, 4))],
    "threshold=3": [("whole", 2, Fraction(1, 10))],
    "threshold=2,30": [("whole", 1, Fraction(3, 10))],
    "p%=10|threshold=3": [("largest", 2, Fraction(1, 10)), ("whole", 2, Fraction(1, 10))],
}


def determined(sets, n):
    """Which records are determined by linear algebra alone: their unit vectors lie in the row space."""
    if not len(sets):
        return np.zeros(n, bool)
    A = np.array([np.asarray(s, float) for s in sets])
    rank = np.linalg.matrix_rank(A)
    return np.array([np.linalg.matrix_rank(np.vstack([A, np.eye(n)[i]])) == rank for i in range(n)])
