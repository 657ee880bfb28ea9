"""Where the folders of a release are not what was proven: files, claims of the manifest, headings, public tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.attack.certificate import Certificate
from tabprotect.attack.values import ValuesCertificate
from tabprotect.certificate.extent import CLOSED, NEGLIGIBLE, extent, is_optimal
from tabprotect.formats.dialect import Dialect
from tabprotect.formats.folder import CERTIFICATE, INTERNAL, MANIFEST, PUBLISH
from tabprotect.problem import Problem
from tabprotect.report.layout import LAYOUT, Layout, writers
from tabprotect.report.public import PublicTable
from tabprotect.solver.gap import relative_gap

__all__ = ["claims", "different", "foreign", "headings"]


def foreign(folder: Path, manifest: Mapping[str, Any], expected: Mapping[str, bytes]) -> Iterator[str]:
    """Name what is in the public folder and should not be, and what is not there."""
    there = {str(path.relative_to(folder / PUBLISH)) for path in (folder / PUBLISH).rglob("*")}
    for name in sorted(there - set(expected)):
        yield f"{PUBLISH}/{name} is not part of the release"
    for name in sorted(set(expected) - there):
        yield f"{PUBLISH}/{name} is missing"
    if set(manifest[PUBLISH]) != set(expected):
        yield f"{MANIFEST} lists other public files than those proven: {', '.join(sorted(manifest[PUBLISH]))}"
    for name in sorted({CERTIFICATE, LAYOUT} - set(manifest[INTERNAL])):
        yield f"{MANIFEST} does not list {INTERNAL}/{name}"


def claims(manifest: Mapping[str, Any], certificate: Certificate | ValuesCertificate) -> Iterator[str]:
    """Compare what the manifest claims with what the certificate proves; a claim beyond its proof must be marked."""
    safe = manifest.get("safe")
    if not isinstance(safe, bool) or (safe and not certificate.safe):
        yield f"{MANIFEST} claims safe: {safe!r:.20}, the certificate has the verdict '{str(certificate.verdict)[:20]}'"
    document = certificate.document
    proofs = {"cost": document["cost"], "bound": document["claimed_bound"]}
    if isinstance(certificate, Certificate):
        proofs["proven_bound"] = document["bound"]
    known: dict[str, float | None] = {}
    for name, proven in proofs.items():
        try:
            number = None if proven is None else float(Fraction(proven))
        except (TypeError, ValueError, ZeroDivisionError, OverflowError):
            yield f"the certificate holds no number as {name}"
            continue
        if name not in manifest:
            yield f"{MANIFEST} does not say the {name}"
        elif type(manifest[name]) not in (int, float, type(None)) or manifest[name] != number:
            yield f"{MANIFEST} claims the {name} {manifest.get(name)!r:.40}, but the certificate has {number!r}"
        known[name] = number
    yield from _status(manifest.get("status"), certificate)
    gap = relative_gap(known.get("cost"), known.get("bound"))
    if "gap" in manifest and manifest["gap"] != gap:
        yield f"{MANIFEST} claims the gap {manifest['gap']!r:.40}, but by the certificate it is {gap!r}"


def _status(status: Any, certificate: Certificate | ValuesCertificate) -> Iterator[str]:
    """Hold the status against the proof: where it claims more it has to say how far exact arithmetic goes."""
    document = certificate.document
    proven = document["bound"] if isinstance(certificate, Certificate) else None
    try:
        cost, claimed, proven = (
            None if text is None else Fraction(text) for text in (document["cost"], document["claimed_bound"], proven)
        )
    except (TypeError, ValueError, ZeroDivisionError):
        return  # said already
    if not isinstance(status, str):
        yield f"{MANIFEST} has no status"
        return
    said, optimal = f"{MANIFEST} has the status '{status[:120]}'", status.startswith("optimal")
    negligible = NEGLIGIBLE if isinstance(certificate, Certificate) else CLOSED
    if optimal and cost and (claimed is None or not is_optimal(cost, claimed, negligible)):
        yield f"{said}, but the certificate has no bound that meets the cost"
        return
    mark = "" if not cost or claimed is None else extent(cost, claimed, proven)
    if mark and not (status.endswith(f"; {mark}") and (not optimal or status.startswith("optimal by "))):
        yield f"{said}, which is by the solver only: {mark}"


def headings(manifest: Mapping[str, Any], public: PublicTable) -> Iterator[str]:
    """Compare what exports take from the manifest with what the public page says."""
    page = {"title": public.title, **public.beside()}
    for name in ("title", "unit", "source", "labels"):
        if manifest.get(name) != page.get(name):
            what = f"other {name}" if name == "labels" else f"another {name}"
            yield f"{MANIFEST} names {what} than the public page"


def different(
    folder: Path,
    expected: Mapping[str, bytes],
    layout: Layout,
    problem: Problem,
    cell: npt.NDArray[np.int64],
    shown: npt.NDArray[np.bool_],
) -> Iterator[str]:
    """Name the public files that are not, byte for byte, what was proven; mark in `shown` what else they show."""
    formats = layout.document["formats"]
    now, then = writers(formats), layout.document["written"]
    other = [f"{name} {str(then.get(name))[:20]}, this is {now[name]}" for name in now if then.get(name) != now[name]]
    for name, data in expected.items():
        path = folder / PUBLISH / name
        if not path.is_file() or path.is_symlink():
            if path.is_symlink() or path.exists():
                yield f"{PUBLISH}/{name} is no plain file"
            continue
        try:
            with path.open("rb") as stream:
                found = stream.read(2 * len(data) + 1_000_000)
        except OSError as error:
            yield f"{PUBLISH}/{name} cannot be read: {error.strerror or error}"
            continue
        if found == data:
            continue
        why = f" (written with {'; '.join(other)})" if other else ""
        yield f"{PUBLISH}/{name} is not, byte for byte, what was proven{why}"
        if name.endswith(".csv"):
            yield from (
                f"{PUBLISH}/{name}: {what}" for what in _says(found, data, problem, cell, shown, layout.dialect)
            )


def _says(
    found: bytes,
    expected: bytes,
    problem: Problem,
    cell: npt.NDArray[np.int64],
    shown: npt.NDArray[np.bool_],
    dialect: Dialect,
) -> Iterator[str]:
    """Say in what a public table differs from the one expected."""
    right = dialect.decode(expected)
    try:
        frame = dialect.decode(found)
    except (ValueError, pd.errors.ParserError) as error:
        yield f"it cannot be read: {str(error)[:200]}"
        return
    if frame.columns.tolist() != right.columns.tolist():
        more = [str(name)[:40] for name in frame.columns if name not in right.columns]
        yield f"its columns are not those proven{': foreign are ' + ', '.join(more[:5]) if more else ''}"
        return
    if len(frame) != len(right):
        yield f"it has {len(frame)} rows, not {len(right)}"
        return
    label = problem.system.label
    last = (
        2
        if right.shape[1] > 2 and right.iloc[:, -1].isin(["published", "suppressed", "primary", "secondary"]).all()
        else 1
    )
    codes = right.columns[:-last]
    if not frame[codes].equals(right[codes]):
        yield "its codes are not those of the internal table"
        return
    value = right.columns[-last]
    filled, proven = frame[value].notna().to_numpy(), right[value].notna().to_numpy()
    shown[cell[filled & ~proven]] |= last == 2
    for wrong, what in (
        (filled & ~proven, "published although the certificate hides it"),
        (proven & ~filled, "not published although the certificate shows it"),
    ):
        yield from (f"{label(int(i))} is {what}" for i in cell[wrong][:5])
    off = filled & proven & (frame[value] != right[value]).to_numpy()
    yield from (f"{label(int(i))} has another value than was proven" for i in cell[off][:5])
    if last == 2:
        status = frame.iloc[:, -1].fillna("").to_numpy()
        yield from (
            f"{label(int(i))} has a value and is suppressed" for i in cell[filled & (status == "suppressed")][:5]
        )
        changed = status != right.iloc[:, -1].to_numpy()
        yield from (f"{label(int(i))} has another status than was proven" for i in cell[changed][:5])
