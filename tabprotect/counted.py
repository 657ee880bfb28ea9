"""Numbers of things in words."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, one: str, several: str = "") -> str:
    """Return a number and what is counted, in the singular for one.

    Examples
    --------
    >>> counted(1, "cell"), counted(2000, "cell"), counted(0, "primary", "primaries")
    ('1 cell', '2,000 cells', '0 primaries')
    """
    return f"{number:,} {one if number == 1 else several or one + 's'}"
