"""What random methods draw from: fresh secrets, seeds, and keys of records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tabprotect as tp
from tabprotect.errors import InputError
from tabprotect.methods.cell_key import (
    Flex,
    cell_key,
    cell_key_magnitudes,
    cell_keys,
    design_perturbation,
    record_keys,
)
from tests.release.cases import RULES, dimensions, make, microdata


def test_random_methods_draw_a_fresh_secret_unless_a_seed_is_given(tmp_path: Path) -> None:
    method = tp.RandomRound(base=20_000)
    one, two = make(method), make(method)
    assert one.settings["seed"] != two.settings["seed"]
    assert one.settings["seed"] > 2**32
    assert one.values is not None
    assert two.values is not None
    assert one.values.tolist() != two.values.tolist()
    # the seed that the internal files keep gives the same values again
    again = tp.protect(
        microdata(0), RULES, method, by=dimensions(), value="turnover", contributor="firm",
        seed=one.settings["seed"], allow_unsafe=True,
    )  # fmt: skip
    assert isinstance(again, tp.ChangedRelease)
    assert again.values is not None
    assert again.values.tolist() == one.values.tolist()
    assert make(tp.Round(base=20_000)).settings["seed"] == 0


def test_cell_keys_come_from_a_column_a_seed_or_the_caller() -> None:
    from tabprotect.methods.cell_key import cell_keys, record_keys

    data = microdata(0)
    keys = record_keys(len(data), 5)
    given: dict[str, Any] = {"by": dimensions(), "allow_unsafe": True, "seed": 5}
    drawn = tp.protect(data, "threshold=3", tp.CellKey(), **given)
    column = tp.protect(data.assign(k=keys), "threshold=3", tp.CellKey(key="k"), **given)
    table = tp.tabulate(data, dimensions())
    own = cell_keys(data.assign(k=keys), dimensions(), "k")
    finished = tp.protect(table, "threshold=3", tp.CellKey(keys=own), allow_unsafe=True)
    values = [one.values for one in (drawn, column, finished) if isinstance(one, tp.ChangedRelease)]
    first, *others = [one.tolist() for one in values if one is not None]
    assert others == [first, first]
    with pytest.raises(tp.InputError, match="needs the keys of records"):
        tp.protect(table, "threshold=3", tp.CellKey())


def test_one_seed_gives_counts_and_magnitudes_of_the_same_records_the_same_keys() -> None:
    data = microdata(3)
    counts, turnover = (
        tp.protect(data, "threshold=3", tp.CellKey(), by=dimensions(), value=value, seed=5, allow_unsafe=True)
        for value in (None, "turnover")
    )
    data["key"] = record_keys(len(data), 5)
    keys = cell_keys(data, dimensions(), "key")
    assert counts.values is not None
    assert counts.values.tolist() == cell_key(counts.problem, keys, design_perturbation(3, 1.5)).values.tolist()
    noisy = cell_key_magnitudes(
        turnover.problem, keys, design_perturbation(3, 1.5, step=5), Flex(0.1, 0.1, 1.0), turnover.table, decimals=0
    )
    assert turnover.values is not None
    assert turnover.values.tolist() == noisy.values.tolist()
    # and in another table: whoever is counted there again has the same figure
    again = tp.protect(data, "threshold=3", tp.CellKey(key="key"), by="size", value="turnover", allow_unsafe=True)
    whole = turnover.table.system.cells
    for i, (size,) in enumerate(again.table.system.cells):
        place = whole.get_loc(("T", "all" if size == "Total" else size))
        assert again.values is not None
        assert again.values[i] == turnover.values[place]
    assert turnover.result.message.endswith(f"by up to {noisy.additivity.largest:,.10g}")


def test_magnitudes_need_what_their_noise_is_made_of() -> None:
    data = microdata(1)
    for change, options, words in (
        ({"turnover": data.turnover - 5000}, {}, "values below 0"),
        ({"w": 2.0}, {"weight": "w"}, "sampling weights"),
    ):
        with pytest.raises(InputError, match=words):
            tp.protect(
                data.assign(**change), "threshold=3", tp.CellKey(), by="size", value="turnover", bounds=(-1e6, None),
                **options,
            )  # fmt: skip
    with pytest.raises(InputError, match="small, weights belong to magnitudes"):
        tp.protect(data, "threshold=3", tp.CellKey(small=0.2, weights="1"), by="size")
    with pytest.raises(InputError, match="blocked belongs to counts"):
        tp.protect(data, "threshold=3", tp.CellKey(blocked=2), by="size", value="turnover")
