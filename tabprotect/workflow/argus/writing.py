"""``WRITETABLE``: what is known of the cells of a table, put into the form that is asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError
from tabprotect.formats.argus.commands import WriteTable
from tabprotect.formats.argus.output import CONFIDENTIAL as SECRETS
from tabprotect.formats.argus.output import STATUS_NUMBERS, Cells, encode, metadata_of
from tabprotect.formats.argus.rda_writer import write_rda
from tabprotect.formats.files import write_text
from tabprotect.formats.jj import write_jj
from tabprotect.problem import Problem, Status
from tabprotect.sensitivity.assess import assess
from tabprotect.sensitivity.assessment import Assessment
from tabprotect.sensitivity.build import make_problem
from tabprotect.sensitivity.level import OF_HOLDINGS
from tabprotect.table.decimals import decimals_of
from tabprotect.table.table import Table
from tabprotect.workflow.argus.logbook import CONFIDENTIAL, UNSAFE, Logbook
from tabprotect.workflow.argus.protection import Protected
from tabprotect.workflow.argus.specified import Built, Specified

__all__ = ["write_table"]

_DOMINANCE = ("p%", "nk", "pq")


def write_table(
    asked: WriteTable,
    path: Path,
    spec: Specified,
    built: Built,
    protected: Protected | None,
    log: Logbook,
    *,
    allow_unsafe: bool = False,
) -> tuple[Path, ...]:
    """Write one table; return the files that were written, none where it is not safe to publish.

    Raises
    ------
    InputError
        If the form does not go with the table, or the file cannot be written.
    """
    # a line a cell has room for statuses beside true values; rows and columns have not
    public = asked.form == 1 or (asked.form in (2, 3) and not asked.options.get("AS", False))
    if public and not allow_unsafe and not (protected is not None and protected.safe):
        why = "it is not protected; write <SUPPRESS> before it" if protected is None else "it is not safe"
        log.add(f"{path.name} was not written, since it would be published and {why}", UNSAFE)
        return ()
    if asked.form == 1 and asked.options.get("AS"):
        log.add("AS+ plays no part: form 1 has no statuses, and x for hidden cells")
    if not public:
        what = SECRETS.get(asked.form, "the true values of hidden cells, and why they are hidden")
        log.add(f"{path.name} holds {what}; it must not be published", CONFIDENTIAL)
    if asked.form == 6:
        if protected is not None and protected.method in ("RND", "CTA"):
            raise InputError("form 6 (JJ) states a problem of hidden cells, and here values are changed")
        if asked.options.get("TR") is False:
            log.add("codes with one part are one cell here, so trivial levels are always left out")
        _write_jj(path, built, protected, log)
        return (path,)
    if asked.options.get("HI"):
        built = _at_holdings(built, log)
    cells = _cells(spec, built, protected, audit=bool(asked.options.get("AR")) and asked.form == 5, public=public)
    write_text(path, encode(cells, asked.form, asked.options))
    if asked.form != 5:
        return (path,)
    described = path.with_suffix(".rda")
    flags = {"status_only": bool(asked.options.get("SO")), "audit": bool(asked.options.get("AR"))}
    write_rda(metadata_of(cells, spec.metadata, **flags), described)
    return path, described


def _at_holdings(built: Built, log: Logbook) -> Built:
    held = built.table.holdings
    if held is None:
        log.add("HI+ plays no part: there are no rules at the level of holdings beside those of individuals")
        return built
    return replace(built, table=replace(built.table, counts=held.counts, contributions=held.contributions))


def _state(built: Built, protected: Protected | None) -> tuple[Assessment, npt.NDArray[np.int64], Any]:
    """Return the assessment, its cell of every row of the table, and the words of the cells."""
    if protected is not None:
        release: Any = protected.release
        return release.assessment, release.table.row_cell[protected.rows], release.words
    found = assess(built.table, built.everything)
    names = np.array([status.name.lower() for status in Status], dtype=object)
    return found, built.table.row_cell, names[found.status]


def _cells(spec: Specified, built: Built, protected: Protected | None, *, audit: bool, public: bool) -> Cells:
    """Gather what is known of every row of a table, in the order of the codes; the first dimension varies slowest."""
    table = built.table
    assessment, at, words = _state(built, protected)
    names = [dimension.name for dimension in table.dimensions]
    codes = table.rows[names].astype(str)
    order = np.lexsort([codes[d.name].map(d.known.position).to_numpy() for d in reversed(table.dimensions)])
    codes, at, own = codes.iloc[order].reset_index(drop=True), at[order], table.row_cell[order]
    levels = pd.DataFrame(
        {
            d.name: pd.Series(codes[d.name]).map(dict(zip(d.known.codes, d.known.levels.tolist(), strict=True)))
            for d in table.dimensions
        }
    )
    values, original, method = table.values[own], None, ""
    hidden = np.isin(words[at], ("primary", "secondary", "forced"))
    weights, low, high = _problem(built).weights[own], None, None
    if protected is not None and protected.method in ("RND", "CTA"):
        release: Any = protected.release
        if release.values is None:
            raise InputError(f"{spec.name} has no changed values: {release.result.message or 'none were found'}")
        original, values, method = values, release.values[at], {"RND": "Round"}.get(protected.method, "CTA")
        hidden = np.zeros(len(at), bool)
    if audit and protected is not None and not method:
        known = protected.release.audit().public
        sides = []
        for side in (known.low, known.high):
            reached = protected.release.table.values.copy()
            reached[known.cells[known.cells < len(reached)]] = side[known.cells < len(reached)]
            sides.append(reached[at])
        low, high = sides
    # hidden values must not tell how many decimals they have
    found = decimals_of(values[~hidden] if public else values)
    places = None if found is None else max(found, built.places)
    c = table.contributions
    return Cells(
        codes=codes,
        levels=levels,
        name=spec.asked.response or "Freq",
        values=values,
        hidden=hidden,
        status=_numbers(assessment, table, at, own, words),
        places=places,
        original=original,
        method=method,
        counts=None if table.counts is None or table.kind == "frequency" else table.counts[own],
        shadow=None if c is None or c.shadow is None else c.total[own],
        cost=weights,
        lpl=assessment.lpl[at],
        upl=assessment.upl[at],
        low=low,
        high=high,
        top=None if c is None or table.kind == "frequency" else c.values[own],
        sbs=_sbs(assessment, built, at, own, words),
    )


def _reason(assessment: Assessment, keywords: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Return the cells that rules of these keywords find sensitive, also those at the level of holdings."""
    found = np.zeros(assessment.table.n_cells, bool)
    for text, cells in assessment.reasons.items():
        if _plain(text).split("=")[0] in keywords:
            found |= cells
    return found


def _plain(text: str) -> str:
    """Return a rule without its level."""
    return text.removeprefix(OF_HOLDINGS).strip()


def _numbers(
    assessment: Assessment, table: Table, at: npt.NDArray[np.int64], own: npt.NDArray[np.int64], words: Any
) -> npt.NDArray[np.int64]:
    """Return the status numbers of tau-ARGUS for every row."""
    number = STATUS_NUMBERS
    n = assessment.table.n_cells
    status = np.full(n, number["safe"], np.int64)
    primary = words == "primary"
    status[primary] = number["by hand"]
    for keywords, name in (
        (("zero",), "zero"),
        (("threshold",), "frequency"),
        (("request",), "request"),
        (_DOMINANCE, "unsafe"),
    ):
        status[primary & _reason(assessment, keywords)] = number[name]
    status[words == "secondary"] = number["secondary"]
    status[words == "forced"] = number["secondary by hand"]
    status[words == "protected"] = number["protected"]
    status[words == "zero"] = number["empty"]
    rows = status[at]
    if table.counts is not None:
        nobody = (table.counts[own] == 0) & (rows == number["safe"])
        rows[nobody] = number["empty, not structural"]
    return rows


def _sbs(
    assessment: Assessment, built: Built, at: npt.NDArray[np.int64], own: npt.NDArray[np.int64], words: Any
) -> npt.NDArray[np.object_] | None:
    """Return the letters of the SBS form for every row."""
    c = built.table.contributions
    if c is None or not c.values.shape[1]:
        return None
    letters = np.full(assessment.table.n_cells, "V", dtype=object)
    primary = words == "primary"
    letters[primary] = "C"
    rows = letters[at]
    largest, total = np.abs(c.values[own, 0]), np.abs(c.total[own])
    alone = np.zeros(len(own), bool)
    for text in built.rules:
        name, _, numbers = _plain(text).partition("=")
        given = [float(word) for word in numbers.split(",")] if name in _DOMINANCE else []
        if name == "nk":
            alone |= 100 * largest > given[1] * total
        elif given:
            alone |= 100 * (total - largest) < given[0] * largest
    few = _reason(assessment, ("threshold",))[at]
    rows[(rows == "C") & alone] = "B"
    rows[primary[at] & few] = "A"
    rows[np.isin(words[at], ("secondary", "forced"))] = "D"
    return rows


def _problem(built: Built) -> Problem:
    """State the problem of a table, for its costs; bounds play no part in them."""
    least = float(min(built.table.values.min(initial=0.0), 0.0))
    bounds = (1.5 * least, None) if least < 0 else None
    found = assess(built.table, built.everything)
    return make_problem(built.table, found, bounds=bounds, singletons=False)


def _write_jj(path: Path, built: Built, protected: Protected | None, log: Logbook) -> None:
    problem = _problem(built)
    if protected is not None:
        _, at, words = _state(built, protected)
        word = np.empty(problem.n_cells, dtype=object)
        word[built.table.row_cell] = words[at]
        status = problem.status.copy()
        status[word == "secondary"] = Status.FORCED
        problem = replace(problem, status=status)
    write_jj(problem, path)
    log.add("cells are numbered in the order of the table, from 0; respondents who know cells are not in the file")
