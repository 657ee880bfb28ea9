"""What batches write, what they refuse to write, and what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.cli.app import run as run_command
from tabprotect.errors import InputError
from tabprotect.workflow.argus.protection import Means
from tests.workflow.argus.batches import OPEN, READ, TABLE, Run, judged, lines_of


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
