"""Inserted, updated and deleted records, and what all versions together tell."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from tabprotect.errors import InputError
from tabprotect.query.camouflage import Camouflage, Covering, Relative, camouflage
from tests.query.camouflage.questions import WORKLOAD, firms

RULE = Relative(0.2, least=1.0)


def made(seed: int = 0, n: int = 30, **given: object) -> Camouflage:
    return camouflage(firms(n, seed), ["turnover", "profit"], RULE, workload=WORKLOAD, steps=20, seed=seed, **given)  # type: ignore[arg-type]


def history(seed: int = 0) -> list[Camouflage]:
    """Versions after an update, an insertion, a deletion and another update."""
    first = made(seed)
    raised = first.table.values["turnover"][:6] * [1.03, 1.0, 0.9, 1.5, 1.02, 1.04]
    second = first.update(range(6), {"turnover": raised})
    third = second.insert(firms(5, 77))
    fourth = third.delete([0, 10, 33])
    return [first, second, third, fourth, fourth.update([3], {"turnover": [5.0], "profit": [-2.0]})]


def test_every_version_is_protected_with_the_same_weights() -> None:
    versions = history()
    assert [v.version for v in versions] == [0, 1, 2, 3, 4]
    assert [v.n for v in versions] == [30, 30, 35, 32, 32]
    for v in versions:
        assert np.array_equal(v.weights, versions[0].weights)
        assert v.protection().uncovered == 0
        for f, p in v.vectors.of.items():
            assert p @ v.weights == pytest.approx(v.table.values[f], rel=1e-12)
            middle = np.abs(p.min(axis=1) + p.max(axis=1)) / 2
            assert np.all(np.ptp(p, axis=1) >= 0.2 * np.maximum(middle, 1))
            assert v.table.values[f].sum() in v.sum(f)
    assert versions[4].table.values["profit"][3] == -2.0
    assert versions[0].table.values["turnover"][3] != versions[1].table.values["turnover"][3]


def test_what_does_not_change_keeps_its_row() -> None:
    first, second, third, fourth, _ = history()
    x = [v.vectors.of["turnover"] for v in (first, second, third, fourth)]
    same = np.r_[1, 6:30]  # record 1 was updated with its old value
    assert np.array_equal(x[1][same], x[0][same])
    assert not np.any(np.all(x[1][[0, 2, 3, 4, 5]] == x[0][[0, 2, 3, 4, 5]], axis=1))
    assert np.array_equal(second.vectors.of["profit"], first.vectors.of["profit"])
    assert np.array_equal(x[2][:30], x[1])
    assert np.array_equal(x[3], np.delete(x[2], [0, 10, 33], axis=0))


def test_all_versions_together_leave_every_range_open() -> None:
    """The versions are one table of more records, with the same weights: linear programmes over all of them at once."""
    versions = history(3)
    stacked = np.vstack([v.vectors.of[f] for v in versions for f in ("turnover", "profit")])
    answers = np.vstack([p.sum(axis=0) for v in versions for p in v.vectors.of.values()])
    A, b = np.vstack([answers, -answers]), np.append(answers.max(axis=1), -answers.min(axis=1))
    for row in stacked[::7]:
        for sign in (1, -1):
            found = linprog(sign * row, A, b + 1e-9 * np.abs(b), np.ones((1, 3)), [1], [(0, None)] * 3)
            assert sign * found.fun == pytest.approx(row.min() if sign > 0 else row.max(), rel=1e-6, abs=1e-6)


def test_a_change_is_hidden_like_a_value() -> None:
    first, second = history()[:2]
    before, after = first.vectors.of["turnover"][:6], second.vectors.of["turnover"][:6]
    change = second.table.values["turnover"][:6] - first.table.values["turnover"][:6]
    low, high = (after - before).min(axis=1), (after - before).max(axis=1)
    assert np.all((low <= change + 1e-9) & (change <= high + 1e-9))
    changed = [0, 2, 3, 4, 5]
    assert (high - low)[changed] == pytest.approx((np.ptp(before, axis=1) + np.ptp(after, axis=1))[changed])


def test_new_weights_for_a_new_version_would_disclose_everything() -> None:
    """Why the weights are kept: the same values hidden twice leave one pair of weights only."""
    one, two = made(0).vectors.of["turnover"], made(0, k=4).vectors.of["turnover"]
    values = firms(30, 0)["turnover"].to_numpy()
    equal = np.hstack([one, -two])
    ones = np.vstack([np.append(np.ones(3), np.zeros(4)), np.append(np.zeros(3), np.ones(4)), equal])
    right = np.append([1.0, 1.0], np.zeros(30))
    found, *_ = np.linalg.lstsq(ones, right)
    assert one @ found[:3] == pytest.approx(values, rel=1e-6)


def test_bounds_are_updated_with_values() -> None:
    frame = firms(20, 1)
    place = np.random.default_rng(1).random(20)
    frame["l"], frame["u"] = frame["turnover"] - 10 * place, frame["turnover"] + 10 * (1 - place)
    first = camouflage(frame, "turnover", Covering("l", "u"), seed=1)
    second = first.update([4], {"turnover": [100.0], "l": [90.0], "u": [130.0]})
    row = second.vectors.of["turnover"][4]
    assert row.min() <= 90
    assert row.max() >= 130
    wider = first.update([4], {"u": [frame["u"][4] + 500]})  # a bound alone: the row has to follow
    assert wider.vectors.of["turnover"][4].max() >= frame["u"][4] + 500
    with pytest.raises(InputError, match="outside of"):
        first.update([4], {"turnover": [1e9]})


def test_what_cannot_be_changed_is_refused() -> None:
    first = made()
    for records, values, message in [
        ([40], {"turnover": [1.0]}, "positions from 0 to 29"),
        ([0.5], {"turnover": [1.0]}, "positions from 0 to 29"),
        ([1, 1], {"turnover": [1.0, 2.0]}, "once only"),
        ([1], {"turnovr": [1.0]}, "did you mean 'turnover'"),
        ([1], {"turnover": [1.0, 2.0]}, "2 values for 1 record"),
        ([1], {"turnover": [np.nan]}, "missing or infinite"),
    ]:
        with pytest.raises(InputError, match=message):
            first.update(records, values)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="there is no column 'staff'"):
        first.insert(firms(2, 0).drop(columns="staff"))
    assert first.delete([]).n == 30
