"""Mask records that need not fit into memory: each step goes through them in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from tabprotect.errors import InputError, Problems
from tabprotect.microdata.chain import as_chain, check_chain, note_scales, step_words, survives
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.large import coding, noise, pram, recoding, sampling  # noqa: F401 (register their planners)
from tabprotect.microdata.large.draws import Draws
from tabprotect.microdata.large.masked import LargeMasked
from tabprotect.microdata.large.open import open_stage
from tabprotect.microdata.large.options import as_large
from tabprotect.microdata.large.part import Part
from tabprotect.microdata.large.plan import Task, planners, prototype
from tabprotect.microdata.large.stage import Stage
from tabprotect.microdata.masked import Step
from tabprotect.microdata.masking.sampling import Sampling
from tabprotect.microdata.method import Method
from tabprotect.microdata.schema import Schema
from tabprotect.seeds import Seed, secret_seed
from tabprotect.solver.limits import Budget

__all__ = ["mask_large"]


@dataclass(frozen=True)
class _Without:
    """Columns are left out."""

    names: tuple[str, ...]

    def __call__(self, part: Part) -> Part:
        return Part(part.rows, part.table.drop_columns(list(self.names)))


@dataclass(frozen=True)
class _Only:
    """All other columns are left out."""

    names: tuple[str, ...]

    def __call__(self, part: Part) -> Part:
        return Part(part.rows, part.table.select(list(self.names)))


def mask_large(
    data: Any,
    schema: Schema,
    methods: Sequence[Method] | Method,
    budget: Budget,
    *,
    seed: Seed | None,
    decimal: str | None,
    title: str,
    large: Any,
) -> LargeMasked:
    """Carry out methods on records in batches; see `tabprotect.microdata.mask`.

    Raises
    ------
    InputError
        Names every method that needs all records at once, before anything is read.
    """
    options = as_large(large)
    chain = as_chain(methods)
    _check_methods(chain)
    number = secret_seed(seed)
    budget.report("read")
    stage: Stage = open_stage(data, options, decimal, any(method.random for method in chain), schema)
    check_chain(chain, prototype(stage.arrow, schema))
    original, recognised = stage.count, stage.recognised
    steps: list[Step] = []
    live: list[Claim] = []
    withdrawn: list[Claim] = []
    before: dict[int, Stage] = {}
    for i, method in enumerate(chain):
        budget.report(method.name, message=step_words(i, chain))
        records = prototype(stage.arrow, schema)
        problems = Problems()
        note_scales(method, records, i, problems)
        problems.raise_if_any()
        changed = method.targets(records)
        try:
            plan = planners()[type(method)](method, Task(stage, schema, Draws(number, i)))
        except InputError as error:
            raise InputError(*(f"step {i + 1} ({method.name}): {what}" for what in error.problems)) from error
        lost = [
            c for c in live if not (survives(c, method, changed, plan.fewer) or _holds_of_parts(c, method, changed))
        ]
        withdrawn += lost
        live = [c for c in live if c not in lost] + [replace(claim, step=i) for claim in plan.claims]
        if any(claim.before for claim in plan.claims):
            before[i] = stage
        stage, schema = stage.map(plan.change, plan.arrow), plan.schema
        steps.append(Step(method.name, method.parameters(), plan.facts, plan.notes, stage.count, changed))
    identifiers = None
    if schema.identifiers:
        gone = tuple(schema.identifiers)
        identifiers = stage.map(_Only(gone), pa.schema([stage.arrow.field(name) for name in gone]))
        stage = stage.map(_Without(gone), pa.schema([f for f in stage.arrow if f.name not in gone]))
        live.append(Claim("absent", (), "identifiers are not released", {"columns": list(gone)}))
        schema = replace(schema, identifiers=())
    needed = {claim.step for claim in live if claim.before}
    return LargeMasked(
        stage, schema, original, tuple(steps), tuple(live), tuple(withdrawn),
        {step: kept for step, kept in before.items() if step in needed}, number, title, identifiers, recognised,
    )  # fmt: skip


def _holds_of_parts(claim: Claim, method: Method, changed: Sequence[str]) -> bool:
    """Return whether a claim that only such files make holds of a sample, too."""
    return isinstance(method, Sampling) and claim.kind == "interval" and not set(claim.columns) & set(changed)


def _check_methods(chain: Sequence[Method]) -> None:
    known = planners()
    wrong = [(i, method) for i, method in enumerate(chain) if type(method) not in known]
    if wrong:
        names = sorted(kind.name for kind in known)
        raise InputError(
            *(
                f"step {i + 1} ({method.name}): this method needs all records at once; leave large out if they fit "
                f"into memory, or take one of {', '.join(names)}"
                for i, method in wrong
            )
        )
