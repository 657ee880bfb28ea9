"""Totals among the codes of the data: codes whose values are the sums over all others, or over codes below them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tabprotect.errors import collect
from tabprotect.table.additivity import NOISE
from tabprotect.table.decimals import decimals_of
from tabprotect.table.dimension import Dimension
from tabprotect.table.grid import Grid

__all__ = ["called_total", "nested_totals", "refuse_totals", "summed_codes"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_NAMES: Final = frozenset(
    (
        "total", "_t", "tot", "totals", "all", "overall", "grand total", "sum", "insgesamt", "gesamt", "zusammen",
        "summe", "gesamtsumme", "alle", "ensemble", "totale", "totaal", "totalt", "totalen", "i alt", "ukupno",
        "skupaj", "razem", "ogółem", "celkem", "spolu", "összesen", "yhteensä", "kokku", "kopā", "iš viso", "toplam",
    )
)  # fmt: skip
"""What totals are called in publications, in lower case."""

_SHORT: Final = frozenset(("t", "tt", "00", "000"))
"""Codes of totals in many statistics that are ordinary ones in others."""

_CHANCE: Final = 1e-4
"""A code that is not called a total is taken for one where chance makes its values sums less often than this."""

_CHANCE_SHORT: Final = 0.01
"""The same of a code in `_SHORT`."""


def called_total(code: str) -> bool:
    """Whether a code is a usual name of a total.

    Examples
    --------
    >>> called_total("Insgesamt"), called_total("_T"), called_total("N")
    (True, True, False)
    """
    return code.strip().casefold() in _NAMES


def summed_codes(codes: Sequence[Ints], names: Sequence[Sequence[str]], values: Floats, k: int) -> list[str]:
    """Return the codes of dimension `k` whose value is the sum over all others wherever that can be seen.

    It is compared for every combination of the codes of the other dimensions in which anything is not zero. A code
    called a total may be off by what rounding explains; another has to have so many sums, of so large numbers, that
    chance explains them less often than once in ten thousand, or once in a hundred where it is 'T' or '00'.

    Parameters
    ----------
    codes : sequence of ndarray of int
        By dimension the code of every cell; cells of what is known to be a total are left out.
    names : sequence of sequence of str
        By dimension the names of the codes.
    values : ndarray of float
    k : int

    Examples
    --------
    >>> region, size = np.array([0, 1, 2, 0, 1, 2]), np.array([0, 0, 0, 1, 1, 1])
    >>> values = np.array([7000, 3000, 4000, 9000, 2500, 6500.0])
    >>> [summed_codes([region, size], [["X", "N", "S"], ["1", "2"]], values, k) for k in (0, 1)]
    [['X'], []]
    """
    code, n, sizes = codes[k], len(names[k]), np.abs(values)
    places = decimals_of(values)
    unit = NOISE * float(sizes.max(initial=1.0)) if places is None else 10.0**-places
    named = np.array([called_total(name) for name in names[k]], dtype=bool)
    several = len(np.unique(code)) > 2

    def slack(parts: Any, size: Any, rounded: Any) -> Any:
        return np.maximum(NOISE * size, np.where(rounded, np.minimum(unit * parts / 2, size / 50), 0.0))

    # first in all, which is quick: in most data no code is left after it
    whole = np.abs(2 * np.bincount(code, values, minlength=n) - values.sum())
    left = (whole <= slack(len(values), sizes.sum(), named)) & (named | several)
    if not left.any():
        return []
    where = _combinations(codes, names, k)
    size, parts = np.bincount(where, sizes)[where], np.bincount(where)[where]
    seen = size > 0
    off = np.abs(2 * values - np.bincount(where, values)[where])
    chance = np.log(np.maximum(size / (2 * unit), 1.0))
    needed = len(np.unique(where[seen]))
    good = seen & (off <= slack(parts, size, named[code]))
    everywhere = (np.bincount(code[good], minlength=n) == needed) & (np.bincount(code[seen], minlength=n) == needed)
    short = np.array([name.strip().casefold() in _SHORT for name in names[k]], dtype=bool)
    allowed = np.where(short, _CHANCE_SHORT, _CHANCE / n)
    strong = np.bincount(code, np.where(good, chance, 0.0), minlength=n) > -np.log(allowed)
    return [names[k][i] for i in np.flatnonzero(left & everywhere & (named | strong)).tolist()] if needed else []


def _combinations(codes: Sequence[Ints], names: Sequence[Sequence[str]], k: int) -> Ints:
    """Number the combinations of codes of all dimensions but `k`: for every cell the one that it is in."""
    key = np.zeros(len(codes[k]), dtype=np.int64)
    for i in range(len(codes)):
        if i != k:
            key = key * len(names[i]) + codes[i]
    return np.unique(key, return_inverse=True)[1].ravel()


def nested_totals(
    codes: Sequence[Ints], names: Sequence[Sequence[str]], values: Floats, k: int
) -> list[tuple[str, list[str]]]:
    """Return the codes of dimension `k` whose values are the sums over the codes that begin with them, and these.

    Of two codes one of which begins with the other, such as 'C' and 'C10', the shorter is often a total that was left
    in the data. It is compared as in `summed_codes`.

    Examples
    --------
    >>> industry, size = np.array([0, 1, 2, 3, 0, 1, 2, 3]), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> values = np.array([7000, 3000, 4000, 1000, 9000, 2500, 6500, 2000.0])
    >>> nested_totals([industry, size], [["C", "C10", "C11", "D"], ["1", "2"]], values, 0)
    [('C', ['C10', 'C11'])]
    """
    whole = np.bincount(codes[k], values, minlength=len(names[k]))
    found: list[tuple[str, list[str]]] = []
    for code, below in _longer(names[k]).items():
        size = abs(whole[code])
        if len(below) < 2 or abs(whole[code] - whole[below].sum()) > NOISE * max(size, 1.0):
            continue
        among = np.isin(codes[k], [code, *below])
        if names[k][code] in summed_codes([c[among] for c in codes], names, values[among], k):
            found.append((names[k][code], [names[k][i] for i in below]))
    return found


def _longer(names: Sequence[str]) -> dict[int, list[int]]:
    """Return by code the codes that begin with it, but for those that begin with a longer one."""
    longer: dict[int, list[int]] = {}
    open_: list[int] = []
    for i in sorted(range(len(names)), key=names.__getitem__):
        while open_ and not names[i].startswith(names[open_[-1]]):
            open_.pop()
        if open_:
            longer.setdefault(open_[-1], []).append(i)
        open_.append(i)
    return longer


def refuse_totals(
    wanted: Sequence[Dimension],
    grid: Grid,
    keys: Ints,
    values: Floats,
    say: Callable[[str, str, Sequence[str]], str],
    counted: bool = False,
) -> None:
    """Refuse cells to be added up of which some are totals of others already.

    Parameters
    ----------
    wanted : sequence of Dimension
        As they were asked for: what a hierarchy lists is taken as it says.
    grid : Grid
    keys : ndarray of int
        Of the cells that there are; margins among them are left out.
    values : ndarray of float
    say : callable
        Says of a column, a code and the codes below it (none: all others) what follows, and what to do.
    counted : bool
        Values are numbers of rows. Sums say nothing then: a code called a total is refused where each combination of
        codes is there once, as in a finished table.

    Raises
    ------
    InputError
        Names the codes.
    """
    flat = [k for k, d in enumerate(wanted) if d.hierarchy is None and len(d.columns) == 1]
    if not flat:
        return
    codes = grid.codes_of(keys)
    inner = np.logical_and.reduce([h.leaf_of[code] >= 0 for h, code in zip(grid.hierarchies, codes, strict=True)])
    codes, names, values = [code[inner] for code in codes], [h.codes for h in grid.hierarchies], values[inner]
    once = counted and len(values) > 1 and bool((values == 1).all())
    with collect() as problems:
        for k in flat:
            column, found = wanted[k].columns[-1], list[tuple[str, list[str], str]]()
            if once:
                why = "which is called as totals are, and each combination of codes is there once"
                found = [(code, [], why) for code in _named_totals(codes, names, k)]
            elif not counted:
                summed = summed_codes(codes, names, values, k)
                found = [(code, [], "whose values are the sums over all other codes") for code in summed]
                for code, below in nested_totals(codes, names, values, k):
                    if code not in summed:
                        found.append((code, below, f"whose values are the sums over {_listed(below)}"))
            for code, below, why in found:
                problems.add(
                    f"column '{column}' holds '{code}', {why}: {say(column, code, below)}. "
                    f"If '{code}' is an ordinary code, list all codes in a hierarchy of '{column}'"
                )


def _named_totals(codes: Sequence[Ints], names: Sequence[Sequence[str]], k: int) -> list[str]:
    """Return the codes of dimension `k` called totals that share every combination with another code."""
    where = _combinations(codes, names, k)
    shared = np.bincount(where)[where] > 1
    there = np.unique(codes[k]).tolist()
    return [names[k][i] for i in there if called_total(names[k][i]) and shared[codes[k] == i].all()]


def _listed(codes: Sequence[str]) -> str:
    return " + ".join(codes[:4]) + (f" + ... ({len(codes)} codes)" if len(codes) > 4 else "")
