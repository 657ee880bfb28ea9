"""Batches of tau-ARGUS over all commands and forms of output, judged by what comes out."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tabprotect import Suppress as HowToHide
from tabprotect import audit, protect, read_instance
from tabprotect.cli.app import run as run_command
from tabprotect.errors import InputError
from tabprotect.formats.argus import read_rda, read_tab
from tabprotect.problem import Attacker, Status
from tabprotect.solver.limits import Limits
from tabprotect.workflow.argus import Outcome, run_batch
from tabprotect.workflow.argus.protection import Means

Run = Callable[..., Outcome]
OPEN = ('<OPENMICRODATA> "C:\\Mes documents\\SURVEY.asc"', '<OPENMETADATA> "survey.rda"')
TABLE = '<SPECIFYTABLE> "Size""Région"|"Turnover"||'
READ = "<READMICRODATA>"


def lines_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def judged(outcome: Outcome, number: int = 1) -> None:
    """The release is safe, and its certificate says so without a solver."""
    release = outcome.releases[number]
    assert release.safe
    assert release.verify().safe


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


def test_optimal_and_all_forms(run: Run, survey: Path) -> None:
    outcome = run(
        "<LOGBOOK> \"run log.txt\"", "// a comment", "<COMMENT> another", *OPEN, TABLE,
        "<SAFETYRULE> P(15,1)|NK(0,0)|FREQ(3,20)|ZERO(1)|MIS(0)|WGT(0)|MAN(20)", READ, "<SOLVER> FREE",
        "<SUPPRESS> OPT(1,1)", '<WRITETABLE> (1,1,,"x1.csv")', '<WRITETABLE> (1,2,QU+,"x2.csv")',
        '<WRITETABLE> (1,3,AS+SE+,"x3.txt")', '<WRITETABLE> (1,4,HL+,"x4.tab")',
        '<WRITETABLE> (1,5,AR+,"D:\\out\\x5.tab")', '<WRITETABLE> (1,6,TR+,"x6.jj")', '<VERSIONINFO> "version.txt"',
    )  # fmt: skip
    judged(outcome)
    assert outcome.logbook == survey / "run log.txt"
    release = outcome.releases[1]
    cells = release.table.n_cells
    hidden = release.pattern
    primaries = release.assessment.primaries
    assert 0 < len(primaries) < hidden.sum() < cells
    # form 1: rows and columns, x for hidden cells
    crossed = lines_of(survey / "x1.csv")
    assert crossed[1][1:] == ["Total", "Nr", "1", "2", "Zd", "3", "10"]
    assert sum(row.count("x") for row in crossed) == hidden.sum()
    # form 2 holds the same, and nothing of hidden cells
    pivot = lines_of(survey / "x2.csv")
    assert pivot[0] == ["Size", "Région", "Turnover"]
    assert [row[2] == "x" for row in pivot[1:]] == hidden[release.table.row_cell].tolist()
    # form 3 with AS tells statuses: those of the primaries are the rules'
    status = [int(row[3]) for row in lines_of(survey / "x3.txt")]
    assert set(status) <= {1, 3, 5, 11}
    assert sum(s in (3, 5) for s in status) == len(primaries)
    # form 4: levels before codes, letters of the SBS form
    sbs = lines_of(survey / "x4.tab")
    assert sbs[0][:4] == ["0", "Total", "0", "Total"]
    assert {row[6] for row in sbs} <= set("ABCDV")
    assert sum(row[6] in "ABC" for row in sbs) == len(primaries)
    # form 5 is a table that can be read again
    again = read_tab(survey / "x5.tab", read_rda(survey / "x5.rda", table=True))
    assert np.array_equal(again["Turnover"], release.table.values[release.table.row_cell])
    known = release.audit().public
    wanted = release.table.values.copy()
    inside = known.cells < cells
    wanted[known.cells[inside]] = known.high[inside]
    assert np.array_equal(again["UpperRealised"], wanted[release.table.row_cell])
    # form 6 is the problem that was solved
    problem = read_instance(survey / "x6.jj")
    assert problem.primaries.tolist() == primaries.tolist()
    assert (problem.status == Status.FORCED).sum() == hidden.sum() - len(primaries)
    assert (survey / "version.txt").read_text(encoding="utf-8").startswith("tabprotect ")
    confidential = " ".join(outcome.log.of("CONFIDENTIAL"))
    assert all(name in confidential for name in ("x3.txt", "x4.tab", "x5.tab", "x6.jj"))
    assert not any(name in confidential for name in ("x1.csv", "x2.csv"))


def test_the_intermediate_form_protects_like_the_table_it_came_from(run: Run) -> None:
    first = run(
        *OPEN, TABLE, "<SAFETYRULE> P(15,1)|FREQ(3,20)", READ, '<WRITETABLE> (1,5,,"again.tab")', name="one.arb"
    )
    assert first.safe
    second = run(
        '<OPENTABLEDATA> "again.tab"', '<OPENMETADATA> "again.rda"', '<SPECIFYTABLE> "Size""Région"|"Turnover"||',
        "<SAFETYRULE> P(15,1)|FREQ(3,20)", "<READTABLE>", "<SUPPRESS> OPT(1,1)", name="two.arb",
    )  # fmt: skip
    third = run(*OPEN, TABLE, "<SAFETYRULE> P(15,1)|FREQ(3,20)", READ, "<SUPPRESS> OPT(1,1)", name="three.arb")
    judged(second)
    one, other = second.releases[1], third.releases[1]
    assert one.problem.primaries.tolist() == other.problem.primaries.tolist()
    assert np.allclose(one.problem.upl, other.problem.upl)


def test_methods_cost_no_less_than_the_optimum(run: Run) -> None:
    rules = "<SAFETYRULE> NK(2,85)|FREQ(3,30)"
    costs = {}
    for method in ("OPT(1,1)", "MOD(1,1,1,1,1)", "GH(1,,0,1)", "NET(1)"):
        outcome = run(*OPEN, '<SPECIFYTABLE> "Year""Size"|"Turnover"||-1', rules, READ, f"<SUPPRESS> {method}")
        judged(outcome)
        costs[method[:3].strip("(")] = outcome.releases[1].result.cost
    # the cost is the number of contributors
    assert costs["OPT"] == int(costs["OPT"])
    assert costs["OPT"] <= min(costs.values())


@pytest.mark.parametrize(("cost", "kind"), [("-2", "unit"), ('"Staff"', "column"), ("-3", "distance")])
def test_costs(run: Run, cost: str, kind: str) -> None:
    table = f'<SPECIFYTABLE> "Size""Région"|"Turnover"|""|{cost}|1'
    outcome = run(*OPEN, table, "<SAFETYRULE> FREQ(4,20)", READ, "<SUPPRESS> OPT(1,1)")
    judged(outcome)
    release = outcome.releases[1]
    weights = release.problem.weights[: release.table.n_cells]
    if kind == "unit":
        assert release.result.cost == release.pattern.sum() - len(release.problem.primaries)
    elif kind == "column":
        top = release.table.system.cells.get_loc(("Total", "Total"))
        assert weights[top] == release.table.columns["cost"][top]
        assert weights[top] < release.table.values[top]
    else:
        # one step in Size is 1, two are 3; siblings of Région are one step apart, which is 2
        assert set(weights) <= {float(a + b) for a in (0, 1, 3) for b in (0, 2, 4)}
        assert len(set(weights)) > 1


def test_individuals_and_holdings_at_once(run: Run) -> None:
    rules = "<SAFETYRULE> P(10,1)|P(0,0)|P(30,1)|FREQ(3,20)|FREQ(2,20)"
    both = run(*OPEN, TABLE, rules, READ, "<SUPPRESS> OPT(1,1)")
    one = run(*OPEN, TABLE, "<SAFETYRULE> P(10,1)|FREQ(3,20)", READ, "<SUPPRESS> OPT(1,1)")
    only = run(*OPEN, TABLE, "<SAFETYRULE> P(0,0)|P(0,0)|P(30,1)|FREQ(0,0)|FREQ(2,20)", READ, "<SUPPRESS> OPT(1,1)")
    sensitive = {o: set(o.releases[1].assessment.primaries.tolist()) for o in (both, one, only)}
    assert sensitive[both] == sensitive[one] | sensitive[only]
    assert sensitive[only] - sensitive[one]
    upl = {o: o.releases[1].assessment.upl for o in (both, one, only)}
    assert np.allclose(upl[both], np.maximum(upl[one], upl[only]))
    assert any("both levels" in text for text in both.log.of("DIFFERENT"))


@pytest.mark.parametrize("seed", range(4))
def test_a_holding_alone_in_a_cell_through_several_enterprises_attacks(run: Run, survey: Path, seed: int) -> None:
    # every cell has enterprises of one holding or of two; most holdings have several enterprises in a cell
    rng = np.random.default_rng(seed)
    lines, of = [], {}
    for size, region in product([" 2", " 4", " 5"], [" 1", " 2", " 3", "10"]):
        groups = rng.choice(6, size=rng.choice([1, 2]), replace=False)
        of[size.strip(), region.strip()] = set(groups.tolist())
        lines += [
            f"21{size}{region}A01 1.0{int(rng.integers(50, 200)):8d}{9:5d}{group:3d} "
            for group in np.repeat(groups, rng.integers(2, 4))
        ]
    (survey / "Survey.ASC").write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))
    outcome = run(
        *OPEN, TABLE, "<SAFETYRULE> P(60,1)|P(0,0)|P(10,1)|FREQ(3,20)|FREQ(2,20)", READ, "<SUPPRESS> OPT(1,1)"
    )
    judged(outcome)
    release = outcome.releases[1]
    cells = release.table.system.cells
    alone: dict[int, list[int]] = {}
    for (size, region), groups in of.items():
        if len(groups) == 1:
            alone.setdefault(*groups, []).append(cells.get_loc((size, region)))
    holdings = tuple(Attacker(f"holding {group}", tuple(sorted(known))) for group, known in alone.items())
    assert holdings
    problem = replace(release.problem, attackers=holdings)
    assert audit(problem, release.pattern).safe


def test_weights_requests_and_missing_codes(run: Run) -> None:
    rules = "<SAFETYRULE> REQ(40,30,3,20)|WGT(1)|MIS(1)|ZERO(5)"
    outcome = run(*OPEN, TABLE, rules, READ, "<SUPPRESS> OPT(1,1)")
    judged(outcome)
    release = outcome.releases[1]
    assert release.table.weighted_counts is not None
    assert release.table.weighted_counts[0] > release.table.counts[0]
    assert len(release.problem.primaries) > 0
    assert any(text.startswith("request=40,30,20,3") for text in release.assessment.reasons)


def test_apriori_file_changes_status_cost_and_levels(run: Run, survey: Path) -> None:
    (survey / "prior.hst").write_bytes(
        "Total;Zd;u\r\nTotal;Zd;pl;11;12\r\n4;Nr;c;1\r\n 2; 2;p\r\nnowhere;Nr;u\r\n".encode("cp1252")
    )
    outcome = run(
        *OPEN, TABLE, "<SAFETYRULE> FREQ(3,20)", READ, '<APRIORI> "prior.hst",1,";",1,1', "<SUPPRESS> OPT(1,1)"
    )
    judged(outcome)
    release = outcome.releases[1]
    cells = release.table.system.cells
    there = cells.get_loc(("Total", "Zd"))
    assert release.problem.status[there] == Status.PRIMARY
    assert (release.problem.lpl[there], release.problem.upl[there]) == (11, 12)
    assert release.problem.weights[cells.get_loc(("4", "Nr"))] == 1
    text = str(outcome.log)
    assert "code 'nowhere' is not in Size" in text
    with pytest.raises(InputError, match="nowhere"):
        run(*OPEN, TABLE, "<SAFETYRULE> FREQ(3,20)", READ, '<APRIORI> "prior.hst",1,";",0,1')


def test_recodings_by_level_branch_and_new_codes(run: Run, survey: Path) -> None:
    (survey / "size.grc").write_text("small: - 2\nlarge: 4, 5, 7\n", encoding="utf-8")
    (survey / "north.grc").write_text("<TREERECODE>\nNr\n", encoding="utf-8")
    outcome = run(
        *OPEN, '<SPECIFYTABLE> "Size""Région""Trade"|"Turnover"||', "<SAFETYRULE> FREQ(3,20)", READ,
        '<RECODE> 1, Size, "size.grc"', '<RECODE> 1,RÉGION,"north.grc"', "<RECODE> 1,Trade,1", "<SUPPRESS> GH(1,100)",
        '<WRITETABLE> (1,1,,"x.csv")',
    )  # fmt: skip
    judged(outcome)
    table = outcome.releases[1].table
    codes = [list(d.known.codes) for d in table.dimensions]
    assert codes == [["Total", "large", "small"], ["Total", "Nr", "Zd", "3", "10"], ["Total", "A", "B", "C"]]
    whole = run(*OPEN, '<SPECIFYTABLE> "Size"|"Turnover"||', "<SAFETYRULE> FREQ(3,20)", READ, "<SUPPRESS> OPT(1,1)")
    assert table.values[0] == whole.releases[1].table.values[0]
    # one block for every code of the third dimension
    assert [row[0] for row in lines_of(survey / "x.csv") if row[0].startswith("Trade")] == [
        "Trade: Total", "Trade: A", "Trade: B", "Trade: C"
    ]  # fmt: skip


@pytest.mark.parametrize("method", ["MOD(0)", "GH(0)", "OPT(0,1)"])
def test_table_0_is_all_tables_linked(run: Run, survey: Path, method: str) -> None:
    rules = "<SAFETYRULE> P(15,1)|FREQ(3,20)"
    outcome = run(
        *OPEN, '<SPECIFYTABLE> "Year""Région"|"Turnover"||', rules, '<SPECIFYTABLE> "Size""Région"|"Turnover"||', rules,
        READ, "<COVER>", f"<SUPPRESS> {method}", '<WRITETABLE> (1,3,,"one.txt")', '<WRITETABLE> (2,3,,"two.txt")',
    )  # fmt: skip
    judged(outcome)
    release = outcome.releases[1]
    assert set(release.table.parts) == {"table 1", "table 2"}
    one = {row[1]: row[2] for row in lines_of(survey / "one.txt") if row[0] == "Tot"}
    two = {row[1]: row[2] for row in lines_of(survey / "two.txt") if row[0] == "Total"}
    # common cells are hidden in both or in none
    assert one == two
    assert "x" in {row[2] for row in lines_of(survey / "one.txt")}


def test_a_holding_knows_its_cells_of_all_linked_tables(run: Run, survey: Path) -> None:
    # holding 0 is alone in size 2 of region 1, and in trade C01 of it, with the same two enterprises
    lines = [f"21 2 1C01 1.0{90:8d}{9:5d}{0:3d} ", f"21 2 1C01 1.0{80:8d}{9:5d}{0:3d} "]
    lines += [
        f"21{size}{region}{trade} 1.0{100 + i:8d}{9:5d}{1 + i % 4:3d} "
        for i, (size, region, trade) in enumerate(product([" 4", " 5"], [" 1", " 2", "10"], ["A01", "B01"]))
        for _ in range(2)
    ]
    (survey / "Survey.ASC").write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))
    rules = "<SAFETYRULE> P(10,1)|P(0,0)|P(10,1)|FREQ(3,20)|FREQ(2,20)"
    tables = [f'<SPECIFYTABLE> "{name}""Région"|"Turnover"||' for name in ("Size", "Trade")]
    outcome = run(*OPEN, tables[0], rules, tables[1], rules, READ, "<SUPPRESS> OPT(0,1)")
    judged(outcome)
    release = outcome.releases[1]
    known = {a.name: {release.table.system.label(c) for c in a.known} for a in release.problem.attackers}
    assert {"2 x 1 x Total", "Total x 1 x C"} <= known["holding 0"]


def test_tables_of_one_total_are_linked_with_table_input(run: Run, survey: Path) -> None:
    small = '<SEPARATOR> ";"\nA\n<RECODABLE>\n<TOTCODE> "T"\nV\n<NUMERIC>\nN\n<FREQUENCY>\nS\n<STATUS>\n'
    (survey / "a.rda").write_text(small, encoding="utf-8")
    (survey / "b.rda").write_text(small.replace("A\n", "B\n", 1), encoding="utf-8")
    (survey / "a.tab").write_text("T;30,5;9;S\nx;10,25;1;U\ny;20,25;8;S\n", encoding="utf-8")
    (survey / "b.tab").write_text("T;30,5;9;S\nk;15;4;S\nl;15,5;5;S\n", encoding="utf-8")
    batch = ['<OPENTABLEDATA> a.tab', '<OPENMETADATA> a.rda', '<SPECIFYTABLE> "A"|"V"||', "<SAFETYRULE>",
             '<OPENTABLEDATA> b.tab', '<OPENMETADATA> b.rda', '<SPECIFYTABLE> "B"|"V"||', "<SAFETYRULE>",
             "<READTABLE>", "<SUPPRESS> MOD(0)", '<WRITETABLE> (1,3,,"a.txt")', '<WRITETABLE> (2,3,,"b.txt")',
             ]  # fmt: skip
    outcome = run(*batch)
    judged(outcome)
    assert lines_of(survey / "a.txt") == [["T", "30.5"], ["x", "x"], ["y", "x"]]
    assert lines_of(survey / "b.txt") == [["T", "30.5"], ["k", "15.0"], ["l", "15.5"]]


def test_controlled_rounding_and_adjustment(run: Run, survey: Path) -> None:
    for method, name in (("RND(1,50,0,1,0,3)", "Round"), ("CTA(1)", "CTA")):
        outcome = run(
            *OPEN, '<SPECIFYTABLE> "Year""Size"|"Turnover"||', "<SAFETYRULE> P(5,1)|FREQ(3,5)", READ,
            f"<SUPPRESS> {method}", '<WRITETABLE> (1,3,FL+,"changed.txt")', '<WRITETABLE> (1,2,AS+,"both.txt")',
            means=Means(Limits(work=3000)),
        )  # fmt: skip
        judged(outcome)
        header, *rows = lines_of(survey / "changed.txt")
        assert header == ["Year", "Size", f"Turnover_{name}"]
        values = {(year, size): float(value) for year, size, value in rows}
        for year in ("Tot", "21", "22"):
            assert values[year, "Total"] == sum(values[year, size] for size in ("2", "4", "5"))
        if name == "Round":
            assert all(value % 50 == 0 for value in values.values())
        original = {tuple(row[:2]): float(row[3]) for row in lines_of(survey / "both.txt")[1:]}
        table = outcome.releases[1].table
        assert [original[tuple(cell)] for cell in table.system.cells] == table.values.tolist()
        with pytest.raises(InputError, match="form 6"):
            run(
                *OPEN, '<SPECIFYTABLE> "Year""Size"|"Turnover"||', "<SAFETYRULE> P(5,1)", READ, f"<SUPPRESS> {method}",
                '<WRITETABLE> (1,6,,"x.jj")', means=Means(Limits(work=3000)),
            )  # fmt: skip


def test_frequency_table_and_clear(run: Run, survey: Path) -> None:
    table = '<SPECIFYTABLE> "Size""Trade"|<freq>|'
    outcome = run(
        *OPEN, table, "<SAFETYRULE> FREQ(3,50)", READ, "<SUPPRESS> OPT(1,1)", '<WRITETABLE> (1,2,,"n.csv")', "<CLEAR>",
        *OPEN, '<SPECIFYTABLE> "Year"|"Staff"||', "<SAFETYRULE> FREQ(3,50)", READ, "<SUPPRESS> OPT(1)",
        '<WRITETABLE> (1,2,,"staff.csv")',
    )  # fmt: skip
    judged(outcome)
    assert lines_of(survey / "n.csv")[0] == ["Size", "Trade", "Freq"]
    assert lines_of(survey / "staff.csv")[0] == ["Year", "Staff"]
    assert "x" in {row[2] for row in lines_of(survey / "n.csv")}


def test_what_is_not_protected_is_not_written_for_the_public(run: Run, survey: Path) -> None:
    lines = (*OPEN, TABLE, "<SAFETYRULE> FREQ(3,20)", READ, '<WRITETABLE> (1,1,,"x.csv")')
    outcome = run(*lines)
    assert not outcome.safe
    assert not (survey / "x.csv").exists()
    assert "<SUPPRESS>" in outcome.log.of("NOT SAFE")[0]
    run(*lines, means=Means(allow_unsafe=True))
    assert (survey / "x.csv").exists()


def test_cures_are_commands_of_the_batch_and_work(run: Run, survey: Path) -> None:
    metadata = '<SEPARATOR> ";"\nSize 10\n <RECODABLE>\n <TOTCODE> "Total"\nVal 12\n <NUMERIC>\nN 5\n'
    (survey / "t.rda").write_text(metadata, encoding="utf-8")
    (survey / "t.tab").write_text("a;40;2\nb;60;9\nc;55;8\n", encoding="utf-8")
    opened = ('<OPENTABLEDATA> "t.tab"', '<OPENMETADATA> "t.rda"', '<SPECIFYTABLE> "Size"|"Val"||')
    lines = (*opened, "<SAFETYRULE> FREQ(3,20)", "<READTABLE>", "<SUPPRESS> OPT(1,1)")
    with pytest.raises(InputError, match=r"or let missing totals be computed: <READTABLE> 1$"):
        run(*lines)
    with pytest.raises(InputError, match="the number of contributors: its variable is <FREQUENCY> in the metadata"):
        run(*(line.replace("<READTABLE>", "<READTABLE> 1") for line in lines))
    (survey / "t.rda").write_text(f"{metadata} <FREQUENCY>\n", encoding="utf-8")
    (survey / "t.tab").write_text("Total;155;19\na;40;2\nb;60;9\nc;55;8\n", encoding="utf-8")
    judged(run(*lines))


def test_rows_and_columns_have_no_statuses_and_are_for_the_public(run: Run, survey: Path) -> None:
    rule, unprotected = "<SAFETYRULE> P(15,1)|FREQ(3,20)", '<WRITETABLE> (1,1,AS+,"crossed.csv")'
    outcome = run(*OPEN, TABLE, rule, READ, unprotected)
    assert not outcome.safe
    assert not (survey / "crossed.csv").exists()
    assert "crossed.csv was not written" in str(outcome.log)
    assert "holds the true values" not in str(outcome.log)
    protected = run(*OPEN, TABLE, rule, READ, "<SUPPRESS> MOD(1)", unprotected, '<WRITETABLE> (1,1,,"plain.csv")')
    judged(protected)
    assert (survey / "crossed.csv").read_text(encoding="utf-8") == (survey / "plain.csv").read_text(encoding="utf-8")
    assert "AS+ plays no part" in str(protected.log)
    assert "CONFIDENTIAL: crossed.csv" not in str(protected.log)


def test_sums_that_are_off_are_taken_or_refused(run: Run, survey: Path) -> None:
    (survey / "a.rda").write_text('<SEPARATOR> ","\nA\n<RECODABLE>\nV\n<NUMERIC>\nS\n<STATUS>\n', encoding="utf-8")
    (survey / "a.tab").write_text("Total,60,S\nx,10,U\ny,21,S\nz,30,S\n", encoding="utf-8")
    lines = ("<OPENTABLEDATA> a.tab", "<OPENMETADATA> a.rda", '<SPECIFYTABLE> "A"|"V"||')
    with pytest.raises(InputError, match=r"line 4: the table does not add up"):
        run(*lines, "<READTABLE>")
    off = run(*lines, "<READTABLE> 2", "<SUPPRESS> OPT(1)", '<WRITETABLE> (1,3,,"off.txt")')
    judged(off)
    assert off.releases[1].table.residual == 1
    computed = run(*lines, "<READTABLE> 1T", "<SUPPRESS> OPT(1)", '<WRITETABLE> (1,3,,"sum.txt")')
    judged(computed)
    assert lines_of(survey / "sum.txt")[0] == ["Total", "61"]
    (survey / "a.tab").write_text("x,10,U\ny,21,S\nz,30,S\n", encoding="utf-8")
    added = run(*lines, "<READTABLE> 1T", "<SUPPRESS> OPT(1)", '<WRITETABLE> (1,3,,"sum.txt")')
    judged(added)
    assert ["Total", "61"] in lines_of(survey / "sum.txt")


def test_releases_are_written_with_their_certificates(run: Run, survey: Path, tmp_path: Path) -> None:
    outcome = run(
        *OPEN, TABLE, "<SAFETYRULE> FREQ(3,20)", READ, "<SUPPRESS> OPT(1)", folder=tmp_path, release=tmp_path / "out"
    )
    folder = tmp_path / "out" / "table1-OPT"
    assert outcome.written == (folder,)
    assert run_command(["verify", str(folder)]) == 0


def test_the_same_table_through_the_interface(run: Run, survey: Path) -> None:
    outcome = run(*OPEN, TABLE, "<SAFETYRULE> P(15,1)|FREQ(3,20)", READ, "<SUPPRESS> OPT(1)")
    release = outcome.releases[1]
    again = protect(release.table, ["p%=15", "threshold=3,20"], HowToHide(method="exact"))
    assert release.result.cost == pytest.approx(again.result.cost)
    assert release.pattern.tolist() == again.pattern.tolist()


def test_the_command_says_what_is_wrong_line_by_line(survey: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = survey / "wrong.arb"
    path.write_text("<OPENMICRODAT> x\n<READTABLE>\n<SUPPRESS> OPTI(1)\n", encoding="utf-8")
    assert run_command(["arb", str(path)]) == 2
    text = capsys.readouterr().err
    assert "line 1: <OPENMICRODAT> is not known; did you mean 'OPENMICRODATA'?" in text
    assert "line 3: <SUPPRESS> method OPTI is not known; did you mean 'OPT'?" in text


def test_the_command_runs_a_batch(survey: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = survey / "good.arb"
    lines = (*OPEN, TABLE, "<SAFETYRULE> FREQ(3,20)", READ, "<SUPPRESS> OPT(1)", '<WRITETABLE> (1,1,,"x.csv")')
    path.write_bytes("\r\n".join(lines).encode("cp1252"))
    assert run_command(["arb", str(path), "--check"]) == 0
    assert run_command(["arb", str(path)]) == 0
    assert (survey / "x.csv").exists()
    assert "OPT is run as" in capsys.readouterr().out
    path.write_bytes("\r\n".join(line.replace("<SUPPRESS> OPT(1)", "") for line in lines).encode("cp1252"))
    assert run_command(["arb", str(path)]) == 1
    assert "\nNOT SAFE: see the logbook." in capsys.readouterr().out


def test_files_for_publication_do_not_contradict_each_other(run: Run, survey: Path) -> None:
    rules = "<SAFETYRULE> P(15,1)|FREQ(3,20)"
    few = "<SAFETYRULE> FREQ(14,20)"
    tables = ('<SPECIFYTABLE> "Year""Région"|"Turnover"||', rules, '<SPECIFYTABLE> "Size""Région"|"Turnover"||', few)
    apart = run(
        *OPEN, *tables, READ, "<SUPPRESS> OPT(1)", "<SUPPRESS> OPT(2)", '<WRITETABLE> (1,3,,"one.txt")',
        '<WRITETABLE> (2,3,,"two.txt")',
    )  # fmt: skip
    patterns = [dict(zip(r.table.system.cells, r.pattern, strict=True)) for r in (apart.releases[1], apart.releases[2])]
    regions = ("Nr", "1", "2", "Zd", "3", "10", "Total")
    differ = [r for r in regions if patterns[0]["Tot", r] != patterns[1]["Total", r]]
    assert differ
    assert not apart.safe
    assert (survey / "one.txt").exists()
    assert not (survey / "two.txt").exists()
    assert "protect linked tables together (table 0)" in apart.log.of("NOT SAFE")[0]
    # one table under two patterns
    twice = run(
        *OPEN, TABLE, rules, READ, "<SUPPRESS> OPT(1)", '<WRITETABLE> (1,3,,"a.txt")', '<WRITETABLE> (1,1,,"b.txt")',
        "<CLEAR>", *OPEN, TABLE, "<SAFETYRULE> FREQ(8,20)", READ, "<SUPPRESS> OPT(1)", '<WRITETABLE> (1,3,,"c.txt")',
    )  # fmt: skip
    assert not twice.safe
    assert [path.name for path in twice.written] == ["a.txt", "b.txt"]


def test_a_file_that_is_read_is_not_written_over(run: Run, survey: Path) -> None:
    before = (survey / "Survey.ASC").read_bytes()
    with pytest.raises(InputError, match=r"line 7: Survey.ASC is a file that this batch reads"):
        run(*OPEN, TABLE, "<SAFETYRULE> FREQ(3,20)", READ, "<SUPPRESS> OPT(1)", '<WRITETABLE> (1,3,,"Survey.ASC")')
    assert (survey / "Survey.ASC").read_bytes() == before
