"""A small publication: two linked tables of firms, and one of another population."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

PROTOCOL = """
title = "Firms"
rules = "rules.toml"
data = "firms.csv"
value = "turnover"
contributor = "firm"

[tables.region]
by = ["region", "size"]

[tables.branch]
by = ["branch", "size"]

[hierarchy]
region = "region.hrc"
"""
TREE = "N\n@n1\n@n2\nS\n@s1\n@s2\n"
LIST = """table_name,response,spanning_1,hrc_spanning_1,spanning_2,data,contributor
region,turnover,region,region,size,firms.csv,firm
branch,turnover,branch,NA,size,firms.csv,firm
staff,staff,branch,NA,size,firms.csv,firm
"""


def firms(seed: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "firm": range(40),
            "region": rng.choice(["n1", "n2", "s1", "s2"], 40),
            "branch": rng.choice(["x", "y", "z"], 40),
            "size": rng.choice(["b", "s"], 40),
            "turnover": np.floor(rng.pareto(1.2, 40) * 100 + 1).astype(int),
            "staff": rng.integers(1, 50, 40),
        }
    )


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a protocol, its rules, code list and data, in which the test runs."""
    firms().to_csv(tmp_path / "firms.csv", index=False)
    (tmp_path / "region.hrc").write_text(TREE)
    (tmp_path / "rules.toml").write_text('rules = ["p%=15"]\n')
    (tmp_path / "p.toml").write_text(PROTOCOL)
    (tmp_path / "tables.csv").write_text(LIST)
    monkeypatch.chdir(tmp_path)
    return tmp_path
