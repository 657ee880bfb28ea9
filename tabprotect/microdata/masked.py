"""Masked microdata: what may be published, and what must stay inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.formats.dialect import Dialect
from tabprotect.microdata.claims import Claim, Verification, check_claims
from tabprotect.microdata.folder import Contents, write_masked
from tabprotect.microdata.records import Records
from tabprotect.report.views import MOST_RECORDS, records_view

__all__ = ["Masked", "Step"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Step:
    """What one method did; confidential.

    Attributes
    ----------
    method : str
    parameters : mapping
    facts : mapping
    notes : tuple of str
    records : int
        How many there are afterwards.
    columns : tuple of str
        Those it changed.
    """

    method: str
    parameters: Mapping[str, Any]
    facts: Mapping[str, Any]
    notes: tuple[str, ...]
    records: int
    columns: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "method": self.method, "parameters": dict(self.parameters), "facts": dict(self.facts),
            "notes": list(self.notes), "records": self.records, "columns": list(self.columns),
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class Masked:
    """A masked microdata file and everything that is known of it. All but `frame` is confidential.

    Attributes
    ----------
    records : Records
        What is released, without identifiers.
    original : Records
        What came in.
    links : ndarray of int, shape (released records,)
        Position of the original record of every released one, -1 where there is none.
    steps : tuple of Step
        What each method did, with its parameters.
    claims : tuple of Claim
        What holds of the released records.
    withdrawn : tuple of Claim
        What held after a step and was changed by a later one.
    before : mapping of int to Records
        By step, the values that claims compare with.
    seed : int
    """

    records: Records
    original: Records
    links: Ints
    steps: tuple[Step, ...]
    claims: tuple[Claim, ...]
    withdrawn: tuple[Claim, ...] = ()
    before: Mapping[int, Records] = field(default_factory=dict)
    seed: int = 0
    title: str = "Masked microdata"

    def __repr__(self) -> str:
        return (
            f"Masked({counted(len(self.records), 'record')}, {counted(len(self.records.columns), 'column')}, "
            f"{counted(len(self.steps), 'step')}, "
            f"{len(self.claims)} claims)"
        )

    def _repr_html_(self) -> str:
        head = self.records.frame.head(MOST_RECORDS).to_pandas()
        facts = [
            counted(len(self.records), "record"),
            counted(len(self.records.columns), "column"),
            counted(len(self.steps), "step"),
        ]
        return records_view(self.title, head, len(self.records), len(self.records.columns), facts)

    @cached_property
    def frame(self) -> Any:
        """What may be published: the same kind, order and types as what came in; identifiers are left out."""
        return self.records.native()

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know: limits reached, claims withdrawn."""
        notes = [f"step {i + 1} ({step.method}): {note}" for i, step in enumerate(self.steps) for note in step.notes]
        return (*notes, *(f"no longer claimed after a later step: {claim}" for claim in self.withdrawn))

    def verify(self) -> Verification:
        """Check every claim again from the released values."""
        return check_claims(self.claims, self.records, self.before)

    def summary(self) -> str:
        """Return what was done and what holds, one line each; confidential."""
        lines = [f"read {found.line()}" for found in self.original.recognised]
        lines += [f"{counted(len(self.original), 'record')} in, {len(self.records):,} released"]
        lines += [f"step {i + 1}: {step.method} on {', '.join(step.columns)}" for i, step in enumerate(self.steps)]
        lines += [f"claim: {claim}" for claim in self.claims]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def write(self, folder: str | Path, formats: Sequence[str] = ("csv",), *, dialect: Dialect | None = None) -> Path:
        """Write ``publish/`` (the file and public metadata) and ``internal/``, whole or not at all.

        Parameters
        ----------
        folder : path
        formats : sequence of {'csv', 'parquet', 'xlsx'}
        dialect : Dialect, optional
            How public text files are written; by default as the file of the data is.

        Raises
        ------
        InfeasibleError
            If a claim does not hold.
        InputError
            If a format is unknown, or the folder cannot be written or holds anything but an earlier release.
        """
        contents = Contents(
            self.records, self.title, self.verify(), self.claims, self.before, [step.to_dict() for step in self.steps],
            self.links, self.original, self.seed, self.summary(),
            Dialect.like(self.original.recognised) if dialect is None else dialect,
        )  # fmt: skip
        return write_masked(contents, folder, formats)
