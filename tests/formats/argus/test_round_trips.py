"""Files of ARGUS: what is written reads back the same, on generated contents."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.formats.argus import (
    Change,
    Metadata,
    Recoding,
    Variable,
    read_apriori,
    read_asc,
    read_batch,
    read_codelist,
    read_hierarchy,
    read_rda,
    read_recoding,
    read_tab,
    write_apriori,
    write_asc,
    write_codelist,
    write_hierarchy,
    write_rda,
    write_recoding,
    write_tab,
)
from tabprotect.formats.argus.text import find_file, read_lines
from tabprotect.methods.recoding import RecodingRules
from tabprotect.table.hierarchy import Hierarchy
from tests.quick import examples

LETTERS = "abcXYZ019éßŁ_-."
CODE = st.text(LETTERS, min_size=1, max_size=4)
TEXT = st.text(LETTERS + ' ,;"', min_size=1, max_size=6).map(str.strip).filter(bool)
NUMBER = st.floats(-1e9, 1e9).map(lambda x: round(x, 3) + 0.0)
NAME = st.text("abcXYZ019éß_", min_size=1, max_size=6)

FOLDER = tempfile.TemporaryDirectory(prefix="argus")
"""Of all files of this module; it is removed at the end."""


def place(name: str) -> Path:
    return Path(tempfile.mkdtemp(dir=FOLDER.name)) / name


@st.composite
def variables(draw: st.DrawFn, kind: str, names: list[str]) -> list[Variable]:
    made, start = [], 1
    for name in names:
        width = draw(st.integers(4, 9))
        place = {"fixed": {"start": start, "width": width}, "free": {"width": width}, "table": {}}[kind]
        start += width + draw(st.integers(0, 2))
        variable = Variable(name, **place, missing=tuple(draw(st.lists(CODE, max_size=2))))
        role = draw(st.sampled_from(["code", "number", "plain"]))
        if role == "code":
            variable = replace(
                variable, recodable=True, total=draw(CODE), codelist=draw(st.sampled_from(["", "région 2.cdl"])),
                distance=tuple(draw(st.lists(st.integers(0, 9), max_size=5))),
            )  # fmt: skip
            if draw(st.booleans()):
                variable = replace(variable, hierarchical=True, hierarchy="a b.hrc", leader=draw(st.sampled_from("@#")))
        elif role == "number":
            variable = replace(variable, numeric=True, decimals=draw(st.integers(0, 3)))
            if kind == "table":
                variable = replace(
                    variable, part=draw(st.sampled_from(["", "shadow", "cost", "lpl", "upl", "top", "count"]))
                )
        elif kind != "table":
            variable = replace(
                variable, holding=draw(st.booleans()), truncable=draw(st.booleans()),
                id_level=draw(st.none() | st.integers(0, 4)), priority=draw(st.none() | st.integers(0, 100)),
                household=draw(st.booleans()), house_id=draw(st.booleans()),
                related=tuple(draw(st.lists(NAME, max_size=2))),
                request=tuple(draw(st.lists(CODE, max_size=2))),
            )  # fmt: skip
        else:
            variable = replace(variable, part="status")
        made.append(variable)
    return made


@given(st.data(), st.sampled_from(["fixed", "free", "table"]))
def test_metadata(data: st.DataObject, kind: str) -> None:
    names = data.draw(st.lists(NAME, min_size=1, max_size=5, unique_by=str.casefold))
    separator = "" if kind == "fixed" else data.draw(st.sampled_from([";", ",", "\t", "|"]))
    letters = data.draw(st.sampled_from([("S", "U", "P"), ("ok", "A", "p")])) if kind == "table" else ("S", "U", "P")
    metadata = Metadata(
        kind, tuple(data.draw(variables(kind, names))), separator, kind == "free" and data.draw(st.booleans()), *letters
    )
    path = place("a.rda")
    write_rda(metadata, path)
    assert read_rda(path, table=kind == "table") == metadata


@given(st.data(), st.booleans())
@settings(max_examples=examples(40, 100))
def test_microdata(data: st.DataObject, fixed: bool) -> None:
    names = data.draw(st.lists(NAME, min_size=2, max_size=4, unique_by=str.casefold))
    made = [
        Variable(name, 1 + 14 * i if fixed else 0, 14, numeric=i == 0, recodable=i > 0) for i, name in enumerate(names)
    ]
    first = False if fixed else data.draw(st.booleans())
    metadata = Metadata("fixed" if fixed else "free", tuple(made), "" if fixed else ";", first)
    rows = data.draw(st.integers(1, 6))
    columns = {names[0]: np.array([data.draw(NUMBER) for _ in range(rows)])}
    words = CODE if fixed else TEXT
    columns |= {name: pd.Series([data.draw(words) for _ in range(rows)], dtype=object) for name in names[1:]}
    frame = pd.DataFrame(columns)
    path = place("a.asc")
    write_asc(frame, metadata, path)
    pd.testing.assert_frame_equal(read_asc(path, metadata), frame)


@given(st.data(), st.sampled_from([(";", ","), (";", "."), (",", "."), ("\t", ","), ("|", ".")]))
@settings(max_examples=examples(40, 100))
def test_tables(data: st.DataObject, way: tuple[str, str]) -> None:
    separator, decimal = way
    metadata = Metadata(
        "table",
        (
            Variable("a", recodable=True),
            Variable("b", recodable=True),
            Variable("v", numeric=True),
            Variable("n", numeric=True, part="count"),
            Variable("s", part="status"),
        ),
        separator,
        unsafe="A",
    )
    cells = data.draw(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8, unique=True))
    n = len(cells)
    frame = pd.DataFrame(
        {
            "a": pd.Series([a for a, _ in cells], dtype=object),
            "b": pd.Series([b for _, b in cells], dtype=object),
            "v": [data.draw(NUMBER) for _ in range(n)],
            "n": [float(data.draw(st.integers(0, 999))) for _ in range(n)],
            "s": pd.Series([data.draw(st.sampled_from(["s", "u", "p", "m", "e", ""])) for _ in range(n)], dtype=object),
        }
    )
    path = place("a.tab")
    write_tab(frame, metadata, path, decimal=decimal)
    pd.testing.assert_frame_equal(read_tab(path, metadata), frame)


@given(st.dictionaries(TEXT, TEXT, max_size=6))
def test_code_lists(labels: dict[str, str]) -> None:
    path = place("a.cdl")
    write_codelist(labels, path)
    assert read_codelist(path) == labels


@given(st.data())
def test_hierarchies(data: st.DataObject) -> None:
    codes = data.draw(st.lists(CODE, min_size=1, max_size=12, unique=True))
    codes = [code for code in codes if code != "Total"] or ["a"]
    pairs = [("Total", codes[0])]
    for i, code in enumerate(codes[1:], 1):
        pairs.append((data.draw(st.sampled_from(["Total", *codes[:i]])), code))
    hierarchy = Hierarchy.from_pairs(pairs)
    path = place("a.hrc")
    write_hierarchy(hierarchy, path)
    again = read_hierarchy(path)
    assert set(again.codes) == set(hierarchy.codes)
    assert {(p, frozenset(parts)) for p, parts in again.splits} == {(p, frozenset(s)) for p, s in hierarchy.splits}


@given(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from(["s", "u", "p", "m"]), st.just(())),
            st.tuples(st.just("c"), st.tuples(NUMBER.map(abs))),
            st.tuples(st.just("pl"), st.tuples(NUMBER, NUMBER)),
        ),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from([";", ",", "\t"]),
    st.data(),
)
def test_apriori_files(kinds: list[tuple[str, tuple[float, ...]]], separator: str, data: st.DataObject) -> None:
    changes = tuple(Change((data.draw(TEXT), data.draw(CODE)), what, numbers) for what, numbers in kinds)
    path = place("a.hst")
    write_apriori(changes, path, separator)
    assert read_apriori(path, 2, separator=separator) == (changes, ())


@given(st.data())
def test_recodings(data: st.DataObject) -> None:
    missing = tuple(data.draw(st.lists(CODE, max_size=2)))
    codelist = data.draw(st.sampled_from(["", "a b.cdl"]))
    if data.draw(st.booleans()):
        recoding = Recoding(
            None, tuple(data.draw(st.lists(CODE, min_size=1, max_size=4, unique=True))), missing, codelist
        )
    else:
        codes = st.text("abc019", min_size=1, max_size=3)
        new = data.draw(st.lists(codes, min_size=1, max_size=4, unique=True))
        ranges = st.lists(codes, min_size=1, max_size=3).map(lambda words: tuple((word, word) for word in words))
        recoding = Recoding(RecodingRules(tuple((code, data.draw(ranges)) for code in new)), (), missing, codelist)
    path = place("a.grc")
    write_recoding(recoding, path)
    assert read_recoding(path) == recoding


def test_mistakes_in_metadata_come_together(tmp_path: Path) -> None:
    path = tmp_path / "a.rda"
    path.write_text("Size 1\n<RECODABL>\nSize 3 2\n<DECIMALS> x\n<HIERARCHICAL>\n<NUMERIC> <COSTS>\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_rda(path)
    text = str(error.value)
    assert "line 1: 'Size' is followed by its start and width" in text
    assert "line 2: keyword '<RECODABL>' is not known; did you mean '<RECODABLE>'?" in text
    assert "line 4: <DECIMALS> is followed by a whole number" in text
    assert "line 6: <NUMERIC> may be followed by" in text
    path.write_text("<SEPARATOR> ;\n<SPSS>\nSize 2\n<HIERARCHICAL>\nsize 2\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_rda(path)
    assert [word in str(error.value) for word in ("SPSS", "there already", "neither <HIERCODELIST>")] == [True] * 3


def test_mistakes_in_data_name_the_lines(tmp_path: Path) -> None:
    metadata = Metadata("table", (Variable("a", recodable=True), Variable("v", numeric=True)), ";")
    path = tmp_path / "a.tab"
    path.write_text("T;5\nx;1;2\ny\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2: 3 fields(.|\n)*line 3: 1 field"):
        read_tab(path, metadata)
    path.write_text("T;5\nx;one\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"'one' \(row 2\)"):
        read_tab(path, metadata)
    fixed = Metadata("fixed", (Variable("a", 1, 2, recodable=True), Variable("b", 5, 2, recodable=True)))
    path.write_text("aa  bb\naa\n", encoding="utf-8")
    with pytest.raises(InputError, match="lines 2 end before character 6"):
        read_asc(path, fixed)


def test_batches_are_checked_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.arb"
    path.write_bytes(
        "\r\n".join(
            [
                '<OPENMETADATA> "a.rda"', '<OPENTABLEDATA> "a.tab"', '<SPECIFYTABLE> "a""b"|v', "<SAFETYRUL> P(10,1)",
                "<SAFETYRULE> P(10,1)|FREQ(3)|XY(1)", "<SUPPRESS> MOD(1)", "<READTABLE> 5",
                '<WRITETABLE> (3,1,,"x.csv")',
                '<WRITETABLE> (1,9,,"x.csv")', "<SUPPRESS> CKM(1)", "<JJ> x.jj", "MOD(1)", '<SOLVER> gurobi',
                '<SPECIFYTABLE> "a""b"|"v"||-7', "<RECODE> 1,a,2", '<WRITETABLE> (1,1,ZZ+,"x.csv")',
            ]
        ).encode()
    )  # fmt: skip
    with pytest.raises(InputError) as error:
        read_batch(path)
    text = str(error.value)
    for words in (
        "line 1: <OPENMETADATA> comes before the data",
        "line 3: <SPECIFYTABLE> comes before the metadata",
        "line 4: <SAFETYRUL> is not known; did you mean 'SAFETYRULE'?",
        "line 5: <SAFETYRULE> FREQ has 1 numbers in brackets; write FREQ(least number, range)",
        "line 6: <SUPPRESS> comes before the data are read",
        "line 7: <READTABLE> is followed by 0",
        "line 8: <WRITETABLE> names table 3, and there are 1",
        "line 9: <WRITETABLE> form must be 1 to 6, not '9'",
        "line 10: <SUPPRESS> CKM (cell keys) needs records",
        "line 11: <JJ> is not run from a batch; write tabprotect solve FILE.jj",
        "line 12: 'MOD(1)' is no command",
        "line 13: <SOLVER> is followed by CPLEX, XPRESS or FREE",
        "line 14: <SPECIFYTABLE> cost -7 means nothing",
        "line 15: <RECODE> changes categories of microdata",
        "line 16: <WRITETABLE> option ZZ is not known",
    ):
        assert words in text, words


def test_files_are_found_whatever_their_case_and_slashes(tmp_path: Path) -> None:
    inner = tmp_path / "Sub Dir"
    inner.mkdir()
    (inner / "Données.Tab").write_text("x", encoding="utf-8")
    (tmp_path / "plain.rda").write_text("x", encoding="utf-8")
    assert find_file("sub dir\\données.TAB", tmp_path).path == inner / "Données.Tab"
    assert find_file('"plain.rda"', tmp_path).note == ""
    assert "beside the batch" in find_file("D:\\x\\PLAIN.rda", tmp_path).note
    with pytest.raises(InputError, match=r"did you mean 'plain.rda'"):
        find_file("plan.rda", tmp_path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_texts_in_any_encoding_and_line_end(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Région\r\nété\n\n".encode(encoding))
    assert read_lines(path).lines == ("Région", "été")


def test_quotes_that_do_not_close_and_odd_separators_are_named(tmp_path: Path) -> None:
    metadata = Metadata("table", (Variable("a", recodable=True), Variable("v", numeric=True)), ";")
    path = tmp_path / "a.tab"
    path.write_text('T;5\n"x;' + "1;2\n" * 60_000, encoding="utf-8")
    with pytest.raises(InputError, match="is a quote not closed"):
        read_tab(path, metadata)
    path.write_text("a;b;u\n", encoding="utf-8")
    with pytest.raises(InputError, match="the separator must be one character, not ';;'"):
        read_apriori(path, 2, separator=";;")
