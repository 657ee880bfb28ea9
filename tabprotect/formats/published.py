"""A published table as other forms need it: codes, values where shown, and nothing else."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.formats.dialect import Dialect
from tabprotect.formats.files import read_bytes
from tabprotect.formats.folder import PUBLISH, digests, read_manifest

__all__ = ["PUBLISHED", "TABLES", "Published", "read_published", "read_tables", "tables_of"]

PUBLISHED = "published"
"""The status of a cell that is shown."""

TABLE, TABLES = "table", "tables"
"""The column that names the table of a row, and the entry of a manifest with the dimensions of linked tables."""


@dataclass(frozen=True, eq=False)
class Published:
    """What everybody may see of a table, a row a cell.

    Parameters
    ----------
    frame : DataFrame
        Such as `Release.published`.
    value : str
        Column of the values; hidden ones are missing.
    status : str, optional
        Column of 'published', 'suppressed', 'primary' or 'secondary'; None where no cell is hidden.
    title, unit, source : str
        Heading, unit of the values, who they are from.
    labels : mapping of str to mapping
        Labels of codes, by dimension.
    places : int, optional
        Decimals that were asked for.

    Raises
    ------
    InputError
        If a hidden cell has a value, or a shown one has none; codes that are missing or come twice.
    """

    frame: pd.DataFrame
    value: str
    status: str | None = None
    title: str = "Protected table"
    unit: str = ""
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    source: str = ""
    places: int | None = None

    def __post_init__(self) -> None:
        with collect() as problems:
            for name in (self.value, self.status):
                if name is not None and name not in self.frame:
                    problems.add(f"no column '{name}'{did_you_mean(name, self.frame.columns)}")
        with collect() as problems:
            codes = self.frame[list(self.dimensions)]
            if not self.dimensions:
                problems.add("a table needs at least one column of codes")
            elif codes.isna().any(axis=None):
                problems.add("some rows have no code in some dimension")
            elif codes.duplicated().any():
                first = codes[codes.duplicated()].iloc[0]
                problems.add(f"cell {' x '.join(map(str, first))} comes twice; write linked tables one by one")
            there = ~np.isnan(self.values)
            for bad, what in (
                (there & self.hidden, "is hidden and has a value"),
                (~there & ~self.hidden, "has no value"),
            ):
                for row in np.flatnonzero(bad)[:3]:
                    problems.add(f"cell {' x '.join(map(str, codes.iloc[row]))} {what}")
            for name in self.labels:
                if name not in self.dimensions:
                    problems.add(f"labels name '{name}', which is no dimension{did_you_mean(name, self.dimensions)}")

    @classmethod
    def of(cls, frame: pd.DataFrame, **more: object) -> Published:
        """Take a frame as `Release.published` gives it: codes, then the value, then perhaps the status.

        Examples
        --------
        >>> frame = pd.DataFrame({"a": ["T", "x"], "v": [5.0, None], "status": ["published", "suppressed"]})
        >>> Published.of(frame).hidden.tolist()
        [False, True]
        """
        return cls(frame, *cls.columns_of(frame), **more)  # type: ignore[arg-type]

    @staticmethod
    def columns_of(frame: pd.DataFrame) -> tuple[str, str | None]:
        """Return the names of the columns of values and of statuses; None where there are no statuses."""
        value, last = _value_of(frame), str(frame.columns[-1])
        return value, None if value == last else last

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Columns of codes."""
        return tuple(str(name) for name in self.frame.columns if name not in (self.value, self.status))

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """Values; nan where a cell is hidden."""
        return pd.to_numeric(self.frame[self.value]).to_numpy(np.float64, na_value=np.nan)

    @property
    def words(self) -> npt.NDArray[np.object_]:
        """Status of every cell."""
        if self.status is None:
            return np.full(len(self.frame), PUBLISHED, dtype=object)
        return self.frame[self.status].astype(str).to_numpy(object)

    @property
    def hidden(self) -> npt.NDArray[np.bool_]:
        """Whether a cell is hidden."""
        return np.asarray(self.words != PUBLISHED, bool)

    def codes(self, dimension: str) -> list[str]:
        """Return the codes of a dimension, in the order of the rows."""
        return list(dict.fromkeys(self.frame[dimension].astype(str)))

    def cube(self) -> tuple[tuple[list[str], ...], npt.NDArray[np.int64]]:
        """Return the codes of all dimensions, and the row of every combination (-1: none), the last one fastest."""
        codes = tuple(self.codes(name) for name in self.dimensions)
        place = np.zeros(len(self.frame), np.int64)
        for name, known in zip(self.dimensions, codes, strict=True):
            position = {code: i for i, code in enumerate(known)}
            place = place * len(known) + self.frame[name].astype(str).map(position).to_numpy(np.int64)
        rows = np.full(int(np.prod([len(known) for known in codes])), -1, np.int64)
        rows[place] = np.arange(len(self.frame))
        return codes, rows

    def label(self, dimension: str, code: str) -> str:
        """Return the label of a code; the code where it has none."""
        return self.labels.get(dimension, {}).get(code) or code

    def shown(self, dimension: str, code: str) -> str:
        """Return a code with its label; the code where it has none."""
        label = self.label(dimension, code)
        return code if label == code else f"{code} {label}"

    @property
    def decimals(self) -> int:
        """Decimals that were asked for, or that the shown values need, at most six."""
        if self.places is not None:
            return max(0, self.places)
        shown = self.values[~np.isnan(self.values)]
        fits = (d for d in range(6) if np.allclose(np.round(shown, d), shown, rtol=0, atol=1e-9))
        return next(fits, 6)


def _value_of(frame: pd.DataFrame) -> str:
    """Return the name of the column of values: the last one, but for the status."""
    names = list(frame.columns)
    words = set(frame[names[-1]].dropna().astype(str).unique()) if len(names) > 2 else set()
    return str(names[-2] if words and words <= {PUBLISHED, "suppressed", "primary", "secondary"} else names[-1])


def read_published(folder: str | Path, table: str | None = None) -> Published:
    """Read the public table of a release folder; nothing confidential is opened but the list of files.

    Parameters
    ----------
    folder : path
    table : str, optional
        Name of one of several linked tables.

    Raises
    ------
    InputError
        If the folder holds no release, several tables of which none is named, or no such table.
    """
    found = read_tables(folder)
    if table is None and len(found) > 1:
        raise InputError(
            f"{folder} holds {len(found)} linked tables; name one of them with "
            f"{' or '.join(f'table={name!r}' for name in found)}"
        )
    if table is not None and table not in found:
        named = [name for name in found if name]
        raise InputError(
            f"{folder} holds no table '{table}'{did_you_mean(table, named)}"
            if named
            else f"{folder} holds one table, which has no name; leave out table={table!r}"
        )
    return found[table] if table is not None else next(iter(found.values()))


def read_tables(folder: str | Path) -> dict[str, Published]:
    """Read the public tables of a release folder by name; the only table of a release has the name ''.

    Raises
    ------
    InputError
        If the folder holds no release.
    """
    manifest = read_manifest(folder)
    frame = _read_frame(Path(folder), manifest)
    words = _headings(manifest)
    linked = manifest.get(TABLES)
    if not isinstance(linked, Mapping):
        linked = _linked(frame, manifest)
    return tables_of(Published.columns_of(frame), frame, linked, words)


def _read_frame(folder: Path, manifest: Mapping[str, Any]) -> pd.DataFrame:
    """Read the list of all rows, as it was written."""
    public = [name for name in manifest[PUBLISH] if name.startswith("table.")]
    kinds = {Path(name).suffix: name for name in public}
    if ".csv" in kinds:
        data = _as_written(folder, manifest, kinds[".csv"])
        dialect = Dialect.of(manifest.get("dialect"))
        try:
            frame = dialect.decode(data)
        except ValueError as error:
            raise InputError(f"{kinds['.csv']} cannot be read: {error}") from error
        if dialect.decimal != ".":
            value = _value_of(frame)
            frame[value] = frame[value].str.replace(dialect.decimal, ".", regex=False)
        return frame
    if ".parquet" in kinds:
        data = _as_written(folder, manifest, kinds[".parquet"])
        return pd.read_parquet(io.BytesIO(data))
    raise InputError(f"{folder} holds no public table as CSV or Parquet; write the release with formats=['csv']")


def _as_written(folder: Path, manifest: Mapping[str, Any], name: str) -> bytes:
    """Return the content of a public file, if it is what the release was written with."""
    data = read_bytes(folder / PUBLISH / name, regular=True)
    if digests({name: data})[name] != manifest[PUBLISH][name]:
        raise InputError(
            f"{folder} is not the release that was written ({PUBLISH}/{name} was altered); name the release that was "
            "published"
        )
    return data


def tables_of(
    columns: tuple[str, str | None],
    frame: pd.DataFrame,
    linked: Mapping[str, Sequence[str]],
    words: Mapping[str, Any],
) -> dict[str, Published]:
    """Take a list of the rows of linked tables apart.

    Parameters
    ----------
    columns : tuple of str
        Names of the columns of values and statuses.
    frame : DataFrame
        As `Release.published`; the first column names the table where several are linked.
    linked : mapping of str to sequence of str
        The dimensions of every linked table; empty where there is one table.
    words : mapping
        Headings and labels.
    """
    value, status = columns
    labels = words.get("labels", {})
    found = {}
    for name, dimensions in linked.items():
        here = frame[frame.iloc[:, 0].astype(str) == name]
        kept = [*dimensions, value, *([] if status is None else [status])]
        named = {dimension: codes for dimension, codes in labels.items() if dimension in dimensions}
        found[name] = Published(here[kept].reset_index(drop=True), value, status, **{**words, "labels": named})
    named = {name: codes for name, codes in labels.items() if name in frame}
    return found or {"": Published(frame, value, status, **{**words, "labels": named})}


def _linked(frame: pd.DataFrame, manifest: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the dimensions of linked tables that an earlier version wrote, which did not name them."""
    settings = manifest.get("settings")
    if not isinstance(settings, Mapping) or settings.get("dimensions") != [] or frame.columns[0] != TABLE:
        return {}
    value, status = Published.columns_of(frame)
    codes = [str(name) for name in frame.columns[1:] if name not in (value, status)]
    return {
        str(name): [code for code in codes if rows[code].notna().all()]
        for name, rows in frame.groupby(TABLE, sort=False)
    }


def _headings(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a manifest says of the heading of its table; earlier versions wrote the title only."""
    settings, labels = manifest.get("settings"), manifest.get("labels")
    places = settings.get("decimals") if isinstance(settings, Mapping) else None
    named = labels if isinstance(labels, Mapping) else {}
    return {
        "title": str(manifest.get("title", "Protected table")),
        "unit": str(manifest.get("unit", "")),
        "source": str(manifest.get("source", "")),
        "labels": {
            str(name): {str(code): str(label) for code, label in words.items()}
            for name, words in named.items()
            if isinstance(words, Mapping)
        },
        "places": places if type(places) is int else None,
    }
