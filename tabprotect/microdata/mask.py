"""Mask microdata: one method after the other, every claim kept track of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from tabprotect.errors import InfeasibleError, InputError, Problems, did_you_mean
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.intake import why_no_numbers
from tabprotect.microdata.masked import Masked, Step
from tabprotect.microdata.method import Masking, Method, MethodCall, methods
from tabprotect.microdata.records import Records, read_records
from tabprotect.microdata.scales import NUMERIC
from tabprotect.microdata.schema import Schema, require
from tabprotect.seeds import Seed, secret_seed

__all__ = ["mask"]


def mask(
    data: Any,
    schema: Schema | None,
    methods: Sequence[Method] | Method,
    *,
    seed: Seed | None = None,
    decimal: str = ".",
    title: str = "Masked microdata",
) -> Masked:
    """Carry out methods one after the other, and say what holds of the outcome.

    Parameters
    ----------
    data : pandas, polars or pyarrow frame, DuckDB relation, or path of a CSV or Parquet file
        Stays as it is.
    schema : Schema
        Identifiers are left out of the result.
    methods : sequence of Method
    seed : int or numpy.random.Generator, optional
        Without one a fresh secret seed is drawn; it is kept among the internal files only. Step i draws from
        ``numpy.random.default_rng([seed, i])``.
    decimal : str
        Decimal sign of numbers in CSV files.
    title : str
        Public.

    Returns
    -------
    Masked

    Raises
    ------
    InputError
        Everything that is wrong with schema, columns, scales and parameters, at once as far as it can be seen before
        the work.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"id": [1, 2, 3, 4], "income": [1000, 1200, 900, 50000]})
    >>> masked = md.mask(people, md.Schema(identifiers=["id"]), [md.TopCoding("income", threshold=5000)], seed=1)
    >>> masked.frame["income"].tolist(), list(masked.frame.columns)
    ([1000, 1200, 900, 5000], ['income'])
    >>> bool(masked.verify())
    True
    """
    chain = _chain(methods)
    schema = require(schema)
    number = secret_seed(seed)
    original = read_records(data, schema, decimal=decimal)
    _check_chain(chain, original)
    records = original
    rows = np.arange(len(original), dtype=np.int64)
    steps: list[Step] = []
    live: list[Claim] = []
    withdrawn: list[Claim] = []
    before: dict[int, Records] = {}
    for i, method in enumerate(chain):
        _check_step(method, records, i)
        changed = method.targets(records)
        with _named(method, i):
            done = method.apply(MethodCall(records, np.random.default_rng([number, i])))
        lost = [c for c in live if not _survives(c, method, changed, done)]
        withdrawn += lost
        live = [c for c in live if c not in lost]
        if done.rows is not None:
            rows = np.where(done.rows >= 0, rows[np.maximum(done.rows, 0)], -1)
            before = {step: kept.take(np.maximum(done.rows, 0)) for step, kept in before.items()}
        live += [replace(claim, step=i) for claim in done.claims]
        needed = tuple(dict.fromkeys(name for claim in done.claims for name in claim.before))
        if needed:
            kept = records.select(needed)
            before[i] = kept if done.rows is None else kept.take(np.maximum(done.rows, 0))
        steps.append(Step(method.name, method.parameters(), done.facts, done.notes, len(done.records), changed))
        records = done.records
    if not np.array_equal(rows, np.arange(len(original))):
        # the labels of a pandas frame would say where a record comes from
        records = records.renumbered()
    if schema.identifiers:
        records = records.without(schema.identifiers)
        live.append(Claim("absent", (), "identifiers are not released", {"columns": list(schema.identifiers)}))
    needed_steps = {claim.step for claim in live if claim.before}
    return Masked(
        records, original, rows, tuple(steps), tuple(live), tuple(withdrawn),
        {step: kept for step, kept in before.items() if step in needed_steps}, number, title,
    )  # fmt: skip


def _chain(given: Sequence[Method] | Method) -> tuple[Method, ...]:
    chain: tuple[Any, ...] = tuple(given) if isinstance(given, list | tuple) else (given,)
    wrong = [one for one in chain if not isinstance(one, Method)]
    if wrong:
        word = wrong[0].__name__ if isinstance(wrong[0], type) else repr(wrong[0])
        cure = "; call it with its parameters" if isinstance(wrong[0], type) else did_you_mean(word, methods())
        raise InputError(f"methods must be such as TopCoding('income', quantile=0.99), not {word}{cure}")
    if not chain:
        raise InputError("no method was given; there are " + ", ".join(methods()))
    return chain


def _check_chain(chain: Sequence[Method], records: Records) -> None:
    """Note everything that can be seen before the work: columns that no step can find, scales of untouched columns."""
    problems = Problems()
    made: set[str] = set()
    try:
        records.weights()
    except InputError as error:
        problems.found += error.problems
    for i, method in enumerate(chain):
        for name in dict.fromkeys((*method.targets(records), *method.uses(records))):
            if name not in records.columns and name not in made and name not in method.makes(records):
                problems.add(f"step {i + 1} ({method.name}): no column '{name}'{did_you_mean(name, records.columns)}")
        if not made.intersection(method.targets(records)):
            _note_scales(method, records, i, problems)
            for name in method.targets(records):
                if name in records.columns and records.missing(name).all():
                    problems.add(
                        f"step {i + 1} ({method.name}): column '{name}' has no value in any record; leave it out"
                    )
        made.update(method.targets(records))
    problems.raise_if_any()


def _check_step(method: Method, records: Records, i: int) -> None:
    problems = Problems()
    _note_scales(method, records, i, problems)
    for name in dict.fromkeys((*method.targets(records), *method.uses(records))):
        if name not in records.columns and name not in method.makes(records):
            hint = did_you_mean(name, records.columns)
            problems.add(f"step {i + 1} ({method.name}): no column '{name}' after the steps before{hint}")
    problems.raise_if_any()
    with _named(method, i):
        method.check(records, problems)
        problems.raise_if_any()


@contextmanager
def _named(method: Method, i: int) -> Iterator[None]:
    """Say in every error which step it is about."""
    try:
        yield
    except (InputError, InfeasibleError) as error:
        found = error.problems if isinstance(error, InputError) else (str(error),)
        kind = InputError if isinstance(error, InputError) else InfeasibleError
        words = (what.removeprefix(f"{method.name}: ") for what in found)
        raise kind(*(f"step {i + 1} ({method.name}): {what}" for what in words)) from error


def _note_scales(method: Method, records: Records, i: int, problems: Problems) -> None:
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


def _survives(claim: Claim, method: Method, changed: Sequence[str], done: Masking) -> bool:
    """Return whether a claim holds after a later step."""
    touched = bool(set(claim.columns) & set(changed))
    if done.rows is None and not touched:
        return True
    # a method that keeps claims about other records does not speak of columns that it changes, too
    return not (touched and done.rows is not None) and method.keeps(claim)
