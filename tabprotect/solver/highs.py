"""HiGHS without a word on standard output."""

from __future__ import annotations

import highspy

__all__ = ["SilentHighs"]


class SilentHighs(highspy.Highs):  # type: ignore[misc]  # highspy has no types
    """An instance of HiGHS that is silent from the start.

    Some versions print their copyright when callbacks are set, which the constructor does before any option can be.

    Examples
    --------
    >>> h = SilentHighs()
    >>> h.run().name
    'kOk'
    """

    def enableCallbacks(self) -> None:
        """Set callbacks, in silence."""
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()
