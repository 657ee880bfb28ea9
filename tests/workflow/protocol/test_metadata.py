"""Lists of tables: what they say, and which tables are linked by them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tabprotect.errors import InputError
from tabprotect.workflow.protocol.metadata import group_tables, read_metadata
from tabprotect.workflow.protocol.plan import skeleton

WRONG = """table_name;respons;spanning_1;spanning_2;hrc_3
a;v;x;x;h
"""
ROWS = """table_name,response,spanning_1,spanning_2,cells,data
a,v,x,x,a.csv,
a,v,,,,
,v,x,,a.csv,b.csv
"""


def test_a_list_of_rtauargus(shared: Callable[[str], Path]) -> None:
    """Twelve tables: pizza by region, size and activity; lettuce and its two kinds by activity, size and legal form."""
    groups = group_tables(read_metadata(shared("instances/tables/rtauargus_metadata_pizza_lettuce.csv")))
    assert [len(group.tables) for group in groups] == [6, 6]
    pizza, lettuce = groups
    assert pizza.links["T1", "T2"] == ("hrc_nuts", "size")
    assert pizza.links["T1", "T6"] == ("hrc_nuts",)
    assert lettuce.links["T7", "T10"] == ("hrc_lettuce", "hrc_naf")
    files = {name: f"{name}.hrc" for name in ("hrc_nuts", "hrc_naf", "hrc_lettuce")}
    with pytest.raises(InputError) as caught:
        skeleton(groups, files, title="", rules="rules.toml", seconds=1)
    said = str(caught.value)
    assert "the responses of T7, T9, T11 add up by hrc_lettuce" in said
    assert "table 'T1': 'nuts2' and 'nuts3' are levels of hrc_nuts" in said
    assert said.count("add up by hrc_lettuce") == 2


def test_tables_of_different_populations_are_apart(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("table_name,field,indicator,spanning_1\na,all,v,x\nb,all,v,y\nc,east,v,x\nd,all,w,x\n")
    groups = group_tables(read_metadata(path))
    assert [(g.measure, [t.name for t in g.tables]) for g in groups] == [
        ("v of all", ["a", "b"]),
        ("v of east", ["c"]),
        ("w of all", ["d"]),
    ]
    assert groups[0].links == {("a", "b"): ()}
    assert len({g.name for g in groups}) == 3


def test_columns_that_are_wrong_are_all_named(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text(WRONG)
    with pytest.raises(InputError) as caught:
        read_metadata(path)
    assert [p.partition(": ")[2] for p in caught.value.problems] == [
        "unknown column 'respons'; did you mean 'response'?",
        "'hrc_3' is there, but no column 'spanning_3'",
    ]


def test_rows_that_are_wrong_are_all_named(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text(ROWS)
    with pytest.raises(InputError) as caught:
        read_metadata(path)
    said = "\n".join(caught.value.problems)
    for words in (
        "line 2: 'x' is there twice",
        "line 3: table 'a' has no dimension",
        "line 4: the table has no name",
        "line 4: give either cells",
        "two tables are called 'a'",
    ):
        assert words in said, words
