"""A release read back from its folders: its public files are made again from the proof, and compared byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.attack.certificate import Certificate
from tabprotect.attack.values import ValuesCertificate, seeing
from tabprotect.certificate.claims import Claim, note
from tabprotect.certificate.document import Malformed, list_of, load, parse, positions, require
from tabprotect.certificate.limits import LIMITS, UNLIMITED, Limits, read_within
from tabprotect.certificate.numbers import decimal
from tabprotect.errors import InputError
from tabprotect.formats.certificate import check_file, problem_of, read_certificate
from tabprotect.formats.dialect import Dialect
from tabprotect.formats.folder import CERTIFICATE, INTERNAL, MANIFEST, PUBLISH, REASONS, changed_files
from tabprotect.methods.loss import loss
from tabprotect.problem import Problem
from tabprotect.release.differences import claims, different, foreign, headings
from tabprotect.report.layout import LAYOUT, Layout
from tabprotect.report.public import PublicTable

__all__ = ["Released", "certificate_of", "intact_release", "read_release", "rebuilt"]

_MOST_REASONS, _LONGEST = 100, 1000


@dataclass(frozen=True, eq=False)
class Released:
    """What the folders of a release say.

    Attributes
    ----------
    problem : Problem
        From the certificate; of changed values that of the intruder, who sees what was proven to be published.
    certificate : Certificate or ValuesCertificate
    pattern : ndarray of bool, shape (cells of the problem,)
        True where no published file shows the cell (of changed values: where none tells its true value); sums that
        were protected as cells count as hidden, as they are not published.
    failures : tuple of str
        Where the folders are not what was proven.
    manifest : mapping
        What was asked for, and the digests of the files.
    cells, rows : int
        Cells of the table, the first of the problem, and code combinations that are published.
    """

    problem: Problem
    certificate: Certificate | ValuesCertificate
    pattern: npt.NDArray[np.bool_]
    failures: tuple[str, ...]
    manifest: Mapping[str, Any]
    cells: int
    rows: int

    @property
    def changed(self) -> bool:
        """Whether values were changed, so that none is hidden."""
        return isinstance(self.certificate, ValuesCertificate)

    @property
    def not_safe(self) -> tuple[str, ...]:
        """Why the release was written as not safe, in its own words; empty where it was written as safe."""
        if self.manifest.get("safe") is True:
            return ()
        said = self.manifest.get(REASONS)
        words = [one[:_LONGEST] for one in said if isinstance(one, str)] if isinstance(said, list) else []
        return tuple(words[:_MOST_REASONS]) or (f"{MANIFEST} says that it was written as not safe",)

    @property
    def safe(self) -> bool:
        """Whether the release is what was written, as safe, with a proof of that."""
        return not (self.failures or self.not_safe) and self.certificate.safe

    @property
    def dialect(self) -> Dialect:
        """How text files of the release are written, and numbers on its pages."""
        return Dialect.of(self.manifest.get("dialect"))


def read_release(folder: str | Path, limits: Limits = LIMITS) -> Released:
    """Read a release, make its public files again from the certificate and the layout, and compare them.

    Parameters
    ----------
    folder : path
    limits : Limits
        What its internal files may cost their reader.

    Raises
    ------
    InputError
        If the folder is no release, or an internal file is damaged.
    """
    folder = Path(folder)
    place = certificate_of(folder)
    certificate = read_certificate(place, limits)
    document = certificate.document
    problem = problem_of(document["problem"], str(place))
    try:
        manifest = _manifest(folder, limits)
        layout = _layout(folder, document["problem"], limits)
        public, shown = rebuilt(layout, certificate, problem)
        expected = layout.files(public)
    except Malformed as error:
        raise InputError(f"{folder} is damaged: {error}") from error
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"{folder}: its public files cannot be made again from the proof ({error})") from error
    cell = np.array(layout.document["cell"], np.int64)
    failures = [
        *foreign(folder, manifest, expected),
        *claims(manifest, certificate),
        *headings(manifest, public),
        *different(folder, expected, layout, problem, cell, shown),
    ]
    if document["publication"] != manifest[PUBLISH]:
        failures.append("the certificate names other digests of the published files than the release does")
    failures += [what for what in changed_files(folder) if what not in failures]
    sizes = _cells(manifest, cell, problem.n_cells), len(cell)
    if isinstance(certificate, ValuesCertificate):
        problem = seeing(problem, certificate.values, document["claim"])
        return Released(problem, certificate, problem.may_hide, tuple(failures), manifest, *sizes)
    return Released(problem, certificate, ~shown, tuple(failures), manifest, *sizes)


def intact_release(folder: Path) -> Released:
    """Read a release that was made here, to go on from.

    Raises
    ------
    InputError
        If it is no release, or its files are not what was proven.
    """
    # limits are against documents of others
    found = read_release(folder, UNLIMITED)
    if found.failures:
        raise InputError(
            f"{folder} is not the release that was written ({found.failures[0]}); name the release that was published"
        )
    return found


def _cells(manifest: Mapping[str, Any], shown: npt.NDArray[np.int64], most: int) -> int:
    """Return how many cells the table has: as the release says, but at least those with a row."""
    counts = manifest.get("counts")
    said = counts.get("cells") if isinstance(counts, Mapping) else None
    least = int(shown.max(initial=-1)) + 1
    return min(max(least, said), most) if type(said) is int else least


def certificate_of(folder: Path) -> Path:
    """Return where a release has its certificate.

    Raises
    ------
    InputError
        If the folder is no release.
    """
    if not (folder / INTERNAL / MANIFEST).is_file():
        raise InputError(f"{folder} is not a release: there is no {INTERNAL}/{MANIFEST} in it")
    return check_file(folder / INTERNAL / CERTIFICATE)


def _manifest(folder: Path, limits: Limits) -> dict[str, Any]:
    manifest = dict(load(folder / INTERNAL / MANIFEST, limits))
    for part in (PUBLISH, INTERNAL):
        names = manifest.get(part)
        require(isinstance(names, Mapping), f"{MANIFEST} does not list the files of the release")
        assert isinstance(names, Mapping)
        require(all(isinstance(digest, str) for digest in names.values()), f"{MANIFEST} names digests that are no text")
        outside = any("/" in name or "\\" in name or name in ("", ".", "..") or "\0" in name for name in names)
        require(not outside, f"{MANIFEST} names files outside of the release")
    return manifest


def _layout(folder: Path, problem: Mapping[str, Any], limits: Limits) -> Layout:
    path = folder / INTERNAL / LAYOUT
    try:
        return Layout.read(parse(read_within(path, limits), LAYOUT, limits), problem)
    except FileNotFoundError:
        raise Malformed(f"{INTERNAL}/{LAYOUT} is missing, so the public files cannot be made again") from None
    except OSError as error:
        raise Malformed(f"{INTERNAL}/{LAYOUT} cannot be read: {error.strerror or error}") from None


def rebuilt(
    layout: Layout, certificate: Certificate | ValuesCertificate, problem: Problem
) -> tuple[PublicTable, npt.NDArray[np.bool_]]:
    """Return what the certificate says is published, and the cells whose true values that shows."""
    n, document = problem.n_cells, certificate.document
    shown = np.zeros(n, bool)
    cell = np.array(layout.document["cell"], np.int64)
    if isinstance(certificate, ValuesCertificate):
        values = list_of(document["values"], "values")
        require(len(values) == n, f"'values' must have {n} entries")
        for text in values:
            decimal(text, "values")
        Claim.read(document["claim"], n, problem.integer)
        claim, proven = document["claim"], certificate.values
        require(
            not layout.document["separate"] and layout.document["decimals"] is None, "changed values have no status"
        )
        return layout.table(proven, None, problem.status, note(claim, loss(problem, proven).off == 0)), shown
    hidden = np.zeros(n, bool)
    hidden[positions(document["pattern"], n, "pattern")] = True
    shown[cell] = True
    return layout.table(problem.values, hidden, problem.status), shown & ~hidden
