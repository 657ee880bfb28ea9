from __future__ import annotations

import io
import re
import time
import zipfile
from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from tabprotect.errors import InputError
from tabprotect.formats.dialect import Dialect
from tabprotect.formats.frames import FRAME_FORMATS, as_labels, encode_frame

FRAME = pd.DataFrame(
    {
        "region": ["=A1+A2", "01", "Total, all"],
        "count": pd.array([1, None, 3], dtype="Int64"),
        "value": [1.5, None, 0.1],
    },
    index=[7, 7, 9],
)
READERS: dict[str, Callable[[Any], pd.DataFrame]] = {
    "csv": lambda stream: pd.read_csv(stream, dtype={"region": str}),
    "text.csv": lambda stream: as_labels(pd.read_csv(stream, dtype={"region": str})),
    "parquet": pd.read_parquet,
    "xlsx": lambda stream: pd.read_excel(stream, dtype={"region": str}),
}


@pytest.mark.parametrize("kind", FRAME_FORMATS)
def test_what_is_written_reads_back(kind: str) -> None:
    again = READERS[kind](io.BytesIO(encode_frame(FRAME, kind)))
    assert again["region"].tolist() == FRAME["region"].tolist()
    assert again["count"].isna().tolist() == [False, True, False]
    assert again["value"].isna().tolist() == [False, True, False]
    assert (again["count"][0], again["count"][2], again["value"][0], again["value"][2]) == (1, 3, 1.5, 0.1)


def test_no_clock_in_an_excel_file(monkeypatch: pytest.MonkeyPatch) -> None:
    first = encode_frame(FRAME, "xlsx")
    later = time.time() + 1e6
    monkeypatch.setattr(time, "time", lambda: later)
    assert encode_frame(FRAME, "xlsx") == first
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        stamps = re.findall(rb"\d{4}-\d\d-\d\dT[\d:]+", archive.read("docProps/core.xml"))
        assert set(stamps) == {b"1980-01-01T00:00:00"}
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml")


def test_no_index_and_no_library_state_in_parquet() -> None:
    schema = pq.read_schema(io.BytesIO(encode_frame(FRAME, "parquet")))
    assert schema.names == ["region", "count", "value"]
    assert schema.metadata is None


def test_unknown_kinds_and_impossible_content_are_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'parquet'"):
        encode_frame(FRAME, "parkuet")
    with pytest.raises(InputError, match="control characters"):
        encode_frame(pd.DataFrame({"a": ["x\x01"]}), "xlsx")
    with pytest.raises(InputError, match="1,048,575 rows"):
        encode_frame(pd.DataFrame({"a": range(1_048_576)}), "xlsx")


def test_large_whole_numbers_are_written_in_full() -> None:
    frame = pd.DataFrame({"a": ["x", "y", "z"], "v": [123456789012345680.0, 1.5, None]})
    assert encode_frame(frame, "csv").decode() == "a,v\nx,123456789012345680\ny,1.5\nz,\n"
    assert encode_frame(frame, "csv", dialect=Dialect(";", ",")).decode() == "a;v\nx;123456789012345680\ny;1,5\nz;\n"
