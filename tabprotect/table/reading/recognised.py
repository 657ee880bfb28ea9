"""What was found out about a file, and why."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa

from tabprotect.counted import counted
from tabprotect.errors import InputError, did_you_mean
from tabprotect.table.read import SEPARATORS
from tabprotect.table.reading.encodings import likely_encodings

__all__ = ["Recognised", "check_header", "decode", "find_separator", "unpack"]

_SAMPLE = 200
_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True)
class Recognised:
    """How a file was read; everything that was not given was found out.

    Attributes
    ----------
    path : str
    kind : {'text', 'excel', 'parquet', 'duckdb'}
    packed : {'', 'gz', 'zip', 'zst'}
    member : str
        Name of the file in a zip archive.
    encoding : str
        '' for what is no text.
    separator : str
        '' for what is no text, or has one column.
    decimal, thousands : str
        Of numbers that come as text; '' where there are none, or where columns contradict each other.
    sheet, relation : str
        Of an Excel file, of a DuckDB file.
    files : tuple of str
        Where a pattern names several.
    rows : int
        0 where they are counted later.
    columns : tuple of str
    several : str
        Examples of columns that contradict each other; '' for none.
    doubt : str
        A number that can be read in two ways where nothing decides; '' for none.
    reasons : tuple of str
        Why each was recognised as it was.
    fits : tuple of str
        Other encodings whose letters fit as well, and make other words of the text.
    """

    path: str
    kind: str
    packed: str = ""
    member: str = ""
    encoding: str = ""
    separator: str = ""
    decimal: str = ""
    thousands: str = ""
    sheet: str = ""
    relation: str = ""
    files: tuple[str, ...] = ()
    rows: int = 0
    columns: tuple[str, ...] = ()
    several: str = ""
    doubt: str = ""
    reasons: tuple[str, ...] = ()
    fits: tuple[str, ...] = ()

    @property
    def sign(self) -> str:
        """The decimal sign; where no number has one, that of the usual files with this separator.

        Examples
        --------
        >>> Recognised("a.csv", "text", separator=";").sign, Recognised("a.csv", "text", separator=",").sign
        (',', '.')
        """
        return self.decimal or ("," if self.separator == ";" and self.thousands != "," else ".")

    def line(self) -> str:
        """Say it in one line.

        Examples
        --------
        >>> Recognised("a/firms.csv", "text", encoding="utf-8", separator=";", decimal=",", rows=1200).line()
        "firms.csv: text, encoding utf-8, separator ';', decimal ','"
        >>> Recognised("noms.txt", "text", encoding="cp1252", fits=("cp1254",)).line()
        'noms.txt: text, encoding cp1252 (cp1254 fits, too)'
        """
        named = {"\t": "tab", " ": "blank"}
        words = [self.kind]
        for name in ("packed", "member", "encoding", "separator", "decimal", "thousands", "sheet", "relation"):
            value = getattr(self, name)
            signs = name in ("separator", "decimal", "thousands") and value not in named
            if value:
                words.append(f"{name} '{value}'" if signs else f"{name} {named.get(value, value)}")
            if name == "encoding" and self.fits:
                words[-1] += f" ({_several(self.fits)}, too)"
        if self.files:
            words.append(f"{len(self.files)} files")
        return f"{Path(self.path).name}: {', '.join(words)}"

    def __str__(self) -> str:
        named = {"\t": "tab", " ": "blank"}
        found = [f"{self.path}: {self.kind}, {counted(self.rows, 'row')}, {counted(len(self.columns), 'column')}"]
        names = ("packed", "member", "encoding", "separator", "decimal", "thousands", "sheet", "relation")
        given = ((name, getattr(self, name)) for name in names)
        found += [f"  {name}: {named.get(value, value)}" for name, value in given if value]
        return "\n".join([*found, *(f"  because {reason}" for reason in self.reasons)])


def unpack(path: Path, data: bytes, member: str | None) -> tuple[bytes, str, str, tuple[str, ...]]:
    """Unpack gzip, zstd and zip, by what is in the file and not by its name.

    Returns
    -------
    data : bytes
    packed, member : str
    reasons : tuple of str

    Raises
    ------
    InputError
        If the file is cut off, or an archive holds several files and none is named.
    """
    if data[:2] == b"\x1f\x8b":
        try:
            return gzip.decompress(data), "gz", "", ("the file begins like one of gzip",)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{path} begins like gzip, but is not whole ({error})") from error
    if data[:4] == b"\x28\xb5\x2f\xfd":
        try:
            return pa.input_stream(pa.py_buffer(data), compression="zstd").read(), "zst", "", ("it begins like zstd",)
        except (OSError, pa.ArrowInvalid) as error:
            raise InputError(f"{path} begins like zstd, but is not whole ({error})") from error
    if data[:4] != b"PK\x03\x04" or path.suffix.lower() in (".xlsx", ".xlsm"):
        return data, "", "", ()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
            if "xl/workbook.xml" in names:
                return data, "", "", ("the archive is an Excel file",)
            kept = [name for name in names if not name.startswith("__MACOSX/")]
            if member is not None and member not in kept:
                raise InputError(f"{path} holds no file '{member}'{did_you_mean(member, kept)}")
            if member is None and len(kept) != 1:
                raise InputError(f"{path} holds {len(kept)} files; say which: member='...'{did_you_mean('', kept)}")
            chosen = member or kept[0]
            return archive.read(chosen), "zip", chosen, ("the file begins like a zip archive",)
    except (zipfile.BadZipFile, zlib.error, RuntimeError) as error:
        raise InputError(f"{path} begins like a zip archive, but cannot be unpacked ({error})") from error


class Decoded(NamedTuple):
    """A text, its encoding, why it is that one, and which others fit as well."""

    text: str
    encoding: str
    reasons: tuple[str, ...] = ()
    fits: tuple[str, ...] = ()


def decode(path: Path, data: bytes, encoding: str | None) -> Decoded:
    """Return text, its encoding, and why.

    Raises
    ------
    InputError
        If the text is not in the encoding that was given, or the file is no text.
    """
    given, reasons, fits = encoding, tuple[str, ...](), tuple[str, ...]()
    if encoding is None:
        encoding, reasons, fits = _likely(data)
    try:
        text = data.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        cure = "" if given is None else f"; pass encoding='{_likely(data)[0]}', which it looks like"
        raise InputError(f"{path} is not {encoding} text ({error}){cure}") from error
    if "\0" in text:
        raise InputError(f"{path} is no text: it holds zero bytes")
    return Decoded(text.removeprefix("﻿"), encoding, reasons, fits)


def _likely(data: bytes) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the encoding that a text seems to have, why, and which others fit as well."""
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    return _guess(data) if marked is None else (marked, ("the file begins with a byte-order mark",), ())


def _guess(data: bytes) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
    else:
        return "utf-8", (), ()
    likely = likely_encodings(data)
    name = likely[0]
    if {"cp1253", "cp1251"} <= set(likely):
        name = _greek_or_cyrillic(data)
    try:
        data.decode(name)
    except UnicodeDecodeError:
        # a few bytes mean nothing in some of them
        name = "latin-1"
    fits = tuple(other for other in likely if other != name and _differ(data, name, other))
    also = f"; they fit {' and '.join(fits)} as well" if fits else ""
    reason = f"line {line} is not UTF-8, and the letters look like those of {name}{also}; else pass encoding="
    return name, (reason,), fits


def _greek_or_cyrillic(data: bytes) -> str:
    """Say what a text is whose bytes are letters in both."""
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return "cp1253"
    best = from_bytes(data[:1_000_000], cp_isolation=["cp1253", "cp1251"]).best()
    return "cp1253" if best is None else str(best.encoding)


def _differ(data: bytes, one: str, other: str) -> bool:
    """Whether two encodings make different texts of the same bytes, each of which is a letter."""
    letters = bytes(set(data))
    return letters.decode(one, errors="replace") != letters.decode(other, errors="replace")


def find_separator(path: Path, text: str) -> tuple[str, tuple[str, ...]]:
    """Return what stands between the fields, from the first lines; '' for one column.

    Raises
    ------
    InputError
        If two separators fit equally well.
    """
    lines = text.splitlines()[:_SAMPLE]
    widths = {}
    for separator in SEPARATORS:
        try:
            found = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
        except csv.Error:
            continue
        if found and found[0] > 1 and found.count(found[0]) == len(found):
            widths[separator] = found[0]
    if not widths:
        first = [separator for separator in SEPARATORS if lines and separator in lines[0]]
        if not first:
            return "", ("no separator is in the first line",)
        # lines of different lengths are named when they are read
        frequent = max(first, key=lambda separator: lines[0].count(separator))
        return frequent, (f"{_named(frequent)} is most frequent in the first line",)
    widest = max(widths.values())
    best = [separator for separator, width in widths.items() if width == widest]
    if len(best) > 1:
        raise InputError(f"{path}: fields may end with {' or '.join(map(_named, best))}; pass separator=")
    return best[0], (f"{_named(best[0])} gives {widest} fields in every line",)


def _several(encodings: Sequence[str]) -> str:
    *first, last = encodings
    return f"{', '.join(first)} and {last} fit" if first else f"{last} fits"


def _named(separator: str) -> str:
    return {"\t": "a tab"}.get(separator, f"'{separator}'")


def check_header(path: Path, names: Sequence[str]) -> None:
    """Refuse columns without a name, and names that come twice.

    Raises
    ------
    InputError
        Names them.
    """
    problems = []
    if names and str(names[0]).strip().lower().startswith("sep="):
        raise InputError(f"{path}: the first line begins with 'sep=', which only Excel reads; take the line out")
    if bare := [str(i + 1) for i, name in enumerate(names) if not str(name).strip()]:
        problems.append(f"{path}: columns {', '.join(bare)} have no name in the first line")
    if twice := sorted({str(name) for name in names if list(names).count(name) > 1 and str(name).strip()}):
        problems.append(f"{path}: several columns are called {', '.join(twice)}; rename all but one")
    if problems:
        raise InputError(*problems)
