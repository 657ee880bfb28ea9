"""Record the golden releases, and say what has changed.

Run from the checkout: ``python -m tests.golden.releases.record [NAME ...]``; ``--check`` writes nothing and has exit
code 1 when an answer differs. Whoever records a change names it, and why, where changes are told.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.golden.releases.answers import FOLDER, answer, differences, read, write
from tests.golden.releases.cases import CASES


def main() -> int:
    """Carry out the cases, print what differs from the answers recorded, and record it."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.releases.record", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases; by default all of them")
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--times", action="store_true", help="print the seconds of every case")
    given = parser.parse_args()
    strange = set(given.names) - set(CASES)
    if strange:
        parser.error(f"no such case: {', '.join(sorted(strange))}")
    changed = 0
    for name in given.names or CASES:
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            made = answer(CASES[name], Path(folder))
        found = list(differences(read(name), made))
        changed += bool(found)
        if given.times:
            print(f"{name}: {time.perf_counter() - started:.1f} s", flush=True)
        for line in found[:20]:
            print(f"{name}: {line[:300]}")
        if found and not given.check:
            write(name, made)
    if not given.check and not given.names:
        for path in FOLDER.glob("*.json"):
            if path.stem not in CASES:
                print(f"{path.stem}: no case of this name any more")
                path.unlink()
    print(f"{len(given.names or CASES)} cases, {changed} differ")
    return int(given.check and changed > 0)


if __name__ == "__main__":
    sys.exit(main())
