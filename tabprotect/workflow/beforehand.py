"""What can be checked before the work: keys, rules, places to write into, files and columns; all of it at once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tabprotect.errors import InputError, Problems
from tabprotect.formats.folder import check_replaceable
from tabprotect.formats.places import temporary_prefix
from tabprotect.release.earlier import check_last
from tabprotect.solver.tasks.store import check_resumable
from tabprotect.workflow.checking import check_spec
from tabprotect.workflow.inputs import check_readable
from tabprotect.workflow.method_options import method_of
from tabprotect.workflow.specification import Spec
from tabprotect.workflow.specified import request_of

__all__ = ["check_beforehand"]


def check_beforehand(
    content: Mapping[str, Any], name: str, base: Path, *, resume: Path | None = None, writes: bool = True
) -> Spec:
    """Return the specification, or raise one error with everything that is wrong in it and around it.

    Files are looked at only where something else is wrong: without that, reading them comes next anyhow, and says
    the same.

    Parameters
    ----------
    content : mapping
        Of a specification, unchecked.
    name : str
        Of the specification, in messages.
    base : Path
        What its paths are relative to.
    resume : Path, optional
        Folder of finished pieces.
    writes : bool
        Whether a release is to be written into the folder of the specification.

    Raises
    ------
    InputError

    Examples
    --------
    >>> content = {"data": "no.csv", "by": ["region"], "rules": ["p=15"], "levels": "symetric"}
    >>> try:
    ...     check_beforehand(content, "a.toml", Path("nowhere"))
    ... except InputError as error:
    ...     [problem.partition(";")[0] for problem in error.problems if "rule" not in problem]
    ["a.toml: levels: 'symetric' is not possible", 'no.csv: no such file']
    """
    problems = Problems()
    spec = None
    try:
        spec = check_spec(content, name)
    except InputError as error:
        problems.found += error.problems
    likely = spec or _right_part(content)
    if likely is not None:
        if writes:
            _check(problems, check_place, base / likely.output.folder)
            _check(problems, _check_formats, likely)
        if resume is not None:
            _check(problems, check_resumable, resume)
        if likely.previous is not None:
            _check(problems, check_last, base / likely.previous.release)
        if spec is not None:
            _check(problems, request_of, spec, base, resume=resume)
        else:
            _check(problems, method_of, likely, base)
        if problems.found and ((likely.data is None) != (likely.cells is None) or likely.tables):
            _check(problems, check_readable, likely, base)
    problems.found = list(dict.fromkeys(problems.found))
    problems.raise_if_any()
    assert spec is not None
    return spec


def check_place(folder: Path) -> None:
    """Refuse a folder for a release that holds something else, or that cannot be made.

    Raises
    ------
    InputError
    """
    check_replaceable(folder)
    # a release is filled beside its place, and takes it as a whole
    place = Path(os.path.realpath(folder))
    there = next(parent for parent in place.parents if parent.exists())
    if not there.is_dir():
        raise InputError(f"{folder} cannot be made: {there} is a file; name another folder")
    try:
        # rights do not say all: file systems may be read-only, or hold no files of users at all
        with tempfile.TemporaryDirectory(dir=there, prefix=temporary_prefix(place)):
            pass
    except OSError as error:
        why = f"no folder can be made in {there} ({error.strerror or error})"
        raise InputError(f"{folder} cannot be written: {why}; name another folder") from error


def _check(problems: Problems, checks: Any, *things: Any, **named: Any) -> None:
    try:
        checks(*things, **named)
    except InputError as error:
        problems.found += error.problems


def _check_formats(spec: Spec) -> None:
    if "xlsx" in spec.output.formats:
        try:
            import openpyxl  # noqa: F401
        except ImportError as error:
            raise InputError("Excel files need openpyxl: install tabprotect[excel]") from error


def _right_part(content: Mapping[str, Any]) -> Spec | None:
    """Return what is left of a specification without the keys that are wrong; None where nothing can be made of it."""
    kept = dict(content)
    for _ in range(2):
        try:
            return Spec.model_validate({"rules": ["threshold=1"], **kept})
        except ValidationError as error:
            for one in error.errors():
                _take_out(kept, one["loc"])
    return None


def _take_out(kept: dict[str, Any], place: Sequence[Any]) -> None:
    """Take out a wrong key, of a table within a specification (such as output) that one alone."""
    first = str(place[0])
    inner = kept.get(first)
    if len(place) > 1 and isinstance(inner, dict) and place[1] in inner:
        kept[first] = {key: given for key, given in inner.items() if key != place[1]}
    else:
        kept.pop(first, None)
