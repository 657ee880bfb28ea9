"""A table whose only code is all of its total: nothing around a primary moves, and the method still has an answer."""

from __future__ import annotations

import pandas as pd

import tabprotect as tp


def test_a_cell_with_nothing_around_it() -> None:
    data = pd.DataFrame(
        {"d": list("bbb"), "value": [6.5, 53.8, 8.7], "firm": list("111"), "waiver": [False, True, False]}
    )
    made = tp.protect(
        data, ["pq=10,60"], tp.Suppress(method="local"), by=["d"], value="value", contributor="firm", waiver="waiver",
        bounds="100%", seed=69,
    )  # fmt: skip
    assert made.safe
    assert made.pattern.all()
