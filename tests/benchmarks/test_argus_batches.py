"""Batches through a peer: what it wrote is found by its codes and audited; programs that stand in for the peer."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from benchmarks.argus_batches import SURVEY, WRITE, Batch, compare, lay_out_survey

pytestmark = pytest.mark.slow

TEXT = f"{SURVEY}<SAFETYRULE> P(15,1)|FREQ(3,20)\n<READMICRODATA>\n<SUPPRESS> OPT(1,1)\n{WRITE}"
RUN = """\
from tabprotect.workflow.argus import run_batch
from tabprotect.workflow.argus.protection import Means
run_batch(sys.argv[2], means=Means(seed=0, allow_unsafe=True))
path = pathlib.Path("statuses.csv")
head, *lines = path.read_text().splitlines()
"""
#: As the peer writes them: from the last row to the first, with a row of codes that do not occur.
BACKWARDS = RUN + 'lines = [*reversed(lines), \'"2","99",-,14\']\n'
#: Nothing is sensitive.
OPEN = RUN + "lines = [line.rsplit(',', 1)[0] + ',1' for line in lines]\n"
SAVE = "path.write_text(chr(10).join([head, *lines, '']))\n"


def stand_in(folder: Path, text: str) -> Path:
    path = folder / "peer.py"
    path.write_text(f"#!{sys.executable}\nimport pathlib, sys\n{text}", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def batch(tmp_path: Path) -> Batch:
    return Batch("survey", TEXT, lay_out_survey(tmp_path / "files"))


def test_the_same_pattern_has_the_same_cost_in_any_order_of_rows(batch: Batch, tmp_path: Path) -> None:
    found = compare(batch, stand_in(tmp_path, BACKWARDS + SAVE), tmp_path / "work", 60)
    assert found.words == ("safe", "safe")
    assert found.costs[0] == found.costs[1] is not None
    assert found.hidden[0] == found.hidden[1]
    assert found.primaries[0] == found.primaries[1]
    assert 0 < (found.primaries[0] or 0) < (found.hidden[0] or 0)


def test_a_peer_that_publishes_everything_is_unsafe(batch: Batch, tmp_path: Path) -> None:
    found = compare(batch, stand_in(tmp_path, OPEN + SAVE), tmp_path / "work", 60)
    primaries = found.primaries[0]
    assert found.costs[1] is None
    assert found.words[0] == "safe"
    assert found.words[1] == f"unsafe: {primaries} primaries published; {primaries} primaries differ"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("sys.exit('no such method')\n", "exit code 1: no such method"),
        ("pass\n", "its output cannot be compared"),
        (RUN + "lines = lines[1:]\n" + SAVE, "1 rows are on one side only, such as Total x Total"),
    ],
)
def test_a_peer_without_an_answer_is_said_to_have_none(batch: Batch, tmp_path: Path, program: str, said: str) -> None:
    found = compare(batch, stand_in(tmp_path, program), tmp_path / "work", 60)
    assert found.words[0] == "safe"
    assert said in found.words[1]
    assert found.costs[0] is not None
    assert found.costs[1] is None
