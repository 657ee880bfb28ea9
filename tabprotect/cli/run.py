"""Carry out a specification: read, protect, show, write."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabprotect.cli import screen
from tabprotect.cli.app import Exit
from tabprotect.cli.progress import Display, interruptible
from tabprotect.errors import InputError, collect
from tabprotect.workflow.specification import HierarchySpec, Spec, each_table

if TYPE_CHECKING:
    import pandas as pd

    from tabprotect.cli.screen import Screen
    from tabprotect.methods.base.method import Method as Choice
    from tabprotect.methods.recoding.method import Recode
    from tabprotect.methods.suppression.method import Suppress
    from tabprotect.problem import Problem
    from tabprotect.release.publication import Publication
    from tabprotect.sensitivity.bounds import Bounds
    from tabprotect.table.dimension import Dimension
    from tabprotect.table.hierarchy import Hierarchy
    from tabprotect.table.table import Table

__all__ = ["carry_out", "method_of", "read_problem", "with_records"]

GIGABYTE = 10**9

RECODE = "recode"


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
    from tabprotect.methods.base.method import Method as Choice
    from tabprotect.methods.record_swapping.method import Swap
    from tabprotect.solver.limits import Budget, Limits
    from tabprotect.solver.tasks.pieces import processes
    from tabprotect.workflow.protect import protect
    from tabprotect.workflow.values import draw_seed

    folder = base / spec.output.folder
    check_replaceable(folder)
    _check_formats(spec)
    method = method_of(spec, base)
    seed = draw_seed(method, spec.seed)
    err = screen.screen()
    pool = nullcontext() if workers is None else processes(workers)
    with interruptible(err) as asked, Display(err) as progress, pool as executor:
        Budget(progress=progress).report("tabulate")
        if isinstance(method, Swap) and spec.empty is None:
            # swapped records may fill cells that are empty, so nobody knows these to be
            spec = spec.model_copy(update={"empty": "zero"})
        table = _read(spec, base, method.contributions if isinstance(method, Choice) else 0)
        if isinstance(method, Choice):
            method = with_records(method, spec, base, table, seed)
        release = protect(
            table,
            spec.rules,
            method,
            levels=spec.levels,
            bounds=_bounds(spec),
            singletons=spec.singletons,
            unions=spec.unions,
            protect_hidden=spec.protect_hidden,
            limits=Limits(
                _seconds(spec, method),
                spec.limits.work,
                spec.limits.gap,
                asked.is_set,
                None if spec.limits.memory is None else int(GIGABYTE * spec.limits.memory),
            ),
            seed=seed,
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
            if "csv" in spec.output.formats:
                _warn_of_formulas(err, release.public.frame)
    return _report(release, folder)


def _warn_of_formulas(err: Screen, frame: pd.DataFrame) -> None:
    """Say which labels of a CSV file spreadsheets take for formulas."""
    from tabprotect.formats.frames import as_formulas
    from tabprotect.table.codes import some

    words = as_formulas(frame)
    if words:
        err.print(
            f"Spreadsheets take {len(words)} labels of table.csv for formulas: {some([repr(w) for w in words], 3)}; "
            "--format text.csv writes them as text.",
            style="yellow",
        )


def method_of(spec: Spec, base: Path) -> Suppress | Recode | Choice:
    """Return how a specification protects, its options checked.

    Raises
    ------
    InputError
        Unknown methods and options, values that they cannot have, settings that do not go with them.
    """
    from tabprotect.errors import did_you_mean
    from tabprotect.methods.base.options import read_options
    from tabprotect.methods.registry import VALUE_METHODS as CHOICES
    from tabprotect.methods.suppression import methods
    from tabprotect.methods.suppression.method import Suppress
    from tabprotect.workflow.sums import PASSES

    if spec.tables and spec.method in (RECODE, "cell-key"):
        raise InputError(f"{spec.method} works on one table, and these are linked: {', '.join(spec.tables)}")
    hide = Suppress(
        spec.cost if spec.cost in _COSTS else None, spec.method, engine=spec.engine, random_costs=spec.random_costs
    )
    if spec.method == RECODE:
        return _recode(spec, base)
    if spec.method not in CHOICES:
        known = (*methods(), PASSES, RECODE, *CHOICES)
        if spec.method not in known:
            raise InputError(f"unknown method '{spec.method}'{did_you_mean(spec.method, known)}")
        if spec.options:
            names = ", ".join(spec.options)
            raise InputError(f"options ({names}) are for methods that change values; '{spec.method}' hides cells")
        return hide
    strange = [
        name
        for name, default in (("engine", "scip"), ("cost", "value"), ("random_costs", 0.0))
        if getattr(spec, name) != default
    ]
    if strange and spec.options.get("weights") != "problem":
        raise InputError(f"{', '.join(strange)} belong to hiding cells; {spec.method} hides none")
    chosen: Choice = read_options(CHOICES[spec.method], spec.options)
    return chosen


def _recode(spec: Spec, base: Path) -> Recode:
    """Read the options of recoding; recodings by hand are applied when the data are read."""
    from tabprotect.errors import did_you_mean
    from tabprotect.methods.recoding.method import Recode
    from tabprotect.methods.suppression import methods
    from tabprotect.methods.suppression.method import Suppress

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
    hide = Suppress(
        spec.cost if spec.cost in _COSTS else None, then, engine=spec.engine, random_costs=spec.random_costs
    )
    return Recode({name: base / file for name, file in rules.items()}, least, keep, hide)


def with_records(method: Choice, spec: Spec, base: Path, table: Table, seed: int) -> Choice:
    """Give the methods that need records what they need: cell keys, or the table of swapped records.

    Raises
    ------
    InputError
        If there are no records, or they do not go with the method.
    """
    from dataclasses import replace

    from tabprotect.methods.cell_key.method import CellKey
    from tabprotect.methods.record_swapping.method import Swap
    from tabprotect.workflow.swap import ROLES, swap_table
    from tabprotect.workflow.values import keys_of_cells, microdata, numbers_of

    if not isinstance(method, CellKey | Swap):
        return method
    if spec.data is None:
        raise InputError(f"{method.name} needs a table made from microdata (data = ...)")
    if isinstance(method, CellKey):
        if spec.weight is not None:
            raise InputError("cell-key: records with sampling weights are not perturbed; use round or adjust")
        return replace(
            method, keys=keys_of_cells(base / spec.data, method, seed, list(table.dimensions), None, spec.empty)
        )
    roles = {name: getattr(spec, name) for name in ROLES if name != "cost"}
    frame = microdata(base / spec.data, numbers_of(roles), spec.decimal)
    return replace(method, swapped=swap_table(frame, table, method, seed, roles, spec.rules, spec.levels))


def _seconds(spec: Spec, method: Suppress | Recode | Choice) -> float | None:
    """Proofs of changed values may take for ever: such a search ends by itself."""
    from tabprotect.cli.values import DEFAULT_SECONDS
    from tabprotect.methods.base.method import Method as Choice

    if isinstance(method, Choice) and spec.limits.seconds is None and spec.limits.work is None:
        return DEFAULT_SECONDS
    return spec.limits.seconds


def read_problem(spec: Spec, base: Path, top: int = 0) -> tuple[Table, Problem]:
    """Read the table of a specification and state its problem, without protecting anything.

    `top` largest contributions to every cell are kept at least.
    """
    from tabprotect.sensitivity.assess import assess
    from tabprotect.sensitivity.build import make_problem

    table = _read(spec, base, top)
    assessment = assess(table, spec.rules, levels=spec.levels)
    cost = spec.cost if spec.cost in _COSTS else None
    return table, make_problem(table, assessment, cost=cost, bounds=_bounds(spec), singletons=spec.singletons)


def _report(release: Publication, folder: Path) -> int:
    """Print what was done, and return the exit code."""
    from rich.text import Text

    console = screen.out()
    console.print(release.summary())
    if not release.safe:
        if release.judgement is not None:
            console.print(release.judgement.summary(), style="red")
        bad = ("NOT SAFE", "bold red")
        if not release.allow_unsafe:
            cure = "--allow-unsafe writes it on your responsibility"
            console.print(Text.assemble(bad, f": nothing was written ({cure})."))
            return Exit.UNSAFE
        console.print(Text.assemble(bad, ", written because allow_unsafe is set."))
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
    return Exit.LIMIT if release.stopped else Exit.DONE


def _check_formats(spec: Spec) -> None:
    if "xlsx" in spec.output.formats:
        try:
            import openpyxl  # noqa: F401
        except ImportError as error:
            raise InputError("Excel files need openpyxl: install tabprotect[excel]") from error


def _read(spec: Spec, base: Path, top: int) -> Table:
    """Read the data of one table, or of several that are linked, and the `top` largest contributions at least."""
    from tabprotect.table.link import link

    if not spec.tables:
        return _read_one(spec, base, top)
    specs = each_table(spec)
    tables: dict[str, Table] = {}
    with collect() as problems:
        for name, one in specs.items():
            try:
                tables[name] = _read_one(one, base, top)
            except InputError as error:
                problems.found += [f"tables.{name}: {problem}" for problem in error.problems]
    measures = {name: one.measure for name, one in specs.items() if one.measure is not None}
    same = len(measures) == len(specs) and len(set(measures.values())) == 1
    tolerance = max((one.tolerance for one in specs.values() if one.tolerance is not None), default=None)
    return link(tables, measure=next(iter(measures.values())) if same else measures or None, tolerance=tolerance)


def _read_one(spec: Spec, base: Path, top: int) -> Table:
    """Read the data; every problem names the file."""
    name = Path(str(spec.data if spec.data is not None else spec.cells)).name
    try:
        return _table(spec, base, top)
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


def _table(spec: Spec, base: Path, top: int) -> Table:
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
        source: Any = str(path)
        if spec.method == RECODE and spec.options.get("rules"):
            from tabprotect.workflow.recode import recode_microdata

            rules = {name: base / file for name, file in spec.options["rules"].items()}
            numbers = [name for name in (spec.value, spec.shadow, cost, spec.weight) if name is not None]
            source = recode_microdata(path, rules, numbers, spec.decimal)
        roles = ("shadow", "contributor", "holding", "weight", "request", "waiver", "kind", "empty", "decimal")
        given = {name: getattr(spec, name) for name in roles}
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
    hierarchy = _hierarchy(source, name, base, path, missing)
    return Dimension(name, hierarchy, None if hierarchy else spec.total.get(name), missing)


def _hierarchy(source: HierarchySpec, name: str, base: Path, path: Path, missing: Sequence[str]) -> Hierarchy | None:
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
    if source.lengths is not None or source.digits is not None or source.separator is not None:
        # what stands for 'unknown' is no code with levels; tabulation puts it below the total
        codes = [code for code in _codes(path, name) if code != total and code not in missing]
        try:
            return Hierarchy.from_prefixes(codes, source.lengths, source.separator, total, digits=source.digits)
        except InputError as error:
            raise InputError(*(f"hierarchy.{name}: {problem}" for problem in error.problems)) from error
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
