"""The intruder finds what is put before him, and nothing where there is nothing; he shares no code with the package."""

from __future__ import annotations

import ast
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from benchmarks import attacked
from benchmarks import fuzz_releases as fuzz
from benchmarks.attacked import assault, case, release
from benchmarks.intruder import sums
from benchmarks.intruder.attack import Finding, Known, attack
from benchmarks.intruder.rules import Cell, Person, Register, excess, excess_for, levels, together
from benchmarks.intruder.shown import read
from tabprotect.methods.registry import VALUE_METHODS


def register(data: pd.DataFrame, by: list[str], rules: tuple[str, ...], counts: bool = False) -> Register:
    n = len(data)
    value = np.ones(n) if counts else data["value"].to_numpy(float)
    holder = np.arange(n) if "firm" not in data else pd.factorize(data["firm"])[0]
    codes = {name: [data[name].to_numpy(object)] for name in by}
    nobody = np.zeros(n, bool)
    return Register(codes, value, value, np.ones(n), holder, nobody, rules, "symmetric", 1.0, counts)


def findings(
    data: pd.DataFrame,
    by: list[str],
    rule: str,
    hidden: list[tuple[str, ...]],
    folder: Path,
    empty: Any = "structural",
    enumerated: int = sums.ENUMERATED,
    **known: Any,
) -> list[Finding]:
    """Hide what is said, whatever that gives away, and attack it."""
    value = {"value": "value"} if "value" in data else {}
    shown = () if empty == "zero" else (frozenset(by),)
    firm = {"contributor": "firm"} if "firm" in data else {}
    table = tp.tabulate(data, by, **value, **firm, empty=empty)
    made = tp.protect(table, "threshold=1", unions="off", singletons=False, allow_unsafe=True)
    pattern = np.array([code in hidden for code in table.system.cells])
    assert pattern.sum() == len(hidden)
    replace(made, result=replace(made.result, pattern=pattern)).write(folder)
    true = register(data, by, (rule,), "value" not in data)
    found = attack(folder / "publish", true, Known(empty_shown=shown, **known), enumerated=enumerated)
    assert not found.undecided
    return list(found.findings)


def records(counts: dict[tuple[str, str], int]) -> pd.DataFrame:
    return pd.DataFrame([cell for cell, n in counts.items() for _ in range(n)], columns=["r", "c"])


def test_counts_of_which_none_can_be_empty(tmp_path: Path) -> None:
    ones = {(r, c): 1 for r in "abc" for c in "xyz"}
    data = records({**ones, **{(r, "w"): 9 for r in "abc"}})
    hidden = [(r, c) for r, c in ones]
    known = {"respondents": False, "sums": False}
    found = findings(data, ["r", "c"], "threshold=2", hidden, tmp_path / "a", empty="drop", **known)
    assert len(found) == 9
    assert {(one.left, one.needed) for one in found} == {(0.0, 1.0)}
    assert findings(data, ["r", "c"], "threshold=2", hidden, tmp_path / "b", empty="zero", **known) == []


def hexagon(alone: bool) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """Six hidden cells of a 3 x 3 table; row a + row b - column y is the sum of (a, x) and (b, z)."""
    rows, hidden = [], [("a", "x"), ("a", "y"), ("b", "y"), ("b", "z"), ("c", "x"), ("c", "z")]
    for i, (r, c) in enumerate((r, c) for r in "abc" for c in "xyz"):
        giant = alone and (r, c) in (("a", "x"), ("b", "z"))
        rows += [(r, c, "giant" if giant else f"{i}{k}", 100.0) for k in range(1 if giant else 6)]
    return pd.DataFrame(rows, columns=["r", "c", "firm", "value"]), hidden


def test_a_sum_over_three_equations(tmp_path: Path) -> None:
    data, hidden = hexagon(alone=False)
    assert findings(data, ["r", "c"], "p%=15", hidden, tmp_path / "a") == []
    data, hidden = hexagon(alone=True)
    found = findings(data, ["r", "c"], "p%=15", hidden, tmp_path / "b", respondents=False)
    # determined exactly, so its interval is too narrow on both sides as well
    assert {(one.kind, one.what) for one in found} == {
        ("sum", "c=x,r=a + c=z,r=b, sensitive by p%=15"),
        ("narrow sum", "c=x,r=a + c=z,r=b from below"),
        ("narrow sum", "c=x,r=a + c=z,r=b from above"),
    }
    # the same by integer programmes
    again = findings(data, ["r", "c"], "p%=15", hidden, tmp_path / "c", enumerated=0, respondents=False)
    assert again == found


@pytest.mark.parametrize("seed", range(12))
def test_every_determined_sum_is_enumerated(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.choice([-1.0, 0, 0, 1], (4, 7))
    form = sums.echelon(rows)
    found = {tuple(chosen) for chosen in sums._every(form)}
    brute = set()
    for bits in product([0.0, 1.0], repeat=7):
        both = np.vstack([rows, bits])
        if sum(bits) >= 2 and np.linalg.matrix_rank(both) == np.linalg.matrix_rank(rows):
            brute.add(tuple(np.flatnonzero(bits).tolist()))
    assert found == brute


def test_a_published_value_and_one_that_follows(tmp_path: Path) -> None:
    others = [("b", f"b{k}", 40.0) for k in range(6)] + [("c", f"c{k}", 50.0) for k in range(6)]
    data = pd.DataFrame([("a", "x", 90.0), ("a", "y", 5.0), *others], columns=["r", "firm", "value"])
    for hidden in ([], [("a",)]):
        found = findings(data, ["r"], "p%=15", hidden, tmp_path / str(len(hidden)))
        assert {(one.kind, one.who, one.what) for one in found} == {
            ("interval", "the public", "r=a from below"),
            ("interval", "the public", "r=a from above"),
        }
    assert findings(data, ["r"], "p%=15", [("a",), ("b",)], tmp_path / "safe") == []


def test_a_respondent_who_knows_the_cell_that_protects(tmp_path: Path) -> None:
    data = pd.DataFrame({"r": list("abcccc"), "firm": list("012345"), "value": [90.0, 80, 40, 45, 50, 60]})
    found = findings(data, ["r"], "p%=15", [("a",), ("b",)], tmp_path / "a", sums=False)
    assert {(one.who, one.what[2]) for one in found} == {("respondent 0", "b"), ("respondent 1", "a")}
    known = {"sums": False, "respondents": False}
    assert findings(data, ["r"], "p%=15", [("a",), ("b",)], tmp_path / "b", **known) == []


def test_a_respondent_knows_his_published_cells_when_everything_is_hidden_too() -> None:
    """Whoever is alone in two of three cells of a sum can be kept from no more of it than the third one holds."""
    call = case(60273)
    made = release(call)
    assert "lowered to what a respondent" in str(made.problem.notes)
    report = assault(call, made)
    assert report is not None
    assert (report.findings, report.undecided) == ((), 0)


def test_formulas() -> None:
    cell = Cell(130.0, 3, {0: Person(100, 1, True), 1: Person(20, 1, True), 2: Person(10, 1, True)})
    assert excess(cell, "p%=15") == pytest.approx(5)
    assert excess(cell, "p%=10") is None
    assert excess(cell, "pq=10,50") == pytest.approx(10)
    assert excess(cell, "nk=2,90") == pytest.approx(120 / 0.9 - 130)
    assert excess(cell, "nk=1,80") is None
    assert excess(cell, "threshold=4") == 0
    assert excess(cell, "threshold=3") is None
    assert excess_for(cell, "p%=15", 1) == pytest.approx(5)
    assert excess_for(cell, "p%=9", 1) is None
    heavy = Cell(160.0, 2, {0: Person(100, 1.5, True), 1: Person(10, 1, True)})
    assert excess(heavy, "p%=15") == pytest.approx(15 - (160 - 150 - 5))
    both = together([cell, heavy])
    assert both.people[0].size == 200
    assert both.people[0].weight == pytest.approx(1.25)
    assert excess(Cell(5.0, 1, {0: Person(5, 1, False)}), "p%=15") is None


@pytest.mark.parametrize("seed", range(0, 60, 6))
def test_levels_are_those_of_the_rules(seed: int) -> None:
    """Two ways to the same levels: formulas on single records here, arrays of largest contributions there."""
    call = attacked.case(seed)
    by = [names if len(names) > 1 else names[0] for names in call.tables[0]]
    table = tp.tabulate(call.data, by, **call.of_data)
    assessment = tp.assess(table, list(call.rules), levels=call.options["levels"])
    mine = attacked.register(call)
    names = attacked._names(call, call.tables[0])
    whole = call.options["levels"] != "sliding"
    for row, cell in zip(table.rows[names].itertuples(index=False, name=None), table.row_cell.tolist(), strict=True):
        found = levels(mine, mine.cell(tuple((n, c) for n, c in zip(names, row, strict=True) if c != "Total")))
        assert (found is not None) == bool(assessment.status[cell] == 1)
        if found is not None and whole:
            theirs = float(assessment.upl[cell])
            assert found[1] == pytest.approx(np.ceil(theirs - 1e-9) if mine.counts else theirs, rel=1e-9)


def test_what_is_read_is_what_is_published(tmp_path: Path) -> None:
    data, _ = hexagon(alone=True)
    made = tp.protect(data, "p%=15", by=["r", "c"], value="value", contributor="firm")
    made.write(tmp_path / "out")
    shown = read(tmp_path / "out" / "publish")
    assert len(shown.cells) == made.table.n_cells
    assert np.isnan(shown.values).sum() == made.pattern.sum()
    true = np.array(
        [dict(zip(made.table.system.cells, made.table.values, strict=True))[_codes(k)] for k in shown.cells]
    )
    assert np.abs(shown.equations @ true).max() == 0
    assert shown.equations.shape[0] == 8
    assert shown.leaves.sum() == 9


def _codes(key: Any) -> tuple[str, str]:
    given = dict(key)
    return given.get("r", "Total"), given.get("c", "Total")


@pytest.mark.slow
def test_cases_span_what_they_should() -> None:
    found = [attacked.case(seed) for seed in range(400)]
    hiding = [call.method.method for call in found if isinstance(call.method, tp.Suppress)]
    assert set(hiding) == set(attacked.STRATEGIES)
    assert {type(call.method) for call in found} >= {*VALUE_METHODS.values(), tp.Recode}
    for name in ("weight", "waiver", "shadow", "holding"):
        assert any(name in call.of_data for call in found)
    assert {empty for call in found for empty in call.empty} == {None, "zero", "structural", "drop"}
    assert len({call.empty for call in found if len(call.tables) > 1}) > 12
    assert any("value" not in call.of_data for call in found)
    assert any((call.data["value"] < 0).any() for call in found if "value" in call.data)
    assert {call.options["levels"] for call in found} == {"symmetric", "upper", "sliding"}


def test_the_intruder_shares_nothing_with_the_package() -> None:
    modules = sorted((Path(fuzz.__file__).parent / "intruder").glob("*.py"))
    assert len(modules) > 4
    for path in modules:
        for node in ast.walk(ast.parse(path.read_text())):
            named = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            named += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            for name in named:
                assert name.split(".")[0] != "tabprotect"
                assert name.split(".")[0] != "benchmarks" or name.startswith("benchmarks.intruder.")


def test_a_disclosure_is_printed_with_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    finding = Finding("interval", "the public", "a from above", 0.0, 5.0)
    monkeypatch.setattr(attacked, "assault", lambda *_: attacked.Report((finding,), 3, 0))
    said = fuzz.release(fuzz.Asked(0, 2.0, True))
    assert said.faults == ("disclosure: interval: the public learns a from above; 0 is left of 5",)
    assert said.questions == 3


def test_where_nothing_is_left_whatever_is_hidden_rounding_errors_are_no_disclosure() -> None:
    """Seed 5927: a respondent who is left nothing from below in any case was left -5e-14 by what is published."""
    call = case(5927, 60.0)
    report = assault(call, release(call), 60.0)
    assert report is not None
    assert report.findings == ()
