from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tabprotect.errors import InputError
from tabprotect.report.axes import Axis
from tabprotect.report.pages import (
    Bars,
    Card,
    Cube,
    Detail,
    Grid,
    Section,
    Shown,
    StatusKey,
    internal_page,
    public_page,
)

KEYS = [StatusKey("published", "published", "123", 5), StatusKey("suppressed", "suppressed", "×", 1)]
REGION = Axis.of("region", ["T", "N", "S"], {"T": ["N", "S"]})
SIZE = Axis.flat("size", ["all", "</script><b>big"])
CUBE = Cube(
    "one",
    (REGION, SIZE),
    (np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 1])),
    np.array([10, 6.5, 4, np.nan, 6, 4.5]),
    np.array([0, 0, 0, 1, 0, 0]),
)


def data_of(page: str) -> Any:
    return json.loads(re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[0])


def test_a_page_holds_its_cells_and_hidden_ones_are_empty() -> None:
    data = data_of(public_page(Shown("Title & <more>", "turnover", [CUBE], KEYS, 1), "A <note>."))
    (table,) = data["tables"]
    assert table["value"] == [10, 6.5, 4, None, 6, 4.5]
    assert table["status"] == [0, 0, 0, 1, 0, 0]
    assert [axis["codes"] for axis in table["axes"]] == [["T", "N", "S"], ["all", "</script><b>big"]]
    assert table["axes"][0]["nodes"] == [[0, 0], [1, 1], [2, 1]]
    assert "detail" not in table
    assert [s["id"] for s in data["statuses"]] == ["published", "suppressed"]


@pytest.mark.parametrize("internal", [False, True])
def test_pages_fetch_nothing_and_escape_what_users_write(internal: bool) -> None:
    bad = "<img onerror=alert(1)>"
    if internal:
        page = internal_page(
            Shown(bad, bad, [CUBE], KEYS, 1),
            alarms=[bad],
            cards=[Card(bad, bad, bad)],
            charts=[Bars(bad, [bad], [1.0], [bad], bad)],
            sections=[Section(bad, [Grid([bad], [[bad]], bad, bad)])],
        )
    else:
        page = public_page(Shown(bad, bad, [CUBE], KEYS, 1), bad)
    assert "<img" not in page
    assert page.count("<script") == page.count("</script>") == 2
    assert "default-src 'none'" in page
    assert not re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?[^"')\s]""", page.replace('href="#', ""))
    assert not re.findall(r"https?://", page)


def test_every_page_of_the_internal_report_says_that_it_is_confidential() -> None:
    page = internal_page(Shown("t", "v", [CUBE], KEYS, 0), alarms=[], cards=[], charts=[], sections=[])
    assert "@top-center" in page
    assert re.search(r"\.internal::before { content: \"CONFIDENTIAL\"; position: fixed;", page)
    assert "confidential" not in public_page(Shown("t", "v", [CUBE], KEYS, 0), "note").split("</style>")[1].split(
        "<script"
    )[0].replace("keep the information of respondents confidential", "")


def test_large_tables_lose_their_deepest_levels_only() -> None:
    details = (Detail("a", list(range(6))), Detail("b", {0: 1.5, 5: 2.5}))
    cubes = [replace(CUBE, details=details)]
    page = internal_page(Shown("t", "v", cubes, KEYS, 0, most_cells=4), alarms=[], cards=[], charts=[], sections=[])
    (table,) = data_of(page)["tables"]
    # the total line is above the others; sizes are one level
    assert table["at"] == [[0, 0], [0, 1]]
    assert table["value"] == [10, 6.5]
    assert [d["of"] for d in table["detail"]] == [[0, 1], {"0": 1.5}]
    assert "The deepest 4 of 6 cells are left out" in page


def test_codes_under_several_parents_show_under_each() -> None:
    axis = Axis.of(
        "a", ["T", "c1", "c2", "g1", "x", "y"], {"T": ["c1", "c2", "g1"], "c1": ["x"], "c2": ["y"], "g1": "xy"}
    )
    assert [(axis.codes[code], depth) for code, depth in axis.nodes] == [
        ("T", 0), ("c1", 1), ("x", 2), ("c2", 1), ("y", 2), ("g1", 1), ("x", 2), ("y", 2),
    ]  # fmt: skip


def test_groupings_that_unfold_without_end_are_refused() -> None:
    codes = [f"{level}{side}" for level in range(20) for side in "ab"]
    children = {f"{level}{side}": [f"{level + 1}a", f"{level + 1}b"] for level in range(19) for side in "ab"}
    with pytest.raises(InputError, match="unfold to more than"):
        Axis.of("deep", codes, children)
