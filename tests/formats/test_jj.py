from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.formats import instance_suffixes, read_instance
from tabprotect.formats.jj import JJ, read_jj, write_jj
from tabprotect.problem import Attacker, Problem, Status

GOOD = """0
5
0 20 20 s 0 100 0 0 0
1 12 12 u 0 100 2 3 4
2 8 8.5 m 0 inf 0 0 0
3 0 1 z 0 0 0 0 0
4 1.25 1 p 0 100 0 0 0
2
0 3 : 0 (-1) 1 (1) 2 (1)
1.25 2 : 3 (1.0) 4 (+1)
"""


def test_every_number_of_a_file_lands_where_it_belongs() -> None:
    problem = JJ.parse(GOOD).problem()
    assert problem.system.cells.tolist() == [0, 1, 2, 3, 4]
    assert problem.values.tolist() == [20, 12, 8, 0, 1.25]
    assert problem.weights.tolist() == [20, 12, 8.5, 1, 1]
    assert problem.status.tolist() == [Status.SAFE, Status.PRIMARY, Status.FORCED, Status.ZERO, Status.PROTECTED]
    assert problem.upper.tolist() == [100, 100, np.inf, 0, 100]
    assert (problem.lpl[1], problem.upl[1], problem.spl[1]) == (2, 3, 4)
    assert problem.system.A.toarray().tolist() == [[-1, 1, 1, 0, 0], [0, 0, 0, 1, 1]]
    assert problem.system.b.tolist() == [0, 1.25]


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("0\n5\n", "1\n5\n", 1, "starts with a line '0'"),
        ("0\n5\n", "0\nfive\n", 2, "number of cells, not 'five'"),
        ("0\n5\n", "0\n500\n", 11, "500 cells were announced"),
        ("0 20 20 s 0 100 0 0 0", "0 20 20 s 0 100 0 0", 3, "9 words"),
        ("1 12 12 u", "1 12 12 x", 4, "unknown status 'x'"),
        ("2 8 8.5 m", "2 8 8,5 m", 5, "write decimals with a point"),
        ("2 8 8.5 m", "2 nan 8.5 m", 5, "cell 2: value should be a finite number"),
        ("4 1.25 1 p 0 100", "4 1.25 1 p nan 100", 7, "cell 4: lb should be a finite number"),
        ("4 1.25 1 p", "1 1.25 1 p", 7, "cell 1 is there already, in line 4"),
        ("0\n2\n", "0\n-2\n", 8, "number of equations"),
        ("0 3 : 0 (-1)", "0 3 0 (-1)", 9, "an equation is"),
        ("0 3 : 0 (-1)", "0 4 : 0 (-1)", 9, "4 terms announced, 3 found"),
        ("1 (1) 2 (1)", "1 (1) 7 (1)", 9, "unknown cell 7"),
        ("1 (1) 2 (1)", "1 (1) 1 (1)", 9, "the same cell twice"),
        ("1 (1) 2 (1)", "1 (1) 2 (one)", 9, "coefficient should be a number"),
        ("1.25 2 : 3", "inf 2 : 3", 10, "right-hand side should be a finite number"),
        ("4 (+1)\n", "4 (+1)\n0 1 : 3 (1)\n", 11, "more equations than announced"),
    ],
)
def test_what_cannot_be_read_is_named_by_line(old: str, new: str, line: int, words: str) -> None:
    assert GOOD.count(old) >= 1
    with pytest.raises(InputError, match=f"^x.jj, line {line}: .*") as caught:
        JJ.parse(GOOD.replace(old, new, 1), "x.jj")
    assert words in str(caught.value)


def test_all_bad_lines_are_reported_at_once() -> None:
    text = GOOD.replace(" u ", " q ").replace("8.5", "eight").replace("4 1.25", "0 1.25")
    with pytest.raises(InputError) as caught:
        JJ.parse(text, "x.jj")
    assert [p.split(":")[0] for p in caught.value.problems] == ["x.jj, line 4", "x.jj, line 5", "x.jj, line 7"]


def test_a_flood_of_bad_lines_is_cut_short() -> None:
    cells = "\n".join(f"{i} a 1 s 0 1 0 0 0" for i in range(500))
    with pytest.raises(InputError, match="and 480 more problems") as caught:
        JJ.parse(f"0\n500\n{cells}\n0\n", "x.jj")
    assert len(caught.value.problems) == 21


def test_a_file_cut_off_is_refused_at_every_line() -> None:
    lines = GOOD.splitlines()
    for kept in range(len(lines)):
        with pytest.raises(InputError):
            JJ.parse("\n".join(lines[:kept]))


def test_a_table_that_does_not_add_up_is_refused_unless_read_as_written() -> None:
    text = GOOD.replace("1 12 12 u 0 100", "1 12.5 12 u 13 100")
    with pytest.raises(InputError) as caught:
        JJ.parse(text).problem()
    assert "0 = 1 + 2 is off by 0.5" in caught.value.problems[0]
    assert "lower external bound above the value in: 1" in caught.value.problems[1]
    assert JJ.parse(text).lower[1] == 13


def test_reading_and_writing_are_inverse(tmp_path: Path) -> None:
    path = tmp_path / "good.jj"
    write_jj(JJ.parse(GOOD).problem(), path)
    first = path.read_bytes()
    write_jj(read_jj(path), path)
    assert path.read_bytes() == first
    assert "2 8 8.5 m 0 inf 0 0 0" in path.read_text()


numbers = st.floats(0, 1e9, allow_nan=False, width=64)


@given(st.lists(st.tuples(numbers, numbers, st.sampled_from("sumpz")), min_size=1, max_size=6), st.booleans())
def test_any_problem_survives_a_round_trip(cells: list[tuple[float, float, str]], words: bool) -> None:
    values = np.array([c[0] for c in cells])
    n = len(cells)
    problem = Problem.from_arrays(
        np.vstack([np.append(np.ones(n), -1.0)]),
        np.append(values, values.sum()),
        [i for i, c in enumerate(cells) if c[2] == "u"],
        lpl=np.append([c[1] for c in cells], 0),
        upl=1 / 3,
        weights=np.append([c[1] for c in cells], 0.1),
        forced=[i for i, c in enumerate(cells) if c[2] == "m"],
        protected=[i for i, c in enumerate(cells) if c[2] == "p"],
        zero=[i for i, c in enumerate(cells) if c[2] == "z"],
        cells=[f"c{i}" for i in range(n + 1)] if words else None,
    )
    # hypothesis runs many examples in one test: the text in memory instead of a fresh folder each
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        write_jj(problem, Path(folder) / "p.jj.gz")
        again = read_jj(Path(folder) / "p.jj.gz")
    for name in ("values", "status", "lpl", "upl", "spl", "weights", "lower", "upper"):
        np.testing.assert_array_equal(getattr(again, name), getattr(problem, name), err_msg=name)
    assert again.system.cells.tolist() == problem.system.cells.tolist()
    assert (again.system.A != problem.system.A).nnz == 0


def test_cells_of_a_table_are_numbered(tmp_path: Path) -> None:
    cells = pd.MultiIndex.from_tuples([("A", "x y"), ("B", "z")])
    problem = Problem.from_arrays([[1, -1]], [1, 1], [0], lpl=1, upl=1)
    problem = replace(problem, system=replace(problem.system, cells=cells))
    write_jj(problem, tmp_path / "t.jj")
    assert read_jj(tmp_path / "t.jj").system.cells.tolist() == [0, 1]


def test_attackers_are_never_dropped_in_silence(tmp_path: Path) -> None:
    problem = replace(JJ.parse(GOOD).problem(), attackers=(Attacker("one", (2,)),))
    with pytest.raises(InputError, match="cannot hold the 1 attackers"):
        write_jj(problem, tmp_path / "t.jj")
    assert not list(tmp_path.iterdir())


def test_unreadable_files_say_why(tmp_path: Path) -> None:
    (tmp_path / "table8.jj").write_text(GOOD)
    (tmp_path / "binary.jj").write_bytes(b"\x80\x81\xff")
    (tmp_path / "nul.jj").write_bytes(b"0\n\x00\x00")
    (tmp_path / "broken.jj.gz").write_bytes(gzip.compress(GOOD.encode())[:-9])
    (tmp_path / "plain.jj.gz").write_text(GOOD)
    (tmp_path / "table8.csv").write_text(GOOD)
    for name, words in {
        "tabel8.jj": "did you mean 'table8.jj'?",
        "no/such.jj": "folder",
        "binary.jj": "line 1: not UTF-8 text",
        "nul.jj": "binary file",
        "broken.jj.gz": "not a whole gzip file",
        "plain.jj.gz": "not a whole gzip file",
        ".": "end in .jj",
        "table8.csv": "end in .jj",
    }.items():
        with pytest.raises(InputError, match=words.replace("?", r"\?").replace(".", r"\.")):
            read_instance(tmp_path / name)


def test_the_ending_decides_and_gz_may_follow(tmp_path: Path) -> None:
    assert ".jj" in instance_suffixes()
    (tmp_path / "a.JJ").write_text("\ufeff" + GOOD)
    (tmp_path / "a.jj.gz").write_bytes(gzip.compress(GOOD.encode()))
    assert read_instance(tmp_path / "a.JJ").values.tolist() == read_instance(tmp_path / "a.jj.gz").values.tolist()


@pytest.mark.parametrize(
    ("name", "cells", "primaries", "fixed", "equations"),
    [("table8", 1271, 3, 2, 72), ("cbs", 11163, 2467, 8288, 244), ("hier13", 2020, 112, 0, 3313)],
)
def test_published_instances(shared, name: str, cells: int, primaries: int, fixed: int, equations: int) -> None:
    problem = read_instance(shared(f"instances/csplib/{name}.jj"))
    assert (problem.n_cells, len(problem.primaries), problem.system.n_equations) == (cells, primaries, equations)
    assert np.count_nonzero(problem.status == Status.ZERO) == fixed


def test_tables_for_adjustment_only_are_read_as_written(shared) -> None:
    path = shared("instances/csplib/targus.jj")
    with pytest.raises(InputError, match="equations do not add up"):
        read_jj(path)
    raw = JJ.read(path)
    assert np.count_nonzero(raw.lower > raw.values) == 13
    assert raw.system.n_equations == 63
