"""Intruders who know cells besides what is published, from Python, a specification and flags alike."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.cli.app import run

FIRMS = pd.DataFrame(
    {
        "region": ["N", "N", "N", "S", "S", "S", "W", "W", "W"] * 4,
        "size": ["a", "b", "c"] * 12,
        "turnover": [60.0, 20, 30, 25, 35, 15, 20, 45, 30] + [1.0, 15, 25, 22, 30, 12, 14, 40, 22] * 3,
        "firm": [f"f{i}" for i in range(36)],
    }
)
HOW = {"by": ["region", "size"], "value": "turnover", "contributor": "firm"}
KNOWN = ["S x a", "W x b"]


def test_a_known_cell_protects_nobody_against_who_knows_it() -> None:
    plain = tp.protect(FIRMS, "p%=10", **HOW)
    hidden = [plain.table.system.label(int(i)) for i in np.flatnonzero(plain.pattern)]
    sensitive = "N x a"
    assert sensitive in hidden
    other = next(label for label in hidden if label.startswith("N x") and label != sensitive and "Total" not in label)
    release = tp.protect(FIRMS, "p%=10", attackers={"office": [other]}, **HOW)
    assert release.safe
    assert release.problem.attackers[-1].name == "office"
    # the first pattern is not safe against him, the second is, by an audit of its own
    assert not tp.audit(release.problem, plain.pattern).safe
    audited = tp.audit(release.problem, release.pattern)
    assert audited.safe
    assert release.result.cost >= plain.result.cost


def test_the_three_faces_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    FIRMS.to_csv("firms.csv", index=False)
    release = tp.protect(FIRMS, "p%=10", attackers={"office": KNOWN, "ministry": [("N", "b")]}, **HOW)
    Path("spec.toml").write_text(
        'data = "firms.csv"\nby = ["region", "size"]\nvalue = "turnover"\ncontributor = "firm"\nrules = ["p%=10"]\n'
        'attackers = {office = ["S x a", "W x b"], ministry = ["N x b"]}\n[output]\nfolder = "one"\n'
    )
    assert run(["protect", "spec.toml"]) == 0
    words = "protect firms.csv --by region --by size --value turnover --contributor firm --rule p%=10 --out two"
    flags = ["--attacker", "office=S x a", "--attacker", "office=W x b", "--attacker", "ministry=N x b"]
    assert run([*words.split(), *flags]) == 0
    expected = release.published["status"].tolist()
    for folder in ("one", "two"):
        assert pd.read_csv(f"{folder}/publish/table.csv")["status"].tolist() == expected
        inside = json.loads(Path(folder, "internal", "release.json").read_text())
        assert inside["settings"]["attackers"] == {"office": KNOWN, "ministry": ["N x b"]}
        assert inside["settings"]["contributor"] == "firm"
        for file in Path(folder, "publish").iterdir():
            assert b"office" not in file.read_bytes()
    assert Path("one/publish/table.csv").read_bytes() == Path("two/publish/table.csv").read_bytes()


def test_cells_that_there_are_not_are_named_together() -> None:
    with pytest.raises(tp.InputError) as caught:
        tp.protect(FIRMS, "p%=10", attackers={"a": ["N x d"], "b": ["X x a"]}, **HOW)
    assert len(caught.value.problems) == 2
    assert "attacker 'a'" in caught.value.problems[0]
    for wrong in (["N x a"], {"a": "N x a"}):
        with pytest.raises(tp.InputError, match="attackers must map a name"):
            tp.protect(FIRMS, "p%=10", attackers=wrong, **HOW)  # type: ignore[arg-type, call-overload]


def test_a_finished_table_says_whose_records_it_was_made_of() -> None:
    table = tp.tabulate(FIRMS, ["region", "size"], "turnover", contributor="firm")
    assert table.roles == {"value": "turnover", "contributor": "firm"}
    assert tp.protect(table, "p%=10").settings["contributor"] == "firm"
    both = tp.link({"one": table, "two": tp.tabulate(FIRMS, ["region"], "turnover", contributor="firm")})
    assert both.roles == table.roles


def test_only_public_names_are_listed() -> None:
    assert dir(tp) == sorted(tp.__all__)
    assert {"protect", "tabulate", "microdata"} <= set(dir(tp))
    assert not {"importlib", "annotations", "Any"} & set(dir(tp))


def test_audit_says_what_it_wants() -> None:
    with pytest.raises(tp.InputError, match="audit needs a Problem"):
        tp.audit(FIRMS, [True])  # type: ignore[arg-type]


def test_two_attackers_of_one_name_are_not_silently_one() -> None:
    two = [tp.Attacker("office", (1,)), tp.Attacker("office", (2,))]
    with pytest.raises(tp.InputError, match="names of their own; twice: office"):
        tp.protect(FIRMS, "p%=10", attackers=two, **HOW)


WEIGHED = pd.DataFrame(
    {"r": list("aaabbbcc"), "s": list("xxyyxyxy"), "f": range(8), "v": [90.0, 5, 4, 40, 50, 20, 30, 60], "w": 0.5}
)
OF_WEIGHED: dict[str, str | list[str]] = {"by": ["r", "s"], "value": "v", "contributor": "f"}


def test_two_records_whose_weights_add_up_to_one_are_no_single_contributor() -> None:
    release = tp.protect(WEIGHED, "p%=15", weight="w", **OF_WEIGHED)
    assert release.safe
    assert release.verify().safe
    assert not release.problem.attackers
    alone = tp.protect(WEIGHED.assign(w=1), "p%=15", weight="w", **OF_WEIGHED)
    assert {attacker.name for attacker in alone.problem.attackers} == {"2", "4", "6", "7"}


@pytest.mark.parametrize("weight", [None, "w"])
def test_a_sum_that_an_attacker_knows_whatever_is_hidden_is_protected_against_all_others(weight: str | None) -> None:
    """It was asked for again in every round, and refused as being there already."""
    attackers = {"7": ["c x Total"], "6": ["b x Total"]}
    release = tp.protect(WEIGHED, "p%=15", weight=weight, attackers=attackers, **OF_WEIGHED)
    assert release.safe
    assert release.verify().safe
    assert any("whatever is hidden" in note for note in release.problem.notes)
