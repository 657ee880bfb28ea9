"""Tabulation where the data are: data frames that are not computed yet, such as those of a Spark cluster.

What the engine in memory does on arrays is said here as operations on whole frames, through narwhals: the leaf cell and
the holder of every record, what each holder contributes to each cell of all levels, and the largest contributions.
Only what is of the size of the table comes here; the microdata stay where they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tabprotect.errors import collect
from tabprotect.sums import LARGEST, SCALES, Limbs
from tabprotect.table.grid import Grid
from tabprotect.table.levels import Level, Measures, Totals, levels_of
from tabprotect.table.read import id_text
from tabprotect.table.tabulate.lazy_columns import check_ids, flag, numbers_of, resolve
from tabprotect.table.tabulate.lazy_sums import largest, limbs_of, names, split
from tabprotect.table.tabulate.place import Place
from tabprotect.table.tabulate.ranking import NO_REQUEST, Ranking
from tabprotect.table.tabulate.roles import Roles, Tabulated
from tabprotect.table.tabulate.rollup import beside

__all__ = ["tabulate_lazy"]

Frame = nw.LazyFrame[Any]
Ints = npt.NDArray[np.int64]

_TOGETHER = {
    "light": "min",
    "heavy": "max",
    "below": "any",
    "above": "any",
    "waived": "all",
    "requested": "min",
}
"""How what is known of several records of one holder is put together; anything else is added up."""


def tabulate_lazy(frame: Frame, roles: Roles, place: Place) -> Tabulated:
    """Tabulate a frame whose columns are known to be there."""
    renamed = {name: f"c{i}" for i, name in enumerate(roles.columns)}
    data = place.numbered(frame.select(*(nw.col(name).alias(column) for name, column in renamed.items())))
    records = data
    with collect() as problems:
        n = int(place.take(records.select(nw.len().alias("n"))).column("n")[0].as_py())
        if n == 0:
            problems.add("the data hold no records")
        dimensions = []
        for k, wanted in enumerate(roles.by):
            columns = {renamed[name]: name for name in wanted.columns}
            dimension, records = resolve(place, records, k, wanted, columns, problems)
            dimensions.append(dimension)
        numbers = numbers_of(place, records, roles, renamed, problems)
        flags = {
            name: flag(place, records, renamed[name], name, most, problems)
            for name, most in ((roles.waiver, 1), (roles.request, 2))
            if name is not None
        }
        ids = check_ids(place, records, roles, renamed, problems)
    grid = Grid(tuple(d.known for d in dimensions), tuple(d.name for d in dimensions))
    base = place.keep(_base(records, roles, grid, numbers, flags, ids))
    measures = _measures(place, base, roles, n)
    base = _with_limbs(base, roles, measures)
    cells, totals = _totals(place, base, roles, measures)
    leaf_cells = np.unravel_index(cells, [len(h.leaves) for h in grid.hierarchies])
    levels = levels_of([np.asarray(c) for c in leaf_cells], grid)
    entries = _entries(place, base, roles, grid, measures)
    alone = largest(place, entries.filter(nw.col("cells") == 1), "cell", cells, measures)
    rankings = [alone.moved(level, roles.top) for level in levels]
    if ids:
        rankings = _shared(place, entries.filter(nw.col("cells") > 1), grid, levels, rankings, measures)
    summary = beside(levels, [totals.at(level) for level in levels], rankings, measures)
    rows = np.unique(summary.best.holder)
    words = _names(place, data, roles, ids, rows)

    def name_holders(holders: Ints) -> Sequence[str]:
        return [words[i] for i in np.searchsorted(rows, holders)]

    return Tabulated(tuple(dimensions), grid, summary, measures, name_holders)


def _base(
    records: Frame,
    roles: Roles,
    grid: Grid,
    numbers: Mapping[str, nw.Expr],
    flags: Mapping[str, nw.Expr],
    ids: Mapping[str, nw.Expr],
) -> Frame:
    """Return leaf cell, holder and numbers of every record."""
    shape = [len(h.leaves) for h in grid.hierarchies]
    cell = reduce(lambda a, b: a + b, (nw.col(f"l{k}") * prod(shape[k + 1 :]) for k in range(len(shape))))
    keys = []
    if roles.holding is not None:
        keys.append(ids[roles.holding])
    if roles.contributor is not None or keys:
        own = nw.col("row") if roles.contributor is None else ids[roles.contributor]
        # who is in no holding stands for himself
        keys.append(nw.when(keys[0].is_null()).then(own) if keys else own)
    if keys:
        records = records.with_columns(*(key.alias(f"h{i}") for i, key in enumerate(keys)))
    holder = nw.col("row").min().over(*(f"h{i}" for i in range(len(keys)))) if keys else nw.col("row")
    one = nw.lit(1.0)
    value = one if roles.value is None else numbers[roles.value]
    weight = one if roles.weight is None else numbers[roles.weight]
    request = flags.get(roles.request or "", nw.lit(0))
    base = records.select(
        *(f"l{k}" for k in range(len(shape))),
        cell.alias("cell"),
        holder.alias("holder"),
        value.alias("v"),
        (value if roles.shadow is None else numbers[roles.shadow]).alias("x"),
        weight.alias("w"),
        (nw.lit(0.0) if roles.cost is None else numbers[roles.cost]).alias("c"),
        (flags.get(roles.waiver or "", nw.lit(0)) == 1).alias("waived"),
        nw.when(request > 0).then(request).otherwise(nw.lit(NO_REQUEST)).alias("requested"),
    )
    return base.with_columns(
        (nw.col("v") * nw.col("w")).alias("value"),
        (nw.col("c") * nw.col("w")).alias("cost"),
        nw.col("x").abs().alias("absolute"),
        (nw.col("x").abs() * nw.col("w")).alias("size"),
    )


def _measures(place: Place, base: Frame, roles: Roles, n: int) -> Measures:
    """Choose the grids of the sums from the extremes of the numbers, as `memory.tabulate_frame` does."""
    wanted = {"value": "value", "shadow": "absolute", "size": "size", "cost": "cost", "weight": "w"}
    columns = {"signed": (nw.col("x") < 0).any()}
    for name, column in wanted.items():
        x = nw.col(column).abs()
        columns[f"most {name}"] = x.max()
        columns[f"least {name}"] = nw.when(x != 0).then(x).min()
        for scale in SCALES:
            fits = ((x * scale).round(0) / scale == x) & (x * scale < LARGEST)
            columns[f"{scale} {name}"] = fits.all()
    found = place.take(base.select(*(column.alias(name) for name, column in columns.items()))).to_pylist()[0]

    def limbs(name: str, fractions: bool = False) -> Limbs:
        scale = next((s for s in SCALES if found[f"{s} {name}"] and not fractions), None)
        least = found[f"least {name}"]
        return Limbs.over(n, float(found[f"most {name}"]), np.inf if least is None else float(least), scale)

    return Measures(
        value=limbs("value"),
        shadow=limbs("shadow"),
        cost=limbs("cost") if roles.cost is not None else Limbs((1.0,)),
        weighted_shadow=limbs("size"),
        weight=limbs("weight", fractions=True) if roles.weight is not None else Limbs((1.0,)),
        size=limbs("size", fractions=True),
        weighted=roles.weight is not None,
        lightest=None if roles.weight is None else float(found["least weight"] or np.inf),
        signed=bool(found["signed"]),
        top=roles.top,
    )


def _with_limbs(base: Frame, roles: Roles, measures: Measures) -> Frame:
    base = split(base, measures.value, "value", "value")
    base = split(base, measures.total, "size", "total")
    base = split(base, measures.shadow, "x", "shadow")
    if roles.cost is not None:
        base = split(base, measures.cost, "cost", "cost")
    if measures.weighted:
        base = split(base, measures.shadow, "absolute", "absolute")
        base = split(base, measures.weighted_shadow, "size", "weighted")
    return base


def _totals(place: Place, base: Frame, roles: Roles, measures: Measures) -> tuple[Ints, Totals]:
    """Return the leaf cells that hold records, ascending, and the sums over their records."""
    sums = [*names(measures.value, "value"), *names(measures.total, "total")]
    sums += names(measures.cost, "cost") if roles.cost is not None else []
    negative = ((nw.col("v") < 0) | (nw.col("x") < 0)).any().alias("negative")
    found = place.take(base.group_by("cell").agg(negative, *(nw.col(name).sum() for name in sums)).sort("cell"))
    return found.column("cell").to_numpy().astype(np.int64), Totals(
        limbs_of(found, measures.value, "value"),
        limbs_of(found, measures.cost, "cost") if roles.cost is not None else np.zeros((found.num_rows, 0)),
        limbs_of(found, measures.total, "total"),
        np.asarray(found.column("negative").to_numpy()).astype(bool),
    )


def _entries(place: Place, base: Frame, roles: Roles, grid: Grid, measures: Measures) -> Frame:
    """Return what each holder contributes to each leaf cell (see `Entries`), and in how many cells he is."""
    leaves = [f"l{k}" for k in range(len(grid.hierarchies))]
    base = base.with_columns(
        nw.col("w").alias("light"),
        nw.col("w").alias("heavy"),
        (nw.col("x") < 0).alias("below"),
        (nw.col("x") > 0).alias("above"),
    )
    columns = _entry_columns(measures)
    if roles.contributor is None and roles.holding is None:
        return base.select(*leaves, "cell", "holder", *columns, nw.lit(1).alias("cells"))
    grouped = base.group_by(*leaves, "cell", "holder").agg(*map(_together, columns))
    return place.keep(grouped.with_columns(nw.col("cell").count().over("holder").alias("cells")))


def _entry_columns(measures: Measures) -> list[str]:
    columns = names(measures.shadow, "shadow")
    if measures.weighted:
        columns += [*names(measures.shadow, "absolute"), *names(measures.weighted_shadow, "weighted")]
    return [*columns, *_TOGETHER]


def _together(column: str) -> nw.Expr:
    expression: nw.Expr = getattr(nw.col(column), _TOGETHER.get(column, "sum"))()
    return expression


def _shared(
    place: Place, entries: Frame, grid: Grid, levels: Sequence[Level], alone: Sequence[Ranking], measures: Measures
) -> list[Ranking]:
    """Rank the holders who contribute to several leaf cells, in all cells of all levels, and add the others."""
    for k, (hierarchy, place_of, stride) in enumerate(zip(grid.hierarchies, grid.cell_code, grid.strides, strict=True)):
        above = np.concatenate(hierarchy.layers)
        leaf = np.tile(np.arange(len(hierarchy.leaves)), len(hierarchy.layers))
        there = above >= 0
        up = pa.table({f"l{k}": leaf[there], f"k{k}": place_of[above[there]] * int(stride)})
        entries = entries.join(place.lend(up), on=f"l{k}", how="inner")
    key = reduce(lambda a, b: a + b, (nw.col(f"k{k}") for k in range(len(grid.hierarchies))))
    everywhere = entries.with_columns(key.alias("key")).group_by("key", "holder")
    keys = np.concatenate([level.keys for level in levels])
    order = np.argsort(keys)
    shared = largest(place, everywhere.agg(*map(_together, _entry_columns(measures))), "key", keys[order], measures)
    number = np.empty(len(keys), dtype=np.int64)
    number[order] = np.arange(len(keys))
    starts = np.cumsum([0, *(len(level.keys) for level in levels)])
    return [
        Ranking.merge([ranking, shared.at(number[start:end])], measures.top)
        for ranking, start, end in zip(alone, starts[:-1], starts[1:], strict=True)
    ]


def _names(place: Place, data: Frame, roles: Roles, ids: Mapping[str, nw.Expr], rows: Ints) -> Sequence[str]:
    """Return the names of holders, given by their first rows."""
    if not ids or not len(rows):
        return [roles.holder_name(None, None, int(row)) for row in rows]
    found = data.join(place.lend(pa.table({"row": rows})), on="row", how="inner")
    columns = [ids[name].alias(role) for role, name in _roles_of(roles).items()]
    taken = place.take(found.select("row", *columns).sort("row")).to_pylist()

    def text(row: Mapping[str, Any], role: str) -> str | None:
        return None if row.get(role) is None else id_text(row[role])

    return [roles.holder_name(text(row, "above"), text(row, "own"), int(row["row"])) for row in taken]


def _roles_of(roles: Roles) -> dict[str, str]:
    named = {"above": roles.holding, "own": roles.contributor}
    return {role: name for role, name in named.items() if name is not None}
