"""Tables of swapped records: what cannot change is known, and what is claimed."""

from __future__ import annotations

from typing import Any

import pytest

import tabprotect as tp
from tabprotect.attack.values import ValuesCertificate
from tabprotect.certificate.document import digest, seal
from tabprotect.certificate.values import SECTIONS
from tabprotect.errors import InfeasibleError, InputError
from tabprotect.methods.record_swapping import swap_records
from tests.quick import first
from tests.release.cases import people


@pytest.mark.parametrize("seed", first(2, range(4)))
@pytest.mark.parametrize("value", [None, "income"])
def test_swapped_records_make_an_additive_table_of_which_what_cannot_change_is_known(seed: int, value: Any) -> None:
    data = people(seed)
    how: dict[str, Any] = {"geography": ["region", "town"], "risk": ["origin"], "similar": [["sex"]]}
    by = [tp.Dimension(["region", "town"]), "sex", "origin"]
    made = tp.protect(data, "threshold=3", tp.Swap(**how, rate=0.2), by=by, value=value, seed=seed, allow_unsafe=True)
    result = swap_records(data, **how, rate=0.2, seed=seed)
    assert isinstance(made, tp.ChangedRelease)
    assert made.values is not None
    # the same table, added up by pandas
    codes = made.table.system.cells
    for i, (town, sex, origin) in enumerate(codes):
        rows = result.frame[
            ((result.frame.town == town) | (result.frame.region == town) | (town == "Total"))
            & ((result.frame.sex == sex) | (sex == "Total"))
            & ((result.frame.origin == origin) | (origin == "Total"))
        ]
        assert made.values[i] == (len(rows) if value is None else rows["income"].sum())
    assert not made.table.system.residuals(made.values).any()
    # cells over all towns, and counts by town and what partners have in common
    expected = {(t, s, o) for t, s, o in codes if t == "Total" or (value is None and o == "Total")}
    assert {codes[i] for i in made.result.claim["fixed"]} == expected
    assert made.values[made.result.claim["fixed"]].tolist() == made.table.values[made.result.claim["fixed"]].tolist()
    assert not made.safe
    assert made.verify().ok
    assert made.verify().verdict == "not safe"
    told = made.result.result
    moved = result.frame["town"] != data["town"]
    assert told.moved == moved.sum() > 0
    assert told.swapped == 2 * len(result.pairs)
    few = result.frame.groupby(["town", "sex", "origin"])["sex"].transform("size") < 3
    assert (told.shown, told.true) == (few.sum(), (few & ~moved).sum())
    forged = dict(made.certificate.document) | {"verdict": "safe"}
    forged["seal"] = seal((name, digest(forged[name])) for name in SECTIONS)
    assert "leaves doubt" in str(ValuesCertificate(forged).verify().failures)


def test_what_cannot_be_swapped_is_told() -> None:
    data = people(0)
    how: dict[str, Any] = {"geography": ["town"], "risk": ["origin"], "similar": [["sex"]]}
    with pytest.raises(InfeasibleError, match="leaves doubt"):
        _ = tp.protect(data, "threshold=3", tp.Swap(**how), by=["town", "origin"]).published
    for method, options, words in (
        (tp.Swap(**how), {"by": ["sex", "origin"]}, "no dimension of the table is of town"),
        (tp.Swap(**how), {"by": ["town", "sex", "origin"], "empty": "structural"}, "empty='zero'"),
    ):
        with pytest.raises(InputError, match=words):
            tp.protect(data, "threshold=3", method, **options)
    with pytest.raises(InputError, match="made from microdata"):
        tp.protect(tp.tabulate(data, ["town", "origin"]), "threshold=3", tp.Swap(**how))
    with pytest.raises(InputError, match="geography, similar must name columns"):
        tp.Swap(risk=["origin"])
