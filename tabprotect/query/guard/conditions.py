"""Conditions of queries: public columns and constants, compared and joined; checked node by node and written anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from tabprotect.errors import InputError

__all__ = ["condition"]

_JOINERS: Final = ("And", "Or", "Not", "Paren", "In", "Between", "Is", "Like")
_COMPARISONS: Final = ("EQ", "NEQ", "LT", "LTE", "GT", "GTE")
_LEAVES: Final = ("Literal", "Null", "Boolean", "Neg")
_PASSING: Final = re.compile(r"(?<![^\W_])(now|today|tomorrow|yesterday)(?![^\W_])", re.IGNORECASE)


def condition(node: Any, public: Callable[[Any], tuple[str, str]], dialect: str) -> str:
    """Return a condition as the database is to read it.

    Parameters
    ----------
    node : sqlglot.Expression
    public : callable
        Returns table and column of a column node, or refuses it.
    dialect : {'duckdb', 'postgres'}

    Raises
    ------
    InputError
        What is not allowed in it.
    """
    return str(_rewritten(node, public, dialect).sql(dialect=dialect, comments=False))


def _rewritten(node: Any, public: Callable[[Any], tuple[str, str]], dialect: str) -> Any:
    from sqlglot import exp

    kind = type(node).__name__
    if kind == "Column":
        table, column = public(node)
        return exp.column(column, table=table, quoted=True)
    if kind in _LEAVES and (kind != "Neg" or type(node.this).__name__ == "Literal"):
        _check_lasting(node, dialect)
        return node.copy()
    if kind == "Cast" and type(node.this).__name__ == "Literal" and node.args["to"].sql().upper() == "DATE":
        _check_lasting(node.this, dialect)
        return exp.cast(exp.Literal.string(node.this.name), "DATE")
    if kind not in _JOINERS + _COMPARISONS:
        raise InputError(
            f"'{node.sql()[:60]}' is not allowed in a condition; public columns and constants may be compared, "
            "joined by AND, OR and NOT, with IN, BETWEEN, LIKE and IS NULL"
        )
    args: dict[str, Any] = {}
    for name, value in node.args.items():
        if isinstance(value, exp.Expression):
            args[name] = _rewritten(value, public, dialect)
        elif isinstance(value, list):
            args[name] = [_rewritten(v, public, dialect) for v in value]
        elif value and name not in ("negate",):
            raise InputError(f"'{node.sql()[:60]}' is not allowed in a condition")
        else:
            args[name] = value
    # not a copy with parts replaced: copies of all that is below take the square of the time
    return type(node)(**args)


def _check_lasting(node: Any, dialect: str) -> None:
    """Refuse texts that PostgreSQL reads as the time of the query: the rows would be others tomorrow."""
    if dialect == "postgres" and type(node).__name__ == "Literal" and _PASSING.search(node.name):
        raise InputError(f"'{node.name[:60]}' changes with time where a date is meant; write the date itself")
