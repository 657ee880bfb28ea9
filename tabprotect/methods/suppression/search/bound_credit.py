"""How the bound of a core is raised next: by rounds of its relaxation, or by solving the master."""

from __future__ import annotations

from dataclasses import dataclass, field

from tabprotect.methods.suppression.options import DEFAULTS, ScheduleOptions
from tabprotect.solver.credit import Credit

__all__ = ["BoundCredit"]


@dataclass
class BoundCredit:
    """What was spent on the bound of a core, what that brought, and what a first pool was like.

    Attributes
    ----------
    options : ScheduleOptions
    relaxation, master : Credit
        Rounds of the relaxation, and pools solved by the master; each by the growth of its own bound, as a share of
        the bound.
    again : float
        Pools wait until so much was spent on the bound.
    useful : bool
        Whether the solution of a first pool left little exposed.
    patience : dict of str to float
        How many slices the next round of the 'relaxation', 'master', or trial of an 'incumbent' should get: more
        after one was cut short.

    Examples
    --------
    >>> credit = BoundCredit(useful=True)
    >>> credit.first(gain=0.3, spent=1.0)
    >>> credit.next(bound=10.0, relaxed=10.0)
    'master'
    >>> credit.record("master", gain=0.1, spent=2.0, whole=False)
    >>> credit.again, credit.patience["master"], credit.next(bound=10.0, relaxed=10.0)
    (9.0, 12.0, 'relaxation')

    A first pool of no use says little about those with more rows, so that one of these is tried some time later.

    >>> credit = BoundCredit()
    >>> credit.wait(1.0, useless=True)
    >>> credit.record("relaxation", gain=0.01, spent=11.5, whole=True)
    >>> credit.next(bound=10.0, relaxed=10.0)
    'relaxation'
    >>> credit.record("relaxation", gain=0.01, spent=1.0, whole=True)
    >>> credit.next(bound=10.0, relaxed=10.0)
    'master'
    """

    options: ScheduleOptions = DEFAULTS.schedule
    relaxation: Credit = field(default_factory=Credit)
    master: Credit = field(default_factory=Credit)
    again: float = 0.0
    useful: bool = False
    patience: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        first = self.options
        self.patience = self.patience or {
            "relaxation": first.relaxation_slices,
            "master": first.pool_slices,
            "incumbent": first.incumbent_slices,
        }

    @property
    def spent(self) -> float:
        """On both, in the unit of the limit."""
        return self.relaxation.spent + self.master.spent

    def next(self, bound: float, relaxed: float | None) -> str:
        """Return what is next, 'relaxation' or 'master'.

        Parameters
        ----------
        bound : float
            The best bound.
        relaxed : float or None
            That of the relaxation; None when it has come to its end.
        """
        if relaxed is None:
            return "master"
        relaxation, master = self.relaxation, self.master
        lag = (bound - relaxed) / max(1.0, bound)
        expected = relaxation.rate if relaxation.lately else 0.0
        due = self.spent >= self.again
        early = due and ((self.again > 0 and not self.useful) or master.rate >= expected)
        # what a slice cut short says nothing of how fast the relaxation is
        known = self.useful or relaxation.spent > self.options.fair_share * self.spent
        behind = relaxation.lately > 0 and known and lag > relaxation.rate * self.spent
        return "master" if early or behind else "relaxation"

    def first(self, gain: float, spent: float) -> None:
        """Record a first pool."""
        self.master.record(max(gain, self.options.first_pool_gain) if self.useful else gain, spent)

    def wait(self, spent: float, useless: bool = False) -> None:
        """Let pools wait until several times of `spent` is spent on the bound; longer after a first one of no use."""
        self.again = (self.options.useless_pool_wait if useless else self.options.pool_wait) * spent

    def record(self, operator: str, gain: float, spent: float, whole: bool) -> None:
        """Record a step of one operator; a pool that was not solved as a whole comes again later, in a longer slice."""
        (self.master if operator == "master" else self.relaxation).record(gain, spent)
        if operator != "master":
            return
        if not whole:
            self.patience["master"] *= 2
        if not whole or not (gain or self.useful):
            self.wait(self.spent)
        elif not self.useful:
            self.again = 0.0
