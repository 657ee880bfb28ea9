"""read(write(x)) == x for every format: a writer or a form without a test that says so fails here."""

from __future__ import annotations

import ast
import importlib
import io
import json
import pkgutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.formats
from tabprotect.attack.statement import problem_statement
from tabprotect.formats import instance_suffixes
from tabprotect.formats.certificate import problem_of
from tabprotect.formats.crosstab import MARK, encode_crosstab, encode_list
from tabprotect.formats.frames import FRAME_FORMATS, as_labels, encode_frame
from tabprotect.formats.pattern import cell_ids, pattern_of
from tabprotect.formats.published import Published
from tabprotect.formats.sdmx import FORMATS, encode_sdmx
from tabprotect.table.reading import read_frame
from tests.quick import examples
from tests.random_problems import problems

TESTS = Path(__file__).parents[1]

WRITERS = {
    "argus.lists.write_apriori": "formats/argus/test_round_trips.py::test_apriori_files",
    "argus.lists.write_codelist": "formats/argus/test_round_trips.py::test_code_lists",
    "argus.lists.write_hierarchy": "formats/argus/test_round_trips.py::test_hierarchies",
    "argus.microdata.write_asc": "formats/argus/test_round_trips.py::test_microdata",
    "argus.rda_writer.write_rda": "formats/argus/test_round_trips.py::test_metadata",
    "argus.recodings.write_recoding": "formats/argus/test_round_trips.py::test_recodings",
    "argus.tab.write_tab": "formats/argus/test_round_trips.py::test_tables",
    "crosstab.encode_crosstab": "formats/test_round_trips.py::test_crosstabs",
    "crosstab.encode_list": "formats/test_round_trips.py::test_lists_with_crosstabs",
    "frames.encode_frame": "formats/test_round_trips.py::test_frames",
    "jj.write_jj": "formats/test_jj.py::test_any_problem_survives_a_round_trip",
    "jsonstat.encode_jsonstat": "formats/test_dissemination.py::test_tables_come_back_from_px_and_json",
    "px.encode_px": "formats/test_dissemination.py::test_tables_come_back_from_px_and_json",
    "sdmx.data.encode_sdmx": "formats/test_round_trips.py::test_sdmx",
    "sdmx.written.encode_structure": "formats/test_sdmx.py::test_hierarchies_come_back_from_structures",
    "dialect.Dialect": "formats/test_dialect.py::test_round_trip",
    "pattern.cell_ids": "formats/test_round_trips.py::test_patterns",
}
"""Every writer, and the property that says that what it writes is read back."""

NOT_FORMATS = {
    "argus.output.encode": "six forms of tables of others; tests/workflow/argus reads each of them",
    "files.write_bytes": "any bytes",
    "files.write_text": "any text",
    "folder.write_release": "a folder of the files above, whose digests verify compares",
}
READ_ONLY = (".sif",)
INSTANCES = {
    ".jj": "formats/test_jj.py::test_any_problem_survives_a_round_trip",
    ".json": "formats/test_round_trips.py::test_certificates",
}


def writers() -> Iterator[str]:
    """Yield what writes, by the module that defines it."""
    for found in pkgutil.walk_packages(tabprotect.formats.__path__, "tabprotect.formats."):
        module = importlib.import_module(found.name)
        for name in getattr(module, "__all__", ()):
            made = getattr(module, name)
            if name.split("_")[0] in ("encode", "write", "to") and getattr(made, "__module__", "") == found.name:
                yield f"{found.name.removeprefix('tabprotect.formats.')}.{name}"


def test_every_writer_has_a_round_trip() -> None:
    missing = sorted(set(writers()) - set(WRITERS) - set(NOT_FORMATS))
    assert not missing, f"no round trip says that what these write is read back: {missing}"
    assert set(instance_suffixes()) == {*INSTANCES, *READ_ONLY}


@pytest.mark.parametrize("place", sorted({*WRITERS.values(), *INSTANCES.values()}))
def test_the_round_trips_are_properties(place: str) -> None:
    file, _, name = place.partition("::")
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    (function,) = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == name]
    calls = [one.func for one in function.decorator_list if isinstance(one, ast.Call)]
    assert any(isinstance(one, ast.Name) and one.id == "given" for one in calls), f"{place} is no property"


CODES = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=5
).filter(lambda word: word.strip() == word)
NUMBERS = st.one_of(st.none(), st.floats(-1e9, 1e9, allow_subnormal=False), st.integers(-(10**12), 10**12).map(float))
FRAMES = st.lists(st.tuples(CODES, NUMBERS), min_size=1, max_size=6)


def reread(data: bytes, kind: str, **given: str) -> pd.DataFrame:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{kind.rpartition('.')[2]}"
        path.write_bytes(data)
        numbers = [] if kind == "text.csv" else ["value"]
        frame, _ = read_frame(path, numbers)
    return frame


@pytest.mark.parametrize("kind", FRAME_FORMATS)
@settings(max_examples=examples(8, 15), deadline=None)
@given(FRAMES)
def test_frames(kind: str, rows: list[tuple[str, float | None]]) -> None:
    """Of every format that a release can be written in: a new one comes here by itself."""
    frame = pd.DataFrame({"code": [word for word, _ in rows], "value": pd.array([v for _, v in rows], dtype="Float64")})
    read = reread(encode_frame(frame, kind), kind)
    if kind == "text.csv":
        read = as_labels(read)
    assert read["code"].tolist() == frame["code"].tolist()
    values = pd.to_numeric(read["value"]).to_numpy(float)
    # Excel keeps 15 digits
    exact = 1e-14 if kind == "xlsx" else 0
    np.testing.assert_allclose(values, frame["value"].to_numpy(float, na_value=np.nan), rtol=exact, atol=0)


IDENTIFIERS = st.lists(st.from_regex(r"[A-Za-z0-9_]{1,5}", fullmatch=True), min_size=1, max_size=5, unique=True)


def published(data: st.DataObject) -> Published:
    codes, sizes = data.draw(IDENTIFIERS), data.draw(IDENTIFIERS)
    frame = pd.DataFrame([(a, b) for a in codes for b in sizes], columns=["region", "size"])
    values = [data.draw(st.integers(-(10**7), 10**7)) / 100 for _ in range(len(frame))]
    words = [data.draw(st.sampled_from(["published", "primary", "secondary"])) for _ in range(len(frame))]
    frame["v"] = [value if word == "published" else None for value, word in zip(values, words, strict=True)]
    return Published(frame.assign(status=words), "v", "status")


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=5, deadline=None)
@given(st.data())
def test_sdmx(form: str, data: st.DataObject) -> None:
    """Of every form, by pysdmx: codes, values and both statuses."""
    from pysdmx.io import read_sdmx

    table = published(data)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{form.partition('-')[0].replace('ml', 'xml')}"
        path.write_bytes(encode_sdmx(table, form))
        (read,) = read_sdmx(path, validate=False).data
    # a column that is empty throughout is left out
    frame = read.data.reindex(columns=["region", "size", "OBS_VALUE", "OBS_STATUS", "CONF_STATUS"])
    assert frame[["region", "size"]].astype(str).values.tolist() == table.frame[["region", "size"]].values.tolist()
    values = pd.to_numeric(frame["OBS_VALUE"], errors="coerce").to_numpy(float)
    np.testing.assert_array_equal(values, table.values)
    names = {"F": "published", "C": "primary", "D": "secondary"}
    assert [names[code] for code in frame["CONF_STATUS"]] == table.words.tolist()
    assert [code == "Q" for code in frame["OBS_STATUS"]] == table.hidden.tolist()


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_crosstabs(data: st.DataObject) -> None:
    table = published(data)
    sheet = openpyxl.load_workbook(io.BytesIO(encode_crosstab(table))).active
    rows, columns = table.codes("region"), table.codes("size")
    assert [cell.value for cell in sheet[3]][1:] == columns
    found = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=4, max_row=3 + len(rows))]
    assert [row[0] for row in found] == rows
    wanted = [MARK if np.isnan(value) else value for value in table.values]
    assert [value for row in found for value in row[1:]] == wanted


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_lists_with_crosstabs(data: st.DataObject) -> None:
    table = published(data)
    book = openpyxl.load_workbook(io.BytesIO(encode_list(table.frame, {"crosstab": table})))
    assert book.sheetnames == ["table", "crosstab"]
    values = table.frame.columns.get_loc(table.value)
    listed = [row[values].value for row in book["table"].iter_rows(min_row=2)]
    assert listed == [None if np.isnan(value) else value for value in table.values]
    rows = book["crosstab"].iter_rows(min_row=4, max_row=3 + len(table.codes("region")))
    crossed = [cell.value for row in rows for cell in row[1:]]
    assert crossed == [MARK if np.isnan(value) else value for value in table.values]


@settings(max_examples=15, deadline=None)
@given(problems())
def test_certificates(problem: tabprotect.Problem) -> None:
    """The problem in a certificate, through JSON."""
    read = problem_of(json.loads(json.dumps(problem_statement(problem))))
    for name in ("values", "status", "lpl", "upl", "spl", "weights", "lower", "upper"):
        np.testing.assert_array_equal(getattr(read, name), getattr(problem, name), err_msg=name)
    assert (read.system.A != problem.system.A).nnz == 0
    assert [a.known for a in read.attackers] == [tuple(a.known) for a in problem.attackers]


@settings(max_examples=15, deadline=None)
@given(problems(), st.data())
def test_patterns(problem: tabprotect.Problem, data: st.DataObject) -> None:
    n = problem.system.n_cells
    pattern = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
    ids = json.loads(json.dumps(cell_ids(problem.system, np.flatnonzero(pattern))))
    assert pattern_of(ids, problem.system).tolist() == pattern.tolist()
