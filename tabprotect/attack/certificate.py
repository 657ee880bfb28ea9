"""Certificates: a pattern with all that is needed to check it again without a solver."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from tabprotect.attack.evidence import Evidence, gather
from tabprotect.attack.keys import Key
from tabprotect.attack.proof_rows import BoundProof
from tabprotect.attack.sealed import NOTICE, SealedDocument
from tabprotect.attack.statement import decimals, problem_statement
from tabprotect.attack.witness import Witnesses
from tabprotect.certificate.document import FORMAT, SECTIONS, VERDICTS, digest
from tabprotect.certificate.numbers import Numbers
from tabprotect.certificate.rebuild import proven_bound
from tabprotect.errors import InputError, as_number, need
from tabprotect.masks import pattern_mask
from tabprotect.problem import Problem, Status, need_problem
from tabprotect.solver.exact import exact
from tabprotect.solver.limits import Budget, Limits

__all__ = ["Certificate", "certify"]


@dataclass(frozen=True, eq=False)
class Certificate(SealedDocument):
    """A JSON document that proves what it claims about a pattern; confidential, since it embeds the problem.

    Attributes
    ----------
    document : mapping
        The sections by name; see `tabprotect.certificate.verify` for how they are checked.
    """

    FORM: ClassVar[str] = FORMAT
    SECTIONS: ClassVar[tuple[str, ...]] = SECTIONS

    def __repr__(self) -> str:
        return f"Certificate({self.verdict}: cost {self.cost}, proven bound {self.bound})"

    @property
    def cost(self) -> Fraction:
        """Sum of the weights of the secondary suppressions."""
        return Fraction(self.document["cost"])

    @property
    def bound(self) -> Fraction | None:
        """The proven lower bound on the cost of any safe pattern; None without a proof."""
        return None if self.document["bound"] is None else Fraction(self.document["bound"])


def certify(
    problem: Problem,
    pattern: Any,
    *,
    bound: float | None = None,
    proof: BoundProof | None = None,
    witnesses: Witnesses | Evidence | None = None,
    budget: Budget | Limits | float | None = None,
) -> Certificate:
    """Prove what can be proven about a pattern, in exact arithmetic.

    Parameters
    ----------
    problem : Problem
    pattern : sequence of bool or of positions
        The hidden cells.
    bound : float, optional
        The lower bound that the search claims; kept as a claim, which the verifier does not confirm.
    proof : BoundProof, optional
        Inequalities and multipliers for a lower bound that the verifier does confirm.
    witnesses : Witnesses or Evidence, optional
        A judge that has looked at this problem already, or the evidence of an audit of this very pattern.
    budget : Budget, Limits or float, optional
        What is not proven when it is exhausted is listed as exposed.

    Returns
    -------
    Certificate
        Of verdict 'safe' only if exact witnesses answer every question, else with the unanswered ones listed.

    Raises
    ------
    InputError
        If the pattern shows a primary or forced cell, or hides a protected or fixed one.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    >>> c = certify(p, [1, 2])
    >>> c, c.verify(against=problem_statement(p)).safe
    (Certificate(safe: cost 6, proven bound None), True)
    """
    need_problem(problem, "certify")
    budget = Budget.of(budget, name="budget")
    if bound is not None and not math.isfinite(as_number(bound, "bound")):
        raise InputError(f"bound must be a finite number, not {bound!r}")
    if proof is not None:
        need(proof, BoundProof, "certify(proof=)", "as the search makes it")
    if witnesses is not None and not isinstance(witnesses, Evidence):
        need(witnesses, Witnesses, "certify(witnesses=)", "a judge of this problem, or the evidence of an audit")
    hidden = pattern_mask(problem, pattern)
    _check_pattern(problem, hidden)
    evidence = witnesses if isinstance(witnesses, Evidence) else gather(problem, hidden, witnesses, budget)
    statement = problem_statement(problem)
    fingerprint = digest(statement)
    numbers = Numbers(statement)
    secondaries = np.flatnonzero(hidden & ~problem.must_hide)
    cost = sum((exact(w) for w in problem.weights[secondaries].tolist()), Fraction(0))
    exposed = [_key(e.key) for e in evidence.exposures]
    unproven = [_key(k) for k in evidence.unproven]
    claimed = None if bound is None else decimals([bound])[0]
    if claimed is not None and not exposed and Fraction(claimed) > cost:
        claimed = str(cost)  # above the cost by rounding only: the pattern shows that no bound is higher
    proof_document = None if proof is None else proof.document()
    return Certificate.sealed(
        {
            "format": FORMAT,
            "notice": NOTICE,
            "verdict": VERDICTS[2 if exposed else 1 if unproven else 0],
            "cost": str(cost),
            "bound": None if proof_document is None else str(proven_bound(numbers, proof_document)),
            "claimed_bound": claimed,
            "residual": str(numbers.residual),
            "publication": {},
            "pattern": np.flatnonzero(hidden).tolist(),
            "exposed": exposed,
            "unproven": unproven,
            "witnesses": [
                {
                    "cells": w.cells.tolist(),
                    "numerators": [int(v) for v in w.z.numerators.tolist()],
                    "denominator": int(w.z.denominator),
                }
                for w in evidence.witnesses
            ],
            "proof": proof_document,
            "digest": fingerprint,
            "problem": statement,
        },
        problem=fingerprint,
    )


def _check_pattern(problem: Problem, hidden: Any) -> None:
    shown = np.flatnonzero(problem.must_hide & ~hidden)
    fixed = np.flatnonzero(hidden & ~problem.may_hide)
    wrong = []
    for cells, what in ((shown, "shows cells that must be hidden"), (fixed, "hides protected or fixed cells")):
        if len(cells):
            names = ", ".join(f"{problem.system.label(int(i))} ({Status(problem.status[i]).name})" for i in cells[:5])
            wrong.append(f"the pattern {what}: {names}" + (f" and {len(cells) - 5} more" if len(cells) > 5 else ""))
    if wrong:
        raise InputError(*wrong)


def _key(key: Key) -> list[int]:
    return [int(part) for part in key]
