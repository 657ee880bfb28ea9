"""Random releases: the run finds every kind of fault that is put before it, and what once failed is right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tabprotect as tp
from benchmarks import fuzz_releases as fuzz
from tests.quick import first

CALL = fuzz.case(fuzz.Asked(57, 3.0))


@pytest.fixture(scope="module")
def made() -> tp.Release:
    release = tp.protect(CALL.data, CALL.rules, CALL.method, **CALL.options)
    assert release.safe
    assert len(release.result.secondaries)
    assert release.problem.n_cells <= fuzz.JUDGED
    return release


def kinds(release: tp.Release, seconds: float = 0.1) -> list[str]:
    return [fault.split(":")[0] for fault in fuzz.faults(CALL, release, seconds)]


@pytest.mark.slow
def test_a_right_release_has_no_fault(made: tp.Release) -> None:
    assert kinds(made) == []


def with_result(made: tp.Release, **changes: Any) -> tp.Release:
    return replace(made, result=replace(made.result, **changes))


@pytest.mark.slow
def test_every_kind_of_fault_is_found(made: tp.Release) -> None:
    assert kinds(made, 44.0) == kinds(with_result(made, seconds=25.5)) == ["overrun"]
    assert kinds(with_result(made, bound=2 * made.result.cost + 1)) == ["status"]
    bare = tp.audit(made.problem, made.problem.must_hide, intervals=False)
    assert len(bare.exposures)
    assert kinds(replace(made, judgement=bare)) == ["not safe"]
    # a judgement that speaks of another pattern
    assert "unsafe" in kinds(with_result(made, pattern=made.problem.must_hide.copy()))


def test_releases_repeat_and_span_what_they_should() -> None:
    found = [fuzz.case(fuzz.Asked(seed, 1.0)) for seed in range(80)]
    again = fuzz.case(fuzz.Asked(7, 1.0))
    assert (again.words, again.rules) == (found[7].words, found[7].rules)
    assert again.data.equals(found[7].data)
    assert {call.method.method for call in found} == set(fuzz.METHODS)
    assert {rule for call in found for rule in call.rules} >= set(fuzz.RULES)
    values = np.concatenate([call.data["value"] for call in found])
    assert np.abs(values[values != 0]).min() < 1e-2
    assert values.max() > 1e9
    assert (values < 0).any()
    assert {len(call.options["by"]) for call in found} == {1, 2, 3}


@pytest.mark.parametrize("seed", first(2, [129, 1122, 78, 2023]))
def test_a_release_that_once_failed_is_right(seed: int) -> None:
    said = fuzz.release(fuzz.Asked(seed, 3.0))
    assert [fault for fault in said.faults if not fault.startswith("overrun")] == []  # no test is timed
