"""A handler process: ``python -m tabprotect.query.delegation``.

It reads messages from standard input and writes to standard output; run it anywhere, over ``ssh`` for instance.
``--fraud NAME`` makes it dishonest, for rehearsals.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress

from tabprotect.errors import TabprotectError
from tabprotect.query.delegation.frauds import DishonestHandler
from tabprotect.query.delegation.handler import Handler, serve


def main() -> int:
    """Serve until standard input ends; 2 where the arguments or the input are wrong."""
    parser = argparse.ArgumentParser(prog="python -m tabprotect.query.delegation", description=__doc__)
    parser.add_argument(
        "--fraud", metavar="NAME", help="commit this fraud: drop-product, replay, compute=EXPRESSION ..."
    )
    parser.add_argument("--seed", type=int, help="draws the slot of alter-slot")
    given = parser.parse_args()
    try:
        handler = Handler() if given.fraud is None else DishonestHandler(given.fraud, given.seed)
        with suppress(BrokenPipeError):
            serve(handler, sys.stdin.buffer, sys.stdout.buffer)
    except TabprotectError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
