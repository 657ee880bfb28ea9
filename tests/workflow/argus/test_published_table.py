"""The published batch of table input, and its table under other rules."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tabprotect.formats.argus import read_rda, read_tab
from tabprotect.solver.limits import Limits
from tabprotect.workflow.argus import run_batch
from tabprotect.workflow.argus.protection import Means
from tests.workflow.argus.batches import judged, lines_of


@pytest.fixture
def table_files(shared: Callable[[str], Path], tmp_path: Path) -> Path:
    """The published example of table input, its files named as the batch names them."""
    for name in ("TestTable.arb", "pp.rda", "pp.tab", "region.cdl", "region2.hrc"):
        shutil.copyfile(shared(f"instances/tables/tauargus_{name}"), tmp_path / name)
    return tmp_path


def test_the_published_batch_runs_as_it_is(table_files: Path) -> None:
    outcome = run_batch(table_files / "TestTable.arb")
    text = outcome.logbook.read_text(encoding="utf-8")
    assert outcome.safe
    # its totals do not add up; <READTABLE> 1 computes them from the cells
    assert "Total x Total was 16847646.84 in the file, and is 16847645.84" in text
    assert "162 cells" in text
    assert "there is no window" in text


def test_the_published_table_is_protected_by_its_statuses(table_files: Path) -> None:
    batch = (table_files / "TestTable.arb").read_text(encoding="utf-8")
    more = '<SUPPRESS> OPT(1,1)\n<WRITETABLE> (1,2,AS+,"all.csv")\n<WRITETABLE> (1,3,FL+,"public.csv")\n<GOINTERACTIVE>'
    (table_files / "more.arb").write_text(batch.replace("<GOINTERACTIVE>", more), encoding="utf-8")
    outcome = run_batch(table_files / "more.arb")
    judged(outcome)
    everything = {tuple(row[:2]): row for row in lines_of(table_files / "all.csv")[1:]}
    public = {tuple(row[:2]): row for row in lines_of(table_files / "public.csv")[1:]}
    frame = read_tab(table_files / "pp.tab", read_rda(table_files / "pp.rda"))
    unsafe = frame[frame["StatusVar"] == "u"]
    assert len(unsafe) > 0
    for size, region in zip(unsafe["Size"], unsafe["Region"], strict=True):
        assert everything[size, region][3] == "9"
        assert public[size, region][2] == "x"
    assert {row[2] for key, row in public.items() if everything[key][3] in ("9", "11")} == {"x"}
    assert not [row for row in public.values() if row[2] != "x" and float(row[2]) < 0]


@pytest.mark.slow
def test_rules_on_a_finished_table_use_its_largest_contributions(table_files: Path) -> None:
    (table_files / "rules.arb").write_text(
        '<OPENTABLEDATA> "pp.tab"\n<OPENMETADATA> "pp.rda"\n'
        '<SPECIFYTABLE> "Size""Region"|"Var2"|"Var2_Shadow"|"Var2_Cost"|0.5\n'
        "<SAFETYRULE> P(10,1)|FREQ(3,30)\n<READTABLE> 1\n<SUPPRESS> MOD(1,5,0,0,0)\n"
        '<WRITETABLE> (1,4,HL-,"sbs.txt")\n',
        encoding="utf-8",
    )
    outcome = run_batch(table_files / "rules.arb", means=Means(Limits(work=2000)))
    judged(outcome)
    # with respondents who know their own cells, no pattern protects two cells of this table
    path = table_files / "rules.arb"
    path.write_text(path.read_text(encoding="utf-8").replace("0,0,0)", "1,1,0)"), encoding="utf-8")
    refused = run_batch(path)
    assert not refused.safe
    assert "even with everything hidden" in str(refused.log)
    table = outcome.releases[1].table
    frame = read_tab(table_files / "pp.tab", read_rda(table_files / "pp.rda"))
    few = frame[(frame["FreqVar"] > 0) & (frame["FreqVar"] < 3)]
    letters = {tuple(row[:2]): row[4] for row in lines_of(table_files / "sbs.txt")}
    assert table.contributions is not None
    assert {letters[size, region] for size, region in zip(few["Size"], few["Region"], strict=True)} == {"A"}
