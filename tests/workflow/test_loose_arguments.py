"""Short forms of arguments: taken, or refused with what is wanted."""

from __future__ import annotations

from collections.abc import Callable
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


TABLE = tp.tabulate(FIRMS, "region", "v")
RAW: dict[str, tuple[Callable[[], Any], str]] = {
    "assess": (lambda: tp.assess(FIRMS, "threshold=2"), "assess needs a Table, .* not DataFrame"),
    "make_problem": (lambda: tp.make_problem(FIRMS, "threshold=2"), "make_problem needs a Table"),
    "adjust": (lambda: tp.adjust(FIRMS), "adjust needs a Problem, .* not DataFrame"),
    "round": (lambda: tp.round(FIRMS, 5), "round needs a Problem"),
    "conventional": (lambda: tp.methods.rounding.conventional_rounding(FIRMS, 5), "conventional_rounding needs a Pro"),
    "random": (lambda: tp.methods.rounding.random_rounding(FIRMS, 5), "random_rounding needs a Problem"),
    "unbiased": (lambda: tp.methods.rounding.unbiased_rounding(FIRMS, 5), "unbiased_rounding needs a Problem"),
    "successive": (lambda: tp.methods.rounding.successive_rounding(FIRMS, 5), "successive_rounding needs a Problem"),
    "certify": (lambda: tp.certify(FIRMS, [1]), "certify needs a Problem"),
    "compare": (lambda: tp.compare(FIRMS), "compare needs a Problem"),
    "link frames": (lambda: tp.link([FIRMS, FIRMS]), "link needs a Table, .* not DataFrame"),
    "link with a frame": (lambda: tp.link({"a": TABLE, "b": FIRMS}), "link needs a Table, .* not DataFrame"),
    "link one table": (lambda: tp.link(TABLE), "link needs several tables, a list of Table or a mapping"),
    "value is no name": (lambda: tp.protect(FIRMS, "threshold=2", by="region", value=5), "by its name, and 5 is none"),
    "value is a list": (
        lambda: tp.protect(FIRMS, "threshold=2", by="region", value=["v"]), "value must be the name of a column"
    ),
    "level is a list": (lambda: tp.Table.from_cells(FIRMS, "region", "v", lpl=["v"]), "lpl must be the name of a col"),
    "recoding": (lambda: tp.Recode(rules={"region": {"n": "x"}}), "those of 'region' are a .grc file or RecodingRules"),
}  # fmt: skip


@pytest.mark.parametrize("name", RAW)
def test_what_something_else_was_wanted_for_is_refused_by_its_name(name: str) -> None:
    call, words = RAW[name]
    with pytest.raises(tp.InputError, match=words):
        call()
