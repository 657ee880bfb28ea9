"""Codes of the data that are totals of the others: nothing is counted twice without a word."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tabprotect import Dimension, Hierarchy, InputError, Table, tabulate

BY = ["region", "kind"]


def finished(total: str = "Insgesamt", off: float = 0.0) -> pd.DataFrame:
    """A table of two dimensions whose margins have a name of their own."""
    inner = pd.DataFrame({"region": ["N", "N", "S", "S"], "kind": ["a", "b"] * 2, "v": [30.5, 20.0, 1030.5, 20.0]})
    by_kind = inner.groupby("kind", as_index=False)["v"].sum().assign(region=total)
    both = pd.concat([inner, by_kind])
    table = pd.concat([both, both.groupby("region", as_index=False)["v"].sum().assign(kind=total)], ignore_index=True)
    table.loc[len(table) - 1, "v"] += off
    return table


def refusal(of: object, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        Table.from_cells(of, BY, "v", **options)  # type: ignore[arg-type]
    return str(caught.value)


def test_computed_margins_do_not_count_totals_twice() -> None:
    said = refusal(finished(), margins="add")
    assert "column 'region' holds 'Insgesamt', whose values are the sums over all other codes" in said
    assert "Dimension('kind', total='Insgesamt')" in said
    # the cure, literally; without it nothing proposes that margins be computed
    by = [Dimension("region", total="Insgesamt"), Dimension("kind", total="Insgesamt")]
    assert Table.from_cells(finished(), by, "v", margins="add").values.max() == 1101.0
    said = refusal(finished())
    assert "but 'Insgesamt', whose values are the sums over all other codes" in said
    assert "margins='add'" not in said
    assert Table.from_cells(finished(), by, "v").values.max() == 1101.0


@pytest.mark.parametrize("total", ["Insgesamt", "Total of it", "99", "T", "00"])
def test_rows_of_totals_among_microdata(total: str) -> None:
    with pytest.raises(InputError, match=f"holds '{total}', whose values are the sums") as caught:
        tabulate(finished(total), BY, "v")
    assert f"Dimension('kind', total='{total}')" in str(caught.value)
    records = finished(total).query("region != @total and kind != @total")
    assert tabulate(records, BY, "v").values.max() == 1101.0


def nested(sizes: int = 2) -> pd.DataFrame:
    """Records of industries with the rows of one of two sections among them."""
    inner = pd.DataFrame(
        {
            "industry": ["C10", "C11", "D35", "D36"] * sizes,
            "size": np.repeat([f"s{i}" for i in range(sizes)], 4),
            "v": 1000.0 * np.arange(7, 7 + 4 * sizes) + 13.0,
        }
    )
    section = inner[inner.industry.str.startswith("C")].groupby("size", as_index=False)["v"].sum()
    return pd.concat([section.assign(industry="C"), inner], ignore_index=True)


def test_totals_of_a_part_of_the_codes_are_not_counted_twice() -> None:
    said = "column 'industry' holds 'C', whose values are the sums over C10 [+] C11: "
    with pytest.raises(InputError, match=said + "rows of totals would be counted twice") as caught:
        tabulate(nested(), ["industry", "size"], "v")
    assert "a hierarchy of 'industry' that has these below 'C'" in str(caught.value)
    with pytest.raises(InputError, match=said + "computed margins would count them twice"):
        Table.from_cells(nested(), ["industry", "size"], "v", margins="add")
    # the cure, literally
    below = Hierarchy.from_pairs([("C", "C10"), ("C", "C11"), ("Total", "C"), ("Total", "D35"), ("Total", "D36")])
    by = [Dimension("industry", hierarchy=below), "size"]
    records = nested().query("industry != 'C'")
    assert Table.from_cells(nested(), by, "v", margins="add").values.max() == records.v.sum()
    assert tabulate(records, ["industry", "size"], "v").values.max() == records.v.sum()


def test_codes_that_begin_with_another_are_ordinary_where_they_do_not_add_up_to_it() -> None:
    off = nested().assign(v=lambda table: table.v + (np.arange(len(table)) == 0))
    assert tabulate(off, ["industry", "size"], "v").values.max() == off.v.sum()
    few = pd.DataFrame({"industry": ["C", "C10", "C11", "D"], "v": [2.0, 1.0, 1.0, 5.0]})
    assert tabulate(few, ["industry"], "v").values.max() == 9


def test_rows_of_totals_among_counted_rows() -> None:
    with pytest.raises(InputError, match="column 'region' holds 'Insgesamt', which is called as totals are") as caught:
        tabulate(finished(), BY)
    assert "Dimension('kind', total='Insgesamt')" in str(caught.value)
    # a code that is called so, beside which nothing else is counted
    dead = pd.DataFrame({"status": ["tot", "lebend", "lebend"], "age": ["30", "31", "45"], "region": ["W", "W", "N"]})
    assert tabulate(dead, ["status", "age", "region"]).values.max() == 3
    # records, of which several have the same codes
    assert tabulate(pd.concat([finished()] * 2), BY).values.max() == 2 * len(finished())


def test_short_codes_of_totals_need_few_sums() -> None:
    few = pd.DataFrame({"sex": ["F", "M", "T"], "v": [300.0, 200.0, 500.0]})
    with pytest.raises(InputError, match="column 'sex' holds 'T', whose values are the sums"):
        tabulate(few, ["sex"], "v")
    other = few.assign(sex=["F", "M", "X"])
    assert tabulate(other, ["sex"], "v").values[0] == 1000
    # households as employers in NACE, with a value of its own
    sections = pd.DataFrame({"section": ["R", "S", "T"], "v": [300.0, 200.0, 501.0]})
    assert tabulate(sections, ["section"], "v").values[0] == 1001
    # small numbers that happen to add up, and a usual code of somebody without children
    for codes in (["F", "M", "T"], ["1", "2", "0"]):
        assert tabulate(pd.DataFrame({"c": codes, "v": [30.0, 19.0, 49.0]}), ["c"], "v").values[0] == 98


def test_totals_that_are_rounded_are_known_by_their_name() -> None:
    rounded = finished().assign(v=lambda table: table.v.round())
    assert "'Insgesamt', whose values are the sums" in refusal(rounded, margins="add")


def test_calling_the_total_something_else_does_not_count_totals_twice() -> None:
    with pytest.raises(InputError, match="take rows of totals out, or, if they are cells of a finished table"):
        tabulate(finished("Total"), BY, "v")
    with pytest.raises(InputError, match="rows of totals would be counted twice"):
        tabulate(finished("Total"), [Dimension(name, total="everything") for name in BY], "v")


def test_ordinary_codes_are_not_taken_for_totals() -> None:
    # a usual name alone says nothing, nor do small counts that happen to add up
    named = pd.DataFrame({"region": ["All", "N", "S"], "v": [50.0, 20.0, 10.0]})
    assert Table.from_cells(named, ["region"], "v", margins="add").values[0] == 80
    small = pd.DataFrame({"region": ["W", "N", "S"] * 2, "kind": ["a"] * 3 + ["b"] * 3, "v": [2, 1, 1, 3, 1, 2]})
    assert Table.from_cells(small, BY, "v", margins="add").values[0] == 10
    # two codes with the same values, such as shares of one half
    halves = pd.DataFrame({"region": ["N", "S"] * 2, "kind": list("aabb"), "v": [512345.0] * 2 + [765432.0] * 2})
    assert Table.from_cells(halves, BY, "v", margins="add").values[0] == 2555554
    # a sum in some combinations only, or a code that is not in all of them
    other = finished("W").assign(v=lambda table: table.v + (table.region == "W") * np.arange(len(table)))
    assert tabulate(other.query("kind != 'W'"), ["region", "kind"], "v").values[0] > 0


def test_a_hierarchy_says_that_a_code_is_an_ordinary_one() -> None:
    balance = pd.DataFrame({"item": ["assets", "debt", "equity"], "v": [812345.0, 512345.0, 300000.0]})
    with pytest.raises(InputError, match="If 'assets' is an ordinary code, list all codes in a hierarchy of 'item'"):
        tabulate(balance, ["item"], "v")
    listed = Dimension("item", Hierarchy.flat(["assets", "debt", "equity"]))
    assert tabulate(balance, [listed], "v").values[0] == 1624690


@pytest.mark.slow
def test_random_data_are_never_refused() -> None:
    rng = np.random.default_rng(5)
    for _ in range(300):
        n = int(rng.integers(3, 40))
        frame = pd.DataFrame(
            {"a": rng.choice(list("WNSE"), n), "b": rng.choice(list("xyz"), n), "v": rng.integers(0, 4, n)}
        )
        assert tabulate(frame, ["a", "b"], "v").values[0] == frame.v.sum()
