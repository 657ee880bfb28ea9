"""Crosstabs, pivot tables and grouped sums: what pandas, polars and pyarrow make goes in, and comes out alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect as tp
from tabprotect.table.table import Table
from tabprotect.table.tabulate import tabulate
from tests.quick import examples


def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 400
    return pd.DataFrame(
        {
            "region": rng.choice(["N", "O", "W"], n, p=[0.6, 0.35, 0.05]),
            "sex": rng.choice(["f", "m"], n),
            "size": rng.choice([1, 2, 5], n, p=[0.7, 0.25, 0.05]),
            "turnover": rng.integers(1, 500, n),
        }
    )


def values_of(table: Table, order: list[str]) -> dict[tuple[str, ...], float]:
    """Cell values by their codes, every margin called Total."""
    rows = table.rows[order].astype(str).replace("All", "Total")
    return dict(zip(rows.itertuples(index=False, name=None), table.values[table.row_cell].tolist(), strict=True))


def test_a_crosstab_is_the_tabulated_table() -> None:
    frame = people()
    cross = pd.crosstab(frame["region"], frame["size"], margins=True)
    before = cross.copy()
    table = Table.from_crosstab(cross, kind="frequency")
    assert values_of(table, ["region", "size"]) == values_of(tabulate(frame, ["region", "size"]), ["region", "size"])
    pd.testing.assert_frame_equal(cross, before)


def test_the_same_crosstab_comes_out() -> None:
    frame = people()
    cross = pd.crosstab(frame["region"], frame["size"], margins=True)
    release = tp.protect(Table.from_crosstab(cross, kind="frequency"), "threshold=10")
    made = release.crosstab()
    pd.testing.assert_index_equal(made.index, cross.index)
    pd.testing.assert_index_equal(made.columns, cross.columns)
    hidden = made.isna().to_numpy()
    assert hidden.sum() == release.pattern.sum() > 0
    assert (made.to_numpy()[~hidden] == cross.to_numpy()[~hidden]).all()
    assert (cross.to_numpy()[(cross.to_numpy() > 0) & (cross.to_numpy() < 10)] > 0).any()
    assert hidden[(cross.to_numpy() > 0) & (cross.to_numpy() < 10)].all()


def test_levels_of_rows_and_columns_are_dimensions_and_subtotals_are_added() -> None:
    frame = people()
    cross = pd.crosstab([frame["region"], frame["sex"]], frame["size"], margins=True)
    assert ("All", "") in cross.index
    table = Table.from_crosstab(cross, kind="frequency", empty="zero")
    by = ["region", "sex", "size"]
    assert values_of(table, by) == values_of(tabulate(frame, by, empty="zero"), by)
    made = tp.protect(table, "threshold=5", singletons=False).crosstab()
    pd.testing.assert_index_equal(made.index, cross.index)


def test_levels_on_both_sides() -> None:
    frame = people().assign(year=lambda d: np.where(d.turnover % 2, "a", "b"))
    cross = pd.crosstab([frame["region"], frame["sex"]], [frame["size"], frame["year"]], margins=True)
    by = ["region", "sex", "size", "year"]
    table = Table.from_crosstab(cross, kind="frequency", empty="zero")
    assert values_of(table, by) == values_of(tabulate(frame, by, empty="zero"), by)


def test_a_pivot_table_of_several_values_has_counts_too() -> None:
    frame = people().assign(n=1)
    pivot = frame.pivot_table(
        ["turnover", "n"], "region", "size", aggfunc="sum", margins=True, margins_name="Total", fill_value=0
    )
    assert pivot.columns.names == [None, "size"]
    table = Table.from_crosstab(pivot, "turnover", count="n", margins="check")
    want = tabulate(frame, ["region", "size"], "turnover", empty="zero")
    assert values_of(table, ["region", "size"]) == values_of(want, ["region", "size"])
    assert table.counts is not None
    assert want.counts is not None
    assert sorted(table.counts) == sorted(want.counts)
    made = tp.protect(table, "threshold=3").crosstab()
    assert made.shape == (4, 4)
    with pytest.raises(tp.InputError, match=r"which are the values: .*'?n'?.*value=\.\.\."):
        Table.from_crosstab(pivot)
    with pytest.raises(tp.InputError, match=r"no values are called 'turnovr'.*turnover"):
        Table.from_crosstab(pivot, "turnovr")


def test_grouped_sums_go_in_and_a_series_comes_out() -> None:
    frame = people()
    sums = frame.groupby(["region", "sex"])["turnover"].sum()
    table = Table.from_crosstab(sums)
    want = tabulate(frame, ["region", "sex"], "turnover")
    assert values_of(table, ["region", "sex"]) == values_of(want, ["region", "sex"])
    made = tp.protect(table, "manual=5").crosstab()
    assert isinstance(made, pd.Series)
    assert made.name == "turnover"
    pd.testing.assert_index_equal(made.index, sums.index)
    assert made.tolist() == sums.tolist()


def test_several_columns_of_values_below_an_index() -> None:
    frame = people().assign(n=1)
    grouped = frame.groupby(["region", "sex"])[["turnover", "n"]].sum()
    first = Table.from_crosstab(grouped, "turnover")
    again = Table.from_cells(grouped, ["region", "sex"], "turnover", margins="add")
    assert values_of(first, ["region", "sex"]) == values_of(again, ["region", "sex"])
    assert first.rows.columns.tolist() == ["region", "sex", "turnover", "n"]


def test_finished_cells_may_have_codes_in_the_index() -> None:
    flat = pd.DataFrame({"region": ["Total", "N", "S"], "v": [9.0, 5.0, 4.0], "n": [9, 5, 4]})
    for frame in (flat, flat.set_index("region"), flat.set_index(["region", "n"]).reset_index("n")):
        table = Table.from_cells(frame, "region", "v", count="n")
        assert table.values.tolist() == [9, 5, 4]
    half = pd.DataFrame({"a": ["Total", "x"] * 2, "b": ["Total"] * 2 + ["y"] * 2, "v": [5.0] * 4}).set_index("a")
    assert Table.from_cells(half, ["a", "b"], "v").n_cells == 1
    # an index that means nothing is left alone
    table = Table.from_cells(flat.rename_axis("row"), "region", "v")
    assert table.wide is None
    crossed = pd.crosstab(people()["region"], people()["sex"], margins=True)
    table = Table.from_cells(crossed, ["region", "sex"], "n", kind="frequency")
    assert table.n_cells == 12
    assert [d.hierarchy.total for d in table.dimensions] == ["All", "All"]


@pytest.mark.parametrize("library", ["polars", "polars-lazy", "pyarrow"])
def test_wide_tables_of_other_libraries(library: str) -> None:
    cross = pd.crosstab(people()["region"], people()["size"], margins=True)
    flat = cross.reset_index().rename_axis(columns=None)
    flat.columns = flat.columns.astype(str)
    data: Any = pa.Table.from_pandas(flat, preserve_index=False) if library == "pyarrow" else pl.from_pandas(flat)
    table = Table.from_crosstab(
        data.lazy() if "lazy" in library else data, rows="region", columns="size", kind="frequency"
    )
    want = Table.from_crosstab(cross, kind="frequency")
    assert values_of(table, ["region", "size"]) == values_of(want, ["region", "size"])
    made = tp.protect(table, "threshold=10").crosstab()
    assert type(made) is (pa.Table if library == "pyarrow" else pl.DataFrame)
    names = made.column_names if library == "pyarrow" else made.columns
    assert names == ["region", "1", "2", "5", "All"]
    expected = tp.protect(want, "threshold=10").crosstab()
    assert made.to_pandas().set_index("region").isna().to_numpy().tolist() == expected.isna().to_numpy().tolist()


def test_any_release_is_laid_out() -> None:
    release = tp.protect(tabulate(people(), ["region", "sex", "size"], empty="zero"), "threshold=5")
    made = release.crosstab(rows=["region", "sex"], columns="size")
    assert made.columns.tolist() == ["Total", "1", "2", "5"]
    assert made.index.names == ["region", "sex"]
    assert made.index[0] == ("Total", "Total")
    assert int(made.isna().to_numpy().sum()) == int(release.pattern.sum())
    assert made.loc[("Total", "Total"), "Total"] == 400
    assert release.crosstab(rows=["region", "sex", "size"]).shape == (48, 1)
    with pytest.raises(tp.InputError, match=r"which dimensions are rows.*crosstab\(rows="):
        release.crosstab()
    with pytest.raises(tp.InputError, match=r"no dimension 'regon'.*region"):
        release.crosstab(rows=["regon"], columns="size")
    with pytest.raises(tp.InputError, match="name every dimension once: region, sex, size"):
        release.crosstab(rows="region", columns="size")


def test_hierarchies_and_margins_of_other_names() -> None:
    frame = people()
    tree = tp.Hierarchy((("Total", ("NO", "W")), ("NO", ("N", "O"))))
    cross = pd.crosstab(frame["region"], frame["sex"], margins=True, margins_name="Ensemble")
    table = Table.from_crosstab(cross, total="Ensemble", hierarchies={"region": tree}, kind="frequency")
    made = values_of(table, ["region", "sex"])
    assert made["NO", "Ensemble"] == made["N", "Ensemble"] + made["O", "Ensemble"]
    back = tp.protect(table, "threshold=1").crosstab()
    assert back.loc["Ensemble"].tolist() == cross.loc["Ensemble"].tolist()


def test_cells_without_value_are_not_in_the_table() -> None:
    cross = pd.crosstab(people()["region"], people()["sex"]).astype("Float64")
    cross.loc["W", "m"] = pd.NA
    with pytest.raises(tp.InputError, match=r"1 inner cell is not in the table: W x m; .*empty='structural'"):
        Table.from_crosstab(cross)
    table = Table.from_crosstab(cross, empty="structural")
    made = tp.protect(table, "manual=5").crosstab()
    assert pd.isna(made.loc["W", "m"])


def test_labels_of_other_types() -> None:
    days = pd.to_datetime(["2024-01-01", "2024-01-01", "2024-02-01"])
    frame = pd.DataFrame({"day": days, "class": pd.Categorical(["a", "b", "a"]), "score": [1.0, 2.0, 2.0]})
    table = Table.from_crosstab(pd.crosstab(frame["day"], frame["class"]), kind="frequency")
    assert set(table.rows["day"]) == {"2024-01-01", "2024-02-01", "Total"}
    assert tp.protect(table, "threshold=1").crosstab().index.tolist() == frame["day"].unique().tolist()
    scores = Table.from_crosstab(pd.crosstab(frame["score"], frame["class"], margins=True))
    assert set(scores.rows["score"]) == {"1", "2", "All"}


NAMELESS = pd.DataFrame([[1, 2], [3, 4]], index=["x", "y"], columns=["a", "b"])


@pytest.mark.parametrize(
    ("data", "options", "says"),
    [
        (NAMELESS, {}, "the index has no name: name the levels with rows="),
        (NAMELESS, {"rows": ["r", "s"]}, r"rows: no column 'r'.*rows: no column 's'|no column 'r'"),
        (NAMELESS, {"rows": "r"}, r"which are the values: .*a.*b.*value=\.\.\."),
        (NAMELESS, {"rows": "r", "columns": ["c", "d"]}, "columns names 2 levels, but the columns have 1"),
        (NAMELESS, {"rows": "r", "columns": "r"}, "two dimensions are called 'r'"),
        (NAMELESS, {"rows": "r", "columns": "c", "total": "Everything"}, "no dimension holds the code 'Everything'"),
        (NAMELESS, {"rows": "r", "columns": "c", "total": {"q": "a"}}, "total names 'q', which is no dimension"),
        (NAMELESS, {"rows": "r", "columns": "c", "total": {"c": "z"}}, "'z' is no code of 'c'"),
        (NAMELESS.set_axis(["All", "Total"]), {"rows": "r", "columns": "c"}, "'r' holds .*say which is the margin"),
        (NAMELESS.set_axis(["a", "a"], axis=1), {"rows": "r", "columns": "c"}, "columns are there more than once"),
        (NAMELESS.set_axis(["x", "All"]), {"rows": "r", "columns": "c"}, r"All x a"),
        (pl.DataFrame({"r": ["x"], "a": [1]}), {}, r"which columns hold the codes of the rows\? .*rows=\[\.\.\.\]"),
        (pl.DataFrame({"r": ["x"], "a": [1]}), {"rows": "s"}, "no column 's'"),
        (pl.DataFrame({"r": ["x"]}), {"rows": "r"}, "holds codes, but no values"),
        ({"a": 1}, {"rows": "r"}, "data of type dict cannot be read"),
    ],
)
def test_what_is_not_clear_is_refused(data: Any, options: dict[str, Any], says: str) -> None:
    with pytest.raises(tp.InputError, match=says):
        Table.from_crosstab(data, **options)


@settings(max_examples=examples(12, 25))
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.sampled_from("pq"), st.integers(1, 50)),
        min_size=1,
        max_size=30,
    ),
    st.booleans(),
)
def test_unfolding_and_laying_out_again_changes_nothing(
    records: list[tuple[str, str, str, int]], margins: bool
) -> None:
    frame = pd.DataFrame(records, columns=["a", "b", "c", "v"])
    cross = pd.crosstab([frame["a"], frame["b"]], frame["c"], frame["v"], aggfunc="sum", margins=margins)
    table = Table.from_crosstab(cross, empty="zero")
    release = tp.protect(table, "manual=5")
    made = release.crosstab()
    pd.testing.assert_frame_equal(made.astype("Float64"), cross.astype("Float64"), check_names=True)
