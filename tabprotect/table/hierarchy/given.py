"""Hierarchies in all forms in which callers give them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from tabprotect.errors import InputError
from tabprotect.table.hierarchy.hierarchy import Hierarchy

__all__ = ["Hierarchies", "HierarchyLike", "hierarchy_of"]

HierarchyLike: TypeAlias = Hierarchy | str | PathLike[str] | Sequence[str] | Mapping[str, Any]
"""What `hierarchy_of` takes."""

Hierarchies: TypeAlias = Mapping[str, HierarchyLike]
"""Hierarchies by name of the dimension: what `hierarchy_of` takes."""


def hierarchy_of(name: str, given: Any) -> Hierarchy:
    """Return the hierarchy of a dimension from what the caller gave for it.

    Parameters
    ----------
    name : str
        Of the dimension, for messages.
    given : Hierarchy, path, sequence of codes or mapping
        A hierarchy; the path of a code list, as `Hierarchy.read` takes it; codes below a total; a mapping of every code
        to the one above it, where 'Total' is put above several outermost codes; or a mapping of codes to lists of
        their parts.

    Raises
    ------
    InputError
        If it is something else, or the file cannot be read.
    """
    if isinstance(given, Hierarchy):
        return given
    if isinstance(given, str | PathLike):
        return Hierarchy.read(Path(given))
    if isinstance(given, Sequence) and given and all(isinstance(code, str) for code in given):
        return Hierarchy.flat(list(given))
    if isinstance(given, Mapping) and given:
        if all(isinstance(parts, list | tuple) for parts in given.values()):
            return Hierarchy(tuple(given.items()))
        outermost = {above for above in given.values() if above is not None and above not in given}
        outermost |= {code for code, above in given.items() if above is None}
        return Hierarchy.from_pairs(given, total="Total" if len(outermost) > 1 else None)
    raise InputError(
        f"the hierarchy of '{name}' must be a Hierarchy, the path of a code list, indented (.hrc) or with named "
        f"columns, a list of codes, or a mapping of every code to the one above it, not "
        f"{textwrap.shorten(repr(given), 60)}"
    )
