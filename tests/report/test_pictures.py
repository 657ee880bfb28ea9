"""What a reader sees: hidden cells when the page opens, on a telephone, on paper and without a script."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tabprotect.report.axes import Axis
from tabprotect.report.facts import course
from tabprotect.report.pages import Cube, Shown, Spans, StatusKey, internal_page, public_page
from tabprotect.solver.trace import Known

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PUBLIC = [StatusKey("published", "published", "123", 0), StatusKey("suppressed", "suppressed", "×", 0, hidden=True)]
INSIDE = [
    StatusKey("safe", "published", "123", 0),
    StatusKey("primary", "primary: sensitive", "123 P", 0, "P", hidden=True),
    StatusKey("secondary", "secondary", "123 S", 0, "S", hidden=True),
]


def cube(groups: int = 40, *, inside: bool = False) -> Cube:
    """A total over groups of three codes, by three sizes and two kinds; in some groups cells are hidden."""
    names = [f"g{i}" for i in range(groups)]
    children = {"T": names, **{g: [f"{g}{c}" for c in "abc"] for g in names}}
    codes = ["T", *(code for g in names for code in (g, *children[g]))]
    axes = (
        Axis.of("code", codes, children),
        Axis.of("size", ["all", "s", "b"], {"all": ["s", "b"]}),
        Axis.flat("kind", ["x", "y"]),
    )
    at = tuple(a.ravel() for a in np.meshgrid(*(np.arange(len(a.codes)) for a in axes), indexing="ij"))
    value = np.round(np.exp(np.random.default_rng(0).normal(8, 2.5, len(at[0]))))
    leaf = np.array([axes[0].codes[i][-1] in "abc" for i in at[0]])
    hidden = leaf & (at[1] > 0) & (at[0] % 9 < 3)
    status = np.where(hidden, 1 + (at[0] % 2 if inside else 0), 0)
    return Cube("t", axes, at, value if inside else np.where(hidden, np.nan, value), status.astype(np.int64))


def colours(path: Path, colour: tuple[int, int, int]) -> int:
    with Image.open(path) as image:
        return int((np.asarray(image.convert("RGB")) == colour).all(axis=2).sum())


def headings(document: str) -> list[str]:
    body = re.findall(r"<tbody>(.*?)</tbody>", document, re.DOTALL)[0]
    return [re.sub(r"<[^>]+>", " ", h) for h in re.findall(r'<th scope="row"[^>]*>(.*?)</th>', body, re.DOTALL)]


def test_the_page_opens_where_cells_are_hidden_and_folded_rows_say_how_many(dump: Callable[..., str]) -> None:
    small = dump(public_page(Shown("t", "v", [cube(6)], PUBLIC, 0), "note"))
    assert ">×<" in small.split("<tbody>")[1].split("</tbody>")[0]
    large = cube(40)
    document = dump(public_page(Shown("t", "v", [large], PUBLIC, 0), "note"))
    shown = headings(document)
    assert len(shown) <= 60
    # hidden cells that are seen, and those that folded rows count, are all hidden cells of the slice
    below = sum(int(n) for n in re.findall(r'class="below"[^>]*>(\d+) hidden', document.split("<tbody>")[1]))
    seen = document.split("<tbody>")[1].split("</tbody>")[0].count(">×<")
    slice_ = large.at[2] == 0
    assert below > 0
    assert seen > 0
    assert below + seen == int(np.isnan(large.value[slice_]).sum())


def test_the_table_is_shaded_by_value_and_hidden_cells_by_status(picture: Callable[..., Path]) -> None:
    inside = picture(
        internal_page(Shown("t", "v", [cube(6, inside=True)], INSIDE, 0), alarms=[], cards=[], charts=[], sections=[])
    )
    for colour in ((0xB8, 0x4E, 0x00), (0xF5, 0xC0, 0x4A), (0x83, 0xB3, 0xD6), (0xF1, 0xF6, 0xFA)):
        assert colours(inside, colour) > 500
    public = picture(public_page(Shown("t", "v", [cube(6)], PUBLIC, 0), "note"))
    assert colours(public, (0x4A, 0x52, 0x5C)) > 500
    assert colours(public, (0xB8, 0x4E, 0x00)) == 0


def test_cost_and_bound_are_lines_from_left_to_right(picture: Callable[..., Path]) -> None:
    """The cost in orange above, the bound in blue below, until they meet at the right edge."""
    trace = (Known(0, 900.0, 0.0), Known(300, 700.0, 300.0), Known(600, 600.0, 500.0), Known(900, 600.0, 600.0))
    page = internal_page(
        Shown("t", "v", [cube(1, inside=True)], INSIDE, 0),
        alarms=[],
        cards=[],
        charts=[],
        sections=[],
        courses=course(trace, "cost"),
    )
    page = page.replace('id="viewer"', 'id="viewer" hidden').replace('class="legend"', "hidden")
    with Image.open(picture(page)) as image:
        pixels = np.asarray(image.convert("RGB"))
    rows, columns = {}, {}
    for name, colour in (("cost", (0xB8, 0x4E, 0x00)), ("bound", (0x0B, 0x5C, 0xAD))):
        found = (pixels == colour).all(axis=2)
        rows[name], columns[name] = (np.flatnonzero(found.any(axis=k)) for k in (1, 0))
        assert found.sum() > 300
    assert rows["cost"].min() < rows["bound"].min() < rows["cost"].max()
    assert np.ptp(columns["cost"]) > 300
    assert np.ptp(columns["bound"]) > 300


def test_400_pixels_hold_the_page(dump: Callable[..., str], picture: Callable[..., Path]) -> None:
    spans = [Spans("Intervals", ["a cell with a long name"], [(-0.4, np.inf)], [(-0.1, 0.1)])]
    page = internal_page(
        Shown("t", "v", [cube(6, inside=True)], INSIDE, 0), alarms=[], cards=[], charts=[], sections=[], spans=spans
    )
    # nothing but the frame of the table scrolls sideways
    measure = (
        "const f = document.createElement('iframe'); f.style.width = '400px'; f.srcdoc = MARKUP; f.onload = () => {"
        "document.title = f.contentDocument.documentElement.scrollWidth; }; document.body.append(f);"
    )
    markup = json.dumps(page).replace("</", "<\\/")
    document = dump("<html><head><title></title></head><body></body></html>", measure.replace("MARKUP", markup))
    assert int(re.findall(r"<title>(\d+)</title>", document)[0]) <= 400
    assert colours(picture(page, 400), (0xB8, 0x4E, 0x00)) > 500


def flat(name: str, value: float) -> Cube:
    """A table of one dimension."""
    at = (np.arange(3),)
    return Cube(name, (Axis.flat("size", ["all", "s", "b"]),), at, np.array([value, np.nan, 1.0]), np.array([0, 1, 0]))


PRINT = "dispatchEvent(new Event('beforeprint'));"


def printed(document: str) -> list[tuple[str, int]]:
    """Return the caption and the number of rows of every table on paper."""
    tables = re.findall(r'<table class="cube"[^>]*><caption>(.*?)</caption>(.*?)</table>', document, re.DOTALL)
    return [(caption, text.count('<th scope="row"')) for caption, text in tables]


def test_paper_has_every_row(dump: Callable[..., str], picture: Callable[..., Path]) -> None:
    page = public_page(Shown("t", "v", [cube(80)], PUBLIC, 0), "note")
    rows = 1 + 80 * 4
    slices = [("v by code and size; kind x", rows), ("v by code and size; kind y", rows)]
    assert printed(dump(page, PRINT)) == slices
    # what is searched for stays on the screen
    find = "const f = document.getElementById('find'); f.value = 'g3b y'; f.oninput();"
    assert printed(dump(page, find + PRINT)) == slices
    assert len(headings(dump(page, f"{PRINT} dispatchEvent(new Event('afterprint'));"))) < 100
    # 642 rows do not fit on six pages of paper
    assert len(re.findall(rb"/Type\s*/Page\b", picture(page, printed=True).read_bytes())) > 6


def test_paper_has_every_linked_table(dump: Callable[..., str]) -> None:
    found = printed(
        dump(public_page(Shown("t", "v", [flat("one", 2.0), cube(2), flat("two", 3.0)], PUBLIC, 0), "note"), PRINT)
    )
    named = ["one: v by size", "t: v by code and size; kind x", "t: v by code and size; kind y", "two: v by size"]
    assert [caption for caption, _ in found] == named


def test_paper_says_what_it_leaves_out(dump: Callable[..., str]) -> None:
    page = public_page(Shown("t", "v", [cube(3200)], PUBLIC, 0), "note")
    document = dump(page, f"const s = document.querySelectorAll('select')[2]; s.value = 1; s.onchange(); {PRINT}")
    assert [caption for caption, _ in printed(document)] == ["v by code and size; kind y"]
    assert "1 of 2 slices are left out on paper; the table files beside this page hold all." in document


def test_words_are_looked_for_in_all_dimensions(dump: Callable[..., str]) -> None:
    page = public_page(Shown("t", "v", [cube(6)], PUBLIC, 0), "note")
    find = "const f = document.getElementById('find'); f.value = '{}'; f.oninput();"
    document = dump(page, find.format("g3b y"))
    assert [h.split()[-1] for h in headings(document)] == ["g3b"]
    made = cube(6)
    row = (made.at[0] == list(made.axes[0].codes).index("g3b")) & (made.at[1] == 0) & (made.at[2] == 1)
    assert f">{int(made.value[row][0]):,}<" in document
    assert "No code or label holds nowhere." in dump(page, find.format("nowhere"))


def test_without_a_script_the_table_is_there() -> None:
    made = cube(6)
    page = public_page(Shown("t", "v", [made], PUBLIC, 0), "note")
    plain = re.findall(r"<noscript>(.*?)</noscript>", page, re.DOTALL)[0]
    assert plain.count("<caption>") == 2
    assert plain.count("<td") == len(made.value)
    assert plain.count(">×<") == int(np.isnan(made.value).sum())
    assert (
        "table files beside it"
        in re.findall(
            r"<noscript>(.*?)</noscript>", public_page(Shown("t", "v", [cube(600)], PUBLIC, 0), "note"), re.DOTALL
        )[0]
    )
