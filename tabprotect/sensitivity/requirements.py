"""How rules were read, and what they need of a table."""

from __future__ import annotations

from collections.abc import Iterable

from tabprotect.counted import counted
from tabprotect.errors import InputError, collect
from tabprotect.sensitivity.level import AtHoldings
from tabprotect.sensitivity.parse import as_rules
from tabprotect.sensitivity.rule import Override, Rule, Spoken
from tabprotect.sensitivity.rules.manual import COLUMNS, Manual
from tabprotect.sensitivity.rules.missing_safe import MissingSafe
from tabprotect.table.table import Table

__all__ = [
    "Rules",
    "check_commas",
    "check_needs",
    "check_rules",
    "idle_rules",
    "needs",
    "needs_requests",
    "readings",
    "without_requests",
]

Rules = Rule | Override | str | Iterable[Rule | Override | str]


def readings(rules: Iterable[Rule | Override]) -> dict[str, str]:
    """Return by the text of each rule how it was read: its parameters by name.

    Examples
    --------
    >>> readings(as_rules(["p%=12,5", "holdings: threshold=3"]))
    {'p%=12,5': 'p = 12, n = 5', 'holdings: threshold=3': 'n = 3, range = 10'}
    """
    found = {str(one): _spoken(one) for one in rules}
    return {text: rule.reading for text, rule in found.items() if rule is not None}


def _spoken(one: Rule | Override) -> Spoken | None:
    rule = one.rule if isinstance(one, AtHoldings) else one
    return rule if isinstance(rule, Spoken) else None


def needs(rules: Rules) -> int:
    """Return how many of the largest contributions `tabulate` must keep for these rules.

    Examples
    --------
    >>> needs("p%=15"), needs(["p%=15,2", "nk=2,85"]), needs("threshold=3")
    (2, 3, 0)
    """
    return max((rule.needs().top for rule in as_rules(rules) if isinstance(rule, Rule)), default=0)


def needs_requests(rule: Rule | Override) -> bool:
    """Return whether a rule looks at the request codes of contributors."""
    return isinstance(rule, Rule) and not isinstance(rule, AtHoldings) and rule.needs().requests


def without_requests(rule: Rule | Override, *, microdata: bool = True) -> str:
    """Say that there are no request codes, which a rule needs."""
    cure = ": give request= to tabulate" if microdata else "; they are in microdata only"
    return f"rule {rule} needs request codes, and there are none{cure}"


def check_rules(table: Table, rules: Iterable[Rule | Override]) -> None:
    """Raise one error for rules that can be read in two ways, and for what the table lacks for any of them."""
    rules = tuple(rules)
    with collect() as problems:
        problems.attempt(check_commas, table, rules)
        problems.attempt(check_needs, table, rules)


def idle_rules(table: Table, rules: Iterable[Rule | Override]) -> tuple[str, ...]:
    """Return what is to be said where the rules have nothing to read, so that they find no sensitive cell."""
    rules = tuple(rules)
    if not rules or not COLUMNS.isdisjoint(table.columns):
        return ()
    if not all(isinstance(rule, Manual | MissingSafe) for rule in rules):
        return ()
    names = " and ".join(str(rule) for rule in rules)
    why = "since the table has no column of statuses or levels; add such a column, or a rule such as 'p%=15'"
    return (f"nothing says which cells are sensitive: {names} alone finds none, {why}",)


def check_commas(table: Table, rules: Iterable[Rule | Override]) -> None:
    """Refuse rules that a reader of the data, whose decimal sign is a comma, would read as other ones."""
    comma = any(found.sign == "," for found in table.recognised)
    with collect() as problems:
        for rule in map(_spoken, rules if comma else ()):
            if rule is not None and rule.doubt:
                text, other = rule.doubt
                problems.add(
                    f"rule '{text}' can be read in two ways beside data with a decimal comma: write the rule "
                    f"'{rule.named}' for {rule.reading}, or the rule '{other}'"
                )


def check_needs(table: Table, rules: Iterable[Rule | Override]) -> None:
    """Raise one error for everything that the rules need and the table lacks."""
    rules = tuple(rules)
    held = [rule for rule in rules if isinstance(rule, AtHoldings)]
    c = table.contributions
    with collect() as problems:
        if held and table.holdings is None:
            problems.add(
                f"rule {held[0]} needs the contributions of holdings beside those of individuals, so a table made from "
                "microdata: give holding= and both_levels=True to tabulate"
            )
        elif held and table.holdings is not None:
            try:
                check_needs(table.holdings, [rule.rule for rule in held])
            except InputError as error:
                problems.found += [f"at the level of holdings: {problem}" for problem in error.problems]
        for rule in rules:
            if not isinstance(rule, Rule) or isinstance(rule, AtHoldings):
                continue
            need = rule.needs()
            kept = 0 if c is None else c.values.shape[1]
            if need.top and table.kind == "frequency" and (c is None or c.shadow is None):
                problems.add(
                    f"rule {rule} looks at the size of contributions, which mean nothing in a frequency table; use "
                    "threshold="
                )
            elif need.top and c is None:
                cure = "contributor= to tabulate" if table.roles else "the columns of maxima to Table.from_cells"
                problems.add(f"rule {rule} needs the {need.top} largest contributions to every cell: give {cure}")
            elif need.top > kept:
                problems.add(
                    f"rule {rule} needs the {need.top} largest contributions to every cell, the table keeps {kept}: "
                    f"give top={need.top} to tabulate, or {counted(need.top, 'column')} of maxima to Table.from_cells"
                )
            if need.requests and c is not None and not c.requested.any():
                problems.add(without_requests(rule, microdata=bool(table.roles)))
            if need.counts and table.counts is None and table.weighted_counts is None and table.kind != "frequency":
                # what is tabulated has counts
                problems.add(
                    f"rule {rule} needs the number of contributors: give the column of counts to Table.from_cells"
                )
