"""Every face, method, rule and shape of table gives the release that is recorded.

A difference is either a mistake or on purpose: ``python -m tests.golden.releases.record`` records it anew.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tabprotect as tp
from tabprotect.methods.registry import VALUE_METHODS
from tabprotect.methods.suppression import methods
from tabprotect.sensitivity.rules import RULES
from tests.golden.releases.answers import FOLDER, answer, differences, read, write
from tests.golden.releases.cases import CASES, Commands, Protect


@pytest.mark.parametrize("name", CASES)
def test_the_release_is_the_recorded_one(name: str, tmp_path: Path) -> None:
    made = answer(CASES[name], tmp_path)
    write(name, made, tmp_path / "answers")
    found = list(differences(read(name), read(name, tmp_path / "answers")))
    assert not found, "\n".join([f"{name}: {len(found)} places differ", *found])


def test_no_answer_is_left_without_its_case() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(CASES)


def test_every_method_and_rule_is_among_the_cases() -> None:
    calls = [case for case in CASES.values() if isinstance(case, Protect)]
    made = {getattr(case.method, "name", None) or getattr(case.method, "method", "auto") for case in calls}
    assert {*VALUE_METHODS, *methods(), "passes"} <= made
    lines = " ".join(line for case in CASES.values() if isinstance(case, Commands) for line in case.lines)
    for method in (*methods(), "passes", "round", "adjust", "cell-key", "conventional-round"):
        assert f"--method {method}" in lines, method
    texts = [*re.findall(r"--rule (\S+)", lines), *(str(one) for case in calls for one in np.atleast_1d(case.rules))]
    named = {type(rule) for text in texts for rule in tp.parse_rules(text)}
    assert set(RULES.values()) == named


def test_a_difference_is_named_with_its_place(tmp_path: Path) -> None:
    write("one", {"release": {"cost": 12, "hidden": ["a"]}, "published": ["N | 5"]}, tmp_path)
    made = {"release": {"cost": 13, "hidden": ["a", "b"]}, "published": ["N | 5"]}
    assert list(differences(read("one", tmp_path), made)) == [
        "release.cost: was 12, is 13",
        "release.hidden[1]: was None, is 'b'",
    ]
