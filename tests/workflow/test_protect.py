from __future__ import annotations

from dataclasses import replace
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tabprotect as tp

RULES = ["p%=15", "threshold=3"]
FIRMS = pd.DataFrame(
    {
        "region": list("nnnnnsssss"),
        "size": list("bbbssbbsss"),
        "firm": [f"f{i}" for i in range(10)],
        "turnover": [90, 5, 4, 40, 50, 20, 30, 60, 10, 20],
    }
)
TABLE: dict[str, Any] = {"by": ["region", "size"], "value": "turnover", "contributor": "firm"}


def register(n: int = 120, seed: int = 1) -> pd.DataFrame:
    data = tp.instances.register(n, seed=seed)
    return data.assign(section=data["division"].str[:1])


@pytest.fixture(scope="module")
def release() -> tp.Release:
    return tp.protect(
        register(), RULES, by=["section", "size"], value="turnover", contributor="enterprise_id",
        limits=tp.Limits(work=8_000),
    )  # fmt: skip


def test_a_release_is_safe_and_proven(release: tp.Release) -> None:
    assert release.safe
    assert 0 < release.result.bound <= release.result.cost
    assert release.judgement.safe
    verification = release.verify()
    assert verification.safe
    assert verification.cost == release.result.cost
    assert set(np.flatnonzero(release.problem.must_hide[: release.table.n_cells])) <= set(
        np.flatnonzero(release.pattern)
    )


def test_the_cost_is_what_the_pattern_hides(release: tp.Release) -> None:
    secondary = release.words == "secondary"
    assert release.result.cost == release.table.values[secondary].sum()


def test_the_rows_come_back_with_status_and_published_value(release: tp.Release) -> None:
    frame = release.frame
    assert frame.columns.tolist() == ["section", "size", "turnover", "status", "published"]
    pd.testing.assert_frame_equal(frame[["section", "size", "turnover"]], release.table.rows)
    hidden = frame["status"].isin(["primary", "secondary"])
    assert frame["published"].isna().tolist() == hidden.tolist()
    assert (frame["published"] == frame["turnover"])[~hidden].all()
    assert int(hidden.sum()) == int(release.pattern.sum())


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda d: d, pd.DataFrame),
        (pl.from_pandas, pl.DataFrame),
        (lambda d: pl.from_pandas(d).lazy(), pl.DataFrame),
        (lambda d: pa.Table.from_pandas(d), pa.Table),
        (duckdb.from_df, duckdb.DuckDBPyRelation),
    ],
)
def test_frames_come_back_in_the_library_they_came_in(make: Any, kind: type) -> None:
    found = tp.protect(make(FIRMS), RULES, **TABLE)
    assert isinstance(found.frame, kind)
    assert isinstance(found.published, kind)
    names = ["region", "size", "turnover", "status"]
    frame = nw.from_native(found.published)
    rows = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    assert list(rows.columns) == names
    assert [None if v is pd.NA else v for v in rows["turnover"].to_list()] == [
        329,
        149,
        180,
        189,
        None,
        None,
        140,
        None,
        None,
    ]


def test_files_are_read_as_frames_are(tmp_path: Any) -> None:
    FIRMS.to_csv(tmp_path / "firms.csv", index=False)
    FIRMS.to_parquet(tmp_path / "firms.parquet")
    for name in ("firms.csv", "firms.parquet"):
        found = tp.protect(tmp_path / name, RULES, **TABLE)
        assert isinstance(found.frame, pd.DataFrame)
        assert found.pattern.sum() == 4


def test_the_same_seed_gives_the_same_release(tmp_path: Any) -> None:
    for name in ("one", "two"):
        found = tp.protect(
            register(60), RULES, by=["section", "size"], value="turnover", seed=3, limits=tp.Limits(work=500)
        )
        found.write(tmp_path / name, ("csv", "parquet", "xlsx"))
    one, two = (
        {str(p.relative_to(tmp_path / name)): p.read_bytes() for p in (tmp_path / name).rglob("*.*")}
        for name in ("one", "two")
    )
    assert one == two
    assert len(one) == 11


def test_a_table_of_counts() -> None:
    found = tp.protect(register(), "threshold=3", by=["section", "size"])
    assert found.safe
    assert found.problem.integer
    assert found.verify().safe
    shown = found.public.frame["value" if "value" in found.public.frame else found.table.value_name]
    assert str(shown.dtype) == "Int64"


def test_linked_tables_are_one_release(tmp_path: Any) -> None:
    data = register(60)
    shared: dict[str, Any] = {"value": "turnover", "contributor": "enterprise_id"}
    tables = {name: tp.tabulate(data, ["section", name], **shared) for name in ("size", "nuts")}
    found = tp.protect(tp.link(tables), RULES, limits=tp.Limits(work=2_000))
    assert found.safe
    frame = found.public.frame
    assert frame.columns.tolist() == ["table", "section", "size", "nuts", "turnover", "status"]
    # a cell that two tables share is hidden in both or in none
    totals = [frame[(frame["table"] == t) & (frame[t] == "Total")].set_index("section") for t in ("size", "nuts")]
    assert totals[0]["status"].to_dict() == totals[1]["status"].to_dict()
    found.write(tmp_path / "out", ("csv", "parquet"))
    assert "size" in (tmp_path / "out" / "publish" / "index.html").read_text()
    from tabprotect.release.read import read_release

    released = read_release(tmp_path / "out")
    assert released.failures == ()
    assert released.pattern.tolist() == found.result.pattern.tolist()


def test_levels_that_nothing_can_provide_against_insiders_are_lowered_and_noted() -> None:
    # b gives 90 of the 100 in N x t, is alone in N1 x t and so knows 90 of it: no lower level of 13 can hold
    data = pd.DataFrame(
        {
            "group": list("NNNNNNSSSSSSSS"),
            "region": ["N1", "N2", "N1", "N1", "N2", "N2", *["S1"] * 4, *["S2"] * 4],
            "kind": ["t", "t", "u", "u", "u", "u", *list("tutu" * 2)],
            "firm": ["b", *"cdefghijklmno"[:13]],
            "v": [90, 10, 40, 30, 30, 40, 70, 60, 55, 50, 45, 65, 50, 40],
        }
    )
    found = tp.protect(data, "p%=15", by=[("group", "region"), "kind"], value="v", contributor="firm")
    assert found.safe
    (note,) = found.problem.notes
    assert "lowered to what a respondent who knows parts of them" in note
    assert note in str(found.summary())
    cell = found.table.system.cells.get_loc(("N", "t"))
    assert found.assessment.lpl[cell] == pytest.approx(13.5)
    assert found.problem.lpl[cell] == pytest.approx(10, rel=2e-4)
    assert found.problem.lpl[cell] <= 10
    assert found.problem.upl[cell] == found.assessment.upl[cell]


def test_sums_of_hidden_cells_are_protected_or_at_least_found() -> None:
    data = pd.DataFrame({"region": list("nsswe"), "firm": list("abcde"), "turnover": [80.0, 10, 10, 5, 7]})
    given: dict[str, Any] = {"by": ["region"], "value": "turnover", "contributor": "firm"}
    repaired = tp.protect(data, "p%=15", **given)
    assert repaired.safe
    assert repaired.unions == ()
    audited = tp.protect(data, "p%=15", unions="audit", **given)
    off = tp.protect(data, "p%=15", unions="off", **given)
    assert off.pattern.tolist() == audited.pattern.tolist()
    assert off.unions == ()
    for exposure in tp.union_exposures(audited.table, "p%=15", audited.pattern):
        assert exposure in audited.unions
    assert audited.safe == (not audited.unions)
    assert not tp.union_exposures(repaired.table, "p%=15", repaired.pattern)


def test_what_cannot_be_protected_is_said_and_never_released(tmp_path: Any) -> None:
    data = pd.DataFrame({"region": list("nnsss"), "turnover": [90, 5, 40, 50, 60], "firm": range(5)})
    found = tp.protect(data, "p%=15", by=["region"], value="turnover", contributor="firm", bounds="1%")
    assert not found.safe
    assert found.result.status == "infeasible"
    assert "n" in str(found.summary())
    for attempt in (lambda: found.published, lambda: found.write(tmp_path / "out")):
        with pytest.raises(tp.InfeasibleError, match="not safe, so nothing is published"):
            attempt()
    assert not (tmp_path / "out").exists()
    forced = replace(found, allow_unsafe=True)
    forced.write(tmp_path / "out")
    report = (tmp_path / "out" / "internal" / "report.html").read_text()
    assert "NOT SAFE" in report
    public = "".join(p.read_text() for p in (tmp_path / "out" / "publish").iterdir())
    assert "not safe" not in public.lower()
    assert "confidential -" not in public.lower()


def test_what_belongs_to_microdata_is_refused_for_finished_tables() -> None:
    table = tp.tabulate(FIRMS, **TABLE)
    with pytest.raises(tp.InputError, match=r"only for microdata, and .*: value, contributor"):
        tp.protect(table, RULES, value="turnover", contributor="firm")
    with pytest.raises(tp.InputError, match="need by="):
        tp.protect(FIRMS, RULES, value="turnover")
    with pytest.raises(tp.InputError, match="unions must be"):
        tp.protect(table, RULES, unions="fix")  # type: ignore[arg-type]


def test_a_stop_gives_the_best_answer_so_far() -> None:
    seen: list[tp.Progress] = []
    found = tp.protect(
        register(200),
        RULES,
        by=["section", "nuts"],
        value="turnover",
        limits=tp.Limits(stop=lambda: any(p.cost is not None for p in seen)),
        progress=seen.append,
    )
    assert found.safe
    assert {"rules", "audit"} <= {p.stage for p in seen}


def test_a_method_is_no_other_word() -> None:
    with pytest.raises(tp.InputError, match="did you mean 'exact'"):
        tp.protect(FIRMS, RULES, "exat", **TABLE)


@pytest.mark.parametrize("allowed", [False, True])
def test_without_any_pattern_one_exposed_cell_says_it_all_unless_it_may_be_written(
    allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabprotect.workflow.first_answer.first_results", lambda *_: iter(()))
    found = tp.protect(
        register(200), RULES, by=["section", "nuts"], value="turnover", limits=tp.Limits(work=0), allow_unsafe=allowed
    )
    assert (found.result.status, found.safe) == ("unknown", False)
    assert "no safe pattern was found within the limits" in found.result.message
    summary = str(found.summary())
    assert ("NOT SAFE" in summary) == allowed
    assert ("the limit of work was reached, no safe pattern yet" in summary) == (not allowed)
    if not allowed:
        with pytest.raises(tp.InfeasibleError, match="no safe pattern yet, so nothing is published"):
            _ = found.published
    assert found.judgement.exhaustive == allowed
    assert (len(found.judgement.exposures) > 1) == allowed


def test_intervals_end_with_the_limits_and_nothing_else_changes() -> None:
    data = register(200)
    how: dict[str, Any] = {"by": ["section", "nuts"], "value": "turnover", "contributor": "enterprise_id"}
    whole = tp.protect(data, RULES, limits=tp.Limits(work=3000), **how)
    assert whole.judgement.complete
    seen: list[str] = []
    part = tp.protect(
        data,
        RULES,
        limits=tp.Limits(work=3000, stop=lambda: "audit" in seen),
        progress=lambda line: seen.append(line.stage),
        **how,
    )
    assert part.safe
    assert np.array_equal(part.pattern, whole.pattern)
    assert not part.judgement.complete
    assert np.isnan(part.judgement.public.low).any()
    assert not np.isnan(part.judgement.explored().public.low).any()


def test_no_rules_at_all_and_decimals_that_are_none_are_refused() -> None:
    with pytest.raises(tp.InputError, match="nothing says which cells are sensitive"):
        tp.protect(FIRMS, [], **TABLE)
    with pytest.raises(tp.InputError, match="nothing says which cells are sensitive"):
        tp.protect(FIRMS, (), holding_rules=[], **TABLE)
    for decimals in (-16, 1.5, "2", True):
        with pytest.raises(tp.InputError, match="decimals must be a whole number from -15 to 15"):
            tp.protect(FIRMS, RULES, decimals=decimals, **TABLE)  # type: ignore[call-overload]
