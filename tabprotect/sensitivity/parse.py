"""Rules from text, as the command line and specifications write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import MISSING, fields
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any, Final, get_type_hints

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.sensitivity.level import OF_HOLDINGS, at_holdings
from tabprotect.sensitivity.rule import Override, Rule, Spoken
from tabprotect.sensitivity.rules import RULES

__all__ = ["as_rules", "parse_rule", "parse_rules", "right_rules", "rules_in"]

_TWICE: Final = {"P": 2, "NK": 2}
"""tau-ARGUS applies the first of these to contributors, and what comes after to holdings."""


def parse_rule(text: str) -> Rule | Override:
    """Read one rule: ``keyword=parameters`` or, as tau-ARGUS writes it, ``KEYWORD(parameters)``.

    Parameters
    ----------
    text : str
        Such as ``p%=15``, ``p%=15,2`` or ``p%=15,n=2``, ``nk=2,85``, ``pq=10,50``, ``threshold=3``, ``threshold=3,10``,
        ``request=70,85,10``, ``zero=1``, ``missing``, ``manual=10``, ``apriori=FILE.hst``, ``P(10,1)``, ``FREQ(3,10)``;
        after ``holdings:`` it looks at holdings, in a table that has both levels.

    Raises
    ------
    InputError
        Says what was meant, or what the parameters are.

    Examples
    --------
    >>> parse_rule("p%=15"), parse_rule("NK(2,85)")
    (PPercent(p=15.0, n=1), Dominance(n=2, k=85.0))
    >>> parse_rule("p%15")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: rule 'p%15' is not known; did you mean 'p%=15'?
    """
    rules = parse_rules(text)
    if len(rules) != 1:
        raise InputError(f"'{text}' holds {len(rules)} rules where one is wanted")
    return rules[0]


def parse_rules(text: str) -> tuple[Rule | Override, ...]:
    """Read several rules with '|' between them, ``P(10,1)|FREQ(3,10)|NK(2,85)``; `parse_rule` has the forms.

    In the tau-ARGUS form two P or NK rules apply to contributors and two more would apply to holdings, the second
    FREQ or REQ too; here such a rule is written ``holdings: P(10,1)``, so these are refused rather than misread.
    ``MIS(0)`` is no rule.

    Raises
    ------
    InputError
        Every rule that cannot be read.

    Examples
    --------
    >>> [str(rule) for rule in parse_rules("P(10,1)|FREQ(3,30)|NK(2,85)|MIS(0)")]
    ['p%=10', 'threshold=3,30', 'nk=2,85']
    """
    if not isinstance(text, str):
        raise InputError(f"rules are written as text, such as 'p%=15', not {text!r}")
    problems = Problems()
    rules: list[Rule | Override] = []
    seen: dict[str, int] = {}
    for part in text.split("|"):
        try:
            if part.strip().lower().startswith(OF_HOLDINGS):
                rules += at_holdings(parse_rules(part.strip()[len(OF_HOLDINGS) :].strip()))
                continue
            keyword, arguments, foreign = _split(part.strip())
            seen[keyword] = seen.get(keyword, 0) + 1
            if foreign and seen[keyword] > _TWICE.get(keyword, 1):
                problems.add(
                    f"rule '{part.strip()}': tau-ARGUS applies a repeated {keyword} to holdings; here that is written "
                    f"'{OF_HOLDINGS} {part.strip()}', or given as one of the holding rules"
                )
            elif not (keyword == "MIS" and arguments == ["0"]):
                rule = _build(part.strip(), keyword, arguments)
                rules.append(rule if foreign else _in_doubt(rule, part.strip(), keyword, arguments))
        except InputError as error:
            problems.found.extend(error.problems)
    problems.raise_if_any()
    return tuple(rules)


def rules_in(texts: Iterable[Rule | Override | str], base: Path) -> tuple[Rule | Override, ...]:
    """Return rules from texts whose files are relative to a folder.

    Examples
    --------
    >>> [str(rule) for rule in rules_in(["p%=15", "apriori=cells.hst"], Path("specs"))]
    ['p%=15', 'apriori=specs/cells.hst']
    """
    return tuple(rule.located(base) if isinstance(rule, Spoken) else rule for rule in as_rules(texts))


def as_rules(rules: Rule | Override | str | Iterable[Rule | Override | str]) -> tuple[Rule | Override, ...]:
    """Return rules given as objects, texts, or a mixture, without repetitions and in their order.

    Examples
    --------
    >>> as_rules("p%=15|threshold=3") == as_rules(["p%=15", "threshold=3", "p%=15"])
    True
    """
    if not isinstance(rules, Iterable | Rule | Override | type):
        raise InputError(f"rules must be such as 'p%=15', or a list of them, not {rules!r}")
    # a class of rules has all that a rule has, too
    given: Iterable[object] = [rules] if isinstance(rules, str | Rule | Override | type) else rules
    problems = Problems()
    found: list[Rule | Override] = []
    for rule in given:
        if isinstance(rule, str):
            try:
                found.extend(parse_rules(rule))
            except InputError as error:
                problems.found.extend(error.problems)
        elif isinstance(rule, type):
            problems.add(f"{rule.__name__} is a class, no rule; give a rule with its numbers, such as PPercent(15)")
        elif isinstance(rule, Rule | Override):
            found.append(rule)
        else:
            problems.add(f"{rule!r} is no rule; give a text such as 'p%=15' or an object such as PPercent(15)")
    problems.raise_if_any()
    return tuple(dict.fromkeys(found))


def right_rules(problems: Problems, rules: Any) -> tuple[Rule | Override, ...]:
    """Note what is wrong with rules, and return those that can be read.

    Examples
    --------
    >>> problems = Problems()
    >>> right_rules(problems, ["p%15", "threshold=3"]), problems.found
    ((Threshold(n=3, range=10.0),), ["rule 'p%15' is not known; did you mean 'p%=15'?"])
    """
    several = isinstance(rules, Iterable) and not isinstance(rules, str | Rule | Override)
    found = [problems.attempt(as_rules, [one] if several else one) or () for one in (rules if several else [rules])]
    return tuple(dict.fromkeys(rule for some in found for rule in some))


def _split(text: str) -> tuple[str, list[str], bool]:
    """Return keyword, parameters, and whether the text has the form of tau-ARGUS."""
    called = re.fullmatch(r"\s*([A-Za-z%]+)\s*\(([^()]*)\)\s*", text)
    if called:
        keyword, inside = called.groups()
    else:
        keyword, _, inside = (part.strip() for part in text.partition("="))
    known = next((k for k in RULES if k == keyword), next((k for k in RULES if k.lower() == keyword.lower()), None))
    if keyword.upper() == "WGT":
        raise InputError(f"rule '{text}': sampling weights are no rule; give weight= to tabulate")
    bare = re.fullmatch(r"([A-Za-z%]+)[\s:]*([\d.,]+)", text.strip())
    if known is None and bare and bare[1].lower() in RULES:
        raise InputError(f"rule '{text}' is not known; did you mean '{bare[1].lower()}={bare[2]}'?")
    if known is None:
        raise InputError(f"rule '{text}' is not known{did_you_mean(keyword, [k for k in RULES if k.islower()])}")
    if str in _types(known):
        return known, [inside], False
    return known, [word.strip() for word in inside.split(",")] if inside.strip() else [], called is not None


def _types(keyword: str) -> list[Any]:
    cls = RULES[keyword]
    hints = get_type_hints(cls)
    return [hints[f.name] for f in fields(cls)]  # type: ignore[arg-type]


def _in_doubt(rule: Rule | Override, text: str, keyword: str, arguments: list[str]) -> Rule | Override:
    """Let a rule know that its text is another rule to whoever writes decimals with a comma."""
    if not isinstance(rule, Spoken) or re.search(r",\s", text):
        return rule
    for k, (whole, part) in enumerate(pairwise(arguments)):
        if whole.isdecimal() and part.isdecimal():
            try:
                other = _build(text, keyword, [*arguments[:k], f"{whole}.{part}", *arguments[k + 2 :]])
            except InputError:
                continue
            return rule.in_doubt(text, str(other))
    return rule


def _named(text: str, arguments: list[str], names: list[str]) -> list[str]:
    """Return the parameters in their order, without their names; names may stand before the last ones only."""
    found = []
    for name, argument in zip(names, arguments, strict=False):
        given, equals, word = (part.strip() for part in argument.partition("="))
        if equals and given != name:
            raise InputError(f"rule '{text}': '{given}' stands where {name} is; the parameters are {', '.join(names)}")
        found.append(word if equals else argument)
    return [*found, *arguments[len(names) :]]


def _build(text: str, keyword: str, arguments: list[str]) -> Rule | Override:
    cls = RULES[keyword]
    parameters = fields(cls)  # type: ignore[arg-type]
    names = [f.name for f in parameters]
    needed = sum(f.default is MISSING for f in parameters)
    if (keyword == "MIS" and arguments == ["1"]) or arguments == [""]:
        arguments = []
    if str not in _types(keyword):
        arguments = _named(text, arguments, names)
    if not needed <= len(arguments) <= len(names):
        form = f"{cls.keywords[0]}={','.join(names)}" if names else cls.keywords[0]
        raise InputError(
            f"rule '{text}' has {len(arguments)} parameter{'' if len(arguments) == 1 else 's'}; write the rule '{form}'"
            + (f", the last {len(names) - needed} may be left out" if len(names) > needed else "")
        )
    values: list[Any] = []
    for name, word, kind in zip(names, arguments, _types(keyword), strict=False):
        try:
            number = float(word) if kind is not str else 0.0
        except ValueError:
            raise InputError(f"rule '{text}': {name} must be a number, not '{word}'") from None
        if not isfinite(number):
            raise InputError(f"rule '{text}': {name} must be a number, not '{word}'")
        values.append(word if kind is str else bool(number) if kind is bool else number)
        if kind is int and number == int(number):
            values[-1] = int(number)
    try:
        return cls(*values)
    except InputError as error:
        raise InputError(*(f"rule '{text}': {problem}" for problem in error.problems)) from None
