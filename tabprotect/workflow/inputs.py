"""The tables of a specification, read from its files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from tabprotect.errors import InputError, Problems, collect
from tabprotect.methods.registry import names
from tabprotect.sensitivity.level import both_levels
from tabprotect.sensitivity.requirements import needs
from tabprotect.table.dimension import Dimension
from tabprotect.table.duck import share_of
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.hierarchy.named import labels_in
from tabprotect.table.link import link
from tabprotect.table.read import need_columns
from tabprotect.table.reading import File, Recognised, open_data, read_frame
from tabprotect.table.table import Table
from tabprotect.table.tabulate import tabulate
from tabprotect.workflow.recode import recode_microdata
from tabprotect.workflow.records import microdata
from tabprotect.workflow.specification import HierarchySpec, Spec, each_table

__all__ = ["GIGABYTE", "check_readable", "file_of", "is_column", "link_specified", "read_tables"]

GIGABYTE = 10**9

_COSTS = ("value", "unit", "count")


def read_tables(spec: Spec, base: Path, top: int, recoding: Mapping[str, Any]) -> Table:
    """Read the data of one table, or of several that are linked, and the `top` largest contributions at least."""
    if not spec.tables:
        return _read_one(spec, base, top, recoding)
    specs = each_table(spec)
    tables: dict[str, Table] = {}
    with collect() as problems:
        for name, one in specs.items():
            try:
                tables[name] = _read_one(one, base, top, recoding)
            except InputError as error:
                problems.found += [f"tables.{name}: {problem}" for problem in error.problems]
    return link_specified(specs, tables, spec.unpublished)


def link_specified(
    specs: Mapping[str, Spec], tables: Mapping[str, Table], unpublished: Mapping[str, list[str]] | None = None
) -> Table:
    """Link tables by what their specifications say of measures and tolerance.

    Raises
    ------
    InputError
        As `tabprotect.link`.
    """
    measures = {name: one.measure for name, one in specs.items() if one.measure is not None}
    same = len(measures) == len(specs) and len(set(measures.values())) == 1
    tolerance = max((one.tolerance for one in specs.values() if one.tolerance is not None), default=None)
    measure = next(iter(measures.values())) if same else measures or None
    return link(tables, measure=measure, tolerance=tolerance, unpublished=unpublished or None)


def _read_one(spec: Spec, base: Path, top: int, recoding: Mapping[str, Any]) -> Table:
    """Read the data; every problem names the file, and what is wrong with files and columns comes at once."""
    try:
        return _table(spec, base, top, recoding)
    except InputError as error:
        found = dict.fromkeys([*_wrong_columns(spec, base), *error.problems])
        raise InputError(*_of_file(spec, base, found)) from error


def check_readable(spec: Spec, base: Path) -> None:
    """Check that files, columns and hierarchies are what a specification says, without making its table.

    Raises
    ------
    InputError
        Everything that is wrong with them; every problem names the file.
    """
    specs = {f"tables.{name}: ": one for name, one in each_table(spec).items()} if spec.tables else {"": spec}
    with collect() as problems:
        for before, one in specs.items():
            problems.found += [before + problem for problem in _of_file(one, base, _wrong_columns(one, base))]


def _wrong_columns(spec: Spec, base: Path) -> list[str]:
    """Return what is wrong with the file, its columns and the hierarchies of a table."""
    cost = None if spec.cost in _COSTS else spec.cost
    columns = [one for name in spec.by for one in _source(spec, name).columns or [name]]
    if spec.data is not None:
        texts: list[str | None] = [spec.contributor, spec.holding, spec.request, spec.waiver]
        numbers: list[str | None] = [spec.value, spec.shadow, cost, spec.weight]
    else:
        texts = [*spec.holders, spec.status]
        bounds = [side for side in (spec.lower, spec.upper) if isinstance(side, str) and is_column(side)]
        single = (spec.count, spec.weighted_count, spec.shadow, spec.lpl, spec.upl, spec.spl)
        numbers = [spec.value, *spec.maxima, *bounds, cost, *single]
    problems = Problems()
    if spec.cells is not None and spec.value is None:
        problems.add("a finished table needs 'value', the column of the cell values")
    if spec.method not in names("recode"):
        needed = columns + [name for name in texts if name is not None]
        figures = dict.fromkeys(name for name in numbers if name is not None)
        problems.attempt(lambda: open_data(file_of(spec, base), needed, list(figures)))
    for name in spec.by:
        if problems.found and _from_codes(_source(spec, name)):
            # the codes are in a file that has problems of its own
            continue
        problems.attempt(_dimension, spec, name, base)
    for name, source in spec.hierarchy.items():
        if name not in spec.by and (source.file is not None or source.pairs is not None):
            # of no dimension, but a file that is not there is wrong for any
            problems.attempt(_hierarchy, source, name, base, (), file_of(spec, base))
    return problems.found


def _of_file(spec: Spec, base: Path, problems: Iterable[str]) -> list[str]:
    """Let every problem name its file."""
    name = Path(str(spec.data if spec.data is not None else spec.cells)).name
    return [_named(problem, base, name, _sources(spec, name)) for problem in problems]


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


def _table(spec: Spec, base: Path, top: int, recoding: Mapping[str, Any]) -> Table:
    """Read the data; the errors of all hierarchies come together."""
    dimensions: list[Dimension] = []
    with collect() as problems:
        for name in spec.by:
            try:
                dimensions.append(_dimension(spec, name, base))
            except InputError as error:
                problems.found += error.problems
        if spec.cells is not None and spec.value is None:
            problems.add("a finished table needs 'value', the column of the cell values")
    file = file_of(spec, base)
    cost = None if spec.cost in _COSTS else spec.cost
    if spec.data is None:
        return _finished(spec, file, dimensions, cost)
    roles = ("shadow", "contributor", "holding", "weight", "request", "waiver", "kind", "empty")
    given = {**{name: getattr(spec, name) for name in roles}, "both_levels": both_levels(spec.all_rules)}
    if spec.limits.memory is not None:
        given["memory_limit"] = share_of(int(GIGABYTE * spec.limits.memory))
    source: Any = file
    found: tuple[Recognised, ...] = ()
    if recoding:
        numbers = [name for name in (spec.value, spec.shadow, cost, spec.weight) if name is not None]
        frame, found = microdata(file, numbers)
        source = recode_microdata(frame, recoding)
    table = tabulate(source, dimensions, spec.value, cost=cost, top=max(3, top, needs(spec.all_rules)), **given)
    return replace(table, recognised=(*found, *table.recognised))


def _finished(spec: Spec, file: File, dimensions: Sequence[Dimension], cost: str | None) -> Table:
    names = (
        "count", "weighted_count", "maxima", "holders", "shadow", "status", "lpl", "upl", "spl", "kind", "tolerance",
        "margins",
    )  # fmt: skip
    given = {name: getattr(spec, name) for name in names}
    if spec.empty is not None:
        given["empty"] = spec.empty
    columns = {name: side for name in ("lower", "upper") if is_column(side := getattr(spec, name))}
    return Table.from_cells(file, dimensions, str(spec.value), cost=cost, **columns, **given)


def file_of(spec: Spec, base: Path) -> File:
    """Return the data file of a table, and how it is written as far as its specification says."""
    path = base / str(spec.data if spec.data is not None else spec.cells)
    return File(path, **{one.name: getattr(spec, one.name) for one in fields(File)[1:]})


def is_column(bound: float | str | None) -> bool:
    """Whether a bound is the column of a finished table."""
    return isinstance(bound, str) and not bound.strip().endswith("%")


def _source(spec: Spec, name: str) -> HierarchySpec:
    """Return where the hierarchy of a dimension comes from, with the code of the total wherever that is said."""
    source = spec.hierarchy.get(name, HierarchySpec())
    return source if source.total is not None else source.model_copy(update={"total": spec.total.get(name)})


def _dimension(spec: Spec, name: str, base: Path) -> Dimension:
    source = _source(spec, name)
    missing = spec.missing.get(name, [])
    if source.columns is not None:
        return Dimension(source.columns, total=source.total, missing=missing, name=name)
    hierarchy = _hierarchy(source, name, base, missing, file_of(spec, base))
    return Dimension(name, hierarchy, None if hierarchy else source.total, missing)


def _hierarchy(source: HierarchySpec, name: str, base: Path, missing: Sequence[str], data: File) -> Hierarchy | None:
    total = "Total" if source.total is None else source.total
    if source.file is not None:
        try:
            return Hierarchy.read(base / source.file, source.leader, source.total)
        except InputError as error:
            # the cure is a key of the dimension
            where = f"hierarchy.{name}: "
            raise InputError(*(where + one if " leader=" in one else one for one in error.problems)) from error
    if source.pairs is not None:
        frame, _ = read_frame(base / source.pairs)
        try:
            return Hierarchy.from_pairs(frame, total=source.total).labelled(labels_in(frame, "child"))
        except InputError as error:
            raise InputError(*(f"{source.pairs}: {problem}" for problem in error.problems)) from error
    if source.codes is not None:
        return Hierarchy.flat(source.codes, total)
    if _from_codes(source):
        # what stands for 'unknown' is no code with levels; tabulation puts it below the total
        codes = [code for code in _codes(data, name) if code != total and code not in missing]
        try:
            return Hierarchy.from_prefixes(codes, source.lengths, source.separator, total, digits=source.digits)
        except InputError as error:
            raise InputError(*(f"hierarchy.{name}: {problem}" for problem in error.problems)) from error
    return None


def _from_codes(source: HierarchySpec) -> bool:
    return source.lengths is not None or source.digits is not None or source.separator is not None


def _codes(data: File, column: str) -> list[str]:
    """Return the different codes of a column of a file."""
    frame, _ = microdata(data)
    with collect() as problems:
        need_columns(frame.columns, [column], problems)
    return sorted(str(code) for code in frame[column].dropna().unique())
