"""A small survey as tau-ARGUS has it: fixed width, Windows line ends, accents, a hierarchy, holdings, weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tabprotect.workflow.argus import Outcome, run_batch

RDA = """\
Year 1 2 99
    <RECODEABLE>
    <TOTCODE> "Tot"
Size 3 2 99
    <RECODEABLE>
    <DISTANCE> 1 3 5 7 9
Région 5 2 99
    <RECODEABLE>
    <CODELIST> "REGION.CDL"
    <HIERARCHICAL>
    <HIERCODELIST> "Région 2.HRC"
    <HIERLEADSTRING> "@"
    <DISTANCE> 2 4 4 4 4
Trade 7 3
    <RECODABLE>
    <HIERARCHICAL>
    <HIERLEVELS> 1 2 0
Weight 10 4
    <NUMERIC>
    <DECIMALS> 1
    <WEIGHT>
Turnover 14 8 99999999
    <NUMERIC>
Staff 22 5
    <NUMERIC>
Group 27 3
    <HOLDING>
Ask 30 1
    <REQUEST> "1" "2"
"""

HRC = "Nr\n@ 1\n@ 2\nZd\n@ 3\n@10\n"


def records(n: int = 70, seed: int = 7) -> list[str]:
    """Return lines of fixed width; small cells among them."""
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(n):
        year, size, region = (
            rng.choice(["21", "22"]),
            rng.choice([" 2", " 4", " 5"]),
            rng.choice([" 1", " 2", " 3", "10"]),
        )
        trade = rng.choice(["A01", "A02", "B01", "C01"], p=[0.4, 0.3, 0.25, 0.05])
        weight, turnover, staff = rng.choice([1.0, 1.5, 2.0]), int(rng.lognormal(4, 2.0)) + 1, int(rng.integers(1, 90))
        group, ask = f"{i // 4:3d}", rng.choice([" ", "1", "2"], p=[0.9, 0.07, 0.03])
        lines.append(f"{year}{size}{region}{trade}{weight:4.1f}{turnover:8d}{staff:5d}{group}{ask}")
    return lines


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """A folder with blanks, dots and accents in its name, and the files of the survey."""
    folder = tmp_path / "enquête 1.0"
    folder.mkdir()
    (folder / "Survey.ASC").write_bytes("\r\n".join([*records(), ""]).encode("cp1252"))
    (folder / "survey.rda").write_bytes(RDA.replace("\n", "\r\n").encode("cp1252"))
    (folder / "région 2.hrc").write_bytes(HRC.replace("\n", "\r\n").encode("cp1252"))
    (folder / "region.cdl").write_text("Nr,North\n 1,One\n", encoding="utf-8")
    return folder


@pytest.fixture
def run(survey: Path) -> Callable[..., Outcome]:
    """Write a batch into the folder and run it."""

    def run_lines(*lines: str, name: str = "batch.arb", **options: object) -> Outcome:
        path = survey / name
        path.write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))
        return run_batch(path, **options)  # type: ignore[arg-type]

    return run_lines
