"""What notebooks show of tables, problems, judgements and releases: the head, folded, without script.

The view of a release shows what the public gets. All others say that they are internal; those of problems, patterns and
audits show which cells are sensitive and hidden, but no value, level, contribution or parameter of a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, singledispatch
from importlib import resources
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd
from markupsafe import Markup

from tabprotect.attack.findings import Audit
from tabprotect.errors import InfeasibleError
from tabprotect.formats.dialect import Dialect
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem, Status
from tabprotect.report.axes import Axis
from tabprotect.report.folded import MOST_COLUMNS, MOST_ROWS, Cell, Folded, Node, folded, short
from tabprotect.report.numbers import Numbers
from tabprotect.report.pages import environment
from tabprotect.report.parts import parts_of
from tabprotect.report.public import PUBLISHED, PublicTable
from tabprotect.sensitivity.assessment import Assessment
from tabprotect.table.decimals import decimals_of
from tabprotect.table.system import LinearSystem
from tabprotect.table.table import Table

__all__ = ["facts_view", "html", "records_view", "release_view"]

Bools = npt.NDArray[np.bool_]
Objects = npt.NDArray[np.object_]

MOST_PARTS: Final = 4
MOST_RECORDS: Final = 10
INTERNAL: Final = "INTERNAL: not for publication"
UNPROTECTED: Final = "INTERNAL: values before protection; clear this output before you share the notebook"

_LETTERS: Final = {"primary": "P", "secondary": "S", "forced": "F", "protected": "!", "zero": "0", "safe": ""}
_NAMES: Final = {
    "primary": "P primary", "secondary": "S secondary", "forced": "F suppressed before",
    "protected": "! must be published", "zero": "0 zero or fixed", "suppressed": "× suppressed",
}  # fmt: skip


class Releasable(Protocol):
    """What a view needs of a release."""

    @property
    def title(self) -> str:
        """Heading; public."""

    @property
    def table(self) -> Table:
        """The table; numbers are written as in the file that it comes from."""

    @property
    def safe(self) -> bool:
        """Whether it may be published."""

    @property
    def public(self) -> PublicTable:
        """What the public gets."""


@singledispatch
def html(thing: object) -> str:
    """Return a table, problem, assessment, pattern or audit as a piece of HTML.

    Raises
    ------
    TypeError
        For anything else.
    """
    raise TypeError(f"no view of {type(thing).__name__}")


@html.register
def _(table: Table) -> str:
    decimals, numbers = decimals_of(table.values), Numbers.of(Dialect.like(table.recognised))
    words = np.full(table.n_cells, "safe", dtype=object)
    grids = _grids(table, lambda i: numbers.fixed(table.values[i], decimals), words)
    return _view(f"Table of {short(table.value_name)}", UNPROTECTED, [repr(table)], grids, words)


@html.register
def _(problem: Problem) -> str:
    words = _status_words(problem)
    return _view("Problem", INTERNAL, [repr(problem)], [_of_system(problem.system, words)], words)


@html.register
def _(assessment: Assessment) -> str:
    words = _words_of(assessment.status)
    names = [(rule.partition("=")[0], int(mask.sum())) for rule, mask in assessment.reasons.items()]
    facts = [f"{short(name)}: {n:,} primary" for name, n in names]
    return _view("Assessment", INTERNAL, facts, _grids(assessment.table, lambda i: _LETTERS[words[i]], words), words)


@html.register
def _(result: SuppressionResult) -> str:
    words = _hidden_words(result.problem, result.pattern)
    return _view("Pattern", INTERNAL, [repr(result)], [_of_system(result.problem.system, words)], words)


@html.register
def _(judged: Audit) -> str:
    words = _status_words(judged.problem) if judged.changed else _hidden_words(judged.problem, judged.pattern)
    exposed = set(judged.exposed.tolist())
    facts = [f"{judged.verdict}: {judged.short_words}"]
    facts += [
        f"{len(cells):,} {what}"
        for cells, what in ((judged.exposed, "exposed"), (judged.recomputable, "recomputable"))
        if len(cells)
    ]
    grid = _of_system(judged.problem.system, words, lambda i: "P exposed" if i in exposed else _LETTERS[words[i]])
    return _view("Audit", INTERNAL, facts, [grid], words)


def facts_view(title: str, facts: Sequence[str]) -> str:
    """Return facts that tell no value, under a title."""
    return _view(title, INTERNAL, facts, [], np.zeros(0, dtype=object))


def release_view(release: Releasable) -> str:
    """Return a release as the public will see it; of one that may not be published, the verdict alone."""
    try:
        public = release.public
    except InfeasibleError:
        warning = "NOT SAFE: nothing is published; summary() says why"
        return _view(short(release.title), warning, [], [], np.zeros(0, dtype=object))
    shown = public.frame[public.value].to_numpy(np.float64, na_value=np.nan)
    words = np.full(len(shown), PUBLISHED, dtype=object)
    if public.status is not None:
        words = public.frame[public.status].to_numpy(object)
    rows = max(1, MOST_ROWS // max(1, min(len(public.parts), MOST_PARTS)))
    numbers = Numbers.of(Dialect.like(release.table.recognised))
    grids = []
    for part in public.parts[:MOST_PARTS]:
        text = _shown(shown[part.rows], public.decimals, numbers)
        made = folded(part.axes, part.at, text, words[part.rows], column=public.value, most=rows)
        grids.append(_named(part.name, made))
    facts = [f"Unit: {short(public.unit)}"] if public.unit else []
    facts += [f"{numbers(n)} {word}" for word, n in public.counts().items()]
    source = f"Source: {short(public.source)}" if public.source else ""
    warning = "" if release.safe else "NOT SAFE: shown because allow_unsafe is set"
    return _view(short(release.title), warning, facts, grids, words, source)


def records_view(title: str, frame: pd.DataFrame, records: int, columns: int, facts: Sequence[str]) -> str:
    """Return the first records of a masked file.

    Parameters
    ----------
    title : str
    frame : pandas.DataFrame
        The first released records; at most 10 of them and 10 columns are shown.
    records, columns : int
        How many there are.
    facts : sequence of str
    """
    head = frame.iloc[:MOST_RECORDS, :MOST_COLUMNS]
    nodes = [
        Node(str(i + 1), 1, [Cell("" if pd.isna(value) else short(value), "safe") for value in row])
        for i, row in enumerate(head.astype(object).itertuples(index=False, name=None))
    ]
    left = [f"{records - len(head):,} further records"] if records > len(head) else []
    left += [f"{columns - head.shape[1]:,} further columns"] if columns > head.shape[1] else []
    grid = Folded("record", tuple(short(name) for name in head.columns), tuple(nodes), " · ".join(left))
    return _view(short(title), "", facts, [grid], np.zeros(0, dtype=object))


def _shown(values: npt.NDArray[np.float64], decimals: int | None, numbers: Numbers) -> Callable[[int], str]:
    return lambda i: "×" if np.isnan(values[i]) else numbers.fixed(values[i], decimals)


def _grids(table: Table, text: Callable[[int], str], words: Objects) -> list[Folded]:
    """Return the parts of a table, those of linked tables one below the other."""
    if not len(table.rows):
        return [_of_system(table.system, words, text, table.value_name)]
    parts = parts_of(table)
    rows = max(1, MOST_ROWS // min(len(parts), MOST_PARTS))
    grids = []
    for part in parts[:MOST_PARTS]:
        cell = table.row_cell[part.rows]
        made = folded(part.axes, part.at, _at(cell, text), words[cell], column=table.value_name, most=rows)
        grids.append(_named(part.name, made))
    return grids


def _at(cell: npt.NDArray[np.int64], text: Callable[[int], str]) -> Callable[[int], str]:
    return lambda row: text(int(cell[row]))


def _named(name: str, grid: Folded) -> Folded:
    return Folded(f"{short(name)}: {grid.corner}", grid.head, grid.nodes, grid.note) if name else grid


def _of_system(
    system: LinearSystem, words: Objects, text: Callable[[int], str] | None = None, column: str = "status"
) -> Folded:
    """Return cells that only their ids are known of."""
    cells = system.cells
    axes, at = [], []
    for k in range(cells.nlevels):
        place, codes = pd.factorize(cells.get_level_values(k))
        name = cells.names[k]
        axes.append(Axis.flat("cell" if name is None else str(name), [str(code) for code in codes]))
        at.append(place.astype(np.int64))
    return folded(axes, at, text or (lambda i: _LETTERS[words[i]]), words, column=column)


def _words_of(status: npt.NDArray[np.int8]) -> Objects:
    return np.array([one.name.lower() for one in Status], dtype=object)[status]


def _status_words(problem: Problem) -> Objects:
    return _words_of(problem.status)


def _hidden_words(problem: Problem, pattern: Bools) -> Objects:
    words = _status_words(problem)
    words[pattern & ~problem.must_hide] = "secondary"
    return words


@cache
def _style() -> Markup:
    """The style of views, with the colours of the pages."""
    static = resources.files("tabprotect.report") / "static"
    pages = (static / "style.css").read_text(encoding="utf-8")
    colours = pages[: pages.index("\n* {")].replace(":root", ".tp-view")
    return Markup(colours + "\n" + (static / "view.css").read_text(encoding="utf-8"))


def _view(
    title: str, warning: str, facts: Sequence[str], grids: Sequence[Folded], words: Objects, source: str = ""
) -> str:
    found = set(map(str, pd.unique(words)))
    legend = [(word, name) for word, name in _NAMES.items() if word in found]
    return environment().get_template("view.html.j2").render(
        title=title, warning=warning, facts=facts, grids=grids, legend=legend, source=source, style=_style()
    )  # fmt: skip
