"""Short forms of arguments: taken, or refused with what is wanted."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import tabprotect as tp

FIRMS = pd.DataFrame(
    {"region": list("nnnnnsssss"), "size": list("bbssbbsssb"), "v": [90, 5, 4, 40, 50, 20, 30, 60, 10, 20]}
)


def protect(**given: Any) -> Any:
    return tp.protect(FIRMS, "p%=15", by=["region", "size"], value="v", **given)


def test_a_method_by_its_name_and_a_limit_in_seconds() -> None:
    release = protect(method="exact", limits=60)
    assert release.safe
    assert release.result.cost == protect(method=tp.Suppress(method="exact")).result.cost
    assert isinstance(protect(method="round"), tp.ChangedRelease)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"method": "exakt"}, "did you mean 'exact'"),
        ({"method": 3}, "method must be such as"),
        ({"method": "swap"}, "swap"),
        ({"limits": -1}, "at least 0"),
        ({"limits": "x"}, "limits"),
    ],
)
def test_others_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(tp.InputError, match=says):
        protect(**given)


def test_suppress_wants_a_problem() -> None:
    with pytest.raises(tp.InputError, match=r"suppress needs a Problem.*not DataFrame"):
        tp.suppress(FIRMS)  # type: ignore[arg-type]
