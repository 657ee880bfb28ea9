"""Cures are written for the face they appear on, and all that is wrong is said at once."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

Run = Callable[..., Any]

FIRMS = "region,size,firm,turnover\nn,b,f0,90\nn,s,f1,5\n,b,f2,4\ns,b,f5,20.5\ns,s,f6,30\n"
CELLS = "region,value,st,low\nTotal,100,s,\nn,70,u,5\ns,30,s,\n"
ASKED = ("firms.csv", "--by", "region", "--by", "size", "--value", "turnover", "--rule", "p%=15")
FINISHED = ("--cells", "cells.csv", "--by", "region", "--value", "value")
SPEC = """
data = "firms.csv"
by = ["region", "size"]
value = "turnover"
rules = ["p%=15"]
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "firms.csv").write_text(FIRMS)
    (tmp_path / "cells.csv").write_text(CELLS)
    (tmp_path / "spec.toml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("more", "cure"),
    [
        ((), "under a code of their own: --missing region=unknown"),
        (("--method", "open-classes"), "such as --option open=age"),
        (("--set", "method.open=age"), "--method: should be a text; options of a method are --option open=age"),
        (("--method", "recode", "--option", "rules=x"), "such as --set options.rules.age=age.grc"),
        (("--format", "nope"), "--format: 'nope' is not possible; there are 'csv'"),
    ],
)
def test_flags(tabprotect: Run, more: tuple[str, ...], cure: str) -> None:
    done = tabprotect("protect", *ASKED, *more, "--out", "out")
    assert done.code == 2
    assert cure in done.err


@pytest.mark.parametrize(
    ("more", "cure"),
    [
        ("", 'under a code of their own: missing = {"region" = ["unknown"]}'),
        ('method = "open-classes"', 'such as options = {open = ["age"]}'),
        ('[method]\nopen = ["age"]', 'method: should be a text; options of a method are options = {open = ["age"]}'),
    ],
)
def test_specifications(place: Path, tabprotect: Run, more: str, cure: str) -> None:
    (place / "spec.toml").write_text(SPEC + more + '\n[output]\nfolder = "out"\n')
    done = tabprotect("protect", "spec.toml")
    assert done.code == 2
    assert cure in done.err


@pytest.mark.parametrize("stated", [("--status", "st"), ("--lpl", "low")])
def test_a_finished_table_that_says_what_is_sensitive_needs_no_rule(tabprotect: Run, stated: tuple[str, str]) -> None:
    done = tabprotect("protect", *FINISHED, *stated, "--out", "out")
    assert "--rule" not in done.err
    assert "verdict" in done.out


def test_other_tables_do(tabprotect: Run) -> None:
    done = tabprotect("protect", *FINISHED, "--out", "out")
    assert "--rule is missing" in done.err
    assert done.code == 2


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a file system that holds no files of users")
def test_everything_is_told_beside_a_wrong_rule(tabprotect: Run) -> None:
    wrong = ("--method", "exat", "--levels", "nope", "--resume", "/proc/y")
    done = tabprotect("protect", *ASKED[:-1], "q%=15", *wrong, "--out", "out")
    for told in ("rule 'q%=15' is not known", "'nope' is not possible", "/proc/y: cannot be written", "mean 'exact'?"):
        assert told in done.err, told


@pytest.mark.parametrize("command", ["protect", "compare"])
def test_folders_are_said_to_be_folders(place: Path, tabprotect: Run, command: str) -> None:
    (place / "data").mkdir()
    assert "data: a folder, where a file of data is wanted" in tabprotect(command, "data", *ASKED[1:]).err
    assert tabprotect("protect", *ASKED, "--missing", "region=x", "--out", "rel", "--allow-unsafe").code in (0, 1)
    done = tabprotect(command, "rel", *ASKED[1:])
    assert done.code == 2
    assert "rel: the folder of a release, where a file of data is wanted; 'tabprotect audit rel'" in done.err


def test_what_is_missing_is_not_judged_by_its_ending(tabprotect: Run) -> None:
    assert "relase: there is no such file or folder" in tabprotect("audit", "relase").err


def test_values_that_are_no_codes_are_not_said_to_be_missing(tabprotect: Run) -> None:
    done = tabprotect("protect", "firms.csv", "--by", "turnover", "--value", "turnover", "--rule", "p%=15")
    assert "cannot be a dimension" in done.err
    assert "has no code" not in done.err


@pytest.mark.parametrize("face", [ASKED, ("spec.toml",)], ids=["flags", "flags beside a specification"])
@pytest.mark.parametrize(
    ("more", "cure"),
    [
        (("--bounds", "1,2,3"), "--bounds '1,2,3': write one bound, such as '50%', or LOWER,UPPER"),
        (("--bounds", ","), "--bounds ','"),
        (("--bounds", "x"), "--bounds: 'x' is neither a number nor a percentage"),
        (("--lpl", "low"), "--lpl belongs to a finished table"),
        (("--lengths", "nowhere=1,2"), "--lengths nowhere=: no such dimension"),
        (("--preference", "nowhere=1,2"), "--preference: the table has no dimension 'nowhere'"),
    ],
)
def test_the_flag_that_was_typed_is_named(
    place: Path, tabprotect: Run, face: tuple[str, ...], more: tuple[str, ...], cure: str
) -> None:
    (place / "firms.csv").write_text(FIRMS.replace("\n,", "\nn,"))
    done = tabprotect("protect", *face, *more)
    assert done.code == 2
    assert cure in done.err


def test_all_that_needs_the_codes_comes_with_all_else(place: Path, tabprotect: Run) -> None:
    """Rules in doubt, preferences and attackers beside a wrong rule and a wrong method; and beside each other."""
    (place / "firms.csv").write_text("region;size;firm;turnover\nn;b;f0;90,5\nn;s;f1;5\ns;b;f5;20,5\ns;s;f6;30\n")
    asked = SPEC + 'preferences = {regon = [1, 2]}\nattackers = {"tax office" = ["W x b"]}\n'
    codes = ["rule 'p%=10,5' can be read in two ways", "did you mean 'region'?", "attacker 'tax office': there is no"]
    (place / "spec.toml").write_text(asked.replace('"p%=15"', '"p%=10,5"'))
    done = tabprotect("protect", "spec.toml")
    assert (done.code, [word for word in codes if word not in done.err]) == (2, [])
    (place / "spec.toml").write_text(asked.replace('"p%=15"', '"p%=10,5", "treshold=3"') + 'method = "wrong"\n')
    done = tabprotect("protect", "spec.toml")
    words = [*codes, "did you mean 'threshold'?", "unknown method 'wrong'"]
    assert (done.code, [word for word in words if word not in done.err]) == (2, [])


def test_no_table_is_made_of_a_specification_that_says_wrongly_what_it_is(place: Path, tabprotect: Run) -> None:
    """Without the wrong key the table would be another one, and what is wrong with that is of no use."""
    (place / "cells.csv").write_text("region,value\nn,70\ns,30\n")
    (place / "spec.toml").write_text(
        'cells = "cells.csv"\nby = ["region"]\nvalue = "value"\nmargins = "ad"\nlpl = "l"\n'
    )
    done = tabprotect("protect", "spec.toml")
    assert "2 problems" in done.err
    assert "margins: 'ad' is not possible" in done.err
    assert "no column 'l'" in done.err


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ('source = "Office"', "unknown key 'source'; did you mean 'output.source'?"),
        ("seconds = 5", "unknown key 'seconds'; did you mean 'limits.seconds'?"),
        ('[output]\nunit = "EUR"', "unknown key 'output.unit'; did you mean 'unit'?"),
        ('[output]\ntitel = "T"', "unknown key 'output.titel'; did you mean 'title'?"),
        ("base = 1000", "unknown key 'base'; did you mean 'options.base'?"),
    ],
)
def test_a_key_in_the_wrong_table_is_sent_to_the_right_one(place: Path, tabprotect: Run, line: str, meant: str) -> None:
    (place / "spec.toml").write_text(SPEC + line + "\n")
    done = tabprotect("protect", "spec.toml")
    assert (done.code, meant in done.err) == (2, True), done.err


@pytest.mark.parametrize(
    ("more", "cure"),
    [
        (("--rule", "threshold=3"), "rule threshold=3 needs the number of contributors: give --count COLUMN"),
        (("--rule", "manual=0", "--cost", "count"), "needs the number of contributors: give --count COLUMN"),
        (("--rule", "p%=15"), "rule p%=15 needs the 2 largest contributions to every cell: give --maximum COLUMN"),
    ],
)
def test_cures_of_finished_tables_are_taken_by_finished_tables(
    tabprotect: Run, more: tuple[str, ...], cure: str
) -> None:
    """--contributor was proposed, too, which belongs to microdata."""
    done = tabprotect("protect", *FINISHED, *more)
    assert done.code == 2
    assert cure in done.err
    assert "--contributor" not in done.err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--rule", "request=70"), "rule request=70 needs request codes, and there are none: give --request COLUMN"),
        (("--holding-rule", "p%=15"), "--holding-rule needs --holding, the column of the group"),
        (("--transform", "boxcox=2"), "--transform 'boxcox=2': write boxcox and a number from 0 to 1"),
        (("--rule", "apriori=a.hst"), "a.hst, line 1: not a number in ['0', '5,5']; decimals are written with a point"),
        (("--encoding", "utf-8"), "invalid continuation byte); pass --encoding cp1252, which it looks like"),
        (("--encoding", "utf-9"), "firms.csv is not utf-9 text (unknown encoding: utf-9); pass --encoding cp1252"),
    ],
)
def test_what_is_wrong_is_named_as_it_was_typed(
    place: Path, tabprotect: Run, more: tuple[str, ...], words: str
) -> None:
    (place / "firms.csv").write_text(FIRMS.replace("\n,", "\nn,").replace("f0", "Gänse"), encoding="cp1252")
    (place / "a.hst").write_text("n;b;pl;0;5,5\n")
    done = tabprotect("protect", *ASKED, *more)
    assert done.code == 2
    assert words in done.err


def test_what_one_flag_says_is_wrong_once(place: Path, tabprotect: Run) -> None:
    (place / "firms.csv").write_text(FIRMS.replace("\n,", "\nn,"))
    done = tabprotect("protect", *ASKED, "--bounds", "abc")
    assert done.err.count("'abc' is neither a number nor a percentage") == 1
    assert "problems" not in done.err


def test_a_misspelled_dimension_is_one_problem_and_hides_no_other(place: Path, tabprotect: Run) -> None:
    """A hierarchy of the right name is not wrong; a file that is not there and a role that a rule lacks are."""
    asked = SPEC.replace('["region"', '["regoin"').replace('"p%=15"', '"p%15", "request=70"')
    (place / "spec.toml").write_text(asked + 'hierarchy = {region = "nix.hrc"}\n')
    done = tabprotect("protect", "spec.toml")
    assert done.code == 2
    for words in (
        "4 problems",
        "rule 'p%15' is not known; did you mean 'p%=15'?",
        "no column 'regoin'; did you mean 'region'?",
        "nix.hrc: cannot be read",
        "rule request=70 needs request codes, and there are none: give request = ...",
    ):
        assert words in done.err


def test_totals_under_another_name_are_not_counted_twice(place: Path, tabprotect: Run) -> None:
    """The cures, followed one after the other, end at the table as it is."""
    (place / "cells.csv").write_text(CELLS.replace("Total", "Insgesamt").replace("100", "101").replace("30", "31"))
    asked = ("--rule", "threshold=3", "--kind", "frequency", "--out", "out")
    cells = ("--cells", "cells.csv", "--by", "region", "--value", "value", *asked)
    said = tabprotect("protect", "cells.csv", *cells[2:]).err
    assert "or, if these are cells of a finished table, give the table as --cells FILE" in said
    assert "--cells FILE with --total region=Insgesamt" in said
    refused = tabprotect("protect", *cells)
    assert "name the code of the total with --total region=Insgesamt" in refused.err
    assert "--margins add" not in refused.err
    assert "say that it is the total: --total region=Insgesamt" in tabprotect("protect", *cells, "--margins", "add").err
    done = tabprotect("protect", *cells, "--total", "region=Insgesamt")
    assert done.code == 0, done.err
    written = [path.read_text(encoding="utf-8") for path in (place / "out").rglob("*.csv")]
    assert any("101" in text for text in written)
    assert not any("202" in text for text in written)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            ("--tolerance", "0,3"),
            "'--tolerance': it should be a number; decimals are written with a point, such as 0.5",
        ),
        (("--decimals", "x"), "'--decimals': it should be a whole number"),
    ],
)
def test_what_is_no_number_on_the_command_line(tabprotect: Run, more: tuple[str, ...], words: str) -> None:
    done = tabprotect("protect", *ASKED, *more)
    assert done.code == 2
    assert words in done.err


def test_the_first_line_that_excel_takes(place: Path, tabprotect: Run) -> None:
    (place / "firms.csv").write_text("sep=;\n" + FIRMS.replace(",", ";"))
    done = tabprotect("protect", *ASKED)
    assert "the first line begins with 'sep=', which only Excel reads; take the line out" in done.err


def cure(words: str) -> list[str]:
    """Return the flags that a message proposes first, as they are given."""
    found = re.search(r"(--[a-z-]+ ('[^']*'|[^\s;,)]+(,[^\s;)]+)*))", words)
    assert found, words
    return shlex.split(found[1])


PROPOSED = {
    "decimal": ("r;v\na;1.234\nb;2.345\nb;1.111\na;1.111\n", ("--by", "r", "--value", "v", "--rule", "threshold=1")),
    "negative": ("r,v\na,-5\nb,2\nb,4\na,9\n", ("--by", "r", "--value", "v", "--rule", "threshold=1")),
    "total": ("r,v\nTotal,5\nb,2\nb,4\na,9\n", ("--by", "r", "--value", "v", "--rule", "threshold=1")),
    "digits": ("r,v\nab1,5\nab2,2\nac1,4\n", ("--by", "r", "--value", "v", "--rule", "threshold=1", "--lengths",
                                               "r=2,1")),
}  # fmt: skip


@pytest.mark.parametrize("name", PROPOSED)
def test_cures_of_microdata_work_as_they_are_printed(place: Path, tabprotect: Run, name: str) -> None:
    text, arguments = PROPOSED[name]
    (place / "a.csv").write_text(text)
    before = tabprotect("protect", "a.csv", *arguments)
    assert before.code == 2
    proposed = cure(before.err.partition("pass ")[2] or before.err)
    kept = [one for one in arguments if one not in ("--lengths", "r=2,1")]
    after = tabprotect("protect", "a.csv", *kept, *proposed, "--out", "out")
    assert after.code == 0, (proposed, after.err)


@pytest.mark.parametrize("lines", ["n,70\ns,30\n", "Total,100\nn,70.5\ns,30\n"])
def test_cures_of_finished_tables_work_as_they_are_printed(place: Path, tabprotect: Run, lines: str) -> None:
    """Margins that are not there, and sums that are off."""
    (place / "c.csv").write_text("region,value\n" + lines)
    how = ("--cells", "c.csv", "--by", "region", "--value", "value", "--rule", "manual=0")
    before = tabprotect("protect", *how)
    assert before.code == 2
    assert "=" not in re.sub(r"region=|Total = n \+ s", "", before.err), before.err
    proposed = cure(before.err.replace("--total region=CODE", ""))
    after = tabprotect("protect", *how, *proposed, "--out", "out")
    assert after.code == 0, (proposed, after.err)


def test_a_cure_is_a_key_in_a_specification_and_a_keyword_in_python(place: Path, tabprotect: Run) -> None:
    import tabprotect as tp

    text = 'data = "a.csv"\nby = ["r"]\nvalue = "v"\nrules = ["threshold=1"]\n'
    (place / "a.csv").write_text("r;v\na;1.234\nb;2.345\nb;1.111\na;1.111\n")
    (place / "a.toml").write_text(text)
    before = tabprotect("protect", "a.toml")
    assert before.code == 2
    proposed = re.search(r'decimal = "[,.]"', before.err)
    assert proposed, before.err
    assert "--decimal" not in before.err
    (place / "a.toml").write_text(text + proposed[0] + "\n")
    assert tabprotect("protect", "a.toml").code == 0
    with pytest.raises(tp.InputError, match=r"decimal comma: data\['v'\] = data\['v'\]\.str\.replace"):
        tp.protect(pd.DataFrame({"r": ["a", "b"], "v": ["1,5", "2"]}), by=["r"], value="v", rules="threshold=1")


def test_names_of_the_user_are_no_flags(place: Path, tabprotect: Run) -> None:
    """A dimension may be called as a flag is."""
    (place / "x.csv").write_text("kind,value\na,10\nb,20\n")
    asked = ("--by", "kind", "--value", "value", "--rule", "threshold=2")
    said = tabprotect("protect", "--cells", "x.csv", *asked, "--out", "out").err
    assert "name the code of the total with --total kind=CODE" in said


def test_a_separator_that_is_not_in_the_file_is_one_problem(place: Path, tabprotect: Run) -> None:
    (place / "semi.csv").write_text("a;b;v\nx;y;1\nx;z;2\n")
    asked = ("--by", "a", "--by", "b", "--value", "v", "--rule", "nk=1,80", "--contributor", "b", "--out", "out")
    said = tabprotect("protect", "semi.csv", "--separator", ",", *asked).err
    assert "Bad input: semi.csv: there is only one column, 'a;b;v'; read it with --separator ';'" in said
    assert "no column" not in said


def test_what_swapping_needs_is_said_in_options(place: Path, tabprotect: Run) -> None:
    (place / "records.csv").write_text("town,sex\nA,m\nB,f\n")
    asked = ("--by", "town", "--rule", "threshold=2", "--out", "out")
    said = tabprotect("protect", "records.csv", *asked, "--method", "swap").err
    assert "such as --option geography=region+town --option risk=age+origin --option similar=age+sex/sex" in said
    said = tabprotect("compare", "records.csv", *asked[:-2], "--method", "swap").err
    assert said.count("must name columns") == 1


def test_an_engine_that_a_method_does_not_have_is_refused(place: Path, tabprotect: Run) -> None:
    (place / "records.csv").write_text("town,value\nA,1\nB,2\n")
    asked = ("--by", "town", "--value", "value", "--rule", "threshold=2", "--out", "out")
    said = tabprotect("protect", "records.csv", *asked, "--method", "greedy", "--engine", "highs").err
    assert "--engine highs does not go with --method greedy" in said
    assert not (place / "out").exists()
