"""Checking what was proven, in whatever form it is at hand: a release, its folder, a certificate, a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabprotect.certificate.limits import LIMITS, UNLIMITED, Limits
from tabprotect.certificate.verification import Verification
from tabprotect.certificate.verify import verify as check
from tabprotect.errors import InputError, need

if TYPE_CHECKING:
    from tabprotect.release.read import Released

__all__ = ["check_folder", "verify"]

_FILES = "the files published"
_WORDS = "titles, units, sources and labels; the order of codes and under which others they are folded"
_NAMES = "; names of columns and tables, which certificates of earlier versions do not state"


def verify(certificate: Any, *, against: Any = None, limits: Limits | None = None) -> Verification:
    """Check what was proven: everything that a certificate claims is recomputed exactly, without a solver.

    Parameters
    ----------
    certificate : Release, Certificate, path or mapping
        A release or its certificate; the folder of a release, whose public files are made again from the proof and
        compared, too; a certificate file (.json or .json.gz), or its content.
    against : Release, Problem, path or mapping, optional
        The office's own data, to make sure that the certificate is about them; see `tabprotect.certificate.verify`.
    limits : Limits, optional
        What a document may cost its reader; by default `tabprotect.certificate.limits.LIMITS` for files and mappings,
        and nothing for what was made here.

    Raises
    ------
    InputError
        For what is none of these, and files that cannot be read.

    Examples
    --------
    >>> from tabprotect.attack.certificate import certify
    >>> from tabprotect.problem import Problem
    >>> problem = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    >>> certificate = certify(problem, [1, 2])
    >>> verify(certificate, against=problem)
    Verification(holds: safe, 2 questions, 2 witnesses)
    >>> verify(problem)
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: verify needs a release, a certificate, or the path of either, not Problem
    """
    if limits is not None:
        need(limits, Limits, "verify(limits=)", "of tabprotect.certificate.limits")
    file = isinstance(certificate, Mapping | str | PathLike)
    allowed = limits if limits is not None else LIMITS if file else UNLIMITED
    try:
        data = None if against is None else _data(against)
        if isinstance(certificate, str | PathLike) and Path(certificate).is_dir():
            found, released = check_folder(Path(certificate), data, allowed)
            return replace(found, failures=(*found.failures, *(released.failures if released else ())))
        found = check(_document(certificate, "verify needs"), against=data, limits=allowed)
        return found.besides(getattr(certificate, "reasons", ()))
    except OSError as error:
        raise InputError(f"{error.filename or certificate} cannot be checked: {error.strerror or error}") from error


def check_folder(folder: Path, against: Any, limits: Limits) -> tuple[Verification, Released | None]:
    """Check the certificate of a release, and read its files, which are made again from it; None without any proof.

    Raises
    ------
    InputError
        If the folder is no release.
    """
    from tabprotect.release.read import certificate_of, read_release

    found = check(certificate_of(folder), against=against, limits=limits)
    if not found.ok and not found.checked:
        # what is no certificate at all is not used to make anything
        return found, None
    released = read_release(folder, limits)
    older = "shown" not in released.certificate.document["problem"]
    inside = "the report and the table in the internal folder, but for their digests"
    left = [what for what in found.not_checked if what != _FILES]
    words = f"{inside}; {_WORDS}{_NAMES if older else ''}"
    files = "the public files, made again from the proof and compared byte for byte"
    found = replace(found, checked=(*found.checked, files), not_checked=(*left, words))
    return found.besides(released.not_safe), released


def _document(given: Any, wanted: str) -> Any:
    """Return the document of a release or a certificate; mappings and paths as they are."""
    if isinstance(given, Mapping | str | PathLike):
        return given
    document = getattr(getattr(given, "certificate", given), "document", None)
    if not isinstance(document, Mapping):
        raise InputError(f"{wanted} a release, a certificate, or the path of either, not {type(given).__name__}")
    return document


def _data(given: Any) -> Any:
    """Return the data of an office in a form that they are compared in."""
    from tabprotect.attack.statement import problem_statement
    from tabprotect.problem import Problem

    return problem_statement(given) if isinstance(given, Problem) else _document(given, "against must be a problem,")
