"""Masked files outside of memory in folders: ``publish/`` may leave the building, ``internal/`` may not."""

from __future__ import annotations

import filecmp
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tabprotect._version import __version__
from tabprotect.errors import InfeasibleError, InputError
from tabprotect.formats.files import read_bytes
from tabprotect.formats.folder import (
    INTERNAL,
    MASKED_LARGE,
    PUBLISH,
    Content,
    changed_files,
    check_replaceable,
    read_manifest,
    write_release,
)
from tabprotect.microdata.claims import Claim, Verification
from tabprotect.microdata.large.checks import check_large
from tabprotect.microdata.large.duck import DuckStage, Workshop
from tabprotect.microdata.large.options import Large
from tabprotect.microdata.large.stage import RECORDS, ROW, Stage
from tabprotect.microdata.schema import Schema

__all__ = ["LargeContents", "verify_large", "write_large"]

FORMS = ("csv", "parquet")


@dataclass(frozen=True, eq=False)
class LargeContents:
    """What is written: `released` and `title` for the public, the rest inside; `identifiers` of released records."""

    released: Stage
    identifiers: Stage | None
    title: str
    claims: Sequence[Claim]
    before: Mapping[int, Stage]
    steps: Sequence[Mapping[str, Any]]
    schema: Schema
    seed: int
    summary: str


def write_large(contents: LargeContents, folder: str | Path, formats: Sequence[str]) -> Path:
    """Write a release; see `LargeMasked.write`."""
    check_replaceable(folder)
    wrong = [kind for kind in formats if kind not in FORMS]
    if wrong or not formats or isinstance(formats, str):
        raise InputError(f"formats of large files are a list of {' or '.join(FORMS)}, not {formats!r}")
    released = contents.released
    if not isinstance(released, DuckStage):
        raise InputError(
            "records in Spark are written as a folder of files, with a name such as people.parquet; a release with "
            "publish/ and internal/ is written of records in DuckDB"
        )
    found = check_large(contents.claims, released, contents.before)
    if not found:
        raise InfeasibleError("not written, as what is claimed does not hold:\n" + found.summary())
    publish: dict[str, Content] = {f"data.{kind}": released.write for kind in dict.fromkeys(formats)}
    publish["metadata.json"] = _json(
        {
            "title": contents.title,
            "records": released.count,
            "columns": [{"name": field.name, "type": str(field.type)} for field in released.arrow],
        }
    )
    claims = {"claims": [claim.to_dict() for claim in contents.claims], "schema": contents.schema.to_dict()}
    internal: dict[str, Content] = {
        "released.parquet": partial(_copy, released, released.arrow.names),
        "claims.json": _json(claims),
        "steps.json": _json({"seed": contents.seed, "steps": list(contents.steps)}),
        "links.parquet": partial(_links, contents.identifiers or released, contents.identifiers is not None),
        "summary.txt": (contents.summary + "\n").encode(),
    }
    for step, kept in contents.before.items():
        names = dict.fromkeys(name for c in contents.claims if c.step == step for name in c.before)
        internal[f"before-{step}.parquet"] = partial(_copy, kept, list(names))
    facts = {
        "notice": "CONFIDENTIAL. Nothing in this folder may be published.",
        "kind": MASKED_LARGE, "title": contents.title, "version": __version__, "seed": contents.seed,
    }  # fmt: skip
    write_release(folder, publish, internal, facts)
    return Path(folder)


def _copy(stage: Stage, names: Sequence[str], path: Path) -> None:
    """Write some columns with the numbers of their rows, batch by batch."""
    assert isinstance(stage, DuckStage)
    arrow = pa.schema([*(stage.arrow.field(name) for name in names), pa.field(ROW, pa.int64())])
    with pq.ParquetWriter(path, arrow, compression="zstd") as writer:
        for part in stage.parts(names):
            writer.write_table(part.table.append_column(ROW, pa.array(part.rows)).cast(arrow))


def _links(stage: Stage, named: bool, path: Path) -> None:
    """Write the original record of every released one (rows counted from 1), with its identifiers."""
    assert isinstance(stage, DuckStage)
    names = stage.arrow.names if named else []
    arrow = pa.schema([("released", pa.int64()), ("original", pa.int64()), *(stage.arrow.field(n) for n in names)])
    done = 0
    with pq.ParquetWriter(path, arrow, compression="zstd") as writer:
        for part in stage.parts(names):
            rows = np.arange(done + 1, done + len(part.rows) + 1)
            columns = [pa.array(rows), pa.array(part.rows + 1), *(part.table.column(name) for name in names)]
            writer.write_table(pa.table(columns, schema=arrow))
            done += len(part.rows)


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def verify_large(folder: str | Path, options: Large | None = None) -> Verification:
    """Check a written release batch by batch: every file, every claim, and what each published form holds.

    Parameters
    ----------
    folder : path
    options : Large, optional
        Memory, batches and the place of temporary files.

    Raises
    ------
    InputError
        If the folder is no such release, or a file cannot be read.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    if manifest.get("kind") != MASKED_LARGE:
        raise InputError(f"{folder} is no release of large masked microdata")
    inside = folder / INTERNAL
    try:
        claims = tuple(Claim.of(one) for one in json.loads(read_bytes(inside / "claims.json", regular=True))["claims"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{inside / 'claims.json'} is damaged: {error}") from error
    place = Workshop(options or Large())
    released = _stage(place, inside / "released.parquet")
    steps = sorted({claim.step for claim in claims if claim.before})
    before = {step: _stage(place, inside / f"before-{step}.parquet") for step in steps}
    for step, stage in before.items():
        _check_rows(inside, step, released, stage)
    failures = [*changed_files(folder), *_published(folder, manifest, released)]
    return Verification(check_large(claims, released, before).checks, tuple(failures))


def _stage(place: Workshop, path: Path) -> DuckStage:
    """Open a file of a release, whose rows must be numbered in ascending order."""
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is no regular file")
        with pq.ParquetFile(path) as file:
            arrow, count = file.schema_arrow, file.metadata.num_rows
            stage = DuckStage(place, path, pa.schema([f for f in arrow if f.name != ROW]), count, lent=True)
            last = -1
            for batch in file.iter_batches(columns=[ROW]):
                rows = np.concatenate([[last], np.asarray(batch.column(0), dtype=np.int64)])
                if (np.diff(rows) <= 0).any():
                    raise InputError(f"{path} is damaged: the numbers of its rows do not ascend")
                last = rows[-1]
    except (OSError, ValueError, KeyError, IndexError, pa.ArrowException) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    return stage


def _check_rows(inside: Path, step: int, released: DuckStage, before: DuckStage) -> None:
    missing = released.query(
        f"SELECT count(*) AS n FROM {RECORDS} WHERE {ROW} NOT IN (SELECT {ROW} FROM {before.scan})"
    )
    if missing.column("n")[0].as_py():
        raise InputError(f"{inside / f'before-{step}.parquet'} is damaged: it lacks rows that are released")


def _published(folder: Path, manifest: Mapping[str, Any], released: DuckStage) -> list[str]:
    """Compare every published form with what was released: CSV byte for byte, Parquet value by value."""
    failures = []
    same: dict[str, Callable[[Path, DuckStage], bool]] = {"csv": _same_csv, "parquet": _same_parquet}
    for name in manifest[PUBLISH]:
        path = folder / PUBLISH / name
        compare = same.get(name.partition(".")[2])
        if name.startswith("data.") and path.is_file() and not (compare and compare(path, released)):
            failures.append(f"{PUBLISH}/{name} does not hold the values that the claims are about")
    return failures


def _same_csv(path: Path, released: DuckStage) -> bool:
    with tempfile.TemporaryDirectory(prefix="tabprotect-", dir=released.place.large.folder) as kept:
        wanted = Path(kept) / "data.csv"
        released.write(wanted)
        return filecmp.cmp(path, wanted, shallow=False)


def _same_parquet(path: Path, released: DuckStage) -> bool:
    names = released.arrow.names
    try:
        with pq.ParquetFile(path) as one, pq.ParquetFile(released.path) as other:
            if one.schema_arrow.names != names or one.metadata.num_rows != released.count:
                return False
            size = released.place.large.batch
            pairs = zip_longest(one.iter_batches(size), other.iter_batches(size, columns=names))
            return all(a is not None and b is not None and _equal(a, b) for a, b in pairs)
    except (OSError, ValueError, pa.ArrowException):
        return False


def _equal(one: pa.RecordBatch, other: pa.RecordBatch) -> bool:
    """Compare values; nan is equal to itself."""
    if one.num_rows != other.num_rows:
        return False
    for a, b in zip(one.columns, other.columns, strict=True):
        if pa.types.is_floating(a.type) and pa.types.is_floating(b.type):
            if not a.is_null().equals(b.is_null()):
                return False
            x, y = (np.asarray(column.fill_null(0.0), dtype=np.float64) for column in (a, b))
            if not np.array_equal(x, y, equal_nan=True):
                return False
        elif not a.equals(b if a.type == b.type else b.cast(a.type)):
            return False
    return True
