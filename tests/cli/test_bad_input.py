"""Whatever is wrong with the input: one clear message, the right exit code, nothing written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FIRMS = """region,size,firm,turnover
n,b,f0,90
n,b,f1,5
n,b,f2,4
n,s,f3,40
n,s,f4,50
s,b,f5,20
s,b,f6,30
s,s,f7,60
s,s,f8,10
s,s,f9,20
"""
SPEC = """
data = "firms.csv"
by = ["region", "size"]
value = "turnover"
contributor = "firm"
rules = ["p%=15"]

[output]
folder = "out"
"""
CELLS = """region,value,n,max
Total,100,9,60
n,70,5,60
s,30,4,10
"""
FINISHED = """
cells = "cells.csv"
by = ["region"]
value = "value"
rules = ["threshold=3"]
count = "n"

[output]
folder = "out"
"""
JJ = """0
3
0 5 5 s 0 9 0 0 0
1 2 2 u 0 9 1 1 0
2 3 3 s 0 9 0 0 0
1
0 3 : 0 (-1) 1 (1) 2 (1)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {
        "firms.csv": FIRMS,
        "spec.toml": SPEC,
        "cells.csv": CELLS,
        "fin.toml": FINISHED,
        "a.jj": JJ,
    }.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_examples_are_good(place: Path, tabprotect: Callable[..., Any]) -> None:
    assert tabprotect("protect", "spec.toml").code == 0
    assert (place / "out" / "publish" / "table.csv").is_file()
    (place / "p.json").write_text("[0, 1, 2]")
    assert tabprotect("audit", "a.jj", "--pattern", "p.json").code == 0


def replaced(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))

    return change


def written(name: str, content: str | bytes) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

    return change


def hierarchy(lines: str, name: str = "region") -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / "h.hrc").write_text(lines)
        text = (folder / "spec.toml").read_text().replace("[output]", f'[hierarchy]\n{name} = "h.hrc"\n\n[output]')
        (folder / "spec.toml").write_text(text)

    return change


Case = tuple[str, Callable[[Path], None], str, list[str]]
P: list[Case] = [
    (
        "no such specification",
        lambda f: (f / "spec.toml").rename(f / "spek.toml"),
        "spec.toml",
        ["no such file", "'spek.toml'"],
    ),
    ("not TOML", replaced("spec.toml", "value =", "value :"), "spec.toml", ["not TOML", "line 4"]),
    ("binary specification", written("spec.toml", b"\x80\x00\xff"), "spec.toml", ["not UTF-8"]),
    (
        "unknown key",
        replaced("spec.toml", "contributor", "contributer"),
        "spec.toml",
        ["unknown key 'contributer'", "'contributor'"],
    ),
    ("wrong type", replaced("spec.toml", '["p%=15"]', '"p%=15"'), "spec.toml", ["rules: should be a list"]),
    ("missing key", replaced("spec.toml", "rules", "seed = 1\n#"), "spec.toml", ["'rules' is missing"]),
    ("unknown rule", replaced("spec.toml", "p%=15", "q%=15"), "spec.toml", ["rule 'q%=15' is not known", "'p%'"]),
    ("rule without number", replaced("spec.toml", "p%=15", "p%=much"), "spec.toml", ["must be a number, not 'much'"]),
    (
        "unknown method",
        replaced("spec.toml", "value =", 'method = "exakt"\nvalue ='),
        "spec.toml",
        ["did you mean 'exact'"],
    ),
    (
        "unknown format",
        replaced("spec.toml", "[output]", '[output]\nformats = ["cvs"]'),
        "spec.toml",
        ["'cvs' is not possible", "'csv'"],
    ),
    ("no data file", lambda f: (f / "firms.csv").unlink(), "spec.toml", ["firms.csv"]),
    (
        "another encoding",
        lambda f: (
            written("firms.csv", FIRMS.replace("n,", "\xf1,").encode("latin-1"))(f),
            replaced("spec.toml", "data =", 'encoding = "utf-8"\ndata =')(f),
        ),
        "spec.toml",
        ["is not utf-8 text"],
    ),
    ("no rules", replaced("spec.toml", '["p%=15"]', "[]"), "spec.toml", ["rules: should not be empty"]),
    ("unreadable data", written("firms.csv", b"\x00\x01\xff\xfe\x80" * 50), "spec.toml", ["firms.csv"]),
    (
        "empty data",
        written("firms.csv", "region,size,firm,turnover\n"),
        "spec.toml",
        ["no records|no rows|empty|no codes"],
    ),
    (
        "unknown column",
        replaced("spec.toml", '"turnover"', '"turnovr"'),
        "spec.toml",
        ["no column 'turnovr'", "'turnover'"],
    ),
    (
        "two columns in one",
        replaced("spec.toml", '"turnover"', '"turnover, size"'),
        "spec.toml",
        ["no column 'turnover, size'", "several columns: name each on its own"],
    ),
    ("missing number", replaced("firms.csv", "f3,40", "f3,"), "spec.toml", ["turnover"]),
    ("NaN", replaced("firms.csv", "f3,40", "f3,NaN"), "spec.toml", ["turnover"]),
    (
        "text in numbers",
        replaced("firms.csv", "f3,40", "f3,forty"),
        "spec.toml",
        ["'turnover' must hold numbers", "forty"],
    ),
    (
        "decimal point and comma",
        replaced("firms.csv", "f3,40", 'f3,"40,5"\nn,b,f77,3.25'),
        "spec.toml",
        ["decimal"],
    ),
    ("missing code", replaced("firms.csv", "n,s,f3", ",s,f3"), "spec.toml", ["'region' has no code"]),
    ("code of the total", replaced("firms.csv", "n,s,f3", "Total,s,f3"), "spec.toml", ["'Total'", "total"]),
    ("negative values", replaced("firms.csv", "f5,20", "f5,-200"), "spec.toml", ["negative", 'lower = "100%"']),
    (
        "no hierarchy file",
        replaced("spec.toml", "[output]", '[hierarchy]\nregion = "no.hrc"\n\n[output]'),
        "spec.toml",
        ["no.hrc"],
    ),
    (
        "unknown dimension",
        hierarchy("n\ns\n", "regoin"),
        "spec.toml",
        ["hierarchy.regoin: no such dimension", "'region'"],
    ),
    ("unknown code", hierarchy("n\nw\n"), "spec.toml", ["'s'", "hierarchy has not"]),
    ("code listed twice", hierarchy("n\n@s\n@@n\n"), "spec.toml", ["line 3", "'n' is on line 1 already"]),
    ("nested columns that cross", lambda f: _circle(f), "spec.toml", ["'n' in column 'group' has two parents"]),
    ("cycle", lambda f: _pairs(f), "spec.toml", ["h.csv", "a cycle: n > s > n"]),
    ("bad indentation", hierarchy("n\n@@s\n"), "spec.toml", ["line 2"]),
    (
        "two inputs",
        replaced("spec.toml", 'data = "firms.csv"', 'data = "firms.csv"\ncells = "cells.csv"'),
        "spec.toml",
        ["either 'data'"],
    ),
    ("request rule without codes", replaced("spec.toml", "p%=15", "request=70,85,10"), "spec.toml", ["request"]),
    ("out is a file", replaced("spec.toml", '"out"', '"firms.csv"'), "spec.toml", ["firms.csv is a file"]),
    ("out below a file", replaced("spec.toml", '"out"', '"firms.csv/out"'), "spec.toml", ["cannot be"]),
    ("out holds something else", lambda f: _occupied(f), "spec.toml", ["holds files but no release"]),
    ("not additive", replaced("cells.csv", "Total,100", "Total,101"), "fin.toml", ["Total", "1"]),
    ("row twice", replaced("cells.csv", "s,30,4,10\n", "s,30,4,10\ns,30,4,10\n"), "fin.toml", ["more than once|twice"]),
    ("cell missing", replaced("cells.csv", "Total,100,9,60\n", ""), "fin.toml", ["Total"]),
    ("counts below zero", replaced("cells.csv", "s,30,4", "s,30,-4"), "fin.toml", ["count", "below 0", "in: s"]),
    ("values of nobody", replaced("cells.csv", "s,30,4", "s,30,0"), "fin.toml", ["count", "is 0", "in: s"]),
    ("averages", replaced("fin.toml", "count =", 'kind = "average"\ncount ='), "fin.toml", ["averages"]),
    ("no contributions for the rule", replaced("fin.toml", "threshold=3", "p%=15"), "fin.toml", ["p%=15", "maxima"]),
    ("no counts for the rule", replaced("fin.toml", 'count = "n"', ""), "fin.toml", ["threshold=3", "count"]),
    (
        "option of microdata",
        replaced("fin.toml", "count =", 'holding = "n"\ncount ='),
        "fin.toml",
        ["'holding' belongs to microdata"],
    ),
]


def _circle(folder: Path) -> None:
    lines = FIRMS.splitlines()
    other = {"n": "s", "s": "n"}
    grouped = [f"group,{lines[0]}", *(f"{other[line[0]]},{line}" for line in lines[1:])]
    (folder / "firms.csv").write_text("\n".join(grouped) + "\n")
    replaced("spec.toml", "[output]", '[hierarchy.region]\ncolumns = ["group", "region"]\n\n[output]')(folder)


def _pairs(folder: Path) -> None:
    (folder / "h.csv").write_text("parent,child\nT,w\nT,e\nn,s\ns,n\n")
    replaced("spec.toml", "[output]", '[hierarchy.region]\npairs = "h.csv"\n\n[output]')(folder)


def _occupied(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "precious.txt").write_text("mine")


def tree(folder: Path) -> dict[str, bytes | None]:
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}


@pytest.mark.parametrize(("change", "spec", "words"), [case[1:] for case in P], ids=[case[0] for case in P])
def test_protect(
    place: Path, tabprotect: Callable[..., Any], change: Callable[[Path], None], spec: str, words: list[str]
) -> None:
    change(place)
    before = tree(place)
    found = tabprotect("protect", spec)
    assert found.code == 2, found
    assert found.err.startswith("Bad input: ")
    for word in words:
        assert any(one in found.err for one in word.split("|")), found.err
    assert found.out == ""
    assert tree(place) == before


def test_everything_wrong_with_a_specification_is_said_at_once(place: Path, tabprotect: Callable[..., Any]) -> None:
    (place / "spec.toml").write_text('by = "region"\nrule = ["p%=15"]\nseed = -1\n[limits]\nsecs = 1\n')
    found = tabprotect("protect", "spec.toml")
    assert found.code == 2
    for word in ("by: should be a list", "'rule'", "seed", "limits.secs", "'rules' is missing", "either 'data'"):
        assert word in found.err


def test_protection_that_cannot_be(place: Path, tabprotect: Callable[..., Any]) -> None:
    replaced("spec.toml", "value =", 'lower = "1%"\nupper = "1%"\nvalue =')(place)
    before = tree(place)
    found = tabprotect("protect", "spec.toml")
    assert found.code == 1
    assert "NOT SAFE" in found.out
    assert "nothing was written" in found.out
    assert "unprotectable" in found.out
    assert tree(place) == before


JJS: list[tuple[str, Callable[[Path], None], list[str], list[str]]] = [
    ("no such instance", lambda f: None, ["solve", "b.jj"], ["no such file"]),
    ("no instance", written("a.txt", JJ), ["solve", "a.txt"], ["end in .jj"]),
    ("cut off", written("a.jj", JJ[:60]), ["solve", "a.jj"], ["line", "cut off"]),
    ("binary", written("a.jj", b"\xff\x00" * 9), ["solve", "a.jj"], ["not UTF-8"]),
    (
        "bound below the value",
        replaced("a.jj", "2 2 u 0 9", "2 2 u 0 1"),
        ["solve", "a.jj"],
        ["upper external bound below"],
    ),
    ("not additive", replaced("a.jj", "0 5 5", "0 6 6"), ["solve", "a.jj"], ["do not add up", "0 = 1 + 2"]),
    ("unknown method", lambda f: None, ["solve", "a.jj", "--method", "gredy"], ["did you mean 'greedy'"]),
    ("unknown engine", lambda f: None, ["solve", "a.jj", "--engine", "sip"], ["did you mean 'scip'"]),
    ("unwritable result", lambda f: None, ["solve", "a.jj", "--json", "no/out.json"], ["cannot be written"]),
    ("result is a folder", lambda f: None, ["solve", "a.jj", "--json", "."], ["is a folder"]),
    ("no pattern", lambda f: None, ["audit", "a.jj"], ["--pattern"]),
    ("unknown cell", written("p.json", "[1, 77]"), ["audit", "a.jj", "--pattern", "p.json"], ["no such cell: 77"]),
    ("not JSON", written("p.json", "[1, "), ["audit", "a.jj", "--pattern", "p.json"], ["not JSON"]),
    (
        "number of 5,000 digits",
        written("p.json", f"[{'9' * 5000}]"),
        ["audit", "a.jj", "--pattern", "p.json"],
        ["p.json: not a pattern"],
    ),
    ("no such pattern", lambda f: None, ["audit", "a.jj", "--pattern", "p.json"], ["no such file"]),
    (
        "intervals elsewhere",
        written("p.json", "[1]"),
        ["audit", "a.jj", "--pattern", "p.json", "--intervals", "i.txt"],
        ["csv"],
    ),
    ("no release", lambda f: (f / "empty").mkdir(), ["audit", "empty"], ["is not a release"]),
    ("no such certificate", lambda f: None, ["verify", "c.json"], ["no such file"]),
    ("no release to verify", lambda f: (f / "empty").mkdir(), ["verify", "empty"], ["is not a release"]),
    (
        "unknown bundled instance",
        lambda f: None,
        ["instances", "eustat-investmen"],
        ["did you mean 'eustat-investment'"],
    ),
]


@pytest.mark.parametrize(("change", "arguments", "words"), [case[1:] for case in JJS], ids=[case[0] for case in JJS])
def test_instances(
    place: Path,
    tabprotect: Callable[..., Any],
    change: Callable[[Path], None],
    arguments: list[str],
    words: list[str],
) -> None:
    change(place)
    before = tree(place)
    found = tabprotect(*arguments)
    assert found.code == 2, found
    for word in words:
        assert word in found.err
    assert tree(place) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["solv", "a.jj"],
        ["solve"],
        ["solve", "a.jj", "--time-limit", "soon"],
        ["solve", "a.jj", "--sed", "1"],
        ["protect", "--by"],
    ],
)
def test_misspelt_command_lines(place: Path, tabprotect: Callable[..., Any], arguments: list[str]) -> None:
    found = tabprotect(*arguments)
    assert found.code == 2
    assert "Error" in found.err


def test_what_is_no_certificate_is_rejected(place: Path, tabprotect: Callable[..., Any]) -> None:
    (place / "c.json").write_text(json.dumps({"format": "tabprotect-certificate/1"}))
    found = tabprotect("verify", "c.json")
    assert found.code == 1
    assert "REJECTED" in found.out
