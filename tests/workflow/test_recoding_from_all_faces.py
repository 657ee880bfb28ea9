"""Open classes, groupings and the removal of granularity: the same from Python, a specification and flags."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.cli.app import run
from tabprotect.errors import InputError
from tabprotect.methods.granularity import granularity
from tabprotect.methods.recoding import RecodingRules
from tabprotect.workflow.carry_out import carry_out
from tabprotect.workflow.checking import check_spec
from tabprotect.workflow.specified import request_of

TREE = [("Total", "A"), ("Total", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2"), ("B", "b3")]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    n = 300
    age = np.clip(rng.normal(9, 3, n).round().astype(int), 1, 20)
    frame = pd.DataFrame({"age": age, "sex": rng.choice(list("fm"), n), "place": rng.choice(["a1", "b1", "b2"], n)})
    frame.loc[[0, 1, 2], "place"], frame.loc[[0, 1, 2], "sex"] = ["a2", "b3", "b3"], ["f", "f", "m"]
    frame.to_csv(tmp_path / "people.csv", index=False)
    pd.DataFrame(TREE, columns=["parent", "child"]).to_csv(tmp_path / "place.csv", index=False)
    return tmp_path / "people.csv"


def same(one: Any, two: Any, folder: Path) -> None:
    """Two releases, and one that the command line wrote, are one."""
    assert one.safe
    assert one.settings["recoding"] == two.settings["recoding"]
    assert ("recoded", one.settings["recoding"]) in one.summary().lines
    assert np.array_equal(one.pattern, two.pattern)
    pd.testing.assert_frame_equal(one.published.astype(str), two.published.astype(str))
    inside = json.loads(next((folder / "internal").rglob("release.json")).read_text())
    assert inside["settings"]["recoding"] == one.settings["recoding"]
    assert inside["settings"]["rules"] == one.settings["rules"]
    document = json.loads(next(folder.rglob("certificate.json")).read_text())
    assert {k: document[k] for k in ("cost", "bound")} == {k: one.certificate.document[k] for k in ("cost", "bound")}
    assert run(["verify", str(folder)]) == 0
    assert run(["audit", str(folder)]) == 0


def test_open_classes_from_all_faces(people: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(people)
    one = tp.protect(frame, "threshold=3", tp.Recode(open=["age"], least=False), by=["age", "sex"])
    asked = {"data": "people.csv", "by": ["age", "sex"], "rules": ["threshold=3"], "method": "open-classes"}
    two = carry_out(request_of(check_spec({**asked, "options": {"open": ["age"]}}, "spec"), tmp_path))
    words = "--by age --by sex --rule threshold=3 --method open-classes --option open=age"
    assert run(["protect", str(people), *shlex.split(words), "--out", str(tmp_path / "o")]) == 0
    same(one, two, tmp_path / "o")
    # no class at an end is sensitive, with all records of one, or of the other sex
    codes = list(one.table.dimensions[0].known.leaves)
    ends = {"bottom": codes[0], "top": codes[-1]}
    assert ends["bottom"].startswith("1-")
    cells = one.assessment.frame
    assert (cells.loc[cells["age"].isin(ends.values()), "status"] != "primary").all()
    # and one category less would be
    low, high = (int(part) for part in ends["bottom"].split("-"))
    fewer = frame[frame["age"].between(low, high - 1)]
    assert fewer["sex"].value_counts().min() < 3 or fewer["sex"].nunique() < 2 or len(fewer) < 3
    assert one.table.values[0] == len(frame)


def test_categories_in_an_order_of_their_own(people: Path) -> None:
    frame = pd.read_csv(people).assign(age=lambda f: "y" + f["age"].astype(str))
    order = [f"y{k}" for k in range(1, 21) if f"y{k}" in set(frame["age"])]
    ordered = tp.protect(frame, "threshold=3", tp.Recode(open={"age": order}, least=False), by=["age", "sex"])
    numbers = tp.protect(pd.read_csv(people), "threshold=3", tp.Recode(open="age", least=False), by=["age", "sex"])
    assert np.array_equal(ordered.table.values, numbers.table.values)
    assert np.array_equal(ordered.pattern, numbers.pattern)
    assert ordered.settings["recoding"].replace("y", "") == numbers.settings["recoding"]


GROUPINGS = {
    "pairs": "\n".join(f'"{k}-{k + 1}": {k}, {k + 1}' for k in range(1, 20, 2)),
    "offset": "\n".join(['"1-4": - 4', *(f'"{k}-{k + 2}": {k} - {k + 2}' for k in (5, 8, 11)), "14+: 14 -"]),
    "halves": '"1-9": - 9\n"10-20": 10 -',
}


def groupings(folder: Path) -> dict[str, RecodingRules]:
    """Write a .grc file for every grouping, and return their rules."""
    for name, text in GROUPINGS.items():
        (folder / f"{name}.grc").write_text(text)
    return {name: RecodingRules.read(folder / f"{name}.grc") for name in GROUPINGS}


def test_groupings_from_all_faces(people: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(people)
    frame = frame[frame["age"].between(1, 20)]
    counts = frame["age"].value_counts()
    assert set(counts.index) >= set(range(3, 16))
    frame = pd.concat([frame, pd.DataFrame({"age": range(1, 21), "sex": "f", "place": "a1"})])
    frame.to_csv(people, index=False)
    rules = groupings(tmp_path)
    before = frame.copy()
    one = tp.protect(frame, "threshold=4", tp.Recode(groupings={"age": rules}, least=False), by=["age", "sex"])
    pd.testing.assert_frame_equal(frame, before)
    asked = {"data": "people.csv", "by": ["age", "sex"], "rules": ["threshold=4"], "method": "recode"}
    files = {name: f"{name}.grc" for name in rules}
    options = {"groupings": {"age": files}, "least": False}
    two = carry_out(request_of(check_spec({**asked, "options": options}, "spec"), tmp_path))
    sets = [
        word for name, file in files.items() for word in ("--set", f"options.groupings.age.{name}={tmp_path / file}")
    ]
    words = "--by age --by sex --rule threshold=4 --method recode --option least=false"
    assert run(["protect", str(people), *shlex.split(words), *sets, "--out", str(tmp_path / "o")]) == 0
    same(one, two, tmp_path / "o")
    # nothing is hidden, and every finer grouping has a sensitive cell
    assert not one.pattern.any()
    sizes = {name: one_rules.apply(frame["age"]).nunique() for name, one_rules in rules.items()}
    smallest = {
        name: frame.assign(age=one_rules.apply(frame["age"])).groupby(["age", "sex"]).size().min()
        for name, one_rules in rules.items()
    }
    safe = max((name for name in rules if smallest[name] >= 4), key=lambda name: sizes[name])
    assert f"age: grouping '{safe}'" in one.settings["recoding"]
    assert set(one.published["age"]) == {*rules[safe].apply(frame["age"]).astype(str), "Total"}
    assert any(smallest[name] < 4 and sizes[name] > sizes[safe] for name in rules)


def test_groupings_that_do_not_fit_are_named_at_once(people: Path, tmp_path: Path) -> None:
    frame, tree = pd.read_csv(people), tp.Hierarchy.from_pairs(TREE)
    rules = groupings(tmp_path)
    wanted = {"aeg": rules, "place": rules, "age": {"wrong": RecodingRules.parse("x: 99")}, "sex": {}}
    with pytest.raises(InputError) as error:
        tp.protect(
            frame, "threshold=3", tp.Recode(groupings=wanted), by=["age", "sex", "place"], hierarchies={"place": tree}
        )
    assert error.value.problems == (
        "groupings: the table has no dimension 'aeg'; did you mean 'age'?",
        "groupings: 'place' has levels, and groupings are of codes without any",
        "groupings: 'age', 'wrong': code '99' of new code 'x' does not occur; did you mean '9'?",
        "groupings: 'sex' has no grouping",
    )
    with pytest.raises(InputError, match="they need microdata of one table"):
        tp.protect(tp.tabulate(frame, ["age", "sex"]), "threshold=3", tp.Recode(groupings={"age": rules}))
    with pytest.raises(InputError, match="take one of them"):
        tp.Recode(groupings={"age": rules}, open=["age"])
    halves = {"age": {"halves": rules["halves"]}}
    with pytest.raises(tp.InfeasibleError, match="every combination has sensitive cells"):
        tp.protect(frame, "threshold=150", tp.Recode(groupings=halves), by=["age", "sex"])


def test_granularity_from_all_faces(people: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(people)
    tree = tp.Hierarchy.from_pairs(TREE)
    assert not granularity(frame, ["place", "sex"], dimensions=(2,)).safe
    given = {"by": ["place", "sex"], "hierarchies": {"place": tree}, "empty": "zero"}
    one = tp.protect(frame, "threshold=1", "granularity", **given)
    asked = {"data": "people.csv", "by": ["place", "sex"], "rules": ["threshold=1"], "method": "granularity"}
    hierarchy = {"place": {"pairs": "place.csv"}}
    two = carry_out(request_of(check_spec({**asked, "empty": "zero", "hierarchy": hierarchy}, "spec"), tmp_path))
    words = "--by place --by sex --rule threshold=1 --method granularity --option granularity=50 --empty zero"
    flags = [*shlex.split(words), "--pairs", f"place={tmp_path}/place.csv", "--out", str(tmp_path / "o")]
    assert run(["protect", str(people), *flags]) == 0
    same(one, two, tmp_path / "o")
    assert one.settings["rules"] == ["threshold=1", "granularity"]
    assert "given up" in one.settings["recoding"]
    # what is published is not granulated: unit cells of rows that are mostly such cells are hidden
    shown = one.published[one.published["status"] == "published"]
    leaves = one.table.dimensions[0].known.leaves
    inner = shown[shown["place"].isin(leaves) & shown["sex"].isin(["f", "m"])]
    for held in ("place", "sex"):
        for _, row in inner[inner["count"] > 0].groupby(held):
            assert (row["count"] == 1).mean() < 0.5


def test_the_rule_of_granularity_is_the_index_of_records(people: Path) -> None:
    frame = pd.read_csv(people)
    frame["part"] = np.arange(len(frame)) % 7
    keys = ["age", "sex", "part"]
    table = tp.tabulate(frame, keys)
    found = tp.assess(table, "granularity=60").frame
    sensitive = found[found["status"] == "primary"]
    expected = set()
    for row in granularity(frame, keys, level=60.0).unsafe:
        inside = frame
        for name, code in row.fixed:
            inside = inside[inside[name].astype(str) == str(code)]
        groups = inside.groupby(list(row.table)).size()
        for codes in groups[groups == 1].index:
            cell = dict(zip(row.table, map(str, codes), strict=True))
            expected.add(tuple(cell.get(name, "Total") for name in keys))
    assert expected == set(sensitive[keys].itertuples(index=False, name=None))
    assert len(expected) > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "needs the dimensions that get open classes"),
        ({"open": 3}, "open must be dimensions, such as"),
        ({"open": ["age"], "groupings": {"age": "a.grc"}}, "groupings must be tables of files by dimension"),
        ({"open": ["age"], "groupings": {"age": {}}}, "groupings must be tables of files by dimension"),
        ({"open": ["age"], "groupings": {"age": {"a": "a.grc"}}}, "take one of them"),
        ({"open": ["age"], "opne": 1}, "'opne' is no option of open-classes; did you mean 'open'"),
    ],
)
def test_options_that_are_wrong_are_named(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    asked = {"data": "p.csv", "by": ["age"], "rules": ["threshold=3"], "method": "open-classes", "options": options}
    with pytest.raises(InputError, match=words):
        request_of(check_spec(asked, "spec"), tmp_path)


def test_dimensions_that_cannot_be_opened_are_named(people: Path) -> None:
    frame, tree = pd.read_csv(people), tp.Hierarchy.from_pairs(TREE)
    given = {"by": ["age", "place"], "hierarchies": {"place": tree}}
    with pytest.raises(InputError) as error:
        tp.protect(frame, "threshold=3", tp.Recode(open=["aeg", "place"]), **given)
    assert error.value.problems == (
        "open: the table has no dimension 'aeg'; did you mean 'age'?",
        "open: 'place' has levels, and open classes are of categories without any",
    )
    with pytest.raises(InputError, match="they need microdata of one table"):
        tp.protect(tp.tabulate(frame, ["age", "sex"]), "threshold=3", tp.Recode(open=["age"]))
    with pytest.raises(InputError, match="method 'open-classes' needs options"):
        tp.protect(frame, "threshold=3", "open-classes", **given)
