"""Several linked tables in one specification."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

SPEC = """
data = "firms.csv"
value = "turnover"
contributor = "firm"
rules = ["p%=15"]

[tables.region]
by = ["region", "size"]

[tables.branch]
by = ["branch", "size"]

[hierarchy]
region = "region.hrc"

[output]
folder = "out"
"""
TREE = "N\n@n1\n@n2\nS\n@s1\n@s2\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(5)
    firms = pd.DataFrame(
        {
            "firm": range(40),
            "region": rng.choice(["n1", "n2", "s1", "s2"], 40),
            "branch": rng.choice(["x", "y", "z"], 40),
            "size": rng.choice(["b", "s"], 40),
            "turnover": np.floor(rng.pareto(1.2, 40) * 100 + 1).astype(int),
        }
    )
    firms.to_csv(tmp_path / "firms.csv", index=False)
    (tmp_path / "region.hrc").write_text(TREE)
    (tmp_path / "spec.toml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("method", ["auto", "passes"])
def test_linked_tables_are_one_release(place: Path, tabprotect, method: str) -> None:
    done = tabprotect("protect", "spec.toml", "--method", method)
    assert done.code == 0, done
    assert ("passes over 2 linked tables" in done.out) == (method == "passes")
    public = pd.read_csv(place / "out" / "publish" / "table.csv", dtype=str)
    assert public["table"].unique().tolist() == ["region", "branch"]
    both = public[
        public["size"].notna() & public["region"].isin(["Total", np.nan]) & public["branch"].isin(["Total", np.nan])
    ]
    shared = both.pivot(index="size", columns="table", values="status")
    assert (shared["region"] == shared["branch"]).all()
    assert (public["status"] == "suppressed").any()
    assert tabprotect("audit", "out").code == 0
    assert tabprotect("verify", "out").code == 0


def test_a_table_may_have_its_own_data(place: Path, tabprotect) -> None:
    sizes = pd.read_csv("firms.csv").groupby("size")["turnover"].agg(amount="sum", n="count")
    sizes.loc["Total"] = sizes.sum()
    sizes.to_csv("cells.csv")
    own = '[tables.size]\ncells = "cells.csv"\nby = ["size"]\nvalue = "amount"\ncount = "n"\n'
    text = SPEC.replace('contributor = "firm"\n', "").replace('["p%=15"]', '["threshold=3"]')
    (place / "spec.toml").write_text(text.replace("[hierarchy]", f"{own}\n[hierarchy]"))
    refused = tabprotect("protect", "spec.toml")
    assert refused.code == 2
    assert "different measures: 'turnover', 'amount'" in refused.err
    assert 'or in each what it measures: [tables.TABLE] measure = "name"' in refused.err
    (place / "spec.toml").write_text('measure = "money"\n' + text.replace("[hierarchy]", f"{own}\n[hierarchy]"))
    assert tabprotect("protect", "spec.toml").code == 0
    public = pd.read_csv(place / "out" / "publish" / "table.csv", dtype=str)
    assert (public["table"] == "size").sum() == 3


def test_everything_wrong_with_linked_tables_is_said_at_once(place: Path, tabprotect) -> None:
    text = SPEC.replace("[tables.branch]\nby", "[tables.branch]\nvalu").replace("region =", "regoin =")
    (place / "spec.toml").write_text(text.replace("[tables.region]", '[tables.region]\ncells = "cells.csv"'))
    found = tabprotect("protect", "spec.toml")
    assert found.code == 2
    for word in (
        "unknown key 'tables.branch.valu'; did you mean 'value'",
        "tables.branch: 'by' is missing",
        "tables.region: 'contributor' belongs to microdata",
        "hierarchy.regoin: no such dimension; did you mean 'region'",
    ):
        assert word in found.err


def test_errors_in_the_data_name_the_table(place: Path, tabprotect) -> None:
    (place / "spec.toml").write_text(SPEC.replace('by = ["branch"', 'by = ["brunch"'))
    found = tabprotect("protect", "spec.toml")
    assert found.code == 2
    assert "tables.branch: firms.csv: no column 'brunch'; did you mean 'branch'" in found.err


def test_methods_for_one_table_are_refused(place: Path, tabprotect) -> None:
    assert "recode works on one table" in tabprotect("protect", "spec.toml", "--method", "recode").err
    (place / "spec.toml").write_text(SPEC.replace("[tables.region]\n", "").split("[tables.branch]")[0] + "[output]\n")
    assert "this is one table" in tabprotect("protect", "spec.toml", "--method", "passes").err


def test_the_schema_tells_what_a_table_may_say(tabprotect) -> None:
    schema = json.loads(tabprotect("schema").out)
    table = schema["$defs"]["TableSpec"]["properties"]
    assert {"data", "by", "measure"} <= set(table) < set(schema["properties"])
    assert "rules" not in table
