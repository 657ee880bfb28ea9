"""Which way the bound of a core is raised next: by rounds of its relaxation or by pools."""

from __future__ import annotations

from dataclasses import dataclass, field

from tabprotect.solver.credit import Side

__all__ = ["Ways"]

PROMISE, HOPE = 0.1, 0.02
"""What a first pool whose solution is nearly safe counts for at least, and what the relaxation is expected to gain in
the time of the pools before it had its turn; as shares of the bound."""

AGAIN = 3.0
"""A pool that was cut short comes again after so many times of what was spent on the bound."""

PATIENCE = {"root": 1.0, "pool": 6.0, "choice": 4.0}
"""How many slices each step of a search gets at first; a pool that is cut short has to start again."""


@dataclass
class Ways:
    """What was spent on the bound of a core, what that brought, and what a first pool was like.

    Attributes
    ----------
    root, pool : Side
        Rounds of the relaxation, and pools; each by the growth of its own bound, as a share of the bound.
    again : float
        Pools wait until so much was spent on the bound.
    useful : bool
        Whether the solution of a first pool left little exposed.
    patience : dict of str to float
        How many slices the next round of the relaxation ('root'), 'pool', or trial of a 'choice' should get: more after
        one was cut short.

    Examples
    --------
    >>> ways = Ways(useful=True)
    >>> ways.first(gain=0.3, spent=1.0)
    >>> ways.next(bound=10.0, relaxed=10.0)
    'pool'
    >>> ways.record("pool", gain=0.1, spent=2.0, whole=False)
    >>> ways.again, ways.patience["pool"], ways.next(bound=10.0, relaxed=10.0)
    (9.0, 12.0, 'root')
    """

    root: Side = field(default_factory=Side)
    pool: Side = field(default_factory=Side)
    again: float = 0.0
    useful: bool = False
    patience: dict[str, float] = field(default_factory=lambda: dict(PATIENCE))

    @property
    def spent(self) -> float:
        """On both, in the unit of the limit."""
        return self.root.spent + self.pool.spent

    def next(self, bound: float, relaxed: float | None) -> str:
        """Return what is next, 'root' or 'pool'.

        Parameters
        ----------
        bound : float
            The best bound.
        relaxed : float or None
            That of the relaxation; None when it has come to its end.
        """
        if relaxed is None:
            return "pool"
        root, pool = self.root, self.pool
        lag = (bound - relaxed) / max(1.0, bound)
        hope = root.rate if root.lately else HOPE / max(self.spent, 1e-9)
        early = self.spent >= self.again and pool.rate >= hope
        behind = root.lately > 0 and lag > root.rate * self.spent
        return "pool" if early or behind else "root"

    def first(self, gain: float, spent: float) -> None:
        """Record a first pool."""
        self.pool.record(max(gain, PROMISE) if self.useful else gain, spent)

    def wait(self, spent: float) -> None:
        """Let pools wait until several times of what was spent is spent on the bound."""
        self.again = AGAIN * spent

    def record(self, way: str, gain: float, spent: float, whole: bool) -> None:
        """Record a step of one way; a pool that was not solved as a whole comes again later, in a longer slice."""
        (self.pool if way == "pool" else self.root).record(gain, spent)
        if not whole:
            self.patience["pool"] *= 2
            self.wait(self.spent)
