"""Protocols are checked as a whole, and every problem names its key."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.workflow.protocol.model import schema_of_protocols
from tabprotect.workflow.protocol.read import read_protocol
from tabprotect.workflow.protocol.toml import toml_of

WRONG = """
titel = "Firms"
rules = "rules.toml"
levels = "upper"
data = "firms.csv"
by = ["branch"]

[tables.a]
valu = "turnover"

[tables.b]
hierarchy = {regoin = "region.hrc"}

[clusters.one]
tables = ["a", "bb"]
methode = "exact"

[clusters.internal]
tables = ["a"]
cost = 3

[previous]
revison = true
factor = 2

[microdata.a]
data = 5

[[trial]]
limit = 3
"""


def test_a_protocol_is_read(place: Path) -> None:
    protocol = read_protocol(place / "p.toml")
    assert protocol.spec().rules == ["p%=15"]
    assert protocol.spec(["branch"]).tables.keys() == {"branch"}
    assert protocol.spec(["branch"], {"method": "exact"}).method == "exact"
    assert (protocol.structure, protocol.previous.factor, protocol.previous.revision) == (None, 0.1, False)


def test_everything_that_is_wrong_is_said_at_once(place: Path) -> None:
    (place / "p.toml").write_text(WRONG)
    (place / "rules.toml").write_text('levels = "sliding"\nrule = ["p%=15"]\n')
    with pytest.raises(InputError) as caught:
        read_protocol(place / "p.toml")
    said = "\n".join(caught.value.problems)
    assert all(problem.startswith(str(place / "p.toml")) for problem in caught.value.problems)
    for words in (
        "unknown key 'titel'; did you mean 'title'?",
        "rules.toml: unknown key 'rule'; did you mean 'rules'?",
        "rules.toml: 'rules' is missing",
        "'levels' is given twice",
        "unknown key 'tables.a.valu'; did you mean 'value'?",
        "hierarchy.regoin: no such dimension",
        "clusters.one: there is no table 'bb'",
        "clusters.one: unknown key 'methode'; did you mean 'method'?",
        "tables.a is in several clusters",
        "tables.b is in no cluster",
        "clusters.internal: a folder cannot have this name",
        "clusters.internal: cost: should be a text, not 3",
        "previous: unknown key 'revison'; did you mean 'revision'?",
        "previous.factor: should be a number above 0 and at most 1, not 2",
        "microdata.a: 'data' is missing",
        "trial 1: unknown key 'limit'; did you mean 'limits'?",
    ):
        assert words in said, words
    assert len(set(caught.value.problems)) == len(caught.value.problems)


def test_a_protocol_needs_something_to_publish(place: Path) -> None:
    (place / "p.toml").write_text('rules = ["p%=15"]\n')
    with pytest.raises(InputError, match="nothing to publish"):
        read_protocol(place / "p.toml")


def test_rules_that_are_not_there_are_named(place: Path) -> None:
    (place / "rules.toml").unlink()
    with pytest.raises(InputError, match=r"rules: .*rules\.toml"):
        read_protocol(place / "p.toml")


def test_the_schema_is_json_and_knows_all_keys(place: Path) -> None:
    schema = schema_of_protocols()
    assert json.loads(json.dumps(schema)) == schema
    assert read_protocol(place / "p.toml").content.keys() <= schema["properties"].keys()
    for name in ("ClusterSpec", "PreviousSpec", "TableSpec"):
        assert name in schema["$defs"]


plain = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8)
values = (plain | words | st.lists(words, max_size=3)).filter(lambda one: one is not None)
tables = st.dictionaries(words, values | st.dictionaries(words, values, min_size=1, max_size=3), max_size=5)


@given(tables)
def test_what_is_written_is_read_again(content: dict[str, object]) -> None:
    assert tomllib.loads(toml_of(content)) == content
