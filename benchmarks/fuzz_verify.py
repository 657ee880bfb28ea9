"""Altered releases and certificates against `verify`: none accepted that matters, no crash, bounded time and memory.

Run from the checkout: ``python -m benchmarks.fuzz_verify --alterations 10000 --seed 0``; the alteration of one seed
comes again with ``--seed S --alterations 1``. Releases of ten kinds are made, and each alteration changes one thing in
a copy of one of them (`benchmarks.alterations`), with or without all digests and seals made anew. The command line
verifies it. One in ten alters the layout, so that the public files show more, makes them again from it, and all digests
and seals, too (`benchmarks.alterations.forge`). An alteration is

- rejected: exit code 1 or 2, and one clear message;
- immaterial: accepted, the public files are the same bytes, and the altered certificate proves the same statement
  (pattern or values, claim, verdict, cost, and no better bound) about the same problem, as `--against` the original
  confirms; or what was altered is listed by `verify` as not checked (`UNCHECKED`);
- another problem: accepted with unchanged public files, but the problem is not the office's; `verify` says that this
  was not compared, and `--against` the original rejects it;
- material: accepted and none of these.

Tracebacks and dead processes are crashes. Last come documents that are made to be costly (`benchmarks.bombs`), each in
a process of its own. The exit code is 1 if anything was material, crashed, or took 20 s or 1 GB.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.alterations import CERTIFICATE, KINDS, Alteration, alter, forge
from benchmarks.bombs import bombs
from benchmarks.fuzz import command
from benchmarks.isolated import Failure, Worker
from tabprotect.certificate.verify import verify
from tabprotect.cli.app import run as tabprotect

#: What no check may take.
SECONDS, MEGABYTES = 20.0, 1000.0

#: One seed in so many alters the layout and makes the public files again from it.
FORGED = 10

#: Places that `verify` lists as not checked: words, versions, claims of the search, and confidential files that
#: prove nothing.
UNCHECKED: Mapping[str, tuple[str, ...]] = {
    CERTIFICATE: ("notice", "claimed_bound"),
    "internal/layout.json": ("notice", "written", "format"),
    "internal/release.json": ("notice", "title", "status", "settings", "kind", "claim"),
    "internal/report.html": ("end",),
    "internal/table.csv": ("end",),
}


@dataclass(frozen=True)
class Asked:
    """The alteration of a seed of the releases in a folder, or a document to verify."""

    seed: int
    folder: str
    document: str = ""


@dataclass(frozen=True)
class Said:
    """What came of it."""

    outcome: str
    words: str
    seconds: float
    megabytes: float


def answer(asked: Asked) -> Said:
    """Alter, verify and classify."""
    folder = Path(asked.folder)
    if asked.document:
        code, out, seconds = called("verify", asked.document)
        outcome = "crash" if code not in (0, 1, 2) else "material" if code == 0 else "rejected"
        return Said(outcome, f"{asked.document}: {out[:500]}", seconds, peak())
    r = random.Random(asked.seed)
    kind = r.choice(sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name != "altered"))
    base, target = folder / kind, folder / "altered"
    done = (forge if asked.seed % FORGED == 3 else alter)(base, target, r)
    code, out, seconds = called("verify", str(target))
    return Said(
        _outcome(base, target, done, code),
        f"{kind}: {done}\n{out[-1500:] if code == 99 else out[:1500]}",
        seconds,
        peak(),
    )


def called(*arguments: str) -> tuple[int, str, float]:
    """Run a command line and return its exit code (99: a traceback), what it wrote, and the seconds that it took."""
    out = io.StringIO()
    began = time.perf_counter()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code = tabprotect(arguments)
        except BaseException:
            traceback.print_exc(file=out)
            code = 99
    return code, out.getvalue(), time.perf_counter() - began


def peak() -> float:
    """Return the largest memory of this process so far, in megabytes."""
    with contextlib.suppress(OSError, StopIteration):  # elsewhere than on Linux; the call below counts the parent, too
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1024.0)


def _outcome(base: Path, target: Path, done: Alteration, code: int) -> str:
    if code not in (0, 1, 2):
        return "crash"
    if code:
        return "rejected"
    if _public(base) != _public(target):
        return "material"
    original, altered = (json.loads((place / CERTIFICATE).read_text()) for place in (base, target))
    if verify(altered, against=original).failures:
        return "another problem"
    if _same_statement(original, altered):
        return "immaterial"
    return "immaterial" if done.place[:1] and done.place[0] in UNCHECKED.get(done.file, ()) else "material"


def _public(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in (folder / "publish").rglob("*") if p.is_file()}


def _same_statement(original: dict[str, Any], altered: dict[str, Any]) -> bool:
    """Whether a certificate that was accepted proves no other statement than the original."""
    equal = ("verdict", "values", "claim", "sums", "drift", "residual", "cost")
    if any(_as_numbers(original.get(name)) != _as_numbers(altered.get(name)) for name in equal):
        return False
    if set(original.get("pattern", ())) != set(altered.get("pattern", ())):
        return False
    if altered.get("levels_moved") and not original["levels_moved"] and not _moved(altered):
        return False
    bounds = [Fraction(document.get("bound") or 0) for document in (original, altered)]
    return bounds[1] <= bounds[0]


def _as_numbers(found: Any) -> Any:
    """Return what was found with numbers that are written as text as numbers: '0' and '-0' state the same."""
    if isinstance(found, list):
        return [_as_numbers(one) for one in found]
    if isinstance(found, dict):
        return {name: _as_numbers(one) for name, one in found.items()}
    if isinstance(found, str):
        with contextlib.suppress(ValueError, ZeroDivisionError):
            return Fraction(found)
    return found


def _moved(document: dict[str, Any]) -> bool:
    """Whether every sensitive cell moved by one of its levels: it may be claimed where it is true."""
    problem = document["problem"]
    columns = (problem["status"], document["values"], problem["values"], problem["lpl"], problem["upl"])
    for status, *texts in zip(*columns, strict=True):
        v, a, lpl, upl = map(float, texts)
        up, down = upl > 0 and v - a >= upl * (1 - 1e-6), lpl > 0 and a - v >= lpl * (1 - 1e-6)
        if status == 1 and (lpl or upl) and not (up or down):
            return False
    return True


def make(folder: Path) -> None:
    """Write the releases that are altered."""
    for name, (release, formats) in KINDS.items():
        release().write(folder / name, formats)


def run(seeds: range, seconds: float, report: Callable[[str], None] = print, *, costly: bool = True) -> int:
    """Go through the alterations of these seeds and return how many were material, crashed or cost too much."""
    counts: Counter[str] = Counter()
    slowest, largest, wrong = (0.0, ""), (0.0, ""), 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "releases"
        make(folder)
        questions = [(f"seed {seed}", Asked(seed, str(folder))) for seed in seeds]
        if costly:
            certificate = json.loads((folder / "suppression, three dimensions" / CERTIFICATE).read_text())
            made = bombs(certificate, Path(place))
            questions += [(name, Asked(0, str(folder), str(path))) for name, path in made.items()]
        worker: Worker[Asked, Said] = Worker(answer, patience=SECONDS)
        with contextlib.ExitStack() as stack:
            stack.callback(lambda: worker.close())
            for name, asked in questions:
                if asked.document:  # its memory is measured alone
                    worker.close()
                    worker = Worker(answer, patience=3 * SECONDS)
                said = worker.ask(asked, seconds)
                if isinstance(said, Failure):
                    said = Said("crash", said.what, 0.0, 0.0)
                counts[said.outcome] += 1
                bad = said.outcome in ("crash", "material") or said.seconds > SECONDS or said.megabytes > MEGABYTES
                wrong += bad
                slowest, largest = max(slowest, (said.seconds, name)), max(largest, (said.megabytes, name))
                if bad:
                    report(f"{name}: {said.outcome}, {said.seconds:.1f} s, {said.megabytes:.0f} MB: {said.words}")
    kinds = ", ".join(
        f"{counts[kind]} {kind}" for kind in ("rejected", "immaterial", "another problem", "material", "crash")
    )
    report(f"{len(questions)} alterations: {kinds}")
    report(f"slowest {slowest[0]:.1f} s ({slowest[1]}), largest memory {largest[0]:.0f} MB ({largest[1]})")
    return wrong


if __name__ == "__main__":
    sys.exit(command("benchmarks.fuzz_verify", __doc__ or "", "alterations", 300, SECONDS, run))
