"""Whatever is wrong with a call: one clear error with the cure, nothing written, nothing changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect.microdata as md
from tabprotect.errors import TabprotectError
from tests.microdata.bad_calls import CALLS
from tests.microdata.people import people, says


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call_gives_one_clear_error(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call, parts = CALLS[name]
    frame = people()
    before = frame.copy(deep=True)
    with pytest.raises(TabprotectError) as error:
        call(frame)
    says(str(error.value), parts)
    pd.testing.assert_frame_equal(frame, before)
    assert not list(tmp_path.iterdir())


def test_there_are_many_kinds() -> None:
    assert len(CALLS) >= 150
    # no word list is so empty that any error would do
    assert all(parts and all(parts) for _, parts in CALLS.values())


def test_the_frame_itself_is_good() -> None:
    schema = md.Schema(keys=["region", "sex"], identifiers=["id"], weight="w", household="hid")
    assert md.mask(people(), schema, [md.TopCoding("pay", quantile=0.9), md.PRAM("sex")], seed=1).verify()


NEEDED: dict[str, Any] = {
    "columns": ["pay"],
    "given": ["debt"],
    "core": ["sex"],
    "background": ["sex"],
    "geography": ["region"],
}

JUNK: tuple[Any, ...] = (
    None, "x", "", b"a", 5, -1, 1.5, True, float("nan"), float("inf"), 10**30, [], {}, ["pay", 3], [None], [[1]],
    {"pay": 1}, {1: 2}, {"sex": ["x"]}, object(), np.array([1, 2]), pd.DataFrame({"a": [1]}),
)  # fmt: skip


def message(call: Callable[[], object]) -> str:
    """Return what an error of ours says, nothing without one; other errors are not caught."""
    try:
        call()
    except TabprotectError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("method", md.methods())
def test_no_value_of_a_parameter_gives_a_raw_error(method: str) -> None:
    kind = md.methods()[method]
    known = [f.name for f in fields(kind)]
    needed = {name: value for name, value in NEEDED.items() if name in known}
    refused = 0
    for name in known:
        for value in JUNK:
            said = message(lambda name=name, value=value: kind(**{**needed, name: value}))
            refused += bool(said)
            assert len(said) < 1500, f"{name}={value!r}: {said}"
    assert refused or not known


@pytest.mark.slow
@pytest.mark.parametrize("method", md.methods())
def test_no_value_of_a_parameter_gives_a_raw_error_with_records(method: str) -> None:
    kind = md.methods()[method]
    known = [f.name for f in fields(kind)]
    needed = {name: value for name, value in NEEDED.items() if name in known}
    schema = md.Schema(keys=["sex", "size"], household="hid", weight="w")
    for more in (
        {},
        {"columns": ["sex"]},
        {"size": 5},
        {"rate": 0.3},
        {"threshold": 500.0},
        {"base": 5},
        {"cuts": [5]},
    ):
        if not set(more) <= set(known):
            continue
        for name in known:
            for value in JUNK[:-9]:
                if value == 10**30:
                    continue
                words = {**needed, **more, name: value}
                said = message(lambda words=words: md.mask(people(), schema, kind(**words), seed=1))
                assert len(said) < 1500, f"{name}={value!r}: {said}"


def test_a_missing_parameter_is_named() -> None:
    for name, kind in md.methods().items():
        for f in fields(kind):
            if f.default is MISSING and f.default_factory is MISSING:
                with pytest.raises(TabprotectError, match=f"{name}: {f.name} is missing"):
                    md.make_method(name, {})
