"""A masked file that need not fit into memory: what may be published, and what must stay inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tabprotect.counted import counted
from tabprotect.errors import InfeasibleError, InputError
from tabprotect.microdata.claims import Claim, Verification
from tabprotect.microdata.large.checks import check_large
from tabprotect.microdata.large.folder import LargeContents, write_large
from tabprotect.microdata.large.stage import RECORDS, ROW, Stage
from tabprotect.microdata.masked import Step
from tabprotect.microdata.schema import Schema
from tabprotect.report.views import MOST_RECORDS, records_view
from tabprotect.table.reading import Recognised

__all__ = ["LargeMasked"]


@dataclass(frozen=True, eq=False)
class LargeMasked:
    """A masked file outside of memory and everything that is known of it. All but `frame` is confidential.

    Attributes
    ----------
    released : Stage
        What is released, without identifiers.
    schema : Schema
        What is known of its columns.
    original : int
        How many records came in.
    steps : tuple of Step
    claims, withdrawn : tuple of Claim
    before : mapping of int to Stage
        By step, the records that claims compare with.
    seed : int
    title : str
    identifiers : Stage or None
        Those of the released records, which are not released.
    recognised : tuple of Recognised
        How the file was read.
    """

    released: Stage
    schema: Schema
    original: int
    steps: tuple[Step, ...]
    claims: tuple[Claim, ...]
    withdrawn: tuple[Claim, ...] = ()
    before: Mapping[int, Stage] = field(default_factory=dict)
    seed: int = 0
    title: str = "Masked microdata"
    identifiers: Stage | None = None
    recognised: tuple[Recognised, ...] = ()

    def __len__(self) -> int:
        return self.released.count

    def __repr__(self) -> str:
        return (
            f"LargeMasked({counted(len(self), 'record')}, {counted(len(self.released.arrow), 'column')}, "
            f"{counted(len(self.steps), 'step')}, "
            f"{len(self.claims)} claims)"
        )

    def _repr_html_(self) -> str:
        names = self.released.arrow.names
        chosen = ", ".join(map(self.released.quoted, names))
        row = self.released.quoted(ROW)
        head = self.released.query(f"SELECT {chosen} FROM {RECORDS} ORDER BY {row} LIMIT {MOST_RECORDS}").to_pandas()
        facts = [counted(len(self), "record"), counted(len(names), "column"), counted(len(self.steps), "step")]
        return records_view(self.title, head, len(self), len(names), facts)

    @property
    def frame(self) -> Any:
        """What may be published: a DuckDB relation over a file that lives as long as this result, or a Spark frame."""
        return self.released.native()

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know: limits reached, claims withdrawn."""
        notes = [f"step {i + 1} ({step.method}): {note}" for i, step in enumerate(self.steps) for note in step.notes]
        return (*notes, *(f"no longer claimed after a later step: {claim}" for claim in self.withdrawn))

    def verify(self) -> Verification:
        """Check every claim again from the released values, batch by batch."""
        return check_large(self.claims, self.released, self.before)

    def summary(self) -> str:
        """Return what was done and what holds, one line each; confidential."""
        lines = [f"read {found.line()}" for found in self.recognised]
        lines += [f"{counted(self.original, 'record')} in, {len(self):,} released"]
        lines += [f"step {i + 1}: {step.method} on {', '.join(step.columns)}" for i, step in enumerate(self.steps)]
        lines += [f"claim: {claim}" for claim in self.claims]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def write(self, path: str | Path, formats: Sequence[str] = ("csv",)) -> Path:
        """Write a release, or only the file that is released, once every claim is checked.

        Parameters
        ----------
        path : path
            A folder, which gets ``publish/`` (the file and public metadata) and ``internal/`` as `Masked.write` makes
            them, whole or not at all. Rows of ``internal/links.parquet`` are counted in the order of the data, or in
            that of `Large`. Or a file with the ending ``.parquet`` or ``.csv``, which must be new; with Spark a folder
            of Parquet or CSV files with such a name, and nothing else.
        formats : sequence of {'csv', 'parquet'}
            Of the published file in a folder.

        Raises
        ------
        InfeasibleError
            If a claim does not hold; nothing is written then.
        InputError
            If a format is unknown, the file exists, the folder holds anything but an earlier release, or it cannot be
            written.
        """
        place = Path(path)
        if place.suffix.lower() not in (".parquet", ".csv"):
            contents = LargeContents(
                self.released, self.identifiers, self.title, self.claims, self.before,
                [step.to_dict() for step in self.steps], self.schema, self.seed, self.summary(),
            )  # fmt: skip
            return write_large(contents, place, formats)
        if place.exists():
            raise InputError(f"{place} is there already; name a new file")
        found = self.verify()
        if not found:
            raise InfeasibleError("not written, as what is claimed does not hold:\n" + found.summary())
        self.released.write(place)
        return place
