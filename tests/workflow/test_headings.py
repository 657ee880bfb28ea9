"""Unit, source and labels from every face, on every page, and nowhere else."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest

import tabprotect as tp
from benchmarks.alterations import new_digests
from tabprotect.cli.app import run
from tabprotect.formats.codelists import read_code_list
from tabprotect.formats.crosstab import encode_crosstab
from tabprotect.formats.jsonstat import encode_jsonstat
from tabprotect.formats.published import read_published
from tabprotect.formats.px import encode_px
from tabprotect.release.read import read_release
from tabprotect.report.layout import LAYOUT

UNIT, SOURCE = "1,000 <EUR>", "Business <b>statistics</b> 2025 & more"
RECORDS = [("ns"[i % 2], "ab"[i % 3 > 0], f"f{i}", i * 37 % 101 * 1000 + 0.25) for i in range(23)]
FIRMS = pd.DataFrame(RECORDS, columns=["region", "size", "firm", "turnover"])
CODES = "code,label\nTotal,All <i>regions</i>\nn,North\ns,South\n"
HOW: dict[str, Any] = {"by": ["region", "size"], "value": "turnover", "contributor": "firm"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lines = [f"{r};{s};{firm};{str(value).replace('.', ',')}" for r, s, firm, value in RECORDS]
    (tmp_path / "firms.csv").write_text("\n".join(["region;size;firm;turnover", *lines]) + "\n")
    (tmp_path / "region.csv").write_text(CODES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def python(place: Path) -> Path:
    labelled = read_code_list(place / "region.csv").hierarchy
    release = tp.protect(
        place / "firms.csv", "p%=60", hierarchies={"region": labelled}, unit=UNIT, source=SOURCE, title="Firms", **HOW
    )
    return release.write(place / "python")


def specification(place: Path) -> Path:
    (place / "spec.toml").write_text(
        'data = "firms.csv"\nby = ["region", "size"]\nvalue = "turnover"\ncontributor = "firm"\nrules = ["p%=60"]\n'
        f'unit = "{UNIT}"\n[hierarchy]\nregion = "region.csv"\n'
        f'[output]\ntitle = "Firms"\nsource = "{SOURCE}"\nfolder = "specification"\n'
    )
    assert run(["protect", "spec.toml"]) == 0
    return place / "specification"


def flags(place: Path) -> Path:
    words = "protect firms.csv --by region --by size --value turnover --contributor firm --rule p%=60 --title Firms"
    more = ["--hierarchy", "region=region.csv", "--unit", UNIT, "--source", SOURCE, "--out", "flags"]
    assert run([*words.split(), *more]) == 0
    return place / "flags"


def protocol(place: Path) -> Path:
    (place / "protocol.toml").write_text(
        'title = "Firms"\nrules = ["p%=60"]\ndata = "firms.csv"\nvalue = "turnover"\ncontributor = "firm"\n'
        f'[tables.one]\nby = ["region", "size"]\nunit = "{UNIT}"\n'
        f'[hierarchy]\nregion = "region.csv"\n[output]\nsource = "{SOURCE}"\n'
    )
    assert run(["develop", "protocol.toml", "--as-given"]) == 0
    (place / "period").mkdir()
    (place / "period" / "firms.csv").write_bytes((place / "firms.csv").read_bytes())
    assert run(["apply", "protocol.fixed.toml", "--data", "period", "--out", "released"]) == 0
    return place / "released" / "one"


FACES = [python, specification, flags, protocol]


def page_of(folder: Path) -> str:
    return (folder / "publish" / "index.html").read_text()


def data_of(page: str) -> Any:
    return json.loads(re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[0])


def test_all_faces_make_the_same_pages(place: Path) -> None:
    pages = {face.__name__: page_of(face(place)) for face in FACES}
    assert len(set(pages.values())) == 1, {name: len(page) for name, page in pages.items()}
    page = pages["python"]
    assert '<p class="unit">Unit: 1,000 &lt;EUR&gt;</p>' in page
    assert '<p class="source">Source: Business &lt;b&gt;statistics&lt;/b&gt; 2025 &amp; more</p>' in page
    assert "<i>" not in page.partition("<script")[0]
    data = data_of(page)
    assert (data["unit"], data["signs"], data["decimals"]) == (UNIT, [",", "\u202f"], 2)
    assert data["tables"][0]["axes"][0]["labels"] == ["All <i>regions</i>", "North", "South"]
    assert "labels" not in data["tables"][0]["axes"][1]


@pytest.mark.parametrize("face", FACES)
def test_pages_are_made_again_from_the_proof_and_text_files_stay_as_they_are(place: Path, face: Any) -> None:
    folder = face(place)
    assert read_release(folder).failures == ()
    plain = tp.protect(place / "firms.csv", "p%=60", **HOW).write(place / "plain")
    assert (folder / "publish/table.csv").read_bytes() == (plain / "publish/table.csv").read_bytes()
    inside = (folder / "internal/report.html").read_text()
    for words in ("Unit: 1,000 &lt;EUR&gt;", "Source: Business &lt;b&gt;", "North"):
        assert words in inside
    assert data_of(inside)["signs"] == [",", "\u202f"]
    # one manner of numbers on the whole page, but for settings and what the terminal says, too
    body = re.sub(r"(?s)<(script|style|svg|footer).*?</\1>", "", inside).replace("1,000 &lt;EUR&gt;", "")
    body = body.partition("<h2>Settings")[0]
    assert re.findall(r">[^<]*\d,\d{3}\b[^<]*<|>[^<]*\d\.\d[^<]*<", body) == []
    assert "799\u202f003,75" in body


def test_a_release_without_them_is_as_it_was_and_accepted(place: Path) -> None:
    """Layouts and manifests of earlier versions have none of these keys."""
    folder = tp.protect(FIRMS, "p%=60", **HOW).write(place / "plain")
    layout = json.loads((folder / "internal" / LAYOUT).read_text())
    assert set(layout) == {
        "format", "notice", "title", "value", "decimals", "separate", "formats", "columns", "parts", "cell", "written",
    }  # fmt: skip
    assert all(set(axis) == {"name", "codes", "nodes"} for part in layout["parts"] for axis in part["axes"])
    manifest = json.loads((folder / "internal/release.json").read_text())
    assert not {"unit", "source", "labels"} & set(manifest)
    assert read_release(folder).failures == ()
    page = page_of(folder)
    assert 'class="unit"' not in page
    assert 'class="source"' not in page


ALTERED = {
    "another unit": (lambda layout: layout.update(unit="EUR"), None),
    "no source": (lambda layout: layout.pop("source"), None),
    "another label": (lambda layout: layout["parts"][0]["axes"][0].update(labels=["", "South", "North"]), None),
    "a unit that is no text": (lambda layout: layout.update(unit=["EUR"]), "unit"),
    "too few labels": (lambda layout: layout["parts"][0]["axes"][0].update(labels=["All"]), "labels"),
    "a label that is no text": (lambda layout: layout["parts"][0]["axes"][0].update(labels=[1, 2, 3]), "labels"),
}


@pytest.mark.parametrize("name", ALTERED)
def test_what_was_altered_is_found(place: Path, name: str) -> None:
    alter, damaged = ALTERED[name]
    folder = python(place)
    path = folder / "internal" / LAYOUT
    layout = json.loads(path.read_text())
    alter(layout)
    path.write_text(json.dumps(layout))
    new_digests(folder)
    if damaged is None:
        assert any("index.html is not, byte for byte" in failure for failure in read_release(folder).failures)
    else:
        with pytest.raises(tp.InputError, match=damaged):
            read_release(folder)


@pytest.mark.parametrize("change", [{"title": "x"}, {"unit": "kg"}, {"source": "?"}, {"labels": {}}])
def test_what_exports_take_is_what_the_page_says(place: Path, change: dict[str, Any]) -> None:
    folder = python(place)
    path = folder / "internal/release.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    (name,) = change
    (failure,) = read_release(folder).failures
    assert failure == f"release.json names {'other' if name == 'labels' else 'another'} {name} than the public page"


def test_values_that_are_changed_have_them_too(place: Path) -> None:
    release = tp.protect(FIRMS.round(), "p%=60", tp.Round(base=20_000), unit=UNIT, source=SOURCE, **HOW)
    folder = release.write(place / "rounded")
    assert "Unit: 1,000 &lt;EUR&gt;" in page_of(folder)
    assert "Source: Business" in (folder / "internal/report.html").read_text()
    assert read_release(folder).failures == ()


def test_the_view_of_a_notebook_shows_them(place: Path) -> None:
    found = read_code_list(place / "region.csv").hierarchy
    release = tp.protect(place / "firms.csv", "p%=60", hierarchies={"region": found}, unit=UNIT, source=SOURCE, **HOW)
    shown = release._repr_html_()
    for words in ("Unit: 1,000 &lt;EUR&gt;", "Source: Business &lt;b&gt;", "n North", "1\u202f079\u202f005,75"):
        assert words in shown
    assert "1\u202f079\u202f005,75" in tp.tabulate(place / "firms.csv", **HOW)._repr_html_()


def test_a_cross_table_in_excel(place: Path) -> None:
    formula = "=1+1"
    release = tp.protect(
        FIRMS, "p%=60", hierarchies={"region": read_code_list(place / "region.csv").hierarchy}, unit="=EUR",
        source=SOURCE, title=formula, decimals=1, **HOW,
    )  # fmt: skip
    published = read_published(release.write(place / "out"))
    sheet = openpyxl.load_workbook(io.BytesIO(encode_crosstab(published))).active
    assert (sheet["A1"].value, sheet["A1"].data_type) == (formula, "s")
    assert (sheet["A2"].value, sheet["A2"].data_type) == ("Unit: =EUR", "s")
    assert [sheet.cell(row, 1).value for row in (4, 5, 6)] == ["Total All <i>regions</i>", "n North", "s South"]
    assert sheet["B4"].number_format == "#,##0.0"
    below = [row[0].value for row in sheet.iter_rows(min_row=7, max_col=1)]
    assert below[-1] == f"Source: {SOURCE}"


def test_excel_refuses_what_it_cannot_hold(place: Path) -> None:
    folder = tp.protect(FIRMS, "p%=60", title="a\x1bb", **HOW).write(place / "out")
    with pytest.raises(tp.InputError, match="control characters"):
        encode_crosstab(read_published(folder))
    assert run(["export", str(folder), "a.xlsx"]) == 2
    assert not (place / "a.xlsx").exists()


def test_other_exports(place: Path) -> None:
    published = read_published(python(place))
    assert (published.unit, published.source) == (UNIT, SOURCE)
    assert published.labels == {"region": {"Total": "All <i>regions</i>", "n": "North", "s": "South"}}
    made = json.loads(encode_jsonstat(published))
    assert (made["source"], made["extension"]["unit"]) == (SOURCE, {"label": UNIT})
    assert made["dimension"]["region"]["category"]["label"]["n"] == "North"
    lines = encode_px(published).decode().splitlines()
    assert f'UNITS="{UNIT}";' in lines
    assert f'SOURCE="{SOURCE}";' in lines


@pytest.mark.parametrize(("units", "words"), [
    (("EUR", "EUR"), "EUR"), (("EUR", None), "sizes: EUR"), ((None, None), ""),
    (("EUR", "persons"), "sizes: EUR; regions: persons"),
])  # fmt: skip
def test_linked_tables_may_have_different_units(place: Path, units: tuple[str | None, ...], words: str) -> None:
    tables = "".join(
        f'[tables.{name}]\nby = ["{column}"]\n' + (f'unit = "{unit}"\n' if unit else "")
        for name, column, unit in zip(("sizes", "regions"), ("size", "region"), units, strict=True)
    )
    (place / "linked.toml").write_text(
        'data = "firms.csv"\nvalue = "turnover"\ncontributor = "firm"\nrules = ["p%=60"]\n' + tables
    )
    assert run(["protect", "linked.toml", "--out", "linked"]) == 0
    assert data_of(page_of(place / "linked"))["unit"] == words


def test_pairs_of_codes_may_have_labels(place: Path) -> None:
    (place / "pairs.csv").write_text("parent,child,label\nTotal,n,North\nTotal,s,South\n")
    words = "protect firms.csv --by region --value turnover --rule threshold=1 --pairs region=pairs.csv --out out"
    assert run(words.split()) == 0
    assert data_of(page_of(place / "out"))["tables"][0]["axes"][0]["labels"] == ["", "North", "South"]


def test_lines_are_lines_of_text() -> None:
    release = tp.protect(FIRMS, "p%=60", unit=" 1\u00a0000\n EUR ", source="\tSBS", **HOW)
    assert (release.unit, release.source) == ("1\u00a0000 EUR", "SBS")
    with pytest.raises(tp.InputError) as error:
        tp.protect(FIRMS, "p%=60", unit=3, source="a\x1b[2Jb", **HOW)
    said = str(error.value)
    assert "unit must be a valid string, not 3" in said
    assert "source must be a line without control characters" in said


def test_labels_stay_where_codes_are_given_up_or_added() -> None:
    tree = tp.Hierarchy({"T": ["A", "B"], "A": ["1", "2"]}).labelled({"A": "first\n part", "1": "one", "x": "none"})
    assert tree.labels == {"A": "first part", "1": "one"}
    assert tree == tp.Hierarchy({"T": ["A", "B"], "A": ["1", "2"]})
    assert tree.with_leaves(["u"]).labels == tree.labels
    assert tree.under("A").labels == tree.labels
    other = tp.Hierarchy({"T": ["g", "h"], "g": ["1", "B"], "h": ["2"]}).labelled({"g": "group", "1": "uno"})
    assert tp.Hierarchy.merge(tree, other).labels == {"A": "first part", "1": "one", "g": "group"}
    with pytest.raises(tp.InputError, match="labels must map codes to texts"):
        tree.labelled({"A": 3})  # type: ignore[dict-item]


def test_recoded_tables_keep_their_labels() -> None:
    rows = [{"region": r, "firm": f"{r}{i}", "v": 10 + i} for r in ("a1", "a2", "b1", "b2") for i in range(5)]
    rows = [row for row in rows if row["region"] != "a1" or row["firm"].endswith("0")]
    tree = tp.Hierarchy({"T": ["a", "b"], "a": ["a1", "a2"], "b": ["b1", "b2"]}).labelled({"a": "Alpha", "b1": "one"})
    release = tp.protect(
        pd.DataFrame(rows), "threshold=3", tp.Recode(), by=["region"], hierarchies={"region": tree}, value="v",
        contributor="firm",
    )  # fmt: skip
    (axis,) = release.public.parts[0].axes
    assert "a1" not in axis.codes
    assert axis.labels[axis.codes.index("a")] == "Alpha"


def test_finished_tables_have_labels_and_decimals_as_published(place: Path) -> None:
    (place / "cells.csv").write_text("region;value;n\nTotal;1.234,5;9\nn;1.000,5;5\ns;234;4\n")
    words = "protect --cells cells.csv --by region --value value --count n --rule threshold=2 --hierarchy"
    assert run([*words.split(), "region=region.csv", "--out", "out"]) == 0
    data = data_of(page_of(place / "out"))
    assert data["tables"][0]["axes"][0]["labels"] == ["All <i>regions</i>", "North", "South"]
    # the file has points between thousands; one decimal is published
    assert (data["signs"], data["decimals"]) == ([",", "."], 1)
    plain = re.findall(r"<noscript>(.*?)</noscript>", page_of(place / "out"), re.DOTALL)[0]
    assert re.findall(r">([\d.,]+)<", plain) == ["1.234,5", "1.000,5", "234,0"]
    assert run([*words.split(), "region=region.csv", "--out", "plain", "--set", "output.thousands="]) == 0
    assert ">1234,5<" in page_of(place / "plain")
    assert read_release(place / "plain").failures == ()
