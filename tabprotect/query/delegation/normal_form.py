"""Parities: the algebraic normal form of an expression over GF(2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.query.delegation.expression import Expression

__all__ = ["NormalForm"]

Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class NormalForm:
    """The parity of an expression as an XOR of ANDs of the parities of its variables.

    With Z(a + b) = Z(a) XOR Z(b), Z(a b) = Z(a) AND Z(b) and Z(a ** n) = Z(a), every sum of products has exactly one
    such form. So an expression is even for all whole numbers if, and only if, its form is empty. (The notebook of
    Eustat prints OR in place of XOR, and looks for complements inside each product, which a product of whole numbers
    never has: 2 a b and a ** 2 + a are always even without one.)

    Parameters
    ----------
    products : frozenset of frozenset of str
        The ANDs; the empty set in it is the constant 1.

    Examples
    --------
    >>> from tabprotect.query.delegation import read_expression
    >>> print(NormalForm.of(read_expression("a**2 + 3*a*b + 2*c - 1")))
    1 ^ a ^ a&b
    >>> NormalForm.of(read_expression("x**2 + x")).constant
    0
    """

    products: frozenset[frozenset[str]]

    @classmethod
    def of(cls, expression: Expression, fixed: Mapping[str, int] | None = None) -> NormalForm:
        """Return the form of an expression, some of whose variables may have a known value.

        Parameters
        ----------
        expression : Expression
            Any sum of products.
        fixed : mapping of str to int, optional
            Values of variables that cannot vary; only their parities matter.
        """
        parities = {name: value % 2 for name, value in (fixed or {}).items()}
        odd: set[frozenset[str]] = set()
        for key, coefficient in expression.terms:
            names = {name for name, _ in key}
            if coefficient % 2 and all(parities.get(name, 1) for name in names):
                odd ^= {frozenset(names - parities.keys())}
        return cls(frozenset(odd))

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables on which the parity depends, ascending."""
        return tuple(sorted({name for product in self.products for name in product}))

    @property
    def degree(self) -> int:
        """Variables of the longest AND."""
        return max((len(product) for product in self.products), default=0)

    @property
    def constant(self) -> int | None:
        """0 for always even, 1 for always odd, nothing where the parity depends on the data."""
        if not self.products:
            return 0
        return 1 if self.products == {frozenset[str]()} else None

    def evaluate(self, bits: Mapping[str, Bits], size: int) -> Bits:
        """Evaluate on bits packed eight records a byte.

        Parameters
        ----------
        bits : mapping of str to array of uint8, shape (size,)
            Parities of the variables, as `numpy.packbits` packs them.
        size : int
            Bytes a variable.
        """
        total = np.zeros(size, dtype=np.uint8)
        for product in self.products:
            term = np.full(size, 0xFF, dtype=np.uint8)
            for name in product:
                term &= bits[name]
            total ^= term
        return total

    def __xor__(self, other: NormalForm) -> NormalForm:
        """Return the form of a sum, or, which is the same, of a difference."""
        return NormalForm(self.products ^ other.products)

    def __str__(self) -> str:
        return " ^ ".join(ordered(self.products)) or "0"


def ordered(products: Iterable[frozenset[str]]) -> list[str]:
    """Write each AND, short ones first."""
    return ["&".join(p) or "1" for p in sorted((sorted(p) for p in products), key=lambda p: (len(p), p))]
