"""From a problem to a release of changed values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.attack.audit import audit
from tabprotect.attack.values import seeing
from tabprotect.errors import InputError, SolverError
from tabprotect.methods.base.method import Call
from tabprotect.methods.base.method import Method as Choice
from tabprotect.methods.cell_key.method import CellKey
from tabprotect.methods.recoding.method import Recode
from tabprotect.methods.suppression.method import Suppress
from tabprotect.problem import Problem
from tabprotect.release.changed import ChangedRelease
from tabprotect.seeds import Seed, secret_seed
from tabprotect.sensitivity.assess import Assessment
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.table.decimals import decimals_of
from tabprotect.table.table import Table

__all__ = ["change_values", "draw_seed", "keys_of_cells", "microdata", "numbers_of", "refuse"]

Ints = npt.NDArray[np.int64]


def change_values(
    table: Table,
    assessment: Assessment,
    problem: Problem,
    method: Choice,
    *,
    keys: Ints | None,
    seed: int,
    limits: Limits,
    intervals: bool,
    settings: Mapping[str, Any],
    title: str,
    allow_unsafe: bool,
    progress: Callable[[Progress], None] | None,
    executor: Executor | None,
) -> ChangedRelease:
    """Change values, and let the intruder who knows the method judge them.

    Parameters
    ----------
    table, assessment, problem
        What is to be protected.
    method : Choice
    keys : ndarray of int, optional
        Keys of the cells.
    seed : int
        See `draw_seed`.
    limits : Limits
        Of the method; the judge has none.
    intervals : bool
        Compute the intruder's intervals of the sensitive cells.
    settings, title, allow_unsafe
        See `ChangedRelease`.
    progress : callable, optional
    executor : concurrent.futures.Executor, optional
        For the intervals.
    """
    budget = Budget(progress=progress)
    budget.report(method.name)
    changed = method.change(Call(problem, limits, seed, progress, keys, table))
    judgement = None
    if changed.values is not None:
        changed = replace(changed, values=_as_printed(changed.values, problem, changed.claim["fixed"]))
        assert changed.values is not None
        budget.report("audit", changed.cost, changed.bound)
        seen = seeing(problem, changed.values, changed.claim)
        judgement = audit(
            seen, seen.may_hide, intervals=intervals, of=problem.primaries, budget=budget, executor=executor
        )
    release = ChangedRelease(table, problem, changed, judgement, assessment, settings, title, allow_unsafe)
    if judgement is not None and (release.safe or allow_unsafe):
        found = release.verify()
        if not found.ok:
            raise SolverError(f"the check of the certificate refused it ({found.failures[0]}); please report this")
    return release


def draw_seed(method: object, seed: Seed | None) -> int:
    """Return the seed: a fresh secret one where values, levels or costs are drawn at random and none was given."""
    how = method.then if isinstance(method, Recode) else method
    protects = (isinstance(how, Choice) and how.secret) or (isinstance(how, Suppress) and how.random_costs > 0)
    return 0 if seed is None and not protects else secret_seed(seed)


def _as_printed(values: npt.NDArray[np.float64], problem: Problem, fixed: Sequence[int]) -> npt.NDArray[np.float64]:
    """The floats that the published decimals read back as; fixed cells keep their true ones, to the last digit."""
    places = decimals_of(values)
    printed = values.copy() if places is None else np.round(values, places) + 0.0
    printed[fixed] = problem.values[fixed]
    return printed


def keys_of_cells(
    data: Any, method: CellKey, seed: int, by: Any, hierarchies: Mapping[str, Any] | None, empty: str | None
) -> Ints:
    """Add up the keys of the records of every cell; they are drawn by the seed where the data hold none.

    Parameters
    ----------
    data, by, hierarchies, empty
        As the table was tabulated.
    method : CellKey
    seed : int

    Raises
    ------
    InputError
        If the column of keys is absent or holds other things.
    """
    from tabprotect.methods.cell_key import cell_keys, record_keys

    given: dict[str, Any] = {"hierarchies": hierarchies, "empty": empty}
    given = {name: value for name, value in given.items() if value is not None}
    if method.key is not None:
        return cell_keys(data, by, method.key, **given)
    frame = microdata(data)
    name = "key"
    while name in frame:
        name += "_"
    return cell_keys(frame.assign(**{name: record_keys(len(frame), seed)}), by, name, **given)


def microdata(data: Any, numbers: Collection[str] = (), decimal: str = ".") -> pd.DataFrame:
    """Return microdata as a pandas frame; of CSV files every column as text but for `numbers`.

    Raises
    ------
    InputError
        If a file cannot be read.
    """
    if isinstance(data, (str, Path)):
        path = Path(data)
        try:
            if path.suffix in (".parquet", ".pq"):
                return pd.read_parquet(path)
            columns = pd.read_csv(path, nrows=0).columns
            text = {name: str for name in columns if name not in numbers}
            return pd.read_csv(path, dtype=text, decimal=decimal, keep_default_na=False, na_values=[""])
        except (OSError, ValueError) as error:
            raise InputError(f"{path} cannot be read: {error}") from error
    frame = nw.from_native(data)
    whole = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return whole.to_pandas()


def numbers_of(roles: Mapping[str, Any]) -> list[str]:
    """Return the columns of microdata that are numbers, not codes."""
    return [roles[name] for name in ("value", "shadow", "cost", "weight") if roles.get(name) is not None]


def refuse(method: Choice, given: Sequence[str]) -> None:
    """Refuse settings that belong to hidden cells only.

    Raises
    ------
    InputError
    """
    if given:
        raise InputError(f"{', '.join(given)} belong to hiding cells; {method.name} hides none")
