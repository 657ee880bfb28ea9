"""The handler: evaluates expressions on ciphertexts. It sees no data and holds no key that decrypts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

from tabprotect.errors import InputError, TabprotectError
from tabprotect.query.delegation.expression import Expression, factors_of
from tabprotect.query.delegation.library import tenseal
from tabprotect.query.delegation.parameters import centred
from tabprotect.query.delegation.reading import read_expression
from tabprotect.query.delegation.wire import Message, read_message, write_message

__all__ = ["Handler", "Response", "serve"]

Ciphertext = Any
Grid = list[list[Ciphertext]]
"""Ciphertexts of one result: one for each block of records and modulus."""


@dataclass(frozen=True)
class Response:
    """What a handler returns: the expression that it claims to have computed, the result, and intermediate results.

    Parameters
    ----------
    claimed : Expression
        The claimed expression.
    final : Grid
        Its result.
    products : tuple of Grid
        The products that were asked for.
    """

    claimed: Expression
    final: Grid
    products: tuple[Grid, ...]


class Handler:
    """An honest handler.

    A subclass may override `respond`; `tabprotect.query.delegation.frauds` does, to show that frauds are found.
    """

    def __init__(self) -> None:
        self.moduli: tuple[int, ...] = ()
        self.ring = 0
        self.inputs: dict[str, Grid] = {}
        self._contexts: list[Any] = []

    def answer(self, message: Message) -> Message:
        """Answer one message of the owner."""
        header = message.header
        if message.kind == "keys":
            self.moduli, self.ring = tuple(header["moduli"]), int(header["ring"])
            self._contexts = [tenseal().context_from(blob) for blob in message.blobs]
            return Message({"kind": "ready"})
        if message.kind == "inputs":
            names, blocks = header["names"], int(header["blocks"])
            load = iter(message.blobs)
            self.inputs = {
                name: [[tenseal().bfv_vector_from(c, next(load)) for c in self._contexts] for _ in range(blocks)]
                for name in names
            }
            return Message({"kind": "ready"})
        if message.kind == "evaluate":
            required = read_expression(header["expression"])
            response = self.respond(required, [read_expression(text) for text in header["products"]])
            grids = (response.final, *response.products)
            blobs = tuple(vector.serialize() for grid in grids for row in grid for vector in row)
            return Message({"kind": "result", "claimed": str(response.claimed)}, blobs)
        raise InputError(f"a message of kind {message.kind!r} is not understood")

    def respond(self, required: Expression, products: Sequence[Expression]) -> Response:
        """Compute what is required."""
        return Response(required, self.compute(required), tuple(self.compute(product) for product in products))

    def compute(self, expression: Expression) -> Grid:
        """Evaluate an expression on the ciphertexts, block by block."""
        blocks = len(next(iter(self.inputs.values())))
        return [
            [
                evaluate(expression, {name: grid[b][k] for name, grid in self.inputs.items()}, modulus, self.ring)
                for k, modulus in enumerate(self.moduli)
            ]
            for b in range(blocks)
        ]


def evaluate(expression: Expression, inputs: dict[str, Ciphertext], modulus: int, slots: int) -> Ciphertext:
    """Evaluate a sum of products; each product in a balanced tree, common parts once."""
    known: dict[tuple[str, ...], Ciphertext] = {(name,): vector for name, vector in inputs.items()}

    def product(factors: tuple[str, ...]) -> Ciphertext:
        if factors not in known:
            half = 2 ** ((len(factors) - 1).bit_length() - 1)
            known[factors] = product(factors[:half]) * product(factors[half:])
        return known[factors]

    positive: Ciphertext = None
    negative: Ciphertext = None
    constant = 0
    for key, coefficient in expression.terms:
        weight = centred(coefficient, modulus)
        if not key:
            constant = weight
        if not key or weight == 0:
            continue
        vector = product(tuple(factors_of(key)))
        if abs(weight) > 1:
            vector = vector * ([abs(weight)] * slots)
        if weight > 0:
            positive = vector if positive is None else positive + vector
        else:
            negative = vector if negative is None else negative + vector
    if positive is None:  # x - 2 x costs less noise than a product with -1
        total = negative - (negative + negative)
    else:
        total = positive if negative is None else positive - negative
    return total + [constant] * slots if constant else total


def serve(handler: Handler, source: IO[bytes], target: IO[bytes]) -> None:
    """Answer messages until the stream ends."""
    while (message := read_message(source)) is not None:
        try:
            reply = handler.answer(message)
        except TabprotectError as error:
            reply = Message({"kind": "error", "reason": str(error)})
        except (ValueError, RuntimeError, KeyError, TypeError, StopIteration) as error:
            reply = Message({"kind": "error", "reason": f"{type(error).__name__}: {error}"})
        write_message(target, reply)
