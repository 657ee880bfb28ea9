"""Up to which sizes an auditor looks at everything at once."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULTS", "Options"]


@dataclass(frozen=True)
class Options:
    """Sizes up to which everything is looked at at once; larger ones take more time and memory, and deny less.

    Attributes
    ----------
    whole : int
        Classes up to which there is one programme over all of them; in larger systems other data sets are looked for
        near a target first.
    exact : int
        Columns that move up to which a solution that is not whole is made exact in fractions.
    rank : int
        Rank up to which the inverse of the basis is kept; beyond, queries are not tested for being inferable, which is
        safe.
    copied : int
        Bytes of membership in classes that are copied for the sums of one table, one after another; more are not looked
        at together.
    """

    whole: int = 400
    exact: int = 600
    rank: int = 2000
    copied: int = 4 * 10**9


DEFAULTS = Options()
