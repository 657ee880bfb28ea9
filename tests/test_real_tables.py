"""Real tables from data to release: sampling weights, five linked tables, a tau-ARGUS file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.attack.certificate import certify
from tabprotect.attack.evidence import gather
from tabprotect.attack.exact_problem import ExactProblem
from tabprotect.attack.insiders import within_reach
from tabprotect.sensitivity.build import make_problem
from tabprotect.table.link.clusters import cells_by_table

pytestmark = pytest.mark.slow

Shared = Callable[[str], Path]


def judged(release: tp.Release) -> None:
    """Safe to all who know nothing more, by a certificate that the verifier accepts."""
    assert release.safe, release.summary()
    assert release.verify().ok
    assert 0 <= release.result.bound <= release.result.cost


def test_microdata_with_sampling_weights_and_two_hierarchies(shared: Shared) -> None:
    data = pd.read_csv(shared("instances/tables/rtauargus_indiv_dt.csv"), dtype={"A88": str})
    release = tp.protect(
        data,
        ["p%=10", "threshold=3"],
        by=[("A10", "A21"), ("NUTS1", "NUTS2"), "SIZE"],
        value="TURNOVER",
        weight="WEIGHT",
        empty="drop",
        limits=tp.Limits(seconds=20),
        intervals=False,
    )
    judged(release)
    hidden = release.published["status"] == "suppressed"
    assert release.published.loc[hidden, "TURNOVER"].isna().all()
    assert len(release.problem.attackers) > 0


def turnover(shared: Shared) -> dict[str, tp.Table]:
    activity = tp.Hierarchy.from_columns(
        pd.read_csv(shared("instances/tables/rtauargus_activity_corr_table.csv"), dtype=str), ["A10", "A21", "A88"]
    )
    nuts = tp.Hierarchy.from_columns(
        pd.read_csv(shared("instances/tables/rtauargus_nuts23_fr_corr_table.csv")), ["NUTS2", "NUTS3"]
    )
    east = tp.Hierarchy.from_pairs(
        [("Total_EAST", c) for c in ("FR41", "FR42", "FR43")]
        + [(c[:4], c) for c in nuts.leaves if c.startswith(("FR41", "FR42", "FR43"))]
    )
    parts = {}
    for name, by in {
        "act_cj": ["ACTIVITY", "CJ"],
        "act_size": ["ACTIVITY", "SIZE"],
        "nuts_cj": ["NUTS", "CJ"],
        "nuts_size": ["NUTS", "SIZE"],
        "act_nuts_size": ["ACTIVITY", "NUTS", "SIZE"],
    }.items():
        frame = pd.read_csv(
            shared(f"instances/tables/rtauargus_turnover_{name}.csv"), dtype={"ACTIVITY": str, "NUTS": str}
        )
        known = {"ACTIVITY": activity, "NUTS": east if name == "act_nuts_size" else nuts}
        hierarchies = {k: h for k, h in known.items() if k in by}
        parts[name] = tp.Table.from_cells(
            frame, by, "TOT", count="N_OBS", maxima="MAX", empty="drop", hierarchies=hierarchies
        )
    return parts


def linked(shared: Shared) -> tp.Table:
    return tp.link(turnover(shared), measure={"act_nuts_size": "TOT of the east"})


def test_five_linked_tables_as_one_system(shared: Shared) -> None:
    release = tp.protect(
        linked(shared),
        ["threshold=3", "nk=1,85"],
        singletons=False,
        unions="off",
        limits=tp.Limits(seconds=40),
        intervals=False,
    )
    judged(release)
    assert len(release.problem.primaries) > 1000
    bare = tp.audit(release.problem, np.asarray(release.problem.must_hide), intervals=False)
    assert len(bare.exposures) > 100


def test_five_linked_tables_with_all_defaults_have_a_pattern_within_a_tenth(shared: Shared) -> None:
    heard: list[tp.Progress] = []
    limits = tp.Limits(work=20_000)
    release = tp.protect(
        linked(shared), ["threshold=3", "nk=1,85"], limits=limits, intervals=False, progress=heard.append
    )
    judged(release)
    first = next(message for message in heard if message.cost is not None)
    assert first.work <= 2_000
    assert release.result.cost is not None
    assert first.cost is not None
    assert release.result.cost <= first.cost


def test_levels_of_linked_tables_are_proven_where_no_vertex_is_found(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values of four decimals and levels in percent: the numbers of a vertex may be longer than anything looked for."""
    problem = make_problem(linked(shared), ["threshold=3", "nk=1,85"], singletons=False)
    asked = np.zeros(problem.n_cells, bool)
    asked[problem.primaries[:: len(problem.primaries) // 25]] = True
    some = replace(problem, lpl=np.where(asked, problem.lpl, 0), upl=np.where(asked, problem.upl, 0))
    monkeypatch.setattr(ExactProblem, "exactly", lambda self, deviations, *args, **kwargs: [None] * len(deviations))
    found = gather(some, problem.may_hide)
    assert found.exposures == ()
    assert certify(some, problem.may_hide, witnesses=found).verify().safe


def test_five_linked_tables_in_passes(shared: Shared) -> None:
    """Table by table, judged across all five."""
    table = linked(shared)
    cells = cells_by_table(table)
    problem = tp.make_problem(table, tp.assess(table, ["threshold=3", "nk=1,85"]), singletons=False)
    problem = within_reach(problem)
    result = tp.suppress_linked(problem, cells, limits=tp.Limits(work=60_000), together=0)
    assert result.safe, result.message
    assert result.method == "passes over 5 linked tables"
    assert not tp.audit(problem, result.pattern, intervals=False).exposures


def test_a_tau_argus_file(shared: Shared) -> None:
    names = ["size", "region", "v", "n", "shadow", "cost", "top1", "top2", "status", "lpl", "upl"]
    frame = pd.read_csv(shared("instances/tables/tauargus_pp.tab"), sep=";", header=None, names=names, dtype=str)
    for column in ("size", "region"):
        frame[column] = frame[column].str.strip()
    region = tp.Hierarchy.read(shared("instances/tables/tauargus_region2.hrc"), total="Total")
    table = tp.Table.from_cells(
        frame,
        ["size", tp.Dimension("region", region, missing=["99"])],
        "v",
        shadow="shadow",
        decimal=",",
        tolerance=1,
        count="n",
        maxima=["top1", "top2"],
        status="status",
        cost="cost",
    )
    release = tp.protect(table, ["p%=10", "threshold=3", "manual"], limits=tp.Limits(seconds=20), intervals=False)
    judged(release)
    assert "residuals up to 1" in str(release.summary())
