"""The CUTEst form of the CSPLIB tables: what a writer of such programmes puts in comes out again."""

from __future__ import annotations

import gzip
from itertools import pairwise

import numpy as np
import pytest

from tabprotect.errors import InputError
from tabprotect.formats import read_instance
from tabprotect.formats.jj import JJ
from tabprotect.formats.sif import parse_sif, read_sif
from tabprotect.problem import Problem, Status

GOOD = """NAME          SMALL
*   a comment
ROWS
 E  R1
 N  R2
COLUMNS
    C1        R1        1   R2  0
    C2        R1        1
    C3        R1        1
    C4        R1        -1
RHS
BOUNDS
 LO BOUND     C1        2
 UP BOUND     C1        90
 LO BOUND     C2        -6
 UP BOUND     C2        94
 UP BOUND     C3        0
 LO BOUND     C4        -16
QMATRIX
    C1        C1        2.000000e-01
    C2        C2        3.333333e-01
    C3        C3        2.000000e+00
    C4        C4        1.250000e-01
ENDATA
"""


def adjustment_programme(table):
    """Write the programme that CUTEst holds of a table: Castro's names and digits."""
    A, n = table.system.A, len(table.values)
    columns = A.tocsc()
    lines = ["NAME          TEST", "ROWS", *(f" E  R{i + 1:04d}" for i in range(A.shape[0])), " N  COST", "COLUMNS"]
    for j, (start, stop) in enumerate(pairwise(columns.indptr)):
        for i, v in zip(columns.indices[start:stop], columns.data[start:stop], strict=True):
            lines.append(f"    C{j + 1:04d}     R{i + 1:04d}     {v:g}")
    lines += ["RHS", "BOUNDS"]
    for j in range(n):
        value, primary = table.values[j], table.status[j] == Status.PRIMARY
        low = table.upl[j] if primary else table.lower[j] - value
        if low:
            lines.append(f" LO BOUND     C{j + 1:04d}     {low:.17g}")
        if np.isfinite(table.upper[j]):
            lines.append(f" UP BOUND     C{j + 1:04d}     {table.upper[j] - value:.17g}")
    lines.append("QMATRIX")
    lines += [f"    C{j + 1:04d}     C{j + 1:04d}     {2 / max(v, 1.0):.6e}" for j, v in enumerate(table.values)]
    return "\n".join([*lines, "ENDATA"]) + "\n"


def same(one, two):
    assert abs(one.system.A - two.system.A).max() == 0
    for name in ("values", "status", "weights", "lower", "upper", "lpl", "upl", "spl"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name


def test_every_section_is_understood():
    table = parse_sif(GOOD)
    assert table.values.tolist() == [10, 6, 0, 16]
    assert table.status.tolist() == [Status.PRIMARY, Status.SAFE, Status.ZERO, Status.SAFE]
    assert table.lower.tolist() == [0, 0, 0, 0]
    assert table.upper.tolist() == [100, 100, 0, np.inf]
    assert (table.upl.tolist(), table.lpl.tolist()) == ([2, 0, 0, 0], [2, 0, 0, 0])
    assert table.weights.tolist() == [10, 6, 1, 16]


def test_a_fixed_cell_is_0_or_1_as_the_sums_have_it():
    table = parse_sif(GOOD.replace("1.250000e-01", f"{2 / 17:.6e}").replace("-16", "-17"))
    assert table.values.tolist() == [10, 6, 1, 17]


def test_values_that_are_no_whole_numbers_stay_as_written():
    table = parse_sif(GOOD.replace("3.333333e-01", f"{2 / 6.25:.6e}"))
    assert table.values[1] == pytest.approx(6.25, rel=1e-6)


def test_files_are_read_by_their_ending(tmp_path):
    (tmp_path / "SMALL.SIF").write_text(GOOD)
    with gzip.open(tmp_path / "SMALL.SIF.gz", "wt") as stream:
        stream.write(GOOD)
    assert read_instance(tmp_path / "SMALL.SIF").n_cells == 4
    same(read_sif(tmp_path / "SMALL.SIF.gz"), parse_sif(GOOD))


@pytest.mark.parametrize("seed", range(5))
def test_a_written_table_comes_back(seed):
    rng = np.random.default_rng(seed)
    inner = rng.integers(0, 5000, (6, 5))
    full = np.block([[inner, inner.sum(1, keepdims=True)], [inner.sum(0), np.array([[inner.sum()]])]])
    index = np.arange(full.size).reshape(full.shape)
    A = np.zeros((sum(full.shape), full.size))
    for k, row in enumerate(index):
        A[k, row[:-1]], A[k, row[-1]] = 1, -1
    for k, column in enumerate(index.T):
        A[len(full) + k, column[:-1]], A[len(full) + k, column[-1]] = 1, -1
    values = full.ravel().astype(float)
    zero = np.flatnonzero(values == 0)
    primary = rng.choice(np.flatnonzero(values > 10), 4, replace=False)
    level = np.where(np.isin(np.arange(full.size), primary), np.ceil(values / 10), 0.0)
    upper = np.where(values == 0, 0.0, 1e6)
    same(
        parse_sif(
            adjustment_programme(
                p := Problem.from_arrays(A, values, primary, lpl=level, upl=level, upper=upper, zero=zero)
            )
        ),
        p,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hie1372d", "cbs", "two5in6"])
def test_real_tables_come_back(shared, name):
    table = JJ.read(shared(f"instances/csplib/{name}.jj"))
    same(parse_sif(adjustment_programme(table)), table)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("ENDATA", "", "no line ENDATA; is the file cut off?"),
        ("RHS\n", "RSH\n", "line 11: unknown section 'RSH'"),
        ("C2        R1 ", "C2        R9 ", "line 8: unknown row 'R9'"),
        ("C1        90", "C9        90", "line 14: unknown column 'C9'"),
        ("C1        90", "C1        9O", "line 14: '9O' should be a number"),
        (
            " UP BOUND     C3        0",
            " BV BOUND     C3",
            "line 17: 'BV BOUND C3' does not belong into the section BOUNDS",
        ),
        ("C1        C1 ", "C1        C2 ", "line 20: the objective joins two cells"),
        ("    C3        C3        2.000000e+00\n", "", "no weight > 0 in QMATRIX for 1 column (C3)"),
        ("RHS\n", "RHS\n    RHS  R1  5\n", "equations with a right-hand side"),
        (GOOD[GOOD.index("QMATRIX") : GOOD.index("ENDATA")], "", "no quadratic objective (QMATRIX)"),
        (" E  R1\n", " L  R1\n", "line 4: 'L R1' does not belong into the section ROWS"),
    ],
)
def test_what_is_no_such_programme_is_refused_by_line(old, new, words):
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        parse_sif(GOOD.replace(old, new, 1), "x.SIF")
    assert words in str(caught.value)
    assert "x.SIF" in str(caught.value)
