"""`Limbs` and `rank` as expressions over columns of a lazy frame: the same steps on the same floats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tabprotect.sums import Limbs
from tabprotect.table.levels import Measures
from tabprotect.table.tabulate.ranking import Candidates, Ranking

if TYPE_CHECKING:
    from tabprotect.table.tabulate.place import Place

__all__ = ["absolute", "largest", "limbs_of", "names", "split"]

Frame = nw.LazyFrame[Any]
Ints = npt.NDArray[np.int64]

_NONE: Final = Candidates(
    np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros(0, bool), np.zeros(0, np.int8)
)


def names(limbs: Limbs, name: str) -> list[str]:
    """Return the columns that hold the limbs of one number."""
    return [f"{name}_{i}" for i in range(len(limbs.quanta))]


def split(frame: Frame, limbs: Limbs, number: str, name: str) -> Frame:
    """Add the columns of the limbs of a number, as `Limbs.split`."""
    x = nw.col(number)
    frame = frame.with_columns((x * limbs.scale).round(0).alias("rest") if limbs.decimal else x.alias("rest"))
    for column, quantum in zip(names(limbs, name), limbs.quanta, strict=True):
        times = nw.col("rest") / quantum
        whole = nw.when(times < 0).then(times.ceil()).otherwise(times.floor())
        frame = frame.with_columns((whole * quantum).cast(nw.Float64).alias(column))
        frame = frame.with_columns((nw.col("rest") - nw.col(column)).alias("rest"))
    return frame.drop("rest")


def absolute(frame: Frame, limbs: Limbs, name: str, to: str) -> Frame:
    """Add the absolute value of the number whose limbs (or sums of limbs) are given, as `abs(Limbs.join)`."""
    columns = names(limbs, name)
    carried = [f"carried_{i}" for i in range(len(columns))]
    frame = frame.with_columns(*(nw.col(old).alias(new) for old, new in zip(columns, carried, strict=True)))
    frame = _carry(frame, limbs, carried).with_columns((nw.col(carried[0]) < 0).alias("negative_sum"))
    turned = (nw.when(nw.col("negative_sum")).then(-nw.col(c)).otherwise(nw.col(c)).alias(c) for c in carried)
    # what was not negative is carried already: doing that again changes nothing
    frame = _carry(frame.with_columns(*turned), limbs, carried)
    total = nw.col(carried[-1])
    for column in reversed(carried[:-1]):
        total = total + nw.col(column)
    return frame.with_columns((total / limbs.scale).alias(to)).drop(*carried, "negative_sum")


def _carry(frame: Frame, limbs: Limbs, columns: list[str]) -> Frame:
    for i in range(len(columns) - 1, 0, -1):
        quantum = limbs.quanta[i - 1]
        frame = frame.with_columns(((nw.col(columns[i]) / quantum).floor() * quantum).cast(nw.Float64).alias("over"))
        frame = frame.with_columns(
            (nw.col(columns[i]) - nw.col("over")).alias(columns[i]),
            (nw.col(columns[i - 1]) + nw.col("over")).alias(columns[i - 1]),
        )
    return frame.drop("over") if len(columns) > 1 else frame


def limbs_of(table: pa.Table, limbs: Limbs, name: str) -> npt.NDArray[np.float64]:
    """Return limbs that were brought here: shape (rows, limbs)."""
    return np.column_stack([table.column(column).to_numpy() for column in names(limbs, name)])


def largest(place: Place, entries: Frame, group: str, groups: Ints, measures: Measures) -> Ranking:
    """Rank the entries of every group, as `ranking.rank`, at the place of the frame.

    Parameters
    ----------
    place : Place
    entries : narwhals.LazyFrame
        One row for every group and holder.
    group : str
        The column of the group.
    groups : ndarray of int
        All groups that there may be, ascending; the ranking has them in this order.
    measures : Measures
    """
    entries = absolute(entries, measures.shadow, "shadow", "contribution")
    entries = entries.with_columns(nw.lit(1.0).alias("weight"), nw.col("contribution").alias("size"))
    if measures.weighted:
        entries = _weighted(entries, measures)
    n = len(groups)
    sums = {
        "weight": measures.weight if measures.weighted else None,
        "size": measures.size if measures.signed else None,
    }
    counted = entries
    for name, limbs in sums.items():
        counted = counted if limbs is None else split(counted, limbs, name, f"{name}_sum")
    columns = [column for name, limbs in sums.items() if limbs for column in names(limbs, f"{name}_sum")]
    found = place.take(
        counted.group_by(group).agg(nw.len().alias("holders"), *(nw.col(column).sum() for column in columns))
    )
    at = np.searchsorted(groups, found.column(group).to_numpy())
    count = np.zeros(n, dtype=np.int64)
    count[at] = found.column("holders").to_numpy()
    added = {}
    for name, limbs in sums.items():
        added[name] = np.zeros((n, len(limbs.quanta) if limbs else 0))
        if limbs:
            added[name][at] = limbs_of(found, limbs, f"{name}_sum")
    return Ranking(count, added["weight"], added["size"], _best(place, entries, group, groups, measures))


def _weighted(entries: Frame, measures: Measures) -> Frame:
    """Replace weight and size, as `ranking.rank` does where there are sampling weights."""
    entries = absolute(entries, measures.shadow, "absolute", "all_of_it")
    entries = absolute(entries, measures.weighted_shadow, "weighted", "size")
    light, heavy, of = nw.col("light"), nw.col("heavy"), nw.col("all_of_it")
    mean = nw.col("size") / nw.when(of > 0).then(of).otherwise(nw.lit(1.0))
    mean = nw.when(of > 0).then(mean).otherwise((light + heavy) / 2)
    entries = entries.with_columns(nw.when(light == heavy).then(light).otherwise(mean).alias("weight"))
    if measures.signed:
        both = nw.col("below") & nw.col("above")
        net = nw.col("weight") * nw.col("contribution")
        entries = entries.with_columns(nw.when(both).then(net).otherwise(nw.col("size")).alias("size"))
    return entries


def _best(place: Place, entries: Frame, group: str, groups: Ints, measures: Measures) -> Candidates:
    """Bring the largest entries of every group here, and the first one without waiver."""
    if not measures.top:
        return _NONE
    order = ["falling", "holder"]
    entries = entries.with_columns((-nw.col("contribution")).alias("falling"))
    known = [group, "holder", "contribution", "weight", "waived", "requested"]
    ranked = entries.with_columns(
        nw.col("holder").cum_count().over(group, order_by=order).alias("place"),
        nw.col("holder").cum_count().over(group, "waived", order_by=order).alias("place_without"),
    )
    first = ~nw.col("waived") & (nw.col("place_without") == 1)
    table = place.take(ranked.filter((nw.col("place") <= measures.top) | first).select(*known))
    array = {name: table.column(name).to_numpy() for name in known}
    best = Candidates(
        np.searchsorted(groups, array[group]),
        array["holder"].astype(np.int64),
        array["contribution"].astype(np.float64),
        array["weight"].astype(np.float64),
        array["waived"].astype(bool),
        array["requested"].astype(np.int8),
    )
    return best.at(np.lexsort((best.holder, -best.size, best.cell)))
