"""Random noise (survey of Ciriani et al., section 4.2; Kim 1986; Ting, Fienberg, Trottini 2008)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import linalg

from tabprotect.errors import Problems
from tabprotect.microdata.checks import ROUNDING
from tabprotect.microdata.claims import Claim, claim_kind
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, need_choice, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import NUMERIC, Scale

__all__ = ["Noise"]

Floats = npt.NDArray[np.float64]
Kind = Literal["uncorrelated", "correlated", "linear", "multiplicative", "romm"]

KINDS = ("uncorrelated", "correlated", "linear", "multiplicative", "romm")


@dataclass(frozen=True)
class Noise(Method):
    """Values are moved at random: by adding, by multiplying, or by rotating the records.

    A record in which one of the columns is missing stays as it is where the columns are treated together (correlated,
    linear, romm); else missing values stay missing. Weights are not looked at. Within each stratum of the schema
    variances, covariances and means are those of the stratum.

    Parameters
    ----------
    columns : str or sequence of str
        Continuous columns.
    kind : {'uncorrelated', 'correlated', 'linear', 'multiplicative', 'romm'}
        'uncorrelated' adds independent normal errors with ``alpha`` times the variance of the column; 'correlated'
        adds errors with ``alpha`` times the covariance matrix; 'linear' does so and shrinks the sum to the mean, so
        that means and covariances are kept in expectation, with ``exact`` exactly (Kim 1986). 'multiplicative'
        multiplies by a factor of mean 1. 'romm' multiplies the records by a random orthogonal matrix that keeps means
        and covariances exactly.
    alpha : float
        Strength: variance of the error over that of the column; for 'multiplicative' the variance of the factor; for
        'romm' the size of the random part before it is made orthogonal (0: nothing changes).
    least, most : float, optional
        Only 'multiplicative': the factor is uniform in [1 - most, 1 - least] or [1 + least, 1 + most], so that every
        value is moved by ``least`` of its size or more. Without them it is lognormal.
    exact : bool
        Additive kinds: errors are centred, so that the mean stays exactly; 'linear' also keeps the covariance matrix
        of the file exactly.
    block : int
        Only 'romm': rotations take place within random blocks of so many records.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"income": [10.0, 20.0, 30.0, 44.0]})
    >>> masked = md.mask(frame, None, md.Noise("income", alpha=0.1, exact=True), seed=1)
    >>> round(float(masked.frame["income"].mean()), 9)
    26.0
    """

    name: ClassVar[str] = "noise"
    family: ClassVar[str] = "perturbative"
    scales: ClassVar[tuple[Scale, ...]] = NUMERIC
    random: ClassVar[bool] = True
    claim_kinds: ClassVar[tuple[str, ...]] = ("moments", "moved-at-least")
    source: ClassVar[str] = "Ciriani et al. 2007, section 4.2 (random noise)"

    columns: Sequence[str] | str
    kind: Kind = "uncorrelated"
    alpha: float = 0.1
    least: float | None = None
    most: float | None = None
    exact: bool = False
    block: int = 50

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        need_choice(self, "kind", problems, KINDS)
        need_number(self, "alpha", problems, above=0)
        need_number(self, "block", problems, least=2, most=2000, whole=True)
        for name in ("least", "most"):
            need_number(self, name, problems, above=0, below=1, optional=True)
        if (self.least is None) != (self.most is None):
            problems.add("noise: give both least and most")
        if self.least is not None and self.kind != "multiplicative":
            problems.add(f"noise: least and most belong to kind='multiplicative', not to '{self.kind}'")
        if problems.found:
            return
        if self.least is not None and self.most is not None and self.least >= self.most:
            problems.add("noise: least must be below most")
        if self.exact and self.kind in ("multiplicative", "romm"):
            problems.add(f"noise: exact belongs to additive noise, not to kind='{self.kind}'")

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self.columns)

    def apply(self, call: MethodCall) -> Masking:
        """Draw and add, multiply or rotate."""
        records = call.records
        values = records.matrix(self.columns)
        new = values.copy()
        together = self.kind in ("correlated", "linear", "romm")
        left, small = 0, 0
        for rows in records.strata():
            if together:
                whole = rows[~np.isnan(values[rows]).any(axis=1)]
                left += len(rows) - len(whole)
                if len(whole) < 2:
                    small += len(whole)
                    continue
                new[whole] = self._move(values[whole], call.rng)
                continue
            for j in range(values.shape[1]):
                there = rows[~np.isnan(values[rows, j])]
                if len(there) < 2 and self.kind == "uncorrelated":
                    small += len(there)
                    continue
                new[there, j] = self._move(values[there, j : j + 1], call.rng)[:, 0]
        for j, name in enumerate(self.columns):
            records = records.with_numbers(name, new[:, j])
        notes = []
        if left:
            notes.append(f"{left} records with a missing value were left as they are")
        if small:
            notes.append(f"{small} values alone in their stratum have no variance and were left as they are")
        facts = {"kind": self.kind, "root mean square change": _change(values, new, self.columns)}
        return Masking(records, facts, self._claims(call.records, values), notes=tuple(notes))

    def _move(self, x: Floats, rng: np.random.Generator) -> Floats:
        if self.kind == "multiplicative":
            return x * self._factors(x.shape, rng)
        if self.kind == "romm":
            return rotate(x, self.alpha, self.block, rng)
        mean, cov = x.mean(axis=0), np.atleast_2d(np.cov(x, rowvar=False, ddof=0))
        error = rng.standard_normal(x.shape) @ root(self.alpha * cov)
        if self.exact:
            error -= error.mean(axis=0)
        if self.kind != "linear":
            return x + error
        moved = x + error
        if not self.exact:
            return np.asarray(mean + (moved - mean) / np.sqrt(1 + self.alpha))
        return np.asarray(mean + same_covariance(moved - moved.mean(axis=0), cov))

    def _factors(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        if self.least is not None and self.most is not None:
            size = rng.uniform(self.least, self.most, shape)
            return 1 + np.where(rng.random(shape) < 0.5, -size, size)
        spread = np.sqrt(np.log1p(self.alpha))
        return np.asarray(np.exp(spread * rng.standard_normal(shape) - spread**2 / 2))

    def _claims(self, records: Records, values: Floats) -> tuple[Claim, ...]:
        names = list(self.columns)
        if self.kind == "multiplicative":
            if self.least is None:
                return ()
            # numbers are rounded once, so a move may fall short by the last digit
            given = {"columns": names, "share": self.least}
            text = f"every value of {', '.join(names)} is moved by {self.least:g} of its size or more"
            return (Claim("moved-at-least", tuple(names), text, given, tuple(names)),)
        # of whole columns, means add up over strata; covariances only where there is one stratum
        if not self.exact and self.kind != "romm":
            return ()
        claims = []
        if self.kind in ("linear", "romm") and len(records.strata()) == 1:
            whole = values[~np.isnan(values).any(axis=1)]
            if len(whole) > 1:
                cov = np.atleast_2d(np.cov(whole, rowvar=False))
                given = {"columns": names, "mean": whole.mean(axis=0).tolist(), "covariance": cov.tolist()}
                text = f"means and covariances of {', '.join(names)} are those of before"
                return (Claim("moments", tuple(names), text, {**given, "tolerance": 1e-7}),)
        for j, name in enumerate(names):
            there = values[~np.isnan(values[:, j]), j]
            if len(there):
                given = {"columns": [name], "mean": [float(there.mean())], "tolerance": 1e-7}
                claims.append(Claim("moments", (name,), f"the mean of '{name}' is that of before", given))
        return tuple(claims)


def root(cov: Floats) -> Floats:
    """Return a matrix R with R' R = cov, also where cov is singular."""
    found, vectors = linalg.eigh(cov)
    return np.asarray((vectors * np.sqrt(np.maximum(found, 0))).T)


def same_covariance(x: Floats, cov: Floats) -> Floats:
    """Transform centred records linearly so that their covariance matrix (divisor n) is a given one.

    Directions in which the wanted matrix has no variance get none.
    """
    have = x.T @ x / len(x)
    found, vectors = linalg.eigh(have)
    keep = found > found.max(initial=0) * ROUNDING
    if not keep.any():
        return np.zeros_like(x)
    whitened = x @ (vectors[:, keep] / np.sqrt(found[keep]))
    want, directions = linalg.eigh(cov)
    order = np.argsort(want)[::-1][: int(keep.sum())]
    target = (directions[:, order] * np.sqrt(np.maximum(want[order], 0))).T
    if keep.all():
        # as near to the given records as a linear map can be
        u, _, vt = linalg.svd((whitened.T @ x) @ target.T)
        whitened = whitened @ (u @ vt)
    return np.asarray(whitened @ target)


def rotate(x: Floats, strength: float, block: int, rng: np.random.Generator) -> Floats:
    """Multiply blocks of records by random orthogonal matrices that keep every mean (ROMM).

    A block of m records becomes T x with T orthogonal and T 1 = 1: sums and cross products stay.
    """
    n = len(x)
    new = x.copy()
    blocks = np.array_split(rng.permutation(n), max(1, round(n / block)))
    for size in sorted({len(rows) for rows in blocks if len(rows) > 1}):
        rows = np.array([one for one in blocks if len(one) == size])
        # many blocks at a time, as far as their matrices take little memory
        for part in np.array_split(rows, max(1, len(rows) * size**2 // 2_000_000)):
            new[part] = _rotated(x[part], strength, rng)
    return new


def _rotated(x: Floats, strength: float, rng: np.random.Generator) -> Floats:
    """Rotate blocks, shape (blocks, m, columns), each about the direction of equal values."""
    count, m, _ = x.shape
    # a reflection that takes 1 to the first axis
    v = np.full(m, 1 / np.sqrt(m))
    v[0] -= 1.0
    v /= np.linalg.norm(v)
    mirrored = x - 2 * v[:, None] * (v @ x)[:, None, :]
    step = np.eye(m - 1) + strength * rng.standard_normal((count, m - 1, m - 1)) / np.sqrt(m - 1)
    q, r = np.linalg.qr(step)
    q *= np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :]
    mirrored[:, 1:] = q @ mirrored[:, 1:]
    return np.asarray(mirrored - 2 * v[:, None] * (v @ mirrored)[:, None, :])


def _change(old: Floats, new: Floats, names: Sequence[str]) -> dict[str, float]:
    with np.errstate(invalid="ignore"):
        size = np.sqrt(np.nanmean((new - old) ** 2, axis=0)) if len(old) else np.zeros(len(names))
    return {name: float(s) if np.isfinite(s) else 0.0 for name, s in zip(names, size, strict=True)}


@claim_kind("moved-at-least")
def _moved(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Every value differs from before by a share of its size or more (to rounding)."""
    assert before is not None
    for name in given["columns"]:
        old, new = before.numbers(name), after.numbers(name)
        short = np.abs(new - old) < given["share"] * np.abs(old) * (1 - ROUNDING)
        if short.any():
            return f"{int(short.sum())} values of '{name}' are moved less"
    return ""
