"""What whoever knows the algorithm and its rule learns besides what is published.

Run from the checkout: ``python -m benchmarks.reverse [--tables 8] [--draws 3]``. It prints two things.

Suppression: tiny tables of counts are protected, and all tables of whole numbers that fit what is published are
protected in the same way. Those that lead to the same publication are all that is left to an intruder who can do this,
and where a sensitive count is the same in all of them it is known to him. With random costs he does not know the seed,
so he keeps every table that leads to the same publication for one of several seeds.

Adjustment: the share of sensitive cells that moved by exactly their protection level, so that whoever is alone in one
learns the level and with it the parameter of the rule.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

import tabprotect as tp

__all__ = ["main"]

Ints = npt.NDArray[np.int64]

RULE, SMALLEST = "threshold=3", 3
COUNTS = (0, 1, 2, 3, 4, 6, 9)

#: Tables with more candidates than this are left out, which would take long.
CANDIDATES = 20

#: Tables whose hidden cells may have more combinations of values are left out, too.
COMBINATIONS = 20_000


def table_of(inner: Ints) -> tp.Table:
    """Return a table of counts with its margins."""
    full = np.pad(inner, ((1, 0), (1, 0)))
    full[0, 1:], full[1:, 0], full[0, 0] = inner.sum(axis=0), inner.sum(axis=1), inner.sum()
    codes = [["Total", *(f"{name}{i}" for i in range(size))] for name, size in zip("rc", inner.shape, strict=True)]
    cells = pd.DataFrame(itertools.product(*codes), columns=["r", "c"]).assign(n=full.ravel())
    return tp.Table.from_cells(cells, by=["r", "c"], value="n", kind="frequency")


def published(inner: Ints, share: float, seed: int) -> Ints | None:
    """Return what is published, -1 for hidden; None where nothing may be."""
    made = tp.protect(table_of(inner), RULE, tp.Suppress(random_costs=share), intervals=False, seed=seed)
    if not made.safe:
        return None
    values = made.table.values.astype(np.int64)
    values[made.pattern] = -1
    return values.reshape(inner.shape[0] + 1, -1)


def fitting(shown: Ints) -> list[Ints] | None:
    """Return the inner cells of all tables of whole numbers that fit what is published; None if too many might."""
    known = np.where(shown[1:, 1:] < 0, 0, shown[1:, 1:])
    hidden = np.argwhere(shown[1:, 1:] < 0)
    largest = []
    for i, j in hidden.tolist():
        rooms = [int(margin - rest) for margin, rest in (
            (shown[i + 1, 0], known[i].sum()), (shown[0, j + 1], known[:, j].sum())
        ) if margin >= 0]  # fmt: skip
        largest.append(min(rooms, default=int(max(COUNTS))))
    if np.prod([most + 1.0 for most in largest]) > COMBINATIONS:
        return None
    found = []
    for values in itertools.product(*(range(most + 1) for most in largest)):
        inner = known.copy()
        inner[tuple(hidden.T)] = values
        full = np.pad(inner, ((1, 0), (1, 0)))
        full[0, 1:], full[1:, 0], full[0, 0] = inner.sum(axis=0), inner.sum(axis=1), inner.sum()
        if np.all((shown < 0) | (full == shown)):
            found.append(inner)
    return found


def reverse(tables: int, share: float, draws: int) -> str:
    """Protect tables and try all that fit; return how many sensitive counts are determined."""
    primaries = determined = narrowed = tried = 0
    seeds = range(draws if share else 1)
    seed = -1
    while tried < tables:
        seed += 1
        inner = np.random.default_rng(seed).choice(np.array(COUNTS), (3, 3))
        shown = published(inner, share, 10**6 + seed)
        if shown is None or not (shown < 0).any():
            continue
        fits = fitting(shown)
        if fits is None or len(fits) > CANDIDATES:
            continue
        tried += 1
        same = [one for one in fits if any(_same(published(one, share, k), shown) for k in seeds)]
        same = same if any(np.array_equal(one, inner) for one in same) else [*same, inner]
        for i, j in np.argwhere((shown[1:, 1:] < 0) & (inner > 0) & (inner < SMALLEST)).tolist():
            left = {int(one[i, j]) for one in same}
            primaries += 1
            determined += len(left) == 1
            narrowed += 1 < len(left) < len({int(one[i, j]) for one in fits})
    costs = f"costs raised at random by up to {100 * share:g} %" if share else "costs as they are"
    found = f"{determined} of {primaries} sensitive counts determined, {narrowed} narrowed"
    return f"suppression, {costs}: {tried} tables of 3 x 3 counts, {RULE}: {found}"


def _same(one: Ints | None, other: Ints) -> bool:
    return one is not None and np.array_equal(one, other)


def by_their_level(enlarge: float, tables: int) -> str:
    """Adjust tables; return how many sensitive cells moved by exactly their level."""
    exactly = sensitive = 0
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        n = 40
        data = pd.DataFrame(
            {"r": rng.integers(0, 3, n).astype(str), "c": rng.integers(0, 4, n).astype(str), "firm": np.arange(n)}
        ).assign(v=np.ceil(rng.lognormal(6, 1, n)))
        made = tp.protect(
            data, "p%=15", tp.Adjust(enlarge=enlarge), by=["r", "c"], value="v", contributor="firm", seed=seed,
            limits=tp.Limits(work=200), intervals=False, allow_unsafe=True,
        )  # fmt: skip
        assert made.values is not None
        cells = made.problem.primaries
        moved = made.values[cells] - made.table.values[cells]
        level = np.where(moved > 0, made.problem.upl[cells], made.problem.lpl[cells])
        exactly += int(np.sum(np.abs(moved) == np.ceil(level)))
        sensitive += len(cells)
    how = f"levels enlarged by up to {100 * enlarge:g} %" if enlarge else "levels as they are"
    return f"adjustment, {how}: {exactly} of {sensitive} sensitive cells moved by exactly their level"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument("--draws", type=int, default=3)
    given = parser.parse_args(arguments)
    for share in (0.0, 0.5):
        print(reverse(given.tables, share, given.draws), flush=True)
    for enlarge in (0.0, 0.5):
        print(by_their_level(enlarge, 5), flush=True)


if __name__ == "__main__":
    main()
