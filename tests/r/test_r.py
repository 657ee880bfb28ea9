"""From R: what comes out is what Python gives for the same data, and columns of every kind stay what they are."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
import tabprotect.microdata as md

pytestmark = pytest.mark.r

HERE = Path(__file__).parent
BLOCK = re.compile(r"^```r\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def script() -> Path:
    found = shutil.which("Rscript") and subprocess.run(["Rscript", "-e", "library(reticulate)"], capture_output=True)
    if not found or found.returncode:
        pytest.skip("needs R with reticulate: make setup-r")
    return Path(tp.__file__).parent / "r" / "tabprotect.R"


def rscript(*arguments: object, cwd: Path) -> str:
    environment = os.environ | {"RETICULATE_PYTHON": sys.executable, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["Rscript", "--vanilla", *map(str, arguments)], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def records() -> pd.DataFrame:
    rng = np.random.default_rng(11)
    n = 90
    frame = pd.DataFrame(
        {
            "region": rng.choice(["N", "O", "W"], n, p=[0.5, 0.4, 0.1]),
            "size": rng.choice(["a", "b", "c"], n, p=[0.6, 0.35, 0.05]),
            "nace": rng.integers(1, 5, n),
            "firm": np.arange(n),
            "turnover": np.round(rng.lognormal(4, 1.2, n), 2),
            "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D"),
        }
    )
    frame.loc[3, "day"] = pd.NaT
    return frame


@pytest.fixture(scope="module")
def results(script: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("r")
    records().to_csv(folder / "records.csv", index=False)
    rscript(HERE / "calls.R", script, folder, cwd=folder)
    return folder


def same(folder: Path, name: str, expected: Any) -> None:
    """Compare what R wrote with a frame, as text where it is text and exactly where it is numbers."""
    found = pd.read_csv(folder / f"{name}.csv", dtype={"size": str, "region": str})
    assert found.columns.tolist() == expected.columns.tolist()
    assert len(found) == len(expected)
    for column in found.columns:
        if pd.api.types.is_numeric_dtype(expected[column]):
            want = expected[column].to_numpy(np.float64, na_value=np.nan)
            # R writes 15 digits
            np.testing.assert_allclose(found[column].to_numpy(np.float64), want, rtol=1e-14)
        else:
            want = expected[column].astype(object).where(expected[column].notna(), "")
            want = [str(getattr(value, "date", lambda value=value: value)()) for value in want]
            assert found[column].astype(object).where(found[column].notna(), "").astype(str).tolist() == want


def test_columns_of_every_kind_come_back_as_they_went(script: Path, tmp_path: Path) -> None:
    assert rscript(HERE / "columns.R", script, cwd=tmp_path).strip().endswith("done")


REGIONS = tp.Hierarchy((("Total", ("NO", "W")), ("NO", ("N", "O"))))


def protected() -> dict[str, Any]:
    firms, by = records(), ["region", "size"]
    amounts = {"value": "turnover", "contributor": "firm"}
    greedy, trees = tp.Suppress(method="greedy"), {"region": REGIONS}
    cells = pd.DataFrame({"region": ["Total", "N", "O", "W"], "n": [30, 20, 8, 2]})
    return {
        "frequency": tp.protect(firms, "threshold=3", by=by),
        "magnitude": tp.protect(firms, ["p%=10", "threshold=3"], greedy, by=by, hierarchies=trees, **amounts),
        "dominance": tp.protect(firms, ["nk=1,80", "nk=2,95"], by=["region", "nace"], **amounts),
        "rounded": tp.protect(firms, "threshold=3", tp.Round(base=5), by=by),
        "cells": tp.protect(tp.Table.from_cells(cells, "region", "n", kind="frequency"), "threshold=3"),
    }


def test_tables_are_those_of_python(results: Path) -> None:
    hidden = 0
    for name, release in protected().items():
        same(results, name, release.published)
        hidden += int(release.published.isna().to_numpy().sum())
    assert hidden > 10


def test_linked_tables_are_those_of_python(results: Path) -> None:
    firms = records()
    given: dict[str, Any] = {"value": "turnover", "contributor": "firm", "hierarchies": {"region": REGIONS}}
    tables = {
        name: tp.tabulate(firms, by, **given) for name, by in (("T1", ["region", "size"]), ("T2", ["region", "nace"]))
    }
    published = tp.protect(tp.link(tables), "p%=10").published
    for name, column in (("T1", "size"), ("T2", "nace")):
        part = published[published["table"] == name]
        same(results, f"linked_{name}", part[["region", column, "turnover", "status"]].reset_index(drop=True))


def test_masked_records_are_those_of_python(results: Path) -> None:
    firms = records()
    firms["region"] = firms["region"].astype("category")
    schema = md.Schema(keys=["region", "size"], confidential=["turnover"], identifiers=["firm"])
    steps = [md.LocalSuppression(k=3), md.Microaggregation(["turnover"], k=3)]
    masked = md.mask(firms, schema, steps, seed=7).frame
    assert masked[["region", "size"]].isna().to_numpy().any()
    same(results, "masked", masked)
    schema = md.Schema(keys=["region"], confidential=["turnover"])
    steps = [md.PRAM("region"), md.Noise(["turnover"]), md.TopCoding("nace", threshold=3)]
    same(results, "perturbed", md.mask(firms, schema, steps, seed=8).frame)


def test_every_line_of_r_on_the_page_runs(script: Path, checkout: Path, tmp_path: Path) -> None:
    blocks = BLOCK.findall((checkout / "docs" / "r.md").read_text(encoding="utf-8"))
    assert len(blocks) > 5
    page = tmp_path / "page.R"
    page.write_text("\n".join(blocks), encoding="utf-8")
    rscript(page, cwd=tmp_path)
