"""Instances, patterns and tables as files: read with clear errors, written whole or not at all."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path
from types import ModuleType

from tabprotect.errors import InputError, as_bool, did_you_mean
from tabprotect.formats.files import neighbours
from tabprotect.paths import possible
from tabprotect.problem import Problem

__all__ = ["instance_suffixes", "is_instance", "read_instance"]


@cache
def _readers() -> dict[str, ModuleType]:
    """A module of this package that names ``SUFFIXES`` reads such files with its ``read_instance``."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    return {suffix: m for m in modules for suffix in getattr(m, "SUFFIXES", ())}


def instance_suffixes() -> tuple[str, ...]:
    """Endings of file names that `read_instance` knows.

    Examples
    --------
    >>> instance_suffixes()
    ('.jj', '.json', '.sif')
    """
    return tuple(sorted(_readers()))


def is_instance(path: str | Path) -> bool:
    """Return whether the ending of a file's name is one of an instance.

    Examples
    --------
    >>> is_instance("a.jj.gz"), is_instance("a.csv.gz")
    (True, False)
    """
    return _suffix(Path(path)) in _readers()


def _suffix(path: Path) -> str:
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()


def read_instance(path: str | Path, *, additive: bool = True) -> Problem:
    """Read a protection problem from a file; the ending of its name says how (``.gz`` may follow).

    Parameters
    ----------
    path : path
    additive : bool
        False takes a table that does not add up as it is, for methods that change values.

    Raises
    ------
    InputError
        If the ending is unknown, or the file does not hold what its ending says.
    """
    path, additive = possible(path), as_bool(additive, "additive")
    suffix = _suffix(path)
    if suffix not in _readers():
        if not path.exists():
            raise InputError(f"{path}: there is no such file or folder{neighbours(path)}")
        raise InputError(
            f"{path}: instances are read from files that end in {' or '.join(instance_suffixes())} (or with .gz "
            f"after it){did_you_mean(suffix, instance_suffixes()) if suffix else ''}"
        )
    module = _readers()[suffix]
    read = module.read_instance if additive else getattr(module, "read_adjustable", module.read_instance)
    problem: Problem = read(path)
    return problem
