"""Tables of a batch, from microdata or from finished cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InputError, collect
from tabprotect.formats.argus.microdata import read_asc
from tabprotect.formats.argus.rda import Variable
from tabprotect.formats.argus.tab import read_tab
from tabprotect.sensitivity.level import OF_HOLDINGS
from tabprotect.sensitivity.requirements import needs
from tabprotect.table.dimension import Dimension
from tabprotect.table.table import Table
from tabprotect.table.tabulate import tabulate
from tabprotect.workflow.argus.dimensions import dimension_of, recode
from tabprotect.workflow.argus.logbook import DIFFERENT, Logbook
from tabprotect.workflow.argus.specified import Built, Specified, variable_of

__all__ = ["build"]

TOP = 3
"""Contributions kept per cell, at least."""


def build(spec: Specified, log: Logbook) -> Built:
    """Make the table that a batch specifies.

    Raises
    ------
    InputError
        Everything that is wrong with the data, the metadata, or the rules for them.
    """
    frame = read_tab(spec.data, spec.metadata) if spec.metadata.kind == "table" else read_asc(spec.data, spec.metadata)
    with collect() as problems:
        variables: list[Variable] = []
        for name in spec.asked.by:
            try:
                variables.append(variable_of(spec, name, "variable"))
            except InputError as error:
                problems.found += error.problems
        for variable in variables:
            if variable.numeric and not variable.recodable:
                problems.add(f"{spec.name}: '{variable.name}' is numeric, and not <RECODABLE>; it spans no table")
    dimensions: list[Dimension] = []
    for variable in variables:
        dimension = dimension_of(variable, frame[variable.name].unique(), spec.folder, log)
        how = spec.recodings.get(variable.name)
        if how is not None:
            frame[variable.name], dimension = recode(frame[variable.name], dimension, how, log)
        dimensions.append(dimension)
    return (_finished if spec.metadata.kind == "table" else _tabulated)(spec, frame, dimensions, log)


def _tabulated(spec: Specified, frame: pd.DataFrame, dimensions: list[Dimension], log: Logbook) -> Built:
    rules, asked = spec.rules, spec.asked
    response = variable_of(spec, asked.response, "response") if asked.response else None
    given: dict[str, Any] = {}
    if asked.shadow and response is not None and asked.shadow.casefold() != response.name.casefold():
        given["shadow"] = variable_of(spec, asked.shadow, "shadow variable").name
    if asked.cost not in ("", "frequency", "unit", "distance"):
        cost = variable_of(spec, asked.cost, "cost variable")
        if response is None or cost.name != response.name:
            given["cost"] = cost.name
    holding = next((v for v in spec.metadata.variables if v.holding), None)
    weight = next((v for v in spec.metadata.variables if v.weight), None)
    request = next((v for v in spec.metadata.variables if v.request), None)
    if rules is not None and rules.weighted:
        if weight is None:
            raise InputError(f"{spec.name}: WGT(1) needs a variable that the metadata call <WEIGHT>")
        given["weight"] = weight.name
    texts = spec.rule_texts()
    both = rules is not None and bool(rules.holding and rules.individual)
    if rules is not None and rules.holding and holding is None:
        raise InputError(
            f"{spec.name}: rules at the level of holdings need a variable that the metadata call <HOLDING>"
        )
    if any(text.startswith("request") for text in (*texts, *(rules.holding if rules else ()))):
        if request is None:
            raise InputError(f"{spec.name}: REQ needs a variable that the metadata call <REQUEST>")
        frame = frame.assign(
            **{
                request.name: [
                    request.request.index(code) + 1 if code in request.request else 0 for code in frame[request.name]
                ]
            }
        )
        given["request"] = request.name

    def table_for(words: list[str], **more: Any) -> Table:
        return tabulate(
            frame, dimensions, None if response is None else response.name, top=max(TOP, needs(words)),
            empty="structural", **given, **more,
        )  # fmt: skip

    places = 0 if response is None else response.decimals
    holder = {"holding": holding.name} if holding is not None else {}
    if rules is None or not rules.holding:
        return Built(table_for(texts), tuple(texts), places=places)
    if not both:
        return Built(table_for(texts, **holder), tuple(texts), places=places)
    log.add(
        "rules of both levels are applied, and a cell is sensitive if one says so; individuals and holdings who are "
        "alone in cells attack, and sums of hidden cells are looked at for both",
        DIFFERENT,
    )
    texts += [f"{OF_HOLDINGS} {text}" for text in rules.holding]
    return Built(table_for(texts, **holder, both_levels=True), tuple(texts), places=places)


def _finished(spec: Specified, frame: pd.DataFrame, dimensions: list[Dimension], log: Logbook) -> Built:
    asked, metadata = spec.asked, spec.metadata
    if spec.rules is not None and spec.rules.holding:
        raise InputError(f"{spec.name}: rules at the level of holdings need microdata, and this is a finished table")
    if spec.rules is not None and spec.rules.weighted:
        log.add("WGT(1) has no effect on a finished table")
    count = next(iter(metadata.of_part("count")), None)
    if not asked.response and count is None:
        raise InputError(f"{spec.name}: <freq> as response needs a variable that the metadata call <FREQUENCY>")
    response = variable_of(spec, asked.response, "response") if asked.response else count
    assert response is not None
    texts = spec.rule_texts()
    columns: dict[str, Any] = {}
    if asked.response:
        if count is not None:
            columns["count"] = count.name
    else:
        columns["kind"] = "frequency"
    if needs(texts):
        columns["maxima"] = [v.name for v in metadata.of_part("top")]
        if asked.shadow and asked.shadow.casefold() != response.name.casefold():
            columns["shadow"] = variable_of(spec, asked.shadow, "shadow variable").name
    if asked.cost not in ("", "frequency", "unit", "distance"):
        cost = variable_of(spec, asked.cost, "cost variable")
        if cost.name != response.name:
            columns["cost"] = cost.name
    status = next(iter(metadata.of_part("status")), None)
    frame = _without_gaps(frame, response, status, log)
    if spec.uses_status:
        for part in ("status", "lpl", "upl"):
            columns.update((part, v.name) for v in metadata.of_part(part)[:1])
        if status is None:
            log.add(f"{spec.name} has neither a safety rule nor a status variable: no cell is sensitive")
    elif status is not None:
        log.add("the statuses and levels of the file play no part, since there are safety rules")

    cells = _Cells(frame, dimensions, response.name, columns)
    return Built(_with_sums(spec, cells, log), tuple(texts), places=response.decimals)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Finished cells, and what their columns are."""

    frame: pd.DataFrame
    dimensions: list[Dimension]
    response: str
    columns: dict[str, Any]

    def table(self, **more: Any) -> Table:
        """Return them as a table; cells that are not among them are empty, as everybody knows."""
        options = {**self.columns, "empty": "structural", **more}
        return Table.from_cells(self.frame, self.dimensions, self.response, **options)


def _without_gaps(frame: pd.DataFrame, response: Variable, status: Variable | None, log: Logbook) -> pd.DataFrame:
    """Return the cells with 0 where they have no value, as ARGUS writes empty ones."""
    none = frame[response.name].isna().to_numpy()
    if not none.any():
        return frame
    log.add(f"{counted(int(none.sum()), 'cell without a value is', 'cells without a value are')} empty")
    numbers = frame.select_dtypes("number").columns
    frame = frame.copy()
    frame.loc[none, numbers] = frame.loc[none, numbers].fillna(0.0)
    if status is not None:
        frame.loc[none, status.name] = "e"
    return frame


def _with_sums(spec: Specified, cells: _Cells, log: Logbook) -> Table:
    """Make the table, with what READTABLE says of sums: checked, computed, or allowed to be off."""
    sums = 0 if spec.read is None else spec.read.sums
    try:
        return cells.table()
    except InputError:
        if not sums:
            raise
    if sums == 1:
        assert spec.read is not None
        return _summed(cells, spec.read.keep_status, log).table()
    # any residual is accepted, and the table says which there is
    table = cells.table(tolerance=float(np.abs(cells.frame[cells.response]).sum()))
    log.add(f"sums are off by up to {table.residual:g}; the methods work on deviations, which add up", DIFFERENT)
    return table


def _summed(cells: _Cells, keep_status: bool, log: Logbook) -> _Cells:
    """Compute all totals from the inner cells, and put them in the place of those in the file."""
    names, value, frame = [d.name for d in cells.dimensions], cells.response, cells.frame
    inner = np.ones(len(frame), bool)
    for d in cells.dimensions:
        codes = frame[d.name]
        inner &= (
            codes.isin({*d.hierarchy.leaves, *d.missing}) if d.hierarchy is not None else codes != d.total
        ).to_numpy()
    added = replace(cells, frame=frame.loc[inner, [*names, value]], columns={}).table(margins="add")
    computed = added.rows[[*names, value]]
    both = computed.merge(frame, on=names, how="left", suffixes=("", " of the file"), indicator=True)
    there, old = (both["_merge"] == "both").to_numpy(), both[f"{value} of the file"].to_numpy(np.float64)
    changed = there & ~np.isclose(old, both[value], rtol=1e-12, atol=0)
    new = ~there & (both[value] != 0).to_numpy()
    for row in np.flatnonzero(changed)[:10]:
        words = " x ".join(both.loc[row, names])
        log.add(
            f"the total {words} was {old[row]:.15g} in the file, and is {both.loc[row, value]:.15g} as computed",
            DIFFERENT,
        )
    log.add(f"{int(changed.sum())} totals of the file were replaced and {int(new.sum())} missing ones added", DIFFERENT)
    kept = both.loc[there | new, list(frame.columns)].reset_index(drop=True)
    columns = dict(cells.columns)
    if new.any():
        lost = [name for name in ("count", "maxima", "shadow", "cost") if columns.pop(name, None) is not None]
        if lost:
            log.add(f"added totals have no {', '.join(lost)}, so these could not be kept", DIFFERENT)
    if "status" in columns:
        status = kept[columns["status"]].fillna("")
        if not keep_status:
            status = status.where(~(changed | new)[there | new], "")
        kept[columns["status"]] = status
        log.add(f"statuses of computed totals are {'those of the file' if keep_status else 'left to the rules'}")
    return replace(cells, frame=kept, columns=columns)
