"""The command line: a thin face over the library."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        code = _run(sys.argv[1:])
    except KeyboardInterrupt:
        # before or after anything that could say more
        from tabprotect.cli.exits import ended

        sys.stderr.write("Ended; nothing was written.\n")
        code = int(ended(sys.argv[1:]))
    sys.exit(code)


def _run(arguments: Sequence[str]) -> int:
    import io
    import signal

    from tabprotect.cli.interrupts import handle_interrupts
    from tabprotect.cli.opening import opening

    handle_interrupts()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a sign that the terminal cannot show is no reason to fail after the work
            stream.reconfigure(errors="replace")
    with opening(arguments):
        from tabprotect.cli.app import run

        code = run(arguments)
    # what is left is to leave, with the code that is decided
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code
