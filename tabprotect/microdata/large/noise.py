"""Noise in batches: variances and covariances first, then one random number for every value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tabprotect.microdata.claims import Claim
from tabprotect.microdata.large.coding import floats_as
from tabprotect.microdata.large.draws import Draws
from tabprotect.microdata.large.part import Codebook, Part, replaced
from tabprotect.microdata.large.plan import Plan, Task, like, need_numbers, planner, refuse
from tabprotect.microdata.large.stage import codebook
from tabprotect.microdata.large.sums import moments
from tabprotect.microdata.masking.noise import Noise, root

__all__: list[str] = []

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Added:
    """Errors with given roots of covariance matrices, shape (strata, columns, columns).

    `shrink` is 1, or what takes the sum of value and error back to the variance of the value, about `mean`.
    """

    names: tuple[str, ...]
    strata: Codebook
    roots: Floats
    mean: Floats
    shrink: float
    together: bool
    kinds: tuple[pa.DataType, ...]
    draws: Draws

    def __call__(self, part: Part) -> Part:
        x = part.matrix(self.names)
        strata = self.strata.codes(part.table)
        z = np.column_stack([self.draws.normal(part.rows, j) for j in range(len(self.names))])
        # few columns: sums over them in a fixed order, whatever the size of the batch
        error = np.zeros_like(x)
        for i in range(len(self.names)):
            error += z[:, i : i + 1] * self.roots[strata, i]
        new = x + error
        if self.shrink != 1:
            mean = self.mean[strata]
            new = mean + (new - mean) / self.shrink
        if self.together:
            gap = np.isnan(x).any(axis=1)
            new[gap] = x[gap]
        return _with(part, self.names, new, self.kinds)


@dataclass(frozen=True)
class _Multiplied:
    names: tuple[str, ...]
    spread: float
    least: float | None
    most: float | None
    kinds: tuple[pa.DataType, ...]
    draws: Draws

    def __call__(self, part: Part) -> Part:
        x = part.matrix(self.names)
        new = np.column_stack([x[:, j] * self._factors(part, j) for j in range(x.shape[1])])
        return _with(part, self.names, new, self.kinds)

    def _factors(self, part: Part, j: int) -> Floats:
        if self.least is None or self.most is None:
            return np.asarray(np.exp(self.spread * self.draws.normal(part.rows, j) - self.spread**2 / 2))
        size = self.least + (self.most - self.least) * self.draws.uniform(part.rows, 2 * j)
        return 1 + np.where(self.draws.uniform(part.rows, 2 * j + 1) < 0.5, -size, size)


def _with(part: Part, names: tuple[str, ...], new: Floats, kinds: tuple[pa.DataType, ...]) -> Part:
    table = part.table
    for j, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        table = replaced(table, name, floats_as(new[:, j], kind))
    return Part(part.rows, table)


@planner(Noise)
def _plan(method: Noise, task: Task) -> Plan:
    stage, names = task.stage, tuple(method.columns)
    if method.kind == "romm":
        refuse(method, "kind='romm'", "take kind='linear', which keeps means and covariances in expectation")
    if method.exact:
        refuse(method, "exact=True", "leave it out: means are kept in expectation then")
    need_numbers(stage, names)
    kinds = tuple(pa.float32() if stage.arrow.field(n).type == pa.float32() else pa.float64() for n in names)
    arrow = stage.arrow
    for name, kind in zip(names, kinds, strict=True):
        arrow = like(arrow, name, kind)
    facts = {"kind": method.kind}
    if method.kind == "multiplicative":
        change = _Multiplied(
            names, float(np.sqrt(np.log1p(method.alpha))), method.least, method.most, kinds, task.draws
        )  # fmt: skip
        claims: tuple[Claim, ...] = ()
        if method.least is not None:
            text = f"every value of {', '.join(names)} is moved by {method.least:g} of its size or more"
            claims = (Claim("moved-at-least", names, text, {"columns": list(names), "share": method.least}, names),)
        return Plan(change, arrow, task.schema, facts, claims)
    together = method.kind != "uncorrelated"
    strata, _ = codebook(stage, task.schema.strata)
    found = moments(stage, names, strata, together)
    roots = np.array([root(method.alpha * cov) for cov in found.cov])
    shrink = float(np.sqrt(1 + method.alpha)) if method.kind == "linear" else 1.0
    notes = []
    if together and (left := stage.count - int(found.count[:, 0].sum())):
        notes.append(f"{left} records with a missing value were left as they are")
    alone = found.count[:, :1] if together else found.count
    if small := int((alone == 1).sum()):
        notes.append(f"{small} values alone in their stratum have no variance and were left as they are")
    added = _Added(names, strata, roots, found.mean, shrink, together, kinds, task.draws)
    return Plan(added, arrow, task.schema, facts, (), tuple(notes))
