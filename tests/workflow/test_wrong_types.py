"""Arguments of another kind altogether: one error that names the argument, never a traceback from within."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.methods.recoding import least_recoding
from tabprotect.sensitivity.costs import costs
from tabprotect.table.link.clusters import cells_by_table
from tests.wrong_kinds import check

METHODS = (
    tp.Suppress, tp.Recode, tp.Round, tp.RandomRound, tp.UnbiasedRound, tp.SuccessiveRound, tp.ConventionalRound,
    tp.Adjust, tp.Swap, tp.SmallCounts, tp.CellKey,
)  # fmt: skip

RECORDS = pd.DataFrame({"r": list("AABBAABB"), "s": list("ffggfgfg"), "v": np.arange(8) + 1.0})


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """'abc' is a folder where one is wanted."""
    monkeypatch.chdir(tmp_path)


def options_of(kind: type) -> list[tuple[type, str]]:
    return [(kind, name) for name in inspect.signature(kind).parameters]


@pytest.mark.parametrize(("kind", "name"), [pair for kind in METHODS for pair in options_of(kind)])
def test_options_of_methods(kind, name):
    needed = {"geography": "r", "risk": "s"} if kind is tp.Swap else {}

    def call(wrong: Any) -> None:
        method = kind(**{**needed, name: wrong})
        tp.protect(RECORDS, "p%=10", method, by=["r", "s"], value="v", limits=0.2, intervals=False)

    check(call)


@pytest.mark.parametrize("name", sorted(set(inspect.signature(tp.protect).parameters) - {"method", "unknown"}))
def test_arguments_of_protect(name):
    def call(wrong: Any) -> None:
        given = {"data": RECORDS, "rules": "p%=10", "by": ["r", "s"], "value": "v", "limits": 0.2, "intervals": False}
        tp.protect(**{**given, name: wrong}, method="greedy")

    check(call)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: tp.Recode(rules="p%=15", keep=3), r"2 problems:\n  - rules must .*\n  - keep must be levels"),
        (lambda: tp.Recode(granularity="much"), "granularity must be per cent, such as 50, not 'much'"),
        (lambda: tp.Suppress(transform="log"), "transform must be a function of costs"),
        (lambda: tp.Round(steps=float("nan")), "steps must be a finite number"),
        (lambda: costs(tp.tabulate(RECORDS, "r", "v"), {}), "cost must be 'value', 'unit', 'count'"),
        (lambda: costs(tp.tabulate(RECORDS, "r", "v"), preferences={"r": ["x"]}), "those of 'r' are numbers by level"),
    ],
)  # fmt: skip
def test_words(made, words):
    with pytest.raises(tp.InputError, match=words):
        made()


TABLE = tp.tabulate(RECORDS, ["r", "s"], "v")

PROBLEM = tp.make_problem(TABLE, "p%=10")

PATTERN = tp.suppress(PROBLEM, method="greedy").pattern

JUDGED = tp.audit(PROBLEM, PATTERN)

BOTH = tp.link({"a": TABLE, "b": tp.tabulate(RECORDS, ["r"], "v")})

LINKED = tp.make_problem(BOTH, "p%=10")

RELEASE = tp.protect(RECORDS, "p%=10", "greedy", by=["r", "s"], value="v", intervals=False)

CALLS = [
    (tp.tabulate, {"data": RECORDS, "by": ["r", "s"], "value": "v"}),
    (tp.assess, {"table": TABLE, "rules": "p%=10"}),
    (tp.make_problem, {"table": TABLE, "rules": "p%=10"}),
    (tp.link, {"tables": {"a": TABLE, "b": tp.tabulate(RECORDS, ["r"], "v")}}),
    (tp.suppress, {"problem": PROBLEM, "method": "greedy"}),
    (tp.round, {"problem": PROBLEM, "base": 5}),
    (tp.conventional_rounding, {"problem": PROBLEM, "base": 5}),
    (tp.random_rounding, {"problem": PROBLEM, "base": 5}),
    (tp.unbiased_rounding, {"problem": PROBLEM, "base": 5}),
    (tp.adjust, {"problem": PROBLEM}),
    (tp.parse_rule, {"text": "p%=10"}),
    (tp.parse_rules, {"text": "p%=10"}),
    (tp.successive_rounding, {"problem": PROBLEM, "base": 5}),
    (tp.audit, {"problem": PROBLEM, "pattern": PATTERN}),
    (tp.certify, {"problem": PROBLEM, "pattern": PATTERN}),
    (tp.compare, {"problem": PROBLEM, "methods": ["round"], "limits": 0.2}),
    (tp.find_clusters, {"tables": {"a": TABLE, "b": tp.tabulate(RECORDS, ["r"], "v")}}),
    (tp.union_exposures, {"table": TABLE, "rules": "p%=10", "pattern": PATTERN}),
    (tp.protect_unions, {"problem": PROBLEM, "exposures": ()}),
    (tp.suppress_linked, {"problem": LINKED, "tables": cells_by_table(BOTH), "limits": 0.2}),
    (tp.read_instance, {"path": "a.jj"}),
    (tp.read_pattern, {"path": "a.json", "system": TABLE.system}),
    (tp.write_jj, {"problem": PROBLEM, "path": "a.jj"}),
    (tp.Hierarchy.read, {"path": "a.hrc"}),
    (tp.Hierarchy.flat, {"codes": ["a"]}),
    (tp.Hierarchy.from_hrc, {"text": "a"}),
    (tp.Hierarchy.from_pairs, {"pairs": pd.DataFrame({"parent": ["a"], "child": ["b"]})}),
    (tp.Hierarchy.from_prefixes, {"codes": ["a1", "a2"], "lengths": [1]}),
    (tp.Dimension, {"column": "r"}),
    (tp.LinearSystem, {"A": TABLE.system.A, "b": TABLE.system.b, "cells": TABLE.system.cells}),
    (tp.LinearSystem.from_equations, {"equations": [("t", ["a", "b"])]}),
    (tp.LinearSystem.from_hierarchies, {"hierarchies": [tp.Hierarchy.flat(["a", "b"])]}),
    (tp.LinearSystem.merge, {"systems": [TABLE.system]}),
    (tp.Problem, {name: getattr(PROBLEM, name) for name in inspect.signature(tp.Problem).parameters}),
    (tp.PPercent, {"p": 10}),
    (tp.PQ, {"p": 10, "q": 50}),
    (tp.Dominance, {"n": 1, "k": 70}),
    (tp.Threshold, {"n": 3}),
    (tp.Request, {"p1": 70}),
    (JUDGED.explored, {}),
    (JUDGED.shortfalls, {}),
    (tp.verify, {"certificate": RELEASE, "against": RELEASE.problem}),
    (RELEASE.write, {"folder": "release"}),
    (RELEASE.crosstab, {}),
]


@pytest.mark.parametrize(
    ("function", "given", "name"),
    [(function, given, name) for function, given in CALLS for name in inspect.signature(function).parameters],
)
def test_arguments_of_functions(function, given, name):
    check(lambda wrong: function(**{**given, name: wrong}))


def test_workers():
    def call(wrong: Any) -> None:
        with tp.processes(wrong):
            pass

    check(call)


AGES = pd.DataFrame({"age": list("12345678") * 2, "sex": list("aabb") * 4, "v": range(1, 17)})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"groupings": {"age": {"x": 5}}}, "groupings: 'x' of 'age' is a .grc file or RecodingRules, .* not 5"),
        ({"groupings": {"age": {"x": None}}}, "groupings: 'x' of 'age' is a .grc file or RecodingRules, .* not None"),
        ({"groupings": {"age": {"x": {"a": "b"}}}}, "groupings: 'x' of 'age' is a .grc file"),
        ({"keep": {"age": "1"}}, "keep: the level of 'age' must be a whole number, 0 .* not '1'"),
        ({"keep": {"age": -1}}, "keep: the level of 'age' must be a whole number, .* not -1"),
        ({"keep": {"age": 1.5}}, r"keep: the level of 'age' must be a whole number, .* not 1\.5"),
        ({"open": {"age": 5}}, "open: the categories of 'age' are a list of codes in their order, or None, not 5"),
        (
            {"open": {"age": [9]}},
            "category '9' is not in 'age'; there are '1', '2', '3', '4', '5', '6', '7', '8'$",
        ),
    ],
)
def test_parts_of_recodings_say_what_is_wanted(given: dict[str, Any], said: str) -> None:
    with pytest.raises(tp.InputError, match=said):
        tp.protect(AGES, "threshold=2", tp.Recode(**given), by=["age", "sex"], value="v")


def test_a_level_to_keep_is_a_whole_number_for_the_function_too() -> None:
    table = tp.tabulate(AGES, ["age", "sex"], "v")
    with pytest.raises(tp.InputError, match="keep: the level of 'age' must be a whole number"):
        least_recoding(table, [1], keep={"age": "1"})


def test_open_classes_by_name_say_how_they_are_made() -> None:
    with pytest.raises(tp.InputError, match=r"tp\.Recode\(open=\['age'\], least=False\)"):
        tp.protect(AGES, "threshold=2", "open-classes", by=["age", "sex"], value="v")


def test_open_classes_that_help_nothing_are_not_called_unneeded() -> None:
    few = AGES.assign(age=["1", "2"] * 8, firm=["one", "one"] * 8)
    release = tp.protect(
        few, "p%=15", tp.Recode(open=["age"], least=False), by=["age"], value="v", contributor="firm", allow_unsafe=True
    )
    assert release.settings["recoding"] == "age: no open class at its ends is safe"


def test_limits_may_be_seconds_and_say_so() -> None:
    assert tp.protect(AGES, "threshold=2", by=["sex"], value="v", limits=5).settings["time limit (seconds)"] == 5
    with pytest.raises(tp.InputError, match=r"limits must be tabprotect\.Limits or a number of seconds, not '5'"):
        tp.protect(AGES, "threshold=2", by=["sex"], value="v", limits="5")


def test_a_release_of_the_last_period_is_given_by_its_folder() -> None:
    release = tp.protect(AGES, "threshold=2", by=["sex"], value="v")
    with pytest.raises(tp.InputError, match=r"release\.write\(folder\) returns it, .* not Release$"):
        tp.protect(AGES, "threshold=2", by=["sex"], value="v", previous=release)


def test_every_rule_of_the_documentation_is_at_the_top() -> None:
    assert str(tp.AtHoldings(tp.PPercent(15))) == "holdings: p%=15"
    assert str(tp.Granularity(40)) == "granularity=40"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"transform": "log"}, r"no argument 'transform'; it is an option of a method: Suppress\(transform=\.\.\.\)"),
        ({"base": 5}, r"no argument 'base'; it is an option of a method: Round\(base=\.\.\.\)"),
        ({"tranform": "log"}, "no argument 'tranform'; did you mean 'transform'?"),
        ({"contributer": "r"}, "no argument 'contributer'; did you mean 'contributor'?"),
        ({"sourc": "x", "unions": "fix"}, r"2 problems:\n  - protect .* mean 'source'\?\n  - unions must"),
    ],
)
def test_arguments_that_protect_does_not_have_are_refused_with_the_one_that_is_meant(given, words):
    with pytest.raises(tp.InputError, match=words):
        tp.protect(RECORDS, "p%=10", by=["r", "s"], value="v", **given)


def test_an_unknown_argument_is_told_beside_what_is_missing():
    with pytest.raises(tp.InputError, match="nothing says which cells are sensitive") as told:
        tp.protect(RECORDS, by=["r", "s"], value="v", transform="log")
    assert len(told.value.problems) == 2
