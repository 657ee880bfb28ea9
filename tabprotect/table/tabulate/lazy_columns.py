"""Columns of a frame that is not computed yet, every value checked where it is: what `read` is for frames in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from tabprotect.counted import counted
from tabprotect.errors import Problems
from tabprotect.table.codes import read_codes, some
from tabprotect.table.dimension import Dimension
from tabprotect.table.read import as_flag, id_text
from tabprotect.table.tabulate.duck_columns import in_rows
from tabprotect.table.tabulate.roles import Roles

if TYPE_CHECKING:
    from tabprotect.table.tabulate.place import Place

__all__ = ["check_ids", "flag", "numbers_of", "resolve"]

Frame = nw.LazyFrame[Any]

_EXACT = 2**53


def resolve(
    place: Place, records: Frame, k: int, wanted: Dimension, columns: Mapping[str, str], problems: Problems
) -> tuple[Dimension, Frame]:
    """Find the hierarchy of a dimension, and return the records with its leaf in a column ``l0``, ``l1``, ..."""
    keys = [f"k{k}_{j}" for j in range(len(columns))]
    # joins do not match missing values, so that these get a word of their own
    records = records.with_columns(
        *(
            nw.when(nw.col(column).is_null())
            .then(nw.lit("missing"))
            .otherwise(nw.concat_str(nw.lit("code "), nw.col(column).cast(nw.String)))
            .alias(key)
            for key, column in zip(keys, columns, strict=True)
        )
    )
    groups = records.group_by(*keys, *columns).agg(nw.len().alias("times"), nw.col("row").min().alias("first"))
    found = place.take(groups.sort("first"))
    frame = nw.from_native(found, eager_only=True)
    coded = [read_codes(frame[column], name) for column, name in columns.items()]
    times, first = (found.column(name).to_numpy().astype(np.int64) for name in ("times", "first"))
    dimension, leaf = wanted.resolve(coded, problems, times, first)
    leaves = place.lend(found.select(keys).append_column(f"l{k}", pa.array(leaf, pa.int64())))
    return dimension, records.join(leaves, on=keys, how="inner").drop(*keys)


def numbers_of(
    place: Place, records: Frame, roles: Roles, renamed: Mapping[str, str], problems: Problems
) -> dict[str, nw.Expr]:
    """Check all columns of numbers in one pass, and return their expressions."""
    schema = records.collect_schema()
    numbers: dict[str, nw.Expr] = {}
    faults: dict[str, dict[str, nw.Expr]] = {}
    for name in roles.numbers:
        column, dtype = nw.col(renamed[name]), schema[renamed[name]]
        if not dtype.is_numeric():
            text = "; turn the text into numbers there first" if dtype == nw.String else ""
            problems.add(f"column '{name}' must hold numbers, but holds values of type {dtype}{text}")
            numbers[name] = nw.lit(0.0)
            continue
        number = column.cast(nw.Float64)
        absent = column.is_null() | number.is_nan() if dtype.is_float() else column.is_null()
        numbers[name] = number
        faults[name] = {
            "absent": absent,
            "infinite": ~absent & (number.abs() == float("inf")),
            "below": ~absent & (number < 0),
            "fraction": ~absent & (number != number.floor()),
        }
        if dtype.is_integer():
            faults[name]["large"] = ~absent & ((column > _EXACT) | (column < -_EXACT))
    counts = {(name, what): f"{what}_{renamed[name]}" for name, some_ in faults.items() for what in some_}
    if not counts:
        return numbers
    found = place.take(
        records.select(
            *(
                nw.when(faults[name][what]).then(nw.lit(1)).otherwise(nw.lit(0)).sum().alias(alias)
                for (name, what), alias in counts.items()
            )
        )
    ).to_pylist()[0]

    def where(condition: nw.Expr, count: int) -> str:
        return in_rows(_first(place, records, condition), count)

    for name, conditions in faults.items():
        n = {what: int(found[counts[name, what]] or 0) for what in conditions}
        if n["infinite"]:
            problems.add(f"column '{name}' is infinite in {where(conditions['infinite'], n['infinite'])}")
        if n["absent"]:
            rows = where(conditions["absent"], n["absent"])
            problems.add(f"column '{name}' has no value in {counted(n['absent'], 'row')} ({rows}); fill or drop them")
        if n.get("large"):
            rows = where(conditions["large"], n["large"])
            problems.add(f"column '{name}' holds whole numbers beyond 2^53 in {rows}: not exact as floats")
        frequency = roles.counts and name == roles.value
        bad = conditions["below"] | conditions["fraction"] if frequency else conditions["below"]
        if n["below"] or (frequency and n["fraction"]):
            many = int(place.take(records.filter(bad).select(nw.len().alias("n"))).column("n")[0].as_py())
            roles.check_number(name, n["below"] > 0, n["fraction"] > 0, where(bad, many), problems)
    return numbers


def _first(place: Place, records: Frame, condition: nw.Expr) -> list[int]:
    rows: list[int] = place.take(records.filter(condition).select("row").sort("row").head(3)).column("row").to_pylist()
    return rows


def flag(place: Place, records: Frame, column: str, name: str, most: int, problems: Problems) -> nw.Expr:
    """Check a column of flags, and return the expression of their meaning."""
    groups = records.group_by(column).agg(nw.len().alias("times"), nw.col("row").min().alias("first"))
    meaning = nw.lit(0)
    for row in place.take(groups.sort("first")).to_pylist():
        value = row[column]
        meant = as_flag(value, most)
        if meant is None:
            words = "true or false" if most == 1 else f"0 to {most}"
            rows = in_rows(_first(place, records, nw.col(column) == value), row["times"])
            problems.add(f"column '{name}' must be {words}, but is {value!r} in {rows}")
        elif meant:
            meaning = nw.when(nw.col(column) == value).then(nw.lit(meant)).otherwise(meaning)
    return meaning


def check_ids(
    place: Place, records: Frame, roles: Roles, renamed: Mapping[str, str], problems: Problems
) -> dict[str, nw.Expr]:
    """Return the expressions of ids, blank ones being none; note contributors without name or with several holdings."""
    schema = records.collect_schema()
    ids = {
        name: _identity(nw.col(renamed[name]), schema[renamed[name]])
        for name in (roles.contributor, roles.holding)
        if name is not None
    }
    if roles.contributor is None:
        return ids
    who = ids[roles.contributor]
    missing = int(place.take(records.filter(who.is_null()).select(nw.len().alias("n"))).column("n")[0].as_py())
    if missing:
        rows = in_rows(_first(place, records, who.is_null()), missing)
        problems.add(f"column '{roles.contributor}' names no contributor in {rows}")
    if roles.holding is not None:
        pairs = records.select("row", who.alias("who"), ids[roles.holding].alias("above"))
        pairs = pairs.group_by("who", "above").agg(nw.col("row").min().alias("first"))
        twice = pairs.group_by("who").agg(nw.len().alias("times"), nw.col("first").min().alias("first"))
        twice = twice.filter((nw.col("times") > 1) & ~nw.col("who").is_null()).sort("first")
        found = place.take(twice.select("who")).column("who").to_pylist()
        if found:
            words = some([repr(id_text(value)) for value in found])
            problems.add(f"contributors in more than one holding ('{roles.holding}'): {words}")
    return ids


def _identity(column: nw.Expr, dtype: Any) -> nw.Expr:
    if dtype == nw.String:
        return nw.when(column.str.strip_chars() == "").then(nw.lit(None, nw.String)).otherwise(column)
    if dtype.is_float():
        return nw.when(column.is_nan()).then(nw.lit(None, dtype)).otherwise(column)
    return column
