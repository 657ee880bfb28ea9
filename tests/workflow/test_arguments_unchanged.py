"""No call changes what it is given."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.methods.recoding import RecodingRules

FIRMS = pd.DataFrame(
    {"region": list("nnnnnsssss"), "size": list("bbssbbsssb"), "turnover": [90, 5, 4, 40, 50, 20, 30, 60, 10, 20]}
)


@pytest.mark.parametrize(
    "method", [None, tp.Recode(rules={"size": RecodingRules.parse("all: b, s")}), tp.Round(base=20)], ids=repr
)
def test_protect_leaves_the_frame_as_it_was(method: Any) -> None:
    given = FIRMS.copy()
    tp.protect(given, "p%=15", method, by=["region", "size"], value="turnover")
    pd.testing.assert_frame_equal(given, FIRMS)
