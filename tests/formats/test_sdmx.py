"""SDMX data and structures, read by the libraries of others and read back."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tabprotect import protect
from tabprotect.cli.app import run as run_command
from tabprotect.errors import InputError
from tabprotect.formats.published import Published
from tabprotect.formats.sdmx import (
    ESTAT,
    SDMX,
    StatusMap,
    encode_sdmx,
    encode_structure,
    read_hierarchies,
    read_structures,
)
from tabprotect.table.hierarchy import Hierarchy
from tests.formats.cells import CODES, expected, keyed


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
