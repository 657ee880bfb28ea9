"""Draws that keep the algorithm from being run backwards: costs of suppression, levels of adjustment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from benchmarks.reverse import fitting, published, table_of
from tabprotect.errors import InputError
from tabprotect.methods.adjustment.method import enlarged
from tabprotect.sensitivity.costs import raised
from tabprotect.workflow.checking import check_spec
from tabprotect.workflow.prepare import draw_seed


def economy(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = 30
    data = pd.DataFrame({"r": rng.integers(0, 3, n).astype(str), "c": rng.integers(0, 3, n).astype(str)})
    return data.assign(v=np.ceil(rng.lognormal(6, 1, n)), firm=np.arange(n))


def made(method: Any, **more: Any) -> Any:
    how: dict[str, Any] = {"by": ["r", "c"], "value": "v", "contributor": "firm", "limits": tp.Limits(work=300)}
    return tp.protect(economy(), "p%=15", method, intervals=False, **how, **more)


def equal_parts(**more: Any) -> Any:
    """One sensitive cell, and five others that would protect it at the same cost."""
    cells = pd.DataFrame({"r": ["Total", *"abcdef"], "v": [600.0] + [100] * 6, "status": ["p", "u"] + [""] * 5})
    return tp.protect(tp.Table.from_cells(cells, ["r"], "v", status="status"), "manual", intervals=False, **more)


def test_random_costs_stay_within_their_share_and_change_what_is_hidden() -> None:
    plain = equal_parts()
    assert plain.settings["seed"] == 0
    drawn = [equal_parts(method=tp.Suppress(random_costs=0.5), seed=seed) for seed in range(6)]
    for one in drawn:
        ratio = one.problem.weights / plain.problem.weights
        assert ratio.min() >= 1
        assert ratio.max() < 1.5
        assert one.safe
        assert one.pattern.sum() == 2
    assert len({one.pattern.tobytes() for one in drawn}) > 1
    again = equal_parts(method=tp.Suppress(random_costs=0.5), seed=1)
    assert again.pattern.tolist() == drawn[1].pattern.tolist()
    secret = equal_parts(method=tp.Suppress(random_costs=0.5))
    assert secret.settings["seed"] > 2**32
    assert secret.settings["random costs"] == 0.5


def test_who_draws_a_secret_seed() -> None:
    assert (
        draw_seed(tp.Suppress(), None)
        == draw_seed(tp.Round(base=5), None)
        == draw_seed(tp.Adjust(enlarge=0), None)
        == 0
    )
    for method in (tp.Suppress(random_costs=0.1), tp.Recode(then=tp.Suppress(random_costs=0.1)), tp.Adjust()):
        assert draw_seed(method, None) != draw_seed(method, None)
        assert draw_seed(method, 3) == 3
    for share in (-0.1, np.inf, True, "much"):
        with pytest.raises(InputError, match="random_costs must be a share"):
            tp.Suppress(random_costs=share)


def test_a_specification_says_so() -> None:
    content = {"data": "x.csv", "by": ["a"], "rules": ["p%=15"], "random_costs": 0.2, "protect_hidden": True}
    spec = check_spec(content, "spec")
    assert (spec.random_costs, spec.protect_hidden) == (0.2, True)
    with pytest.raises(InputError, match="random_costs"):
        check_spec({**content, "random_costs": -1}, "spec")


def test_raised_costs_are_what_the_seed_says() -> None:
    cost = np.arange(1, 101, dtype=float)
    assert raised(cost, 0.2, 5).tolist() == raised(cost, 0.2, 5).tolist() != raised(cost, 0.2, 6).tolist()
    assert np.all((raised(cost, 0.2, 5) / cost >= 1) & (raised(cost, 0.2, 5) / cost < 1.2))


def test_levels_are_enlarged_within_their_share_and_the_bounds() -> None:
    n = 400
    A = np.r_[-1, np.ones(n - 1)][None]
    values = np.r_[100.0 * (n - 1), np.full(n - 1, 100.0)]
    upper = np.where(np.arange(n) % 2, 130.0, np.inf)
    p = tp.Problem.from_arrays(A, values, primary=range(1, n), lpl=20, upl=20, upper=np.maximum(upper, values))
    for places, most in ((None, 30), (0, 30), (2, 30.01)):
        e = enlarged(p, 0.5, places, seed=3)
        assert np.all((e.lpl >= 20) & (e.lpl <= most))
        assert np.ptp(e.lpl) > 8
        assert np.all(e.upl[1::2] <= 30)
        if places is not None:
            assert np.allclose(e.lpl * 10**places, np.rint(e.lpl * 10**places))
    tight = enlarged(tp.Problem.from_arrays(A, values, primary=[1], lpl=20, upl=20, upper=values + 20), 0.5, 0, seed=3)
    assert tight.upl.max() == 20
    small = enlarged(tp.Problem.from_arrays(A, values, primary=range(1, n), lpl=1, upl=1), 0.5, 0, seed=3)
    assert set(small.upl.tolist()) == {1.0, 2.0}
    none = tp.Problem.from_arrays(A, values, primary=[1], lpl=0, upl=1)
    assert not enlarged(none, 0.5, 0, seed=3).lpl.any()


def test_adjusted_cells_no_longer_move_by_exactly_their_level() -> None:
    """Each moves by its level at least; how far beyond is drawn, and the same seed draws the same."""
    shares = [made(tp.Adjust(enlarge=share), seed=4, allow_unsafe=True) for share in (0, 0.5, 0.5)]
    assert shares[1].values.tolist() == shares[2].values.tolist() != shares[0].values.tolist()
    exactly = []
    for one in shares[:2]:
        cells = one.problem.primaries
        moved = one.values[cells] - one.table.values[cells]
        level = np.where(moved > 0, one.problem.upl[cells], one.problem.lpl[cells])
        assert np.all(np.abs(moved) >= level - 1e-9)
        exactly.append(int(np.sum(np.abs(moved) == np.ceil(level))))
    assert exactly[1] < exactly[0] / 2


def test_levels_that_no_adjustment_could_meet_enlarged_are_not() -> None:
    """Both cells must rise by 10, and a third one falls by at most 20; enlarged by 50 % they could not."""
    A = [[-1, 1, 1, 1]]
    cells = pd.DataFrame({"r": ["Total", "a", "b", "c"], "v": [300.0, 100, 100, 100], "status": ["p", "u", "u", ""]})
    cells = cells.assign(lower=[0, 100, 100, 80], upper=[999, 130, 130, 100], lpl=[0, 0, 0, 0], upl=[0, 10, 10, 0])
    columns = {name: name for name in ("status", "lower", "upper", "lpl", "upl")}
    table = tp.Table.from_cells(cells, ["r"], "v", **columns)
    assert np.allclose(np.array(A) @ table.values, 0)
    found = tp.protect(table, "manual", tp.Adjust(), seed=1, allow_unsafe=True)
    assert found.values.tolist() == [300, 110, 110, 80]
    assert "no adjustment meets enlarged levels" in found.result.message


def test_the_tables_that_fit_are_all_that_agree_with_what_is_published() -> None:
    shown = np.array([[10, 5, 5], [4, -1, -1], [6, -1, -1]])
    fits = fitting(shown)
    assert fits is not None
    assert sorted(one.ravel().tolist() for one in fits) == [[a, 4 - a, 5 - a, 1 + a] for a in range(5)]
    assert all((table_of(one).values.reshape(3, 3) == shown)[shown >= 0].all() for one in fits)
    assert fitting(np.where(shown == 10, -1, -1).repeat(3, axis=1)) is None
    inner = np.array([[5, 4], [3, 8]])
    assert np.array_equal(published(inner, 0.0, 0), table_of(inner).values.reshape(3, 3))


def test_a_known_largest_change_leaves_room_for_the_level_on_the_other_side() -> None:
    """A cell that rises by 15 of 20 known ones could be 5 lower at most, and its level is 8."""
    problem = tp.Problem.from_arrays([[-1, 1, 1]], [300, 100, 200], primary=[1], lpl=8, upl=8)
    for seed in range(12):
        e = enlarged(problem, 1.0, 0, seed, within=20)
        assert e.upl[1] <= 12
        assert e.lpl[1] <= 12
        assert e.upl[1] >= 8
