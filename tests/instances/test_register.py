"""The bundled register: reproducible, with real codes, and as skewed as disclosure control needs it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import tabprotect.instances
from tabprotect.errors import InputError
from tabprotect.instances.register import bundle, codes, hrc, register

DATA = Path(tabprotect.instances.__file__).parent / "data"
FILES = ["register.csv", "nace.hrc", "division.hrc", "nuts.hrc"]


@pytest.fixture(scope="module")
def bundled() -> pd.DataFrame:
    return pd.read_csv(DATA / "register.csv", dtype={"nace": str, "division": str})


def test_the_generator_writes_the_bundled_files_byte_for_byte(tmp_path: Path) -> None:
    bundle(tmp_path)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), name


def test_the_frame_is_the_bundled_file(bundled: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(register(), bundled, check_dtype=False)


def test_codes_are_those_of_the_hierarchies(bundled: pd.DataFrame) -> None:
    divisions = {d: s for s, below in codes().items() for d in below}
    assert len(codes()) == 12
    assert len(divisions) == 67
    assert sum(len(groups) for below in codes().values() for groups in below.values()) == 216
    assert (bundled["nace"].str[:2] == bundled["division"]).all()
    assert (bundled["nuts"].str[:4] == bundled["nuts2"]).all()
    for column in ("nace", "division", "nuts"):
        lines = hrc(column).split()
        depth = max(line.count("@") for line in lines)
        leaves = {line.strip("@") for line in lines if line.count("@") == depth}
        assert set(bundled[column]) <= leaves
        assert len({line.strip("@") for line in lines}) == len(lines)


def test_size_class_is_that_of_the_persons_employed(bundled: pd.DataFrame) -> None:
    expected = pd.cut(bundled["employees"], [-1, 9, 49, 249, 10**9], labels=["0-9", "10-49", "50-249", "250+"])
    assert (expected.astype(str) == bundled["size"]).all()


def test_turnover_is_skewed_and_holdings_own_several_enterprises(bundled: pd.DataFrame) -> None:
    assert len(bundled) == 20_000
    assert bundled["enterprise_id"].is_unique
    assert bundled["turnover"].min() >= 1
    top = bundled["turnover"].nlargest(200).sum() / bundled["turnover"].sum()
    assert 0.3 < top < 0.9
    members = bundled.groupby("group_id").size()
    assert 500 < len(members) < 1000
    assert members.mean() > 2.5
    assert (members > 1).mean() > 0.6


def test_another_seed_is_another_register_and_small_ones_work() -> None:
    assert not register(100, seed=1).equals(register(100, seed=2))
    assert len(register(1, seed=1)) == 1
    with pytest.raises(InputError, match="at least one enterprise"):
        register(0)


def test_unknown_hierarchy_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'nuts'"):
        hrc("nut")
