"""Carry out a specification: read, protect, show, write."""

from __future__ import annotations

from contextlib import nullcontext
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.cli import screen
from tabprotect.cli.app import Exit
from tabprotect.cli.progress import Display, interruptible
from tabprotect.cli.spec import HierarchySpec, Spec
from tabprotect.errors import InputError, collect

if TYPE_CHECKING:
    from tabprotect.problem import Problem
    from tabprotect.release import Release
    from tabprotect.sensitivity.bounds import Bounds
    from tabprotect.table.dimension import Dimension
    from tabprotect.table.hierarchy import Hierarchy
    from tabprotect.table.table import Table

__all__ = ["carry_out", "read_problem"]

GIGABYTE = 10**9


def carry_out(spec: Spec, base: Path, *, workers: int | None = None, resume: Path | None = None) -> int:
    """Do what a specification says; paths in it are relative to `base`.

    Parameters
    ----------
    spec : Spec
    base : path
    workers : int, optional
        Processes for independent parts of the search.
    resume : path, optional
        Folder of finished pieces.

    Raises
    ------
    InputError
        If anything is wrong with the data or the place for the release; nothing is written then.
    """
    from tabprotect.formats.folder import check_replaceable
    from tabprotect.protect import Suppress, protect
    from tabprotect.solver.limits import Budget, Limits
    from tabprotect.solver.pieces import processes

    folder = base / spec.output.folder
    check_replaceable(folder)
    _check_formats(spec)
    err = screen.screen()
    pool = nullcontext() if workers is None else processes(workers)
    with interruptible(err) as asked, Display(err) as progress, pool as executor:
        Budget(progress=progress).report("tabulate")
        table = _read(spec, base)
        release = protect(
            table,
            spec.rules,
            Suppress(spec.cost if spec.cost in _COSTS else None, spec.method, engine=spec.engine),
            levels=spec.levels,
            bounds=_bounds(spec),
            singletons=spec.singletons,
            unions=spec.unions,
            limits=Limits(
                spec.limits.seconds,
                spec.limits.work,
                spec.limits.gap,
                asked.is_set,
                None if spec.limits.memory is None else int(GIGABYTE * spec.limits.memory),
            ),
            seed=spec.seed,
            intervals=spec.intervals,
            title=spec.output.title,
            separate_statuses=spec.output.separate_statuses,
            decimals=spec.output.decimals,
            allow_unsafe=spec.output.allow_unsafe,
            progress=progress,
            executor=executor,
            resume=resume,
        )
        if release.safe or release.allow_unsafe:
            Budget(progress=progress).report("write")
            release.write(folder, spec.output.formats)
    return _report(release, folder)


def read_problem(spec: Spec, base: Path) -> tuple[Table, Problem]:
    """Read the table of a specification and state its problem, without protecting anything."""
    from tabprotect.sensitivity.assess import assess
    from tabprotect.sensitivity.build import make_problem

    table = _read(spec, base)
    assessment = assess(table, spec.rules, levels=spec.levels)
    cost = spec.cost if spec.cost in _COSTS else None
    return table, make_problem(table, assessment, cost=cost, bounds=_bounds(spec), singletons=spec.singletons)


def _report(release: Release, folder: Path) -> int:
    """Print what was done, and return the exit code."""
    console = screen.out()
    console.print(release.summary())
    if not release.safe:
        console.print(release.judgement.summary(), style="red", markup=False)
        if not release.allow_unsafe:
            console.print("[bold red]NOT SAFE[/]: nothing was written.")
            return Exit.UNSAFE
        console.print("[bold red]NOT SAFE[/], written because allow_unsafe is set.")
    console.print()
    screen.show_table(console, release)
    console.print()
    screen.facts(
        console,
        [
            ("for everybody", str(folder / "publish" / "index.html")),
            ("confidential", str(folder / "internal" / "report.html")),
            ("proof", f"tabprotect verify {folder}"),
        ],
    )
    if not release.safe:
        return Exit.UNSAFE
    return Exit.LIMIT if release.result.stopped else Exit.DONE


def _check_formats(spec: Spec) -> None:
    if "xlsx" in spec.output.formats:
        try:
            import openpyxl  # noqa: F401
        except ImportError as error:
            raise InputError("Excel files need openpyxl: install tabprotect[excel]") from error


def _read(spec: Spec, base: Path) -> Table:
    """Read the data; every problem names the file."""
    name = Path(str(spec.data if spec.data is not None else spec.cells)).name
    try:
        return _table(spec, base)
    except InputError as error:
        raise InputError(
            *(p if p.startswith(_sources(spec, name)) else f"{name}: {p}" for p in error.problems)
        ) from error


def _sources(spec: Spec, name: str) -> tuple[str, ...]:
    """Names of files that a message may start with."""
    files = [source.file or source.pairs for source in spec.hierarchy.values()]
    return (name, *(file for file in files if file is not None))


def _bounds(spec: Spec) -> Bounds | None:
    """Bounds that are no columns of a finished table (those are in the table already)."""
    sides = [None if _is_column(side) else side for side in (spec.lower, spec.upper)]
    return None if sides == [None, None] else (sides[0], sides[1])


_COSTS = ("value", "unit", "count")


def _table(spec: Spec, base: Path) -> Table:
    """Read the data; the errors of all hierarchies come together."""
    from tabprotect.sensitivity.assess import needs
    from tabprotect.table.duck import share_of
    from tabprotect.table.table import Table
    from tabprotect.table.tabulate import tabulate

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
        roles = ("shadow", "contributor", "holding", "weight", "request", "waiver", "kind", "empty", "decimal")
        given = {name: getattr(spec, name) for name in roles}
        if spec.limits.memory is not None:
            given["memory_limit"] = share_of(int(GIGABYTE * spec.limits.memory))
        return tabulate(str(path), dimensions, spec.value, cost=cost, top=max(3, needs(spec.rules)), **given)
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
    given = {name: getattr(spec, name) for name in (*names, "margins", "decimal")}
    if spec.empty is not None:
        given["empty"] = spec.empty
    columns = {name: side for name in ("lower", "upper") if _is_column(side := getattr(spec, name))}
    return Table.from_cells(str(path), dimensions, str(spec.value), cost=cost, **columns, **given)


def _is_column(bound: float | str | None) -> bool:
    return isinstance(bound, str) and not bound.strip().endswith("%")


def _dimension(spec: Spec, name: str, base: Path, path: Path) -> Dimension:
    from tabprotect.table.dimension import Dimension

    source = spec.hierarchy.get(name, HierarchySpec())
    missing = spec.missing.get(name, [])
    if source.columns is not None:
        return Dimension(source.columns, total=source.total, missing=missing, name=name)
    hierarchy = _hierarchy(source, name, base, path)
    return Dimension(name, hierarchy, None if hierarchy else spec.total.get(name), missing)


def _hierarchy(source: HierarchySpec, name: str, base: Path, path: Path) -> Hierarchy | None:
    import pandas as pd

    from tabprotect.formats.files import read_bytes
    from tabprotect.table.hierarchy import Hierarchy

    total = "Total" if source.total is None else source.total
    if source.file is not None:
        return Hierarchy.read(base / source.file, source.leader, source.total)
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
    if source.lengths is not None or source.separator is not None:
        codes = [code for code in _codes(path, name) if code != total]
        return Hierarchy.from_prefixes(codes, source.lengths, source.separator, total)
    return None


def _codes(path: Path, column: str) -> list[str]:
    """Return the different codes of a column of a file."""
    from tabprotect.table.duck import DuckSource, quoted
    from tabprotect.table.read import need_columns

    with DuckSource(str(path)) as source:
        with collect() as problems:
            need_columns(source.columns, [column], problems)
        rows = source.rows(f"SELECT DISTINCT CAST({quoted(column)} AS VARCHAR) FROM {source.scan} ORDER BY 1")
        return [str(code) for (code,) in rows if code is not None]
