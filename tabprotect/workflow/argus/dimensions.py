"""Dimensions of a batch: hierarchies from files or digits, and recodings."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InputError, did_you_mean
from tabprotect.formats.argus.lists import read_hierarchy
from tabprotect.formats.argus.rda import Variable
from tabprotect.formats.argus.recodings import Recoding
from tabprotect.formats.argus.text import find_file
from tabprotect.methods.recoding import RecodingRules
from tabprotect.table.dimension import Dimension
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.workflow.argus.logbook import Logbook

__all__ = ["dimension_of", "recode"]


def dimension_of(variable: Variable, codes: Iterable[str], folder: Path, log: Logbook) -> Dimension:
    """Return the dimension that a variable spans.

    Parameters
    ----------
    variable : Variable
    codes : iterable of str
        Those in the data, which make the levels where digits do.
    folder : path
        Where the hierarchy file is.
    log : Logbook

    Raises
    ------
    InputError
        If the hierarchy file cannot be read.
    """
    there = set(codes)
    hierarchy = None
    if variable.hierarchy:
        found = find_file(variable.hierarchy, folder)
        if found.note:
            log.add(found.note)
        hierarchy = read_hierarchy(found.path, variable.leader, variable.total)
    elif variable.levels:
        ends = [sum(variable.levels[: k + 1]) for k, width in enumerate(variable.levels) if width]
        inner = sorted(there - {variable.total, *variable.missing})
        if inner:
            hierarchy = Hierarchy.from_prefixes(inner, ends, total=variable.total)
    missing = [code for code in variable.missing if code in there]
    return Dimension(variable.name, hierarchy, None if hierarchy else variable.total, missing)


def recode(column: pd.Series, dimension: Dimension, how: Recoding | int, log: Logbook) -> tuple[pd.Series, Dimension]:
    """Return codes and dimension after a recoding.

    Raises
    ------
    InputError
        If the recoding does not fit the codes.
    """
    if isinstance(how, Recoding) and how.rules is not None:
        there = set(column)
        kept = tuple(
            (new, tuple(pair for pair in pairs if pair[0] is None or pair[0] != pair[1] or pair[0] in there))
            for new, pairs in how.rules.rules
        )
        left_out = sum(len(pairs) for _, pairs in how.rules.rules) - sum(len(pairs) for _, pairs in kept)
        if left_out:
            log.add(f"{left_out} codes of the recoding of {dimension.name} do not occur")
        new = RecodingRules(tuple((code, pairs) for code, pairs in kept if pairs)).apply(column)
        if dimension.hierarchy is not None:
            log.add(f"{dimension.name} has no hierarchy after its recoding to new codes")
        total = dimension.hierarchy.total if dimension.hierarchy is not None else dimension.total
        missing = how.missing or tuple(dimension.missing)
        return new, Dimension(dimension.name, None, total, [code for code in missing if code in set(new)])
    if dimension.hierarchy is None:
        raise InputError(f"{dimension.name} has no hierarchy; recode it with a file of new codes and old ones")
    hierarchy = dimension.hierarchy
    if isinstance(how, int):
        parents = {parent for parent, _ in hierarchy.splits}
        levels = dict(zip(hierarchy.codes, hierarchy.levels.tolist(), strict=True))
        closed = [code for code in parents if levels[code] == how]
    else:
        closed = list(how.closed)
        for code in closed:
            if code not in hierarchy.position:
                raise InputError(f"{dimension.name} has no code '{code}'{did_you_mean(code, hierarchy.codes)}")
    smaller, up = _closed(hierarchy, closed)
    log.add(
        f"{counted(len(closed), 'code')} of {dimension.name} "
        f"{'has lost its' if len(closed) == 1 else 'have lost their'} parts"
    )
    return column.map(lambda code: up.get(code, code)), Dimension(
        dimension.name, smaller, None, list(dimension.missing)
    )


def _closed(hierarchy: Hierarchy, closed: list[str]) -> tuple[Hierarchy, dict[str, str]]:
    """Return the hierarchy without what is below the closed codes, and to which of them the codes below go."""
    up: dict[str, str] = {}
    splits = []
    for parent in hierarchy.codes:
        for above, parts in hierarchy.splits:
            if above != parent:
                continue
            if parent in closed or parent in up:
                up |= dict.fromkeys(parts, up.get(parent, parent))
            else:
                splits.append((above, parts))
    return Hierarchy(tuple(splits), (hierarchy.total,), hierarchy.labels), up
