"""What a delegation gives: values that passed every check, or the reasons why they are refused."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from tabprotect.query.delegation.expression import Expression
from tabprotect.query.delegation.parameters import Parameters
from tabprotect.query.delegation.probability import Probability

__all__ = ["FINAL", "Check", "Delegated", "Delegation", "Finding"]


FINAL = "final result"
"""Name of the result itself; with its space it is no variable."""


class Check(Enum):
    """What is checked of every result."""

    CLAIM = "the claimed expression is the required one"
    READABLE = "the ciphertexts belong to the keys and have noise budget left"
    POINTS = "the result is right at the check points"
    RANGE = "the result lies in the interval that follows from the declared bounds"
    PARITY = "the result has the parity of the claimed expression"
    SUM = "the products sum up to the final result"
    STOPPED = "no earlier answer under the same keys was refused"


@dataclass(frozen=True)
class Finding:
    """One check that failed. Findings are internal: who learns them learns about the data.

    Parameters
    ----------
    check : Check
        What was checked.
    result : str
        ``final result`` or the product concerned.
    count : int
        Number of records, check points or ciphertexts that failed.
    """

    check: Check
    result: str
    count: int

    def __str__(self) -> str:
        return f"{self.check.name} ({self.result}): {self.count} failures; expected: {self.check.value}"


@dataclass(frozen=True)
class Delegated:
    """The answer to one expression.

    Parameters
    ----------
    expression : Expression
        What was required.
    claimed : str
        What the handler says it computed.
    values : array of int64, shape (records,), or None
        The result for each record; None if any check failed.
    products : dict of str to array of int64
        Intermediate results, if they were asked for; empty if any check failed.
    findings : tuple of Finding
        Every check that failed.
    odd : Probability
        Probability that the expression is odd for random data (p in the notebook).
    odd_share : float
        Share of the records for which it is odd.
    missed : float
        Upper bound of the probability that a handler who computes another polynomial of no higher degree, in all slots,
        passes the check points.
    budget : int
        Bits of noise budget left in the noisiest ciphertext.
    """

    expression: Expression
    claimed: str
    values: npt.NDArray[np.int64] | None
    products: dict[str, npt.NDArray[np.int64]]
    findings: tuple[Finding, ...]
    odd: Probability
    odd_share: float
    missed: float
    budget: int

    @property
    def accepted(self) -> bool:
        """Whether every check passed."""
        return not self.findings

    def failures(self, check: Check, result: str | None = None) -> int:
        """Count failures of one check, for one result or all."""
        return sum(f.count for f in self.findings if f.check is check and result in (None, f.result))

    def summary(self) -> str:
        """Return the answer and its checks in a few lines."""
        lines = [f"{self.expression}: {'accepted' if self.accepted else 'refused'}"]
        lines += [f"  {finding}" for finding in self.findings]
        lines.append(f"  odd with probability {self.odd} for random data, and in {self.odd_share:.1%} of the records")
        lines.append(f"  another polynomial passes the check points with probability of at most {self.missed:.2g}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Delegation:
    """Answers to all expressions, and what they cost.

    Parameters
    ----------
    answers : tuple of Delegated
        In the order of the expressions.
    parameters : Parameters
        Ring and moduli.
    sent, received : int
        Bytes of keys and ciphertexts to and from the handler.
    """

    answers: tuple[Delegated, ...]
    parameters: Parameters
    sent: int
    received: int

    @property
    def accepted(self) -> bool:
        """Whether every check of every answer passed."""
        return all(answer.accepted for answer in self.answers)

    @property
    def values(self) -> npt.NDArray[np.int64] | None:
        """The values of the first answer, which is the only one for a single expression; None if it is refused."""
        return self.answers[0].values

    def summary(self) -> str:
        """Return all answers and the traffic in a few lines."""
        own = self.parameters
        lines = [answer.summary() for answer in self.answers]
        lines.append(
            f"ring {own.ring}, {len(own.moduli)} plain moduli; {self.sent} bytes sent, {self.received} received"
        )
        return "\n".join(lines)
