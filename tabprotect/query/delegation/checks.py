"""Checks of what a handler returned, none of which relies on the handler or on the library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.query.delegation.expression import Expression
from tabprotect.query.delegation.inputs import Inputs, Layout
from tabprotect.query.delegation.keys import Decrypted, whole
from tabprotect.query.delegation.normal_form import NormalForm
from tabprotect.query.delegation.parameters import LEAST_BUDGET, Parameters
from tabprotect.query.delegation.result import Check, Finding

__all__ = ["Expectation", "Opened", "check_result", "check_sum", "check_values", "odd_records"]

Residues = npt.NDArray[np.int64]
Slots = dict[str, list[list[Residues]]]
"""Residues of each variable by block and modulus, one a slot."""


@dataclass(frozen=True)
class Expectation:
    """What the owner knows to check results by.

    Parameters
    ----------
    inputs : Inputs
        Data and bounds.
    layout : Layout
        Which slot holds what.
    slots : dict of str to list of list of array of int64
        Residues of each variable by block and modulus, with those of the check points.
    parameters : Parameters
        Ring and moduli.
    """

    inputs: Inputs
    layout: Layout
    slots: Slots
    parameters: Parameters


@dataclass(frozen=True)
class Opened:
    """A result, decrypted.

    Parameters
    ----------
    name : str
        ``final result`` or the product.
    expression : Expression
        What it should be.
    grid : list of list of Decrypted
        By block and modulus.
    """

    name: str
    expression: Expression
    grid: list[list[Decrypted]]

    @property
    def budget(self) -> int:
        """Least noise budget."""
        return min(cell.budget for row in self.grid for cell in row)

    @property
    def readable(self) -> bool:
        """Whether all ciphertexts could be decrypted with budget left."""
        return all(cell.values is not None and cell.budget >= LEAST_BUDGET for row in self.grid for cell in row)

    def residues(self, block: int, which: int) -> Residues:
        """Residues of all slots."""
        values = self.grid[block][which].values
        assert values is not None
        return values


def check_result(opened: Opened, known: Expectation) -> tuple[list[Finding], npt.NDArray[Any] | None]:
    """Run every check that concerns one result alone.

    Returns
    -------
    list of Finding
        The checks that failed.
    array of int64 or object, shape (records,), or None
        The values; None if they are unreadable.
    """
    if not opened.readable:
        bad = sum(cell.values is None or cell.budget < LEAST_BUDGET for row in opened.grid for cell in row)
        return [Finding(Check.READABLE, opened.name, bad)], None
    findings = []
    if missed := sum(failed_points(opened, known)):
        findings.append(Finding(Check.POINTS, opened.name, missed))
    values = record_values(opened, known)
    return findings + check_values(values, opened.name, opened.expression, known.inputs), values


def check_values(values: npt.NDArray[Any], name: str, expression: Expression, inputs: Inputs) -> list[Finding]:
    """Check range and parity of decrypted values."""
    findings = []
    low, high = expression.interval(inputs.bounds)
    if outside := int(np.count_nonzero((values < low) | (values > high))):
        findings.append(Finding(Check.RANGE, name, outside))
    odd = (values % 2).astype(bool)
    if wrong := int(np.count_nonzero(odd != odd_records(expression, inputs))):
        findings.append(Finding(Check.PARITY, name, wrong))
    return findings


def odd_records(expression: Expression, inputs: Inputs) -> npt.NDArray[np.bool_]:
    """Compute for which records an expression is odd, from the parities of the data alone."""
    form = NormalForm.of(expression)
    bits = {name: np.packbits((inputs.columns[name] & 1).astype(bool)) for name in form.variables}
    found = form.evaluate(bits, -(-inputs.records // 8))
    return np.unpackbits(found, count=inputs.records).astype(bool)


def failed_points(opened: Opened, known: Expectation) -> Iterator[int]:
    """Count the wrong check points of each block and modulus."""
    for block, points in enumerate(known.layout.points):
        for which, modulus in enumerate(known.parameters.moduli):
            inputs = {name: known.slots[name][block][which][points] for name in opened.expression.variables}
            expected = opened.expression.residues(inputs, modulus)
            yield int(np.count_nonzero(opened.residues(block, which)[points] != expected))


def record_values(opened: Opened, known: Expectation) -> npt.NDArray[Any]:
    """Return the values of all records, put together from residues."""
    moduli = known.parameters.moduli
    parts = [
        whole([opened.residues(block, which)[at] for which in range(len(moduli))], moduli)
        for block, at in enumerate(known.layout.records)
    ]
    return np.concatenate(parts)


def check_sum(final: Opened, products: Sequence[Opened], known: Expectation) -> list[Finding]:
    """Check that the products, with their coefficients, sum up to the final result in all slots."""
    weights = dict(final.expression.terms)
    by_key: Mapping[Any, Opened] = {opened.expression.terms[0][0]: opened for opened in products}
    wrong = 0
    for block in range(known.layout.blocks):
        for which, modulus in enumerate(known.parameters.moduli):
            total = np.full(known.parameters.ring, weights.get((), 0) % modulus, dtype=np.int64)
            for key, opened in by_key.items():
                total = (total + weights[key] % modulus * opened.residues(block, which)) % modulus
            wrong += int(np.count_nonzero(total != final.residues(block, which)))
    return [Finding(Check.SUM, final.name, wrong)] if wrong else []
