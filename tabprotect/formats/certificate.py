"""The problem inside a certificate, so that it can be audited or solved again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from tabprotect.attack.certificate import Certificate
from tabprotect.attack.values import ValuesCertificate
from tabprotect.certificate.document import VALUES_FORMAT, Malformed, load
from tabprotect.certificate.limits import LIMITS, Limits, open_regular
from tabprotect.certificate.numbers import Numbers
from tabprotect.errors import InputError, did_you_mean
from tabprotect.kinds import of_kinds
from tabprotect.paths import possible
from tabprotect.problem import Attacker, Problem
from tabprotect.table.system import LinearSystem

__all__ = ["check_file", "problem_of", "read_certificate", "read_instance"]

SUFFIXES = (".json",)

_OWN = Limits(memory=1_000_000_000)
"""Of the certificate of a problem that is to be solved: nothing but the problem is used of it."""


@of_kinds("limits")
def read_certificate(path: str | Path, limits: Limits = LIMITS) -> Certificate | ValuesCertificate:
    """Read a certificate, of hidden cells or of changed values, without judging it.

    Raises
    ------
    InputError
        If the file is absent, unreadable, or no certificate.
    """
    try:
        found = load(check_file(path), limits)
    except (OSError, Malformed) as error:
        raise InputError(f"{path}: not a readable certificate ({error})") from error
    kind = ValuesCertificate if found.get("format") == VALUES_FORMAT else Certificate
    return kind.of(found, str(path))


def check_file(path: str | Path) -> Path:
    """Return the path of a file that can be read.

    Raises
    ------
    InputError
        If there is none; names like it are suggested.
    """
    path = possible(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file")
    try:
        with open_regular(path):
            return path
    except Malformed as error:
        raise InputError(f"{path} is no regular file, such as a pipe or a device; name a file") from error
    except FileNotFoundError as error:
        try:
            names = [entry.name for entry in path.absolute().parent.iterdir()]
        except OSError:
            names = []
        raise InputError(f"{path}: there is no such file{did_you_mean(path.name, names) if names else ''}") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def read_instance(path: str | Path) -> Problem:
    """Read the problem that a certificate is about."""
    return problem_of(read_certificate(path, _OWN).document["problem"], str(path))


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
        Numbers(statement)
    except Malformed as error:
        raise InputError(f"{name}: the problem in it is damaged ({error})") from error
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
        attackers = tuple(
            Attacker(a["name"], tuple(a["known"]), spared=tuple(a.get("spared", ()))) for a in statement["attackers"]
        )
        status = np.array(statement["status"], dtype=np.int8)
        system = LinearSystem(A, rhs, cells)
        integer = bool(statement["integer"])
        return Problem(system, values, status, lpl, upl, spl, weights, lower, upper, attackers, integer)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name}: the problem in it is damaged ({error})") from error
    except InputError as error:
        raise InputError(*(f"{name}: {problem}" for problem in error.problems)) from error
