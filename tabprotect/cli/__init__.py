"""The command line: a thin face over the library."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit code."""
    from tabprotect.cli.exits import Exit

    try:
        from tabprotect.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        # before or after anything that could say more
        sys.stderr.write("Ended; nothing was written.\n")
        code = int(Exit.INTERRUPTED)
    sys.exit(code)
