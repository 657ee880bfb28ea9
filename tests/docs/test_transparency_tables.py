"""The tables of attacks with knowledge of the method are what their command prints."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.microdata.transparency import microaggregations, others, row

DOCS = Path(__file__).resolve().parents[2] / "docs" / "microdata"
PAGES = {"microaggregation.md": microaggregations, "risk.md": others}


@pytest.mark.parametrize("page", PAGES)
def test_rows_are_what_the_command_prints(page: str, shared: Callable[[str], Path]) -> None:
    census = pd.read_csv(shared("microdata/sdcMicro_CASCrefmicrodata.csv"))
    lines = set((DOCS / page).read_text(encoding="utf-8").splitlines())
    rows = [
        (words, method, known)
        for words, method in PAGES[page](list(census))
        for known in (3, 13)
        if any(line.startswith(f"| {words} | {known} |") for line in lines)
    ]
    assert len(rows) >= 9
    # the search for fuzzy centres takes long; every third of the others
    quick = [one for one in rows if not one[0].startswith("fuzzy")][::3]
    slow = [one for one in rows if one[0].startswith("fuzzy, m1=1.2, m2=1.5 | 50")][:1]
    for words, method, known in chain(quick, slow):
        assert row(census, words, method, known) in lines
