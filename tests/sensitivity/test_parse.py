"""Rules from text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tabprotect as tp
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
    ("p%=12,n=5", PPercent(12, 5)),
    ("p%=p=12.5,n=5", PPercent(12.5, 5)),
    ("manual=10,overrule=1", Manual(10, True)),
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
        ("apriori", "has 0 parameters; write the rule 'apriori=path,range', the last 1 may be left out"),
        ("nk=2", "has 1 parameter; write the rule 'nk=n,k'"),
        ("p%=15,2,3", r"has 3 parameters; write the rule 'p%=p,n', the last 1 may be left out"),
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


COMMA = "region;firm;v\nN;a;1,5\nN;b;2,5\nS;c;3,5\nS;d;4,5\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("p%=12,1", r"rule 'p%=12,1' can .* write the rule 'p%=12,n=1' for p = 12, n = 1, or the rule 'p%=12.1'"),
        ("p%=12,5", r"write the rule 'p%=12,n=5' for p = 12, n = 5, or the rule 'p%=12.5'"),
        ("pq=10,50,2", r"write the rule 'pq=10,q=50,n=2' for p = 10, q = 50, n = 2, or the rule 'pq=10,50.2'"),
        (
            "manual=10,1",
            r"write the rule 'manual=10,overrule=1' for range = 10, overrule = 1, or the rule 'manual=10.1'",
        ),
    ],
)
def test_a_rule_that_a_decimal_comma_makes_another_one_is_refused_beside_such_data(tmp_path, text, words):
    path = tmp_path / "a.csv"
    path.write_text(COMMA)
    table = tp.tabulate(path, "region", "v", contributor="firm", top=9)
    with pytest.raises(InputError, match=words):
        tp.assess(table, text)
    with pytest.raises(InputError, match=words):
        tp.protect(path, ["threshold=1", text], by="region", value="v", contributor="firm")


@pytest.mark.parametrize(
    "text", ["p%=12.5", "p%=12,n=5", "p%=12, 5", "P(12,5)", "nk=2,85", "threshold=3,10", PPercent(12, 5)]
)
def test_what_a_decimal_comma_cannot_make_another_rule_is_read(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(COMMA)
    assert len(tp.assess(tp.tabulate(path, "region", "v", contributor="firm", top=9), text).reasons) == 1


def test_releases_say_how_rules_were_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(COMMA.replace(",", "."))
    made = tp.protect(path, "p%=12,5", by="region", value="v", contributor="firm")
    assert ("rule p%=12,5", "3 primary (p = 12, n = 5)") in made.summary().lines
    assert made.provenance["readings"] == {"p%=12,5": "p = 12, n = 5"}


def test_a_name_at_the_wrong_place_is_refused():
    with pytest.raises(InputError, match="'n' stands where p is; the parameters are p, n"):
        parse_rule("p%=n=5")


@pytest.mark.parametrize("rules", [PPercent, [PPercent], ["threshold=3", PPercent]])
def test_a_class_is_no_rule(rules: object) -> None:
    with pytest.raises(InputError, match=r"PPercent is a class, no rule; give a rule with its numbers, such as PPerc"):
        as_rules(rules)  # type: ignore[arg-type]
