"""What is claimed of masked microdata, and how each claim is checked again from the released values.

A checker trusts no method: it looks at the released records (and, where the claim names columns of before, at the
values that the method started from) and returns why the claim fails, or nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tabprotect.errors import InputError

if TYPE_CHECKING:
    from tabprotect.microdata.records import Records

__all__ = ["Check", "Claim", "Verification", "check_claims", "claim_kind", "claim_kinds"]

Checker = Callable[["Records", "Records | None", Mapping[str, Any]], str]

_CHECKERS: dict[str, Checker] = {}


@dataclass(frozen=True)
class Claim:
    """One statement about released records; internal.

    Attributes
    ----------
    kind : str
        Names its checker.
    columns : tuple of str
        Released columns that it is about: it is withdrawn when a later step changes one of them.
    statement : str
        In words.
    parameters : mapping
        What the checker needs; JSON.
    before : tuple of str
        Columns of which the checker needs the values before the step.
    step : int
        Position of the step that makes it; set by `mask`.
    """

    kind: str
    columns: tuple[str, ...]
    statement: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    step: int = -1

    def __str__(self) -> str:
        return f"{self.kind}: {self.statement}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "kind": self.kind, "columns": list(self.columns), "statement": self.statement,
            "parameters": dict(self.parameters), "before": list(self.before), "step": self.step,
        }  # fmt: skip

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Claim:
        """Make a claim from its JSON.

        Examples
        --------
        >>> claim = Claim("absent", (), "identifiers are not released", {"columns": ["id"]})
        >>> Claim.of(claim.to_dict()) == claim
        True
        """
        return cls(
            given["kind"], tuple(given["columns"]), given["statement"], given["parameters"], tuple(given["before"]),
            int(given["step"]),
        )  # fmt: skip


@dataclass(frozen=True)
class Check:
    """What became of a claim.

    Attributes
    ----------
    claim : Claim
    why : str
        Why it fails; empty if it holds.
    """

    claim: Claim
    why: str

    @property
    def holds(self) -> bool:
        """Whether the claim is true of the released records."""
        return not self.why


@dataclass(frozen=True)
class Verification:
    """Every claim, checked again; confidential.

    Attributes
    ----------
    checks : tuple of Check
    failures : tuple of str
        What else is wrong, such as altered files.
    """

    checks: tuple[Check, ...]
    failures: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every claim holds and nothing else is wrong."""
        return not self.failures and all(check.holds for check in self.checks)

    def __bool__(self) -> bool:
        return self.holds

    def summary(self) -> str:
        """Return a line for every claim and every failure."""
        word = "every claim holds" if self.holds else "NOT as claimed"
        count = f"{len(self.checks)} claim{'s' * (len(self.checks) != 1)} checked"
        lines = [f"{word} ({count})"]
        lines += [f"holds: {c.claim}" if c.holds else f"fails: {c.claim}: {c.why}" for c in self.checks]
        return "\n".join([*lines, *(f"wrong: {what}" for what in self.failures)])


def claim_kind(name: str) -> Callable[[Checker], Checker]:
    """Register the checker of a kind of claim; for use as a decorator."""

    def register(checker: Checker) -> Checker:
        _CHECKERS[name] = checker
        return checker

    return register


def claim_kinds() -> dict[str, Checker]:
    """Return the checker of every kind of claim."""
    return dict(sorted(_CHECKERS.items()))


def check_claims(
    claims: tuple[Claim, ...], after: Records, before: Mapping[int, Records], failures: tuple[str, ...] = ()
) -> Verification:
    """Check claims against released records.

    Parameters
    ----------
    claims : tuple of Claim
    after : Records
        As released.
    before : mapping of int to Records
        By step, with the columns that its claims name; its records are those of `after`, in the same order.
    """
    return Verification(tuple(Check(claim, _why(claim, after, before.get(claim.step))) for claim in claims), failures)


def _why(claim: Claim, after: Records, before: Records | None) -> str:
    if claim.kind not in _CHECKERS:
        return f"nobody knows how to check '{claim.kind}'"
    gone = [name for name in claim.columns if name not in after.columns]
    if gone:
        return f"the released records have no column '{gone[0]}'"
    if claim.before and (before is None or any(name not in before.columns for name in claim.before)):
        return "the values of before are not there"
    if claim.before and before is not None and len(before) != len(after):
        return f"{len(after)} records are released, {len(before)} were there before"
    try:
        return _CHECKERS[claim.kind](after, before, claim.parameters)
    except InputError as error:
        return f"it cannot be checked: {'; '.join(error.problems)}"
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # the parameters come from a file, which may be damaged
        return f"it cannot be checked, as its parameters are damaged ({type(error).__name__})"
