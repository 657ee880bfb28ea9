"""Registers with holdings, and wide and deep hierarchies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabprotect.attack.audit import audit
from tabprotect.errors import InputError
from tabprotect.instances.families import family, microdata


def test_holdings_own_several_units_near_each_other() -> None:
    frame = microdata("holdings", seed=1, activity=(6, 4), per_cell=8).frame
    units = frame.groupby("holder").size()
    several = units[units > 1]
    owned = units[units.index < round(0.35 * len(frame) / 5)]
    assert owned.sum() / len(frame) == pytest.approx(0.35, abs=0.02)
    assert owned.mean() == pytest.approx(5, rel=0.05)
    assert units[~units.index.isin(owned.index)].max() == 1
    most = (
        frame[frame["holder"].isin(several.index)]
        .groupby("holder")["activity"]
        .agg(lambda codes: codes.value_counts(normalize=True).iloc[0])
    )
    assert np.average(most, weights=several[most.index]) > 0.6


def test_contributions_are_log_normal_and_size_classes_even() -> None:
    frame = microdata("holdings", seed=1, activity=(6, 4), per_cell=8, owned=0.0).frame
    logs = np.log(frame["value"])
    assert logs.mean() == pytest.approx(4.0, abs=0.1)
    assert logs.std() == pytest.approx(1.4, abs=0.1)
    assert frame["holder"].is_unique
    counts = frame["size"].value_counts()
    assert counts.max() - counts.min() <= 1
    assert frame[frame["size"] == "s1"]["value"].max() <= frame[frame["size"] == "s2"]["value"].min()


def test_holdings_attack() -> None:
    problem = family("holdings", seed=1)
    assert len(problem.attackers) > 20
    assert max(len(attacker.known) for attacker in problem.attackers) > 1


def test_without_size_classes_there_is_no_such_dimension() -> None:
    assert list(microdata("holdings", seed=1, size=1).dimensions) == ["activity", "region"]


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("holdings", {"activity": (4, 3), "region": (3,)}),
        ("wide", {"activity": (12,), "region": (9,)}),
        ("deep", {"activity": (2, 2, 2, 2), "region": (2, 2)}),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_all_primaries_can_be_protected(name: str, size: dict[str, Any], seed: int) -> None:
    problem = family(name, seed=seed, **size)
    assert len(problem.primaries) > 0
    assert np.abs(problem.system.residuals(problem.values)).max() == 0
    assert audit(problem, problem.may_hide, intervals=False).safe


def test_wide_and_deep_hierarchies_are_what_they_are_called() -> None:
    wide, deep = microdata("wide", seed=1).dimensions, microdata("deep", seed=1).dimensions
    assert np.mean([len(parts) for _, parts in wide["activity"].splits]) > 6
    assert np.mean([len(parts) for _, parts in deep["activity"].splits]) < 3
    assert max(code.count(".") for code in deep["activity"].codes) == 5
    assert max(code.count(".") for code in wide["activity"].codes) == 1


def test_impossible_sizes_are_named() -> None:
    with pytest.raises(InputError, match=r"(?s)'owned' must lie between 0 and 1, not 2.*must be positive, not 0"):
        family("holdings", owned=2, size=0)
