"""Linked tables: tables that share cells become one system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems, as_number, collect, did_you_mean
from tabprotect.table.additivity import NOISE, beyond_noise
from tabprotect.table.codes import some
from tabprotect.table.link.groupings import without_codes
from tabprotect.table.link.shared import SharedCells, named_tables
from tabprotect.table.table import Contributions, Table

__all__ = ["link"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def link(
    tables: Sequence[Table] | Mapping[str, Table],
    *,
    measure: str | Mapping[str, str] | None = None,
    tolerance: float | None = None,
    unpublished: Mapping[str, Iterable[Any]] | None = None,
) -> Table:
    """Make one system of tables that share cells.

    Two cells are the same variable when they have the same codes in all dimensions. A dimension that a table has not
    counts as the total of that dimension, so a table by A and B shares with one by A and C the cells with B = total and
    C = total. Cells that are equal within one table (a code with one part) stay equal.

    Parameters
    ----------
    tables : sequence of Table, or mapping of str to Table
        Dimensions are matched by name, and codes as text. Without names the tables are called 'table1', 'table2', ...
    measure : str or mapping of str to str, optional
        Name of the common value, where the tables call it differently. Or the measure of every table, by the name of
        the table: those of different measures share no cells (the measure is then one more dimension).
    tolerance : float, optional
        How far numbers of one cell may differ between tables because they are rounded, in the unit of the values; by
        default only noise of floating-point arithmetic is accepted. The first table wins.
    unpublished : mapping of str to codes, optional
        Codes, by dimension, whose cells nobody publishes: they are hidden whatever it costs. Where tables group the
        same codes differently, these codes below all groups tie the tables together, so that what differences between
        the groups tell is audited, too.

    Returns
    -------
    Table
        Cells over all dimensions; ``rows`` are those of all tables, with their name in the column ``table``; the
        dimensions of each are in ``parts``.

    Raises
    ------
    InputError
        Names the cells in which tables disagree, and the differences.

    Examples
    --------
    >>> ab = pd.DataFrame({"a": ["Total", "1", "2"], "v": [9.0, 5.0, 4.0]})
    >>> ac = pd.DataFrame({"c": ["Total", "x", "y"], "v": [9.0, 2.0, 7.0]})
    >>> both = link({"by a": Table.from_cells(ab, "a", "v"), "by c": Table.from_cells(ac, "c", "v")})
    >>> both.system.cells.tolist()
    [('Total', 'Total'), ('Total', 'x'), ('Total', 'y'), ('1', 'Total'), ('2', 'Total')]
    >>> both.row_cell.tolist()
    [0, 3, 4, 0, 1, 2]
    """
    named = named_tables(tables, "link")
    with collect() as problems:
        measures = _measures(named, measure, problems)
        _check(named, measures, problems)
    names = {t.value_name for t in named.values()} if isinstance(measure, Mapping) else set(measures.values())
    name = names.pop() if len(names) == 1 else "value"
    shared = SharedCells.of(named, measures)
    given = list(named.values())
    with collect() as problems:
        merge = _Merge(shared, problems, tolerance)
        values = merge.numbers("value", [t.values for t in given])
        assert values is not None
        counts = merge.numbers("count", [t.counts for t in given])
        weighted = merge.numbers("weighted count", [t.weighted_counts for t in given])
        columns = {
            column: merge.column(column, [t.columns.get(column) for t in given])
            for column in dict.fromkeys(column for t in given for column in t.columns)
        }
        merge.mark_absent(values, columns)
        contributions = merge.contributions([t.contributions for t in given])
        missing = merge.column("missing", [t.missing for t in given])
    system = shared.system([t.system for t in given])
    held = {table: t.holdings for table, t in named.items() if t.holdings is not None}
    if held and len(held) < len(named):
        raise InputError(f"the contributions of holdings are in {some(list(held))} only; give them for all tables")
    linked = Table(
        system=system,
        values=values,
        counts=counts,
        weighted_counts=weighted,
        contributions=contributions,
        missing=missing if any(t.missing is not None for t in given) else None,
        columns=columns,
        rows=_rows(named, name),
        row_cell=np.concatenate([cell[t.row_cell] for t, cell in zip(given, shared.cell, strict=True)]),
        kind=given[0].kind,
        value_name=name,
        residual=beyond_noise(system, values, system.residuals(values)),
        backend=given[0].backend,
        parts={key: t.dimensions for key, t in named.items()},
        empty_shown=all(t.empty_shown for t in given),
        empty_shown_in=frozenset(key for key, t in named.items() if t.empty_shown),
        roles={role: name for role, name in given[0].roles.items() if all(t.roles.get(role) == name for t in given)},
        recognised=tuple(dict.fromkeys(one for t in given for one in t.recognised)),
        holdings=link(held, measure=measure, tolerance=tolerance) if held else None,
    )
    return linked if unpublished is None else without_codes(linked, unpublished)


def _measures(
    tables: Mapping[str, Table], measure: str | Mapping[str, str] | None, problems: Problems
) -> dict[str, str]:
    """Return what every table measures."""
    if not tables:
        raise InputError("nothing to link: give at least one table")
    if isinstance(measure, str):
        return dict.fromkeys(tables, measure)
    names = {table: t.value_name for table, t in tables.items()}
    if isinstance(measure, Mapping):
        for table in measure:
            if table not in tables:
                problems.add(f"measure names the table '{table}'{did_you_mean(table, tables)}")
        return {**names, **{table: name for table, name in measure.items() if table in tables}}
    if measure is not None:
        problems.add(f"measure must be a name, or one for every table, not {measure!r}")
    different = list(dict.fromkeys(names.values()))
    if len(different) > 1:
        problems.add(
            f"the tables have different measures: {some([repr(n) for n in different])}; pass measure='name' if they "
            "are one and the same, or say what each of them measures: measure={'table': 'name', ...}"
        )
    return names


def _check(tables: Mapping[str, Table], measures: Mapping[str, str], problems: Problems) -> None:
    for name, t in tables.items():
        if not t.dimensions:
            problems.add(f"table '{name}' has no dimensions (it is linked already, or built from equations)")
        if "table" in t.rows.columns:
            problems.add(f"table '{name}' has a column 'table', which linked tables need for the name of the table")
    if len({t.kind for t in tables.values()}) > 1:
        problems.add("magnitude and frequency tables cannot be linked: their cells mean different things")
    if len(set(measures.values())) > 1 and any(d.name == "measure" for t in tables.values() for d in t.dimensions):
        problems.add("a dimension is called 'measure', which linked tables of several measures need; rename it")


def _rows(tables: Mapping[str, Table], name: str) -> pd.DataFrame:
    parts = []
    for table, t in tables.items():
        rows = t.rows.rename(columns={t.value_name: name})
        rows.insert(0, "table", [table] * len(rows))
        parts.append(rows)
    return pd.concat(parts, ignore_index=True)


class _Merge:
    """Merges what the tables say of their cells; the first table that says something wins, the others must agree."""

    def __init__(self, shared: SharedCells, problems: Problems, tolerance: float | None) -> None:
        self.shared = shared
        self.problems = problems
        self.tolerance = 0.0 if tolerance is None else as_number(tolerance, "tolerance")

    def numbers(self, what: str, arrays: Sequence[Floats | None], everywhere: bool = True) -> Floats | None:
        """Merge numbers; unless said otherwise every cell must have one, or none of them."""
        if not any(array is not None for array in arrays):
            return None
        merged, source = self._first([None if a is None else (a, ~np.isnan(a)) for a in arrays], np.nan)
        if everywhere:
            self._complete(what, source, arrays)
        for number, array in enumerate(arrays):
            if array is not None:
                before = merged[self.shared.cell[number]]
                size = np.maximum(np.abs(array), np.abs(before))
                self._agree(what, number, array, source, np.abs(array - before) > self.tolerance + NOISE * size, merged)
        return merged

    def column(self, name: str, arrays: Sequence[npt.NDArray[Any] | None]) -> npt.NDArray[Any]:
        """Merge a column that may say nothing of some cells; a cost has to be there for all."""
        if name == "cost":
            cost = self.numbers("cost", arrays)
            assert cost is not None
            return cost
        if name == "status":
            # 's' only says that nobody has marked the cell
            merged, source = self._first([None if a is None else (a, ~np.isin(a, ("", "s"))) for a in arrays], "")
            for number, array in enumerate(arrays):
                if array is not None:
                    before = merged[self.shared.cell[number]]
                    self._agree(name, number, array, source, ~np.isin(array, ("", "s")) & (array != before), merged)
                    merged[self.shared.cell[number][(array == "s") & (before == "")]] = "s"
            return merged
        if all(array is None or array.dtype == bool for array in arrays):
            return self._first([None if a is None else (a, a) for a in arrays], False)[0]
        merged, source = self._first([None if a is None else (a, ~np.isnan(a)) for a in arrays], np.nan)
        for number, array in enumerate(arrays):
            if array is not None:
                bad = ~np.isclose(array, merged[self.shared.cell[number]], rtol=NOISE, atol=self.tolerance)
                self._agree(name, number, array, source, bad & ~np.isnan(array), merged)
        return merged

    def mark_absent(self, values: Floats, columns: dict[str, npt.NDArray[Any]]) -> None:
        """Mark cells that a table leaves out as known to be zero ('z'), and note those that are not zero elsewhere."""
        known = np.zeros(self.shared.n, dtype=bool)
        status = columns.get("status", np.full(self.shared.n, "", dtype=object))
        for name, absent in zip(self.shared.names, self.shared.absent, strict=True):
            known[absent] = True
            hidden = np.isin(status[absent], ("u", "m"))
            bad = absent[(np.abs(values[absent]) > self.tolerance) | hidden]
            if len(bad):
                cells = [f"{self.shared.label(int(i))} ({values[i]:g} {status[i]}".rstrip() + ")" for i in bad]
                self.problems.add(
                    f"table '{name}' has no row for {counted(len(bad), 'cell')}, so everybody knows that "
                    f"{'it is' if len(bad) == 1 else 'they are'} zero, but other "
                    f"tables have a value or a status for them: {some(cells)}"
                )
        if known.any():
            columns["status"] = np.where(known, "z", status)

    def contributions(self, given: Sequence[Contributions | None]) -> Contributions | None:
        """Merge the largest contributions, as many per cell as all tables have."""
        there = [c for c in given if c is not None]
        if not there:
            return None
        if len({c.shadow for c in there}) > 1:
            names = [repr(c.shadow or "the value") for c in there]
            self.problems.add(
                f"the largest contributions are of different variables: {some(list(dict.fromkeys(names)))}"
            )
        top = min(c.values.shape[1] for c in there)
        known = list(dict.fromkeys(name for c in there for name in c.names))
        place = {name: i for i, name in enumerate(known)}
        total = self.numbers("sum of contributions", [None if c is None else c.total for c in given])
        assert total is not None
        for rank in range(top):
            ranked = [None if c is None else c.values[:, rank] for c in given]
            self.numbers(f"contribution number {rank + 1}", ranked, everywhere=False)
        n = self.shared.n
        merged = Contributions(
            total,
            np.zeros((n, top)),
            np.zeros((n, top)),
            np.full((n, top), -1, dtype=np.int64),
            np.zeros((n, top), dtype=bool),
            np.zeros((n, top), dtype=np.int8),
            np.zeros(n),
            np.full(n, -1, dtype=np.int64),
            np.array(known, dtype=object),
            there[0].shadow,
            min((c.lightest for c in there if c.lightest is not None), default=None),
        )
        for number in reversed(range(len(given))):
            c, cell = given[number], self.shared.cell[number]
            if c is None:
                continue
            who = np.array([*(place[name] for name in c.names), -1], dtype=np.int64)
            merged.values[cell] = c.values[:, :top]
            merged.weights[cell] = c.weights[:, :top]
            merged.holders[cell] = who[c.holders[:, :top]]
            merged.waived[cell] = c.waived[:, :top]
            merged.requested[cell] = c.requested[:, :top]
            merged.unwaived[cell] = c.unwaived
            merged.unwaived_holder[cell] = who[c.unwaived_holder]
        return merged

    def _first(
        self, said: Sequence[tuple[npt.NDArray[Any], npt.NDArray[np.bool_]] | None], nothing: Any
    ) -> tuple[npt.NDArray[Any], Ints]:
        """Return for every cell what the first table says that says something, and which table that is (-1 none)."""
        dtype = next(array.dtype for array, _ in filter(None, said)) if any(said) else np.dtype(bool)
        merged = np.full(self.shared.n, nothing, dtype=dtype)
        source = np.full(self.shared.n, -1, dtype=np.int64)
        for number in reversed(range(len(said))):
            one = said[number]
            if one is not None:
                array, speaks = one
                cell = self.shared.cell[number][speaks]
                merged[cell] = array[speaks]
                source[cell] = number
        return merged, source

    def _complete(self, what: str, source: Ints, arrays: Sequence[Any]) -> None:
        if (source < 0).any():
            without = [repr(name) for name, array in zip(self.shared.names, arrays, strict=True) if array is None]
            cells = [self.shared.label(int(i)) for i in np.flatnonzero(source < 0)[:3]]
            self.problems.add(
                f"there is no {what} of {counted(int((source < 0).sum()), 'cell')} ({', '.join(cells)}), "
                f"since {some(without)} "
                "have none; give it for all tables or for none"
            )

    def _agree(
        self,
        what: str,
        number: int,
        array: npt.NDArray[Any],
        source: Ints,
        bad: npt.NDArray[np.bool_],
        merged: npt.NDArray[Any],
    ) -> None:
        where = np.flatnonzero(bad)
        if not len(where):
            return
        cells = self.shared.cell[number][where]
        words = []
        for i, cell in list(zip(where, cells, strict=True))[:5]:
            first, here = merged[cell], array[i]
            off = f", a difference of {here - first:g}" if not isinstance(here, str) else ""
            words.append(
                f"{self.shared.label(int(cell))} ({first} in '{self.shared.names[source[cell]]}', {here} here{off})"
            )
        more = f" and {len(where) - 5} more" if len(where) > 5 else ""
        self.problems.add(
            f"table '{self.shared.names[number]}' disagrees with earlier tables in the {what} of "
            f"{counted(len(where), 'cell')}: "
            f"{', '.join(words)}{more}"
        )
