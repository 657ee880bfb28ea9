"""Tables of a batch that are linked."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.workflow.argus.batches import OPEN, READ, Run, judged, lines_of


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
