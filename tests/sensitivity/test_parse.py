"""Rules from text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.sensitivity import (
    PQ,
    APriori,
    Dominance,
    Manual,
    MissingSafe,
    PPercent,
    Request,
    Threshold,
    ZeroUnsafe,
    as_rules,
    parse_rule,
    parse_rules,
)

FORMS = [
    ("p%=15", PPercent(15)),
    (" p% = 15 , 2 ", PPercent(15, 2)),
    ("P(10,1)", PPercent(10, 1)),
    ("nk=2,85", Dominance(2, 85)),
    ("NK=2,85", Dominance(2, 85)),
    ("dominance=1,75", Dominance(1, 75)),
    ("NK(3,70.5)", Dominance(3, 70.5)),
    ("pq=10,50", PQ(10, 50)),
    ("threshold=3", Threshold(3)),
    ("threshold=3,10", Threshold(3, 10)),
    ("FREQ(5,30)", Threshold(5, 30)),
    ("request=70,85,10", Request(70, 85, 10)),
    ("REQ(70,85,10)", Request(70, 85, 10)),
    ("zero=0.5", ZeroUnsafe(0.5)),
    ("ZERO(10)", ZeroUnsafe(10)),
    ("missing", MissingSafe()),
    ("MIS(1)", MissingSafe()),
    ("manual=10", Manual(10)),
    ("manual=10,1", Manual(10, True)),
    ("MAN(20)", Manual(20)),
    ("apriori=some, odd=name.hst", APriori("some, odd=name.hst")),
]


@pytest.mark.parametrize(("text", "rule"), FORMS)
def test_forms(text, rule):
    assert parse_rule(text) == rule


@given(st.lists(st.sampled_from([rule for _, rule in FORMS if not isinstance(rule, APriori)]), max_size=4, unique=True))
def test_what_a_rule_prints_is_read_back(rules):
    assert as_rules("|".join(map(str, rules))) == tuple(rules) if rules else True
    for rule in rules:
        assert parse_rule(str(rule)) == rule


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("treshold=3", r"rule 'treshold=3' is not known; did you mean 'threshold'\?"),
        ("15%", "is not known"),
        ("", "is not known"),
        ("nk=2", "has 1 parameter; write nk=n,k"),
        ("p%=15,2,3", r"has 3 parameters; write p%=p,n, the last 1 may be left out"),
        ("p%=a", "p must be a number, not 'a'"),
        ("p%=", "has 0 parameters"),
        ("threshold=2.5", "n must be a whole number"),
        ("nk=0,85", "n must be a whole number of at least 1"),
        ("nk=2,850", "k must be a number above 0 and at most 100"),
        ("FREQ(3,10)|FREQ(2,10)", r"repeated FREQ to holdings; here that is written .holdings: FREQ\(2,10\)."),
        ("P(10,1)|P(20,1)|P(30,1)", "repeated P to holdings"),
        ("WGT(1)", "give weight= to tabulate"),
    ],
)
def test_errors_say_what_was_meant(text, words):
    with pytest.raises(InputError, match=words):
        parse_rules(text)


def test_all_errors_at_once():
    with pytest.raises(InputError) as error:
        as_rules(["p%=x|nk=2", "threshold=3", "tresh=3", 7])  # type: ignore[list-item]
    assert len(error.value.problems) == 4


def test_parse_rule_wants_one():
    with pytest.raises(InputError, match="holds 2 rules where one is wanted"):
        parse_rule("p%=15|threshold=3")
    assert parse_rules("p%=15|threshold=3") == (PPercent(15), Threshold(3))
    assert parse_rules("P(20,3)|P(10,1)|MIS(0)") == (PPercent(20, 3), PPercent(10))
