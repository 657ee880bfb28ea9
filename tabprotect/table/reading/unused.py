"""What was said of a file that its kind has no use for."""

from __future__ import annotations

from collections.abc import Mapping

from tabprotect.errors import InputError
from tabprotect.table.reading.recognised import Recognised

__all__ = ["check_used"]

_KINDS = {
    "separator": ("text", "text"),
    "encoding": ("text", "text"),
    "sheet": ("excel", "Excel files"),
    "relation": ("duckdb", "DuckDB files"),
}
_CALLED = {"text": "text", "excel": "an Excel file", "parquet": "a Parquet file", "duckdb": "a DuckDB file"}


def check_used(found: Recognised, given: Mapping[str, str | None]) -> Recognised:
    """Return how a file was read, or refuse what was said of it and says nothing of a file of its kind.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_used(Recognised("a.csv", "text"), {"sheet": "firms", "encoding": "cp1252"})
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: a.csv: sheet='firms' is for Excel files, and this is text; leave it out
    """
    wrong = {
        name: f"is for {what}, and this is {_CALLED[found.kind]}"
        for name, (kind, what) in _KINDS.items()
        if given.get(name) is not None and found.kind != kind
    }
    if given.get("member") is not None and found.packed != "zip":
        wrong["member"] = "is for zip archives, and this is none"
    if wrong:
        raise InputError(*(f"{found.path}: {name}={given[name]!r} {why}; leave it out" for name, why in wrong.items()))
    return found
