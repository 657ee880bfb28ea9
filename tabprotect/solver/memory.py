"""The memory that this process holds."""

from __future__ import annotations

import mmap
import sys
from pathlib import Path

__all__ = ["held_memory"]


def held_memory() -> int | None:
    """Return the bytes that this process holds in memory (where only that is known, the most it ever held).

    Examples
    --------
    >>> held_memory() > 10_000_000
    True
    """
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) * (1 if sys.platform == "darwin" else 1024)
