"""Expressions as sums of products of whole numbers, in canonical form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from keyword import iskeyword
from math import prod
from typing import Any
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError

__all__ = ["MOST_PRODUCTS", "Expression", "Monomial"]

Monomial = tuple[tuple[str, int], ...]
"""The variables of a product with their exponents, in the order of names; empty for the constant."""

MOST_PRODUCTS = 2_000
"""More products than this are refused: each costs the handler a multiplication of ciphertexts."""

HIGHEST_DEGREE = 64
"""Products of more factors are refused: no ring in use leaves room for their noise."""


@dataclass(frozen=True)
class Expression:
    """A polynomial with whole coefficients, as a sum of products.

    Two expressions are equal if, and only if, they are the same polynomial: products are collected, and those whose
    coefficients cancel are dropped.

    Parameters
    ----------
    terms : tuple of (Monomial, int)
        Products and their coefficients, none of them 0, in ascending order of products. `of` brings others there.

    Examples
    --------
    >>> a, b = Expression.variable("a"), Expression.variable("b")
    >>> print((a + b) * (a - b) + 3)
    3 + a**2 - b**2
    >>> (a + b) ** 2 == a * a + 2 * a * b + b * b
    True
    """

    terms: tuple[tuple[Monomial, int], ...]

    @classmethod
    def of(cls, products: Mapping[tuple[str, ...], int]) -> Expression:
        """Build a sum from the factors of each product and its coefficient.

        Raises
        ------
        InputError
            If a factor is no name or a coefficient no whole number.

        Examples
        --------
        >>> print(Expression.of({("b", "a"): 2, ("a", "a"): 1, (): -3}))
        -3 + 2*a*b + a**2
        """
        collected: dict[Monomial, int] = {}
        for factors, coefficient in products.items():
            if isinstance(coefficient, bool) or not isinstance(coefficient, int | np.integer):
                raise InputError(f"the coefficient of {factors!r} must be a whole number, not {coefficient!r}")
            names = list(factors) if isinstance(factors, tuple) else [factors]
            if wrong := [name for name in names if not is_name(name)]:
                raise InputError(f"a factor must be the name of a variable, not {wrong[0]!r}; write products as tuples")
            key = tuple(sorted((name, names.count(name)) for name in set(names)))
            collected[key] = collected.get(key, 0) + int(coefficient)
        return cls.collected(collected)

    @classmethod
    def collected(cls, products: Mapping[Monomial, int]) -> Expression:
        """Build a sum from monomials, dropping those with coefficient 0."""
        kept = tuple(sorted((key, c) for key, c in products.items() if c))
        if len(kept) > MOST_PRODUCTS:
            raise InputError(
                f"the expression has {len(kept)} products, more than {MOST_PRODUCTS}: delegate it in parts"
            )
        highest = max((degree(key) for key, _ in kept), default=0)
        if highest > HIGHEST_DEGREE:
            raise InputError(f"a product of {highest} factors is more than {HIGHEST_DEGREE}: delegate it in steps")
        return cls(kept)

    @classmethod
    def variable(cls, name: str) -> Expression:
        """One variable."""
        return cls.of({(name,): 1})

    @classmethod
    def constant(cls, value: int) -> Expression:
        """One whole number."""
        return cls.of({(): value})

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables, ascending."""
        return tuple(sorted({name for key, _ in self.terms for name, _ in key}))

    @property
    def degree(self) -> int:
        """Number of factors of the longest product, powers counted; 0 for constants."""
        return max((degree(key) for key, _ in self.terms), default=0)

    @property
    def depth(self) -> int:
        """Multiplications of ciphertexts in a row, with products taken in a balanced tree."""
        return (self.degree - 1).bit_length() if self.degree else 0

    def products(self) -> tuple[Expression, ...]:
        """Return the products, each with coefficient 1 and without the constant: the intermediate results.

        Examples
        --------
        >>> [str(p) for p in (2 * Expression.variable("a") * Expression.variable("b") + 7).products()]
        ['a*b']
        """
        return tuple(Expression(((key, 1),)) for key, _ in self.terms if key)

    def interval(self, bounds: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
        """Bound the value from both sides by interval arithmetic, in whole numbers of any size.

        Examples
        --------
        >>> a, b = Expression.variable("a"), Expression.variable("b")
        >>> (a**2 - 2 * a * b).interval({"a": (-3, 2), "b": (0, 10)})
        (-40, 69)
        """
        lower = upper = 0
        for key, coefficient in self.terms:
            low, high = 1, 1
            for name, exponent in key:
                ends = power_interval(*bounds[name], exponent)
                corners = [low * ends[0], low * ends[1], high * ends[0], high * ends[1]]
                low, high = min(corners), max(corners)
            low, high = sorted((coefficient * low, coefficient * high))
            lower, upper = lower + low, upper + high
        return lower, upper

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """Evaluate in Python's whole numbers; arrays should be of dtype object, or small enough for their type."""
        return sum(c * prod(values[name] ** exponent for name, exponent in key) for key, c in self.terms)

    def residues(self, values: Mapping[str, npt.NDArray[np.int64]], modulus: int) -> npt.NDArray[np.int64]:
        """Evaluate modulo a number below 2**31, for arrays of residues of one shape."""
        total = np.zeros(np.broadcast_shapes(*(v.shape for v in values.values())), dtype=np.int64)
        powers: dict[tuple[str, int], npt.NDArray[np.int64]] = {}
        for key, coefficient in self.terms:
            product = np.full(total.shape, coefficient % modulus, dtype=np.int64)
            for name, exponent in key:
                if (name, exponent) not in powers:
                    powers[name, exponent] = power(values[name], exponent, modulus)
                product = product * powers[name, exponent] % modulus
            total = (total + product) % modulus
        return total

    def __add__(self, other: Expression | int) -> Expression:
        return self._combine(other, 1)

    def __sub__(self, other: Expression | int) -> Expression:
        return self._combine(other, -1)

    def __neg__(self) -> Expression:
        return Expression(tuple((key, -c) for key, c in self.terms))

    def __mul__(self, other: Expression | int) -> Expression:
        other = as_sum(other)
        if len(self.terms) * len(other.terms) > 50 * MOST_PRODUCTS:
            raise InputError(
                f"multiplying out {len(self.terms)} by {len(other.terms)} products is too much: delegate it in parts"
            )
        found: dict[Monomial, int] = {}
        for left, c in self.terms:
            for right, d in other.terms:
                key = times(left, right)
                found[key] = found.get(key, 0) + c * d
        return Expression.collected(found)

    def __pow__(self, exponent: int) -> Expression:
        if isinstance(exponent, bool) or not isinstance(exponent, int) or not 0 <= exponent <= HIGHEST_DEGREE:
            raise InputError(f"an exponent must be a whole number from 0 to {HIGHEST_DEGREE}, not {exponent!r}")
        result = Expression.constant(1)
        for _ in range(exponent):
            result = result * self
        return result

    def __radd__(self, other: int) -> Expression:
        return self + other

    def __rsub__(self, other: int) -> Expression:
        return -self + other

    def __rmul__(self, other: int) -> Expression:
        return self * other

    def __str__(self) -> str:
        text = ""
        for key, c in self.terms:
            factors = [name if e == 1 else f"{name}**{e}" for name, e in key]
            product = "*".join(([] if abs(c) == 1 and factors else [str(abs(c))]) + factors)
            text += (" - " if c < 0 else " + ") + product if text else ("-" if c < 0 else "") + product
        return text or "0"

    def _combine(self, other: Expression | int, sign: int) -> Expression:
        found = dict(self.terms)
        for key, c in as_sum(other).terms:
            found[key] = found.get(key, 0) + sign * c
        return Expression.collected(found)


def as_sum(value: Expression | int) -> Expression:
    """Return an expression for a whole number."""
    return value if isinstance(value, Expression) else Expression.constant(value)


def is_name(name: object) -> bool:
    """Whether something is the name of a variable in its normal form, as it is read back from text."""
    return isinstance(name, str) and name.isidentifier() and not iskeyword(name) and normalize("NFKC", name) == name


def degree(key: Monomial) -> int:
    """Number of factors of a product, powers counted."""
    return sum(exponent for _, exponent in key)


def times(left: Monomial, right: Monomial) -> Monomial:
    """Multiply two monomials."""
    found = dict(left)
    for name, exponent in right:
        found[name] = found.get(name, 0) + exponent
    return tuple(sorted(found.items()))


def power_interval(low: int, high: int, exponent: int) -> tuple[int, int]:
    """Bound a power: even ones of an interval around 0 begin at 0."""
    ends = (low**exponent, high**exponent)
    return (0, max(ends)) if exponent % 2 == 0 and low < 0 < high else (min(ends), max(ends))


def power(values: npt.NDArray[np.int64], exponent: int, modulus: int) -> npt.NDArray[np.int64]:
    """Raise residues to a power by repeated squaring."""
    result, square = np.ones_like(values), values % modulus
    while exponent:
        if exponent & 1:
            result = result * square % modulus
        square = square * square % modulus
        exponent >>= 1
    return result


def factors_of(key: Monomial) -> Iterable[str]:
    """Name each factor of a product, repeated by its exponent."""
    return (name for name, exponent in key for _ in range(exponent))
