"""Batches of tau-ARGUS over all commands and forms of output, judged by what comes out."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tabprotect import Suppress as HowToHide
from tabprotect import audit, protect, read_instance
from tabprotect.errors import InputError
from tabprotect.formats.argus import read_rda, read_tab
from tabprotect.problem import Attacker, Status
from tabprotect.solver.limits import Limits
from tabprotect.workflow.argus.protection import Means
from tests.workflow.argus.batches import OPEN, READ, TABLE, Run, judged, lines_of


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


def test_the_same_table_through_the_interface(run: Run, survey: Path) -> None:
    outcome = run(*OPEN, TABLE, "<SAFETYRULE> P(15,1)|FREQ(3,20)", READ, "<SUPPRESS> OPT(1)")
    release = outcome.releases[1]
    again = protect(release.table, ["p%=15", "threshold=3,20"], HowToHide(method="exact"))
    assert release.result.cost == pytest.approx(again.result.cost)
    assert release.pattern.tolist() == again.pattern.tolist()
