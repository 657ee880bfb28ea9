"""SDMX, PC-Axis, JSON-stat and coloured Excel sheets, read back by the libraries of others."""

from __future__ import annotations

import io
import itertools
import json
import shutil
import tempfile
import zipfile
from pathlib import Path

import numpy as np
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
from tabprotect.formats.sdmx import (
    ESTAT,
    SDMX,
    StatusMap,
    encode_sdmx,
    encode_structure,
    read_hierarchies,
    read_structures,
)
from tabprotect.formats.shades import COLOURS as HEAT
from tabprotect.table.hierarchy import Hierarchy

CODES = {"region": {"Total": "_T"}, "size": {"Total": "_T"}}


@pytest.fixture(scope="module")
def firms() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "region": list("nnnnnsssss"),
            "size": list("bbbssbbsss"),
            "firm": range(10),
            "turnover": [90, 5, 4, 40, 50, 20, 30, 60, 10, 20],
        }
    )


@pytest.fixture(scope="module")
def table(firms: pd.DataFrame) -> Published:
    release = protect(
        firms, "p%=15", by=["region", "size"], value="turnover", contributor="firm", separate_statuses=True
    )
    return Published.of(release.published, title="Firms", labels={"region": {"n": "North", "s": "South"}})


def keyed(frame: pd.DataFrame, value: str) -> dict[tuple[str, ...], float | None]:
    numbers = pd.to_numeric(frame[value], errors="coerce").to_numpy(float, na_value=np.nan)
    rows = frame[["region", "size"]].astype(str).itertuples(index=False, name=None)
    return {row: None if np.isnan(number) else float(number) for row, number in zip(rows, numbers, strict=True)}


def expected(table: Published, total: str = "_T") -> dict[tuple[str, ...], float | None]:
    return keyed(table.frame.replace({"Total": total}), table.value)


@pytest.mark.parametrize("form", ["csv-1.0", "csv-2.0", "ml-2.1", "ml-2.1-generic", "ml-3.0"])
def test_pysdmx_reads_every_form(table: Published, form: str, tmp_path: Path) -> None:
    from pysdmx.io import read_sdmx

    data = encode_sdmx(table, form, codes=CODES, fixed={"TIME_PERIOD": "2025"})
    path = tmp_path / ("a.xml" if form.startswith("ml") else "a.csv")
    path.write_bytes(data)
    frame = read_sdmx(path, validate=form.startswith("ml")).data[0].data
    assert keyed(frame, "OBS_VALUE") == expected(table)
    assert set(frame["TIME_PERIOD"]) == {"2025"}
    words = dict(zip(expected(table), table.words, strict=True))
    conf = dict(zip(frame[["region", "size"]].itertuples(index=False, name=None), frame["CONF_STATUS"], strict=True))
    assert {words[cell]: code for cell, code in conf.items()} == {"published": "F", "primary": "C", "secondary": "D"}
    # the same table gives the same bytes
    assert encode_sdmx(table, form, codes=CODES, fixed={"TIME_PERIOD": "2025"}) == data


def test_sdmx1_reads_generic_data(table: Published) -> None:
    import sdmx

    message = sdmx.read_sdmx(io.BytesIO(encode_sdmx(table, "ml-2.1-generic", codes=CODES)))
    found = {
        tuple(str(value.value) for value in obs.key.values.values()): (
            None if obs.value is None else float(obs.value),
            str(obs.attached_attribute["CONF_STATUS"].value),
        )
        for obs in message.data[0].obs
    }
    assert {cell: value for cell, (value, _) in found.items()} == expected(table)
    assert {code for value, code in found.values() if value is None} == {"C", "D"}


def test_statuses_are_configurable_and_checked(table: Published) -> None:
    together = encode_sdmx(table, codes=CODES, statuses=SDMX.together()).decode()
    assert ",D\n" not in together.replace("\r", "")
    published = encode_sdmx(table, codes=CODES, statuses=ESTAT).decode().splitlines()
    assert {line.rsplit(",", 2)[1:][1] for line in published[1:]} == {"", "C"}
    rule = {"published": "F", "suppressed": "C", "primary": "A", "secondary": "S"}
    assert ",Q,A\n" in encode_sdmx(table, codes=CODES, statuses=StatusMap(rule, SDMX.obs)).decode().replace("\r", "")
    with pytest.raises(InputError) as error:
        StatusMap({"published": "F", "suppressed": "Z", "primary": "C"}, SDMX.obs)
    assert len(error.value.problems) == 2


def test_names_that_are_no_identifiers_are_refused_with_the_cure(table: Published) -> None:
    frame = table.frame.rename(columns={"region": "région"}).replace({"n": "no rth"})
    with pytest.raises(InputError) as error:
        encode_sdmx(Published.of(frame))
    text = str(error.value)
    assert "names={'région': '...'}" in text
    assert "'no rth'" in text


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


STRUCTURE = """<?xml version="1.0" encoding="UTF-8"?>
<mes:Structure xmlns:mes="m" xmlns:str="s" xmlns:com="c"><mes:Structures><str:Codelists>
<str:Codelist id="CL_GEO" agencyID="XX" version="1.0">
  <str:Code id="_T"><com:Name xml:lang="fr">Tout</com:Name><com:Name xml:lang="en">All</com:Name></str:Code>
  <str:Code id="N"><com:Name>North</com:Name>{top}</str:Code>
  <str:Code id="N1"><str:Parent>{parent}</str:Parent></str:Code>
  <str:Code id="S">{top}</str:Code>
</str:Codelist></str:Codelists>
<str:HierarchicalCodelists><str:HierarchicalCodelist id="H" agencyID="XX"><str:Hierarchy id="HG" agencyID="XX">
  <str:HierarchicalCode id="1"><str:Code><Ref id="_T"/></str:Code>
    <str:HierarchicalCode id="2"><str:Code><Ref id="N"/></str:Code></str:HierarchicalCode>
    <str:HierarchicalCode id="3"><str:Code>urn:sdmx:org.sdmx.infomodel.codelist.Code=XX:CL_GEO(1.0).S</str:Code>
    </str:HierarchicalCode></str:HierarchicalCode></str:Hierarchy></str:HierarchicalCodelist></str:HierarchicalCodelists>
<str:DataStructures><str:DataStructure id="DSD" agencyID="XX" version="2.0"><str:DataStructureComponents>
  <str:DimensionList><str:Dimension id="GEO"><str:LocalRepresentation><str:Enumeration>
    <Ref id="CL_GEO" agencyID="XX" version="1.0"/></str:Enumeration></str:LocalRepresentation></str:Dimension>
    <str:TimeDimension id="TIME_PERIOD"/></str:DimensionList>
  <str:AttributeList><str:Attribute id="CONF_STATUS"/></str:AttributeList>
  <str:MeasureList><str:PrimaryMeasure id="OBS_VALUE"/></str:MeasureList>
</str:DataStructureComponents></str:DataStructure></str:DataStructures></mes:Structures></mes:Structure>
"""


@pytest.mark.parametrize("parent", ["N", '<Ref id="N"/>'])
@pytest.mark.parametrize("top", ["", "<str:Parent>_T</str:Parent>"])
def test_structures(tmp_path: Path, parent: str, top: str) -> None:
    path = tmp_path / "dsd.xml"
    path.write_text(STRUCTURE.format(parent=parent, top=top), encoding="utf-8")
    trees = read_hierarchies(path)
    assert trees["XX:CL_GEO(1.0)"].hierarchy().codes == ("_T", "N", "N1", "S")
    assert trees["XX:CL_GEO(1.0)"].labels == {"_T": "All", "N": "North"}
    assert trees["XX:HG(1.0)"].hierarchy().codes == ("_T", "N", "S")
    structure = read_structures(path)["XX:DSD(2.0)"]
    assert structure.dimensions == {"GEO": "XX:CL_GEO(1.0)", "TIME_PERIOD": ""}
    assert (structure.measures, structure.attributes) == (("OBS_VALUE",), ("CONF_STATUS",))


def test_structures_that_are_wrong(tmp_path: Path) -> None:
    path = tmp_path / "dsd.xml"
    path.write_text(STRUCTURE.format(parent="Q", top=""), encoding="utf-8")
    with pytest.raises(InputError, match="code 'N1' has the parent 'Q'"):
        read_hierarchies(path)
    path.write_text("<!DOCTYPE x [<!ENTITY a 'b'>]><x/>", encoding="utf-8")
    with pytest.raises(InputError, match="entities"):
        read_structures(path)
    path.write_text("<html/>", encoding="utf-8")
    with pytest.raises(InputError, match="no SDMX-ML"):
        read_hierarchies(path)


REGIONS = Hierarchy.from_hrc("n\n@n1\n@n2\ns\n", total="Total")


def test_structures_come_back(table: Published, tmp_path: Path) -> None:
    """What we write is read by us, by pysdmx and by sdmx1, with parents, labels and the lists of statuses."""
    import sdmx
    from pysdmx.io import read_sdmx

    data = encode_structure(
        table, agency="XX", structure="DSD", codes=CODES, hierarchies={"region": REGIONS}, fixed={"TIME_PERIOD": "2025"}
    )
    path = tmp_path / "dsd.xml"
    path.write_bytes(data)
    found = read_structures(path)["XX:DSD(1.0)"]
    assert list(found.dimensions.items()) == [
        ("region", "XX:CL_region(1.0)"), ("size", "XX:CL_size(1.0)"), ("TIME_PERIOD", ""),
    ]  # fmt: skip
    assert (found.measures, found.attributes) == (("OBS_VALUE",), ("OBS_STATUS", "CONF_STATUS"))
    tree = read_hierarchies(path)["XX:CL_region(1.0)"]
    assert tree.hierarchy().splits == (("_T", ("n", "s")),)
    assert tree.labels["n"] == "North"
    message = read_sdmx(path)
    (definition,) = message.get_data_structure_definitions()
    assert {one.id for one in definition.components} == {*found.dimensions, "OBS_VALUE", "OBS_STATUS", "CONF_STATUS"}
    codes = next(one for one in message.get_codelists() if one.id == "CL_CONF_STATUS")
    assert {"F", "C", "D"} <= {code.id for code in codes.items}
    other = sdmx.read_sdmx(path)
    assert other.codelist["CL_region"]["n"].parent.id == "_T"
    assert [one.id for one in other.structure["DSD"].dimensions.components] == list(found.dimensions)
    # the same table gives the same bytes
    assert data == encode_structure(
        table, agency="XX", structure="DSD", codes=CODES, hierarchies={"region": REGIONS}, fixed={"TIME_PERIOD": "2025"}
    )


@hypothesis_settings(max_examples=30, deadline=None)
@given(st.data())
def test_hierarchies_come_back_from_structures(data: st.DataObject) -> None:
    codes = data.draw(
        st.lists(st.from_regex(r"[A-Za-z0-9_]{1,6}", fullmatch=True), min_size=2, max_size=9, unique=True)
    )
    above = {code: codes[data.draw(st.integers(0, i))] for i, code in enumerate(codes[1:])}
    children = {parent: tuple(c for c in codes[1:] if above[c] == parent) for parent in codes}
    tree = Hierarchy(tuple((parent, parts) for parent, parts in children.items() if parts))
    frame = pd.DataFrame({"d": list(tree.codes), "v": [float(i) for i in range(len(codes))]})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dsd.xml"
        path.write_bytes(encode_structure(Published.of(frame), hierarchies={"d": tree}))
        read = read_hierarchies(path)["ORG:CL_d(1.0)"].hierarchy(codes[0])
    assert read.codes == tree.codes
    assert set(read.splits) == set(tree.splits)


def test_structures_are_exported_by_the_command(firms: pd.DataFrame, tmp_path: Path) -> None:
    release = protect(firms, "p%=15", by=["region", "size"], value="turnover", contributor="firm")
    release.write(tmp_path / "out")
    (tmp_path / "region.csv").write_text("parent;child\nTotal;n\nTotal;s\n", encoding="utf-8")
    words = ["--code", "region:Total=_T", "--code", "size:Total=_T"]
    target = ["export", str(tmp_path / "out"), str(tmp_path / "dsd.xml"), "--form", "structure-2.1", *words]
    assert run_command([*target, "--hierarchy", f"region={tmp_path / 'region.csv'}"]) == 0
    trees = read_hierarchies(tmp_path / "dsd.xml")
    assert trees["ORG:CL_region(1.0)"].hierarchy().codes == ("_T", "n", "s")
    target = ["export", str(tmp_path / "out"), str(tmp_path / "data.csv"), *words]
    assert run_command([*target, "--conf", "suppressed=N", "--obs", "suppressed=L"]) == 0
    lines = (tmp_path / "data.csv").read_text(encoding="utf-8").splitlines()
    assert {line.rsplit(",", 2)[1:] == ["L", "N"] for line in lines if ",," in line} == {True}
    assert run_command([*target, "--conf", "suppressed=ZZ"]) == 2


def test_dimensions_get_identifiers_by_the_command(
    firms: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `names` from Python: what is no identifier in SDMX gets one, and the error names the flag."""
    data = firms.rename(columns={"region": "région"})
    release = protect(data, "p%=15", by=["région", "size"], value="turnover", contributor="firm")
    folder, out = str(release.write(tmp_path / "out")), str(tmp_path / "data.csv")
    words = ["--code", "région:Total=_T", "--code", "size:Total=_T"]
    assert run_command(["export", folder, out, *words]) == 2
    assert "--name région=ID" in capsys.readouterr().err
    assert run_command(["export", folder, out, *words, "--name", "région=REF_AREA"]) == 0
    columns = (tmp_path / "data.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert columns[3:5] == ["REF_AREA", "size"]
    assert run_command(["export", folder, out, *words, "--name", "regon=REF_AREA"]) == 2
    assert "did you mean 'région'" in capsys.readouterr().err
    assert run_command(["export", folder, str(tmp_path / "a.px"), "--name", "région=REF_AREA"]) == 2
