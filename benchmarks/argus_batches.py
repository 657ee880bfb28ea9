"""Batches through tau-ARGUS and through ours, both judged by our audit: ``python -m benchmarks.argus_batches``.

The peer is pytauargus in an environment of its own (``make peer``). Each batch is run as it is by both; the peer's
pattern is read from what it wrote, and audited with the levels, singletons and costs of our reading of the batch.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.bench import judged
from benchmarks.peers import CHECKOUT
from tabprotect.errors import InputError
from tabprotect.release.suppressed import Release
from tabprotect.solver.limits import Limits
from tabprotect.workflow.argus import run_batch
from tabprotect.workflow.argus.protection import Means

__all__ = ["Batch", "Compared", "batches", "compare", "lay_out_survey", "pattern_of", "run_peer"]

#: Statuses of tau-ARGUS whose values are not shown: unsafe by a rule, by request or by hand, and secondary.
PRIMARY, SECONDARY = frozenset({3, 4, 5, 6, 7, 8, 9}), frozenset({11, 12})
EMPTY = frozenset({13, 14})
OUTPUT = "statuses.csv"
WRITE = f'<WRITETABLE> (1,2,AS+,"{OUTPUT}")\n'

HEADINGS = ("batch", "cells", "primaries ours / peer", "hidden ours / peer", "cost ours", "cost peer")
HEADINGS += ("audit of ours", "audit of peer")

TABLE = '<OPENTABLEDATA> "pp.tab"\n<OPENMETADATA> "pp.rda"\n<SPECIFYTABLE> "Size""Region"|"Var2"|"Var2_Shadow"|"Var2"\n'
SURVEY = '<OPENMICRODATA> "survey.asc"\n<OPENMETADATA> "survey.rda"\n<SPECIFYTABLE> "Size""Region"|"Turnover"||\n'
SURVEY_RULES = "P(15,1)|FREQ(3,20)"


@dataclass(frozen=True)
class Batch:
    """A name, the text of a batch and the folder with the files that it names."""

    name: str
    text: str
    files: Path


@dataclass(frozen=True)
class Compared:
    """One batch: cells, primary cells and what the audit says of both patterns; a cost of None is not safe."""

    name: str
    cells: int | None
    primaries: tuple[int | None, int | None]
    hidden: tuple[int | None, int | None]
    costs: tuple[float | None, float | None]
    words: tuple[str, str]


def batches(table: Path, survey: Path, given: str) -> Iterator[Batch]:
    """List the batches: the published one as it is, the same with methods, then a survey with rules and methods."""
    yield Batch("TestTable.arb as it is", given, table)
    yield Batch("TestTable.arb, OPT", given.replace("<GOINTERACTIVE>", f"<SUPPRESS> OPT(1,1)\n{WRITE}"), table)
    yield Batch("TestTable.arb, MOD", given.replace("<GOINTERACTIVE>", f"<SUPPRESS> MOD(1,5,0,0,0)\n{WRITE}"), table)
    rules = f"{TABLE}<SAFETYRULE> P(10,1)|FREQ(3,30)\n<READTABLE> 1\n"
    yield Batch("table, P and FREQ, MOD", f"{rules}<SUPPRESS> MOD(1,5,0,0,0)\n{WRITE}", table)
    for rule in (SURVEY_RULES, "NK(1,75)|FREQ(3,20)"):
        for method in ("OPT(1,1)", "MOD(1,5,0,0,0)", "GH(1,75)"):
            text = f"{SURVEY}<SAFETYRULE> {rule}\n<READMICRODATA>\n<SUPPRESS> {method}\n{WRITE}"
            yield Batch(f"survey, {rule.replace('|', ' and ')}, {method.split('(')[0]}", text, survey)


def run_peer(peer: Path, batch: Path, seconds: float) -> str:
    """Run the peer on a batch, in the folder of the batch; returns why it failed, or ''."""
    try:
        command = [str(peer), "run", batch.name]
        done = subprocess.run(command, cwd=batch.parent, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"no answer in {seconds:.0f} s, killed"
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines()
        return f"exit code {done.returncode}: {words[-1] if words else 'without a word'}"
    return ""


def statuses(path: Path) -> dict[tuple[str, ...], int]:
    """Read output of form 2 with statuses: by the codes of a row, without blanks around them."""
    with path.open(encoding="latin-1", newline="") as stream:
        lines = list(csv.reader(stream))
    found = {tuple(word.strip() for word in line[:-2]): int(line[-1]) for line in lines[1:]}
    if len(found) != len(lines) - 1:
        raise InputError(f"{path.name}: two rows have the same codes")
    return found


def pattern_of(release: Release, output: Mapping[tuple[str, ...], int]) -> npt.NDArray[np.bool_]:
    """Return what an output of form 2 hides, over the cells of our problem: rows are found by their codes.

    Sums that we protect beside the cells of the table are published by nobody, and count as hidden.

    Raises
    ------
    InputError
        If the rows are not those of the table; rows of codes that do not occur, which the peer writes, are passed over.
    """
    names = [dimension.name for dimension in release.table.dimensions]
    codes = [tuple(str(code).strip() for code in row) for row in release.table.rows[names].itertuples(index=False)]
    empty = {row for row in set(output) - set(codes) if output[row] in EMPTY}
    if missing := set(codes) ^ (set(output) - empty):
        raise InputError(f"{len(missing)} rows are on one side only, such as {' x '.join(min(missing))}")
    cells = np.zeros(release.table.n_cells, dtype=bool)
    cells[release.table.row_cell[[output[row] in PRIMARY | SECONDARY for row in codes]]] = True
    return _with_sums(release, cells)


def _with_sums(release: Release, cells: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    return np.concatenate([cells, release.problem.must_hide[len(cells) :]])


def _lay_out(batch: Batch, folder: Path) -> Path:
    shutil.copytree(batch.files, folder)
    path = folder / "batch.arb"
    path.write_text(batch.text, encoding="latin-1")
    return path


def compare(batch: Batch, peer: Path, folder: Path, seconds: float) -> Compared:
    """Run one batch by both, each in a copy of the files, and audit both patterns."""
    mine, other = _lay_out(batch, folder / "ours"), _lay_out(batch, folder / "peer")
    failure = run_peer(peer, other, seconds)
    try:
        outcome = run_batch(mine, means=Means(Limits(seconds=seconds / 4), seed=0, allow_unsafe=True))
    except InputError as error:
        return Compared(batch.name, None, (None, None), (None, None), (None, None), (str(error), failure or "done"))
    release = outcome.releases.get(1)
    if not isinstance(release, Release) or OUTPUT not in batch.text:
        read = "read; nothing to protect was asked" if outcome.safe else "refused"
        return Compared(batch.name, None, (None, None), (None, None), (None, None), (read, failure or "read"))
    ours = statuses(mine.with_name(OUTPUT))
    own = sum(status in PRIMARY for status in ours.values())
    own_pattern = _with_sums(release, release.pattern[: release.table.n_cells])
    if not np.array_equal(pattern_of(release, ours), own_pattern):
        raise RuntimeError(f"{batch.name}: what we wrote does not hide what our release hides")
    cost, words = judged(release.problem, own_pattern)
    hidden = int(release.pattern[: release.table.n_cells].sum())
    if failure:
        return Compared(
            batch.name, release.table.n_cells, (own, None), (hidden, None), (cost, None), (words or "safe", failure)
        )
    try:
        pattern = pattern_of(release, statuses(other.with_name(OUTPUT)))
    except (InputError, OSError) as error:
        said = f"its output cannot be compared: {error}"
        return Compared(
            batch.name, release.table.n_cells, (own, None), (hidden, None), (cost, None), (words or "safe", said)
        )
    theirs = statuses(other.with_name(OUTPUT))
    their_cost, their_words = judged(release.problem, pattern)
    differ = sum((ours[codes] in PRIMARY) != (theirs[codes] in PRIMARY) for codes in ours)
    note = f"; {differ} primaries differ" if differ else ""
    return Compared(
        batch.name,
        release.table.n_cells,
        (own, sum(status in PRIMARY for status in theirs.values())),
        (hidden, int(pattern[: release.table.n_cells].sum())),
        (cost, their_cost),
        (words or "safe", (their_words or "safe") + note),
    )


def page(rows: list[Compared], about: str) -> str:
    """Return the comparison as a page."""

    def shown(number: float | None) -> str:
        return "" if number is None else f"{number:,.0f}"

    lines = [
        "# Batches of tau-ARGUS: ours and the peer",
        "",
        "Costs are those of patterns that our audit finds safe; a pattern that is not safe has none.",
        "",
        f"| {' | '.join(HEADINGS)} |",
        f"|{' --- |' * len(HEADINGS)}",
    ]
    for row in rows:
        pairs = [" / ".join(shown(one) or "-" for one in pair) for pair in (row.primaries, row.hidden)]
        words = [word.replace("|", "/").replace("\n", " ") for word in row.words]
        cells = [row.name, shown(row.cells), *pairs, *map(shown, row.costs), *words]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", about, ""])


def lay_out_survey(folder: Path) -> Path:
    """Write a small survey of fixed width, its metadata and its code lists into a new folder."""
    from tests.workflow.argus.conftest import HRC, RDA, records

    folder.mkdir()
    plain = RDA
    for found, wanted in (("Région 2.HRC", "region2.hrc"), ("Région", "Region"), ("REGION.CDL", "region.cdl")):
        plain = plain.replace(found, wanted)
    (folder / "survey.asc").write_text("\n".join([*records(), ""]), encoding="latin-1")
    (folder / "survey.rda").write_text(plain, encoding="latin-1")
    (folder / "region2.hrc").write_text(HRC, encoding="latin-1")
    (folder / "region.cdl").write_text("Nr,North\n 1,One\n", encoding="latin-1")
    return folder


def _lay_out_table(source: Path, folder: Path) -> Path:
    folder.mkdir()
    for name in ("pp.rda", "pp.tab", "region.cdl", "region2.hrc"):
        # the metadata say REGION.CDL: the peer tells upper from lower case
        for target in {name, "REGION.CDL" if name == "region.cdl" else name}:
            shutil.copyfile(source / f"tauargus_{name}", folder / target)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("TABPROTECT_PEER_PYTHON", CHECKOUT / ".venv-peer" / "bin" / "python")
    parser.add_argument("--data", type=Path, default=Path("../shared/instances/tables"), help="folder of the batch")
    parser.add_argument("--peer", type=Path, default=Path(default).with_name("tauargus"), help="its command")
    parser.add_argument("--seconds", type=float, default=120.0, help="patience with the peer; a quarter is our limit")
    parser.add_argument("--out", type=Path, help="write the page there")
    given = parser.parse_args()
    peer = given.peer.absolute()
    if not peer.exists():
        raise InputError(f"the peer is not installed ({peer} is not there); run: make peer")
    rows = []
    with tempfile.TemporaryDirectory(prefix="tabprotect-batches-") as place:
        table, survey = _lay_out_table(given.data, Path(place) / "table"), lay_out_survey(Path(place) / "survey")
        text = (given.data / "tauargus_TestTable.arb").read_text(encoding="latin-1")
        for number, batch in enumerate(batches(table, survey, text)):
            rows.append(compare(batch, peer, Path(place) / str(number), given.seconds))
            print(rows[-1], flush=True)
    said = subprocess.run(
        [peer.with_name("python"), "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True
    )
    names = [line for line in said.stdout.splitlines() if line.startswith("pytauargus")]
    about = f"`python -m benchmarks.argus_batches`; {' '.join(names)}; tabprotect {version('tabprotect')}; our seed 0"
    text = page(rows, about)
    print(text)
    if given.out is not None:
        given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
