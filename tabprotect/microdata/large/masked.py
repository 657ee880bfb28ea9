"""A masked file that need not fit into memory: what may be published, and what must stay inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tabprotect.microdata.claims import Claim, Verification
from tabprotect.microdata.large.checks import check_large
from tabprotect.microdata.large.stage import Stage
from tabprotect.microdata.masked import Step
from tabprotect.microdata.schema import Schema

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

    def __len__(self) -> int:
        return self.released.count

    def __repr__(self) -> str:
        return (
            f"LargeMasked({len(self):,} records, {len(self.released.arrow)} columns, {len(self.steps)} steps, "
            f"{len(self.claims)} claims)"
        )

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
        lines = [f"{self.original:,} records in, {len(self):,} released"]
        lines += [f"step {i + 1}: {step.method} on {', '.join(step.columns)}" for i, step in enumerate(self.steps)]
        lines += [f"claim: {claim}" for claim in self.claims]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def write(self, path: Any) -> Any:
        """Write what is released, and nothing else, once every claim is checked.

        Parameters
        ----------
        path : path
            A ``.parquet`` or ``.csv`` file; with Spark a folder of Parquet or CSV files with such a name.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        InfeasibleError
            If a claim does not hold; nothing is written then.
        InputError
            If the file is of another kind, exists, or cannot be written.
        """
        return _write(self, path)


def _write(masked: LargeMasked, path: Any) -> Any:
    from pathlib import Path

    from tabprotect.errors import InfeasibleError, InputError

    place = Path(path)
    if place.suffix.lower() not in (".parquet", ".csv"):
        raise InputError(f"{place}: large files are written as .parquet or .csv")
    if place.exists():
        raise InputError(f"{place} is there already; name a new file")
    found = masked.verify()
    if not found:
        raise InfeasibleError("not written, as what is claimed does not hold:\n" + found.summary())
    masked.released.write(place)
    return place
