"""Hierarchies: every form they come in, their equations, and one error that lists everything that is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.hierarchy.given import hierarchy_of
from tests.quick import examples


@st.composite
def trees(draw: st.DrawFn) -> Hierarchy:
    """A random tree of at most 25 codes."""
    n = draw(st.integers(1, 24))
    parents = [draw(st.integers(0, i)) for i in range(n)]
    return Hierarchy.from_pairs([(f"c{parent}", f"c{i + 1}") for i, parent in enumerate(parents)])


def as_hrc(h: Hierarchy, leader: str) -> str:
    lines = [leader * int(level) + code for code, level in zip(h.codes, h.levels, strict=True)]
    return "\n".join(lines)


@given(trees(), st.sampled_from(["@", "  ", "\t", "->"]))
@settings(max_examples=examples(40, 100))
def test_indented_text_round_trip(h: Hierarchy, leader: str) -> None:
    again = Hierarchy.from_hrc(as_hrc(h, leader), leader)
    assert again.codes == h.codes
    assert dict(again.splits) == dict(h.splits)


@given(trees())
@settings(max_examples=examples(40, 100))
def test_pairs_in_any_order_give_the_same_equations(h: Hierarchy) -> None:
    frame = h.frame
    pairs = frame[frame.parent != ""].sample(frac=1, random_state=len(frame))
    again = Hierarchy.from_pairs(pairs, parent="parent", child="code")
    assert set(again.codes) == set(h.codes)
    assert {p: frozenset(c) for p, c in again.splits} == {p: frozenset(c) for p, c in h.splits}


@given(trees(), st.integers(0, 2**32 - 1))
def test_values_of_leaves_satisfy_the_equations(h: Hierarchy, seed: int) -> None:
    """Members and equations are two statements of one structure."""
    values = h.members @ np.random.default_rng(seed).integers(-50, 50, len(h.leaves))
    assert not (h.equations @ values).any()
    # as many independent equations as there are cells above the leaves, so nothing is left free
    rank = np.linalg.matrix_rank(h.equations.toarray()) if h.equations.shape[0] else 0
    assert rank == len(h.distinct) - len(h.leaves)


@given(trees())
@settings(max_examples=examples(40, 100))
def test_order_levels_and_aliases(h: Hierarchy) -> None:
    position = {code: i for i, code in enumerate(h.codes)}
    for parent, parts in h.splits:
        assert all(position[parent] < position[part] for part in parts)
        assert all(h.levels[position[part]] == h.levels[position[parent]] + 1 for part in parts)
        if len(parts) == 1:
            assert h.canonical[position[parts[0]]] == h.canonical[position[parent]]
    sets = [frozenset(h.members[[i]].indices) for i in range(len(h.codes))]
    for code, cell in h.aliases.items():
        assert sets[position[code]] == sets[position[cell]]
    assert len({sets[i] for i in h.distinct}) == len(h.distinct) == len(set(sets))


@given(trees())
@settings(max_examples=examples(40, 100))
def test_layers_hold_every_cell_once_and_do_not_overlap(h: Hierarchy) -> None:
    found = []
    for layer in h.layers:
        for code in np.unique(layer[layer >= 0]):
            assert np.array_equal(np.flatnonzero(layer == code), np.sort(h.members[[code]].indices))
            found.append(int(code))
    assert sorted(found) == h.distinct.tolist()


def test_a_chain_of_only_children_is_one_cell() -> None:
    h = Hierarchy.from_hrc("T\n@A\n@@A1\n@@@A11\n@B\n@@B1\n@@B2")
    assert h.aliases == {"A1": "A", "A11": "A"}
    assert h.equations.shape == (2, 7)
    assert h.frame.cell.tolist() == ["T", "A", "A", "A", "B", "B1", "B2"]
    assert Hierarchy.from_hrc("T\n@A\n@@A1").equations.shape[0] == 0


def test_total_of_indented_text() -> None:
    assert Hierarchy.from_hrc("A\n@1\n@2").total == "A"
    assert Hierarchy.from_hrc("A\n@1\n@2", total="Total").codes == ("Total", "A", "1", "2")
    assert Hierarchy.from_hrc("A\n@1\n@2", total="A").codes == ("A", "1", "2")
    assert Hierarchy.from_hrc("A\nB", total="EU").codes == ("EU", "A", "B")
    assert Hierarchy.from_hrc("EU\nA\nB", total="EU").codes == ("EU", "A", "B")


def test_blanks_belong_to_the_form_but_leading_zeros_to_the_code() -> None:
    assert Hierarchy.from_hrc("Nr \n@ 1\n@01\n\n").codes == ("Nr", "1", "01")


def test_columns_of_every_library() -> None:
    columns = {
        "section": ["A", "A", "B", "B"],
        "division": ["01", "02", "05", None],
        "group": ["011", None, "051", None],
    }
    expected = ("Total", "A", "01", "011", "02", "B", "05", "051")
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pl.LazyFrame(columns), pa.table(columns)):
        assert Hierarchy.from_columns(frame, ["section", "division", "group"]).codes == expected


def test_a_code_repeated_in_the_next_column_is_one_code() -> None:
    frame = pd.DataFrame({"a": ["X", "Y"], "b": ["X", "Y1"], "c": ["X", "Y1"]})
    assert Hierarchy.from_columns(frame, ["a", "b", "c"]).codes == ("Total", "X", "Y", "Y1")


def test_numeric_codes_are_sorted_as_numbers() -> None:
    frame = pd.DataFrame({"k": [300, 300, 1000], "r": [9, 10, 2]})
    assert Hierarchy.from_columns(frame, ["k", "r"]).codes == ("Total", "300", "9", "10", "1000", "2")


def test_prefixes() -> None:
    assert Hierarchy.from_prefixes(["011", "012", "021"], [2]).codes == ("Total", "01", "011", "012", "02", "021")
    assert Hierarchy.from_prefixes(["01.1", "01.2", "02"], separator=".").codes == ("Total", "01", "01.1", "01.2", "02")
    # a group among the codes is the group
    assert Hierarchy.from_prefixes(["01", "011"], [2]).codes == ("Total", "01", "011")


@pytest.mark.parametrize("codes", [["FR101", "FR102", "FR211"], ["FR", "FR10", "FR101", "FR102", "FR21", "FR211"]])
def test_digits_of_every_level_are_lengths_added_up(codes: list[str]) -> None:
    wanted = ("Total", "FR", "FR10", "FR101", "FR102", "FR21", "FR211")
    assert Hierarchy.from_prefixes(codes, digits=[2, 2, 1]).codes == wanted
    assert Hierarchy.from_prefixes(codes, [2, 4]).codes == Hierarchy.from_prefixes(codes, [2, 4, 5]).codes == wanted


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"lengths": [2, 2, 1]}, r"lengths=\[2, 2, 1\] must grow.*pass digits=\[2, 2, 1\]"),
        ({"lengths": [4, 2]}, "must grow"),
        ({"lengths": [2, 6]}, "end at 6 characters but the longest code has 5"),
        ({"lengths": [2, 5]}, r"codes end between two levels, lengths=\[2, 5\] allow 2, 5 characters: FR21"),
        ({"lengths": [0, 2]}, "must be positive"),
        ({"lengths": [2.5]}, "whole numbers"),
        ({"digits": [2, 2]}, "add up to 4 characters but the longest code has 5"),
        ({"digits": [2, 2, 2]}, "add up to 6 characters but the longest code has 5"),
        ({"digits": [2, 3]}, "codes end between two levels"),
        ({"digits": [2, 3], "lengths": [2]}, "give either"),
    ],
)
def test_lengths_that_do_not_fit_the_codes_are_refused(given: dict[str, list[int]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Hierarchy.from_prefixes(["FR101", "FR102", "FR21"], **given)


def test_groupings_that_are_not_nested() -> None:
    county = Hierarchy.from_columns(pd.DataFrame({"c": [1, 4, 5, 5], "r": list("ABCD")}), ["c", "r"])
    group = Hierarchy.from_columns(pd.DataFrame({"k": [300, 300, 300, 400], "r": list("ABCD")}), ["k", "r"])
    both = Hierarchy.merge(county, group)
    # county 1 is A alone, county 4 is B alone, group 400 is D alone
    assert both.aliases == {"A": "1", "B": "4", "D": "400"}
    assert both.equations.shape[0] == 4
    values = both.members @ np.array([1.0, 10, 100, 1000])
    assert not (both.equations @ values).any()
    assert dict(zip(both.codes, values, strict=True))["300"] == 111
    # equal groups under two names are one cell
    twice = Hierarchy.merge(
        county, Hierarchy.from_pairs([("Total", "x"), ("Total", "A"), ("Total", "B"), ("x", "C"), ("x", "D")])
    )
    assert twice.aliases["x"] == "5"


def test_merge_of_a_deeper_grouping() -> None:
    deep = Hierarchy.from_prefixes(["a1", "a2", "b1", "b2"], [1])
    other = Hierarchy.from_pairs([("Total", "g"), ("Total", "h"), ("g", "a1"), ("g", "b1"), ("h", "a2"), ("h", "b2")])
    both = Hierarchy.merge(deep, other)
    assert sorted(both.leaves) == ["a1", "a2", "b1", "b2"]
    assert [len(layer) for layer in both.layers] == [4] * len(both.layers)
    assert both.equations.shape[0] == 6


def test_under_and_further_leaves() -> None:
    h = Hierarchy.from_prefixes(["a1", "a2", "b1"], [1])
    assert h.under("a").codes == ("a", "a1", "a2")
    assert h.with_leaves(["a1"]) is h
    assert h.with_leaves(["unknown"]).codes[-1] == "unknown"
    with pytest.raises(InputError, match="did you mean 'a1'"):
        h.under("a11")


BAD = {
    "cycle": (lambda: Hierarchy.from_pairs([("T", "a"), ("a", "b"), ("b", "c"), ("c", "a")]), ["has 2 parents"]),
    "only a cycle": (lambda: Hierarchy.from_pairs([("a", "b"), ("b", "a")]), ["a cycle: a > b > a"]),
    "cycle beside": (
        lambda: Hierarchy.from_pairs([("T", "x"), ("a", "b"), ("b", "a")]),
        ["a cycle: a > b > a", "orphans that hang on no total: 'a', 'b'"],
    ),
    "itself": (lambda: Hierarchy((("T", ("a",)), ("a", ("a",)))), ["a cycle: a > a"]),
    "roots": (lambda: Hierarchy.from_pairs([("T", "a"), ("U", "b")]), ["2 codes have no parent: 'T', 'U'"]),
    "orphans": (lambda: Hierarchy.from_pairs([("T", "a"), ("U", "b")], total="T"), ["2 codes have no parent"]),
    "two parents": (
        lambda: Hierarchy.from_pairs([("T", "a"), ("T", "b"), ("a", "x"), ("b", "x")]),
        ["'x' has 2 parents: 'a' and 'b'", "Hierarchy.merge"],
    ),
    "pair twice": (lambda: Hierarchy.from_pairs([("T", "a"), ("T", "a")]), ["more than once: T > a"]),
    "empty text": (lambda: Hierarchy.from_hrc("\n  \n"), ["is empty"]),
    "empty pairs": (lambda: Hierarchy.from_pairs([]), ["is empty"]),
    "empty list": (lambda: Hierarchy.flat([]), ["is empty"]),
    "empty columns": (lambda: Hierarchy.from_columns(pd.DataFrame({"a": [None]}), ["a"]), ["no codes in 'a'"]),
    "lines": (
        lambda: Hierarchy.from_hrc("A\n@@1\n@2\nA\n@"),
        ["line 2: '1' is 2 levels deep", "line 4: code 'A' is on line 1 already", "line 5 holds leaders but no code"],
    ),
    "list": (
        lambda: Hierarchy.flat(["a", "a", None, "Total", " "]),
        ["code 3 is missing", "code 4 is that of the total", "code 5 is an empty text", "more than once: 'a'"],
    ),
    "text for list": (lambda: Hierarchy.flat("abc"), ["must be a list"]),
    "leader": (lambda: Hierarchy.from_hrc("A", leader=""), ["the leader is empty"]),
    "tab and blanks": (
        lambda: Hierarchy.from_hrc("A\n\t1\n  2\n \t3"),
        [
            "line 3: '2' is indented by a blank, and line 2 by a tab; indent all lines in the same way",
            "line 4: '3' is indented by a blank and a tab",
        ],
    ),
    "@ and a tab": (lambda: Hierarchy.from_hrc("A\n@1\n\t2"), ["line 3: '2' is indented by a tab, and line 2 by '@'"]),
    "uneven blanks": (
        lambda: Hierarchy.from_hrc("A\n  1\n   2"),
        ["line 3: '2' is indented by 3 blanks, and one level is 2; indent every level by as many"],
    ),
    "no-break space": (lambda: Hierarchy.from_hrc("A\n\u00a01\n 2"), ["line 3: '2' is indented by a blank"]),
    "blanks beside a leader": (
        lambda: Hierarchy.from_hrc("A\n@1\n  2", leader="@"),
        ["line 3: a blank before '2', where '@' is one level"],
    ),
    "blanks beside blanks": (
        lambda: Hierarchy.from_hrc("A\n  1\n   2", leader="  "),
        ["line 3: a blank before '2', where 2 blanks is one level"],
    ),
    "first line": (lambda: Hierarchy.from_hrc("@A\nB"), ["line 1: 'A' is 1 level deep but there is none above it"]),
    "nested codes": (
        lambda: Hierarchy.from_columns(pd.DataFrame({"a": ["1", "2", "3"], "b": ["x", "x", "1"]}), ["a", "b"]),
        ["'x' in column 'b' has two parents: '1' (row 1) and '2' (row 2)", "'1' in column 'b' has two parents"],
    ),
    "gap": (
        lambda: Hierarchy.from_columns(pd.DataFrame({"a": ["1", None], "b": ["x", "y"]}), ["a", "b"]),
        ["row 2: 'y' in column 'b' has no code in the column before it"],
    ),
    "no such column": (
        lambda: Hierarchy.from_columns(pd.DataFrame({"section": ["1"]}), ["sction"]),
        ["no column 'sction'; did you mean 'section'?"],
    ),
    "fraction": (lambda: Hierarchy.from_columns(pd.DataFrame({"a": [0.5]}), ["a"]), ["the fraction 0.5"]),
    "no lengths": (lambda: Hierarchy.from_prefixes(["a"]), ["either lengths"]),
    "empty part": (lambda: Hierarchy.from_prefixes(["1..2"], separator="."), ["an empty part"]),
    "counted twice": (
        lambda: Hierarchy((("T", ("P", "Q")), ("P", ("a", "b")), ("Q", ("b", "c")))),
        ["'b' is counted twice in 'T', through 'P' and 'Q'"],
    ),
    "different leaves": (
        lambda: Hierarchy.merge(Hierarchy.flat(["a", "b"]), Hierarchy.flat(["a", "c"])),
        ["'Total' is split in two ways that do not cover the same leaves: 'b', 'c'"],
    ),
    "part twice": (lambda: Hierarchy((("T", ("a", "a", "b")),)), ["'T' names 'a' more than once"]),
    "nothing to merge": (lambda: Hierarchy.merge(), ["nothing to merge"]),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_named(case: str) -> None:
    build, words = BAD[case]
    with pytest.raises(InputError) as caught:
        build()
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("leader", ["@", "\t", " ", "   "])
def test_indentation_is_recognised(leader: str) -> None:
    """A list that is indented by tabs or blanks is no flat one; blanks before all lines say nothing."""
    lines = "North\n>1\n>>11\n>2\n\nSouth\n>3\n".splitlines()
    tree = Hierarchy.from_hrc("\n".join(lines).replace(">", "@"), "@")
    assert tree.levels.tolist() == [0, 1, 2, 3, 2, 1, 2]
    for margin in ("", "  "):
        text = "".join(f"{margin}{line}\n" if line else "\n" for line in lines).replace(">", leader)
        assert Hierarchy.from_hrc(text) == tree, margin


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "region.hrc"
    path.write_bytes(b"\xef\xbb\xbfNr\r\n@ 1\r\n@ 2\r\nZ\xc3\xbc\r\n")
    assert Hierarchy.read(path).codes == ("Total", "Nr", "1", "2", "Zü")
    path.write_bytes(b"Z\xfc\n@1\n@2")
    assert Hierarchy.read(path).total == "Zü"
    assert Hierarchy.read(path, encoding="cp1252").total == "Zü"
    with pytest.raises(InputError, match="cannot be read"):
        Hierarchy.read(tmp_path / "none.hrc")
    path.write_text("A\n@@B")
    with pytest.raises(InputError, match=r"region\.hrc: line 2"):
        Hierarchy.read(path)


LISTS = {
    "indented": "A\n@01\n@02\nB\n@03\n",
    "pairs": "parent;child\n;A\nA;01\nA;02\n;B\nB;03\n",
    "parents": "Code;Label;Parent\nA;Crops;\n01;x;A\n02;y;A\nB;Mining;\n03;z;B\n",
    "levels": "Level;Code;Label\n1;A;Crops\n2;01;x\n2;02;y\n1;B;Mining\n2;03;z\n",
    "codes": "code;label\nA;Crops\nB;Mining\n",
    "alone": "code\nA\nB\n",
}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("form", LISTS)
def test_files_are_read_by_what_is_in_them(tmp_path: Path, form: str, separator: str) -> None:
    """Whatever their names say."""
    flat = form in ("codes", "alone")
    for name in ("a.hrc", "b.csv", "c.txt"):
        (tmp_path / name).write_text(LISTS[form].replace(";", separator))
        found = Hierarchy.read(tmp_path / name)
        assert found.codes == (("Total", "A", "B") if flat else ("Total", "A", "01", "02", "B", "03"))
        assert found.labels.get("A") == (None if form in ("indented", "pairs", "alone") else "Crops")
        # paths are read in the same way wherever they are given
        assert hierarchy_of("nace", str(tmp_path / name)) == found


def test_files_of_other_kinds(tmp_path: Path) -> None:
    frame = pd.DataFrame({"code": ["A", "B"], "label": ["Crops", "Mining"]})
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    for name in ("a.xlsx", "a.parquet"):
        found = Hierarchy.read(tmp_path / name, total="T")
        assert found.codes == ("T", "A", "B")
        assert found.labels["B"] == "Mining"


def test_headings_that_nobody_knows(tmp_path: Path) -> None:
    """Once read as codes with signs in them; a list of such codes can be told apart by its leader."""
    path = tmp_path / "kode.csv"
    path.write_text("Kode;Bezeichnung;Ober\nA;Crops;\n01;x;A\n")
    with pytest.raises(
        InputError, match=r"kode\.csv: the first line, 'Kode;.*', names no column .*; call it code \(or id"
    ):
        Hierarchy.read(path)
    pd.DataFrame({"Kode": ["A"], "Ober": ["B"]}).to_excel(tmp_path / "kode.xlsx", index=False)
    with pytest.raises(InputError, match=r"no column of codes is known among 'Kode', 'Ober'; call it code"):
        Hierarchy.read(tmp_path / "kode.xlsx")
    path.write_text("Stein, grob\nStein, fein\n")
    with pytest.raises(InputError, match="say leader='@'"):
        Hierarchy.read(path)
    assert Hierarchy.read(path, leader="@").codes == ("Total", "Stein, grob", "Stein, fein")
    path.write_text("child\nadult\n")
    assert Hierarchy.read(path).codes == ("Total", "child", "adult")
    path.write_text("code\n@a\n@b\n")
    assert Hierarchy.read(path).total == "code"
    with pytest.raises(InputError, match=r"did you mean 'kode\.csv'"):
        Hierarchy.read(tmp_path / "kod.csv")


@settings(max_examples=30)
@given(trees(), st.randoms(use_true_random=False))
def test_random_damage_is_found(h: Hierarchy, random: object) -> None:
    """A second parent for any code is refused, whichever it is."""
    inner = list(h.codes[1:])
    code = random.choice(inner)  # type: ignore[attr-defined]
    above = random.choice([c for c in h.codes if c != h.codes[h.parents[h.position[code]]]] or ["other"])  # type: ignore[attr-defined]
    pairs = [(parent, part) for parent, parts in h.splits for part in parts] + [(above, code)]
    with pytest.raises(InputError):
        Hierarchy.from_pairs(pairs)


def test_ten_thousand_codes() -> None:
    h = Hierarchy.from_prefixes([f"{i:05d}" for i in range(0, 90_000, 9)], [1, 2, 3, 4])
    assert len(h.codes) == 1 + 9 + 90 + 900 + 9_000 + 10_000
    # every code but the total is a part once, every parent stands once; only children are left out
    assert h.equations.nnz == len(h.distinct) - 1 + h.equations.shape[0]
    assert len(h.aliases) == 8_000
    assert len(h.layers) == 6
