"""Which tables are linked: by cells in common, not by names alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tabprotect.errors import InputError
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.link import link
from tabprotect.table.link.clusters import cells_by_table, find_clusters
from tabprotect.table.table import Table
from tabprotect.table.tabulate import tabulate
from tests.test_real_tables import turnover


def tables() -> dict[str, Table]:
    rng = np.random.default_rng(1)
    data = pd.DataFrame({name: rng.choice(list(codes), 40) for name, codes in (("a", "xyz"), ("b", "12"), ("c", "mf"))})
    data["v"] = rng.integers(1, 9, 40).astype(float)
    data["w"] = 1.0
    return {
        "a by b": tabulate(data, ["a", "b"], value="v"),
        "b by c": tabulate(data, ["b", "c"], value="v"),
        "other measure": tabulate(data, ["a", "c"], value="w"),
        "c": tabulate(data, ["c"], value="v"),
    }


def test_common_cells_join_tables() -> None:
    first, second = find_clusters(tables())
    assert first.tables == ("a by b", "b by c", "c")
    assert first.dimensions == ("a", "b", "c")
    # b and the total; the total alone; c and the total
    assert first.links == {("a by b", "b by c"): 3, ("a by b", "c"): 1, ("b by c", "c"): 3}
    assert (second.tables, second.measure, second.links) == (("other measure",), "w", {})


def test_measures_may_be_named() -> None:
    assert len(find_clusters(tables(), measure="v")) == 1
    apart = find_clusters(tables(), measure={"c": "v of others"})
    assert [c.tables for c in apart] == [("a by b", "b by c"), ("other measure",), ("c",)]
    with pytest.raises(InputError, match="did you mean 'b by c'"):
        find_clusters(tables(), measure={"b by": "v"})


def test_linked_tables_are_no_part_of_a_cluster() -> None:
    some = tables()
    linked = link([some["a by b"], some["c"]])
    with pytest.raises(InputError, match="'all' has no dimensions"):
        find_clusters({"all": linked})
    with pytest.raises(InputError, match="link tables first"):
        cells_by_table(some["c"])


def test_cells_of_each_table() -> None:
    some = tables()
    del some["other measure"]
    linked = link(some)
    cells = cells_by_table(linked)
    assert {name: len(mine) for name, mine in cells.items()} == {name: t.n_cells for name, t in some.items()}
    for name, mine in cells.items():
        assert sorted(linked.values[mine]) == sorted(some[name].values)


def test_groupings_that_do_not_nest() -> None:
    """Two tables whose regions are grouped in different ways share the regions and the total."""
    one = Hierarchy.from_pairs([("T", "n"), ("T", "s"), ("n", "1"), ("n", "2"), ("s", "3"), ("s", "4")])
    pairs = [("T", "coast"), ("T", "inland"), ("coast", "1"), ("coast", "3"), ("inland", "2"), ("inland", "4")]
    two = Hierarchy.from_pairs(pairs)
    data = pd.DataFrame({"r": list("1234") * 3, "v": np.arange(12.0)})
    found = find_clusters([tabulate(data, ["r"], value="v", hierarchies={"r": h}) for h in (one, two)])
    assert [(c.tables, c.links) for c in found] == [(("table1", "table2"), {("table1", "table2"): 5})]


def test_the_turnover_tables(shared: Callable[[str], Path]) -> None:
    """Four tables of all France are one cluster, the table of the east is of another population."""
    found = find_clusters(turnover(shared), measure={"act_nuts_size": "TOT of the east"})
    assert [c.tables for c in found] == [("act_cj", "act_size", "nuts_cj", "nuts_size"), ("act_nuts_size",)]
    # these have the grand total only
    assert found[0].links["act_cj", "nuts_size"] == 1
