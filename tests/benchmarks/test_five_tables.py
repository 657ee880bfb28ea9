"""The next period of the five tables: other values that add up, in tables that agree with each other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.five_tables import CODES, TABLES, lay_out, next_period

GROWTH = 1.03


@pytest.fixture
def periods(shared: Callable[[str], Path], tmp_path: Path) -> tuple[Path, Path]:
    lay_out(shared("instances/tables/rtauargus_turnover_act_cj.csv").parent, tmp_path)
    return tmp_path, next_period(tmp_path, seed=1, growth=GROWTH)


def read(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / f"{name}.csv", dtype=CODES)


@pytest.mark.parametrize("name", TABLES)
def test_inner_cells_change_and_margins_that_tables_share_grow(periods: tuple[Path, Path], name: str) -> None:
    old, new = (read(folder, name) for folder in periods)
    totals = old[TABLES[name]].isin(["Total", "Total_EAST"]).sum(axis=1)
    margin = totals >= len(TABLES[name]) - 1
    there = old["TOT"] > 0
    ratio = new["TOT"] / old["TOT"]
    assert (new.loc[~there, "TOT"] == 0).all()
    assert np.allclose(ratio[margin & there], GROWTH, rtol=1e-9)
    assert np.std(ratio[~margin & there]) > 0.02
    assert (new["MAX"] <= new["TOT"] * (1 + 1e-9)).all()


def test_codes_of_a_level_add_up_to_the_total(periods: tuple[Path, Path]) -> None:
    new = read(periods[1], "nuts_size")
    by_level = new[new["NUTS"].str.len() == 4].groupby("SIZE")["TOT"].sum()
    total = new[new["NUTS"] == "Total"].set_index("SIZE")["TOT"]
    assert np.allclose(by_level[total.index], total, rtol=1e-9)
