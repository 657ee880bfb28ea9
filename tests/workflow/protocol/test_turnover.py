"""Turnover tables that come with rtauargus: from a metadata list to two periods' verified releases."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tabprotect.certificate.limits import UNLIMITED
from tabprotect.certificate.verify import verify
from tabprotect.cli.app import run

Shared = Callable[[str], Path]
TABLES = {
    "act_cj": ["ACTIVITY", "CJ"],
    "act_size": ["ACTIVITY", "SIZE"],
    "nuts_cj": ["NUTS", "CJ"],
    "nuts_size": ["NUTS", "SIZE"],
}
CODES = {"ACTIVITY": str, "NUTS": str}


def pairs(frame: pd.DataFrame, total: str) -> pd.DataFrame:
    """Parents and children of nested columns."""
    found = [(total, code) for code in frame.iloc[:, 0].unique()]
    for above, below in pairwise(frame.columns):
        found += [(p, c) for p, c in frame[[above, below]].itertuples(index=False) if p != c]
    return pd.DataFrame(found, columns=["parent", "child"]).drop_duplicates()


def lay_out(shared: Shared, folder: Path) -> None:
    """Put the code lists, the tables and the list of them into a folder."""
    activity = pd.read_csv(shared("instances/tables/rtauargus_activity_corr_table.csv"), dtype=str)
    nuts = pd.read_csv(shared("instances/tables/rtauargus_nuts23_fr_corr_table.csv"))
    pairs(activity, "Total").to_csv(folder / "activity.csv", index=False)
    pairs(nuts, "Total").to_csv(folder / "nuts.csv", index=False)
    rows = []
    for name, by in TABLES.items():
        frame = pd.read_csv(shared(f"instances/tables/rtauargus_turnover_{name}.csv"), dtype=CODES)
        frame.to_csv(folder / f"{name}.csv", index=False)
        row = {"table_name": name, "field": "France", "indicator": "TOT"}
        for k, dimension in enumerate(by, 1):
            tree = {"ACTIVITY": "activity", "NUTS": "nuts"}.get(dimension)
            row |= {f"spanning_{k}": dimension, f"hrc_spanning_{k}": tree}
        rows.append({**row, "count": "N_OBS", "maxima": "MAX", "empty": "drop"})
    pd.DataFrame(rows).to_csv(folder / "tables.csv", index=False, na_rep="NA")


def next_period(folder: Path) -> Path:
    """All values grow, so that tables still add up; in a tenth of the inner cells the largest contribution is less."""
    rng = np.random.default_rng(1)
    there = folder / "next"
    there.mkdir()
    for name in TABLES:
        frame = pd.read_csv(folder / f"{name}.csv", dtype=CODES)
        inner = ~frame[TABLES[name]].isin(["Total"]).any(axis=1)
        less = np.where(inner & (rng.random(len(frame)) < 0.1), 0.5, 1.0)
        frame.assign(TOT=1.5 * frame["TOT"], MAX=1.5 * less * frame["MAX"]).to_csv(there / f"{name}.csv", index=False)
    return there


@pytest.mark.slow
def test_from_a_list_to_two_periods(shared: Shared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(shared, tmp_path)
    monkeypatch.chdir(tmp_path)
    rules = ["--rule", "threshold=3", "--rule", "nk=1,85", "--time-limit", "20"]
    assert run(["plan", "tables.csv", *rules, "--out", "turnover.toml"]) == 0
    # how much is kept is not to depend on what else the machine has to do
    protocol = Path("turnover.toml").read_text()
    assert "seconds = 20.0" in protocol
    Path("turnover.toml").write_text(protocol.replace("seconds = 20.0", "work = 30000"))
    assert run(["develop", "turnover.toml", "--as-given"]) == 0
    assert run(["apply", "turnover.fixed.toml", "--data", ".", "--out", "first"]) in (0, 3)
    (name,) = (folder.name for folder in (tmp_path / "first").iterdir() if (folder / "publish").exists())
    assert verify(tmp_path / "first" / name / "internal" / "certificate.json", limits=UNLIMITED).safe
    public = pd.read_csv(tmp_path / "first" / name / "publish" / "table.csv", dtype=str)
    assert public["table"].unique().tolist() == list(TABLES)
    assert public.loc[public["status"] == "suppressed"].iloc[:, -2].isna().all()
    next_period(tmp_path)
    done = run(["apply", "turnover.fixed.toml", "--data", "next", "--previous", "first", "--out", "second"])
    assert done in (0, 3)
    report = json.loads((tmp_path / "second" / "internal" / "period.json").read_text())["releases"]
    kept = report[name]["stability"]
    assert 0.9 < kept["share"] <= 1, kept
