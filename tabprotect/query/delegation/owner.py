"""The owner: encrypts, asks, and accepts nothing that was not checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.query.delegation.channel import Channel, HandlerProcess
from tabprotect.query.delegation.checks import Expectation, Opened, Slots, check_result, check_sum, odd_records
from tabprotect.query.delegation.detection import point_is_missed
from tabprotect.query.delegation.expression import Expression
from tabprotect.query.delegation.inputs import (
    Bounds,
    Inputs,
    Layout,
    checked_inputs,
    lay_out,
    refuse_constant_parities,
)
from tabprotect.query.delegation.keys import Keys
from tabprotect.query.delegation.normal_form import NormalForm
from tabprotect.query.delegation.parameters import Parameters, choose_parameters
from tabprotect.query.delegation.probability import odd_probability
from tabprotect.query.delegation.reading import as_expression
from tabprotect.query.delegation.result import FINAL, Check, Delegated, Delegation, Finding
from tabprotect.query.delegation.wire import HandlerError, Message
from tabprotect.seeds import Seed, secret_seed

__all__ = ["delegate"]

SLACK = 1_000_000
"""Bytes by which an answer may exceed its expected size."""


@of_kinds("handler", "products")
def delegate(
    expressions: str | Expression | Sequence[str | Expression],
    data: Mapping[str, npt.ArrayLike],
    bounds: Bounds,
    *,
    handler: Channel | None = None,
    products: bool = True,
    check_points: int | None = None,
    seed: Seed | None = None,
) -> Delegation:
    """Have a handler evaluate expressions on encrypted data, and check what comes back.

    Parameters
    ----------
    expressions : str, Expression, or a sequence of them
        Sums of products of whole numbers, evaluated for each record.
    data : mapping of str to array_like of int, shape (records,)
        Values of the variables; never changed, never sent in clear.
    bounds : mapping of str to (int, int), or (int, int)
        Least and greatest possible value of each variable. They choose the parameters, which the handler sees, so they
        should be known bounds rather than the extremes of the data.
    handler : Channel, optional
        By default a process of its own on this computer, which is closed at the end; one that is given stays open.
    products : bool, default True
        Whether every product is asked for as an intermediate result and checked, too.
    check_points : int, optional
        Slots of each ciphertext that hold random numbers of the owner, at secret positions. By default all those
        without a record, of which 16 are left at least.
    seed : int or numpy.random.Generator, optional
        Draws check points and positions. They protect, so the default is fresh and secret.

    Returns
    -------
    Delegation
        For each expression the values, if every check passed, or what failed. After a failure nothing more is asked
        under the same keys: telling a handler which alterations pass would tell it about the data.

    Raises
    ------
    InputError
        If data or bounds are wrong, an expression is always even or always odd, or a result may be too large.
    HandlerError
        If the handler stops, reports an error, or does not speak the protocol.

    Notes
    -----
    Delegation of data as in Domingo-Ferrer, Sanchez del Castillo, Castilla (1998), "Dike", by way of the notebook of
    Eustat. Secrecy rests on BFV at 128 bits. Six checks are made of every answer: the claim is the required polynomial;
    noise budget is left; the check points are right; the range is possible; the parity is that of the claimed
    expression for every record; the products sum up to the result. The parity of a result says nothing of frauds that
    keep it (`detection_probability` computes how likely one is found); check points find them.

    Fresh keys are made for every call. The handler learns the expressions, the number of blocks, and parameters; it
    must not learn whether its answer was accepted, nor the decrypted results.

    Examples
    --------
    >>> found = delegate("price*sold - cost", {"price": [3, 5], "sold": [10, 4], "cost": [7, 30]}, (0, 100))
    >>> found.accepted, found.values.tolist()
    (True, [23, -10])
    """
    if not isinstance(expressions, str | Expression | Sequence):
        raise InputError(f"an expression must be text or an Expression, not {expressions!r}")
    given = [expressions] if isinstance(expressions, str | Expression) else list(expressions)
    required = [as_expression(expression) for expression in given]
    if not required:
        raise InputError("no expression is given")
    if constant := [str(e) for e in required if not e.variables]:
        raise InputError(f"'{constant[0]}' has no variable: there is nothing to delegate")
    inputs = checked_inputs(required, data, bounds)
    refuse_constant_parities(required, inputs)
    parts = [e.products() if products and len(e.products()) > 1 else () for e in required]
    parameters = choose_parameters([*required, *(p for each in parts for p in each)], inputs.bounds)
    if check_points is not None and (type(check_points) is not int or not 0 <= check_points < parameters.ring):
        raise InputError(f"check_points must be a whole number from 0 to {parameters.ring - 1}, not {check_points!r}")
    rng = np.random.default_rng(secret_seed(seed))
    channel = HandlerProcess() if handler is None else handler
    try:
        session = Session(inputs, parameters, check_points, channel, rng)
        session.begin(multiplies=max(e.depth for e in required) > 0)
        answers = tuple(session.ask(e, p) for e, p in zip(required, parts, strict=True))
    finally:
        if handler is None:
            channel.close()
    return Delegation(answers, parameters, session.sent, session.received)


class Session:
    """Questions to one handler under the same keys."""

    def __init__(
        self, inputs: Inputs, parameters: Parameters, points: int | None, channel: Channel, rng: np.random.Generator
    ) -> None:
        layout = lay_out(inputs.records, points, parameters.ring, rng)
        self.known = Expectation(inputs, layout, fill(inputs, layout, parameters, rng), parameters)
        self.points = min(map(len, layout.points))
        self.channel = channel
        self.sent = self.received = 0
        self.stopped = False
        self._largest = 0

    def begin(self, multiplies: bool) -> None:
        """Make keys, and send what the handler needs."""
        own = self.known.parameters
        self.keys = Keys(own, multiplies)
        header = {"kind": "keys", "ring": own.ring, "moduli": list(own.moduli)}
        self._exchange(Message(header, self.keys.public()), "ready", 0)
        blobs = [
            self.keys.encrypt(cell, which)
            for rows in self.known.slots.values()
            for row in rows
            for which, cell in enumerate(row)
        ]
        self._largest = max(map(len, blobs))
        header = {"kind": "inputs", "names": list(self.known.slots), "blocks": self.known.layout.blocks}
        self._exchange(Message(header, tuple(blobs)), "ready", 0)

    def ask(self, expression: Expression, products: tuple[Expression, ...]) -> Delegated:
        """Ask for one expression and its products, and check the answer."""
        if self.stopped:
            return self._answer(expression, "", [Finding(Check.STOPPED, FINAL, 1)], {}, 0)
        cells = self.known.layout.blocks * len(self.known.parameters.moduli)
        count = cells * (1 + len(products))
        header = {"kind": "evaluate", "expression": str(expression), "products": [str(p) for p in products]}
        reply = self._exchange(Message(header), "result", 4 * count * self._largest + SLACK)
        if len(reply.blobs) != count:
            raise HandlerError(f"the handler returned {len(reply.blobs)} ciphertexts where {count} were asked for")
        claimed = str(reply.header.get("claimed", ""))
        findings = check_claim(claimed, expression)
        opened = [
            self._open(name, part, reply.blobs[i * cells : (i + 1) * cells])
            for i, (name, part) in enumerate([(FINAL, expression), *((str(p), p) for p in products)])
        ]
        values: dict[str, npt.NDArray[Any]] = {}
        for result in opened:
            found, value = check_result(result, self.known)
            findings += found
            if value is not None:
                values[result.name] = value
        if products and all(result.readable for result in opened):
            findings += check_sum(opened[0], opened[1:], self.known)
        self.stopped = bool(findings)
        return self._answer(expression, claimed, findings, values, min(result.budget for result in opened))

    def _answer(
        self,
        expression: Expression,
        claimed: str,
        findings: list[Finding],
        values: Mapping[str, npt.NDArray[Any]],
        budget: int,
    ) -> Delegated:
        """Put an answer together; values only if nothing was found."""
        exact = {} if findings else {name: value.astype(np.int64) for name, value in values.items()}
        inputs = self.known.inputs
        return Delegated(
            expression,
            claimed,
            exact.pop(FINAL, None),
            exact,
            tuple(findings),
            odd_probability(NormalForm.of(expression, inputs.fixed)),
            float(odd_records(expression, inputs).mean()),
            point_is_missed(expression.degree, min(self.known.parameters.moduli), self.points),
            budget,
        )

    def _open(self, name: str, expression: Expression, blobs: Sequence[bytes]) -> Opened:
        """Decrypt one result."""
        width = len(self.known.parameters.moduli)
        rows = range(self.known.layout.blocks)
        return Opened(
            name,
            expression,
            [[self.keys.decrypt(blobs[b * width + k], k) for k in range(width)] for b in rows],
        )

    def _exchange(self, message: Message, kind: str, most: int) -> Message:
        """Send a message and expect an answer of a kind."""
        reply = self.channel.exchange(message, most)
        self.sent += sum(map(len, message.blobs))
        self.received += sum(map(len, reply.blobs))
        if reply.kind == "error":
            raise HandlerError(f"the handler reports an error: {str(reply.header.get('reason'))[:300]}")
        if reply.kind != kind:
            raise HandlerError(f"the handler answered {reply.kind[:50]!r} where {kind!r} was expected")
        return reply


def fill(inputs: Inputs, layout: Layout, parameters: Parameters, rng: np.random.Generator) -> Slots:
    """Place records and random check points into slots; what is left over holds random numbers, too."""
    slots: Slots = {}
    for name, column in inputs.columns.items():
        parts = np.split(column, np.cumsum([len(at) for at in layout.records])[:-1])
        slots[name] = []
        for part, at in zip(parts, layout.records, strict=True):
            row = []
            for modulus in parameters.moduli:
                cell = rng.integers(0, modulus, parameters.ring)
                cell[at] = part % modulus
                row.append(cell)
            slots[name].append(row)
    return slots


def check_claim(claimed: str, required: Expression) -> list[Finding]:
    """Check that the claimed expression is the required polynomial, however it is written."""
    try:
        same = as_expression(claimed) == required
    except InputError:
        same = False
    return [] if same else [Finding(Check.CLAIM, FINAL, 1)]
