"""What a specification asks for: its table, read from files, and its request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.formats.files import read_bytes
from tabprotect.formats.recognised import Recognised
from tabprotect.methods.base.method import Method
from tabprotect.methods.base.options import read_options
from tabprotect.methods.recoding.method import Recode
from tabprotect.methods.registry import RECODE, VALUE_METHODS, names
from tabprotect.methods.suppression import methods
from tabprotect.methods.suppression.method import Suppress
from tabprotect.release.earlier import Previous
from tabprotect.sensitivity.assess import needs
from tabprotect.sensitivity.bounds import Bounds
from tabprotect.sensitivity.costs import parse_transform
from tabprotect.solver.limits import Limits
from tabprotect.table.dimension import Dimension
from tabprotect.table.duck import share_of
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.link import link
from tabprotect.table.read import need_columns
from tabprotect.table.table import Table
from tabprotect.table.tabulate import tabulate
from tabprotect.workflow.files import DataFile, Reading, open_data, read_hierarchy
from tabprotect.workflow.recode import recode_microdata
from tabprotect.workflow.records import microdata, numbers_of
from tabprotect.workflow.request import Request
from tabprotect.workflow.source import Source
from tabprotect.workflow.specification import HierarchySpec, Spec, each_table
from tabprotect.workflow.swap import ROLES

__all__ = ["DEFAULT_SECONDS", "Specified", "link_specified", "request_of"]

GIGABYTE = 10**9

DEFAULT_SECONDS = 40.0
"""A search for values ends then unless the caller sets a limit of his own: proofs may take for ever."""

_COSTS = ("value", "unit", "count")


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
    recognised : list of Recognised
        How its files are written; filled in when they are read.
    """

    spec: Spec
    base: Path
    recoding: Mapping[str, Any] = field(default_factory=dict)
    recognised: list[Recognised] = field(default_factory=list)

    @property
    def data(self) -> Path | None:
        """The file of the records of one table."""
        return None if self.spec.data is None or self.spec.tables else self.base / self.spec.data

    @property
    def roles(self) -> Mapping[str, Any] | None:
        """How records are tabulated; None without records of one table."""
        if self.data is None:
            return None
        return {name: getattr(self.spec, name) for name in (*ROLES, "empty") if name != "cost"}

    def table(self, top: int, memory: str | None) -> Table:
        """Read the table; every problem names the file."""
        return _read(self.spec, self.base, top, self.recoding, self.recognised)

    def records(self) -> pd.DataFrame:
        """Return the records as a frame."""
        return microdata(self.data, numbers_of(self.roles or {}), _reading(self.spec))

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
    method = _method_of(spec, base)
    memory = None if spec.limits.memory is None else int(GIGABYTE * spec.limits.memory)
    seconds = spec.limits.seconds
    if isinstance(method, Method) and seconds is None and spec.limits.work is None:
        seconds = DEFAULT_SECONDS
    same = ("rules", "levels", "singletons", "unions", "protect_hidden", "seed", "intervals")
    given: dict[str, Any] = {
        **{name: getattr(spec, name) for name in same},
        "source": Specified(spec, base),
        "method": method,
        "cost": spec.cost if spec.cost in _COSTS else None,
        "bounds": _bounds(spec),
        "previous": _previous(spec, base),
        "limits": Limits(seconds, spec.limits.work, spec.limits.gap, None, memory),
        "title": spec.output.title,
        "separate_statuses": spec.output.separate_statuses,
        "decimals": spec.output.decimals,
        "allow_unsafe": spec.output.allow_unsafe,
    }
    return Request.of(**{**given, **other})


def _previous(spec: Spec, base: Path) -> Previous | None:
    given = spec.previous
    return None if given is None else Previous(base / given.release, given.factor, given.keep, given.revision)


def _method_of(spec: Spec, base: Path) -> Suppress | Recode | Method:
    """Return how a specification protects, its options checked.

    Raises
    ------
    InputError
        Unknown methods and options, values that they cannot have, settings that do not go with them.
    """
    if spec.tables and spec.method in (RECODE, "cell-key"):
        raise InputError(f"{spec.method} works on one table, and these are linked: {', '.join(spec.tables)}")
    if spec.method == RECODE:
        return _recode(spec, base)
    if spec.method not in VALUE_METHODS:
        known = names()
        if spec.method not in known:
            raise InputError(f"unknown method '{spec.method}'{did_you_mean(spec.method, known)}")
        if spec.options:
            given = ", ".join(spec.options)
            raise InputError(f"options ({given}) are for methods that change values; '{spec.method}' hides cells")
        return _hiding(spec, spec.method)
    shaped = [name for name in ("transform", "preferences") if getattr(spec, name)]
    if shaped:
        raise InputError(f"{', '.join(shaped)} belong to hiding cells; {spec.method} hides none")
    strange = [
        name
        for name, default in (("engine", "scip"), ("cost", "value"), ("random_costs", 0.0))
        if getattr(spec, name) != default
    ]
    if strange and spec.options.get("weights") != "problem":
        raise InputError(f"{', '.join(strange)} belong to hiding cells; {spec.method} hides none")
    chosen: Method = read_options(VALUE_METHODS[spec.method], spec.options)
    return chosen


def _recode(spec: Spec, base: Path) -> Recode:
    """Read the options of recoding; recodings by hand are applied when the data are read."""
    known = ("least", "keep", "rules", "then")
    given = spec.options
    with collect() as problems:
        for name in given:
            if name not in known:
                problems.add(f"'{name}' is no option of recode{did_you_mean(name, known)}")
        least, keep = given.get("least", True), given.get("keep", {})
        rules, then = given.get("rules", {}), given.get("then", "auto")
        if not isinstance(least, bool):
            problems.add(f"recode: least must be true or false, not {least!r}")
        if not isinstance(keep, dict) or not all(type(level) is int and level >= 0 for level in keep.values()):
            problems.add("recode: keep must be a table of levels, such as keep = {region = 1}")
        if not isinstance(rules, dict) or not all(isinstance(file, str) for file in rules.values()):
            problems.add('recode: rules must be a table of files, such as rules = {age = "age.grc"}')
        elif rules and spec.data is None:
            problems.add("recode: recodings by hand need microdata (data = ...)")
        if then not in methods():
            problems.add(f"recode: then must be a method that hides cells, not {then!r}{did_you_mean(then, methods())}")
    return Recode({name: base / file for name, file in rules.items()}, least, keep, _hiding(spec, then))


def _hiding(spec: Spec, method: str) -> Suppress:
    """Return how cells are hidden, and what that costs."""
    return Suppress(
        spec.cost if spec.cost in _COSTS else None,
        method,
        transform=None if spec.transform is None else parse_transform(spec.transform),
        preferences=spec.preferences or None,
        engine=spec.engine,
        random_costs=spec.random_costs,
    )


def _read(spec: Spec, base: Path, top: int, recoding: Mapping[str, Any], recognised: list[Recognised]) -> Table:
    """Read the data of one table, or of several that are linked, and the `top` largest contributions at least."""
    if not spec.tables:
        return _read_one(spec, base, top, recoding, recognised)
    specs = each_table(spec)
    tables: dict[str, Table] = {}
    with collect() as problems:
        for name, one in specs.items():
            try:
                tables[name] = _read_one(one, base, top, recoding, recognised)
            except InputError as error:
                problems.found += [f"tables.{name}: {problem}" for problem in error.problems]
    return link_specified(specs, tables)


def link_specified(specs: Mapping[str, Spec], tables: Mapping[str, Table]) -> Table:
    """Link tables by what their specifications say of measures and tolerance.

    Raises
    ------
    InputError
        As `tabprotect.link`.
    """
    measures = {name: one.measure for name, one in specs.items() if one.measure is not None}
    same = len(measures) == len(specs) and len(set(measures.values())) == 1
    tolerance = max((one.tolerance for one in specs.values() if one.tolerance is not None), default=None)
    return link(tables, measure=next(iter(measures.values())) if same else measures or None, tolerance=tolerance)


def _read_one(spec: Spec, base: Path, top: int, recoding: Mapping[str, Any], recognised: list[Recognised]) -> Table:
    """Read the data; every problem names the file."""
    name = Path(str(spec.data if spec.data is not None else spec.cells)).name
    try:
        return _table(spec, base, top, recoding, recognised)
    except InputError as error:
        raise InputError(*(_named(p, base, name, _sources(spec, name)) for p in error.problems)) from error


def _named(problem: str, base: Path, name: str, sources: tuple[str, ...]) -> str:
    """Let a problem begin with the name of its file, once."""
    short = problem.removeprefix(f"{base}/")
    at = short.find(name)
    if at > 0 and short[at - 1] == "/" and " " not in short[:at]:
        short = short[at:]
    return short if short.startswith(sources) else f"{name}: {short}"


def _sources(spec: Spec, name: str) -> tuple[str, ...]:
    """Names of files that a message may start with."""
    files = [source.file or source.pairs for source in spec.hierarchy.values()]
    return (name, *(file for file in files if file is not None))


def _bounds(spec: Spec) -> Bounds | None:
    """Bounds that are no columns of a finished table (those are in the table already)."""
    sides = [None if _is_column(side) else side for side in (spec.lower, spec.upper)]
    return None if sides == [None, None] else (sides[0], sides[1])


def _table(spec: Spec, base: Path, top: int, recoding: Mapping[str, Any], recognised: list[Recognised]) -> Table:
    """Read the data; the errors of all hierarchies come together."""
    path = base / str(spec.data if spec.data is not None else spec.cells)
    dimensions: list[Dimension] = []
    with collect() as problems:
        for name in spec.by:
            try:
                dimensions.append(_dimension(spec, name, base, path))
            except InputError as error:
                problems.found += error.problems
        if spec.cells is not None and spec.value is None:
            problems.add("a finished table needs 'value', the column of the cell values")
    cost = None if spec.cost in _COSTS else spec.cost
    if spec.data is not None:
        numbers = [name for name in (spec.value, spec.shadow, cost, spec.weight) if name is not None]
        if recoding:
            source: Any = recode_microdata(path, recoding, numbers, _reading(spec))
            decimal = "."
        else:
            others = [c for c in (spec.contributor, spec.holding, spec.request, spec.waiver) if c is not None]
            opened = open_data(path, [c for d in dimensions for c in d.columns] + others, numbers, _reading(spec))
            source, decimal = opened.source, opened.decimal
            _note(opened, recognised)
        roles = ("shadow", "contributor", "holding", "weight", "request", "waiver", "kind", "empty")
        given = {"decimal": decimal, **{name: getattr(spec, name) for name in roles}}
        if spec.limits.memory is not None:
            given["memory_limit"] = share_of(int(GIGABYTE * spec.limits.memory))
        return tabulate(source, dimensions, spec.value, cost=cost, top=max(3, top, needs(spec.rules)), **given)
    names = (
        "count",
        "weighted_count",
        "maxima",
        "holders",
        "shadow",
        "status",
        "lpl",
        "upl",
        "spl",
        "kind",
        "tolerance",
    )
    given = {name: getattr(spec, name) for name in (*names, "margins")}
    if spec.empty is not None:
        given["empty"] = spec.empty
    columns = {name: side for name in ("lower", "upper") if _is_column(side := getattr(spec, name))}
    numbers = [str(spec.value), *spec.maxima, *columns.values(), *([] if cost is None else [cost])]
    single = (spec.count, spec.weighted_count, spec.shadow, spec.lpl, spec.upl, spec.spl)
    numbers += [name for name in single if name is not None]
    others = [*spec.holders, *([] if spec.status is None else [spec.status])]
    needed = [c for d in dimensions for c in d.columns] + others
    opened = open_data(path, needed, list(dict.fromkeys(numbers)), _reading(spec))
    _note(opened, recognised)
    given["decimal"] = opened.decimal
    return Table.from_cells(opened.source, dimensions, str(spec.value), cost=cost, **columns, **given)


def _reading(spec: Spec) -> Reading:
    return Reading(**{one.name: getattr(spec, one.name) for one in fields(Reading)})


def _note(opened: DataFile, recognised: list[Recognised]) -> None:
    if opened.recognised is not None and opened.recognised not in recognised:
        recognised.append(opened.recognised)


def _is_column(bound: float | str | None) -> bool:
    return isinstance(bound, str) and not bound.strip().endswith("%")


def _dimension(spec: Spec, name: str, base: Path, path: Path) -> Dimension:
    source = spec.hierarchy.get(name, HierarchySpec())
    missing = spec.missing.get(name, [])
    if source.columns is not None:
        return Dimension(source.columns, total=source.total, missing=missing, name=name)
    hierarchy = _hierarchy(source, name, base, path, missing, _reading(spec))
    return Dimension(name, hierarchy, None if hierarchy else spec.total.get(name), missing)


def _hierarchy(
    source: HierarchySpec, name: str, base: Path, path: Path, missing: Sequence[str], reading: Reading
) -> Hierarchy | None:
    total = "Total" if source.total is None else source.total
    if source.file is not None:
        return read_hierarchy(base / source.file, source.leader, source.total)
    if source.pairs is not None:
        pairs = read_bytes(base / source.pairs)
        try:
            frame = pd.read_csv(BytesIO(pairs), dtype=str, keep_default_na=False, na_values=[""])
            return Hierarchy.from_pairs(frame, total=source.total)
        except ValueError as error:
            raise InputError(f"{source.pairs}: not a CSV file ({error})") from error
        except InputError as error:
            raise InputError(*(f"{source.pairs}: {problem}" for problem in error.problems)) from error
    if source.codes is not None:
        return Hierarchy.flat(source.codes, total)
    if source.lengths is not None or source.digits is not None or source.separator is not None:
        # what stands for 'unknown' is no code with levels; tabulation puts it below the total
        codes = [code for code in _codes(path, name, reading) if code != total and code not in missing]
        try:
            return Hierarchy.from_prefixes(codes, source.lengths, source.separator, total, digits=source.digits)
        except InputError as error:
            raise InputError(*(f"hierarchy.{name}: {problem}" for problem in error.problems)) from error
    return None


def _codes(path: Path, column: str, reading: Reading) -> list[str]:
    """Return the different codes of a column of a file."""
    frame = microdata(path, (), reading)
    with collect() as problems:
        need_columns(frame.columns, [column], problems)
    return sorted(str(code) for code in frame[column].dropna().unique())
