"""Good roundings without proof: keep a relaxation where it is whole, solve for the rest, better it piece by piece."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.methods.rounding.lattice import walk
from tabprotect.methods.rounding.programme import Programme
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import INTEGRALITY

__all__ = ["Search"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

#: share of groups that are not whole in the relaxation of a strongly linked table
_LINKED = 0.2

#: tree nodes of one piece, and its share of the seconds left
_NODES, _SECONDS_SHARE = 400, 0.25

#: rings of equations around what is not whole that are opened when the rest has no solution
_RINGS = 4

#: spread of the factors on prices in randomised tries
_NOISE = 0.3

#: groups that one piece opens, at first and at most
_PIECE = (150, 1500)


@dataclass
class Search:
    """The best multiples so far, and ways to better ones.

    Attributes
    ----------
    programme : Programme
    budget : Budget
    rng : numpy.random.Generator
    multiples : ndarray or None
        Of the groups.
    cost : float
    bound : float
        From relaxations; -inf when unknown.
    infeasible : bool
        Not even the relaxation has a solution.
    """

    programme: Programme
    budget: Budget
    rng: np.random.Generator
    multiples: Ints | None = None
    cost: float = np.inf
    bound: float = -np.inf
    infeasible: bool = False
    relaxed: Floats | None = None

    def offer(self, multiples: Floats | Ints | None) -> bool:
        """Take multiples if they are the best."""
        if multiples is None:
            return False
        whole = np.rint(multiples).astype(np.int64)
        cost = self.programme.distance(whole)
        if cost >= self.cost:
            return False
        self.multiples, self.cost = whole, cost
        self.budget.report("round", cost=cost, bound=self.bound if np.isfinite(self.bound) else None)
        return True

    def relax(self) -> None:
        """Solve the relaxation: a bound, and where to look."""
        answer, multiples = self.programme.solve(self.budget, relax=True)
        if answer.status == "infeasible":
            self.infeasible = True
        if answer.status == "optimal" and answer.bound is not None:
            self.bound = max(self.bound, answer.bound + self.programme.constant)
            self.relaxed = multiples
            if multiples is not None and np.all(np.abs(multiples - np.rint(multiples)) <= INTEGRALITY):
                self.offer(multiples)

    def neighbours(self, noise: bool = False) -> bool:
        """Keep what the relaxation has whole and solve for the rest, in wider and wider rings where that cannot be."""
        p = self.programme
        target, prices = self.relaxed, None
        if noise:
            prices = 1.0 + _NOISE * self.rng.standard_normal(len(p.cost))
            _, target = p.solve(self.budget, relax=True, noise=np.sort(prices) if p.norm == "linf" else prices)
        if target is None:
            return False
        whole = np.abs(target - np.rint(target)) <= INTEGRALITY
        open_ = ~whole
        for ring in range(_RINGS):
            if self.budget.exhausted:
                return False
            low = np.where(open_ & ~whole & (ring == 0), np.floor(target), np.where(open_, p.low, np.rint(target)))
            high = np.where(open_ & ~whole & (ring == 0), np.ceil(target), np.where(open_, p.high, np.rint(target)))
            _, found = p.solve(
                self.budget,
                low=np.clip(low, p.low, p.high).astype(np.int64),
                high=np.clip(high, p.low, p.high).astype(np.int64),
                seconds=self._seconds(),
                nodes=_NODES,
            )
            if found is not None:
                return self.offer(found)
            if open_.all():
                return False
            open_ = self._wider(open_)
        return False

    @property
    def linked(self) -> bool:
        """Whether the relaxation is far from whole: then there is little to keep of it."""
        if self.relaxed is None:
            return False
        return bool(np.mean(np.abs(self.relaxed - np.rint(self.relaxed)) > INTEGRALITY) > _LINKED)

    def lattice(self) -> bool:
        """Walk over tables that add up to one within all bounds."""
        return self.offer(walk(self.programme, self.budget))

    def pieces(self, patience: int, ends: float) -> None:
        """Open one neighbourhood after the other; stop after `patience` vain ones or `ends` seconds."""
        p = self.programme
        vain, size = 0, _PIECE[0]
        while (
            self.multiples is not None and vain < patience and not self.budget.exhausted and self.budget.seconds < ends
        ):
            if self.cost <= self.bound * (1 + INTEGRALITY):
                break
            open_ = self._around(size)
            answer, found = p.solve(
                self.budget,
                low=np.where(open_, p.low, self.multiples),
                high=np.where(open_, p.high, self.multiples),
                start=self.multiples,
                seconds=self._seconds(),
                nodes=_NODES,
            )
            better = self.offer(found)
            vain = 0 if better else vain + 1
            if vain and vain % 6 == 0:
                size = min(2 * size, _PIECE[1])
            if open_.all() and answer.status == "optimal":
                break

    def _around(self, size: int) -> Bools:
        """Groups within as many equations of a random one as make `size`, drawn where the relaxation disagrees."""
        p = self.programme
        assert self.multiples is not None
        odd = np.ones(len(p.low)) if self.relaxed is None else 0.01 + np.abs(self.relaxed - self.multiples)
        movable = p.low < p.high
        odd = np.where(movable, odd, 0.0)
        if not odd.any():
            return np.ones(len(p.low), bool)
        open_ = np.zeros(len(p.low), bool)
        open_[self.rng.choice(len(odd), p=odd / odd.sum())] = True
        while np.sum(open_ & movable) < size:
            wider = self._wider(open_)
            if wider.sum() == open_.sum():
                break
            if np.sum(wider & movable) > 2 * size:
                ring = self.rng.permutation(np.flatnonzero(wider & movable & ~open_))
                open_[ring[: size - int(np.sum(open_ & movable))]] = True
                break
            open_ = wider
        return open_

    def _wider(self, open_: Bools) -> Bools:
        """All groups that share an equation with an open one."""
        pattern = sparse.csr_array(abs(self.programme.A).sign())
        rows = np.asarray(pattern @ open_.astype(np.float64)) > 0
        return np.asarray(pattern.T @ rows.astype(np.float64) > 0) | open_

    def _seconds(self) -> float | None:
        left = self.budget.seconds_left
        return _SECONDS_SHARE * left if np.isfinite(left) else None
