"""Rules at the level of holdings, beside those at the level of individual contributors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from tabprotect.errors import InputError
from tabprotect.sensitivity.rule import Needs, Override, Rule, Verdict
from tabprotect.table.table import Table

__all__ = ["OF_HOLDINGS", "AtHoldings", "at_holdings", "both_levels", "by_level"]

OF_HOLDINGS: Final = "holdings:"
"""What a rule at the level of holdings begins with, as text."""


@dataclass(frozen=True)
class AtHoldings:
    """A rule that looks at holdings, in a table that has the contributions of both levels.

    As text it is the rule after ``holdings:``, such as ``holdings: p%=15``.

    Parameters
    ----------
    rule : Rule

    Examples
    --------
    >>> import pandas as pd
    >>> from tabprotect.sensitivity.assess import assess
    >>> from tabprotect.table.tabulate import tabulate
    >>> data = pd.DataFrame({"region": list("nnnsss"), "firm": list("abcdef"), "group": list("ggghij"), "v": [5.0] * 6})
    >>> table = tabulate(data, "region", "v", contributor="firm", holding="group", both_levels=True)
    >>> print(assess(table, ["threshold=3", "holdings: threshold=2"]).explain("n"))
    n: 15, primary
      threshold=3: not sensitive; 3 contributors >= 3
      holdings: threshold=2: sensitive; 1 contributor < 2
      an intruder must find it able to move down by 1.5, up by 1.5
    """

    keywords: ClassVar[tuple[str, ...]] = (OF_HOLDINGS,)

    rule: Rule

    def __post_init__(self) -> None:
        if isinstance(self.rule, Override) or not isinstance(self.rule, Rule):
            raise InputError(
                f"'{self.rule}' decides about cells, whoever contributes to them; give it among the rules, not among "
                "those at the level of holdings"
            )

    def __str__(self) -> str:
        return f"{OF_HOLDINGS} {self.rule}"

    def needs(self) -> Needs:
        """Return what the table must carry, of holdings."""
        return self.rule.needs()

    def judge(self, table: Table) -> Verdict:
        """Return the cells that are sensitive at the level of holdings, and their levels."""
        return self.rule.judge(_held(table))

    def explain(self, table: Table, cell: int) -> str:
        """Say in words how the rule reads one cell."""
        return self.rule.explain(_held(table), cell)


def _held(table: Table) -> Table:
    if table.holdings is None:
        raise InputError("the table has not the contributions of holdings beside those of individuals")
    return table.holdings


def at_holdings(rules: Iterable[Rule | Override]) -> tuple[AtHoldings, ...]:
    """Return rules as rules at the level of holdings; those that are stay as they are.

    Raises
    ------
    InputError
        Every one that is no rule but an override.
    """
    problems: list[str] = []
    found = []
    for rule in rules:
        try:
            found.append(rule if isinstance(rule, AtHoldings) else AtHoldings(rule))  # type: ignore[arg-type]
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(*problems)
    return tuple(found)


def both_levels(rules: Iterable[object]) -> bool:
    """Return whether a table needs the contributions of both levels for these rules."""
    return any(isinstance(rule, AtHoldings) for rule in rules)


def by_level(table: Table, rules: Sequence[Rule | Override]) -> list[tuple[Table, list[Rule], str]]:
    """Return the table and the rules of each level that has any, and what these rules begin with as text."""
    own = [rule for rule in rules if isinstance(rule, Rule) and not isinstance(rule, AtHoldings)]
    held = [rule.rule for rule in rules if isinstance(rule, AtHoldings)]
    levels = [(table, own, "")] if own else []
    return [*levels, (_held(table), held, f"{OF_HOLDINGS} ")] if held else levels
