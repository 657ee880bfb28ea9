"""What may leave the building, with its proof, and what has to stay inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.attack.audit import audit
from tabprotect.attack.certificate import Certificate, certify
from tabprotect.attack.counts import Counts
from tabprotect.attack.findings import Audit
from tabprotect.attack.proof_rows import BoundProof
from tabprotect.counted import counted
from tabprotect.errors import InfeasibleError
from tabprotect.formats.dialect import Dialect
from tabprotect.methods.frames import status_words
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.proven import optimality
from tabprotect.release.by_status import by_status
from tabprotect.release.carried import Carried
from tabprotect.release.publication import Publication, Summary, bound_lines, native, residual_lines
from tabprotect.report.internal import internal_files
from tabprotect.report.layout import Layout
from tabprotect.report.public import PUBLISHED, SUPPRESSED, PublicTable, free_name, public_table
from tabprotect.sensitivity.assessment import Assessment
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.solver.gap import relative_gap
from tabprotect.solver.trace import Known
from tabprotect.table.table import Table

__all__ = ["Release", "Summary"]

SECONDARY = "secondary"

_MOST_REASONS = 5

UNFINISHED = {
    "time": "time ran out, no safe pattern yet",
    "work": "the limit of work was reached, no safe pattern yet",
    "memory": "the limit of memory was reached, no safe pattern yet",
    "cancelled": "the search was cancelled, no safe pattern yet",
}


@dataclass(frozen=True, eq=False)
class Release(Publication):
    """A protected table: the rows with their status, the judgement, the proof, and the way out.

    Attributes
    ----------
    table : Table
    problem : Problem
        Its first cells are those of the table; further ones are sums of cells that are judged as cells, too: those
        that were protected, and those of `unions`.
    result : SuppressionResult
        The pattern, its cost and bound.
    judgement : Audit
        Whether every protection level is reached, by exact witnesses.
    assessment : Assessment
        Why cells are sensitive.
    unions : tuple of UnionExposure
        Sums of hidden cells that everybody can compute and that violate a rule.
    settings : mapping
        What was asked for, including the seed; goes into the internal report.
    title, unit, source : str
        Heading of the pages, unit of the values, who they are from; public.
    separate_statuses : bool
        Tell the public which hidden cells are primary.
    decimals : int, optional
        Round published values to this, and write them so; by default each with the decimals that it has.
    allow_unsafe : bool
        Whoever sets this takes the responsibility for releasing what is not safe.
    provenance : mapping
        Inputs with digest, roles, hierarchies, rules, versions, date and command; confidential.
    carried : Carried, optional
        What became of the pattern of the last period; of a revision, what both releases together tell.
    """

    table: Table = field(repr=False)
    problem: Problem = field(repr=False)
    result: SuppressionResult = field(repr=False)
    judgement: Audit = field(repr=False)
    assessment: Assessment = field(repr=False)
    unions: tuple[UnionExposure, ...] = field(default=(), repr=False)
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    title: str = "Protected table"
    separate_statuses: bool = False
    decimals: int | None = None
    allow_unsafe: bool = False
    provenance: Mapping[str, Any] = field(default_factory=dict, repr=False)
    carried: Carried | None = field(default=None, repr=False)
    unit: str = ""
    source: str = ""
    trace: tuple[Known, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        verdict = "safe" if self.safe else "NOT SAFE"
        return f"Release({self.title!r}: {self.counts.cells:,} cells, {self.counts.hidden:,} hidden, {verdict})"

    @property
    def safe(self) -> bool:
        """True when every protection level is reached, and no sum of hidden cells gives away what a rule protects.

        Of a revision, also when nobody learns more from both releases together.
        """
        return self.judgement.safe and not self.unions and (self.carried is None or self.carried.safe)

    @property
    def reasons(self) -> list[str]:
        """Why the release is not safe, in words; empty where it is. Confidential."""
        if self.safe:
            return []
        label, most = self.problem.system.label, _MOST_REASONS
        why = [exposure.said(self.numbers().plain) for exposure in self.unions[:most]]
        why += [f"{label(u.cell)}: {u.reason}" for u in self.result.unprotectable[:most]]
        if len(cells := self._otherwise.exposed):
            names = ", ".join(label(int(i)) for i in cells[:most]) + (", ..." if len(cells) > most else "")
            why.append(f"{counted(len(cells), 'cell is', 'cells are')} exposed: {names}")
        if self.carried is not None and self.carried.both is not None:
            why += self.carried.both.problems(most)
        if self.judgement.lp_safe_only:
            why.append("no integral witness was found for some cells")
        return why or ["no safe pattern was found within the limits"]

    @property
    def _otherwise(self) -> Audit:
        """The judgement without exposures of the sums that `unions` says more of."""
        n, found = self.table.n_cells, self.judgement
        if not self.unions:
            return found
        return replace(found, exposures=tuple(one for one in found.exposures if one.key.cell < n))

    @property
    def unfinished(self) -> str:
        """Which limit left no safe pattern, in words; empty where there is one, or another reason why not."""
        if self.safe or self.allow_unsafe or self.result.status != "unknown":
            return ""
        return UNFINISHED.get(self.result.stopped, "")

    @property
    def pattern(self) -> npt.NDArray[np.bool_]:
        """True for every hidden cell of the table."""
        return self.result.pattern[: self.table.n_cells]

    @cached_property
    def counts(self) -> Counts:
        """How many cells there are, and are hidden, and why; all faces of the release say these numbers."""
        return self.judgement.counts

    @cached_property
    def words(self) -> npt.NDArray[np.object_]:
        """What every cell is: safe, primary, secondary, forced, protected or zero."""
        return status_words(self.problem.status[: self.table.n_cells], self.pattern)

    def _became(self, cell: int) -> str:
        return f"{'hidden' if self.pattern[cell] else 'published'}, {self.words[cell]}"

    @cached_property
    def statuses(self) -> pd.DataFrame:
        """Cells, value and respondents by status, as `by_status` has them; confidential."""
        return by_status(self.table, self.words)

    @cached_property
    def frame(self) -> Any:
        """The rows as they came in, plus ``status`` and ``published``; confidential, in the library they came in."""
        cells = self.table.row_cell
        frame = self.table.rows.reset_index(drop=True)
        frame[free_name("status", frame.columns)] = self.words[cells]
        shown = self.table.values[cells].astype(np.float64)
        shown[self.pattern[cells]] = np.nan
        frame[free_name("published", frame.columns)] = pd.array(shown, dtype="Float64")
        return native(frame, self.table.backend)

    @cached_property
    def public(self) -> PublicTable:
        """Everything that the public gets.

        Raises
        ------
        InfeasibleError
            If the pattern is not safe and nobody took the responsibility.
        """
        self._check()
        words = np.where(self.pattern, SUPPRESSED, PUBLISHED).astype(object)
        if self.separate_statuses:
            primary = self.words == "primary"
            words[self.pattern] = SECONDARY
            words[primary] = "primary"
        return public_table(
            self.table, words, self.pattern, title=self.title, unit=self.unit, source=self.source,
            decimals=self.decimals,
        )  # fmt: skip

    @cached_property
    def certificate(self) -> Certificate:
        """The proof, checked without a solver; confidential."""
        proof = self.result.cuts if isinstance(self.result.cuts, BoundProof) else None
        witnesses = self.judgement.evidence
        return certify(self.problem, self.result.pattern, bound=self.result.bound, proof=proof, witnesses=witnesses)

    @property
    def optimality(self) -> str:
        """The status of the search; where it says more than the proof, how far exact arithmetic confirms it."""
        return optimality(replace(self.result, problem=self.problem))

    def audit(self) -> Audit:
        """Return the intruder's interval for every hidden cell; confidential."""
        return self._audit

    @cached_property
    def _audit(self) -> Audit:
        known = self.judgement.public
        return audit(self.judgement) if np.isnan(known.low).any() else self.judgement

    def summary(self, dialect: Dialect | None = None) -> Summary:
        """Return what was done and how good it is; confidential.

        Parameters
        ----------
        dialect : Dialect, optional
            How numbers are written; by default as in the data.
        """
        n = self.numbers(dialect)
        result, problem = self.result, self.problem
        counts = self.counts
        verdict = "safe, proven by exact witnesses" if self.safe else self.unfinished or "NOT SAFE"
        if self.judgement.lp_safe_only:
            verdict = "LP-safe only: intruders who know that values are whole numbers may conclude more"
        lines = [("read", found.line()) for found in self.table.recognised]
        lines += [("recoded", recoded)] if (recoded := self.settings.get("recoding")) else []
        lines += [
            ("cells", n.said(counts.cells_words.replace(" cells", "", 1))),
            ("hidden", n.said(counts.hidden_words)),
            ("verdict", verdict),
        ]
        lines += [(name, n.said(text)) for name, text in self.assessment.by_rule()]
        lines += [("external bounds", known)] if (known := self.settings.get("external bounds")) else []
        if result.cost is not None:
            lines.append(("cost", n.plain(result.cost)))
        lines += bound_lines(result.bound, result.gap, n)
        lines.append(("method", n.said(f"{result.method}, {self.optimality}" if result.method else self.optimality)))
        if self.table.unpublished is not None:
            closed = n.counted(int(self.table.unpublished.sum()), "row")
            lines.append(("not published", f"{closed} of codes below all groups, whose cells are suppressed"))
        lines += [("sums", n.said(words))] if (words := counts.sums_words) else []
        lines += [("not safe", exposure.said(n.plain)) for exposure in self.unions[:10]]
        if result.safe:
            lines += [("not safe", line) for line in self._otherwise.shortfalls(decimal=n.decimal)]
        lines += [("warning", line) for line in self.judgement.warnings()]
        lines += [("unprotectable", f"{problem.system.label(u.cell)}: {u.reason}") for u in result.unprotectable[:10]]
        lines += [("note", n.said(note)) for note in (*problem.notes, result.message) if note]
        lines += [] if self.carried is None else self.carried.lines(n)
        return Summary((*lines, *residual_lines(self.table, n)))

    @property
    def stopped(self) -> bool:
        """Whether a limit ended the search."""
        return bool(self.result.stopped)

    def _inside(self, published: Mapping[str, str], formats: Sequence[str], dialect: Dialect) -> dict[str, bytes]:
        return internal_files(self, published, formats, dialect)

    def _layout(self, formats: Sequence[str], dialect: Dialect) -> Layout:
        return Layout.of(
            self.table, title=self.title, unit=self.unit, source=self.source, formats=formats, decimals=self.decimals,
            separate=self.separate_statuses, dialect=dialect,
        )  # fmt: skip

    def _facts(self) -> dict[str, Any]:
        document = self.certificate.document
        numbers = {"cost": "cost", "bound": "claimed_bound", "proven_bound": "bound"}
        facts = {name: None if document[of] is None else float(Fraction(document[of])) for name, of in numbers.items()}
        counts = self.counts.document()
        reasons = {word: counts[word] for word in ("primary", SECONDARY, "forced")}
        warnings = self.judgement.warnings()
        facts["gap"] = relative_gap(facts["cost"], facts["bound"])
        return {"status": self.optimality, **facts, "counts": counts, "hidden": reasons, "warnings": warnings}

    def _check(self) -> None:
        if self.safe or self.allow_unsafe:
            return
        if self.unfinished:
            raise InfeasibleError(
                f"{self.unfinished}, so nothing is published. Give the method a higher limit, or set allow_unsafe=True"
            )
        raise InfeasibleError(
            "the pattern is not safe, so nothing is published: "
            + "; ".join(self.reasons)
            + ". Give the method more time, allow more cells to be hidden, or set allow_unsafe=True"
        )
