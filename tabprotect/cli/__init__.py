"""The command line: a thin face over the library."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit code."""
    from tabprotect.cli.app import run

    sys.exit(run(sys.argv[1:]))
