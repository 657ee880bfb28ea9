"""Data of the owner, checked once and laid out in slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems, collect, did_you_mean
from tabprotect.query.delegation.expression import Expression
from tabprotect.query.delegation.normal_form import NormalForm

__all__ = ["Inputs", "Layout", "checked_inputs", "lay_out"]

Whole = npt.NDArray[np.int64]
LEAST_POINTS = 16
"""Check points that every ciphertext holds at least, unless another number is asked for."""

Bounds = Mapping[str, tuple[int, int]] | tuple[int, int]


@dataclass(frozen=True)
class Inputs:
    """Data that keep their declared bounds.

    Parameters
    ----------
    columns : dict of str to array of int64, shape (records,)
        Values of each variable.
    bounds : dict of str to (int, int)
        Declared least and greatest value of each variable.
    records : int
        Number of records.
    """

    columns: dict[str, Whole]
    bounds: dict[str, tuple[int, int]]
    records: int

    @property
    def fixed(self) -> dict[str, int]:
        """Variables whose bounds leave one value."""
        return {name: low for name, (low, high) in self.bounds.items() if low == high}


def checked_inputs(expressions: Sequence[Expression], data: Mapping[str, Any], bounds: Bounds) -> Inputs:
    """Check data against expressions and bounds.

    Raises
    ------
    InputError
        With every problem: variables that are missing or not needed, values that are not whole or outside their bounds,
        columns of different lengths.
    """
    if not isinstance(data, Mapping) and not hasattr(data, "columns"):
        raise InputError(f"data must be columns by variable, such as {{'price': [3, 5]}}, or a frame, not {data!r}")
    needed = sorted({name for expression in expressions for name in expression.variables})
    with collect() as problems:
        for name in needed:
            if name not in data:
                problems.add(f"no data are given for variable '{name}'{did_you_mean(name, data)}")
        for name in data:
            if name not in needed:
                problems.add(f"'{name}' is in no expression: leave it out{did_you_mean(name, needed)}")
        limits = {name: limit for name in needed if (limit := declared(name, bounds, problems)) is not None}
        columns = {
            name: column
            for name in needed
            if name in data and (column := whole_column(name, data[name], limits.get(name), problems)) is not None
        }
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"'{name}' has {n}" for name, n in lengths.items())
            problems.add(f"all variables must have the same number of records: {listed}")
    return Inputs(columns, limits, next(iter(lengths.values())))


def declared(name: str, bounds: Bounds, problems: Problems) -> tuple[int, int] | None:
    """Return the declared bounds of a variable."""
    if isinstance(bounds, Mapping) and name not in bounds:
        problems.add(f"no bounds are declared for variable '{name}'{did_you_mean(name, bounds)}")
        return None
    given = bounds[name] if isinstance(bounds, Mapping) else bounds
    if not (
        isinstance(given, tuple)
        and len(given) == 2
        and all(isinstance(end, int | np.integer) and not isinstance(end, bool) for end in given)
        and given[0] <= given[1]
    ):
        problems.add(f"the bounds of '{name}' must be two whole numbers, the lower one first, not {given!r}")
        return None
    return int(given[0]), int(given[1])


def whole_column(name: str, given: Any, limits: tuple[int, int] | None, problems: Problems) -> Whole | None:
    """Return the values of a variable as 64-bit integers."""
    try:
        values = np.atleast_1d(np.asarray(given))
    except ValueError:
        values = np.empty((0, 0))
    if values.ndim != 1 or not values.size:
        problems.add(f"'{name}' must be one column with at least one record, not of shape {values.shape}")
        return None
    if values.dtype == object and all(type(value) is int and abs(value) < 2**63 for value in values):
        values = values.astype(np.int64)
    if values.dtype.kind not in "iu" or (values.dtype.kind == "u" and values.max() >= 2**63):
        problems.add(f"'{name}' must hold whole numbers of 64 bits, not {values.dtype}: scale decimals to whole units")
        return None
    values = values.astype(np.int64)
    if limits is not None:
        outside = np.flatnonzero((values < limits[0]) | (values > limits[1]))
        if outside.size:
            at = int(outside[0])
            problems.add(
                f"'{name}' has {counted(outside.size, 'value')} outside its bounds {limits}, "
                f"the first in record {at}: {values[at]}"
            )
    return values


@dataclass(frozen=True)
class Layout:
    """Which slot of which block holds what.

    Parameters
    ----------
    records : list of array of int64
        For each block, the slots of its records, in their order.
    points : list of array of int64
        For each block, the slots of its check points.
    """

    records: list[Whole]
    points: list[Whole]

    @property
    def blocks(self) -> int:
        """Number of ciphertexts a variable and modulus."""
        return len(self.records)


def lay_out(records: int, points: int | None, ring: int, rng: np.random.Generator) -> Layout:
    """Spread records evenly over as few blocks as needed, at slots drawn at random, with check points in each.

    Parameters
    ----------
    records : int
        Number of records.
    points : int or None
        Check points in each block; None for all slots without a record, which are at least `LEAST_POINTS`.
    ring : int
        Slots a block.
    rng : numpy.random.Generator
        Draws the positions.
    """
    least = LEAST_POINTS if points is None else points
    blocks = -(-records // (ring - least))
    slots = [rng.permutation(ring) for _ in range(blocks)]
    sizes = [len(part) for part in np.array_split(np.arange(records), blocks)]
    return Layout(
        [slots[b][:size] for b, size in enumerate(sizes)],
        [slots[b][size : None if points is None else size + points] for b, size in enumerate(sizes)],
    )


def refuse_constant_parities(expressions: Sequence[Expression], inputs: Inputs) -> None:
    """Refuse expressions whose parity does not depend on the data: no fraud of that parity would be found.

    Raises
    ------
    InputError
        With the cure for each.
    """
    with collect() as problems:
        for expression in expressions:
            constant = NormalForm.of(expression, inputs.fixed).constant
            if constant is None:
                continue
            cure = ", ".join(f"'{p}'" for p in expression.products() if NormalForm.of(p, inputs.fixed).constant is None)
            problems.add(
                f"'{expression}' is always {'odd' if constant else 'even'}: parity checking would find nothing; "
                + (f"delegate {cure} and put them together yourself" if cure else "its variables cannot vary in parity")
            )
