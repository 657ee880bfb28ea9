"""`tabprotect compare` takes what `tabprotect protect` takes, and shows the same alone and beside other methods."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
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


def test_granularity_is_a_method_and_an_option_of_recoding(
    tmp_path: Path, tabprotect: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    firms = [("n1", "a", 5), ("n1", "b", 7), ("n2", "a", 4), ("n2", "b", 6)]
    firms += [(region, kind, value) for region in ("s1", "s2") for kind in "ab" for value in (8, 9, 10)]
    pd.DataFrame(firms, columns=["region", "kind", "v"]).rename_axis("firm").to_csv("f.csv")
    asked = ("compare", "f.csv", "--by", "region", "--by", "kind", "--value", "v", "--contributor", "firm", "--rule",
             "threshold=1", "--digits", "region=1,1", "--json", "-", "--time-limit", 10)  # fmt: skip
    given_up = {}
    for how in (("recode",), ("granularity",), ("recode:granularity=50",), ("recode", "--option", "granularity=50")):
        done = tabprotect(*asked, "--method", *how)
        assert done.code == 0, done.err
        (line,) = json.loads(done.out)["methods"]
        given_up[how] = line["loss"]["hidden"]
    nothing, *found = given_up.values()
    assert nothing == 0
    assert found[0] > 0
    assert len(set(found)) == 1


def test_open_classes_are_compared_on_the_table_that_they_make(
    tmp_path: Path, tabprotect: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    firms = [(age, 1) for age, n in ((10, 9), (20, 9), (30, 8), (40, 1)) for _ in range(n)]
    pd.DataFrame(firms, columns=["age", "v"]).to_csv("f.csv", index=False)
    asked = 'data = "f.csv"\nby = ["age"]\nvalue = "v"\nkind = "frequency"\nrules = ["threshold=3"]\n'
    (tmp_path / "a.toml").write_text(asked)
    refused = tabprotect("compare", "a.toml", "--method", "suppress", "--method", "open-classes")
    assert refused.code == 2
    assert "state it as the method of a specification" in refused.err
    cure = re.search(r"--set method=open-classes --set options.open=DIM", " ".join(refused.err.split()))
    assert cure is not None
    words = cure[0].replace("DIM", "age").split()
    done = tabprotect("compare", "a.toml", "--method", "suppress", *words, "--json", "-", "--time-limit", 10)
    assert done.code == 0, done.err
    assert json.loads(done.out)["methods"][0]["risk"]["sensitive"] == 0
    alone = ("compare", "a.toml", "--method", "open-classes", "--json", "-", "--time-limit", 10)
    done = tabprotect(*alone, "--option", "open=age")
    assert done.code == 0, done.err
    (line,) = json.loads(done.out)["methods"]
    assert (line["method"], line["risk"]["sensitive"]) == ("suppress", 0)
    assert 'such as options = {open = ["age"]}' in tabprotect(*alone).err
    (tmp_path / "b.toml").write_text(asked + 'method = "open-classes"\noptions = {open = ["age"]}\n')
    done = tabprotect("compare", "b.toml", "--method", "suppress", "--json", "-", "--time-limit", 10)
    assert done.code == 0, done.err
    (line,) = json.loads(done.out)["methods"]
    assert line["risk"]["sensitive"] == 0  # 30 and over


def test_what_is_noted_about_the_table_is_told(
    tmp_path: Path, tabprotect: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `protect` does: a code of the unknown that no record has."""
    monkeypatch.chdir(tmp_path)
    tp.instances.register(50, seed=1).to_csv("r.csv", index=False)
    asked = ("compare", "r.csv", "--by", "size", "--value", "turnover", "--rule", "threshold=1", "--missing", "size=zz",
             "--method", "suppress")  # fmt: skip
    done = tabprotect(*asked, "--html", "page.html")
    assert "note: no record has the code 'zz' of 'size'" in done.out
    assert "no record has the code" in Path("page.html").read_text()
    (note,) = json.loads(tabprotect(*asked, "--json", "-").out)["notes"]
    assert note.startswith("no record has the code 'zz' of 'size'")
