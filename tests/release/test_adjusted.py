"""Releases of adjusted tables: what stays, and how near to the best they are said to be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.release.read import read_release
from tests.release.cases import RULES, dimensions, make, microdata, resealed


@pytest.mark.parametrize(
    ("method", "seed"),
    [(tp.Adjust(), 5953566658702994580), (tp.Adjust(), 8956200308053045827), (tp.Adjust(norm="l2"), 1)],
)
def test_an_optimal_distance_is_told_by_no_tighter_measure_than_it_was_found_by(method, seed, tmp_path) -> None:
    """Bounds of distances are known to 1e-6, or 1e-5 of squares; of patterns to 1e-9."""
    release = tp.protect(
        microdata(0), RULES[1:], method, by=dimensions(), seed=seed, limits=tp.Limits(work=2000), allow_unsafe=True
    )
    assert release.optimality.startswith("optimal")
    release.write(tmp_path / "out")
    assert read_release(tmp_path / "out").failures == ()


def test_a_gap_that_was_asked_for_is_no_optimum() -> None:
    table = tp.tabulate(microdata(0), dimensions(), "turnover", contributor="firm")
    problem = tp.make_problem(table, RULES)
    for share in (0.3, 0.9):
        found = tp.adjust(problem, limits=tp.Limits(gap=share, work=2000))
        assert found.status == ("optimal" if found.bound >= found.cost * (1 - 1e-6) else "feasible")
    rounded = tp.round(
        tp.instances.load("flat3d-6x6x6"), 7, steps=1, method="exact", limits=tp.Limits(gap=0.9, work=2000)
    )
    assert rounded.bound < 0.9 * rounded.cost
    assert rounded.status == "feasible"


def test_sensitive_cells_that_did_not_move_are_found() -> None:
    made = make(tp.Adjust())
    document = dict(made.certificate.document)
    forged = {**document, "values": document["problem"]["values"], "sums": "0", "drift": "0"}
    assert any("moved by less" in failure for failure in tp.verify(resealed(forged)).failures)


def test_totals_and_margins_stay_on_request() -> None:
    made = make(tp.Adjust(fixed="totals"))
    assert made.values is not None
    total = made.table.system.cells.get_loc(("T", "all"))
    assert made.values[total] == made.table.values[total]
    assert made.verify().ok
    assert total in made.result.claim["fixed"]


def test_means_and_correlations_are_kept_on_request() -> None:
    plain, means, alike = (make(tp.Adjust(senses="up", enlarge=0.0, **kept)) for kept in (
        {}, {"preserve": "means"}, {"preserve": "correlation", "correlation": 0.997},
    ))  # fmt: skip
    inner = tp.methods.inner_cells.inner_cells(plain.table.system)[0]
    assert plain.values is not None
    assert plain.values[0] != plain.table.values[0]
    for made in (means, alike):
        assert made.values is not None
        assert made.values[inner].sum() == made.table.values[inner].sum()
        assert made.verify().ok
    assert np.corrcoef(alike.values[inner], alike.table.values[inner])[0, 1] >= 0.997
    assert np.corrcoef(means.values[inner], means.table.values[inner])[0, 1] < 0.997


def test_fixed_cells_of_an_adjustment_keep_the_digits_of_floating_point():
    """The certificate compares every digit; rounding to the decimals of the table once lost those of fixed cells."""
    data = pd.DataFrame({
        "region": list("cbbaaaaa"), "kind": list("xyyyyyyy"), "firm": list("01234567"),
        "turnover": [9.9, 5.7, 10.8, 20.9, 2.0, 16.1, 5.8, 9.7], "weight": [3.6, 2.6, 1.9, 2.3, 1.1, 1.4, 3.0, 2.9],
    })  # fmt: skip
    release = tp.protect(
        data, "p%=30", tp.Adjust(fixed="margins", enlarge=0), by=["region", "kind"], value="turnover",
        contributor="firm", weight="weight", bounds="100%", seed=3,
    )  # fmt: skip
    fixed = release.result.claim["fixed"]
    assert len(fixed)
    assert np.array_equal(release.values[fixed], release.problem.values[fixed])
    assert release.verify().ok
