"""Tables by groupings that are not nested: what differences between groups tell, counted out from the records."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import tabprotect as tp
from tabprotect.cli.app import run
from tabprotect.errors import InputError

P = 25.0
AGES = ["00", "05", "10", "15", "20", "25"]
TENS = {"0-9": ["00", "05"], "10-19": ["10", "15"], "20-29": ["20", "25"]}
FIFTEENS = {"0-14": ["00", "05", "10"], "15-29": ["15", "20", "25"]}


def records(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = 60
    return pd.DataFrame(
        {
            "age": rng.choice(AGES, n),
            "region": rng.choice(list("ab"), n),
            "firm": [f"f{k}" for k in range(n)],
            "v": np.round(rng.lognormal(3, 1, n)) + 1,
        }
    )


def table(frame: pd.DataFrame, groups: dict[str, list[str]], *, below: bool) -> tp.Table:
    """By age groups and region; with the ages below the groups, or without them."""
    if below:
        age = tp.Dimension("age", tp.Hierarchy({"Total": list(groups), **groups}))
        return tp.tabulate(frame, [age, "region"], "v", contributor="firm")
    band = {code: name for name, codes in groups.items() for code in codes}
    return tp.tabulate(frame.assign(age=frame["age"].map(band)), ["age", "region"], "v", contributor="firm")


def furthest(shown: list[tuple[Any, float]], aim: Any) -> float:
    """The largest value that a sum of ages can have for everybody who sees these sums; an age is a part of a region."""
    atoms = list(product(AGES, "ab"))
    A = np.array([[atom in cells for atom in atoms] for cells, _ in shown], float)
    found = linprog(-np.array([atom in aim for atom in atoms], float), A_eq=A, b_eq=[v for _, v in shown])
    return np.inf if found.status == 3 else -float(found.fun)


def cells_of(groups: dict[str, list[str]], age: str, region: str) -> set[tuple[str, str]]:
    ages = groups.get(age, [age] if age in AGES else AGES)
    return set(product(ages, "ab" if region == "Total" else region))


def disclosed(frame: pd.DataFrame, published: list[tuple[dict[str, list[str]], pd.DataFrame]]) -> list[str]:
    """Ages and differences of two groups that everybody computes more closely than p % of the largest contribution."""
    shown = [
        (cells_of(groups, row["age"], row["region"]), float(row["v"]))
        for groups, rows in published
        for _, row in rows.iterrows()
        if row["status"] == "published"
    ]
    aims = [{atom} for atom in product(AGES, "ab")] + [cells for cells, _ in shown]
    found = []
    for aim in aims:
        inside = pd.Series(list(zip(frame["age"], frame["region"], strict=True))).isin(list(aim)).to_numpy()
        sizes = np.sort(frame["v"].to_numpy()[inside])[::-1]
        if not len(sizes):
            continue
        level = P / 100 * sizes[0] - sizes[2:].sum()
        if level > 0 and furthest(shown, aim) < sizes.sum() + level - 1e-6:
            found.append(str(sorted(aim)))
    return found


GROUPINGS = {"tens": TENS, "fifteens": FIFTEENS}


def by_one(frame: pd.DataFrame) -> list[tuple[dict[str, list[str]], pd.DataFrame]]:
    """Every table protected by itself."""
    releases = [(g, tp.protect(table(frame, g, below=False), f"p%={P:g}")) for g in GROUPINGS.values()]
    assert all(release.safe for _, release in releases)
    return [(g, release.published) for g, release in releases]


@pytest.mark.parametrize("seed", range(4))
def test_nobody_computes_differences_of_tables_that_are_audited_together(seed: int) -> None:
    frame = records(seed)
    tables = {name: table(frame, groups, below=True) for name, groups in GROUPINGS.items()}
    release = tp.protect(tp.link(tables, unpublished={"age": AGES}), f"p%={P:g}", limits=tp.Limits(work=20_000))
    assert release.safe
    assert release.verify().ok
    rows = release.published
    assert not rows["age"].isin(AGES).any()
    assert release.frame["age"].isin(AGES).any()
    assert "published" in set(rows.loc[rows["age"].str.contains("-"), "status"])
    assert disclosed(frame, [(groups, rows[rows["table"] == name]) for name, groups in GROUPINGS.items()]) == []


def test_tables_protected_one_by_one_tell_differences() -> None:
    """What the test above looks for is there."""
    assert any(disclosed(records(seed), by_one(records(seed))) for seed in range(4))


def test_groups_that_nothing_ties_together_are_named() -> None:
    frame = records(0)
    apart = tp.link({name: table(frame, groups, below=False) for name, groups in GROUPINGS.items()})
    (note,) = [one for one in tp.protect(apart, f"p%={P:g}").problem.notes if "differently" in one]
    assert note.startswith("the tables group 'age' differently: what differences between groups tell")
    tied = tp.link({name: table(frame, groups, below=True) for name, groups in GROUPINGS.items()})
    assert not [one for one in tp.make_problem(tied, f"p%={P:g}").notes if "differently" in one]


def test_a_specification_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = records(1)
    frame.to_csv(tmp_path / "people.csv", index=False)
    lines = [
        'data = "people.csv"',
        'by = ["age", "region"]',
        'value = "v"',
        'contributor = "firm"',
        f'rules = ["p%={P}"]',
    ]
    lines += [f"unpublished = {{age = {AGES}}}", '[output]\nfolder = "out"', "[limits]\nwork = 20000"]
    for name, groups in GROUPINGS.items():
        tree = [["Total", group] for group in groups] + [[g, code] for g, codes in groups.items() for code in codes]
        pd.DataFrame(tree, columns=["parent", "child"]).to_csv(tmp_path / f"{name}.csv", index=False)
        lines += [f'[tables.{name}.hierarchy]\nage = {{pairs = "{name}.csv"}}']
    (tmp_path / "spec.toml").write_text("\n".join(lines))
    assert run(["protect", str(tmp_path / "spec.toml")]) in (0, 3), capsys.readouterr()
    rows = pd.read_csv(tmp_path / "out" / "publish" / "table.csv", dtype={"age": str})
    assert disclosed(frame, [(groups, rows[rows["table"] == name]) for name, groups in GROUPINGS.items()]) == []
    assert not rows["age"].isin(AGES).any()
    page = (tmp_path / "out" / "publish" / "index.html").read_text(encoding="utf-8")
    assert "10-19" in page
    assert not [code for code in AGES if f'"{code}"' in page]
    assert run(["verify", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    assert run(["audit", str(tmp_path / "out"), "--json", "-"]) == 0
    counts = json.loads(capsys.readouterr().out)["counts"]
    manifest = json.loads((tmp_path / "out" / "internal" / "release.json").read_text(encoding="utf-8"))
    assert counts == manifest["counts"]
    assert counts["rows"] == len(rows)
    (tmp_path / "one.toml").write_text("\n".join(lines[:6]))
    assert run(["protect", str(tmp_path / "one.toml"), "--out", str(tmp_path / "one")]) == 2
    assert "'unpublished' goes with linked tables" in capsys.readouterr().err


def test_a_group_of_one_code_has_a_row() -> None:
    """Its cell is that of the code, which has none."""
    one = {"0-19": AGES[:4], "20-24": ["20"], "25-29": ["25"]}
    tables = {"tens": table(records(0), TENS, below=True), "one": table(records(0), one, below=True)}
    rows = tp.protect(tp.link(tables, unpublished={"age": AGES}), f"p%={P:g}", limits=tp.Limits(work=20_000)).published
    assert set(rows.loc[rows["table"] == "one", "age"]) == {"Total", *one}
    assert set(rows.loc[rows["age"].isin(["20-24", "25-29"]), "status"]) == {"suppressed"}


def test_codes_that_there_are_not_are_named() -> None:
    tables = [table(records(0), TENS, below=True)]
    with pytest.raises(InputError, match="there is no dimension 'aeg'; did you mean 'age'"):
        tp.link(tables, unpublished={"aeg": AGES})
    with pytest.raises(InputError, match="'age' has no code '30'"):
        tp.link(tables, unpublished={"age": [*AGES, "30"]})
