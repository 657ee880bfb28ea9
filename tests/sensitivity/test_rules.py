"""Threshold, request, zero, missing and manual rules, and what they become together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect as tp
from tabprotect.errors import InputError
from tabprotect.problem import Status
from tabprotect.sensitivity import (
    RULES,
    Manual,
    MissingSafe,
    Needs,
    PPercent,
    Request,
    Rule,
    Threshold,
    Verdict,
    ZeroUnsafe,
    assess,
    needs,
)
from tabprotect.sensitivity.rule import Spoken
from tabprotect.table.system import LinearSystem
from tabprotect.table.table import Table
from tests.quick import examples
from tests.sensitivity.cells import Unit, table_of, units


def test_threshold_counts_contributors_not_records_of_weight():
    table = table_of([units(5), units(5, 5), units(5, 5, 5), [], [Unit(5, 2.5), Unit(5, 0.5)], [Unit(5, 2.9)]])
    verdict = Threshold(3, 30).judge(table)
    assert verdict.cells.tolist() == [0, 1, 5]
    assert verdict.upl == pytest.approx(0.3 * table.values[[0, 1, 5]])
    assert verdict.lpl == pytest.approx(verdict.upl)


def test_threshold_without_weights_and_in_frequency_tables():
    table = table_of([units(5), units(5, 5, 5)], weighted_counts=None)
    assert Threshold(3).judge(table).cells.tolist() == [0]
    counted = Table(LinearSystem.from_equations([("t", ["a", "b"])]), np.array([4.0, 1, 3]), kind="frequency")
    assert Threshold(3).judge(counted).cells.tolist() == [1]


def test_eustat_frequency_table_marks_the_bold_cells(shared):
    """18 activities x 7 sizes: "two or fewer" is n = 3; the paper prints those cells bold, margins included."""
    text = shared("seeds/mas-eustat-statistical-data-protection.txt").read_text()
    table = text[text.index("act18 tamaño\t<25") : text.index("The cells in bold type are sensitive")]
    rows = [line.split("\t")[1:] for line in table.splitlines()[1:] if line.count("\t") == 8]
    assert len(rows) == 19
    words = [word for row in rows for word in row]
    values = np.array([0.0 if w == "." else float(re.sub(r"\D", "", w)) for w in words])
    bold = ["<b>" in word for word in words]
    names = pd.MultiIndex.from_product([range(19), range(8)])
    system = LinearSystem.from_equations(
        [((i, 7), [(i, j) for j in range(7)]) for i in range(19)]
        + [((18, j), [(i, j) for i in range(18)]) for j in range(8)],
        list(names),
    )
    assert not system.residuals(values).any()
    assessment = assess(Table(system, values, kind="frequency"), "threshold=3", empty="zero")
    assert (assessment.status == Status.PRIMARY).tolist() == bold
    assert sum(bold) == 44
    assert (assessment.status == Status.ZERO).tolist() == [word == "." for word in words]
    assert set(assessment.upl[assessment.primaries]) == {1.0}


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 2)), min_size=1, max_size=6),
    st.integers(10, 100),
    st.integers(10, 100),
    st.integers(0, 4),
)
def test_request_rule_from_its_words(contributors, p1, p2, n):
    rule = Request(p1, p2, 10, n)
    table = table_of([[Unit(value, request=code) for value, code in contributors]], keep=max(6, rule.needs().top))
    total = sum(value for value, _ in contributors)
    asked = any(code and 100 * value > {1: p1, 2: p2}[code] * total for value, code in contributors)
    few = any(code for _, code in contributors) and len(contributors) < n
    assert bool(len(rule.judge(table).cells)) == (asked or few)


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 2)), min_size=1, max_size=9), st.integers(10, 100))
def test_request_rule_needs_no_more_contributions_than_it_says(contributors, p):
    rule = Request(p)
    cell = [Unit(value, request=code) for value, code in contributors]
    kept, full = table_of([cell], keep=rule.needs().top), table_of([cell], keep=20)
    assert rule.judge(kept).cells.tolist() == rule.judge(full).cells.tolist()


def test_zero_unsafe_concerns_zeros_with_contributors():
    table = table_of([units(0, 0), [], units(0, 3)])
    assessment = assess(table, [ZeroUnsafe(2.5)], empty="zero")
    assert assessment.status.tolist() == [Status.PRIMARY, Status.ZERO, Status.SAFE]
    assert (assessment.lpl[0], assessment.upl[0]) == (0.0, 2.5)


def test_missing_codes_are_safe_unless_marked_by_hand():
    missing = np.array([True, True, False])
    table = table_of([units(5)] * 3, missing=missing, columns={"status": np.array(["", "u", ""], dtype=object)})
    assessment = assess(table, ["p%=15", MissingSafe()])
    assert assessment.status.tolist() == [Status.SAFE, Status.PRIMARY, Status.PRIMARY]
    assert assess(table_of([units(5)]), "p%=15|MIS(1)").primaries.tolist() == [0]


def test_status_column_is_read_without_being_asked_for():
    letters = np.array(["s", "U", "m", " p ", "z", None, float("nan"), "Primary", Status.FORCED], dtype=object)
    table = table_of([units(10, 10, 10, 10)] * 9, columns={"status": letters})
    S = Status
    expected = [S.SAFE, S.PRIMARY, S.FORCED, S.PROTECTED, S.ZERO, S.SAFE, S.SAFE, S.PRIMARY, S.FORCED]
    assessment = assess(table, "p%=15")
    assert assessment.status.tolist() == expected
    assert assessment.upl[1] == 8.0
    assert assessment.reasons["manual"].tolist() == [status == S.PRIMARY for status in expected]
    assert assess(table, "p%=15|manual=30").upl[1] == 12.0


def test_letter_s_does_not_silence_the_rules_unless_asked_to():
    table = table_of([units(10)], columns={"status": np.array(["s"], dtype=object)})
    assert assess(table, "p%=15").primaries.tolist() == [0]
    assert assess(table, ["p%=15", Manual(overrule=True)]).primaries.tolist() == []


def test_suppressed_already_but_sensitive_is_protected():
    table = table_of([units(10), units(5, 5, 5, 5)], columns={"status": np.array(["m", "m"], dtype=object)})
    assert assess(table, "p%=15").status.tolist() == [Status.PRIMARY, Status.FORCED]


@pytest.mark.parametrize("letter", ["p", "z"])
def test_sensitive_cells_that_must_be_published_are_an_error(letter):
    table = table_of([units(10), units(20)], columns={"status": np.array([letter, ""], dtype=object)})
    with pytest.raises(InputError, match=r"1 cell must be published but a rule finds it sensitive: 0; give them"):
        assess(table, "p%=15")


def test_unreadable_statuses_are_named_all_at_once():
    table = table_of([units(10)] * 3, columns={"status": np.array(["unsave", "s", 7], dtype=object)})
    with pytest.raises(InputError) as error:
        assess(table, "p%=15")
    assert len(error.value.problems) == 2
    assert "status 'unsave' of cell 0 means nothing" in error.value.problems[0]


def test_level_columns_replace_the_levels_of_rules():
    nan = float("nan")
    columns = {"lpl": np.array([1.0, nan, 4.0]), "upl": np.array([2.0, nan, nan]), "spl": np.array([nan, 9.0, nan])}
    assessment = assess(table_of([units(100), units(100), units(5, 5, 5, 5)], columns=columns), "p%=15")
    assert assessment.lpl.tolist() == [1.0, 15.0, 0.0]
    assert assessment.upl.tolist() == [2.0, 15.0, 0.0]
    assert assessment.spl.tolist() == [0.0, 9.0, 0.0]
    assert assessment.messages == ("protection levels given for 1 cell that is not sensitive have no effect",)


def test_levels_are_the_largest_of_all_rules_and_never_zero():
    table = table_of([units(100, 10), units(100, 90, 14.99), units(0.5)])
    assessment = assess(table, ["p%=15", "nk=1,50", "threshold=3,20"])
    assert assessment.upl == pytest.approx([200 - 110, 0.01, 0.5])
    assert assess(table, "p%=15", minimum=2).upl == pytest.approx([15, 2, 2])
    zeros = table_of(
        [units(3, 3, 3)], columns={"status": np.array(["u"], object), "lpl": np.zeros(1), "upl": np.zeros(1)}
    )
    assessment = assess(zeros, "p%=15|manual=0")
    assert (assessment.lpl[0], assessment.upl[0]) == (1.0, 1.0)


def test_other_shapes_of_levels():
    table = table_of([units(100)])
    assert [float(a[0]) for a in (lambda x: (x.lpl, x.upl, x.spl))(assess(table, "p%=15", levels="upper"))] == [
        0,
        15,
        0,
    ]
    assert [float(a[0]) for a in (lambda x: (x.lpl, x.upl, x.spl))(assess(table, "p%=15", levels="sliding"))] == [
        0,
        0,
        30,
    ]
    with pytest.raises(InputError, match="levels must be"):
        assess(table, "p%=15", levels="both")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="minimum must be above 0"):
        assess(table, "p%=15", minimum=0)


@given(st.lists(st.lists(st.integers(0, 9), min_size=0, max_size=5), min_size=1, max_size=6))
@settings(max_examples=examples(40, 100))
def test_a_cell_is_unsafe_if_any_rule_says_so(cells):
    table = table_of([units(*cell) for cell in cells])
    rules = ["p%=20", "p%=10,2", "nk=2,70", "threshold=2", "zero"]
    both = assess(table, rules)
    alone = [assess(table, rule) for rule in rules]
    assert set(both.primaries) == {i for a in alone for i in a.primaries}
    assert np.array_equal(both.upl, np.max([a.upl for a in alone], axis=0))
    assert np.all((both.upl > 0) == (both.status == Status.PRIMARY))
    for a, rule in zip(alone, rules, strict=True):
        assert both.reasons[rule].tolist() == (a.status == Status.PRIMARY).tolist()


def test_one_error_for_everything_the_rules_lack():
    table = Table(LinearSystem.from_equations([("t", ["a", "b"])]), np.array([3.0, 1, 2]))
    with pytest.raises(InputError) as error:
        assess(table, "p%=15|threshold=3|request=70|zero=1|nk=3,80")
    text = str(error.value)
    assert text.startswith("5 problems")
    assert (
        "rule p%=15 needs the 2 largest contributions to every cell: give the columns of maxima to Table.from_cells"
        in text
    )
    assert "rule threshold=3 needs the number of contributors" in text
    with pytest.raises(InputError, match="needs the 3 largest contributions to every cell, the table keeps 2"):
        assess(table_of([units(1)], keep=2), "p%=15,2")
    with pytest.raises(InputError, match="needs request codes"):
        assess(table_of([units(1)]), "request=70")
    counted = Table(table.system, table.values, kind="frequency")
    with pytest.raises(InputError, match="mean nothing in a frequency table; use threshold="):
        assess(counted, "p%=15")


def test_needs_is_the_most_that_any_rule_needs():
    assert needs(["p%=15", "nk=5,90", "request=25", "missing"]) == 5
    assert needs("request=30") == 3
    assert needs("request=30,60,10,7") == 6


def test_explanations_have_the_numbers():
    table = table_of(
        [[Unit(100, holder=0), Unit(40, holder=1), Unit(5, holder=2, request=1)]],
        columns={"status": np.array(["u"], object)},
    )
    words = assess(table, "p%=15|nk=1,60|threshold=4|request=70|zero=1").explain(0)
    p_percent = (
        "  p%=15: sensitive; of the total 145 the largest contributor (holding 0) has 100, the next 1 together 40;"
        " the rest 5 < 15 % of 100 = 15"
    )
    assert words.splitlines() == [
        "0: 145, primary",
        p_percent,
        "  nk=1,60: sensitive; the 1 largest contributors have 100 of 145, 68.97 % > 60 %",
        "  threshold=4: sensitive; 3 contributors < 4",
        "  request=70: not sensitive; a contributor who asked has 3.448 % <= 70 %",
        "  zero: not sensitive; value 145 from 3 contributors",
        "  manual: makes it primary",
        "  an intruder must find it able to move down by 29, up by 29",
    ]
    with pytest.raises(InputError, match="there is no cell x"):
        assess(table, "p%=15").explain("x")


def test_frame_has_one_row_a_cell_and_one_column_a_rule():
    frame = assess(table_of([units(100), units(5, 5, 5, 5)]), "p%=15|threshold=3").frame
    assert frame.columns.tolist() == ["cell", "value", "count", "status", "lpl", "upl", "spl", "p%=15", "threshold=3"]
    assert frame["status"].tolist() == ["primary", "safe"]
    assert frame["threshold=3"].tolist() == [True, False]


def test_every_rule_file_is_found_and_speaks():
    assert {"p%", "P", "nk", "NK", "pq", "threshold", "FREQ", "request", "zero", "missing", "manual", "apriori"} <= set(
        RULES
    )
    for keyword, cls in RULES.items():
        assert keyword in cls.keywords


def test_a_rule_of_ones_own_needs_one_class():
    @dataclass(frozen=True)
    class Large(Spoken):
        limit: float
        keywords: ClassVar[tuple[str, ...]] = ("large",)

        def needs(self) -> Needs:
            return Needs()

        def judge(self, table: Table) -> Verdict:
            cells = np.flatnonzero(table.values > self.limit)
            return Verdict(cells, np.ones(len(cells)), np.ones(len(cells)))

        def explain(self, table: Table, cell: int) -> str:
            return f"{table.values[cell]:g}"

    assert isinstance(Large(3), Rule)
    assessment = assess(table_of([units(2), units(7)]), [Large(3), PPercent(15)])
    assert assessment.reasons["large=3"].tolist() == [False, True]


@pytest.mark.parametrize("kind", ["pandas", "polars", "duckdb"])
def test_the_smallest_sampling_weight_counts_though_its_contribution_is_not_kept(kind: str) -> None:
    frame = pd.DataFrame(
        {
            "a": ["x"] * 5 + ["y"] * 2, "v": [90, 80, 70, 1, 1, 50, 40], "w": [3, 3, 3, 0.2, 0.2, 2, 2],
            "firm": list("abcdefg"),
        }
    )  # fmt: skip
    data = {"pandas": lambda: frame, "polars": lambda: pl.from_pandas(frame), "duckdb": lambda: duckdb.from_df(frame)}
    table = tp.tabulate(data[kind](), by=["a"], value="v", contributor="firm", weight="w", top=3)
    assert table.contributions is not None
    assert table.contributions.lightest == 0.2
    # five holders of 3 or more would be 15 contributors; two of them are 0.4, so sums must not be ruled out
    assert np.all(tp.Threshold(4).measure(table) == 1.0)
    heavy = tp.tabulate(frame.assign(w=3.0), by=["a"], value="v", contributor="firm", weight="w", top=3)
    assert np.all(tp.Threshold(4).measure(heavy)[:2] == -np.inf)


FINISHED = pd.DataFrame(
    {"r": ["Total", "a", "b", "c"], "v": [20.0, 9, 5, 6], "down": [0, 0, 3.0, 0], "up": [0, 0, 2.0, 0]}
)


@pytest.mark.parametrize("rules", [[], "manual=20"])
def test_levels_alone_say_what_is_sensitive(rules):
    table = tp.Table.from_cells(FINISHED, "r", "v", lpl="down", upl="up")
    found = assess(table, rules)
    assert (found.primaries.tolist(), found.lpl.tolist(), found.upl.tolist()) == ([2], [0, 0, 3, 0], [0, 0, 2, 0])
    made = tp.protect(table, rules)
    assert made.safe
    assert made.pattern.sum() >= 2
    low, high = made.audit().interval("b")
    assert low <= 2
    assert high >= 7


def test_levels_of_cells_that_no_rule_finds_sensitive_are_told():
    table = tp.Table.from_cells(FINISHED.assign(n=[9, 3, 3, 3]), "r", "v", lpl="down", upl="up", count="n")
    made = tp.protect(table, "threshold=2")
    assert "protection levels given for 1 cell that is not sensitive have no effect" in str(made.summary())
