"""Tabulation in DuckDB, for files and relations that need not fit into memory.

DuckDB compacts the records to one entry per leaf cell and holder (`Entries`), and hands these over in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tabprotect.errors import collect
from tabprotect.sums import LARGEST, SCALES, Limbs
from tabprotect.table.duck import DuckSource, in_pieces, literal
from tabprotect.table.grid import Grid
from tabprotect.table.levels import Measures, Totals, levels_of
from tabprotect.table.tabulate.duck_columns import check_ids, flag, identity, number, resolve
from tabprotect.table.tabulate.entries import Entries
from tabprotect.table.tabulate.ranking import NO_REQUEST, Ranking, rank
from tabprotect.table.tabulate.roles import Roles, Tabulated
from tabprotect.table.tabulate.rollup import roll_up

__all__ = ["tabulate_duckdb"]

Ints = npt.NDArray[np.int64]

WIDE = 4
"""Pieces of entries of holders with several are so many times larger: every one goes through all levels."""


def tabulate_duckdb(source: DuckSource, roles: Roles) -> Tabulated:
    """Tabulate data whose columns are known to be there."""
    columns = source.keep(roles.columns)
    with collect() as problems:
        n = int(source.rows("SELECT count(*) FROM records")[0][0])
        if n == 0:
            problems.add("the data hold no records")
        dimensions, joins = [], []
        for k, wanted in enumerate(roles.by):
            dimension, join = resolve(source, k, wanted, [columns[name] for name in wanted.columns], problems)
            dimensions.append(dimension)
            joins.append(join)
        numbers = {name: number(source, columns[name], roles, problems) for name in roles.numbers}
        flags = {
            name: flag(source, columns[name], most, problems)
            for name, most in ((roles.waiver, 1), (roles.request, 2))
            if name is not None
        }
        for name in (roles.contributor, roles.holding):
            if name is not None and columns[name].nested:
                problems.add(f"column '{name}' must hold ids, but holds values of type {columns[name].type}")
        problems.raise_if_any()
        ids = {name: identity(columns[name]) for name in (roles.contributor, roles.holding) if name is not None}
        check_ids(source, roles, ids, problems)
    grid = Grid(tuple(d.known for d in dimensions), tuple(d.name for d in dimensions))
    _make_base(source, roles, grid, joins, numbers, flags, ids)
    measures = _measures(source, roles)
    cells, totals = _totals(source, roles, measures)
    leaf_cells = np.unravel_index(cells, [len(h.leaves) for h in grid.hierarchies])
    levels = levels_of([np.asarray(c) for c in leaf_cells], grid)
    grouped = _make_entries(source, roles, measures)
    alone = Ranking.nothing(len(cells), measures)
    for piece in _alone(source, measures, cells):
        alone = rank(piece, piece.cell, len(cells), measures, alone)
    summary = roll_up(totals, alone, _shared(source, measures, cells) if grouped else [], levels, measures)
    rows = np.unique(summary.best.holder)
    names = _names(source, roles, ids, rows)

    def name_holders(holders: Ints) -> Sequence[str]:
        return [names[i] for i in np.searchsorted(rows, holders)]

    return Tabulated(tuple(dimensions), grid, summary, measures, name_holders)


def _make_base(
    source: DuckSource,
    roles: Roles,
    grid: Grid,
    joins: list[str],
    numbers: dict[str, str],
    flags: dict[str, str],
    ids: dict[str, str],
) -> None:
    """Make the table ``base``: leaf cell and numbers of every record, and who it belongs to (h0, h1)."""
    shape = [len(h.leaves) for h in grid.hierarchies]
    cell = " + ".join(f"l{k}.leaf * {prod(shape[k + 1 :])}" for k in range(len(shape)))
    above, own = (ids.get(name or "") for name in (roles.holding, roles.contributor))
    if above is not None:
        # who is in no holding stands for himself
        own = f"(CASE WHEN {above} IS NULL THEN {own or 'r.rowid'} END)"
    keys = [key for key in (above, own) if key is not None]
    named = "".join(f", {key} AS h{i}" for i, key in enumerate(keys))
    one = "1.0::DOUBLE"
    value = one if roles.value is None else numbers[roles.value]
    shadow = value if roles.shadow is None else numbers[roles.shadow]
    weight = one if roles.weight is None else numbers[roles.weight]
    cost = "0.0::DOUBLE" if roles.cost is None else numbers[roles.cost]
    request = flags.get(roles.request or "", "0")
    source.query(
        f"CREATE TEMP TABLE base AS SELECT {cell} AS cell, r.rowid AS row{named}, {value} AS v, {shadow} AS x, "
        f"{weight} AS w, {cost} AS c, {flags.get(roles.waiver or '', '0')} = 1 AS waived, "
        f"(CASE WHEN {request} > 0 THEN {request} ELSE {NO_REQUEST} END)::TINYINT AS requested "
        f"FROM records r{''.join(joins)}"
    )


def _measures(source: DuckSource, roles: Roles) -> Measures:
    """Choose the grids of the sums from the extremes of the numbers, as `memory.tabulate_frame` does."""
    weighted = roles.weight is not None
    wanted = {"value": "v * w", "shadow": "x", "size": "x * w"}
    if roles.cost is not None:
        wanted["cost"] = "c * w"
    if weighted:
        wanted["weight"] = "w"
    sizes = ", ".join(f"abs({expression}) AS {name}" for name, expression in wanted.items())
    columns = ["count(*)", "coalesce(bool_or(x < 0), false)"]
    for name in wanted:
        columns += [f"max({name})", f"min({name}) FILTER ({name} <> 0)"]
        columns += [
            f"bool_and(round({name} * {s!r}::DOUBLE) / {s!r}::DOUBLE = {name} AND {name} * {s!r}::DOUBLE < {LARGEST!r})"
            for s in SCALES
        ]
    n, signed, *found = source.rows(f"SELECT {', '.join(columns)} FROM (SELECT x, {sizes} FROM base)")[0]
    each = 2 + len(SCALES)
    extremes = {name: found[i * each : (i + 1) * each] for i, name in enumerate(wanted)}

    def limbs(name: str, fractions: bool = False) -> Limbs:
        if name not in extremes:
            return Limbs((1.0,))
        largest, smallest, *fits = extremes[name]
        scale = next((scale for scale, fit in zip(SCALES, fits, strict=True) if fit and not fractions), None)
        return Limbs.over(int(n), float(largest), float(smallest or np.inf), scale)

    return Measures(
        value=limbs("value"),
        shadow=limbs("shadow"),
        cost=limbs("cost"),
        weighted_shadow=limbs("size"),
        weight=limbs("weight", fractions=True),
        size=limbs("size", fractions=True),
        weighted=weighted,
        lightest=float(extremes["weight"][1] or np.inf) if weighted else None,
        signed=bool(signed),
        top=roles.top,
    )


def _steps(sums: Sequence[tuple[str, Limbs, str]]) -> tuple[str, list[str]]:
    """Return ``base`` with the limbs of expressions as further columns, and the names of these."""
    steps = [step for expression, limbs, name in sums for step in limbs.sql(expression, name)]
    more = "".join(f", {expression} AS {name}" for name, expression in steps)
    return f"(SELECT *{more} FROM base)", [name for name, _ in steps]


def _limbs(table: pa.Table, name: str, limbs: Limbs) -> npt.NDArray[np.float64]:
    return np.column_stack([table.column(f"{name}_{i}").to_numpy() for i in range(len(limbs.quanta))])


def _totals(source: DuckSource, roles: Roles, measures: Measures) -> tuple[Ints, Totals]:
    """Return the leaf cells that hold records, ascending, and the sums over their records."""
    sums = [("v * w", measures.value, "value"), ("abs(x) * w", measures.total, "total")]
    if roles.cost is not None:
        sums.append(("c * w", measures.cost, "cost"))
    split, names = _steps(sums)
    added = ", ".join(f"sum({name}) AS {name}" for name in names)
    table = source.query(
        f"SELECT cell, bool_or(v < 0 OR x < 0) AS negative, {added} FROM {split} GROUP BY cell ORDER BY cell"
    ).to_arrow_table()
    cost = np.zeros((table.num_rows, 0)) if roles.cost is None else _limbs(table, "cost", measures.cost)
    return table.column("cell").to_numpy().astype(np.int64), Totals(
        _limbs(table, "value", measures.value),
        cost,
        _limbs(table, "total", measures.total),
        table.column("negative").to_numpy().astype(bool),
    )


def _make_entries(source: DuckSource, roles: Roles, measures: Measures) -> bool:
    """Make the tables ``alone`` and ``shared`` of entries (see `Entries`); return whether holders may have several."""
    sums = [("x", measures.shadow, "shadow")]
    if measures.weighted:
        sums += [("abs(x)", measures.shadow, "absolute"), ("abs(x) * w", measures.weighted_shadow, "weighted")]
    split, names = _steps(sums)
    # name, expression for one record, and how records of one holder are put together
    parts = [(name, name, "sum") for name in names]
    if measures.weighted:
        parts += [("light", "w", "min"), ("heavy", "w", "max")]
    if measures.signed:
        parts += [("below", "x < 0", "bool_or"), ("above", "x > 0", "bool_or")]
    if roles.waiver is not None:
        parts.append(("waived", "waived", "bool_and"))
    if roles.request is not None:
        parts.append(("requested", "requested", "min"))
    keys = (
        [] if roles.contributor is None and roles.holding is None else ["h0"] if roles.holding is None else ["h0", "h1"]
    )
    if not keys:
        columns = ", ".join(f"{expression} AS {name}" for name, expression, _ in parts)
        source.query(f"CREATE TEMP VIEW alone AS SELECT cell, row AS holder, {columns} FROM {split}")
        return False
    columns = ", ".join(f"{together}({expression}) AS {name}" for name, expression, together in parts)
    by = ", ".join(keys)
    source.query(
        f"CREATE TEMP TABLE entries AS SELECT cell, {by}, min(row) AS holder, {columns} "
        f"FROM {split} GROUP BY cell, {by}"
    )
    source.query("DROP TABLE base")
    # holders are named by the first of their records
    source.query(
        f"CREATE TEMP TABLE several AS SELECT {by}, min(holder) AS holder "
        f"FROM entries GROUP BY {by} HAVING count(*) > 1"
    )
    same = " AND ".join(f"e.{key} IS NOT DISTINCT FROM s.{key}" for key in keys)
    known = ", ".join(f"e.{name}" for name, _, _ in parts)
    source.query(
        f"CREATE TEMP TABLE shared AS SELECT e.cell, s.holder, {known} FROM entries e JOIN several s ON {same}"
    )
    source.query(
        f"CREATE TEMP VIEW alone AS SELECT e.cell, e.holder, {known} FROM entries e ANTI JOIN several s ON {same}"
    )
    return True


def _alone(source: DuckSource, measures: Measures, cells: Ints) -> Iterator[Entries]:
    """Yield the entries of holders with one entry, in pieces."""
    for batch in in_pieces(source.query("SELECT * FROM alone"), source.piece):
        yield _piece(pa.Table.from_batches([batch]), cells, measures)


def _shared(source: DuckSource, measures: Measures, cells: Ints) -> Iterator[Entries]:
    """Yield the entries of holders with several entries, in pieces, each holder in one."""
    count = int(source.rows("SELECT count(*) FROM shared")[0][0])
    pieces = -(-count // (WIDE * source.piece))
    for piece in range(pieces):
        table = source.query(f"SELECT * FROM shared WHERE hash(holder) % {pieces} = {piece}").to_arrow_table()
        entries = _piece(table, cells, measures)
        yield Entries.of(entries.cell, entries.holder, entries.columns, compacted=True)


def position_in(cells: Ints, wanted: Ints) -> npt.NDArray[Any]:
    """Return the positions of cells in an ascending list that has them all."""
    most = int(cells[-1]) + 1 if len(cells) else 0
    if most > 64 * len(cells) + 1_000_000:
        return np.searchsorted(cells, wanted)
    place = np.zeros(most, dtype=np.int32)
    place[cells] = np.arange(len(cells))
    return place[wanted]


def _piece(table: pa.Table, cells: Ints, measures: Measures) -> Entries:
    columns: dict[str, npt.NDArray[Any]] = {
        name: _limbs(table, name, limbs)
        for name, limbs in (
            ("shadow", measures.shadow),
            ("absolute", measures.shadow),
            ("weighted", measures.weighted_shadow),
        )
        if f"{name}_0" in table.column_names
    }
    for name in ("light", "heavy", "below", "above", "waived", "requested"):
        if name in table.column_names:
            columns[name] = np.asarray(table.column(name).to_numpy())
    cell = position_in(cells, table.column("cell").to_numpy())
    return Entries(cell.astype(np.int32), table.column("holder").to_numpy().astype(np.int64), columns)


def _names(source: DuckSource, roles: Roles, ids: dict[str, str], rows: Ints) -> Sequence[str]:
    """Return the names of holders, given by their first rows; as `Roles.holder_name`."""
    if not ids:
        return [roles.holder_name(None, None, int(row)) for row in rows]
    above, own = (ids.get(name or "") for name in (roles.holding, roles.contributor))
    name = "'row ' || (r.rowid + 1)" if own is None else _text(own)
    if own is not None and above is not None:
        name = f"{literal(f'{roles.contributor} ')} || {name}"
    if above is not None:
        name = f"coalesce({_text(above)}, {name})"
    with source.lend("wanted", pa.table({"first": rows})):
        found = source.query(
            f"SELECT {name} AS name FROM records r JOIN wanted ON r.rowid = wanted.first ORDER BY r.rowid"
        ).to_arrow_table()
    names: list[str] = found.column("name").to_pylist()
    return names


def _text(expression: str) -> str:
    """Return the SQL of an id as text; whole numbers without a decimal point."""
    whole = f"try_cast({expression} AS HUGEINT)"
    number = f"typeof({expression}) IN ('DOUBLE', 'FLOAT') AND {whole} = {expression}"
    return f"(CASE WHEN {number} THEN {whole}::VARCHAR ELSE ({expression})::VARCHAR END)"
