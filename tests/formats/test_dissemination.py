"""PC-Axis, JSON-stat, coloured Excel sheets and the command that writes them, read back by the libraries of others."""

from __future__ import annotations

import io
import itertools
import json
import shutil
import zipfile
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tabprotect import link, protect, tabulate
from tabprotect.cli.app import run as run_command
from tabprotect.errors import InputError
from tabprotect.formats.crosstab import COLOURS, encode_crosstab
from tabprotect.formats.frames import encode_frame
from tabprotect.formats.jsonstat import encode_jsonstat
from tabprotect.formats.published import Published, read_published, read_tables
from tabprotect.formats.px import encode_px
from tabprotect.formats.shades import COLOURS as HEAT
from tests.formats.cells import expected, keyed


def test_pyaxis_reads_what_was_written(table: Published, tmp_path: Path) -> None:
    from pyaxis import pyaxis

    path = tmp_path / "a.px"
    path.write_bytes(encode_px(table))
    found = pyaxis.parse(str(path), encoding="utf-8")
    frame = found["DATA"].replace({"North": "n", "South": "s"})
    assert keyed(frame, "DATA") == expected(table, "Total")
    assert found["METADATA"]["TITLE"] == ["Firms"]


def test_json_stat(table: Published) -> None:
    made = json.loads(encode_jsonstat(table))
    codes = [made["dimension"][name]["category"]["index"] for name in made["id"]]
    cells = dict(zip(itertools.product(*codes), made["value"], strict=True))
    assert cells == expected(table, "Total")
    assert {int(i) for i in made["status"]} == {i for i, value in enumerate(made["value"]) if value is None}
    assert set(made["status"].values()) == {"c"}
    assert made["dimension"]["region"]["category"]["label"]["n"] == "North"


def test_openpyxl_reads_the_coloured_sheet(table: Published) -> None:
    data = encode_crosstab(table)
    assert data == encode_crosstab(table)
    sheet = openpyxl.load_workbook(io.BytesIO(data)).active
    head = [cell.value for cell in sheet[3]]
    assert head == ["region", "Total", "b", "s"]
    found = {}
    for row in sheet.iter_rows(min_row=4, max_row=6):
        for cell, size in zip(row[1:], head[1:], strict=True):
            found[row[0].value, size] = (cell.value, cell.fill.fgColor.rgb[-6:] if cell.fill.fill_type else None)
    words = dict(zip(expected(table, "Total"), table.words, strict=True))
    for (region, size), word in words.items():
        value, colour = found[{"n": "n North", "s": "s South"}.get(region, region), size]
        assert colour in HEAT if word == "published" else colour == COLOURS[word]
        assert value == (expected(table, "Total")[region, size] if word == "published" else "×")


def test_a_hidden_cell_with_a_value_is_refused() -> None:
    frame = pd.DataFrame({"a": ["T", "x"], "v": [5.0, 2.0], "status": ["published", "suppressed"]})
    with pytest.raises(InputError, match="x is hidden and has a value"):
        Published.of(frame)
    with pytest.raises(InputError, match="x has no value"):
        Published.of(frame.assign(v=[5.0, None], status="published"))


@hypothesis_settings(max_examples=30)
@given(
    st.lists(st.tuples(st.floats(-1e6, 1e6).map(lambda v: round(v, 2)), st.booleans()), min_size=6, max_size=6),
    st.lists(st.sampled_from(["A", "B", "Ünal", "x-1", "Total", "9", "07"]), min_size=3, max_size=3, unique=True),
)
def test_tables_come_back_from_px_and_json(cells: list[tuple[float, bool]], codes: list[str]) -> None:
    rows = list(itertools.product(codes, ["k", "l"]))
    frame = pd.DataFrame(rows, columns=["a", "b"])
    frame["v"] = [None if hidden else value for value, hidden in cells]
    frame["status"] = ["suppressed" if hidden else "published" for _, hidden in cells]
    table = Published.of(frame)
    made = json.loads(encode_jsonstat(table))
    wanted = [None if hidden else pytest.approx(value) for value, hidden in cells]
    assert made["value"] == wanted
    assert made["dimension"]["a"]["category"]["index"] == codes
    text = encode_px(table).decode().split("DATA=")[1].replace(";", "").split()
    assert [None if word == '".."' else float(word) for word in text] == wanted


def test_the_command_exports_public_files_only(firms: pd.DataFrame, tmp_path: Path) -> None:
    release = protect(firms, "p%=15", by=["region", "size"], value="turnover", contributor="firm")
    folder = release.write(tmp_path / "out")
    for name in ("a.px", "a.json", "a.xlsx"):
        assert run_command(["export", str(folder), str(tmp_path / name)]) == 0
    maps = ["--code", "region:Total=_T", "--code", "size:Total=_T", "--fixed", "FREQ=A"]
    for name in ("a.csv", "a.xml"):
        assert run_command(["export", str(folder), str(tmp_path / name), *maps]) == 0
    assert run_command(["export", str(folder), str(tmp_path / "b.px"), "--together"]) == 2
    assert run_command(["export", str(folder), str(tmp_path / "b.dbf")]) == 2
    for place in (folder / "publish", folder, folder / "internal"):
        assert run_command(["export", str(folder), str(place / "b.px")]) == 2
        assert not (place / "b.px").exists()
    text = (tmp_path / "a.csv").read_text(encoding="utf-8")
    hidden = [line for line in text.splitlines() if line.endswith("Q,C")]
    assert len(hidden) == release.pattern.sum()
    assert all(line.split(",")[-3] == "" for line in hidden)
    assert len(read_published(folder).frame) == 9


@pytest.fixture(scope="module")
def linked(firms: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a release of two linked tables, one of them with one dimension."""
    options = {"value": "turnover", "contributor": "firm"}
    tables = {
        "region: size": tabulate(firms, ["region", "size"], **options),
        "size": tabulate(firms, ["size"], **options),
    }
    release = protect(link(tables), "p%=15", title="Firms")
    return release.write(tmp_path_factory.mktemp("linked") / "out", ["csv", "xlsx"])


def test_linked_tables_become_a_sheet_each(linked: Path, tmp_path: Path) -> None:
    assert run_command(["export", str(linked), str(tmp_path / "a.xlsx")]) == 0
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    assert book.sheetnames == ["region- size", "size"]
    assert [cell.value for cell in book["region- size"][3]] == ["region", "Total", "b", "s"]
    assert [cell.value for cell in book["size"][3]][:2] == ["size", "turnover"]
    assert book["size"]["A1"].value == "Firms: size"


def test_forms_that_hold_one_table_ask_which(linked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["export", str(linked), str(tmp_path / "a.px")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert '--table "region: size" or --table "size"' in said
    for name, cells in (("region: size", 9), ("size", 3)):
        assert run_command(["export", str(linked), str(tmp_path / "a.json"), "--table", name]) == 0
        assert len(json.loads((tmp_path / "a.json").read_text())["value"]) == cells
        assert len(read_published(linked, name).frame) == cells
    assert run_command(["export", str(linked), str(tmp_path / "a.px"), "--table", "sise"]) == 2
    assert "did you mean 'size'?" in capsys.readouterr().err
    with pytest.raises(InputError, match="2 linked tables; name one of them with table='region: size' or table='size'"):
        read_published(linked)


def test_linked_tables_of_earlier_versions_are_read(linked: Path, tmp_path: Path) -> None:
    old = shutil.copytree(linked, tmp_path / "old")
    path = old / "internal" / "release.json"
    manifest = json.loads(path.read_text())
    del manifest["tables"]
    path.write_text(json.dumps(manifest))
    assert {name: one.dimensions for name, one in read_tables(old).items()} == {
        "region: size": ("region", "size"),
        "size": ("size",),
    }


def test_a_written_excel_file_has_a_list_and_shaded_tables(linked: Path) -> None:
    book = openpyxl.load_workbook(linked / "publish" / "table.xlsx")
    assert book.sheetnames == ["table", "region- size", "size"]
    fills = {
        cell.fill.fgColor.rgb[-6:]
        for row in book["region- size"].iter_rows(min_row=4)
        for cell in row
        if cell.fill.fill_type
    }
    assert COLOURS["suppressed"] in fills
    assert fills & set(HEAT)


def test_inside_the_tables_hold_all_values_with_their_status_in_colour(linked: Path) -> None:
    book = openpyxl.load_workbook(linked / "internal" / "table.xlsx")
    assert book.sheetnames == ["confidential", "region- size", "size"]
    for sheet in book.worksheets:
        assert "CONFIDENTIAL" in sheet.oddHeader.center.text
    frame = pd.read_excel(linked / "internal" / "table.xlsx", sheet_name="confidential")
    rows = frame[frame["table"] == "region: size"].set_index(["region", "size"])
    sheet = book["region- size"]
    across = [cell.value for cell in sheet[3]][1:]
    seen = set()
    for line in sheet.iter_rows(min_row=4, max_row=3 + rows.index.get_level_values(0).nunique()):
        for code, cell in zip(across, line[1:], strict=True):
            row = rows.loc[(line[0].value, code)]
            assert cell.value == row["turnover"]
            sign = {"primary": "P", "secondary": "S"}.get(row["status"])
            assert (f'" {sign}"' in cell.number_format) == (sign is not None)
            assert (cell.fill.fgColor.rgb[-6:] == COLOURS.get(row["status"])) == (sign is not None)
            seen.add(row["status"])
    assert {"primary", "secondary", "safe"} <= seen
    legend = [cell.value for row in sheet.iter_rows() for cell in row if cell.fill.fill_type and cell.column == 1]
    assert legend == ["P primary: sensitive", "S secondary: hidden to protect others"]


def test_excel_holds_numbers_as_they_are_published(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": ["Total", "x", "y"], "v": [83887.1, 83887.0, 0.1]})
    for data in (encode_crosstab(Published.of(frame)), encode_frame(frame, "xlsx")):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            text = archive.read("xl/worksheets/sheet1.xml").decode()
        assert "<v>83887.1</v>" in text
        assert "83887.10000000001" not in text
