"""A release of changed values: every cell is published, but not with its true value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.attack.audit import audit
from tabprotect.attack.counts import Counts
from tabprotect.attack.findings import Audit
from tabprotect.attack.values import ValuesCertificate, certify_values
from tabprotect.certificate.claims import DOUBTS, note
from tabprotect.counted import counted
from tabprotect.errors import InfeasibleError
from tabprotect.formats.dialect import Dialect
from tabprotect.methods.base.method import Changed
from tabprotect.methods.frames import status_words
from tabprotect.methods.loss import Loss, loss
from tabprotect.problem import Problem
from tabprotect.proven import optimality
from tabprotect.release.by_status import by_status
from tabprotect.release.publication import Publication, Summary, bound_lines, native, residual_lines
from tabprotect.report.changes import internal_files
from tabprotect.report.layout import Layout
from tabprotect.report.public import PublicTable, free_name, public_values
from tabprotect.sensitivity.assessment import Assessment
from tabprotect.sensitivity.sums_as_cells import values_with_sums
from tabprotect.solver.trace import Known
from tabprotect.table.decimals import written
from tabprotect.table.table import Table

__all__ = ["ChangedRelease"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ChangedRelease(Publication):
    """A table of changed values: what the public gets, the judgement, the proof, and the way out.

    No public file tells which cells are sensitive, which ones changed, or how far.

    Attributes
    ----------
    table : Table
    problem : Problem
        Levels that some attackers are not asked about are cells behind those of the table.
    result : Changed
        Published values, and what an intruder knows of the method.
    judgement : Audit or None
        Of the intruder who sees the published values and knows the method; None without values.
    assessment : Assessment
        Why cells are sensitive.
    settings : mapping
        What was asked for, and the seed that was drawn; goes into the internal report.
    title, unit, source : str
        Heading of the pages, unit of the values, who they are from; public.
    allow_unsafe : bool
        Whoever sets this takes the responsibility for releasing what is not safe.
    provenance : mapping
        Inputs with digest, roles, hierarchies, rules, versions, date and command; confidential.
    """

    table: Table = field(repr=False)
    problem: Problem = field(repr=False)
    result: Changed = field(repr=False)
    judgement: Audit | None = field(repr=False)
    assessment: Assessment = field(repr=False)
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    title: str = "Protected table"
    allow_unsafe: bool = False
    provenance: Mapping[str, Any] = field(default_factory=dict, repr=False)
    unit: str = ""
    source: str = ""
    trace: tuple[Known, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        verdict = "safe" if self.safe else "not decided" if self.unfinished else "NOT SAFE"
        moved = 0 if self.values is None else int(np.sum(self.values != self.table.values))
        return f"ChangedRelease({self.title!r}: {self.table.n_cells:,} cells, {moved:,} changed, {verdict})"

    @property
    def safe(self) -> bool:
        """True when an intruder who knows the method stays as far from every sensitive value as its levels say.

        Never where records were swapped: that leaves doubt, but keeps no distance from the truth.
        """
        return self.judgement is not None and self.judgement.safe and not self._doubtful

    @property
    def reasons(self) -> list[str]:
        """Why the release is not safe, in words; empty where it is. Confidential."""
        if self.safe:
            return []
        if self.judgement is None:
            return [self.result.message or "no values were found within the limits"]
        if self._doubtful:
            return ["swapping leaves doubt and keeps no distance from the truth, so it is never proven safe"]
        if self.unfinished:
            return [self.unfinished]
        label, exposed = self.problem.system.label, self.judgement.exposed
        if not len(exposed):
            return ["no integral witness was found"]
        names = ", ".join(label(int(i)) for i in exposed[:5]) + (", ..." if len(exposed) > 5 else "")
        return [f"{counted(len(exposed), 'cell is', 'cells are')} exposed: {names}"]

    @property
    def unfinished(self) -> str:
        """That limits left the values without a verdict, in words; empty where there is one."""
        if self.safe or self.allow_unsafe or self.values is None or self._doubtful or self.result.status != "unknown":
            return ""
        return "whether the values are safe was not decided within the limits"

    @property
    def stopped(self) -> bool:
        """Whether a limit ended the search."""
        return self.result.stopped

    @property
    def optimality(self) -> str:
        """The status of the search; where it says more than is proven, that it is by the solver."""
        return optimality(self.result)

    @property
    def values(self) -> Floats | None:
        """Published values of all cells; None without an answer."""
        return self.result.values

    @cached_property
    def words(self) -> npt.NDArray[np.object_]:
        """What every cell is: safe, primary, forced, protected or zero; confidential."""
        return status_words(self.problem.status[: self.table.n_cells])

    def _became(self, cell: int) -> str:
        shown = (
            "not published" if self.values is None else f"published as {written(self.values[cell], self.table.decimal)}"
        )
        return f"{shown}, {self.words[cell]}"

    @cached_property
    def statuses(self) -> pd.DataFrame:
        """Cells, value, respondents and changes by status, as `by_status` has them; confidential."""
        return by_status(self.table, self.words, self.values)

    @cached_property
    def frame(self) -> Any:
        """The rows as they came in, plus ``status`` and ``published``; confidential, in the library they came in."""
        cells = self.table.row_cell
        frame = self.table.rows.reset_index(drop=True)
        frame[free_name("status", frame.columns)] = self.words[cells]
        shown = np.full(self.table.n_cells, np.nan) if self.values is None else self.values
        frame[free_name("published", frame.columns)] = pd.array(shown[cells], dtype="Float64")
        return native(frame, self.table.backend)

    @cached_property
    def public(self) -> PublicTable:
        """Everything that the public gets: codes and published values.

        Raises
        ------
        InfeasibleError
            If there are no values, or they are not safe and nobody took the responsibility.
        """
        values = self._checked()
        claim = self.result.claim
        words = note(claim, self.loss.off == 0)
        return public_values(self.table, values, title=self.title, note=words, unit=self.unit, source=self.source)

    @cached_property
    def loss(self) -> Loss:
        """Information lost; confidential."""
        return loss(self.problem, self._checked())

    @cached_property
    def certificate(self) -> ValuesCertificate:
        """The proof, checked without a solver; confidential."""
        values = self._checked()
        assert self.judgement is not None
        return certify_values(
            self.problem,
            values_with_sums(self.problem, values),
            self.result.claim,
            self.judgement,
            levels_moved=self.result.levels_moved,
            cost=self.result.cost,
            bound=self.result.bound,
        )

    def audit(self) -> Audit:
        """Return the intruder's interval for every cell; confidential."""
        return self._audit

    @cached_property
    def _audit(self) -> Audit:
        self._checked()
        assert self.judgement is not None
        if not np.isnan(self.judgement.public.low).any():
            return self.judgement
        return audit(self.judgement)

    def summary(self, dialect: Dialect | None = None) -> Summary:
        """Return what was done and how good it is; confidential.

        Parameters
        ----------
        dialect : Dialect, optional
            How numbers are written; by default as in the data.
        """
        n = self.numbers(dialect)
        result = self.result
        lines = [("read", found.line()) for found in self.table.recognised]
        lines += [
            ("cells", n.said(self.counts.cells_words.replace(" cells", "", 1))),
            ("sensitive", n(self.counts.sensitive)),
            ("verdict", self._verdict()),
        ]
        lines += [(name, n.said(text)) for name, text in self.assessment.by_rule()]
        lines += [("external bounds", known)] if (known := self.settings.get("external bounds")) else []
        if self.judgement is not None and result.values is not None:
            lost = loss(self.problem, result.values)
            lines.append(("changed", f"{n.counted(lost.changed, 'cell')}, by up to {n.plain(lost.largest)}"))
            lines.append(("mean change", f"{n(100 * lost.relative, '.2f')} % of the values"))
            lines.append(("sums", "add up" if lost.off == 0 else f"are off by up to {n.plain(lost.off)}"))
        if result.cost is not None:
            lines.append(("distance", n.plain(result.cost)))
        lines += bound_lines(result.bound, result.gap, n)
        lines.append(("method", n.said(f"{self.settings.get('method', '')}, {self.optimality}")))
        lines += [("levels", n.said(words))] if (words := self.counts.sums_words) else []
        lines.append(("intruders know", result.knows))
        lines += [("note", n.said(text)) for text in (*self.problem.notes, result.message) if text]
        return Summary((*lines, *residual_lines(self.table, n)))

    @cached_property
    def counts(self) -> Counts:
        """How many cells there are, and are sensitive; all faces of the release say these numbers."""
        if self.judgement is not None:
            return self.judgement.counts
        none, rows = np.zeros(self.problem.n_cells, bool), int(self.table.published_rows.sum())
        return Counts.of(self.problem, none, cells=self.table.n_cells, rows=rows, changed=True)

    @property
    def _doubtful(self) -> bool:
        return self.result.claim["method"] in DOUBTS

    def _verdict(self) -> str:
        if self.values is None:
            return f"no values: {self.result.status}"
        if self.safe:
            return "safe, proven by exact witnesses"
        if self._doubtful:
            return "NOT SAFE by proof: doubt only, no distance from the truth"
        if self.judgement is not None and self.judgement.lp_safe_only:
            return "LP-safe only: intruders who know that values are whole numbers may conclude more"
        return self.unfinished or "NOT SAFE"

    def _inside(self, published: Mapping[str, str], formats: Sequence[str], dialect: Dialect) -> dict[str, bytes]:
        return internal_files(self, published, formats, dialect)

    def _layout(self, formats: Sequence[str], dialect: Dialect) -> Layout:
        return Layout.of(
            self.table, title=self.title, unit=self.unit, source=self.source, formats=formats, dialect=dialect
        )

    def _facts(self) -> dict[str, Any]:
        result = self.result
        return {
            "kind": "changed values",
            "status": self.optimality,
            "counts": self.counts.document(),
            "cost": result.cost,
            "bound": result.bound,
            "claim": {name: what for name, what in result.claim.items() if not isinstance(what, list)},
        }

    def _checked(self) -> Floats:
        """Return the values, if they may be published."""
        if self.values is not None and (self.safe or self.allow_unsafe):
            return self.values
        if self.values is None:
            raise InfeasibleError(f"nothing is published: {self.reasons[0]}")
        if self._doubtful:
            raise InfeasibleError(
                f"nothing is published: {self.reasons[0]}. Judge the risk that the summary states, and set "
                "allow_unsafe=True to take responsibility"
            )
        if self.unfinished:
            raise InfeasibleError(
                f"{self.unfinished}, so nothing is published. Give it a higher limit of time (the audit may take as "
                "long as that, and a minute at least), or set allow_unsafe=True"
            )
        raise InfeasibleError(
            f"the changed values are not safe, so nothing is published: {self.reasons[0]} to an intruder who knows "
            f"{self.result.knows}. Take a larger base or deviation, hide cells instead, or set allow_unsafe=True"
        )
