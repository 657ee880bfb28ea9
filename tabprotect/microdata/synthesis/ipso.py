"""Information preserving statistical obfuscation (Burridge 2003; survey of Ciriani et al., section 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import linalg

from tabprotect.errors import Problems
from tabprotect.microdata.checks import ROUNDING
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.masking.noise import root, same_covariance
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, need_choice
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import NUMERIC, Scale

__all__ = ["IPSO"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class IPSO(Method):
    """Columns are drawn anew from their regression on others, which stay as they are.

    A record with a missing value in one of the columns stays as it is. Weights and strata are not looked at.

    Parameters
    ----------
    columns : str or sequence of str
        Continuous columns that are replaced (Y of the paper; what an intruder might know).
    given : str or sequence of str
        Continuous columns that they are regressed on and that stay (X; what the survey asked).
    variant : {'A', 'B', 'C'}
        'A' adds normal errors with the residual covariance to the fitted values. 'B' makes the errors uncorrelated
        with X, so that the regression coefficients stay exactly. 'C' also keeps the residual covariance matrix, and
        with it all means and covariances of both, exactly.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"age": [23.0, 35.0, 47.0, 51.0, 62.0], "debt": [5.0, 9.0, 2.0, 14.0, 8.0]})
    >>> masked = md.mask(frame, None, md.IPSO("age", given="debt", variant="C"), seed=1)
    >>> bool((masked.frame.cov() - frame.cov()).abs().max().max() < 1e-9), masked.frame["debt"].equals(frame["debt"])
    (True, True)
    """

    name: ClassVar[str] = "ipso"
    family: ClassVar[str] = "partially synthetic"
    scales: ClassVar[tuple[Scale, ...]] = NUMERIC
    random: ClassVar[bool] = True
    claim_kinds: ClassVar[tuple[str, ...]] = ("moments", "cross-covariances")
    source: ClassVar[str] = "Ciriani et al. 2007, section 5.2 (IPSO)"

    columns: Sequence[str] | str
    given: Sequence[str] | str
    variant: Literal["A", "B", "C"] = "C"

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        as_columns(self, "given", problems)
        need_choice(self, "variant", problems, ("A", "B", "C"))
        both = set(self.columns) & set(self.given)
        if both:
            problems.add(f"ipso: {', '.join(sorted(both))} cannot be both replaced and given")

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the replaced columns."""
        return tuple(self.columns)

    def uses(self, records: Records) -> tuple[str, ...]:
        """Return the columns that stay."""
        return tuple(self.given)

    def check(self, records: Records, problems: Problems) -> None:
        """Note files that are too small."""
        for name in self.given:
            if records.scale(name) is not Scale.CONTINUOUS:
                problems.add(f"column '{name}' is {records.scale(name)}; given columns are continuous")
        if problems.found:
            return
        values = records.matrix([*self.columns, *self.given])
        complete, least = int((~np.isnan(values).any(axis=1)).sum()), len(self.columns) + len(self.given) + 1
        if complete <= least:
            problems.add(f"{complete} complete records; a regression of these columns needs more than {least}")

    def apply(self, call: MethodCall) -> Masking:
        """Regress and draw."""
        records = call.records
        y, x = records.matrix(self.columns), records.matrix(self.given)
        whole = ~(np.isnan(y).any(axis=1) | np.isnan(x).any(axis=1))
        new = y.copy()
        new[whole] = obfuscate(x[whole], y[whole], self.variant, call.rng)
        for j, name in enumerate(self.columns):
            records = records.with_numbers(name, new[:, j])
        left = int((~whole).sum())
        notes = (f"{left} records with a missing value were left as they are",) if left else ()
        claims = self._claims(x[whole], y[whole]) if whole.all() else ()
        return Masking(records, {"variant": self.variant}, claims, notes=notes)

    def _claims(self, x: Floats, y: Floats) -> tuple[Claim, ...]:
        names = [*self.columns, *self.given]
        both = np.column_stack([y, x])
        mean, cov = both.mean(axis=0), np.cov(both, rowvar=False)
        if self.variant == "A":
            return ()
        given = {"columns": names, "mean": mean.tolist(), "covariance": cov.tolist(), "tolerance": 1e-7}
        if self.variant == "C":
            return (Claim("moments", tuple(names), f"means and covariances of {', '.join(names)} stay", given),)
        part = {**given, "first": list(self.columns), "second": list(self.given)}
        text = f"the regression of {', '.join(self.columns)} on {', '.join(self.given)} stays"
        return (Claim("cross-covariances", tuple(names), text, part),)


def obfuscate(x: Floats, y: Floats, variant: str, rng: np.random.Generator) -> Floats:
    """Return new y; see `IPSO`."""
    design = np.column_stack([np.ones(len(x)), x])
    basis, found, _ = linalg.svd(design, full_matrices=False)
    basis = basis[:, found > found.max() * ROUNDING]
    fitted = basis @ (basis.T @ y)
    residual = y - fitted
    cov = residual.T @ residual / len(y)
    error = rng.standard_normal(y.shape)
    if variant == "A":
        return np.asarray(fitted + error @ root(cov * len(y) / max(len(y) - basis.shape[1], 1)))
    error -= basis @ (basis.T @ error)
    if variant == "B":
        return np.asarray(fitted + error @ root(cov * len(y) / max(len(y) - basis.shape[1], 1)))
    return np.asarray(fitted + same_covariance(error, cov))
