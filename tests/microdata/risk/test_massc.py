"""The four deltas of MASSC: Table 6.1 of the paper, in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import tabprotect.microdata as md
from tests.microdata.frames import KINDS

SCHEMA = md.Schema(keys=["age", "gender"], confidential=["use"])
BEFORE = pd.DataFrame(
    {
        "age": [1, 1, 2, 2, 2, 4, 4, 3, 3, 3],
        "gender": [1, 0, 1, 0, 0, 0, 0, 1, 1, 1],
        "use": [0, 1, 1, 1, 1, 0, 0, 1, 0, 1],
    }
)
LINKS = np.array([1, 2, 3, 5, 6, 7, 8, 9])
AFTER = pd.DataFrame(
    {"age": [1, 2, 2, 4, 3, 3, 3, 2], "gender": [1, 1, 0, 0, 1, 1, 1, 1], "use": [1, 1, 1, 0, 0, 1, 0, 1]}
)


@pytest.mark.parametrize("kind", KINDS)
def test_table_6_1(kind: str) -> None:
    found = md.risk.massc_risk(KINDS[kind](BEFORE), KINDS[kind](AFTER), SCHEMA, links=LINKS)
    assert found.details["exact"] == {"unique": "3/14", "double": "2/15", "triple": "0", "other": "0"}
    assert found.details["delta"]["unique"] == pytest.approx(0.2142857, abs=5e-8)
    assert found.details["delta"]["double"] == pytest.approx(0.1333333, abs=5e-8)
    assert found.details["shares"]["U"] == {
        "pi": "3/10", "psi": "1/3", "phi": "2/3", "chi": "1", "eta": {"double": "1", "triple": "0", "other": "0"},
    }  # fmt: skip
    assert {k: found.details["shares"]["NU"][k] for k in ("pi", "psi", "phi", "chi")} == {
        "pi": "7/10", "psi": "2/7", "phi": "6/7", "chi": "1/2",
    }  # fmt: skip
    assert found.details["released"] == {"unique": 3, "double": 2, "triple": 3, "other": 0}
    assert found.value == pytest.approx(float((3 * Fraction(3, 14) + 2 * Fraction(2, 15)) / 8))
    assert found.details["at risk before"] == 7
    # records 2, 3, 4, 6 and 10 look at risk; 3, 4 and 6 kept their keys
    assert found.details["looking at risk after"] == 5
    assert found.details["at risk after"] == 3


def test_without_treatment_every_record_at_risk_is_disclosed() -> None:
    found = md.risk.massc_risk(BEFORE, BEFORE, SCHEMA)
    assert found.details["exact"]["unique"] == "3/10"
    assert found.details["exact"]["double"] == "2/5"
    assert found.details["at risk before"] == found.details["at risk after"] == 7


def test_known_substitutions_lower_the_risk() -> None:
    moved = np.isin(np.arange(10), [0, 1, 6, 9])
    found = md.risk.massc_risk(BEFORE, AFTER, SCHEMA, links=LINKS, substituted=moved)
    assert found.details["shares"]["U"]["psi"] == "2/3"
    assert found.details["exact"]["double"] == "1/15"


def test_a_schema_without_roles_is_one_error() -> None:
    with pytest.raises(md.InputError, match=r"(?s)no keys.*no confidential"):
        md.risk.massc_risk(BEFORE, AFTER, md.Schema(), links=LINKS)
