"""Hybrid masking: records are combined with synthetic ones (Dandekar et al. 2002; survey, section 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.spatial import cKDTree

from tabprotect.counted import counted
from tabprotect.errors import Problems
from tabprotect.microdata.masking.noise import root
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, need_choice, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import NUMERIC, Scale
from tabprotect.microdata.synthesis.gaussian import exactly_uncorrelated
from tabprotect.microdata.synthesis.latin_hypercube import latin_hypercube

__all__ = ["HybridMasking"]


@dataclass(frozen=True)
class HybridMasking(Method):
    """Each record is paired with the nearest of a synthetic sample, and the two are combined.

    A record with a missing value in one of the columns stays as it is. Weights and strata are not looked at.

    Parameters
    ----------
    columns : sequence of str
        Continuous columns.
    share : float
        Part of the original value (1 leaves it, 0 releases the synthetic one).
    kind : {'additive', 'multiplicative'}
        ``share x + (1 - share) s``, or ``x**share * s**(1 - share)`` (values above 0 only).
    sample : {'latin-hypercube', 'cholesky'}
        How the synthetic sample is made.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"x": [1.0, 2.0, 4.0, 9.0], "y": [3.0, 1.0, 5.0, 8.0]})
    >>> new = md.mask(frame, None, md.HybridMasking(["x", "y"], share=0.5), seed=1).frame
    >>> bool((new != frame).all().all())
    True
    """

    name: ClassVar[str] = "hybrid-masking"
    family: ClassVar[str] = "partially synthetic"
    scales: ClassVar[tuple[Scale, ...]] = NUMERIC
    random: ClassVar[bool] = True
    source: ClassVar[str] = "Ciriani et al. 2007, section 5.2 (hybrid masking)"

    columns: Sequence[str] | str
    share: float = 0.5
    kind: Literal["additive", "multiplicative"] = "additive"
    sample: Literal["latin-hypercube", "cholesky"] = "latin-hypercube"

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        need_number(self, "share", problems, least=0, below=1)
        need_choice(self, "kind", problems, ("additive", "multiplicative"))
        need_choice(self, "sample", problems, ("latin-hypercube", "cholesky"))
        if self.kind == "multiplicative" and self.sample == "cholesky":
            problems.add("hybrid-masking: a Cholesky sample has values below 0; take sample='latin-hypercube'")

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self.columns)

    def check(self, records: Records, problems: Problems) -> None:
        """Note values that cannot be multiplied, and files that are too small."""
        x = records.matrix(self.columns)
        complete = int((~np.isnan(x).any(axis=1)).sum())
        if complete <= len(self.columns):
            problems.add(
                f"{counted(complete, 'complete record is', 'complete records are')} too few for "
                f"{counted(len(self.columns), 'column')}"
            )
        if self.kind == "multiplicative":
            for j, name in enumerate(self.columns):
                if (x[:, j] <= 0).any():
                    problems.add(f"column '{name}' has values of 0 or less; take kind='additive'")

    def apply(self, call: MethodCall) -> Masking:
        """Draw, pair and combine."""
        records = call.records
        values = records.matrix(self.columns)
        whole = ~np.isnan(values).any(axis=1)
        x = values[whole]
        if self.sample == "cholesky":
            drawn = exactly_uncorrelated(len(x), x.shape[1], call.rng)
            synthetic = x.mean(axis=0) + drawn @ root(np.atleast_2d(np.cov(x, rowvar=False)))
        else:
            synthetic, _ = latin_hypercube(x, len(x), 10, call.rng)
        spread = np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
        paired = synthetic[cKDTree(synthetic / spread).query(x / spread)[1]]
        new = values.copy()
        if self.kind == "additive":
            new[whole] = self.share * x + (1 - self.share) * paired
        else:
            new[whole] = x**self.share * paired ** (1 - self.share)
        for j, name in enumerate(self.columns):
            records = records.with_numbers(name, new[:, j])
        left = int((~whole).sum())
        notes = (f"{left} records with a missing value were left as they are",) if left else ()
        return Masking(records, {"share": self.share, "sample": self.sample}, notes=notes)
