from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from tabprotect.report.axes import Axis
from tabprotect.report.numbers import Numbers
from tabprotect.report.pages import Cube, Detail, Shown, StatusKey, internal_page, public_page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
KEYS = [StatusKey("published", "published", "123", 0), StatusKey("suppressed", "suppressed", "×", 0)]


def cube(rows: int, details: tuple[Detail, ...] = ()) -> Cube:
    """A total over `rows` codes in groups of ten, crossed with two sizes and three kinds."""
    groups = [f"g{i}" for i in range(rows // 10)]
    codes = ["T", *groups, *(f"c{i}" for i in range(rows))]
    children = {"T": groups, **{g: [f"c{10 * i + k}" for k in range(10)] for i, g in enumerate(groups)}}
    axes = (
        Axis.of("code", codes, children),
        Axis.of("size", ["all", "s", "b"], {"all": ["s", "b"]}),
        Axis.flat("kind", ["x", "y"]),
    )
    at = tuple(a.ravel() for a in np.meshgrid(*(np.arange(len(a.codes)) for a in axes), indexing="ij"))
    value = np.arange(len(at[0]), dtype=float)
    value[6 + 2] = np.nan
    return Cube("t", axes, at, value, np.isnan(value).astype(np.int64), details)


def cells(document: str) -> list[list[str]]:
    body = re.findall(r"<tbody>(.*?)</tbody>", document, re.DOTALL)[0]
    strip = re.compile(r"<[^>]+>")
    return [
        [strip.sub("", c) for c in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    ]


def test_the_first_view_folds_to_the_second_level_and_shows_hidden_cells(dump: Callable[..., str]) -> None:
    page = public_page(Shown("t", "v", [cube(50)], KEYS, 0), "note")
    shown = cells(dump(page))
    # codes down, sizes across, kind x fixed: cell (code, size) has value 6 code + 2 size
    assert shown[0] == ["▾T", "0", "2", "4"]
    assert shown[1] == ["▸g0", "6", "×", "10"]
    assert len(shown) == 6


def test_the_first_view_opens_on_codes_of_further_dimensions_that_hide_cells(dump: Callable[..., str]) -> None:
    keys = [KEYS[0], replace(KEYS[1], hidden=True)]
    made = cube(50)
    kind = made.at[2]
    value = np.where(kind == 1, 1.0, 0.0) * np.arange(len(kind))
    value[6 + 2 + 1] = np.nan  # g0 x s x y; kind x, the first, hides nothing
    shown = cells(
        dump(
            public_page(Shown("t", "v", [replace(made, value=value, status=np.isnan(value).astype(int))], keys, 0), "n")
        )
    )
    assert shown[1][:3] == ["▸g0", "7", "×"]


def test_folding_finding_and_choosing_dimensions(dump: Callable[..., str]) -> None:
    page = public_page(Shown("t", "v", [cube(50)], KEYS, 0), "note")
    unfold = "document.querySelectorAll('tbody .fold')[1].click();"
    shown = cells(dump(page, unfold))
    assert [row[0] for row in shown][:4] == ["▾T", "▾g0", "▸c0", "▸c1"]
    assert shown[2][1] == str(6 * 6)
    find = "const f = document.getElementById('find'); f.value = 'c49'; f.oninput();"
    assert [row[0] for row in cells(dump(page, find))] == ["▸c49"]
    swap = "const s = document.querySelectorAll('select')[0]; s.value = '2'; s.onchange();"
    assert [row[0] for row in cells(dump(page, swap))] == ["▸x", "▸y"]


def test_a_hundred_thousand_rows_stay_responsive_and_limited(dump: Callable[..., str]) -> None:
    page = public_page(Shown("t", "v", [cube(17_000)], KEYS, 0), "note")
    unfold = "[...document.querySelectorAll('button')].find((b) => b.textContent === 'Unfold all').click();"
    document = dump(page, unfold)
    assert len(cells(document)) == 200
    assert "Show 200 of 18,501 more rows" in document


def test_the_internal_page_tells_of_a_cell_on_hover(dump: Callable[..., str]) -> None:
    details = (Detail("Interval", {8: [1, 30]}), Detail("Why", {8: 0}, ["p%=15"]), Detail("Weight", list(range(1000))))
    page = internal_page(Shown("t", "v", [cube(50, details)], KEYS, 0), alarms=[], cards=[], charts=[], sections=[])
    hover = "document.querySelectorAll('tbody td')[4].onmouseenter();"
    document = dump(page, hover)
    tip = re.findall(r'<div id="tip"[^>]*>(.*?)</div>', document, re.DOTALL)[0]
    assert tip.split("\n") == ["g0 × s × x", "suppressed", "Interval: 1 to 30", "Why: p%=15", "Weight: 8"]


@pytest.mark.parametrize("signs", [(",", "."), (".", "'"), (",", "\u202f"), (".", "")])
def test_the_script_writes_numbers_as_the_rest_of_the_page(dump: Callable[..., str], signs: tuple[str, str]) -> None:
    """Signs and fixed decimals, in the script and where no script runs."""
    made = cube(10)
    rng = np.random.default_rng(1)
    value = np.where(made.status == 1, np.nan, np.round(rng.lognormal(7, 3, len(made.value)), 1))
    numbers = Numbers(*signs)
    page = public_page(
        Shown("t", "v", [replace(made, value=value)], KEYS, 2, unit="1,000 EUR", numbers=numbers), "note"
    )
    script = dump(page)
    shown = [text for row in cells(script) for text in row[1:] if text != "×"]
    kept = (made.at[2] == 0) & ~np.isnan(value)
    assert sorted(shown) == sorted(numbers.fixed(v, 2) for v in value[kept])
    assert all(text.partition(signs[0])[2].isdigit() and len(text.partition(signs[0])[2]) == 2 for text in shown)
    plain = unescape(re.findall(r"<noscript>(.*?)</noscript>", page, re.DOTALL)[0])
    assert all(f">{text}<" in plain for text in shown)
    assert 'aria-label="v, 1,000 EUR, by code and size"' in script


def test_values_without_common_decimals_show_those_that_they_have(dump: Callable[..., str]) -> None:
    made = cube(10)
    value = np.where(made.at[0] == 1, 1 / 3, 2.0)
    page = public_page(
        Shown("t", "v", [replace(made, value=value, status=np.zeros(len(value), np.int64))], KEYS, None), "n"
    )
    shown = cells(dump(page))
    assert (shown[0][1], shown[1][1]) == ("2", "0.333333")


def test_labels_stand_beside_codes_and_are_found(dump: Callable[..., str]) -> None:
    made = cube(10)
    labels = {"T": "All", "g0": "<b>Crops</b>", "c3": "Maize", "s": "small"}
    axes = (made.axes[0].labelled(labels), made.axes[1].labelled(labels), made.axes[2])
    page = public_page(Shown("t", "v", [replace(made, axes=axes)], KEYS, 0), "note")
    document = dump(page)
    assert "&lt;b&gt;Crops&lt;/b&gt;" in document
    assert "<b>Crops" not in document
    assert cells(document)[0][0] == "▾TAll"
    find = "const f = document.getElementById('find'); f.value = '{}'; f.oninput();"
    assert [row[0] for row in cells(dump(page, find.format("maize")))] == ["▸c3Maize"]
    head = re.findall(r'<th scope="col"[^>]*title="([^"]*)"', dump(page, find.format("SMALL")))
    assert head == ["s small"]


def linked(hides: int) -> list[Cube]:
    """Two tables with other codes, of which one hides a cell."""
    made = []
    for k, codes in enumerate((["T", "north", "south"], ["A", "food", "steel"])):
        value = np.arange(3.0)
        value[1 if k == hides else 3 :][:1] = np.nan
        axis = Axis.of("region" if k == 0 else "branch", codes, {codes[0]: codes[1:]})
        made.append(Cube(f"table {k}", (axis,), (np.arange(3),), value, np.isnan(value).astype(np.int64)))
    return made


def test_linked_tables_open_on_the_first_one_that_hides_cells(dump: Callable[..., str]) -> None:
    keys = [KEYS[0], replace(KEYS[1], hidden=True)]
    for hides in (0, 1):
        shown = cells(dump(public_page(Shown("t", "v", linked(hides), keys, 0), "n")))
        assert shown[1] == [("▸north", "▸food")[hides], "×"]


def test_what_another_linked_table_holds_is_found_there(dump: Callable[..., str]) -> None:
    page = public_page(Shown("t", "v", linked(0), [KEYS[0], replace(KEYS[1], hidden=True)], 0), "n")
    find = "const f = document.getElementById('find'); f.value = 'steel'; f.oninput();"
    document = dump(page, find)
    assert "No code or label of this table holds steel." in document
    go = "[...document.querySelectorAll('button')].find((b) => b.textContent === 'Found in table 1').click();"
    assert [row[0] for row in cells(dump(page, find + go))] == ["▸steel"]


def test_fold_shows_the_upper_levels_of_short_dimensions_too(dump: Callable[..., str]) -> None:
    page = public_page(Shown("t", "v", [cube(20)], KEYS, 0), "note")
    press = "[...document.querySelectorAll('button')].find((b) => b.textContent === '{}').click();"
    assert len(cells(dump(page, press.format("Unfold all")))) == 23
    assert [row[0] for row in cells(dump(page, press.format("Fold")))] == ["▾T", "▸g0", "▸g1"]
