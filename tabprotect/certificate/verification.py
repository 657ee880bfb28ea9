"""What came of checking a certificate; the standard library only."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from tabprotect.certificate.document import VERDICTS, words_of
from tabprotect.certificate.extent import beyond, within

__all__ = ["REJECTED", "Verification"]

REJECTED = "rejected"
"""The verdict of a check that found something else than was claimed."""

_NOT_SAFE = "not safe: "
_POINT = re.compile(r"(?<=\d)\.(?=\d)")


@dataclass(frozen=True)
class Verification:
    """The outcome of a check.

    Attributes
    ----------
    failures : tuple of str
        Everything that is not as claimed; empty when the certificate holds.
    checked, not_checked : tuple of str
        What was recomputed, and what nobody can conclude from that.
    verdict : str
        'safe', 'LP-safe only' or 'not safe', as proven; 'rejected' with any failure, whatever the document says.
    cost, bound : Fraction or None
        Of the secondaries, recomputed; the bound is the one that the proof gives. None where values were changed.
    questions : int
        Protection levels that had to be reached (over all attackers).
    witnesses : int
    claimed : Fraction or None
        The bound of the search, which may go beyond the proven one.
    reasons : tuple of str
        Why the verdict is not 'safe': what is exposed, and what a release says of itself.
    """

    failures: tuple[str, ...]
    checked: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()
    verdict: str = "not safe"
    cost: Fraction | None = None
    bound: Fraction | None = None
    questions: int = 0
    witnesses: int = 0
    claimed: Fraction | None = None
    reasons: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.failures:
            object.__setattr__(self, "verdict", REJECTED)

    def __repr__(self) -> str:
        failures = "1 failure" if len(self.failures) == 1 else f"{len(self.failures):,} failures"
        outcome = f"holds: {self.verdict}" if self.ok else f"REJECTED: {failures}"
        return f"Verification({outcome}, {self.questions:,} questions, {self.witnesses:,} witnesses)"

    @property
    def ok(self) -> bool:
        """True when everything claimed was confirmed."""
        return not self.failures

    @property
    def safe(self) -> bool:
        """True when the certificate holds and proves that every level is reached."""
        return self.ok and self.verdict == "safe"

    def besides(self, reasons: Iterable[str]) -> Verification:
        """Return the outcome for a release that is not safe for further reasons, which its certificate cannot state.

        Examples
        --------
        >>> Verification((), verdict="safe").besides(["both releases together give a value away"]).verdict
        'not safe'
        """
        if not (further := tuple(reasons)):
            return self
        verdict = VERDICTS[-1] if self.safe else self.verdict
        return replace(self, verdict=verdict, reasons=(*self.reasons, *further))

    def summary(self, decimal: str = ".") -> str:
        """Return the outcome in words, numbers with a decimal sign."""
        lines = [f"certificate {'holds' if self.ok else 'REJECTED'}"]
        if self.ok:
            lines[0] += f": {self.verdict}, {self.questions} questions answered by {self.witnesses} witnesses"
            lines += [f"{_NOT_SAFE}{reason}" for reason in self.reasons]
            lines += [] if self.cost is None else [f"cost {words_of(self.cost)}{self._bounds(self.cost)}"]
        lines += [f"wrong: {failure}" for failure in self.failures[:20]]
        lines += [f"... and {len(self.failures) - 20} more"] if len(self.failures) > 20 else []
        lines += [f"checked: {what}" for what in self.checked]
        lines += [f"not checked: {what}" for what in self.not_checked]
        # what failed or is exposed names cells, whose codes stay as they are
        return "\n".join(
            line if line.startswith(("wrong: ", _NOT_SAFE)) else _POINT.sub(decimal, line) for line in lines
        )

    def _bounds(self, cost: Fraction) -> str:
        """Say how far the pattern can be from the cheapest one: what is proven, and what is only claimed."""
        least = "" if self.bound is None else f"proven lower bound {words_of(self.bound)}"
        claim = "" if self.claimed is None else beyond(cost, self.claimed, self.bound)
        if not claim and cost and self.bound is not None:
            gap = within(cost, self.bound)
            claim = "optimal, proven in exact arithmetic" if self.bound >= cost else f"gap {gap}, proven"
        return "".join(f", {part}" for part in (least, claim) if part)
