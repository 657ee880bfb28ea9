"""Dishonest handlers, to rehearse that frauds are found, and how likely each is by parity alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tabprotect.errors import InputError, did_you_mean
from tabprotect.query.delegation.expression import Expression
from tabprotect.query.delegation.handler import Grid, Handler, Response
from tabprotect.query.delegation.reading import read_expression

__all__ = ["FRAUDS", "DishonestHandler", "Pairs", "computed_instead"]

Pairs = list[tuple[Expression, Expression]]
"""For the final result and each intermediate one: what was claimed and what was computed."""

Lie = Callable[[Expression, Sequence[Expression], Sequence[Expression]], list[Expression]]


def replaced(text: str) -> Lie:
    """Compute a given expression in place of the required one; the products are right."""
    other = read_expression(text)
    return lambda required, products, earlier: [other, *products]


def add(amount: int) -> Lie:
    """Add a constant to the final result."""
    return lambda required, products, earlier: [required + amount, *products]


def drop(required: Expression, products: Sequence[Expression], earlier: Sequence[Expression]) -> list[Expression]:
    """Leave the last product out of the final result."""
    shorter = Expression(required.terms[:-1])
    if not shorter.variables:
        raise InputError(f"'{required}' has one product only: none can be dropped")
    return [shorter, *products]


def swap(required: Expression, products: Sequence[Expression], earlier: Sequence[Expression]) -> list[Expression]:
    """Exchange the first two intermediate results."""
    if len(products) < 2:
        raise InputError("fewer than two intermediate results: none can be exchanged")
    return [required, products[1], products[0], *products[2:]]


def replay(required: Expression, products: Sequence[Expression], earlier: Sequence[Expression]) -> list[Expression]:
    """Return the result of the earlier expression again; honest for the first one."""
    return [earlier[-1] if earlier else required, *products]


FRAUDS: dict[str, Lie] = {
    "add-one": add(1),
    "add-two": add(2),
    "drop-product": drop,
    "swap-products": swap,
    "replay": replay,
}
"""Frauds that compute something else for all records, by name. ``compute=EXPRESSION`` is another."""

SLOT = "alter-slot"
CLAIM = "even-claim"


def lie_of(name: str) -> Lie:
    """Return what a fraud computes.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    if name.startswith("compute="):
        return replaced(name.removeprefix("compute="))
    if name in (SLOT, CLAIM):
        return lambda required, products, earlier: [required, *products]
    if name not in FRAUDS:
        options = [*FRAUDS, SLOT, CLAIM, "compute=EXPRESSION"]
        raise InputError(f"there is no fraud '{name}'{did_you_mean(name, options)}")
    return FRAUDS[name]


def computed_instead(
    name: str, required: str | Expression, earlier: Sequence[str | Expression] = (), products: bool = True
) -> Pairs:
    """Pair what a fraud claims with what it computes, for `detection_of_several`.

    Parameters
    ----------
    name : str
        A fraud that computes something else for all records.
    required : str or Expression
        The expression that was asked for.
    earlier : sequence of str or Expression, default ()
        Expressions asked for before, under the same keys.
    products : bool, default True
        Whether intermediate results are returned, too.

    Examples
    --------
    >>> [(str(claimed), str(computed)) for claimed, computed in computed_instead("swap-products", "a*b + c")]
    [('a*b + c', 'a*b + c'), ('a*b', 'c'), ('c', 'a*b')]
    """
    whole = read_expression(required) if isinstance(required, str) else required
    before = [read_expression(e) if isinstance(e, str) else e for e in earlier]
    parts = whole.products() if products and len(whole.products()) > 1 else ()
    return list(zip([whole, *parts], lie_of(name)(whole, parts, before), strict=True))


class DishonestHandler(Handler):
    """A handler that commits one fraud.

    Parameters
    ----------
    name : str
        A name in `FRAUDS`; ``compute=EXPRESSION``, which returns the result of another expression; ``even-claim``,
        which returns the right result, but claims twice the expression; or ``alter-slot``, which adds 2 to one
        slot, drawn at random.
    seed : int, optional
        Draws the slot.

    Examples
    --------
    >>> from tabprotect.query.delegation import SameProcess, delegate
    >>> dishonest = SameProcess(DishonestHandler("add-two"))
    >>> found = delegate("a*b", {"a": [4, 2], "b": [3, 5]}, (0, 9), handler=dishonest, check_points=16)
    >>> found.values is None, [str(finding) for finding in found.answers[0].findings]
    (True, ['POINTS (final result): 16 failures; expected: the result is right at the check points'])
    """

    def __init__(self, name: str, seed: int | None = None) -> None:
        super().__init__()
        self.name = name
        self._lie = lie_of(name)
        self._earlier: list[Expression] = []
        self._rng = np.random.default_rng(seed)

    def respond(self, required: Expression, products: Sequence[Expression]) -> Response:
        """Answer with the fraud."""
        final, *parts = [self.compute(e) for e in self._lie(required, products, self._earlier)]
        self._earlier.append(required)
        if self.name == SLOT:
            final = self._altered(final)
        return Response(required * 2 if self.name == CLAIM else required, final, tuple(parts))

    def _altered(self, grid: Grid) -> Grid:
        """Add 2 to one slot of the first block, under every modulus."""
        mask = [0] * self.ring
        mask[int(self._rng.integers(self.ring))] = 2
        return [[vector + mask for vector in grid[0]], *grid[1:]]
