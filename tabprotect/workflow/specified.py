"""What a specification asks for: its table, read from files, and its request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from tabprotect.errors import Problems
from tabprotect.methods.base.method import Method
from tabprotect.release.earlier import Previous
from tabprotect.sensitivity.bounds import Bounds
from tabprotect.sensitivity.level import both_levels
from tabprotect.sensitivity.parse import rules_in
from tabprotect.solver.limits import Limits
from tabprotect.table.reading import File
from tabprotect.table.table import Table
from tabprotect.workflow.inputs import GIGABYTE, check_readable, file_of, is_column, read_tables
from tabprotect.workflow.method_options import cost_of, hiding, method_of
from tabprotect.workflow.recode import recode_microdata
from tabprotect.workflow.records import microdata, numbers_of
from tabprotect.workflow.request import Request
from tabprotect.workflow.source import Source
from tabprotect.workflow.specification import Spec, each_table
from tabprotect.workflow.swap import ROLES

__all__ = ["DEFAULT_SECONDS", "Specified", "request_of", "right_part"]

DEFAULT_SECONDS = 40.0
"""A search for values ends then unless the caller sets a limit of his own: proofs may take for ever."""


@dataclass(frozen=True, eq=False)
class Specified:
    """The table of a specification, or its linked tables.

    Attributes
    ----------
    spec : Spec
    base : Path
        What its paths are relative to.
    recoding : mapping
        Rules by column of the microdata.
    """

    spec: Spec
    base: Path
    recoding: Mapping[str, Any] = field(default_factory=dict)

    @property
    def data(self) -> File | None:
        """The file of the records of one table, and how it is written as far as the specification says."""
        return None if self.spec.data is None or self.spec.tables else file_of(self.spec, self.base)

    @property
    def roles(self) -> Mapping[str, Any] | None:
        """How records are tabulated; None without records of one table."""
        if self.data is None:
            return None
        roles = {name: getattr(self.spec, name) for name in (*ROLES, "empty") if name != "cost"}
        return {**roles, "both_levels": both_levels(self.spec.all_rules)}

    def check(self) -> None:
        """Refuse files that are not there or lack a column that is named; every problem names the file."""
        check_readable(self.spec, self.base)

    def table(self, top: int, memory: str | None) -> Table:
        """Read the table; every problem names the file."""
        return read_tables(self.spec, self.base, top, self.recoding)

    def records(self) -> pd.DataFrame:
        """Return the records as a frame."""
        frame = microdata(self.data, numbers_of(self.roles or {}))[0]
        return recode_microdata(frame, self.recoding) if self.recoding else frame

    def recoded(self, rules: Mapping[str, Any]) -> Source:
        """Return this with columns recoded by hand."""
        return replace(self, recoding=rules)

    def filled(self) -> Source:
        """Return this with empty cells that are zero, unless the specification says what they are."""
        if self.spec.empty is not None:
            return self
        return replace(self, spec=self.spec.model_copy(update={"empty": "zero"}))


def request_of(spec: Spec, base: Path, **other: Any) -> Request:
    """Return what a specification asks for; paths in it are relative to `base`.

    Parameters
    ----------
    spec : Spec
    base : Path
    **other
        Of `Request`, in the place of what the specification says.

    Raises
    ------
    InputError
        Unknown methods and options, values that they cannot have, settings that do not go with them.
    """
    problems = Problems()
    asked = right_part(problems, spec, base, **other)
    problems.raise_if_any()
    assert asked is not None
    return asked


def right_part(problems: Problems, spec: Spec, base: Path, **other: Any) -> Request | None:
    """Note what is wrong in a request, as `request_of`, and return it without that."""
    method = problems.attempt(method_of, spec, base) or Problems().attempt(hiding, spec, "auto")
    memory = None if spec.limits.memory is None else int(GIGABYTE * spec.limits.memory)
    seconds = spec.limits.seconds
    if isinstance(method, Method) and seconds is None and spec.limits.work is None:
        seconds = DEFAULT_SECONDS
    same = ("levels", "singletons", "attackers", "unions", "protect_hidden", "seed", "intervals")
    given: dict[str, Any] = {
        **{name: getattr(spec, name) for name in same},
        "rules": rules_in(spec.all_rules, base),
        "source": Specified(spec, base),
        "method": method,
        "cost": cost_of(spec),
        "bounds": _bounds(spec),
        "previous": problems.attempt(_previous, spec, base),
        "limits": Limits(seconds, spec.limits.work, spec.limits.gap, None, memory),
        "title": spec.output.title,
        "unit": _unit(spec),
        "source_line": spec.output.source,
        "separate_statuses": spec.output.separate_statuses,
        "decimals": spec.output.decimals,
        "allow_unsafe": spec.output.allow_unsafe,
    }
    return Request.right_part(problems, **{**given, **other})


def _unit(spec: Spec) -> str:
    """Return the unit of the values; of linked tables with different ones, that of each."""
    units = {name: one.unit or "" for name, one in each_table(spec).items()} if spec.tables else {"": spec.unit or ""}
    if len(set(units.values())) == 1:
        return next(iter(units.values()))
    return "; ".join(f"{name}: {unit}" for name, unit in units.items() if unit)


def _previous(spec: Spec, base: Path) -> Previous | None:
    given = spec.previous
    return None if given is None else Previous(base / given.release, given.factor, given.keep, given.revision)


def _bounds(spec: Spec) -> Bounds | None:
    """Bounds that are no columns of a finished table (those are in the table already)."""
    sides = [None if is_column(side) else side for side in (spec.lower, spec.upper)]
    return None if sides == [None, None] else (sides[0], sides[1])
