"""The intruder who sees changed values and knows the method, and certificates of such values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tabprotect.attack.certificate import certify
from tabprotect.attack.findings import Audit
from tabprotect.attack.sealed import NOTICE, SealedDocument
from tabprotect.attack.statement import decimals, problem_statement
from tabprotect.certificate.claims import DOUBTS, Claim
from tabprotect.certificate.document import VALUES_FORMAT, VERDICTS
from tabprotect.certificate.numbers import Numbers
from tabprotect.certificate.values import SECTIONS, off_sums
from tabprotect.problem import Problem, Status
from tabprotect.solver.exact import exact

__all__ = ["ValuesCertificate", "certify_values", "seeing"]

Floats = npt.NDArray[np.float64]


def seeing(problem: Problem, values: Floats, claim: Mapping[str, Any]) -> Problem:
    """State the problem of an intruder who sees published values and knows what the method claims.

    He also knows the external bounds, the structural zeros, and that the true table adds up. Audit the result with
    every cell hidden that may be. His bounds are exact where floats can write them, else narrower by a last digit.

    Parameters
    ----------
    problem : Problem
    values : ndarray, shape (cells,)
        What is published.
    claim : mapping
        See `tabprotect.certificate.claims`.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[1], lpl=1, upl=1)
    >>> seen = seeing(p, np.array([10.0, 5, 5]), {"method": "multiple", "base": "5", "steps": 0, "fixed": []})
    >>> seen.lower.tolist(), seen.upper.tolist()
    ([5.0, 0.0, 0.0], [15.0, 10.0, 10.0])
    """
    read = Claim.read(claim, problem.n_cells, problem.integer)
    known = [read.known(i, exact(v)) for i, v in enumerate(values.tolist())]
    low = np.array([-np.inf if low is None else _inward(low, 1) for low, _ in known])
    high = np.array([np.inf if high is None else _inward(high, -1) for _, high in known])
    held = (problem.status == Status.ZERO) & (problem.values == 0)
    status = np.where(problem.status == Status.PRIMARY, Status.PRIMARY, Status.SAFE)
    status = np.where(held, Status.ZERO, status)
    fixed = np.isin(np.arange(problem.n_cells), list(read.fixed))
    # a sensitive cell that he knows stays in question: its bounds give it away
    status = np.where(fixed & ~held & (status != Status.PRIMARY), Status.PROTECTED, status)
    return replace(
        problem,
        status=status.astype(np.int8),
        weights=np.zeros(problem.n_cells),
        lower=np.minimum(np.maximum(problem.lower, low), problem.values),
        upper=np.maximum(np.minimum(problem.upper, high), problem.values),
    )


def _inward(bound: Fraction, side: int) -> float:
    """Return the nearest float that, read as a decimal, is not beyond the bound on the outer side."""
    found = float(bound)
    while side * (exact(found) - bound) < 0:
        found = float(np.nextafter(found, side * np.inf))
    return found


@dataclass(frozen=True, eq=False)
class ValuesCertificate(SealedDocument):
    """A JSON document that proves what it claims about changed values; confidential, since it embeds the problem.

    Attributes
    ----------
    document : mapping
        The sections by name; see `tabprotect.certificate.values` for how they are checked.
    """

    FORM: ClassVar[str] = VALUES_FORMAT
    SECTIONS: ClassVar[tuple[str, ...]] = SECTIONS

    def __repr__(self) -> str:
        return f"ValuesCertificate({self.verdict}: {self.document['claim']['method']})"

    @property
    def bound(self) -> None:
        """No bound on a distance is proven."""
        return None

    @property
    def values(self) -> Floats:
        """The published values."""
        return np.array([float(text) for text in self.document["values"]])


def certify_values(
    problem: Problem,
    values: Floats,
    claim: Mapping[str, Any],
    judgement: Audit,
    *,
    levels_moved: bool = False,
    cost: float | None = None,
    bound: float | None = None,
) -> ValuesCertificate:
    """Prove what can be proven about changed values, in exact arithmetic.

    Parameters
    ----------
    problem : Problem
        The office's.
    values : ndarray, shape (cells,)
        What is published.
    claim : mapping
        See `tabprotect.certificate.claims`.
    judgement : Audit
        Of ``seeing(problem, values, claim)``, all cells hidden.
    levels_moved : bool
        Claim that every sensitive cell moved by its level or more.
    cost, bound : float, optional
        Distance from the true values and the search's bound on it, as claims.

    Examples
    --------
    >>> from tabprotect.attack.audit import audit
    >>> p = Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[1], lpl=1, upl=1)
    >>> v, claim = np.array([10.0, 5, 5]), {"method": "multiple", "base": "5", "steps": 0, "fixed": []}
    >>> seen = seeing(p, v, claim)
    >>> certify_values(p, v, claim, audit(seen, seen.may_hide)).verify().safe
    True
    """
    statement = problem_statement(problem)
    attack = certify(judgement.problem, judgement.pattern, witnesses=judgement.evidence)
    v = [exact(x) for x in values.tolist()]
    sums, drift = off_sums(Numbers(statement), statement, v)
    return ValuesCertificate.sealed(
        {
            "format": VALUES_FORMAT,
            "notice": NOTICE,
            "verdict": VERDICTS[-1] if claim["method"] in DOUBTS else attack.verdict,
            "claim": dict(claim),
            "levels_moved": levels_moved,
            "sums": str(sums),
            "drift": str(drift),
            "cost": None if cost is None else decimals([cost])[0],
            "claimed_bound": None if bound is None else decimals([bound])[0],
            "publication": {},
            "values": decimals(values),
            "problem": statement,
            "attack": dict(attack.document),
        }
    )
