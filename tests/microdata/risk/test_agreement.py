"""Keys that are written alike are alike, whatever the type of their columns became."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import tabprotect.microdata as md
from tests.microdata.frames import KINDS

SCHEMA = md.Schema(keys=["k", "s"], scales={"k": "unordered"})


def coded(values: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"k": values, "s": list("ab") * (len(values) // 2)})


@pytest.mark.parametrize("other", [[1.0, 2.0, 3.0, 4.0], ["1", "2", "3", "4"]])
def test_linkage_does_not_depend_on_how_codes_are_stored(other: list[Any]) -> None:
    original = coded([1, 2, 3, 4])
    masked = coded(other)
    assert md.risk.distance_linkage(original, masked, SCHEMA, metric="gower").records.tolist() == [1.0] * 4  # type: ignore[union-attr]
    assert md.risk.probabilistic_linkage(original, masked, SCHEMA).value == 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_population_frequencies_of_a_sample_with_missing_keys(kind: str) -> None:
    everybody = pd.DataFrame({"age": [20, 20, 30, 90, 50]})
    sample = pd.DataFrame({"age": [20, 30, 90, None]})
    schema = md.Schema(keys=["age"])
    found = md.risk.population_uniqueness(KINDS[kind](sample), schema=schema, population=everybody)
    assert found.records is not None
    assert found.records.tolist() == [2, 1, 1, 0]
    assert found.value == pytest.approx(2 / 4)
    assert found.details["Pr(PU)"] == pytest.approx(3 / 5)


def test_a_missing_key_of_the_population_is_one_of_its_own() -> None:
    everybody = pd.DataFrame({"age": [20, None, None]})
    found = md.risk.population_uniqueness(
        pd.DataFrame({"age": [20, None]}), schema=md.Schema(keys=["age"]), population=everybody
    )
    assert found.records is not None
    assert found.records.tolist() == [1, 2]


def test_the_sampling_fraction_must_be_one() -> None:
    for wrong in ("x", True, 0, 1.5, float("nan")):
        with pytest.raises(md.InputError, match="fraction must be"):
            md.risk.data_intrusion_simulation(coded([1, 2]), schema=SCHEMA, fraction=wrong)  # type: ignore[arg-type]
