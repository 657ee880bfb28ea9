"""What leaves the building is a function of what is published: nothing hidden can change a single byte of it."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.report.public import PUBLISHED, SUPPRESSED, public_files, public_table
from tabprotect.table.decimals import decimals_of
from tabprotect.table.dimension import Dimension
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.table import Table
from tabprotect.table.tabulate import tabulate

FORMATS = ("csv", "parquet", "xlsx")
REGIONS = Hierarchy.from_pairs(
    [("T", "N"), ("T", "S"), ("N", "n1"), ("N", "n2"), ("S", "s1"), ("S", "s2"), ("S", "s3")]
)


def example(seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    n = 200
    data = pd.DataFrame(
        {
            "region": rng.choice(REGIONS.leaves, n),
            "size": rng.choice(["small", "large", "huge"], n),
            "turnover": rng.integers(100_000, 10_000_000, n),
            "who": np.arange(n),
        }
    )
    return tabulate(data, [Dimension("region", REGIONS), "size"], "turnover", contributor="who")


def files(table: Table, hidden: Any) -> Mapping[str, bytes]:
    words = np.where(hidden, SUPPRESSED, PUBLISHED).astype(object)
    return public_files(public_table(table, words, np.asarray(hidden), title="Turnover"), FORMATS)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.data())
def test_nothing_hidden_can_change_a_byte(seed: int, data: st.DataObject) -> None:
    table = example()
    rng = np.random.default_rng(seed)
    hidden = rng.random(table.n_cells) < data.draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    values = table.values.copy()
    values[hidden] = rng.lognormal(5, 9, int(hidden.sum())) * rng.choice([0, 1, -1], int(hidden.sum()))
    shuffled = rng.permutation(len(table.rows))
    other = replace(
        table,
        values=values,
        counts=rng.integers(0, 9, table.n_cells).astype(float),
        contributions=None,
        columns={"secret": rng.random(table.n_cells)},
        rows=table.rows.assign(note="note").iloc[shuffled].reset_index(drop=True),
        row_cell=table.row_cell[shuffled],
        residual=float(rng.random()),
    )
    assert files(other, hidden) == files(table, hidden)


def test_no_hidden_value_is_anywhere_in_the_public_files() -> None:
    table = example()
    hidden = np.zeros(table.n_cells, bool)
    hidden[[3, 5, 7, 11, 15, 19, 23]] = True
    published = {f"{v:.0f}" for v in table.values[~hidden]}
    secrets = {f"{v:.0f}" for v in table.values[hidden]} - published
    assert len(secrets) == 7
    texts = readable(files(table, hidden))
    assert set(texts) >= {"table.csv", "index.html", "table.parquet", "table.xlsx:xl/worksheets/sheet1.xml"}
    for name, text in texts.items():
        digits = re.sub(r"(?<=\d)[,.'\s\u202f](?=\d{3})", "", text)
        for secret in secrets:
            assert secret not in text, name
            assert secret not in digits, name
        # every published total is found by the same search, so the search can see
    assert f"{table.values[0]:.0f}" in texts["table.csv"]
    assert f"{table.values[0]:.0f}" in texts["table.parquet"]
    assert f"{table.values[0]:.0f}" in texts["table.xlsx:xl/worksheets/sheet1.xml"]
    assert f"{table.values[0]:.0f}" in texts["index.html"]


def readable(content: Mapping[str, bytes]) -> dict[str, str]:
    """All text of public files, unpacked: archives, columns, statistics and metadata."""
    found: dict[str, str] = {}
    for name, data in content.items():
        if name.endswith(".xlsx"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                found |= {f"{name}:{part}": archive.read(part).decode() for part in archive.namelist()}
                assert archive.comment == b""
        elif name.endswith(".parquet"):
            file = pq.ParquetFile(io.BytesIO(data))
            groups = [file.metadata.row_group(i).to_dict() for i in range(file.num_row_groups)]
            found[name] = f"{file.read().to_pylist()} {groups} {file.metadata.to_dict()} {file.schema_arrow.metadata}"
        else:
            found[name] = data.decode()
    return found


def test_rows_come_in_the_order_of_the_codes() -> None:
    table = example()
    hidden = np.zeros(table.n_cells, bool)
    frame = public_table(table, np.full(table.n_cells, PUBLISHED, object), hidden, title="t").frame
    assert frame.columns.tolist() == ["region", "size", "turnover", "status"]
    assert frame["region"].unique().tolist() == ["T", "N", "n1", "n2", "S", "s1", "s2", "s3"]
    assert frame["size"].tolist()[:4] == ["Total", "huge", "large", "small"]


def test_hidden_cells_are_empty_and_never_zero() -> None:
    table = example()
    hidden = np.zeros(table.n_cells, bool)
    hidden[4:8] = True
    content = files(table, hidden)
    for frame in (
        pd.read_csv(io.BytesIO(content["table.csv"])),
        pd.read_parquet(io.BytesIO(content["table.parquet"])),
        pd.read_excel(io.BytesIO(content["table.xlsx"])),
    ):
        assert frame["turnover"].isna().tolist() == (frame["status"] == "suppressed").tolist()
        assert frame["turnover"].isna().sum() == 4
        shown = frame["turnover"].dropna()
        assert shown.tolist() == table.values[~hidden].tolist()


def test_names_of_columns_give_way() -> None:
    table = replace(example(), value_name="status")
    frame = public_table(
        table, np.full(table.n_cells, PUBLISHED, object), np.zeros(table.n_cells, bool), title="t"
    ).frame
    assert frame.columns.tolist() == ["region", "size", "status", "status_"]


@pytest.mark.parametrize(
    ("values", "places"),
    [([1, 2, 3], 0), ([0.1 + 0.2], 1), ([1e12 + 0.5], 1), ([1.25, np.nan], 2), ([1 / 3], None), ([], 0), ([-2.5], 1)],
)
def test_decimals_are_those_that_values_have(values: list[float], places: int | None) -> None:
    assert decimals_of(np.array(values, float)) == places


def test_noise_of_sums_is_not_published() -> None:
    table = example()
    noisy = replace(table, values=table.values / 10 * (1 + 2e-16))
    hidden = np.zeros(table.n_cells, bool)
    words = np.full(table.n_cells, PUBLISHED, object)
    frame = public_table(noisy, words, hidden, title="t").frame
    assert all(len(repr(float(v)).split(".")[1]) == 1 for v in frame["turnover"])
    np.testing.assert_allclose(frame["turnover"].to_numpy(float), noisy.values, rtol=1e-15)
    rounded = public_table(noisy, words, hidden, title="t", decimals=0).frame
    assert rounded["turnover"].dtype == "Int64"


def test_a_page_of_values_rounded_to_tens_has_no_decimals() -> None:
    table = example()
    public = public_table(
        table, np.full(table.n_cells, PUBLISHED, object), np.zeros(table.n_cells, bool), title="t", decimals=-1
    )
    page = public_files(public, ("csv",))["index.html"].decode()
    assert '"decimals":0' in page
    assert f"{round(table.values[0], -1):,.0f}<" in page
