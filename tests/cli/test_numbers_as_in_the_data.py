"""Numbers are written as the data have them, on the terminal, in pages and in files."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.cli.progress import Display, describe
from tabprotect.cli.screen import Screen
from tabprotect.formats.dialect import Dialect
from tabprotect.report.numbers import Numbers
from tabprotect.solver.limits import Progress
from tests.cli.european import FLAGS, TEXT

ENGLISH = r"\d,\d{3},|\d,\d{3}\.\d|\d\.\d+ %"


def test_comparisons_write_numbers_as_the_data_do(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    (tmp_path / "a.csv").write_bytes(TEXT.replace("1.090,5", "901.090,5").encode("cp1252"))
    page = tmp_path / "out.html"
    done = tabprotect("compare", tmp_path / "a.csv", *FLAGS, "--method", "suppress", "--html", page)
    assert done.code == 0, done.err
    numbers = re.findall(r'<td class="n">([^<]*)</td>', page.read_text(encoding="utf-8"))
    assert [one for one in numbers if re.fullmatch(r"[\d.]+\.\d{3},\d+", one)]
    assert not [one for one in numbers if re.search(r",\d{3}[.,]|\d{3},\d{3}|^0\.", one)]
    assert "<td>0,00 %</td>" in page.read_text(encoding="utf-8")
    drawn = re.findall(r"<text[^>]*>([^<]*)</text>", page.read_text(encoding="utf-8"))
    assert [one for one in drawn if re.fullmatch(r"\d+,\d+", one)]
    assert not [one for one in drawn if re.search(r"\d\.\d{1,2}(?!\d)", one)]


def test_comparisons_write_numbers_as_they_are_told_to(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    """As the report of `protect` with the same keys."""
    (tmp_path / "a.csv").write_bytes(TEXT.replace("1.090,5", "901.090,5").encode("cp1252"))
    page = tmp_path / "out.html"
    asked = (tmp_path / "a.csv", *FLAGS, "--set", "output.decimal=.", "--set", "output.thousands='")
    done = tabprotect("compare", *asked, "--method", "suppress", "--html", page)
    assert done.code == 0, done.err
    assert tabprotect("protect", *asked, "--out", tmp_path / "out").code == 0
    pages = [path.read_text(encoding="utf-8") for path in (page, tmp_path / "out" / "internal" / "report.html")]
    for text in pages:
        shown = text.replace("&#39;", "'")
        assert re.search(r">[\d']+'\d{3}\.\d+[< ]", shown)
        assert not re.search(r">\d+[.,]\d{3}[.,]\d+[< ]", shown)
    refused = tabprotect("compare", *asked[:-1], "output.thousands=x", "--html", page)
    assert refused.code == 2
    assert "output.thousands: 'x' is not possible" in refused.err


def test_a_point_between_thousands_goes_with_the_decimal_comma_of_the_data(
    tmp_path: Path, tabprotect: Callable[..., Any]
) -> None:
    (tmp_path / "a.csv").write_bytes(TEXT.replace("1.090,5", "901090,5").encode("cp1252"))
    asked = (tmp_path / "a.csv", *FLAGS, "--set", "output.thousands=.", "--out", tmp_path / "out")
    done = tabprotect("protect", *asked)
    assert done.code == 0, done.err
    assert re.search(r"\d{3}\.\d{3},\d", (tmp_path / "out" / "internal" / "report.html").read_text(encoding="utf-8"))
    # with a decimal point, it does not
    refused = tabprotect("protect", *asked, "--set", "output.decimal=.")
    assert refused.code == 2
    assert "'.' cannot be both decimal sign and sign between thousands" in refused.err


def test_the_terminal_writes_all_values_with_the_same_decimals(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    (tmp_path / "a.csv").write_bytes(TEXT.replace("1.090,5", "50,5").encode("cp1252"))
    done = tabprotect("protect", tmp_path / "a.csv", *FLAGS, "--out", tmp_path / "out")
    numbers = re.findall(r"\d[\d.]*,\d+", done.out[done.out.index("Total") :])
    assert len(numbers) > 3
    assert {len(one.partition(",")[2]) for one in numbers} == {2}


def test_the_terminal_writes_numbers_as_the_data_do(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    """Protection, audit and comparison alike; only where something else is asked for they are written so."""
    (tmp_path / "a.csv").write_bytes(TEXT.replace("1.090,5", "901.090,5").encode("cp1252"))
    done = tabprotect("protect", tmp_path / "a.csv", *FLAGS, "--out", tmp_path / "out", "--method", "exact")
    assert re.search(r"cost +[\d.]+,\d", done.out)
    assert "gap 0,00 %" in done.out
    compared = tabprotect("compare", tmp_path / "a.csv", *FLAGS, "--method", "suppress", "--method", "adjust")
    assert re.search(r"\d\.\d{3}\.\d{3} .*0,00 %", compared.out)
    judged = tabprotect("audit", tmp_path / "out")
    for text in (done.out, compared.out, judged.out):
        assert not re.search(ENGLISH, text), text
    asked = tabprotect("protect", tmp_path / "a.csv", *FLAGS, "--set", "output.decimal=.", "--out", tmp_path / "other")
    assert re.search(r"cost +[\d,]+\.\d", asked.out)
    values = json.loads(tabprotect("compare", tmp_path / "a.csv", *FLAGS, "--method", "suppress", "--json", "-").out)
    assert isinstance(values["methods"][0]["cost"], float)


def test_the_proof_and_the_intervals_are_written_as_the_data_are(
    tmp_path: Path, tabprotect: Callable[..., Any]
) -> None:
    (tmp_path / "a.csv").write_bytes(TEXT.replace("f3;40", "f3;40,3").encode("cp1252"))
    tabprotect("protect", tmp_path / "a.csv", *FLAGS, "--method", "exact", "--out", tmp_path / "out")
    checked = tabprotect("verify", tmp_path / "out")
    assert re.search(r"cost [\d]+,\d", checked.out)
    assert not re.search(r"\d\.\d", checked.out), checked.out
    tabprotect("audit", tmp_path / "out", "--intervals", tmp_path / "in.csv")
    first, *lines = (tmp_path / "in.csv").read_bytes().decode("cp1252").splitlines()
    assert first.startswith("cell;attacker;status;value;low")
    assert any(re.search(r";\d+,\d+;", line) for line in lines)
    assert not any(re.search(r"\d\.\d", line) for line in lines)


def test_why_a_cell_is_sensitive_is_said_with_the_decimal_sign_of_the_data(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(TEXT.encode("cp1252"))
    rules = ["p%=12.5,n=1", "nk=1,70.5", "threshold=3"]
    data = {"by": ["région", "taille"], "value": "chiffre", "contributor": "firme"}
    release = tp.protect(tmp_path / "a.csv", rules, "greedy", **data, intervals=False)
    said = release.explain(("N", "g"))
    assert "N x g: 1099,5, hidden, primary" in said
    assert "12,5 % of 1090,5 = 136,3125" in said
    assert "% > 70,5 %" in said
    points = tp.protect(pd.read_csv(io.StringIO(TEXT), sep=";", decimal=",", thousands="."), rules, "greedy", **data)
    assert "12.5 % of 1090.5 = 136.3125" in points.explain(("N", "g"))


def test_a_sum_that_is_given_away_is_written_as_the_data_are(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    (tmp_path / "a.csv").write_text("r;firm;v\nn;a;80,5\nn;x;0,5\ns;b;10,5\ns;c;10\ns;e;9,25\nw;d;40,25\nw;y;0,25\n")
    flags = ("--by", "r", "--value", "v", "--contributor", "firm", "--rule", "p%=15", "--unions", "audit")
    refused = tabprotect("protect", tmp_path / "a.csv", *flags, "--out", tmp_path / "out")
    assert "n + w = 121,5 can be computed" in refused.out
    done = tabprotect("protect", tmp_path / "a.csv", *flags, "--allow-unsafe", "--out", tmp_path / "out")
    assert "n + w = 121,5 can be computed" in done.out
    assert "n + w = 121,5 can be computed" in (tmp_path / "out/internal/report.html").read_text()


def test_changed_values_are_written_as_the_data_are(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    (tmp_path / "a.csv").write_bytes(TEXT.replace("1.090,5", "901.090,5").encode("cp1252"))
    flags = ("--method", "adjust", "--out", tmp_path / "out")
    done = tabprotect("protect", tmp_path / "a.csv", *FLAGS, *flags)
    assert re.search(r"Total .*\d\.\d{3},\d", done.out)
    assert re.search(r"distance +\d,\d", done.out)
    assert not re.search(ENGLISH, done.out), done.out


def test_progress_writes_numbers_as_the_data_do(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    console = Screen(file=io.StringIO())
    display = Display(console)
    clock[0] = 10.0  # so late that there is a line
    display.write_as(Dialect(";", ",", thousands="."))
    display(Progress("search", 301632.25, 301000.5, 1.0))
    assert console.file.getvalue().startswith("search  cost 301.632,25  bound 301.000,5  gap 0,21 %  1 s")


def test_costs_in_words_beside_progress_are_written_as_in_the_data() -> None:
    german = Numbers(",", ".")
    said = describe(
        Progress("search", cost=11570497.95, message="a pattern of cost 3,286,278.42 is not looked at"), german
    )
    assert "cost 11.570.497,95" in said
    assert "cost 3.286.278,42 is not looked at" in said
    assert german.said("cost 90.5, 1,200 cells, cost 12") == "cost 90,5, 1.200 cells, cost 12"


def test_residuals_are_written_as_in_the_data(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    text = "r;v\nTotal;4515,8\na;4000,7\nb;515,2\n"
    (tmp_path / "cells.csv").write_text(text, encoding="utf-8")
    asked = ("protect", "--cells", tmp_path / "cells.csv", "--by", "r", "--value", "v", "--rule", "manual")
    refused = tabprotect(*asked, "--tolerance", "0.01", "--out", tmp_path / "out")
    assert refused.code == 2
    assert "4515,8 against 4515,9" in refused.err
    done = tabprotect(*asked, "--tolerance", "0.5", "--out", tmp_path / "out")
    assert "rounding residuals up to 0,1" in done.out


def test_the_gap_of_the_report_is_written_as_in_the_data(tmp_path: Path) -> None:
    """A search that was ended says how far it is by the solver, beside the gap."""
    (tmp_path / "a.csv").write_bytes(TEXT.replace("1.090,5", "901.090,5").encode("cp1252"))
    release = tp.protect(tmp_path / "a.csv", "p%=15", tp.Adjust(), by=["région", "taille"], value="chiffre", seed=1)
    result = replace(release.result, status="feasible", cost=1000.5, bound=890.25)
    page = (replace(release, result=result).write(tmp_path / "out") / "internal" / "report.html").read_text("utf-8")
    assert "within 11,02 %" in page
    assert "within 11.02 %" not in page


def test_intervals_are_written_without_the_digits_that_a_float_adds(
    tmp_path: Path, tabprotect: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    values = [0.1, 0.2, 0.7, 0.1, 0.4, 0.9]
    pd.DataFrame({"a": list("xxxyyy"), "b": list("123123"), "v": values}).to_csv("a.csv", index=False)
    asked = ("protect", "a.csv", "--by", "a", "--by", "b", "--value", "v", "--rule", "threshold=2", "--out", "out")
    assert tabprotect(*asked).code == 0
    tabprotect("audit", "out", "--intervals", "i.csv")
    written = pd.read_csv("i.csv", dtype=str, keep_default_na=False).query("attacker == 'public'")
    assert len(written) >= 6
    ends = written[["low", "high", "needed_low", "needed_high"]].to_numpy().ravel()
    assert not [end for end in ends if len(end.replace(".", "").strip("0")) > 15]
    assert any("." in end for end in ends)
