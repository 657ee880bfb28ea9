"""Published values in rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from tabprotect.errors import InputError, as_items, did_you_mean
from tabprotect.report.public import PublicTable
from tabprotect.table.table import Table

__all__ = ["laid_out"]


def laid_out(
    table: Table, public: PublicTable, rows: Sequence[str] | str | None, columns: Sequence[str] | str | None
) -> Any:
    """Return published values as the crosstab that came in, or with these dimensions in rows and columns.

    Parameters
    ----------
    table : Table
    public : PublicTable
    rows, columns : sequence of str, optional

    Raises
    ------
    InputError
        If the dimensions are not those of the table, or it is several linked ones.
    """
    if table.parts:
        raise InputError("linked tables have no crosstab of their own: lay out each part of .published")
    names = [name for name in public.frame.columns if name not in (public.value, public.status)]
    if rows is None and columns is None:
        if table.wide is None:
            raise InputError(
                f"which dimensions are rows, and which columns? crosstab(rows=[...], columns=[...]): {names}"
            )
        given = table.rows[names].iloc[: len(table.wide.row)].astype(str)
        shown = public.frame.set_index(names)[public.value]
        keys = pd.MultiIndex.from_frame(given) if len(names) > 1 else pd.Index(given[names[0]])
        return table.wide.lay_out(shown.reindex(keys))
    down, across = _named(rows), _named(columns)
    for name in (*down, *across):
        if name not in names:
            raise InputError(f"there is no dimension '{name}'{did_you_mean(name, names)}")
    if sorted((*down, *across)) != sorted(names) or not down:
        raise InputError(f"rows and columns together name every dimension once: {', '.join(names)}")
    if not across:
        return public.frame.set_index(down)[[public.value]]
    orders = {name: list(dict.fromkeys(public.frame[name])) for name in names}
    frame = public.frame.assign(**{name: pd.Categorical(public.frame[name], orders[name]) for name in names})
    wide = frame.pivot(index=down, columns=across, values=public.value).sort_index().sort_index(axis=1)
    return _plain(wide)


def _named(given: Sequence[str] | str | None) -> list[str]:
    if given is None:
        return []
    return list(as_items([given] if isinstance(given, str) else given, str, "rows and columns", "names of dimensions"))


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose labels are text again, not categories."""
    made = frame.copy()
    for axis in (0, 1):
        labels = made.axes[axis]
        if isinstance(labels, pd.MultiIndex):
            arrays = [labels.get_level_values(k).astype(str) for k in range(labels.nlevels)]
            made = made.set_axis(pd.MultiIndex.from_arrays(arrays, names=labels.names), axis=axis)
        else:
            made = made.set_axis(labels.astype(str).rename(labels.name), axis=axis)
    return made
