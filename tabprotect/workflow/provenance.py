"""Where a release comes from: inputs, roles, hierarchies, rules, versions, date, command. Confidential."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from tabprotect._version import __version__
from tabprotect.errors import InputError
from tabprotect.sensitivity.requirements import readings
from tabprotect.table.dimension import Dimension
from tabprotect.table.reading import Recognised
from tabprotect.table.table import Table
from tabprotect.workflow.records import microdata
from tabprotect.workflow.source import Finished, Source
from tabprotect.workflow.specification import Spec, each_table
from tabprotect.workflow.specified import Specified

if TYPE_CHECKING:
    from tabprotect.workflow.prepare import Prepared

__all__ = ["date_of_work", "provenance", "roles_of"]

_LIBRARIES: Final = ("numpy", "scipy", "pandas", "duckdb", "highspy", "pyscipopt")
_ROLES: Final = ("value", "shadow", "cost", "contributor", "holding", "weight", "request", "waiver", "kind", "empty")
_READ: Final = ("kind", "packed", "member", "encoding", "separator", "decimal", "thousands", "sheet", "relation")


def provenance(prepared: Prepared) -> dict[str, Any]:
    """Return where a release comes from, as plain JSON.

    Parameters
    ----------
    prepared : Prepared
    """
    request, table = prepared.request, prepared.table
    dimensions = {str(d.name): d for dims in (table.dimensions, *table.parts.values()) for d in dims}
    return {
        "command": request.command or "tabprotect.protect",
        "date": date_of_work(),
        "versions": {"tabprotect": __version__, "python": platform.python_version(), **_libraries()},
        "inputs": list(_inputs(prepared)),
        "roles": {"by": list(dimensions), **{name: _plain(what) for name, what in roles_of(prepared).items()}},
        "hierarchies": {name: _hierarchy(dimension) for name, dimension in dimensions.items()},
        "rules": [str(rule) for rule in request.rules],
        "readings": readings(request.rules),
    }


def roles_of(prepared: Prepared) -> dict[str, Any]:
    """Return the columns that the table is made of, by role; of a finished table those that it was tabulated with."""
    source, own = prepared.source, prepared.table.roles
    given: Mapping[str, Any] = own if source.roles is None else {**own, **source.roles}
    if isinstance(source, Specified) and source.roles is None:
        specs = each_table(source.spec) if source.spec.tables else {"": source.spec}
        given = {role: _same([getattr(one, role) for one in specs.values()], list(specs)) for role in _ROLES}
        given["cost"] = source.spec.cost
    return {role: given.get(role) for role in _ROLES}


def date_of_work() -> str:
    """Return the time in UTC, to the second; the environment variable SOURCE_DATE_EPOCH fixes it.

    Raises
    ------
    InputError
        If SOURCE_DATE_EPOCH is no number of seconds.
    """
    fixed = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        now = datetime.now(UTC) if fixed is None else datetime.fromtimestamp(int(fixed), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(f"SOURCE_DATE_EPOCH must be seconds since 1970, not {fixed!r}") from error
    return now.isoformat(timespec="seconds")


def _same(values: list[Any], names: list[str]) -> Any:
    """Return what all linked tables have in common, or what each of them has."""
    return values[0] if all(one == values[0] for one in values) else dict(zip(names, values, strict=True))


def _libraries() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _inputs(prepared: Prepared) -> Iterator[dict[str, Any]]:
    source, read = prepared.request.source, prepared.table.recognised
    known = {str(Path(one.path)): one for one in read}
    if isinstance(source, Specified):
        for name in dict.fromkeys(_files(source.spec)):
            path = source.base / name
            yield _file(path, name, known.get(str(path)))
        return
    if isinstance(source, Finished) or source.data is None:
        table = source.given if isinstance(source, Finished) else prepared.table
        kind = "table of records in memory" if table.roles else "finished table"
        of_files = [_file(Path(one.path), str(one.path), one) for one in table.recognised]
        yield from of_files or [{"name": kind, "rows": len(table.rows), "sha256": _of_frame(table.rows)}]
    elif isinstance(source.data, str | os.PathLike):
        path = Path(source.data)
        yield _file(path, str(source.data), known.get(str(path)))
    else:
        yield _of_records(source.data)
    for name in _code_lists(source, prepared.table):
        yield _file(Path(name), name, None)


def _code_lists(source: Source, table: Table) -> tuple[str, ...]:
    """Return the files that hierarchies were read from, as they were named."""
    table = source.given if isinstance(source, Finished) else table
    dimensions = [*table.dimensions, *(d for dims in table.parts.values() for d in dims)]
    given: Mapping[str, Any] = {} if source.roles is None else source.roles.get("hierarchies") or {}
    paths = [str(one) for one in given.values() if isinstance(one, str | os.PathLike)]
    return tuple(dict.fromkeys([*paths, *(d.hierarchy.file for d in dimensions if d.hierarchy and d.hierarchy.file)]))


def _files(spec: Spec) -> Iterator[str]:
    """Return the files that a specification names, as it names them."""
    for one in each_table(spec).values() if spec.tables else (spec,):
        yield from (name for name in (one.data, one.cells) if name is not None)
        for source in one.hierarchy.values():
            yield from (name for name in (source.file, source.pairs) if name is not None)
    rules = spec.options.get("rules", {})
    yield from (str(name) for name in rules.values()) if isinstance(rules, dict) else ()


def _file(path: Path, name: str, found: Recognised | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name, "sha256": None}
    if path.is_file():
        with path.open("rb") as stream:
            entry["sha256"] = hashlib.file_digest(stream, "sha256").hexdigest()
    if found is not None:
        entry["recognised"] = {part: getattr(found, part) for part in _READ if getattr(found, part)}
    return entry


def _of_records(data: Any) -> dict[str, Any]:
    """Describe a frame in memory; a relation or frame that is read in pieces has no digest."""
    kind = f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}"
    if not hasattr(data, "shape") or "Lazy" in kind or "Relation" in kind:
        return {"name": kind, "sha256": None}
    frame, _ = microdata(data)
    return {"name": kind, "rows": len(frame), "sha256": _of_frame(frame)}


def _of_frame(frame: pd.DataFrame) -> str:
    """Return the digest of column names and values."""
    digest = hashlib.sha256("\0".join(map(str, frame.columns)).encode())
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        column = column if pd.api.types.is_numeric_dtype(column) else column.astype("string")
        digest.update(pd.util.hash_pandas_object(column, index=False).to_numpy().tobytes())
    return digest.hexdigest()


def _hierarchy(dimension: Dimension) -> dict[str, Any] | None:
    hierarchy = dimension.hierarchy
    if hierarchy is None:
        return None
    pairs = hierarchy.frame.astype("string")
    return {"codes": len(hierarchy.codes), "sha256": _of_frame(pairs)}


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | list | dict | None) else str(value)
