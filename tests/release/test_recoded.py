"""Releases of recoded tables: what is not sensitive any more is not hidden."""

from __future__ import annotations

from pathlib import Path

import pytest

import tabprotect as tp
from tabprotect.methods.recoding import RecodingRules
from tabprotect.release.read import read_release
from tests.release.cases import RULES, dimensions, microdata


def test_recoding_leaves_no_sensitive_cell_and_hides_none(tmp_path: Path) -> None:
    made = tp.protect(
        microdata(0), RULES, tp.Recode(), by=dimensions(), value="turnover", contributor="firm", title="Recoded"
    )
    assert isinstance(made, tp.Release)
    assert made.safe
    assert not made.pattern.any()
    assert 1 < made.table.n_cells < 32
    assert "given up" in made.settings["recoding"]
    full = tp.tabulate(microdata(0), dimensions(), "turnover", contributor="firm")
    truth = dict(zip(full.system.cells, full.values, strict=True))
    shown = made.public.frame
    assert all(truth[r, s] == v for r, s, v in zip(shown["region"], shown["size"], shown["turnover"], strict=True))
    made.write(tmp_path / "out")
    assert read_release(tmp_path / "out").failures == ()


def test_recodings_by_hand_come_first_and_what_is_left_is_hidden() -> None:
    rules = RecodingRules.parse("small: small, large")
    by = [dimensions()[0], "size"]
    made = tp.protect(
        microdata(0), RULES, tp.Recode({"size": rules}, least=False), by=by, value="turnover", contributor="firm"
    )
    assert isinstance(made, tp.Release)
    assert made.safe
    assert set(made.table.rows["size"]) == {"Total", "small", "huge"}
    assert made.pattern.any()
    with pytest.raises(tp.InputError, match="finds no such column; did you mean 'size'"):
        tp.protect(microdata(0), RULES, tp.Recode({"siz": rules}), by=by, value="turnover", contributor="firm")
