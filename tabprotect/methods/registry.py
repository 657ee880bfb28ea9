"""Every method, once: its name, what makes it, what it acts on, its options, its claim, and its page.

Whatever lists methods (command line, comparison, reports, documentation) derives its list from here. A method that
changes values says all of this in its class (`tabprotect.methods.base.method.Method`) and is added to `VALUE_METHODS`;
the suppression methods are those of `tabprotect.methods.suppression.methods`, made by `tabprotect.Suppress`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from tabprotect.errors import InputError, did_you_mean
from tabprotect.methods.adjustment.method import Adjust
from tabprotect.methods.base.documented import Option, documented_options
from tabprotect.methods.base.method import Acts, Method
from tabprotect.methods.cell_key.method import CellKey
from tabprotect.methods.recoding.method import Recode
from tabprotect.methods.record_swapping.method import Swap
from tabprotect.methods.rounding.method import ConventionalRound, RandomRound, Round, SuccessiveRound, UnbiasedRound
from tabprotect.methods.small_counts.method import SmallCounts
from tabprotect.methods.suppression import methods
from tabprotect.methods.suppression.method import Suppress

__all__ = [
    "GRANULARITY",
    "METHODS",
    "OPEN_CLASSES",
    "PASSES",
    "RECODE",
    "VALUE_METHODS",
    "Entry",
    "Option",
    "all_options",
    "entry",
    "maker_of",
    "names",
    "options_help",
]

Family = Literal["suppress", "recode", "values"]

RECODE = "recode"

OPEN_CLASSES = "open-classes"

GRANULARITY = "granularity"

PASSES = "passes"
"""Suppression table by table through linked tables; see `tabprotect.suppress_linked`."""

#: every method that changes values, by its name
VALUE_METHODS: Mapping[str, type[Method]] = {
    method.name: method
    for method in (
        Adjust,
        Round,
        UnbiasedRound,
        SuccessiveRound,
        RandomRound,
        ConventionalRound,
        SmallCounts,
        CellKey,
        Swap,
    )
}

_SUPPRESSION: Mapping[str, str] = {
    "auto": "The method that suits size, dimensions and structure, named in the result.",
    "exact": "The cheapest pattern, or the best within the limits, with a lower bound.",
    "greedy": "A good pattern quickly; a bound with what is left of the limits.",
    "local": "Small programmes around each primary: large tables within minutes, then better, with a bound.",
    "modular": "Subtable by subtable from the top down.",
    "hypercube": "Hypercubes of hidden cells.",
    "network": "Shortest paths in tables of two dimensions.",
    "joint": "One linear programme for many cells at once.",
    PASSES: "Linked tables in coordinated passes, table by table.",
}


@dataclass(frozen=True)
class Entry:
    """One method.

    Attributes
    ----------
    name : str
        On the command line, in specifications and reports.
    family : {'suppress', 'recode', 'values'}
        What becomes of the table: cells are hidden, categories rolled up, values changed.
    factory : callable
        Makes what `tabprotect.protect` takes as its method, from options by name.
    acts_on : {'records', 'table', 'problem'}
        The earliest stage that it has to see.
    options : tuple of Option
    claims : tuple of str
        What its intruder is taken to know: kinds of `tabprotect.certificate.claims`; none where values are true or
        hidden.
    drawn : bool
        Whether what is published is drawn at random, under a secret seed.
    summary : str
        One sentence.
    page : str
        In the documentation.
    """

    name: str
    family: Family
    factory: Callable[..., Any]
    acts_on: Acts
    options: tuple[Option, ...]
    claims: tuple[str, ...]
    drawn: bool
    summary: str
    page: str


def _sentence(made: Any) -> str:
    """Return the first line of a docstring, without its pointer to a function."""
    return re.split(r"; see|\n", inspect.getdoc(made) or "")[0].rstrip(".") + "."


def _hiding(name: str) -> Entry:
    options = documented_options(Suppress, without=("method",), given_as_text=False)
    page = "methods.md#linked-tables" if name == PASSES else "methods.md"
    return Entry(
        name, "suppress", partial(Suppress, method=name), "problem", options, (), False, _SUPPRESSION[name], page
    )


def _values(made: type[Method]) -> Entry:
    return Entry(
        made.name,
        "values",
        made,
        made.acts_on,
        documented_options(made),
        made.claims,
        made.drawn,
        _sentence(made),
        made.page,
    )


def _recoding(name: str, factory: Callable[..., Recode], summary: str, **defaults: Any) -> Entry:
    options = tuple(
        replace(one, default=defaults.get(one.name, one.default))
        for one in documented_options(Recode, given_as_text=False)
    )
    return Entry(name, "recode", factory, "table", options, (), False, summary, "other-methods.md")


def _opening(open: Any = (), least: bool = False, **options: Any) -> Recode:  # noqa: A002
    if not open:
        raise InputError(
            "method 'open-classes' needs options: the dimensions that get open classes; make it with its class, "
            "such as tp.Recode(open=['age'], least=False)"
        )
    return Recode(open=open, least=least, **options)


def _degranulating(granularity: float = 50.0, **options: Any) -> Recode:
    return Recode(granularity=granularity, **options)


_RECODING = (
    _recoding(RECODE, Recode, _sentence(Recode)),
    _recoding(
        OPEN_CLASSES,
        _opening,
        "The first and last categories become open classes that are safe; what is sensitive still is hidden.",
        open=None,
        least=False,
    ),
    _recoding(
        GRANULARITY,
        _degranulating,
        "Roll categories up until no hyper-row consists of single respondents for the most part.",
        granularity=50.0,
    ),
)

#: every method, by its name, in the order of lists
METHODS: Mapping[str, Entry] = {
    one.name: one for one in (*map(_hiding, (*methods(), PASSES)), *_RECODING, *map(_values, VALUE_METHODS.values()))
}


def entry(name: str) -> Entry:
    """Return a method by its name.

    Raises
    ------
    InputError
        If there is none; says what was meant.

    Examples
    --------
    >>> entry("round").options[0]
    Option(name='base', takes='a number', default=None, help='By default 5 for counts, else the first of 1, 2, ...
    >>> entry("rond")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: unknown method 'rond'; did you mean 'round'?
    """
    if name not in METHODS:
        raise InputError(unknown_method(name, METHODS))
    return METHODS[name]


def unknown_method(name: str, known: Iterable[str]) -> str:
    """Return what is said of a method that there is not.

    Examples
    --------
    >>> unknown_method("zork", ["round", "adjust"])
    "unknown method 'zork'; there are 'round', 'adjust'"
    """
    known = list(known)
    meant = did_you_mean(name, known) or f"; there are {', '.join(map(repr, known))}"
    return f"unknown method '{name}'{meant}"


def all_options() -> set[str]:
    """Return the names of the options of all methods.

    Examples
    --------
    >>> {"base", "transform"} <= all_options()
    True
    """
    return {known.name for one in METHODS.values() for known in one.options}


def maker_of(option: str) -> str | None:
    """Return the name of a class of methods with an option; None where there is none.

    Examples
    --------
    >>> maker_of("transform"), maker_of("base"), maker_of("colour")
    ('Suppress', 'Round', None)
    """
    for one in METHODS.values():
        if option in {known.name for known in one.options}:
            return str(getattr(one.factory, "func", one.factory).__name__)
    return None


def names(family: Family | None = None) -> tuple[str, ...]:
    """Return the names of all methods, or of those of one family.

    Examples
    --------
    >>> names("suppress")
    ('auto', 'exact', 'greedy', 'local', 'modular', 'hypercube', 'network', 'joint', 'passes')
    """
    return tuple(one.name for one in METHODS.values() if family in (None, one.family))


def options_help(family: Family = "values") -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return names of options that can be given as text, by the methods that have exactly these, in the order of lists.

    Examples
    --------
    >>> options_help()["small-counts",]
    ('base', 'norm', 'weights')
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for one in METHODS.values():
        if one.family == family:
            groups.setdefault(tuple(o.name for o in one.options if o.text), []).append(one.name)
    return {tuple(group): options for options, group in groups.items()}
