"""Unsafe combinations against counting by hand, thresholds, the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tabprotect.cli.app import run
from tabprotect.errors import InputError
from tests.microdata.frames import KINDS
from tests.quick import examples

KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.2]), st.sampled_from([3, {1: 4, 2: 3}, {2: 2, 3: 3}]))
@settings(max_examples=examples(12, 25))
def test_every_count_is_that_of_the_records(seed: int, gaps: float, threshold: Any) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 3, (14, 4)), columns=list("abcd")).astype("Int64")
    frame = frame.mask(rng.random(frame.shape) < gaps)
    found = md.unsafe_combinations(frame, keys=list("abcd"), up_to=3, threshold=threshold)
    codes = frame.fillna(-1).to_numpy(dtype=int)
    by_size = dict.fromkeys((1, 2, 3), threshold) if isinstance(threshold, int) else threshold
    unsafe: dict[tuple[int, ...], set[int]] = {}
    minimal = np.zeros(len(frame), dtype=int)
    rows = found.table.set_index("keys")
    for size in (1, 2, 3):
        for keys in combinations(range(4), size):
            if size not in by_size:
                continue
            mine = codes[:, keys]
            stated = (mine >= 0).all(axis=1)
            counts = np.array([((mine == row) | (mine < 0)).all(axis=1).sum() for row in mine])
            bad = stated & (counts < by_size[size])
            unsafe[keys] = set(np.flatnonzero(bad))
            inner = set().union(*(unsafe.get(t, set()) for s in range(1, size) for t in combinations(keys, s)))
            least = unsafe[keys] - inner
            minimal[list(least)] += 1
            row = rows.loc[", ".join("abcd"[j] for j in keys)]
            assert row["records"] == bad.sum()
            assert row["combinations"] == len({tuple(r) for r in mine[stated]})
            assert row["unsafe"] == len({tuple(r) for r in mine[bad]})
            assert row["minimal"] == len({tuple(mine[i]) for i in least})
            listed = found.listing(*("abcd"[j] for j in keys))
            assert len(listed) == row["unsafe"]
    assert found.records.tolist() == minimal.tolist()
    assert found.value == len(set().union(*unsafe.values()))


def test_all_seven_keys_of_the_reference_file(shared: Callable[[str], Path]) -> None:
    path = shared("microdata/sdcMicro_testdata.csv")
    found = md.unsafe_combinations(path, keys=KEYS, up_to=None, threshold=2)
    row = found.table.set_index("keys").loc[", ".join(KEYS)]
    assert (row["combinations"], row["unsafe"]) == (412, 157)
    frame = pd.read_csv(path)
    found = md.unsafe_combinations(frame, keys=KEYS)
    sizes = frame.groupby(["roof", "water", "relat"]).size()
    row = found.table.iloc[0]
    assert (row["keys"], row["unsafe"]) == ("roof, water, relat", (sizes < 3).sum())
    assert found.listing("roof", "water", "relat")["records"].tolist() == sorted(sizes[sizes < 3])


def test_nothing_is_unsafe_after_local_suppression() -> None:
    """Blanks match every value: no stated combination is rare among those that fit."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 6, (60, 5)), columns=list("abcde"))
    masked = md.mask(frame, md.Schema(keys=list("abcde")), md.LocalSuppression(k=3, up_to=2), seed=1)
    assert md.unsafe_combinations(frame, keys=list("abcde"), up_to=2).value > 0
    assert md.unsafe_combinations(masked.frame, keys=list("abcde"), up_to=2).value == 0


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame(kind: str) -> None:
    frame = pd.DataFrame({"a": ["x", "x", "y", None], "b": [1.0, np.nan, 2.0, 1.0]})
    found = md.unsafe_combinations(KINDS[kind](frame), keys=["a", "b"], up_to=2, threshold=2)
    plain = md.unsafe_combinations(frame, keys=["a", "b"], up_to=2, threshold=2)
    pd.testing.assert_frame_equal(found.table, plain.table)
    assert found.records.tolist() == plain.records.tolist()


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pd.DataFrame({"zip": [1, 1, 1, 2], "sex": ["f", "f", "m", "m"]}).to_csv(tmp_path / "p.csv", index=False)
    out = tmp_path / "unsafe.json"
    line = [
        "unsafe",
        str(tmp_path / "p.csv"),
        "--keys",
        "zip,sex",
        "--up-to",
        "2",
        "--threshold",
        "2",
        "--json",
        str(out),
    ]
    assert run(line) == 1
    shown = capsys.readouterr().out
    assert "2 of 4 records" in shown
    assert "zip, sex" in shown
    document = json.loads(out.read_text())
    assert document["unsafe_records"] == 2
    assert document["sets"][0] == {
        "keys": "zip, sex",
        "size": 2,
        "combinations": 3,
        "unsafe": 2,
        "minimal": 1,
        "records": 2,
    }
    assert run(["unsafe", str(tmp_path / "p.csv"), "--keys", "sex"]) == 1
    assert run(["unsafe", str(tmp_path / "p.csv"), "--keys", "sex", "--threshold", "2"]) == 0
    assert run(["unsafe", str(tmp_path / "p.csv"), "--keys", "sx"]) == 2
    assert "did you mean 'sex'" in capsys.readouterr().err
    assert run(["unsafe", str(tmp_path / "p.csv"), "--keys", "sex", "--threshold", "many"]) == 2


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ({"keys": ["z"]}, "no column 'z'"),
        ({"keys": "a"}, "must be a list"),
        ({"keys": []}, "at least one key"),
        ({"keys": ["a"], "up_to": 0}, "up_to must be"),
        ({"keys": ["a"], "threshold": 0}, "at least 1"),
        ({"keys": ["a", "b"], "threshold": {5: 2}}, "a threshold for 5 keys"),
        ({"keys": [f"k{i}" for i in range(30)], "up_to": 6}, "too many; lower up_to"),
    ],
)
def test_bad_input_gives_one_clear_error(words: dict[str, Any], part: str) -> None:
    frame = pd.DataFrame({"a": [1], "b": [2]} | {f"k{i}": [0] for i in range(30)})
    with pytest.raises(InputError, match=part):
        md.unsafe_combinations(frame, **words)
