"""The internal page of a release from a European file, as the browser of a confidentiality officer shows it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import tabprotect as tp

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ROWS = [
    (region, size, f"firm {k}", value)
    for k, (region, size, value) in enumerate(
        (region, size, 40.25 * (3 + 7 * row % 11) * (1 + column))
        for row, region in enumerate(["n1", "n2", "s1", "s2"] * 3)
        for column, size in enumerate(["klein", "groß"])
    )
]
TREE = "Nord\n@n1\n@n2\nSüd\n@s1\n@s2\n"
RULES = ["p%=40", "threshold=3"]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> tp.Release:
    folder = tmp_path_factory.mktemp("european")
    lines = [f"{r};{s};{f};{v:_.2f}".replace(".", ",").replace("_", ".") for r, s, f, v in ROWS]
    text = "\n".join(["Region;Größe;Firma;Umsatz", *lines, "n1;klein;allein;90.400,75", ""])
    (folder / "firmen.csv").write_text(text, encoding="cp1252")
    (folder / "region.hrc").write_text(TREE, encoding="cp1252")
    return tp.protect(
        folder / "firmen.csv", RULES, by=["Region", "Größe"], hierarchies={"Region": str(folder / "region.hrc")},
        value="Umsatz", contributor="Firma", title="Umsätze", unit="1.000 EUR", source="Erhebung 2025",
    )  # fmt: skip


@pytest.fixture(scope="module")
def page(release: tp.Release, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = release.write(tmp_path_factory.mktemp("written") / "out")
    return (folder / "internal" / "report.html").read_text(encoding="utf-8")


def test_the_tip_of_a_cell_tells_rule_interval_level_and_contributors(
    release: tp.Release, page: str, dump: Callable[..., str]
) -> None:
    hover = "[...document.querySelectorAll('tbody td')].find((c) => /P$/.test(c.textContent)).onmouseenter();"
    tip = re.findall(r'<div id="tip"[^>]*>(.*?)</div>', dump(page, hover), re.DOTALL)[0].split("\n")
    shown = dict(line.split(": ", 1) for line in tip if ": " in line)
    code = tip[0].split(" × ")
    (cell,) = (k for k in release.problem.primaries if sorted(release.problem.system.cells[k]) == sorted(code))
    assert shown["Sensitive by"] in ("p%=40", "threshold=3", "p%=40, threshold=3")
    for interval in ("The intruder's interval", "Must reach"):
        assert re.fullmatch(r"[\d.]+(,\d+)? to ([\d.]+(,\d+)?|∞)", shown[interval])
    assert release.table.counts is not None
    assert shown["Contributors"] == f"{release.table.counts[cell]:.0f}"


def test_what_stands_around_the_table_and_below_it(page: str, picture: Callable[..., Path]) -> None:
    for words in ("Umsätze", "1.000 EUR", "Source: Erhebung 2025", "groß"):
        assert words in page
    for chart in (
        "Hidden value by level of Region",
        "Intervals of the most tightly protected primaries",
        "Cost and bound as the search went",
    ):
        assert f"<figcaption>{chart}</figcaption>" in page
    with Image.open(picture(page)) as image:
        pixels = np.asarray(image.convert("RGB"))
    # bars of hidden value by level, and intervals below the table
    for colour in ((0x0B, 0x5C, 0xAD), (0x83, 0xB3, 0xD6)):
        assert (pixels == colour).all(axis=2).sum() > 500
