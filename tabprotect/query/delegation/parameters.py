"""Parameters of the encryption, chosen by depth and magnitude of what is to be computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import isqrt, log2, prod

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.kinds import of_kinds
from tabprotect.query.delegation.expression import Expression

__all__ = ["LARGEST_RESULT", "LEAST_BUDGET", "Parameters", "choose_parameters"]

LARGEST_RESULT = 2**63 - 1
"""Results must fit into a 64-bit integer."""

LEAST_BUDGET = 10
"""Bits of noise budget that must be left in every result; results with less are refused as unreadable."""

ROOM = {4096: 109 - 37, 8192: 218 - 44, 16384: 438 - 49}
"""Bits of the coefficient modulus for data, by ring: the 128-bit default of SEAL without its key-switching prime."""

WORK = {4096: 1, 8192: 4, 16384: 20}
"""Time of a multiplication, relative to the smallest ring."""

FRESH = 10.0
"""Bits of noise in a fresh ciphertext beyond those of the plain modulus."""

BITS = range(17, 31)
"""Sizes of plain moduli: products of two residues fit into 64 bits, so that check points are computed with ease."""


@dataclass(frozen=True)
class Parameters:
    """A ring and prime plain moduli, one encryption each; the Chinese remainder theorem puts results together.

    Parameters
    ----------
    ring : int
        Degree of the cyclotomic polynomial: as many values fit into one ciphertext.
    moduli : tuple of int
        Primes of the form 2 ring k + 1, their product larger than the range of every result.
    budget : float
        Bits of noise budget expected to be left in the noisiest result.
    """

    ring: int
    moduli: tuple[int, ...]
    budget: float

    @property
    def range(self) -> int:
        """Number of results that can be distinguished."""
        return prod(self.moduli)


@of_kinds()
def choose_parameters(expressions: Sequence[Expression], bounds: Mapping[str, tuple[int, int]]) -> Parameters:
    """Choose the cheapest parameters with which every result is exact.

    Parameters
    ----------
    expressions : sequence of Expression
        Everything that the handler is to return.
    bounds : mapping of str to (int, int)
        Least and greatest value of each variable. The bounds and the expressions decide alone, not the data, since
        the handler sees the parameters.

    Returns
    -------
    found : Parameters
        The product of the moduli exceeds twice the greatest magnitude of a result, found by interval arithmetic, so
        that no result is ever reduced. At least 12 bits of noise budget should be left, by an estimate in which every
        multiplication in a row costs the bits of plain modulus and ring and two more; what the library measures is
        above it by 5 to 20 bits, and is checked again in every result.

    Raises
    ------
    InputError
        If a result may exceed 64 bits, or no ring has room for the noise; the message says by how much.

    Examples
    --------
    >>> from tabprotect.query.delegation import read_expression
    >>> found = choose_parameters([read_expression("a*b + 1")], {"a": (0, 1000), "b": (0, 1000)})
    >>> found.ring, found.moduli
    (4096, (114689, 65537))
    """
    if not expressions:
        raise InputError("no expression is given")
    with collect() as problems:
        for name in dict.fromkeys(name for expression in expressions for name in expression.variables):
            if name not in bounds:
                problems.add(f"no bounds are given for variable '{name}'{did_you_mean(name, bounds)}")
    largest = 0
    for expression in expressions:
        low, high = expression.interval(bounds)
        largest = max(largest, -low, high)
        if largest > LARGEST_RESULT:
            raise InputError(
                f"'{expression}' may reach {largest:.3g} within the declared bounds, more than 2**63 - 1: "
                "declare narrower bounds, use larger units, or delegate it in parts"
            )
    wide = 2 * largest + 1
    found: list[tuple[float, float, Parameters]] = []
    for ring in ROOM:
        for bits in BITS:
            moduli = primes(ring, bits, wide, expressions)
            budget = min((budget_left(e, ring, moduli) for e in expressions), default=0.0) if moduli else -1.0
            if budget >= LEAST_BUDGET + 2:
                found.append((len(moduli) * WORK[ring], -budget, Parameters(ring, moduli, budget)))
    if not found:
        deepest = max(expressions, key=lambda e: e.depth)
        raise InputError(
            f"no ring has room for the noise of products of {deepest.degree} factors "
            f"({deepest.depth} multiplications in a row) with these coefficients: delegate them in steps"
        )
    return min(found, key=lambda item: item[:2])[2]


def budget_left(expression: Expression, ring: int, moduli: Sequence[int]) -> float:
    """Estimate the bits of noise budget left in a result."""
    bits = log2(max(moduli))
    multiplications = expression.depth * (bits + log2(ring) + 2)
    weights = max(sum(abs(centred(c, t)) for key, c in expression.terms if key) for t in moduli)
    return ROOM[ring] - bits - FRESH - multiplications - log2(max(weights, 1))


def primes(ring: int, bits: int, wide: int, expressions: Sequence[Expression]) -> tuple[int, ...]:
    """Return the largest primes of a size whose product is at least `wide`, or nothing where there are too few.

    Those that divide a coefficient are left out: the library refuses to multiply by zero.
    """
    coefficients = {abs(c) for expression in expressions for key, c in expression.terms if key and abs(c) > 1}
    step = 2 * ring
    candidate = (2**bits - 2) // step * step + 1
    found: list[int] = []
    while prod(found) < wide:
        if candidate < 2 ** (bits - 1):
            return ()
        if is_prime(candidate) and all(c % candidate for c in coefficients):
            found.append(candidate)
        candidate -= step
    return tuple(found) or primes(ring, bits, 2, expressions)


@cache
def is_prime(number: int) -> bool:
    """Decide by division: numbers here have at most 30 bits."""
    return number > 1 and all(number % d for d in range(2, isqrt(number) + 1))


def centred(value: int, modulus: int) -> int:
    """Return the residue of least magnitude."""
    residue = value % modulus
    return residue - modulus if residue > modulus // 2 else residue
