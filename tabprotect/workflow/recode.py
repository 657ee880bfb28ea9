"""Recoding before anything is hidden: by hand in the microdata, and the least roll-up of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InfeasibleError, InputError, collect, did_you_mean
from tabprotect.methods.recoding import RecodingRules, least_recoding
from tabprotect.sensitivity.assessment import Assessment
from tabprotect.solver.limits import Limits, Progress
from tabprotect.table.table import Table

__all__ = ["recode_microdata", "roll_up"]


def recode_microdata(frame: pd.DataFrame, by_hand: Mapping[str, Any]) -> pd.DataFrame:
    """Return microdata with columns recoded by hand.

    Parameters
    ----------
    frame : DataFrame
    by_hand : mapping of str to RecodingRules, path or str
        By column.

    Raises
    ------
    InputError
        Unknown columns, rules that cannot be read or do not fit the codes.
    """
    with collect() as problems:
        for column, given in by_hand.items():
            if column not in frame:
                problems.add(f"the recoding of '{column}' finds no such column{did_you_mean(column, frame.columns)}")
                continue
            try:
                rules = given if isinstance(given, RecodingRules) else RecodingRules.read(Path(given))
                frame = frame.assign(**{column: rules.apply(frame[column])})
            except InputError as error:
                problems.found += [f"{column}: {problem}" for problem in error.problems]
    return frame


def roll_up(
    table: Table,
    assessment: Assessment,
    keep: Mapping[str, int],
    limits: Limits,
    progress: Callable[[Progress], None] | None,
) -> tuple[Table, str]:
    """Return the table without the parts of as few codes as possible, and what was given up, in words.

    Raises
    ------
    InfeasibleError
        If some sensitive cell has no code that may be given up.
    """
    result = least_recoding(table, assessment.primaries, keep=keep, limits=limits, progress=progress)
    if result.status == "infeasible":
        raise InfeasibleError(f"no recoding is rid of all sensitive cells: {result.message}")
    given_up = [f"{name}: {', '.join(codes)}" for name, codes in result.collapsed.items()]
    lost = "" if result.cost is None else f"{counted(int(result.removed.sum()), 'cell')} given up"
    bound = "" if result.bound is None else f", at least {result.bound:,.10g} needed"
    return result.recoded(), "; ".join([*given_up, lost + bound]) if given_up else "nothing given up"
