"""Expressions from text, read into a tree and never executed."""

from __future__ import annotations

import ast

from tabprotect.errors import InputError
from tabprotect.query.delegation.expression import Expression, Monomial

__all__ = ["as_expression", "read_expression"]

LONGEST = 200_000
LARGEST_CONSTANT = 2**63


def read_expression(text: str) -> Expression:
    """Read an expression: names, whole numbers, ``+``, ``-``, ``*``, ``**`` with a constant exponent, parentheses.

    Parameters
    ----------
    text : str
        At most 200,000 characters, in the syntax of Python. It is multiplied out.

    Raises
    ------
    InputError
        If it contains anything else; the message names the part and its position.

    Examples
    --------
    >>> print(read_expression("(a + b)*(a - b) + 2*c**2"))
    a**2 - b**2 + 2*c**2
    >>> read_expression("a / b")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: 'a / b' at column 1: only +, -, * and ** are understood; all numbers are whole
    """
    if not isinstance(text, str):
        raise InputError(f"an expression must be text or an Expression, not {text!r}")
    if len(text) > LONGEST:
        raise InputError(f"the expression has {len(text)} characters, more than {LONGEST}: delegate it in parts")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        return convert(tree, text.strip())
    except (SyntaxError, ValueError) as error:
        raise InputError(f"{shortened(text)!r} is no expression: {getattr(error, 'msg', error)}") from None
    except (RecursionError, MemoryError):
        raise InputError("the expression is nested too deeply: write it as a sum of products") from None


def as_expression(value: Expression | str) -> Expression:
    """Read text; return an `Expression` as it is."""
    return value if isinstance(value, Expression) else read_expression(value)


def convert(node: ast.expr, text: str) -> Expression:
    """Turn one part of the tree into a sum of products."""
    match node:
        case ast.Name(id=name):
            return Expression.variable(name)
        case ast.Constant(value=value) if type(value) is int:
            if value > LARGEST_CONSTANT:
                raise InputError(f"{where(node, text)}: constants of more than 2**63 are refused")
            return Expression.constant(value)
        case ast.Constant():
            raise InputError(f"{where(node, text)}: only whole numbers are understood; scale decimals to whole units")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -convert(operand, text)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return convert(operand, text)
        case ast.BinOp(op=ast.Pow(), left=left, right=ast.Constant(value=exponent)) if type(exponent) is int:
            return convert(left, text) ** exponent
        case ast.BinOp(op=ast.Pow()):
            raise InputError(f"{where(node, text)}: an exponent must be a whole number of at least 0")
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return convert(left, text) * convert(right, text)
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            return convert_sum(node, text)
    raise InputError(f"{where(node, text)}: only +, -, * and ** are understood; all numbers are whole")


def convert_sum(node: ast.expr, text: str) -> Expression:
    """Collect the parts of a sum, which stand in a tree as deep as the sum is long."""
    found: dict[Monomial, int] = {}
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        add_terms(found, convert(node.right, text), 1 if isinstance(node.op, ast.Add) else -1)
        node = node.left
    add_terms(found, convert(node, text), 1)
    return Expression.collected(found)


def add_terms(found: dict[Monomial, int], part: Expression, sign: int) -> None:
    """Add the products of one part."""
    for key, coefficient in part.terms:
        found[key] = found.get(key, 0) + sign * coefficient


def where(node: ast.expr, text: str) -> str:
    """Quote a part of the text and say where it is."""
    return f"{shortened(ast.get_source_segment(text, node) or '?')!r} at column {node.col_offset + 1}"


def shortened(text: str) -> str:
    """Return the beginning of a long text."""
    return text if len(text) <= 60 else text[:57] + "..."
