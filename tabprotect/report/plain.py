"""The table of a page where no script runs: every slice written out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.formats.shades import shades
from tabprotect.report.cube import Cube, StatusKey
from tabprotect.report.numbers import STANDARD, Numbers

__all__ = ["plain_tables"]

MOST = 3_000
"""Larger tables are only in the files: written out twice, the page would be slow."""


def plain_tables(
    cubes: Sequence[Cube], statuses: Sequence[StatusKey], value: str, decimals: int | None, numbers: Numbers = STANDARD
) -> list[dict[str, Any]]:
    """Return one table a slice, the longest dimension down, the next one across; none where they are too many cells.

    Parameters
    ----------
    cubes : sequence of Cube
    statuses : sequence of StatusKey
    value : str
        What the cells hold.
    decimals : int, optional
        None: those that a value has.
    numbers : Numbers
    """
    if sum(int(np.prod([len(axis.nodes) for axis in cube.axes])) for cube in cubes) > MOST:
        return []
    return [table for cube in cubes for table in _slices(cube, statuses, value, decimals, numbers)]


def _slices(
    cube: Cube, statuses: Sequence[StatusKey], value: str, decimals: int | None, numbers: Numbers
) -> list[dict[str, Any]]:
    order = sorted(range(len(cube.axes)), key=lambda k: -len(cube.axes[k].codes))
    down, across, others = order[0], order[1] if len(order) > 1 else None, sorted(order[2:])
    lines = cube.axes[down].nodes
    columns = ((-1, 0),) if across is None else cube.axes[across].nodes
    names = [value] if across is None else [cube.axes[across].shown(code) for code, _ in columns]
    place = {at: i for i, at in enumerate(zip(*(codes.tolist() for codes in cube.at), strict=True))}
    shade = _shades(cube, statuses)
    found = []
    for fixed in product(*(cube.axes[k].nodes for k in others)):
        at = [0] * len(cube.axes)
        for k, (code, _) in zip(others, fixed, strict=True):
            at[k] = code
        rows = []
        for line, depth in lines:
            at[down] = line
            cells = []
            for column, _ in columns:
                if across is not None:
                    at[across] = column
                cells.append(_cell(cube, statuses, place.get(tuple(at)), shade, decimals, numbers))
            rows.append({"code": cube.axes[down].shown(line), "depth": depth, "cells": cells})
        chosen = [f"{cube.axes[k].name} {cube.axes[k].shown(code)}" for k, (code, _) in zip(others, fixed, strict=True)]
        title = ", ".join([*([cube.name] if cube.name else []), value, *chosen])
        found.append({"title": title, "columns": [cube.axes[down].name, *names], "rows": rows})
    return found


def _cell(
    cube: Cube,
    statuses: Sequence[StatusKey],
    i: int | None,
    shade: npt.NDArray[np.int64],
    decimals: int | None,
    numbers: Numbers,
) -> dict[str, str]:
    if i is None:
        return {"kind": "none", "text": "·"}
    status, value = statuses[cube.status[i]], float(cube.value[i])
    heat = f" h{shade[i]}" if shade[i] else ""
    if np.isnan(value):
        return {"kind": f"s-{status.id}", "text": status.symbol}
    return {"kind": f"s-{status.id}{heat}", "text": f"{numbers.fixed(value, decimals)} {status.mark}".rstrip()}


def _shades(cube: Cube, statuses: Sequence[StatusKey]) -> npt.NDArray[np.int64]:
    """Return the shade of every published cell."""
    hidden = np.array([key.hidden for key in statuses], bool)[cube.status]
    return shades(np.where(hidden, np.nan, cube.value))
