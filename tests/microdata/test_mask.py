"""Masking as a whole: frames of every kind, chains, claims, folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
import tabprotect.microdata as md
from tabprotect.cli.app import run
from tabprotect.errors import InputError
from tabprotect.microdata.folder import verify_masked
from tests.microdata.frames import KINDS, as_pandas


def people() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": ["a", "b", "c", "d", "e"],
            "region": ["n", "n", "s", None, "s"],
            "age": [31, 47, 31, 22, 90],
            "income": [1000.5, 1200.0, np.nan, 50000.0, 10.0],
        }
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_kind_comes_out_and_nothing_that_came_in_changes(kind: str) -> None:
    given = KINDS[kind](people())
    before = as_pandas(given).copy(deep=True)
    schema = md.Schema(identifiers=["id"], keys=["region", "age"])
    steps = [md.TopCoding("income", threshold=2000), md.BottomCoding("age", threshold=30)]
    masked = md.mask(given, schema, steps, seed=1)
    assert type(masked.frame) is type(given)
    found = as_pandas(masked.frame)
    pd.testing.assert_frame_equal(as_pandas(given), before)
    assert list(found.columns) == ["region", "age", "income"]
    assert [str(t) for t in found.dtypes] == [str(t) for t in before.dtypes[1:]]
    assert found["age"].tolist() == [31, 47, 31, 30, 90]
    assert found["income"].fillna(-1).tolist() == [1000.5, 1200.0, -1, 2000.0, 10.0]
    assert masked.verify()


def test_the_index_of_a_pandas_frame_stays() -> None:
    given = people().set_index(pd.Index([10, 20, 30, 40, 50]))
    masked = md.mask(given, None, md.TopCoding("income", threshold=2000))
    assert masked.frame.index.tolist() == [10, 20, 30, 40, 50]


def test_row_labels_do_not_tell_where_a_sampled_record_comes_from() -> None:
    given = people().set_index(pd.Index(["a", "b", "c", "d", "e"]))
    masked = md.mask(given, None, md.Sampling(size=3), seed=1)
    assert masked.frame.index.equals(pd.RangeIndex(3))
    assert given["age"].to_numpy()[masked.links].tolist() == masked.frame["age"].tolist()
    assert masked.verify()


def test_a_claim_is_withdrawn_when_a_later_step_changes_its_column() -> None:
    steps = [md.TopCoding("income", threshold=2000), md.BottomCoding("income", threshold=100)]
    masked = md.mask(people(), None, steps)
    assert [claim.kind for claim in masked.claims] == ["at-least"]
    assert [claim.kind for claim in masked.withdrawn] == ["at-most"]
    assert "no longer claimed" in "\n".join(masked.notes)


def test_all_problems_of_a_chain_are_named_at_once() -> None:
    with pytest.raises(InputError) as error:
        md.mask(people(), None, [md.TopCoding("incme", threshold=1), md.TopCoding("region", threshold=1)])
    assert "step 1 (top-coding): no column 'incme'; did you mean 'income'?" in error.value.problems
    assert any("'region' is unordered, the method takes continuous" in p for p in error.value.problems)


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: md.TopCoding("income"), "either threshold or quantile"),
        (lambda: md.TopCoding("income", quantile=1.5), "below 1"),
        (lambda: md.TopCoding([], threshold=1), "at least 1 column"),
        (lambda: md.TopCoding("income", threshold="x"), "threshold must be a number"),  # type: ignore[arg-type]
        (lambda: md.make_method("top-codng", {}), "did you mean 'top-coding'"),
        (lambda: md.make_method("top-coding", {"column": "a"}), "did you mean 'columns'"),
        (lambda: md.mask(people(), None, md.TopCoding), "call it with its parameters"),  # type: ignore[arg-type]
        (lambda: md.mask(people(), md.Schema(keys=["regin"]), md.TopCoding("age", threshold=1)), "'region'"),
        (lambda: md.Schema(keys=["a"], weight="a"), "the weight"),
        (lambda: md.Schema(scales={"a": "ordred"}), "did you mean 'ordered'"),
        (lambda: md.mask(people().head(0), None, md.TopCoding("age", threshold=1)), "no records"),
        (lambda: md.mask(people(), md.Schema(weight="income"), md.TopCoding("age", quantile=0.5)), "no value in 1 row"),
    ],
)
def test_bad_input_gives_one_clear_error(make: Any, part: str) -> None:
    with pytest.raises(InputError, match=part):
        make()


def test_the_command_line_writes_a_release_that_verifies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people().to_csv(tmp_path / "p.csv", index=False)
    (tmp_path / "s.toml").write_text(
        'data = "p.csv"\n[schema]\nidentifiers = ["id"]\n[[steps]]\nmethod = "top-coding"\ncolumns = "income"\n'
        "threshold = 2000\n"
    )
    assert run(["mask", str(tmp_path / "s.toml"), "--out", str(tmp_path / "out"), "--seed", "3"]) == 0
    assert run(["verify", str(tmp_path / "out")]) == 0
    public = (tmp_path / "out/publish/data.csv").read_text()
    assert public.splitlines()[0] == "region,age,income"
    assert "50000" not in public
    assert "2000" not in (tmp_path / "out/publish/metadata.json").read_text()
    # whoever alters a value and the digest with it is found by the values themselves
    (tmp_path / "out/publish/data.csv").write_text(public.replace("2000", "3000"))
    assert run(["verify", str(tmp_path / "out")]) == 1
    assert "does not hold the values" in capsys.readouterr().out


def test_a_claim_that_does_not_hold_is_found_in_the_files(tmp_path: Path) -> None:
    md.mask(people(), None, md.TopCoding("income", threshold=2000)).write(tmp_path / "out")
    path = tmp_path / "out/internal/claims.json"
    document = json.loads(path.read_text())
    document["claims"][0]["parameters"]["most"] = 1500
    path.write_text(json.dumps(document))
    found = verify_masked(tmp_path / "out")
    assert not found
    assert "values are above 1500" in found.summary()


def test_every_method_says_what_it_is() -> None:
    for name, kind in md.methods().items():
        assert kind.family in {"non-perturbative", "perturbative", "fully synthetic", "partially synthetic"}, name
        assert kind.source, name
        assert "missing" in (kind.__doc__ or "").lower(), f"{name} does not say what it does with missing values"
        assert set(kind.claim_kinds) <= set(md.claim_kinds()), name
        assert getattr(md, kind.__name__) is kind, f"{kind.__name__} is not public"


def test_noise_is_none_of_the_numbers_in_the_data() -> None:
    """Data that were generated with the seed of the mask: NumPy's ``default_rng([1, 0])`` is ``default_rng(1)``."""
    n = 2000
    for step, made in enumerate((np.random.default_rng(1), np.random.default_rng([1, 1]))):
        frame = pd.DataFrame({"x": made.normal(size=n), "y": np.arange(n) % 7})
        before = [md.TopCoding("y", threshold=5)] * step
        masked = md.mask(frame, None, [*before, md.Noise("x", alpha=1.0)], seed=1)
        added = masked.frame["x"].to_numpy() - frame["x"].to_numpy()
        assert abs(np.corrcoef(added, frame["x"])[0, 1]) < 0.1


@pytest.mark.parametrize("large", [False, True])
def test_progress_tells_every_step(large: bool, tmp_path: Path) -> None:
    people = pd.DataFrame({"age": [20, 30, 40, 50], "income": [1.0, 2.0, 3.0, 4.0]})
    people.to_csv(tmp_path / "people.csv", index=False)
    heard: list[tp.Progress] = []
    steps = [md.TopCoding("age", threshold=45), md.Noise("income", alpha=0.1)]
    data = tmp_path / "people.csv"
    md.mask(data, md.Schema(confidential=["income"]), steps, seed=1, large=large, progress=heard.append)
    stages = [(line.stage, line.message) for line in heard]
    assert stages == [("read", ""), ("top-coding", "step 1 of 2"), (steps[1].name, "step 2 of 2")]
