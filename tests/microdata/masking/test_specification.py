"""Non-perturbative methods from a specification, through the command line, to a folder that verifies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tabprotect.cli.app import run

SPEC = """
data = "p.csv"
seed = 3
[schema]
keys = ["age", "zip", "job"]
weight = "w"
household = "hid"
[[steps]]
method = "global-recoding"
columns = "job"
mapping = {cook = "service", waiter = "service"}
[[steps]]
method = "generalisation"
k = 3
keys = ["age", "zip"]
suppression = 0.1
loss = "entropy"
ladders = {age = {widths = [10, 20]}, zip = {prefixes = [1, 2], length = 3}}
constraints = [{column = "ill", l = 2}]
[[steps]]
method = "local-suppression"
thresholds = {1 = 4, 2 = 3}
importance = {age = 2.0}
[[steps]]
method = "weight-noise"
share = 0.3
[[steps]]
method = "household-numbers"
"""


def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, 80), "zip": rng.choice([111, 112, 121, 122], 80),
            "job": rng.choice(["cook", "waiter", "clerk"], 80), "ill": rng.choice(["flu", "cold", "none"], 80),
            "w": rng.integers(5, 9, 80), "hid": np.sort(rng.integers(1000, 1040, 80)),
        }
    )  # fmt: skip


def test_a_chain_of_methods_is_written_and_verified(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "p.csv", index=False)
    (tmp_path / "s.toml").write_text(SPEC)
    assert run(["mask", str(tmp_path / "s.toml"), "--out", str(tmp_path / "out")]) == 0
    assert run(["verify", str(tmp_path / "out")]) == 0
    steps = json.loads((tmp_path / "out/internal/steps.json").read_text())["steps"]
    assert [step["method"] for step in steps][1:3] == ["generalisation", "local-suppression"]
    assert steps[1]["facts"]["status"] == "optimal"
    assert steps[1]["parameters"]["constraints"] == [{"column": "ill", "l": 2, "kind": "distinct", "c": None}]
    claims = json.loads((tmp_path / "out/internal/claims.json").read_text())["claims"]
    assert {"safe-combinations", "relative-change", "same-total", "renumbered"} <= {claim["kind"] for claim in claims}
    public = (tmp_path / "out/publish/metadata.json").read_text()
    assert "threshold" not in public


def test_problems_of_all_steps_are_named_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people().to_csv(tmp_path / "p.csv", index=False)
    wrong = SPEC.replace("widths = [10, 20]", "width = [10]").replace('loss = "entropy"', 'loss = "entrpy"')
    (tmp_path / "s.toml").write_text(wrong.replace("share = 0.3", "share = 3"))
    assert run(["mask", str(tmp_path / "s.toml"), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    for part in ("ladder of 'age'", "did you mean 'entropy'", "share must be below 1"):
        assert part in said
    assert not (tmp_path / "out").exists()
