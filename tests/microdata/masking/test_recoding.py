"""Global recoding: the survey's figure, .grc files, intervals."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect.microdata as md
from tabprotect.errors import InputError
from tabprotect.table.hierarchy import Hierarchy
from tests.microdata.frames import KINDS, as_pandas

TEMP = [35.2, 37.7, 38.1, 37.4, 35.3, 38.2, 36.5, 39.8, 37.6, 40.1, 36.9]
ZIP = ["94139"] * 4 + ["94138"] * 2 + ["94141"] * 2 + ["94138"] * 2 + ["94142"]
TREE = Hierarchy.from_hrc("N\n@a\n@b\nS\n@c\n@d\n@e")


def test_figure_7_of_the_survey() -> None:
    """Temp: the printed table has 'f' for 37.x and 38.x, 'nf' below 37, 'hf' from 39; ZIP: one step."""
    frame = pd.DataFrame({"temp": TEMP, "zip": ZIP})
    steps = [
        md.GlobalRecoding("temp", width=2, origin=35, labels=["nf", "f", "hf"]),
        md.Generalisation(k=1, keys="zip", ladders={"zip": md.Prefixes((1,))}, levels={"zip": 1}),
    ]
    masked = md.mask(frame, None, steps, seed=1)
    assert masked.frame["temp"].tolist() == ["nf", "f", "f", "f", "nf", "f", "nf", "hf", "f", "hf", "nf"]
    assert masked.frame["zip"].tolist() == ["9413*"] * 6 + ["9414*"] * 2 + ["9413*"] * 2 + ["9414*"]
    assert masked.verify()


def test_the_recodings_of_the_notebook_are_a_grc_file(tmp_path: Path) -> None:
    (tmp_path / "edad.grc").write_text("1: - 15\n2: 16 - 24\n3: 25 - 34\n4: 35 - 44\n5: 45 - 54\n6: 55 - 64\n7: 65 -\n")
    frame = pd.DataFrame({"edad": [5, 15, 16, 40, 64, 65, 100, None]})
    masked = md.mask(frame, None, md.GlobalRecoding("edad", rules=str(tmp_path / "edad.grc")), seed=1)
    assert masked.frame["edad"].tolist()[:7] == ["1", "1", "2", "4", "6", "7", "7"]
    assert pd.isna(masked.frame["edad"].iloc[7])
    assert masked.verify()


@given(st.lists(st.one_of(st.floats(-1e3, 1e3), st.just(float("nan"))), min_size=1, max_size=30)
       .filter(lambda values: any(v == v for v in values)), st.sampled_from(
    [{"cuts": [-10, 0, 50]}, {"width": 25, "origin": 3}, {"width": 25, "bottom": -50, "top": 80}, {"classes": 4},
     {"classes": 4, "equal": "frequency"}]))  # fmt: skip
@settings(max_examples=40)
def test_intervals_hold_their_values(values: list[float], how: dict[str, Any]) -> None:
    frame = pd.DataFrame({"x": values})
    masked = md.mask(frame, None, md.GlobalRecoding("x", **how), seed=1)
    assert masked.verify()
    labels = masked.frame["x"]
    assert labels.isna().tolist() == [v != v for v in values]
    pairs = sorted((v, label) for v, label in zip(values, labels, strict=True) if v == v)
    order = [label for _, label in pairs]
    # labels come in runs, in the order of the values
    assert len({*order}) == 1 + sum(a != b for a, b in itertools.pairwise(order)) if order else True
    for value, label in pairs:
        if label.startswith("["):
            low, high = map(float, label.strip("[)").split(", "))
            assert low <= value < high
        elif label.startswith("<"):
            assert value < float(label[1:])
        elif label.startswith(">="):
            assert value >= float(label[2:])


def test_classes_of_equal_frequency_hold_equal_weight() -> None:
    frame = pd.DataFrame({"x": np.arange(100.0), "w": np.r_[np.full(50, 3.0), np.ones(50)]})
    masked = md.mask(frame, md.Schema(weight="w"), md.GlobalRecoding("x", classes=4, equal="frequency"), seed=1)
    weights = masked.frame.groupby("x")["w"].sum()
    assert len(weights) == 4
    assert weights.between(47, 53).all()


def test_trees_and_mappings() -> None:
    frame = pd.DataFrame({"region": ["a", "c", None, "e"], "job": ["x", "y", "z", "x"]})
    schema = md.Schema(hierarchies={"region": TREE}, keys=["region"])
    steps = [md.GlobalRecoding("region", level=1), md.GlobalRecoding("job", mapping={"x": "xy", "y": "xy"})]
    masked = md.mask(frame, schema, steps, seed=1)
    assert masked.frame["region"].tolist()[:2] == ["N", "S"]
    assert masked.frame["job"].tolist() == ["xy", "xy", "z", "xy"]
    assert masked.records.schema.hierarchies == {"region": TREE}
    assert masked.verify()


def test_an_ordered_column_stays_ordered() -> None:
    frame = pd.DataFrame({"size": ["s", "m", "l", "xl"]})
    schema = md.Schema(orders={"size": ["s", "m", "l", "xl"]})
    masked = md.mask(frame, schema, md.GlobalRecoding("size", mapping={"l": "large", "xl": "large"}), seed=1)
    assert masked.records.schema.orders["size"] == ("s", "m", "large")
    with pytest.raises(InputError, match="not neighbours"):
        md.mask(frame, schema, md.GlobalRecoding("size", mapping={"s": "odd", "l": "odd"}), seed=1)


def test_a_recoding_that_does_not_treat_equals_alike_is_found() -> None:
    before = md.read_records(pd.DataFrame({"a": [1, 1, 2]}), md.Schema())
    after = md.read_records(pd.DataFrame({"a": ["x", "y", "y"]}), md.Schema())
    check = md.claim_kinds()["function-of"]
    assert "have become different" in check(after, before, {"column": "a"})
    assert check(before, before, {"column": "a"}) == ""


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame(kind: str) -> None:
    frame = pd.DataFrame({"x": [1.0, 12.0, None, 33.0], "c": ["a", "b", "c", "a"]})
    steps = [md.GlobalRecoding("x", width=10), md.GlobalRecoding("c", mapping={"b": "bc", "c": "bc"})]
    masked = md.mask(KINDS[kind](frame), None, steps, seed=1)
    found = as_pandas(masked.frame)
    assert found["x"].fillna("-").tolist() == ["0-9", "10-19", "-", "30-39"]
    assert found["c"].tolist() == ["a", "bc", "bc", "a"]
    assert masked.verify()


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: md.GlobalRecoding("x"), "give one of mapping"),
        (lambda: md.GlobalRecoding("x", width=1, classes=2), "give one of mapping"),
        (lambda: md.GlobalRecoding("x", cuts=[2, 1]), "growing numbers"),
        (lambda: md.GlobalRecoding("x", rules="young - 29"), "no new code"),
        (lambda: md.GlobalRecoding("x", cuts=[1], bottom=0), "belong to width"),
        (lambda: run(md.GlobalRecoding("c", width=10)), "need a continuous one"),
        (lambda: run(md.GlobalRecoding("c", level=1)), "no hierarchy"),
        (lambda: run(md.GlobalRecoding("x", cuts=[1], labels=["a"])), "gets 2 intervals"),
        (lambda: run(md.GlobalRecoding("c", mapping={"q": "r"})), "holds no 'q'"),
        (lambda: run(md.GlobalRecoding("x", width=1e-9)), "take wider ones"),
    ],
)
def test_bad_input_gives_one_clear_error(make: Any, part: str) -> None:
    with pytest.raises(InputError, match=part):
        make()


def run(step: md.Method) -> md.Masked:
    return md.mask(pd.DataFrame({"x": [1.0, 2.0], "c": ["a", "b"]}), None, step, seed=1)
