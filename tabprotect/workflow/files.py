"""Code lists of a request: how they are read."""

from __future__ import annotations

from pathlib import Path

from tabprotect.formats.codelists import is_code_list, read_code_list
from tabprotect.formats.files import read_bytes
from tabprotect.table.hierarchy import Hierarchy

__all__ = ["read_hierarchy"]


def read_hierarchy(path: Path, leader: str | None, total: str | None) -> Hierarchy:
    """Read a hierarchy by what is in the file: an indented code list, pairs of parent and child, or a labelled list.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    if is_code_list(path, read_bytes(path)):
        return read_code_list(path, total=total).hierarchy
    return Hierarchy.read(path, leader, total)
