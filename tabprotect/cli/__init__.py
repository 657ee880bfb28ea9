"""The command line: a thin face over the library."""

from __future__ import annotations

import io
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit code."""
    from tabprotect.cli.exits import ended
    from tabprotect.cli.opening import opening

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a sign that the terminal cannot show is no reason to fail after the work
            stream.reconfigure(errors="replace")
    arguments = sys.argv[1:]
    try:
        with opening(arguments):
            from tabprotect.cli.app import run

            code = run(arguments)
    except KeyboardInterrupt:
        # before or after anything that could say more
        sys.stderr.write("Ended; nothing was written.\n")
        code = int(ended(arguments))
    sys.exit(code)
