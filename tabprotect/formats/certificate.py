"""The problem inside a certificate, so that it can be audited or solved again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from tabprotect.attack.certificate import Certificate
from tabprotect.attack.document import VALUES_FORMAT, Malformed, load
from tabprotect.attack.values import ValuesCertificate
from tabprotect.errors import InputError
from tabprotect.formats.files import read_bytes
from tabprotect.problem import Attacker, Problem
from tabprotect.table.system import LinearSystem

__all__ = ["problem_of", "read_certificate", "read_instance"]

SUFFIXES = (".json",)


def read_certificate(path: str | Path) -> Certificate | ValuesCertificate:
    """Read a certificate, of hidden cells or of changed values, without judging it.

    Raises
    ------
    InputError
        If the file is absent, unreadable, or no certificate.
    """
    read_bytes(path)  # for its clear errors
    try:
        of_values = load(path).get("format") == VALUES_FORMAT
    except Malformed as error:
        raise InputError(f"{path}: not a readable certificate ({error})") from error
    return ValuesCertificate.read(path) if of_values else Certificate.read(path)


def read_instance(path: str | Path) -> Problem:
    """Read the problem that a certificate is about."""
    return problem_of(read_certificate(path).document["problem"], str(path))


def problem_of(statement: Mapping[str, Any], name: str = "certificate") -> Problem:
    """Return the problem that a statement writes down.

    Parameters
    ----------
    statement : mapping
        As `tabprotect.attack.statement.problem_statement` makes it; read back, the numbers are the same floats.
    name : str
        For messages.

    Raises
    ------
    InputError
        If it is damaged.

    Examples
    --------
    >>> from tabprotect.attack.statement import problem_statement
    >>> p = Problem.from_arrays([[-1, 1, 1]], [3, 1.5, 1.5], primary=[1], lpl=0, upl=0.1)
    >>> problem_of(problem_statement(p)).upl.tolist()
    [0.1, 0.1, 0.1]
    """
    try:
        ids = statement["cells"]
        cells: pd.Index = (
            pd.MultiIndex.from_tuples([tuple(i) for i in ids])
            if ids and all(isinstance(i, list) for i in ids)
            else pd.Index(ids)
        )
        columns = [
            np.array([float(text) for text in statement[column]])
            for column in ("values", "lpl", "upl", "spl", "weights", "lower", "upper")
        ]
        values, lpl, upl, spl, weights, lower, upper = columns
        coefficients = np.array([float(text) for text in statement["coefficient"]])
        rhs = np.array([float(text) for text in statement["rhs"]])
        A = sparse.csr_array((coefficients, statement["cell"], statement["start"]), shape=(len(rhs), len(ids)))
        attackers = tuple(Attacker(a["name"], tuple(a["known"])) for a in statement["attackers"])
        status = np.array(statement["status"], dtype=np.int8)
        system = LinearSystem(A, rhs, cells)
        integer = bool(statement["integer"])
        return Problem(system, values, status, lpl, upl, spl, weights, lower, upper, attackers, integer)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name}: the problem in it is damaged ({error})") from error
    except InputError as error:
        raise InputError(*(f"{name}: {problem}" for problem in error.problems)) from error
