"""Masked microdata in folders: ``publish/`` may leave the building, ``internal/`` may not."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tabprotect._version import __version__
from tabprotect.errors import InfeasibleError, InputError
from tabprotect.formats.dialect import STANDARD, Dialect
from tabprotect.formats.files import read_bytes
from tabprotect.formats.folder import (
    INTERNAL,
    MASKED,
    PUBLISH,
    Content,
    changed_files,
    check_replaceable,
    read_manifest,
    write_release,
)
from tabprotect.formats.frames import encode_frame
from tabprotect.microdata.claims import Claim, Verification, check_claims
from tabprotect.microdata.records import Records
from tabprotect.microdata.schema import Schema
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.reading.stores import pandas_of

__all__ = ["Contents", "verify_masked", "write_masked"]


@dataclass(frozen=True, eq=False)
class Contents:
    """What is written of a masked file: `records` and `title` for the public, the rest inside."""

    records: Records
    title: str
    verification: Verification
    claims: Sequence[Claim]
    before: Mapping[int, Records]
    steps: Sequence[Mapping[str, Any]]
    links: npt.NDArray[np.int64]
    original: Records
    seed: int
    summary: str
    dialect: Dialect = STANDARD


def write_masked(contents: Contents, folder: str | Path, formats: Sequence[str] = ("csv",)) -> Path:
    """Write a masked file; see `Masked.write`."""
    check_replaceable(folder)
    if not contents.verification:
        raise InfeasibleError("not written, as what is claimed does not hold:\n" + contents.verification.summary())
    frame = contents.records.pandas().reset_index(drop=True)
    kinds = tuple(dict.fromkeys(formats))
    publish: dict[str, bytes] = {
        f"data.{kind}": encode_frame(frame, kind, title="data", dialect=contents.dialect) for kind in kinds
    }
    publish["metadata.json"] = _json(_metadata(contents))
    # claims are checked on exact values and types again, whatever the published form keeps of them
    schema = contents.records.schema.to_dict()
    internal: dict[str, Content] = {
        "released.parquet": encode_frame(frame, "parquet"),
        "claims.json": _json({"claims": [claim.to_dict() for claim in contents.claims], "schema": schema}),
        "steps.json": _json({"seed": contents.seed, "steps": list(contents.steps)}),
        "links.csv": encode_frame(_links(contents), "csv"),
        "summary.txt": (contents.summary + "\n").encode(),
    }
    for step, kept in contents.before.items():
        internal[f"before-{step}.parquet"] = encode_frame(kept.pandas().reset_index(drop=True), "parquet")
    facts = {
        "notice": "CONFIDENTIAL. Nothing in this folder may be published.",
        "kind": MASKED,
        "title": contents.title,
        "version": __version__,
        "seed": contents.seed,
        **({} if contents.dialect == STANDARD else {"dialect": contents.dialect.document()}),
    }
    write_release(folder, publish, internal, facts)
    return Path(folder)


def _metadata(contents: Contents) -> dict[str, Any]:
    """What the public gets to know of the file: its columns and how many records there are."""
    records = contents.records
    columns = [{"name": name, "type": str(records.frame[name].dtype)} for name in records.columns]
    return {"title": contents.title, "records": len(records), "columns": columns}


def _links(contents: Contents) -> pd.DataFrame:
    """Return the original record of every released one (rows counted from 1), with its identifiers."""
    frame = pd.DataFrame({"released": np.arange(1, len(contents.links) + 1), "original": contents.links + 1})
    for name in contents.records.schema.identifiers:
        values = np.array([*contents.original.frame[name].to_list(), None], dtype=object)
        frame[name] = values[contents.links]
    return frame


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def verify_masked(folder: str | Path) -> Verification:
    """Check a written release: every file, every claim, and that each published form holds the released values.

    Raises
    ------
    InputError
        If the folder is no such release, or a file cannot be read.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    if manifest.get("kind") != MASKED:
        raise InputError(f"{folder} is no release of masked microdata")
    inside = folder / INTERNAL
    try:
        document = json.loads(read_bytes(inside / "claims.json", regular=True))
        claims = tuple(Claim.of(one) for one in document["claims"])
        schema = _schema(document["schema"])
    except InputError as error:
        raise InputError(f"{inside / 'claims.json'} is damaged: {'; '.join(error.problems)}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{inside / 'claims.json'} is damaged: {error}") from error
    released = _parquet(inside / "released.parquet", schema)
    steps = sorted({claim.step for claim in claims if claim.before})
    before = {step: _parquet(inside / f"before-{step}.parquet", schema) for step in steps}
    failures = [*changed_files(folder), *_published(folder, manifest, released)]
    return check_claims(claims, released, before, tuple(failures))


def _schema(given: dict[str, Any]) -> Schema:
    trees = {
        name: Hierarchy(tuple((parent, tuple(parts)) for parent, parts in splits))
        for name, splits in given["hierarchies"].items()
    }
    return Schema(**{**given, "hierarchies": trees})


def _parquet(path: Path, schema: Schema) -> Records:
    try:
        frame = pandas_of(pq.read_table(io.BytesIO(read_bytes(path, regular=True))))
    except (ValueError, OSError, KeyError, pa.ArrowException) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    return Records(nw.from_native(frame, eager_only=True), schema, "pandas")


def _published(folder: Path, manifest: dict[str, Any], released: Records) -> list[str]:
    """Compare every published form with what was released, byte for byte."""
    failures = []
    dialect = Dialect.of(manifest.get("dialect"))
    for name in manifest[PUBLISH]:
        if not name.startswith("data."):
            continue
        wanted = encode_frame(released.pandas(), name.partition(".")[2], title="data", dialect=dialect)
        path = folder / PUBLISH / name
        if path.is_file() and path.read_bytes() != wanted:
            failures.append(f"{PUBLISH}/{name} does not hold the values that the claims are about")
    return failures
