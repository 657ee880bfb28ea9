"""A release read back from its folders: what was really published, held against what was proven."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.attack.certificate import Certificate
from tabprotect.attack.values import ValuesCertificate, seeing
from tabprotect.errors import InputError
from tabprotect.formats.certificate import problem_of, read_certificate
from tabprotect.formats.files import read_bytes
from tabprotect.formats.folder import INTERNAL, PUBLISH, read_manifest
from tabprotect.formats.frames import as_labels
from tabprotect.problem import Problem

__all__ = ["Released", "read_release"]

_SAME = 1e-6
"""Relative difference by which a published value may differ from the one in the certificate (noise of sums)."""


@dataclass(frozen=True, eq=False)
class Released:
    """What the folders of a release say.

    Attributes
    ----------
    problem : Problem
        From the certificate; of changed values that of the intruder, who sees what is in the published files.
    certificate : Certificate or ValuesCertificate
    pattern : ndarray of bool, shape (cells of the problem,)
        True where no published file shows the cell (of changed values: where none tells its true value); sums that
        were protected as cells count as hidden, as they are not published.
    failures : tuple of str
        Where the published files do not say what was proven.
    """

    problem: Problem
    certificate: Certificate | ValuesCertificate
    pattern: npt.NDArray[np.bool_]
    failures: tuple[str, ...]


def read_release(folder: str | Path) -> Released:
    """Read a release; every table in its public folder is looked at as an intruder would.

    Raises
    ------
    InputError
        If the folder is no release, or a file in it cannot be read.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    place = folder / INTERNAL / "certificate.json"
    certificate = read_certificate(place)
    problem = problem_of(certificate.document["problem"], str(place))
    public = [name for name in manifest[PUBLISH] if name.startswith("table.")]
    internal = [name for name in manifest[INTERNAL] if name.startswith("table.")]
    if not public or not internal:
        raise InputError(f"{folder} holds no table")
    inside = _read(folder / INTERNAL / internal[0])
    # the last column of the internal table is the position of the row's cell
    cell = pd.to_numeric(inside.iloc[:, -1], errors="coerce").fillna(-1).to_numpy(np.int64)
    if len(cell) and not (cell.min() >= 0 and cell.max() < problem.n_cells):
        raise InputError(f"{folder}/{INTERNAL}/{internal[0]} is damaged: its last column does not number the cells")
    if isinstance(certificate, ValuesCertificate):
        return _changed(problem, certificate, {name: _read(folder / PUBLISH / name) for name in public}, inside, cell)
    decimals = manifest.get("settings", {}).get("decimals")
    slack = 0.0 if decimals is None else 0.5 * 10.0 ** -float(decimals)
    shown = np.zeros(problem.n_cells, bool)
    failures: list[str] = []
    for name in public:
        frame = _read(folder / PUBLISH / name)
        failures += [f"{PUBLISH}/{name}: {what}" for what in _compare(frame, inside, cell, problem, shown, slack)]
    expected = np.zeros(problem.n_cells, bool)
    expected[certificate.document["pattern"]] = True
    listed = np.zeros(problem.n_cells, bool)
    listed[cell] = True
    for wrong, what in (
        (np.flatnonzero(shown & expected), "published although the certificate hides it"),
        (np.flatnonzero(~shown & ~expected & listed), "not published although the certificate shows it"),
    ):
        failures += [f"{problem.system.label(int(i))} is {what}" for i in wrong[:10]]
    return Released(problem, certificate, ~shown, tuple(failures))


def _changed(
    problem: Problem,
    certificate: ValuesCertificate,
    frames: Mapping[str, pd.DataFrame],
    inside: pd.DataFrame,
    cell: npt.NDArray[Any],
) -> Released:
    """Read back what was really published of changed values; it must be what was proven, digit by digit."""
    failures: list[str] = []
    proven = certificate.values
    seen = proven.copy()
    for name, frame in frames.items():
        cells, wrong = _places(frame, inside, cell, 1)
        if cells is None:
            failures += [f"{PUBLISH}/{name}: {wrong}"]
            continue
        values = pd.to_numeric(frame.iloc[:, -1], errors="coerce").to_numpy(np.float64, na_value=np.nan)
        missing = cells[np.isnan(values)]
        other = cells[~np.isnan(values) & (values != proven[cells])]
        for found, what in ((missing, "has no value"), (other, "has another value than was proven")):
            failures += [f"{PUBLISH}/{name}: {problem.system.label(int(i))} {what}" for i in found[:5]]
        there = ~np.isnan(values)
        seen[cells[there]] = values[there]
    intruder = seeing(problem, seen, certificate.document["claim"])
    return Released(intruder, certificate, intruder.may_hide, tuple(failures))


def _places(
    frame: pd.DataFrame, inside: pd.DataFrame, cell: npt.NDArray[Any], last: int
) -> tuple[npt.NDArray[Any] | None, str]:
    """Return the cell of every row of a public table, whose `last` columns are no codes, or what is wrong with it."""
    codes = [name for name in frame.columns if name in inside][: frame.shape[1] - last]
    if len(codes) != frame.shape[1] - last or len(frame) != len(inside):
        return None, f"{len(frame)} rows of columns {', '.join(frame.columns)} are not those of the internal table"
    place = pd.MultiIndex.from_frame(inside[codes]).get_indexer(pd.MultiIndex.from_frame(frame[codes]))
    if (place < 0).any() or len(np.unique(place)) < len(place):
        return None, "its codes are not those of the internal table"
    return cell[place], ""


def _compare(
    frame: pd.DataFrame, inside: pd.DataFrame, cell: npt.NDArray[Any], problem: Problem, shown: Any, slack: float
) -> list[str]:
    """Mark the cells that a public table shows, and return what is wrong with it."""
    value, status = frame.columns[-2:]
    cells, failure = _places(frame, inside, cell, 2)
    if cells is None:
        return [failure]
    values = pd.to_numeric(frame[value], errors="coerce").to_numpy(np.float64, na_value=np.nan)
    filled = frame[value].notna().to_numpy()
    shown[cells[filled]] = True
    found = [f"'{word}' is no value" for word in frame[value][filled & np.isnan(values)].head(3)]
    wrong = filled & (frame[status] != "published").to_numpy()
    found += [f"{problem.system.label(int(i))} has a value and is suppressed" for i in cells[wrong][:5]]
    size = np.maximum(np.abs(problem.values[cells]), 1.0)
    off = filled & ~(np.abs(values - problem.values[cells]) <= slack + _SAME * size)
    if off.any():
        where = ", ".join(problem.system.label(int(i)) for i in cells[off][:5])
        found.append(f"{int(off.sum())} values differ from those protected: {where}")
    return found


def _read(path: Path) -> pd.DataFrame:
    data = io.BytesIO(read_bytes(path))
    try:
        if path.suffix == ".parquet":
            frame = pd.read_parquet(data)
        elif path.suffix == ".xlsx":
            frame = pd.read_excel(data, dtype=str, keep_default_na=False, na_values=[""])
        else:
            frame = pd.read_csv(data, dtype=str, keep_default_na=False, na_values=[""])
            frame = as_labels(frame) if path.name.endswith(".text.csv") else frame
    except (ValueError, OSError, KeyError, ImportError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    text = frame.astype(object).where(frame.notna(), None)
    return text.map(lambda v: None if v is None else str(v))
