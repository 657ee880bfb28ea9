"""What a query asks for, once it is understood: the same for every way in which it was written."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Aggregate", "Request"]


@dataclass(frozen=True)
class Aggregate:
    """One aggregate of the result.

    Attributes
    ----------
    function : str
        SUM, COUNT, AVG, MIN or MAX.
    column : str
        Of the table of the records; empty for COUNT(*).
    name : str
        Of the result column.
    """

    function: str
    column: str
    name: str


@dataclass(frozen=True)
class Request:
    """A query that is understood.

    Attributes
    ----------
    table : str
        Whose rows are added up: every row once, since joins lead along keys to at most one row.
    aggregates : tuple of Aggregate
    groups : tuple of (str, str)
        Table and column.
    output : tuple of int
        The result columns: k >= 0 is aggregate k, -1 - k is group k.
    source : str
        FROM and WHERE, written anew for the database.
    names : tuple of str
        Of the group columns in the result.
    order : tuple of (int, bool)
        Result columns to sort by, and whether from the largest down.
    limit : int, optional
        Rows of the result at most. Order and limit are applied to what is published.
    """

    table: str
    aggregates: tuple[Aggregate, ...]
    groups: tuple[tuple[str, str], ...]
    output: tuple[int, ...]
    source: str
    names: tuple[str, ...] = ()
    order: tuple[tuple[int, bool], ...] = ()
    limit: int | None = None
