"""Regional indicators: which combinations of regional variables leave few areas (mu-ARGUS; Eustat notebook)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import Problems, collect, did_you_mean
from tabprotect.kinds import of_kinds
from tabprotect.microdata.combinations import MOST_SUBSETS
from tabprotect.microdata.keys import KeyCodes, key_codes, row_numbers, subsets
from tabprotect.microdata.records import read_records
from tabprotect.microdata.schema import Schema, require

__all__ = ["RegionalIndicators", "regional_indicators"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RegionalIndicators:
    """Which combinations of regional variables identify areas; confidential.

    Attributes
    ----------
    table : pandas.DataFrame
        A row for every combination of values that leaves too few people or areas, and of which no part does so:
        ``indicators``, ``values``, ``areas`` (how many fit), ``population`` (of these), ``area`` (if only one).
    least, areas : float
        What a combination must leave.
    """

    table: pd.DataFrame
    least: float
    areas: int

    @property
    def value(self) -> int:
        """How many combinations leave too little."""
        return len(self.table)

    def summary(self) -> str:
        """Return the table as text."""
        few = f"fewer than {self.areas} areas or {self.least:g} people"
        head = f"{self.value} combinations of regional variables leave {few}"
        return head if self.table.empty else head + "\n" + self.table.to_string(index=False)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON; confidential."""
        return {"least": self.least, "areas": self.areas, "combinations": self.table.to_dict("records")}


@of_kinds()
def regional_indicators(
    data: Any,
    schema: Schema | None = None,
    *,
    area: str,
    indicators: Sequence[str],
    population: Mapping[Any, float] | None = None,
    least: float = 10_000,
    areas: int = 2,
    up_to: int | None = None,
) -> RegionalIndicators:
    """Find combinations of regional variables (degree of urbanisation, size of the town) that point to small areas.

    An area fits a combination of values if it has a record with them. A missing value is no indication. Only the
    shortest combinations are listed: whatever holds one of them leaves no more.

    Parameters
    ----------
    data : pandas, polars or pyarrow frame, DuckDB relation, or path of a CSV or Parquet file
    schema : Schema, optional
        Its weights make up the population of an area where no population is given (records without weights).
    area : str
        Column of the areas that are not to be recognised.
    indicators : sequence of str
        Regional variables that are to be released.
    population : mapping, optional
        People in each area.
    least : float
        A combination must leave areas with so many people in all.
    areas : int
        And so many areas.
    up_to : int, optional
        Combinations of up to so many indicators; by default of all.

    Raises
    ------
    InputError
        Unknown columns, areas without a population, too many combinations.

    Examples
    --------
    >>> frame = pd.DataFrame({"town": ["A", "B", "C"], "urban": ["yes", "yes", "no"], "port": ["yes", "no", "no"]})
    >>> found = regional_indicators(frame, area="town", indicators=["urban", "port"],
    ...     population={"A": 90_000, "B": 70_000, "C": 20_000}, least=30_000)
    >>> found.table[["indicators", "values", "areas", "population", "area"]].values.tolist()
    [['urban', 'no', 1, 20000.0, 'C'], ['port', 'yes', 1, 90000.0, 'A'], ['urban, port', 'yes, no', 1, 70000.0, 'B']]
    """
    schema = require(schema)
    records = read_records(data, schema)
    names = [indicators] if isinstance(indicators, str) else list(indicators)
    with collect() as problems:
        for name in [area, *names]:
            if name not in records.columns:
                problems.add(f"no column '{name}'{did_you_mean(name, records.columns)}")
        if not names or len(set(names)) < len(names) or area in names:
            problems.add("name at least one indicator, none twice, and not the area itself")
        if len(list(_some(len(names), up_to))) > MOST_SUBSETS:
            problems.add(f"{len(names)} indicators have too many combinations; lower up_to")
    coded = key_codes(records, [area, *names])
    places = coded.values[0]
    with collect() as problems:
        people = _population(places, coded.codes[:, 0], records.weights(), population, problems)
    rows = coded.patterns().codes
    table = _short(rows[rows[:, 0] >= 0], coded, names, people, _some(len(names), up_to), least, areas)
    return RegionalIndicators(table, least, areas)


def _short(
    rows: Ints, coded: KeyCodes, names: Sequence[str], people: Floats, sets: Any, least: float, areas: int
) -> pd.DataFrame:
    """List the shortest combinations that leave too little; the first column of the rows is the area."""
    found: list[tuple[Any, ...]] = []
    short: list[dict[int, int]] = []
    for chosen in sets:
        mine = rows[:, [0, *(j + 1 for j in chosen)]]
        mine = mine[(mine >= 0).all(axis=1)]
        number = row_numbers(mine[:, 1:], [len(coded.values[j + 1]) for j in chosen])[0]
        pairs = pd.DataFrame({"number": number, "area": mine[:, 0], "row": np.arange(len(mine))})
        pairs = pairs.drop_duplicates(["number", "area"])
        pairs["people"] = people[pairs["area"].to_numpy()]
        groups = pairs.groupby("number", sort=True)
        left = groups.agg(areas=("area", "size"), people=("people", "sum"), one=("area", "first"), row=("row", "first"))
        few = left[(left["areas"] < areas) | (left["people"] < least)]
        for row, one, size, count in few[["row", "one", "areas", "people"]].to_numpy(np.float64).tolist():
            given = dict(zip(chosen, mine[int(row), 1:].tolist(), strict=True))
            if any(part.items() <= given.items() for part in short):
                continue
            short.append(given)
            words = [str(coded.values[j + 1][v]) for j, v in given.items()]
            only = coded.values[0][int(one)] if size == 1 else None
            indicators = ", ".join(names[j] for j in chosen)
            found.append((indicators, ", ".join(words), int(size), count, only))
    return pd.DataFrame(found, columns=["indicators", "values", "areas", "population", "area"])


def _some(keys: int, up_to: int | None) -> Any:
    return subsets(keys, keys if up_to is None else up_to)


def _population(
    places: Sequence[Any], index: Any, weights: Any, given: Mapping[Any, float] | None, problems: Problems
) -> Any:
    if given is None:
        return np.bincount(index[index >= 0], weights=weights[index >= 0], minlength=len(places))
    words = {str(place): number for place, number in given.items()}
    for place in places:
        if str(place) not in words:
            problems.add(f"there is no population of area {place!r}{did_you_mean(place, words)}")
        elif not words[str(place)] >= 0:
            problems.add(f"the population of area {place!r} must be at least 0, not {words[str(place)]!r}")
    return np.array([float(words.get(str(place), 0)) for place in places])
