"""What became of the pattern of the last period, and what both releases tell together."""

from __future__ import annotations

from dataclasses import dataclass, field

from tabprotect.attack.findings import Audit
from tabprotect.report.numbers import STANDARD, Numbers
from tabprotect.views import many

__all__ = ["Both", "Carried", "Stability"]


@dataclass(frozen=True)
class Stability:
    """How far a pattern is that of the last period. Confidential, as it names why cells changed.

    Attributes
    ----------
    cells : int
        That both releases have.
    kept : int
        Of them, those with the same status (hidden or published).
    suppressed, freed : tuple of str
        Cells that are hidden now and were published, and the other way round.
    new, gone : int
        Cells that only one of the releases has.
    """

    cells: int
    kept: int
    suppressed: tuple[str, ...]
    freed: tuple[str, ...]
    new: int
    gone: int

    @property
    def share(self) -> float:
        """Share of the common cells whose status is kept; 1 without any."""
        return self.kept / self.cells if self.cells else 1.0


@dataclass(frozen=True, eq=False)
class Both:
    """What an intruder who has both releases of the same quantities makes of them.

    Attributes
    ----------
    now, before : Audit
        Of either release, where only cells that both hide count as hidden.
    published_before : tuple of str
        Cells that are sensitive now, and that the earlier release published.
    """

    now: Audit = field(repr=False)
    before: Audit = field(repr=False)
    published_before: tuple[str, ...]

    @property
    def safe(self) -> bool:
        """Whether both releases together reach every protection level."""
        return self.now.safe and self.before.safe and not self.published_before

    @property
    def undecided(self) -> bool:
        """Whether a limit left levels that nobody has judged, and nothing is known against the releases besides."""
        found = (self.now, self.before)
        return not (self.safe or self.published_before) and all(one.safe or one.undecided for one in found)

    def problems(self, most: int = 20) -> list[str]:
        """Say what is disclosed by both releases together, and what can be done."""
        lines = [
            f"{label} is sensitive now, and the last release published it: its value is known, whatever is hidden now"
            for label in self.published_before[:most]
        ]
        if len(self.published_before) > most:
            lines.append(f"{len(self.published_before) - most} more cells are sensitive now and were published")
        known = set(self.published_before)
        for found, whose in ((self.now, "this release"), (self.before, "the last release")):
            short = [line for line in found.shortfalls() if line.partition(" moves ")[0] not in known]
            lines += [f"{line} (in {whose}, by an intruder who has both)" for line in short[:most]]
        return lines


@dataclass(frozen=True, eq=False)
class Carried:
    """A pattern beside that of the last period. Confidential.

    Attributes
    ----------
    stability : Stability
        What is kept, new and given up.
    factor : float
        What the costs of cells hidden in the last period were multiplied by; cost and bound of the release count
        them so.
    both : Both or None
        Of a revision: what both releases together tell.
    last_not_safe : tuple of str
        Why the release of the last period was written as not safe.
    """

    stability: Stability
    factor: float
    both: Both | None = None
    last_not_safe: tuple[str, ...] = ()

    @property
    def safe(self) -> bool:
        """Whether both releases together are safe, where they are of the same quantities."""
        return self.both is None or self.both.safe

    def lines(self, numbers: Numbers = STANDARD) -> list[tuple[str, str]]:
        """Return what a summary says of it."""
        found = self.stability
        changes = f"{len(found.suppressed):,} newly hidden, {len(found.freed):,} given up"
        others = f"{found.new:,} only now, {found.gone:,} only then"
        lines = [
            (
                "last period",
                numbers.said(f"{found.kept:,} of {many(found.cells, 'common cell')} kept, {changes}; {others}"),
            ),
            (
                "note",
                f"cost and bound count cells that the last period hid with {numbers.plain(self.factor)} of their cost",
            ),
        ]
        lines += [("warning", f"the last release was written as not safe: {why}") for why in self.last_not_safe]
        if self.both is not None:
            lines += [("not safe", line) for line in self.both.problems()]
            if self.both.safe:
                lines.append(("both releases", "safe together"))
        return lines
