"""Intruders who know cells that a recoding gives up: what is left is safe from them, too."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.cli.app import run
from tabprotect.methods.recoding import RecodingRules
from tests.workflow.test_attackers import FIRMS, HOW

TOGETHER = RecodingRules.parse("NS: N, S")
BY_HAND = tp.Recode(rules={"region": TOGETHER})


def value(region: str, size: str) -> float:
    return float(FIRMS.loc[(FIRMS["region"] == region) & (FIRMS["size"] == size), "turnover"].sum())


def status(release: tp.Release, region: str, size: str) -> str:
    shown = release.published.set_index(["region", "size"])
    return str(shown.loc[(region, size), "status"])


def test_what_is_merged_is_not_published_where_the_rest_of_it_is_known() -> None:
    plain = tp.protect(FIRMS, "p%=10", BY_HAND, **HOW)
    # the sensitive cell of N is gone, and the sum with S is published: who knows S knows N
    assert status(plain, "NS", "a") == "published"
    release = tp.protect(FIRMS, "p%=10", BY_HAND, attackers={"office": ["S x a"]}, **HOW)
    assert release.safe
    assert status(release, "NS", "a") == "suppressed"
    assert release.published[["region", "size"]].equals(plain.published[["region", "size"]])
    known = {a.name: a.known for a in release.problem.attackers}
    assert [release.table.system.label(cell) for cell in known["office"]] == ["S x a"]
    # with the sums as they were published before, the intruder has the value itself
    system, pattern = release.table.system, release.pattern.copy()
    pattern[[cell for cell in range(len(pattern)) if system.label(cell).startswith(("NS", "Total", "W"))]] = False
    assert not tp.audit(release.problem, pattern).safe


def test_who_knows_the_sensitive_cell_itself_costs_nothing() -> None:
    release = tp.protect(FIRMS, "p%=10", BY_HAND, attackers={"office": ["N x a", "W x b"]}, **HOW)
    assert release.safe
    assert set(release.published["status"]) == {"published"}
    assert "not published, but audited, since attackers know cells of them: region: N, S" in str(release.summary())
    known = {release.table.system.label(cell) for a in release.problem.attackers for cell in a.known}
    # nothing hides W x b, which everybody gets
    assert "N x a" in known
    values = dict(zip(map(release.table.system.label, range(release.table.n_cells)), release.table.values, strict=True))
    assert values["S x a"] == value("S", "a")


def test_the_least_roll_up() -> None:
    release = tp.protect(FIRMS, "p%=10", tp.Recode(), attackers={"office": ["S x a"], "ministry": [("W", "a")]}, **HOW)
    assert release.safe
    assert sorted(release.published["region"].unique()) == ["Total"]
    both = tp.protect(FIRMS, "p%=10", tp.Recode(), attackers={"office": ["S x a", ("W", "a")]}, **HOW)
    # each alone leaves a sum of two regions open, both together the sensitive value
    assert status(release, "Total", "a") == "published"
    assert status(both, "Total", "a") == "suppressed"


@pytest.mark.parametrize(
    ("how", "merged"),
    [
        (tp.Recode(open="region"), None),
        (tp.Recode(groupings={"region": {"halves": TOGETHER}}), "NS"),
        (tp.Recode(rules={"region": TOGETHER}, keep={"size": 0}), "NS"),
    ],
)
def test_every_kind_of_recoding(how: tp.Recode, merged: str | None) -> None:
    plain = tp.protect(FIRMS, "p%=10", how, **HOW)
    release = tp.protect(FIRMS, "p%=10", how, attackers={"office": ["S x a"]}, **HOW)
    assert release.safe
    assert release.published[["region", "size"]].equals(plain.published[["region", "size"]])
    assert "S" not in set(release.published["region"])
    if merged:
        assert status(release, merged, "a") == "suppressed"


def test_nothing_of_it_is_in_public_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    FIRMS.assign(region=FIRMS["region"].replace({"S": "Sother", "N": "Nother"})).to_csv("firms.csv", index=False)
    Path("region.grc").write_text("NS: Nother, Sother\n")
    Path("spec.toml").write_text(
        'data = "firms.csv"\nby = ["region", "size"]\nvalue = "turnover"\ncontributor = "firm"\nrules = ["p%=10"]\n'
        'method = "recode"\nattackers = {office = ["Sother x a"]}\n[options.rules]\nregion = "region.grc"\n'
        '[output]\nfolder = "out"\n'
    )
    assert run(["protect", "spec.toml"]) == 0
    inside = json.loads(Path("out/internal/release.json").read_text())
    assert inside["settings"]["attackers"] == {"office": ["Sother x a"]}
    for file in Path("out/publish").iterdir():
        assert b"Sother" not in file.read_bytes()


def test_positions_and_keys_name_cells_of_the_recoded_table() -> None:
    recoded = tp.tabulate(FIRMS.assign(region=TOGETHER.apply(FIRMS["region"])), HOW["by"], "turnover")
    label = recoded.system.label(5)
    by_position = tp.protect(FIRMS, "p%=5", BY_HAND, attackers=[tp.Attacker("office", (5,))], **HOW)
    by_label = tp.protect(FIRMS, "p%=5", BY_HAND, attackers={"office": [label, "S x a"]}, **HOW)
    assert by_position.table.unpublished is None
    known = {a.name: a.known for a in by_label.problem.attackers}["office"]
    assert "S x a" in [by_label.table.system.label(cell) for cell in known]


def test_cells_of_neither_table_are_named_together_and_first() -> None:
    searched = []
    with pytest.raises(tp.InputError) as caught:
        tp.protect(
            FIRMS, "p%=10", BY_HAND, attackers={"a": ["N x d", "S x a"], "b": ["X x a"]},
            progress=lambda p: searched.append(p.stage), **HOW,
        )  # fmt: skip
    assert len(caught.value.problems) == 2
    assert "attacker 'a': there is no cell N x d: 'd' is no code of size" in caught.value.problems[0]
    assert "attacker 'b': there is no cell X x a: 'X' is no code of region" in caught.value.problems[1]
    assert not [stage for stage in searched if "audit" in stage or "search" in stage]


def test_a_code_that_is_old_and_new_has_to_get_a_name_of_its_own() -> None:
    method = tp.Recode(rules={"region": RecodingRules.parse("N: N, S")})
    words = "'N' of region is one of N, S, and what the recoding puts together of them; give the new code a name"
    with pytest.raises(tp.InputError, match=words):
        tp.protect(FIRMS, "p%=10", method, attackers={"office": ["N x a"]}, **HOW)
    with pytest.raises(tp.InputError, match=r"office': there is no cell S x a: .*'N' of N, S of region.*own"):
        tp.protect(FIRMS, "p%=10", method, attackers={"office": ["S x a"]}, **HOW)
    assert tp.protect(FIRMS, "p%=10", method, attackers={"office": ["W x a"]}, **HOW).safe


def test_records_and_attackers_stay_as_they_are() -> None:
    frame, attackers = FIRMS.copy(), {"office": ["S x a"]}
    tp.protect(frame, "p%=10", BY_HAND, attackers=attackers, **HOW)
    pd.testing.assert_frame_equal(frame, FIRMS)
    assert attackers == {"office": ["S x a"]}


def test_levels_of_a_hierarchy() -> None:
    tree = tp.Hierarchy({"Total": ["NS", "W"], "NS": ["N", "S"]})
    table = tp.tabulate(FIRMS, [tp.Dimension("region", tree), "size"], "turnover", contributor="firm")
    release = tp.protect(table, "p%=10", tp.Recode(keep={"size": 1}), attackers={"office": ["S x a", "S x Total"]})
    assert release.safe
    assert sorted(release.published["region"].unique()) == ["NS", "Total", "W"]
    kept = release.table
    assert np.array_equal(kept.rows.loc[kept.unpublished, "region"].unique(), ["N", "S"])
    assert status(release, "NS", "a") == "suppressed"
