"""Firms, and their published table."""

from __future__ import annotations

import pandas as pd
import pytest

from tabprotect import protect
from tabprotect.formats.published import Published


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
