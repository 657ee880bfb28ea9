"""One registry of methods: whatever lists methods lists these, and what it says of them is so."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest

import tabprotect as tp
from tabprotect.certificate.claims import METHODS as CLAIMS
from tabprotect.cli import values
from tabprotect.cli.named import filled
from tabprotect.comparison import APPROACHES
from tabprotect.errors import InputError
from tabprotect.methods.base.options import option_names, read_options
from tabprotect.methods.registry import (
    GRANULARITY,
    METHODS,
    OPEN_CLASSES,
    PASSES,
    RECODE,
    VALUE_METHODS,
    entry,
    names,
    options_help,
)
from tabprotect.methods.registry import PASSES as PASSES_OF_RELEASES
from tabprotect.methods.suppression import methods
from tabprotect.workflow.specification import Spec

CHANGING = [one for one in METHODS.values() if one.family == "values"]


def named(one) -> str:
    return one.name


def test_the_families_are_those_of_their_rooms() -> None:
    assert names("suppress") == (*methods(), PASSES)
    assert PASSES == PASSES_OF_RELEASES
    assert names("values") == tuple(VALUE_METHODS)
    assert names() == (*names("suppress"), RECODE, OPEN_CLASSES, GRANULARITY, *VALUE_METHODS)


@pytest.mark.parametrize("one", METHODS.values(), ids=named)
def test_the_factory_makes_what_protect_takes(one) -> None:
    swapping = {"geography": ["a"], "risk": ["b"], "similar": [["c"]]}
    needed = {"swap": swapping, OPEN_CLASSES: {"open": ["age"]}}.get(one.name, {})
    made = one.factory(**needed)
    assert isinstance(made, {"suppress": tp.Suppress, "recode": tp.Recode}.get(one.family, VALUE_METHODS.get(one.name)))
    assert type(made).__name__ in tp.__all__
    for option in one.options:
        if option.name not in needed:
            assert getattr(made, option.name) == option.default, option
    assert one.name == getattr(made, "name", None) or one.name in (getattr(made, "method", None), *names("recode"))
    assert len(one.summary) > 20


@pytest.mark.parametrize("one", CHANGING, ids=named)
def test_options_are_documented_and_typed(one) -> None:
    shown = [option for option in one.options if option.text]
    assert [option.name for option in shown] == list(option_names(VALUE_METHODS[one.name]))
    for option in shown:
        assert option.takes, option
        assert option.help, option
        if option.takes == "a number":
            with pytest.raises(InputError, match=f"{option.name} must be a number"):
                read_options(one.factory, {option.name: "lots"})


def test_every_claim_is_one_that_the_verifier_reads() -> None:
    assert {claim for one in METHODS.values() for claim in one.claims} == set(CLAIMS)
    assert all(one.claims for one in CHANGING)
    assert not any(one.claims or one.drawn for one in METHODS.values() if one.family != "values")


def test_the_command_line_knows_these_and_their_options() -> None:
    listed = " ".join(filled("{hiding}, {tables}, {records}, {recoding}").split())
    assert sorted(listed.split(", ")) == sorted(METHODS)
    assert filled("{compared}").split(", ") == list(APPROACHES)
    for group, options in options_help().items():
        assert f"{', '.join(group)}: {', '.join(options)}." in filled("{options}")
    assert {*values.METHODS, *values._ELSEWHERE} <= {*VALUE_METHODS, RECODE}
    for name, options in values.METHODS.items():
        assert set(options) <= {option.name for option in entry(name).options} | {"norm", "weights"}
    schema = Spec.model_json_schema()["properties"]
    assert schema["method"]["enum"] == list(METHODS)
    assert all(one.summary in schema["method"]["description"] for one in METHODS.values())
    assert "cell-key: deviation" in schema["options"]["description"]


def test_the_comparison_knows_these() -> None:
    assert set(APPROACHES) == {"suppress", RECODE, *VALUE_METHODS}


def test_the_docstring_of_suppress_names_its_methods() -> None:
    listed = re.search(r"method : \{([^}]*)\}", tp.Suppress.__doc__ or "")
    assert listed is not None
    assert tuple(re.findall(r"'([\w-]+)'", listed[1])) == names("suppress")


def test_every_page_is_there_and_the_reference_lists_all(checkout: Path) -> None:
    for one in METHODS.values():
        page, _, anchor = one.page.partition("#")
        text = (checkout / "docs" / page).read_text(encoding="utf-8")
        headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
        assert not anchor or anchor in [heading.lower().replace(" ", "-") for heading in headings], one.page
    spec = importlib.util.spec_from_file_location("docs_hooks", checkout / "docs" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    page = hooks.on_page_markdown("", SimpleNamespace(file=SimpleNamespace(src_uri="reference.md")))
    assert re.findall(r"^\| \[`([\w-]+)`\]", page, flags=re.MULTILINE) == list(METHODS)


def test_type_checkers_know_what_every_method_returns() -> None:
    from tabprotect.workflow.protect import Changing, Hiding

    assert set(get_args(Hiding)) == {*names("suppress"), *names("recode")}
    # another method that changes values, not listed there, is either kind of release to them
    assert set(get_args(Changing)) <= set(names("values"))
