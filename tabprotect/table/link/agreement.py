"""What linked tables say of the same cells: the first one that says something counts, and the others must agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.errors import Problems, as_number
from tabprotect.table.additivity import NOISE
from tabprotect.table.codes import some
from tabprotect.table.link.shared import SharedCells
from tabprotect.table.table import Contributions

__all__ = ["Agreement"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Agreement:
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
