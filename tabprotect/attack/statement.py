"""A problem written down exactly, the way certificates embed it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tabprotect.problem import Attacker, Problem

__all__ = ["problem_statement"]


def problem_statement(problem: Problem) -> dict[str, Any]:
    """Return all numbers of a problem as JSON values, decimals as written.

    The statement is confidential: it holds the true values. Two problems with the same numbers have the same statement.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1]], [3, 1.5, 1.5], primary=[1], lpl=0, upl=1)
    >>> s = problem_statement(p)
    >>> s["values"], s["upper"][0], s["status"], s["start"], s["coefficient"]
    (['3', '1.5', '1.5'], 'inf', [0, 1, 0], [0, 3], ['-1', '1', '1'])
    """
    A = problem.system.A
    columns = {
        name: decimals(getattr(problem, name)) for name in ("values", "lpl", "upl", "spl", "weights", "lower", "upper")
    }
    return {
        "cells": [_id(cell) for cell in problem.system.cells.tolist()],
        "status": problem.status.tolist(),
        **columns,
        "rhs": decimals(problem.system.b),
        "start": A.indptr.tolist(),
        "cell": A.indices.tolist(),
        "coefficient": decimals(A.data),
        "attackers": [_attacker(a) for a in problem.attackers],
        "integer": bool(problem.integer),
    }


def _attacker(attacker: Attacker) -> dict[str, Any]:
    spared = {"spared": [int(i) for i in attacker.spared]} if attacker.spared else {}
    return {"name": attacker.name, "known": [int(i) for i in attacker.known], **spared}


def decimals(array: Any) -> list[str]:
    """Write floats as the shortest decimals that read back as the same float, integers without a point.

    Examples
    --------
    >>> decimals([0.1, 3.0, 1e22, -0.0, np.inf])
    ['0.1', '3', '1e+22', '0', 'inf']
    """
    return [
        text[:-2] if (text := repr(value + 0.0)).endswith(".0") else text for value in np.asarray(array, float).tolist()
    ]


def _id(cell: Any) -> Any:
    if isinstance(cell, tuple):
        return [_id(part) for part in cell]
    return cell if type(cell) in (int, str) else str(cell)
