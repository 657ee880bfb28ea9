"""`tabprotect compare` takes what `tabprotect protect` takes, and shows the same alone and beside other methods."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tabprotect as tp


def test_recoding_is_the_same_alone_and_beside_others(
    tmp_path: Path, tabprotect: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = tp.instances.register(200, seed=1)
    data.assign(section=data["division"].str[:1]).to_csv("r.csv", index=False)
    asked = ("compare", "r.csv", "--by", "division", "--by", "size", "--value", "turnover", "--digits", "division=1,1",
             "--contributor", "enterprise_id", "--rule", "threshold=3", "--time-limit", 10, "--json", "-")  # fmt: skip
    lines = []
    for methods in (("recode",), ("recode", "conventional-round:base=5")):
        done = tabprotect(*asked, *(word for one in methods for word in ("--method", one)))
        assert done.code == 0, done.err
        line = json.loads(done.out)["methods"][0]
        lines.append({name: one for name, one in line.items() if name != "seconds"})
    assert lines[0] == lines[1]
    assert lines[0]["loss"]["hidden"] > 0
    assert lines[0]["risk"]["sensitive"] > 0
