"""Chains of methods: what can be said of them before the work, and which claims outlive a later step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import narwhals as nw

from tabprotect.errors import InfeasibleError, InputError, Problems, did_you_mean
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.intake import why_no_numbers
from tabprotect.microdata.method import Method, methods
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import NUMERIC

__all__ = ["as_chain", "check_chain", "check_step", "named", "note_scales", "step_words", "survives"]


def as_chain(given: Sequence[Method] | Method) -> tuple[Method, ...]:
    """Return one or several methods as a tuple; nothing else will do."""
    chain: tuple[Any, ...] = tuple(given) if isinstance(given, list | tuple) else (given,)
    wrong = [one for one in chain if not isinstance(one, Method)]
    if wrong:
        word = wrong[0].__name__ if isinstance(wrong[0], type) else repr(wrong[0])
        cure = "; call it with its parameters" if isinstance(wrong[0], type) else did_you_mean(word, methods())
        raise InputError(f"methods must be such as TopCoding('income', quantile=0.99), not {word}{cure}")
    if not chain:
        raise InputError("no method was given; there are " + ", ".join(methods()))
    return chain


def check_chain(chain: Sequence[Method], records: Records) -> None:
    """Note everything that can be seen before the work: columns that no step can find, scales of untouched columns.

    Of records that are not all at hand an empty prototype will do.
    """
    problems = Problems()
    made: set[str] = set()
    some = bool(len(records.frame))
    problems.attempt(records.weights)
    for i, method in enumerate(chain):
        for name in dict.fromkeys((*method.targets(records), *method.uses(records))):
            if name not in records.columns and name not in made and name not in method.makes(records):
                problems.add(f"step {i + 1} ({method.name}): no column '{name}'{did_you_mean(name, records.columns)}")
        if not made.intersection(method.targets(records)):
            note_scales(method, records, i, problems)
            for name in method.targets(records):
                if some and name in records.columns and records.missing(name).all():
                    problems.add(
                        f"step {i + 1} ({method.name}): column '{name}' has no value in any record; leave it out"
                    )
        made.update(method.targets(records))
    problems.raise_if_any()


def check_step(method: Method, records: Records, i: int) -> None:
    """Check one step against the records that it works on."""
    problems = Problems()
    note_scales(method, records, i, problems)
    for name in dict.fromkeys((*method.targets(records), *method.uses(records))):
        if name not in records.columns and name not in method.makes(records):
            hint = did_you_mean(name, records.columns)
            problems.add(f"step {i + 1} ({method.name}): no column '{name}' after the steps before{hint}")
    problems.raise_if_any()
    with named(method, i):
        method.check(records, problems)
        problems.raise_if_any()


@contextmanager
def named(method: Method, i: int) -> Iterator[None]:
    """Say in every error which step it is about."""
    try:
        yield
    except (InputError, InfeasibleError) as error:
        found = error.problems if isinstance(error, InputError) else (str(error),)
        kind = InputError if isinstance(error, InputError) else InfeasibleError
        words = (what.removeprefix(f"{method.name}: ") for what in found)
        raise kind(*(f"step {i + 1} ({method.name}): {what}" for what in words)) from error


def note_scales(method: Method, records: Records, i: int, problems: Problems) -> None:
    """Note columns with a scale that the method cannot work with, and identifiers."""
    for name in method.targets(records):
        if name not in records.columns:
            continue
        scale = records.scale(name)
        if scale not in method.scales:
            fits = " or ".join(str(one) for one in method.scales)
            others = [word for word, kind in methods().items() if scale in kind.scales and kind.family == method.family]
            hint = f"; for {scale} columns there are {', '.join(others)}" if others else ""
            why = why_no_numbers(records.frame, name) if method.scales == NUMERIC and _text(records, name) else ""
            hint = f"; {why}" if why else hint
            problems.add(f"step {i + 1} ({method.name}): column '{name}' is {scale}, the method takes {fits}{hint}")
        if records.schema.role(name) == "identifier":
            problems.add(f"step {i + 1} ({method.name}): column '{name}' is an identifier; it is not released anyway")


def _text(records: Records, name: str) -> bool:
    dtype = records.frame[name].dtype
    return name not in records.schema.scales and (dtype in (nw.String, nw.Object))


def step_words(place: int, chain: Sequence[Method]) -> str:
    """Say which step of a chain is at work; nothing where there is only one."""
    return f"step {place + 1} of {len(chain)}" if len(chain) > 1 else ""


def survives(claim: Claim, method: Method, changed: Sequence[str], moved: bool) -> bool:
    """Return whether a claim holds after a later step; `moved` if records are other ones or in another order."""
    touched = bool(set(claim.columns) & set(changed))
    if not moved and not touched:
        return True
    # a method that keeps claims about other records does not speak of columns that it changes, too
    return not (touched and moved) and method.keeps(claim)
