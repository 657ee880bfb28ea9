"""`plot()` of every measure of risk and utility: SVG text that parses, without a library for plots, labels inert."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import tabprotect.microdata as md
from tabprotect.microdata import utility
from tabprotect.microdata.measures import risk_measures
from tabprotect.microdata.risk.base import Measure

EVIL = "<script>alert(1)</script>\x00\x1b"
SCHEMA = md.Schema(
    keys=["age", EVIL], confidential=["income"], weight="w", household="house", scales={"age": "continuous"}
)
OPTIONS: dict[str, dict[str, Any]] = {
    "attribute-disclosure": {"column": "income"},
    "dirichlet-multinomial-uniques": {"population_size": 5000},
    "pitman-uniques": {"population_size": 5000},
    "poisson-gamma-uniques": {"population_size": 5000},
    "zayatz-uniques": {"population_size": 5000},
    "log-linear-risk": {"population_size": 5000},
    "data-intrusion-simulation": {"fraction": 0.1},
}
UTILITIES: dict[str, dict[str, Any]] = {
    "regression_fit": {"target": "income", "on": ["age"]},
    "domain_estimates": {"columns": ["income"], "by": [EVIL]},
}


def people() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 50, 150), EVIL: rng.choice(["a", "</svg>", "b"], 150),
            "income": rng.lognormal(8, 0.5, 150), "w": rng.uniform(5, 20, 150), "house": np.arange(150) // 3,
        }
    )  # fmt: skip


def check(picture: Any) -> None:
    assert isinstance(picture, str)
    root = ElementTree.fromstring(picture)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert {element.tag.partition("}")[2] for element in root.iter()} <= {"svg", "text", "rect"}
    bars = list(root.iter("{http://www.w3.org/2000/svg}rect"))
    assert len(bars) >= 1
    assert all(0 <= float(bar.attrib["width"]) <= 280 for bar in bars)
    assert not [value for element in root.iter() for value in element.attrib.values() if value in ("nan", "inf")]


@pytest.fixture
def no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)


@pytest.mark.usefixtures("no_matplotlib")
@pytest.mark.parametrize("name", risk_measures())
def test_every_measure_of_risk_is_drawn(name: str) -> None:
    frame = people()
    masked = md.mask(frame, SCHEMA, md.RankSwapping(["age", "income"], p=10), seed=1)
    options = OPTIONS.get(name, {})
    if name == "population-uniqueness":
        options = {"population": pd.concat([frame, frame])}
    check(risk_measures()[name](frame, masked, SCHEMA, **options).plot())


def utilities() -> list[str]:
    return [name for name in utility.__all__ if inspect.isfunction(getattr(utility, name))]


@pytest.mark.usefixtures("no_matplotlib")
@pytest.mark.parametrize("name", utilities())
def test_every_measure_of_utility_is_drawn(name: str) -> None:
    frame = people()
    masked = md.mask(frame, SCHEMA, md.Noise(["age", "income"], alpha=0.1), seed=1)
    measure: Callable[..., Measure] = getattr(utility, name)
    check(measure(frame, masked, SCHEMA, **UTILITIES.get(name, {})).plot())


@pytest.mark.parametrize(
    "measure",
    [
        Measure(EVIL, 0.5),
        Measure("x", float("nan"), None, {EVIL: 1.0, "y": float("inf")}),
        Measure("x", 0.5, np.array([np.nan, np.nan])),
        Measure("x", 0.5, np.array([0.1, np.inf, 0.3])),
        Measure("x", 0.5, np.array([])),
    ],
)
def test_odd_values_are_drawn(measure: Measure) -> None:
    check(measure.plot())
