"""ORDER BY and LIMIT: applied to the rows of an answer, so that what is not published has no place of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tabprotect.errors import InputError

__all__ = ["inner_of", "limit_of", "ordering", "place_of", "sorted_rows"]


def ordering(order: Any, selected: Sequence[Any]) -> tuple[tuple[int, bool], ...]:
    """Return which result columns rows are sorted by, and whether from the largest down.

    Raises
    ------
    InputError
        For anything but columns of the result, by name, place or as they are written in SELECT.
    """
    found = []
    for one in order.expressions if order is not None else ():
        node = one.this
        if type(node).__name__ == "Literal" and not node.is_string:
            node = place_of(node, selected)
        texts = {node.name.lower() if type(node).__name__ == "Column" else "", inner_of(node).sql().lower()} - {""}
        where = [k for k, expression in enumerate(selected) if _names(expression) & texts]
        if not where:
            raise InputError(f"ORDER BY {node.sql()[:60]}: rows are sorted by columns of the result only")
        found.append((where[0], bool(one.args.get("desc"))))
    return tuple(found)


def _names(expression: Any) -> set[str]:
    """Return what a result column may be called: its alias, or what it is called without one, and its text."""
    inner = inner_of(expression)
    name = inner.name if type(inner).__name__ == "Column" else type(inner).__name__
    return {(expression.alias or name).lower(), inner.sql().lower()}


def limit_of(node: Any) -> int | None:
    """Return the number of a LIMIT."""
    if node is None:
        return None
    number = node.expression
    if type(number).__name__ != "Literal" or number.is_string or not number.name.isdigit():
        raise InputError("LIMIT takes a whole number")
    return int(number.name)


def inner_of(node: Any) -> Any:
    """Return an expression of SELECT without its alias."""
    return node.this if type(node).__name__ == "Alias" else node


def place_of(node: Any, selected: Sequence[Any]) -> Any:
    """Return the expression of SELECT at a place, counted from 1."""
    place = int(node.name) if node.name.isdigit() else 0
    if not 1 <= place <= len(selected):
        raise InputError(f"place {node.name} is none of the {len(selected)} columns of SELECT")
    return selected[place - 1]


def sorted_rows(
    rows: Sequence[tuple[Any, ...]], order: Sequence[tuple[int, bool]], limit: int | None
) -> list[tuple[Any, ...]]:
    """Return rows in an order, missing and unpublished values last, and no more of them than the limit.

    Examples
    --------
    >>> sorted_rows([("a", 3), ("b", None), ("c", 5)], [(1, True)], 2)
    [('c', 5), ('a', 3)]
    """
    found = list(rows)
    for column, down in reversed(order):
        there = [row for row in found if row[column] is not None]
        there.sort(key=lambda row, k=column: (isinstance(row[k], str), row[k]), reverse=down)  # type: ignore[misc]
        found = there + [row for row in found if row[column] is None]
    return found if limit is None else found[:limit]
