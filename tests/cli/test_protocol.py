"""From a list of tables to releases of two periods: plan, develop, apply."""

from __future__ import annotations

import json
import shutil
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tabprotect.workflow.protocol.period import open_period
from tabprotect.workflow.protocol.read import read_protocol
from tests.cli.conftest import tree
from tests.workflow.protocol.conftest import firms, place

__all__ = ["place"]

Run = Callable[..., Any]


@pytest.fixture
def fixed(place: Path, tabprotect: Run) -> Path:
    """The folder with a protocol that is fixed on its data."""
    done = tabprotect("develop", "p.toml")
    assert done.code == 0, done
    return place


def period(place: Path, name: str, data: pd.DataFrame) -> Path:
    folder = place / name
    folder.mkdir()
    data.to_csv(folder / "firms.csv", index=False)
    return folder


def test_a_list_becomes_a_protocol(place: Path, tabprotect: Run) -> None:
    (place / "rules.toml").unlink()
    done = tabprotect("plan", "tables.csv", "--rule", "p%=15", "--out", "new.toml")
    assert done.code == 0, done
    assert "cluster turnover" in done.out
    assert "cluster staff" in done.out
    assert "branch: size" in done.out
    content = tomllib.loads((place / "new.toml").read_text())
    assert content["clusters"] == {"turnover": {"tables": ["region", "branch"]}, "staff": {"tables": ["staff"]}}
    assert content["tables"]["region"]["hierarchy"] == {"region": {"file": "region.hrc"}}
    assert content["tables"]["staff"]["measure"] == "staff"
    assert tomllib.loads((place / "rules.toml").read_text()) == {"rules": ["p%=15"]}
    assert "p%" not in (place / "new.toml").read_text()
    assert stat.S_IMODE((place / "rules.toml").stat().st_mode) == 0o600
    shown = tabprotect("plan", "new.toml")
    assert shown.code == 0
    assert "branch: 3" in shown.out
    again = tabprotect("plan", "tables.csv", "--out", "new.toml")
    assert (again.code, "is there already" in again.err) == (2, True)
    released = tabprotect("develop", "new.toml"), tabprotect("apply", "new.fixed.toml", "--data", ".", "--out", "r")
    assert [one.code for one in released] == [0, 0], released
    checked = tabprotect("verify", "r")
    assert checked.code == 0, checked
    assert checked.out.count("certificate holds: safe") == 2
    assert tabprotect("verify", "r/turnover", "r/staff").out == checked.out
    several = tabprotect("verify", "r", "--against", "tables.csv")
    assert (several.code, "not with 2" in several.err) == (2, True), several
    shutil.copy(place / "tables.csv", place / "r" / "more.csv")
    foreign = tabprotect("verify", "r")
    assert (foreign.code, "holds what is not of its releases: more.csv" in foreign.err) == (2, True), foreign
    (place / "r" / "more.csv").unlink()
    shutil.rmtree(place / "r" / "staff")
    lacking = tabprotect("verify", "r")
    assert (lacking.code, "lacks releases of its period: staff" in lacking.err) == (2, True), lacking


@pytest.mark.slow
def test_clusters_in_processes_of_their_own_release_the_same(
    place: Path, tabprotect: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    (place / "rules.toml").unlink()
    assert tabprotect("plan", "tables.csv", "--rule", "p%=15", "--out", "new.toml").code == 0
    text = (place / "new.toml").read_text()
    assert "seconds = 40.0" in text
    (place / "new.toml").write_text(text.replace("seconds = 40.0", "work = 50000"))
    assert tabprotect("develop", "new.toml", "--as-given").code == 0
    for workers in ("1", "2"):
        done = tabprotect("apply", "new.fixed.toml", "--data", ".", "--out", f"r{workers}", "--workers", workers)
        assert done.code == 0, done
    for path in sorted((place / "r1").rglob("*")):
        twin = place / "r2" / path.relative_to(place / "r1")
        if path.is_file() and path.name != "release.json":
            assert path.read_bytes() == twin.read_bytes(), path
        assert twin.exists()


def test_a_bad_rule_leaves_nothing(place: Path, tabprotect: Run) -> None:
    (place / "rules.toml").unlink()
    before = tree(place)
    done = tabprotect("plan", "tables.csv", "--rule", "p=%15", "--out", "new.toml")
    assert done.code == 2
    assert tree(place) == before


def test_what_was_tried_is_recorded_and_the_cheapest_safe_setting_chosen(place: Path, tabprotect: Run) -> None:
    text = (place / "p.toml").read_text()
    (place / "p.toml").write_text(text + '\n[[trial]]\nmethod = "hypercube"\n\n[[trial]]\ncost = "unit"\n')
    done = tabprotect("develop", "p.toml", "--try", "round:base=50")
    assert done.code == 0, done
    lines = (place / "p.internal" / "decisions.jsonl").read_text().splitlines()
    (record,) = map(json.loads, lines)
    tried = record["tried"]
    assert [one["settings"] for one in tried] == [
        {},
        {"method": "hypercube"},
        {"cost": "unit"},
        {"method": "round", "options": {"base": 50.0}},
    ]
    assert [one["comparable"] for one in tried] == [True, True, False, False]
    assert all(one["exposed"] == 0 for one in tried)
    assert tried[0]["cost"] <= tried[1]["cost"]
    assert tried[2]["cost"] < tried[0]["cost"]
    assert record["chosen"] == {"turnover": {"number": 1, "settings": {}}}
    assert stat.S_IMODE((place / "p.internal").stat().st_mode) == 0o700
    chosen = tabprotect("develop", "p.toml", "--choose", "turnover=2")
    assert chosen.code == 0
    content = tomllib.loads((place / "p.fixed.toml").read_text())
    assert content["clusters"]["turnover"] == {"tables": ["region", "branch"], "method": "hypercube"}
    assert "trial" not in content
    now = (place / "p.internal" / "decisions.jsonl").read_text().splitlines()
    assert (len(now), now[0]) == (2, lines[0])


def test_settings_can_be_fixed_without_trying_anything(place: Path, tabprotect: Run) -> None:
    refused = tabprotect("develop", "p.toml", "--as-given", "--try", "round:base=5")
    assert (refused.code, "--as-given tries nothing" in refused.err) == (2, True)
    assert tabprotect("develop", "p.toml", "--as-given").code == 0
    record = json.loads((place / "p.internal" / "decisions.jsonl").read_text())
    assert [(one["status"], one["cost"]) for one in record["tried"]] == [("not tried", None)]
    assert tabprotect("apply", "p.fixed.toml", "--data", ".", "--out", "r").code == 0


def test_limits_are_shared_by_clusters(place: Path) -> None:
    more = "[tables.staff]\nby = ['branch', 'size']\nvalue = 'staff'\n\n[limits]\nseconds = 42\n\n[hierarchy]"
    text = (place / "p.toml").read_text().replace("[hierarchy]", more)
    (place / "p.toml").write_text(text)
    shared = open_period(read_protocol(place / "p.toml"), None, fixed=False)
    # 21 + 12 cells of two linked tables, and 12 of another measure
    seconds = {name: shared.request(name).limits.seconds for name in shared.clusters}
    assert seconds == pytest.approx({"turnover": 42 * 33 / 45, "staff": 42 * 12 / 45})
    assert shared.request("staff", limits={"seconds": 7}).limits.seconds == 7


def test_decisions_that_were_altered_are_refused(fixed: Path, tabprotect: Run) -> None:
    assert tabprotect("develop", "p.toml").code == 0
    path = fixed / "p.internal" / "decisions.jsonl"
    path.write_text(path.read_text().replace('"number": 1', '"number": 2', 1))
    done = tabprotect("develop", "p.toml")
    assert done.code == 2
    assert "was altered" in done.err


def test_bad_choices_are_named_before_anything_runs(place: Path, tabprotect: Run) -> None:
    done = tabprotect("develop", "p.toml", "--choose", "turnovr=1", "--choose", "turnover=4")
    assert done.code == 2
    assert "no cluster 'turnovr'; did you mean 'turnover'?" in done.err
    assert "a trial from 1 to 1" in done.err
    assert not (place / "p.internal").exists()
    assert tabprotect("develop", "p.toml", "--try", "rund").code == 2


def test_a_next_period_keeps_the_pattern_and_is_verified(fixed: Path, tabprotect: Run) -> None:
    assert tabprotect("apply", "p.fixed.toml", "--data", ".", "--out", "r1").code == 0
    data = firms()
    noise = np.random.default_rng(1).uniform(0.6, 1.6, len(data))
    period(fixed, "next", data.assign(turnover=(data["turnover"] * noise).round().astype(int)))
    alone = tabprotect("apply", "p.fixed.toml", "--data", "next", "--out", "alone")
    kept = tabprotect("apply", "p.fixed.toml", "--data", "next", "--out", "r2", "--previous", "r1")
    assert (alone.code, kept.code) == (0, 0), (alone, kept)
    first, without, with_ = (
        pd.read_csv(fixed / name / "turnover" / "publish" / "table.csv")["status"] for name in ("r1", "alone", "r2")
    )
    assert (first == with_).mean() >= (first == without).mean()
    report = json.loads((fixed / "r2" / "internal" / "period.json").read_text())["releases"]["turnover"]["stability"]
    assert report["cells"] == report["kept"] + len(report["suppressed"]) + len(report["freed"]) == 30
    assert "stability:" in kept.out
    assert tabprotect("verify", "r2/turnover").code == 0
    assert stat.S_IMODE((fixed / "r2" / "internal").stat().st_mode) == 0o700


def test_a_revision_is_audited_beside_the_release_that_it_revises(fixed: Path, tabprotect: Run) -> None:
    assert tabprotect("apply", "p.fixed.toml", "--data", ".", "--out", "r1").code == 0
    same = tabprotect("apply", "p.fixed.toml", "--data", ".", "--out", "r2", "--previous", "r1", "--revision")
    assert same.code == 0, same
    assert "with the last release: safe" in same.out
    data = firms()
    published = pd.read_csv(fixed / "r1" / "turnover" / "publish" / "table.csv", dtype=str)
    shown = published[(published["status"] == "published") & (published["size"] != "Total")]
    inner = shown[shown["branch"].isin(["x", "y", "z"])].iloc[0]
    at = data.index[(data["branch"] == inner["branch"]) & (data["size"] == inner["size"])]
    data.loc[at[0], "turnover"] = 100 * data.loc[at, "turnover"].sum()
    period(fixed, "revised", data)
    before = tree(fixed)
    done = tabprotect("apply", "p.fixed.toml", "--data", "revised", "--out", "r3", "--previous", "r1", "--revision")
    assert done.code == 1, done
    assert "is sensitive now, and the last release published it" in " ".join(done.out.split())
    assert tree(fixed) == before
    bare = tabprotect("apply", "p.fixed.toml", "--data", "revised", "--out", "r3", "--revision")
    assert bare.code == 2
    assert "--previous" in bare.err


def test_another_structure_is_refused_with_every_difference(fixed: Path, tabprotect: Run) -> None:
    data = firms().replace({"branch": {"z": "w"}}).rename(columns={"size": "sise"})
    period(fixed, "renamed", data)
    period(fixed, "codes", firms().replace({"branch": {"z": "w"}}))
    tree_ = period(fixed, "regrouped", firms())
    (tree_ / "region.hrc").write_text("N\n@n1\nS\n@n2\n@s1\n@s2\n")
    (fixed / "nothing").mkdir()
    before = tree(fixed)
    found = {}
    for name in ("renamed", "codes", "regrouped", "nothing", "none"):
        done = tabprotect("apply", "p.fixed.toml", "--data", name, "--out", "r")
        assert done.code == 2, done
        found[name] = done.err
    assert found["renamed"].count("no column 'size'; did you mean 'sise'?") == 2
    assert "dimension 'branch' has 1 new code: 'w'" in found["codes"]
    assert "dimension 'branch' has lost 1 code: 'z'" in found["codes"]
    assert "run `tabprotect develop` on the new data" in found["codes"]
    assert "has another hierarchy: what makes up 'N', 'S' is not what it was" in found["regrouped"]
    assert "there is no file 'firms.csv'" in found["nothing"]
    assert "no such file or folder" in found["none"]
    assert tree(fixed) == before


def test_tables_in_different_clusters_must_share_nothing(place: Path, tabprotect: Run) -> None:
    text = (place / "p.toml").read_text()
    (place / "p.toml").write_text(text + '\n[clusters.a]\ntables = ["region"]\n\n[clusters.b]\ntables = ["branch"]\n')
    done = tabprotect("develop", "p.toml")
    assert done.code == 2
    assert "tables 'region' (cluster 'a') and 'branch' (cluster 'b') share 3 cells" in done.err


def test_a_protocol_that_is_not_fixed_is_not_applied(place: Path, tabprotect: Run) -> None:
    done = tabprotect("apply", "p.toml", "--data", ".", "--out", "r")
    assert done.code == 2
    assert "run `tabprotect develop p.toml`" in done.err


def test_only_releases_of_a_protocol_are_replaced(fixed: Path, tabprotect: Run) -> None:
    (fixed / "r").mkdir()
    (fixed / "r" / "mine.txt").write_text("kept")
    done = tabprotect("apply", "p.fixed.toml", "--data", ".", "--out", "r")
    assert (done.code, "holds files but no releases" in done.err) == (2, True)
    assert (fixed / "r" / "mine.txt").read_text() == "kept"
    shutil.rmtree(fixed / "r")
    assert [tabprotect("apply", "p.fixed.toml", "--data", ".", "--out", "r").code for _ in range(2)] == [0, 0]
    (fixed / "r" / "turnover" / "publish" / "mine.txt").write_text("kept")
    assert tabprotect("apply", "p.fixed.toml", "--data", ".", "--out", "r").code == 2


def test_microdata_files_are_released_beside_tables(place: Path, tabprotect: Run) -> None:
    text = (place / "p.toml").read_text()
    (place / "p.toml").write_text(
        text
        + """
[microdata.people]
data = "people.csv"
[microdata.people.schema]
confidential = ["income"]
[[microdata.people.steps]]
method = "top-coding"
columns = "income"
quantile = 0.9
"""
    )
    people = pd.DataFrame({"age": range(20, 60), "income": np.arange(40.0) * 100})
    people.to_csv(place / "people.csv", index=False)
    assert tabprotect("develop", "p.toml").code == 0
    done = tabprotect("apply", "p.fixed.toml", "--data", ".", "--out", "r")
    assert done.code == 0, done
    assert pd.read_csv(place / "r" / "people" / "publish" / "data.csv")["income"].max() < 3900
    assert tabprotect("verify", "r/people").code == 0
    assert tabprotect("verify", "r/turnover").code == 0
    folder = period(place, "next", firms())
    people.rename(columns={"age": "years"}).to_csv(folder / "people.csv", index=False)
    refused = tabprotect("apply", "p.fixed.toml", "--data", "next", "--out", "r")
    assert refused.code == 2
    assert "microdata.people: the columns 'age' are missing" in refused.err


def test_the_schema_of_protocols(tabprotect: Run) -> None:
    done = tabprotect("schema", "--protocol")
    assert done.code == 0
    assert {"clusters", "microdata", "previous", "tables"} <= json.loads(done.out)["properties"].keys()
