"""What every release can do, whatever protects it: be judged, be written, be checked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import pandas as pd
from rich.table import Table as Grid
from rich.text import Text

from tabprotect.attack.certificate import Certificate
from tabprotect.attack.findings import Audit
from tabprotect.attack.values import ValuesCertificate
from tabprotect.certificate.verify import Verification
from tabprotect.errors import as_items, need
from tabprotect.formats.dialect import STANDARD, Dialect
from tabprotect.formats.folder import REASONS, Content, check_replaceable, digests, write_release
from tabprotect.report.crosstab import laid_out
from tabprotect.report.layout import LAYOUT, Layout
from tabprotect.report.numbers import Numbers
from tabprotect.report.public import PublicTable
from tabprotect.report.views import release_view
from tabprotect.sensitivity.assessment import Assessment
from tabprotect.solver.trace import Known
from tabprotect.table.additivity import noticeable
from tabprotect.table.naming import cell_of_table
from tabprotect.table.table import Table
from tabprotect.visible import visible

__all__ = ["Publication", "Summary", "bound_lines", "native", "residual_lines"]


@dataclass(frozen=True)
class Summary:
    """Names and values that print well, as plain text and on a terminal. Confidential."""

    lines: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.lines)
        return "\n".join(f"{name:<{width}}  {visible(value)}" for name, value in self.lines)

    __repr__ = __str__

    def __rich__(self) -> Grid:
        """Return what rich prints."""
        grid = Grid.grid(padding=(0, 2))
        grid.add_column(style="dim")
        grid.add_column(overflow="fold")
        for name, value in self.lines:
            grid.add_row(name, Text(visible(value)))
        return grid


def bound_lines(bound: float | None, gap: float | None, n: Numbers) -> list[tuple[str, str]]:
    """Say how near the cost is to a bound; nothing without one."""
    left = "" if gap is None else f", gap {100 * gap:.2f} %"
    return [] if bound is None else [("bound", n.plain(bound) + n.words(left))]


def residual_lines(table: Table, n: Numbers) -> list[tuple[str, str]]:
    """Say how far sums of a table are off; nothing where that is noise of arithmetic."""
    said = f"the table carries rounding residuals up to {n(table.residual, ',.6g')}"
    return [("note", said)] if noticeable(table.residual, table.values) else []


class Publication(ABC):
    """A protected table: the rows, the judgement, the proof, and the way out.

    Attributes
    ----------
    table : Table
    assessment : Assessment
        Why cells are sensitive.
    settings : mapping
        What was asked for, including the seed; goes into the internal report.
    title, unit, source : str
        Heading of the pages, unit of the values, who they are from; public.
    allow_unsafe : bool
        Whoever sets this takes the responsibility for releasing what is not safe.
    provenance : mapping
        Inputs with digest, roles, hierarchies, rules, versions, date and command; confidential.
    judgement : Audit or None
        What an intruder makes of it; None without anything to publish.
    trace : tuple of Known
        Cost and bound by work units, as the search went; confidential.
    """

    table: Table
    assessment: Assessment
    settings: Mapping[str, Any]
    title: str
    unit: str
    source: str
    allow_unsafe: bool
    provenance: Mapping[str, Any]
    judgement: Any
    trace: tuple[Known, ...]

    @property
    @abstractmethod
    def safe(self) -> bool:
        """Whether nothing that is published gives away what a rule protects."""

    @property
    @abstractmethod
    def reasons(self) -> list[str]:
        """Why the release is not safe, in words; empty where it is. Confidential."""

    @property
    @abstractmethod
    def public(self) -> PublicTable:
        """Everything that the public gets; `InfeasibleError` if that is not safe and nobody took responsibility."""

    @property
    @abstractmethod
    def certificate(self) -> Certificate | ValuesCertificate:
        """The proof, checked without a solver; confidential."""

    @property
    @abstractmethod
    def stopped(self) -> bool:
        """Whether a limit ended the search."""

    @property
    @abstractmethod
    def unfinished(self) -> str:
        """That limits left no verdict, in words; empty where there is one."""

    @abstractmethod
    def audit(self) -> Audit:
        """Return the intruder's intervals; confidential."""

    @abstractmethod
    def summary(self, dialect: Dialect | None = None) -> Summary:
        """Return what was done and how good it is; confidential."""

    def numbers(self, dialect: Dialect | None = None) -> Numbers:
        """Return how people read numbers of this release: in a dialect, or as in the data."""
        if dialect is not None:
            need(dialect, Dialect, "a release", "of tabprotect.formats.dialect")
        return Numbers.of(Dialect.like(self.table.recognised) if dialect is None else dialect)

    @abstractmethod
    def _inside(self, published: Mapping[str, str], formats: Sequence[str], dialect: Dialect) -> dict[str, bytes]:
        """The confidential files but for the certificate, written as the public ones."""

    @abstractmethod
    def _layout(self, formats: Sequence[str], dialect: Dialect) -> Layout:
        """How the public files are laid out."""

    @abstractmethod
    def _facts(self) -> dict[str, Any]:
        """What the manifest says of this kind of release."""

    def _repr_html_(self) -> str:
        return release_view(self)

    @abstractmethod
    def _became(self, cell: int) -> str:
        """What became of a cell, in words: whether it is published, and its status."""

    def explain(self, cell: Any) -> str:
        """Say in words what became of a cell, and why it is sensitive or not, with the numbers; confidential.

        Parameters
        ----------
        cell : tuple, str, mapping or int
            As `tabprotect.Assessment.explain` takes it.
        """
        return self.assessment.explain(cell, self._became(cell_of_table(self.table, cell)))

    @property
    def published(self) -> Any:
        """What the public gets, as a frame in the library that the data came in."""
        return native(self.public.frame, self.table.backend)

    def crosstab(self, rows: Sequence[str] | str | None = None, columns: Sequence[str] | str | None = None) -> Any:
        """Return what the public gets, laid out in rows and columns; hidden cells are missing.

        Parameters
        ----------
        rows, columns : sequence of str, optional
            Dimensions; by default as the crosstab was that the table is made of.

        Raises
        ------
        InfeasibleError
            If the release is not safe and nobody took the responsibility.
        InputError
            If the table was no crosstab and `rows` and `columns` do not name all of its dimensions.
        """
        return native(laid_out(self.table, self.public, rows, columns), self.table.backend)

    def verify(self) -> Verification:
        """Check the proof without a solver."""
        return self.certificate.verify().besides(self.reasons)

    def write(self, folder: str | Path, formats: Sequence[str] = ("csv",), *, dialect: Dialect | None = None) -> Path:
        """Write ``publish/`` and ``internal/``, whole or not at all; an earlier release in the folder is replaced.

        Parameters
        ----------
        folder : path
        formats : sequence of {'csv', 'text.csv', 'parquet', 'xlsx'}
            See `tabprotect.formats.frames.encode_frame`.
        dialect : Dialect, optional
            How public text files are written: separator, decimal sign, encoding. By default as the file of the data is,
            or with commas, points and UTF-8 where the data came in another form.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        InfeasibleError
            If the release is not safe and nobody took the responsibility.
        InputError
            If a format is unknown, or the folder cannot be written or holds anything but an earlier release.
        """
        check_replaceable(folder)
        formats = as_items([formats] if isinstance(formats, str) else formats, str, "formats", "such as 'csv'")
        if dialect is not None:
            need(dialect, Dialect, "write(dialect=)", "of tabprotect.formats.dialect")
        written = Dialect.like(self.table.recognised) if dialect is None else dialect
        layout = self._layout(tuple(dict.fromkeys(formats)), written)
        publish = layout.files(self.public)
        names = digests(publish)
        certificate = self.certificate
        certificate = certificate.publishing(names, layout.shown(certificate.document["problem"]["cells"]))
        internal: dict[str, Content] = {
            **self._inside(names, formats, written),
            LAYOUT: layout.encode(),
            "certificate.json": certificate.write,
        }
        facts = {
            "notice": "CONFIDENTIAL. Nothing in this folder may be published.",
            "title": self.title,
            **self.public.beside(),
            "safe": self.safe,
            **({} if self.safe else {REASONS: self.reasons}),
            **self._facts(),
            "settings": dict(self.settings),
            **({} if written == STANDARD else {"dialect": written.document()}),
            "provenance": dict(self.provenance),
        }
        write_release(folder, publish, internal, facts)
        return Path(folder)


def native(frame: pd.DataFrame, backend: str) -> Any:
    """Return a frame in the library that the data came in (files: pandas)."""
    if backend == "polars":
        return nw.from_native(frame, eager_only=True).to_polars()
    if backend == "pyarrow":
        return nw.from_native(frame, eager_only=True).to_arrow()
    if backend == "duckdb":
        import duckdb

        return duckdb.from_arrow(nw.from_native(frame, eager_only=True).to_arrow())
    return frame
