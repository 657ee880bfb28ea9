"""Mask microdata: one method after the other, every claim kept track of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.microdata.chain import as_chain, check_chain, check_step, named, step_words, survives
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.large.mask import mask_large
from tabprotect.microdata.large.masked import LargeMasked
from tabprotect.microdata.large.open import is_spark
from tabprotect.microdata.large.options import Large
from tabprotect.microdata.masked import Masked, Step
from tabprotect.microdata.method import Method, MethodCall
from tabprotect.microdata.records import Records, read_records
from tabprotect.microdata.schema import Schema, require
from tabprotect.seeds import Seed, part_of, secret_seed
from tabprotect.solver.limits import Budget, Progress
from tabprotect.solver.pulse import never_silent

__all__ = ["mask"]


@overload
def mask(
    data: Any,
    schema: Schema | None,
    methods: Sequence[Method] | Method,
    *,
    seed: Seed | None = None,
    decimal: str | None = None,
    title: str = "Masked microdata",
    large: Literal[False] = False,
    progress: Callable[[Progress], None] | None = None,
) -> Masked: ...


@overload
def mask(
    data: Any,
    schema: Schema | None,
    methods: Sequence[Method] | Method,
    *,
    seed: Seed | None = None,
    decimal: str | None = None,
    title: str = "Masked microdata",
    large: Literal[True] | Large,
    progress: Callable[[Progress], None] | None = None,
) -> LargeMasked: ...


@of_kinds("title", "decimal", "progress")
def mask(
    data: Any,
    schema: Schema | None,
    methods: Sequence[Method] | Method,
    *,
    seed: Seed | None = None,
    decimal: str | None = None,
    title: str = "Masked microdata",
    large: bool | Large = False,
    progress: Callable[[Progress], None] | None = None,
) -> Masked | LargeMasked:
    """Carry out methods one after the other, and say what holds of the outcome.

    Parameters
    ----------
    data : pandas, polars or pyarrow frame, DuckDB relation, path or File
        Stays as it is.
    schema : Schema
        Identifiers are left out of the result.
    methods : sequence of Method
    seed : int or numpy.random.Generator, optional
        Without one a fresh secret seed is drawn; it is kept among the internal files only. Step i draws from
        ``numpy.random.default_rng(tabprotect.seeds.part_of(seed, i))``, which shares no numbers with data that were
        generated with the same seed.
    decimal : str, optional
        Decimal sign of numbers in text files; recognised.
    title : str
        Public.
    large : bool or Large
        Carry the methods out in batches, outside of memory: in files that DuckDB reads, or in Spark where the data are
        a Spark frame. Top and bottom coding, global recoding, PRAM, noise and simple random sampling can be carried
        out so. Methods that draw at random draw other numbers than in memory, the same ones for every batch size and
        engine; see `Large`.
    progress : callable, optional
        Called with a `tabprotect.Progress` at every step, and every few seconds; by one thread at a time, though not
        always by the same one.

    Returns
    -------
    Masked
        Or a `LargeMasked` with `large`.

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
    schema = require(schema)
    with never_silent(progress) as listener:
        budget = Budget(progress=listener)
        if large is not False:
            return mask_large(data, schema, methods, budget, seed=seed, decimal=decimal, title=title, large=large)
        return _in_memory(data, schema, methods, budget, seed, decimal, title)


def _in_memory(
    data: Any,
    schema: Schema,
    methods: Sequence[Method] | Method,
    budget: Budget,
    seed: Seed | None,
    decimal: str | None,
    title: str,
) -> Masked:
    if is_spark(data):
        raise InputError(
            "a Spark frame is masked in Spark: give large=True, or large=Large(order=...) for random draws"
        )
    chain = as_chain(methods)
    number = secret_seed(seed)
    budget.report("read")
    original = read_records(data, schema, decimal=decimal)
    check_chain(chain, original)
    records = original
    rows = np.arange(len(original), dtype=np.int64)
    steps: list[Step] = []
    live: list[Claim] = []
    withdrawn: list[Claim] = []
    before: dict[int, Records] = {}
    for i, method in enumerate(chain):
        budget.report(method.name, message=step_words(i, chain))
        check_step(method, records, i)
        changed = method.targets(records)
        with named(method, i):
            done = method.apply(MethodCall(records, np.random.default_rng(part_of(number, i))))
        lost = [c for c in live if not survives(c, method, changed, done.rows is not None)]
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
