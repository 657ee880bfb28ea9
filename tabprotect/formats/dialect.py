"""How text and numbers are written: separator, decimal sign, encoding, thousands; as the data were, or as asked."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import pandas as pd

from tabprotect.errors import InputError, collect
from tabprotect.table.reading import Recognised

__all__ = ["STANDARD", "Dialect"]


_USUAL: Final = {".": ",", ",": "\u202f"}
"""Sign between thousands by decimal sign: with a decimal comma a narrow space, which nobody takes for another sign."""

_THOUSANDS: Final = ("", ",", ".", " ", "'", "\u2019", "\u00a0", "\u202f")


@dataclass(frozen=True)
class Dialect:
    r"""How a text file is written, and numbers on the pages beside it.

    Parameters
    ----------
    separator : str
        Sign between fields: ``,``, ``;``, a tab or ``|``.
    decimal : {'.', ','}
    encoding : str
        Such as ``utf-8``, ``utf-8-sig`` (with a mark that spreadsheets know) or ``cp1252``.
    thousands : str, optional
        Sign between thousands on pages, '' for none; text files have none. By default a comma with a decimal point, and
        a narrow no-break space with a decimal comma. A blank is a narrow no-break space, too.

    Raises
    ------
    InputError
        Signs and encodings that are none.

    Examples
    --------
    >>> Dialect(";", ",", "cp1252").encode(b'region,value\nNord;Est,1.5\n', ["value"])
    b'region;value\n"Nord;Est";1,5\n'
    """

    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    thousands: str | None = None

    def __post_init__(self) -> None:
        with collect() as problems:
            if self.separator not in (",", ";", "\t", "|"):
                problems.add(f"separator of output must be ',', ';', '|' or a tab, not {self.separator!r}")
            if self.decimal not in (".", ","):
                problems.add(f"decimal of output must be '.' or ',', not {self.decimal!r}")
            try:
                codecs.lookup(self.encoding)
            except (LookupError, TypeError):
                problems.add(f"encoding of output: there is no encoding {self.encoding!r}; such as utf-8 or cp1252")
            if self.thousands is not None and self.thousands not in _THOUSANDS:
                problems.add(
                    f"thousands of output must be a comma, a point, a blank, an apostrophe or nothing, not "
                    f"{self.thousands!r}"
                )
            elif self.thousands == self.decimal:
                problems.add(f"{self.decimal!r} cannot be both decimal sign and sign between thousands of output")

    @property
    def between_thousands(self) -> str:
        r"""The sign between thousands on pages.

        Examples
        --------
        >>> Dialect(";", ",").between_thousands, Dialect(";", ",", thousands=".").between_thousands
        ('\u202f', '.')
        """
        if self.thousands is None:
            return _USUAL[self.decimal]
        return "\u202f" if self.thousands == " " else self.thousands

    @classmethod
    def like(cls, recognised: Sequence[Recognised], **asked: str | None) -> Dialect:
        """Return how the first text among some files is written, but for what is asked for.

        Examples
        --------
        >>> found = Recognised("a.csv", "text", encoding="cp1252", separator=";", decimal=",")
        >>> Dialect.like([found], encoding="utf-8")
        Dialect(separator=';', decimal=',', encoding='utf-8', thousands=None)
        >>> Dialect.like([replace(found, thousands=".")]).between_thousands
        '.'
        """
        first = next((one for one in recognised if one.kind == "text" and one.separator), None)
        found: dict[str, str] = {}
        if first is not None:
            thousands = first.thousands if first.thousands in _THOUSANDS else ""
            decimal = first.sign
            found = {"separator": first.separator, "decimal": decimal, "encoding": first.encoding.split(",")[0]}
            if found["separator"] not in (",", ";", "\t", "|"):
                del found["separator"]
            if thousands not in ("", decimal, _USUAL[decimal]):
                found["thousands"] = thousands
        given = {**found, **{name: value for name, value in asked.items() if value is not None}}
        if asked.get("thousands") is None and given.get("thousands") == given.get("decimal", "."):
            # that of the data is the decimal sign that is asked for
            given.pop("thousands", None)
        return cls(**given)

    @classmethod
    def check_asked(cls, **asked: str | None) -> None:
        """Refuse what is asked for if no data go with it, before their decimal sign is known.

        Raises
        ------
        InputError

        Examples
        --------
        >>> Dialect.check_asked(thousands=".")
        >>> Dialect.check_asked(thousands=".", decimal=".")
        Traceback (most recent call last):
        ...
        tabprotect.errors.InputError: '.' cannot be both decimal sign and sign between thousands of output
        """
        given = {name: value for name, value in asked.items() if value is not None}
        if given.get("thousands") == ".":
            given.setdefault("decimal", ",")
        cls(**given)

    @classmethod
    def of(cls, document: Any) -> Dialect:
        """Return a dialect that was written down.

        Raises
        ------
        InputError
            If it is none.
        """
        if document is None:
            return STANDARD
        known = ({"separator", "decimal", "encoding"}, {"separator", "decimal", "encoding", "thousands"})
        if not isinstance(document, Mapping) or set(document) not in known:
            raise InputError("'dialect' must say separator, decimal and encoding, and may say thousands")
        if not isinstance(document.get("thousands", ""), str):
            raise InputError("'dialect': thousands must be a text")
        return cls(**{str(name): value for name, value in document.items()})

    def document(self) -> dict[str, str]:
        """Return it as JSON; the sign between thousands where it is not the usual one."""
        return {name: sign for name, sign in asdict(self).items() if sign is not None}

    def encode(self, plain: bytes, numbers: Sequence[str]) -> bytes:
        """Return text that was written in the standard dialect in this one; `numbers` are its columns of numbers.

        Characters that the encoding has not make the file UTF-8, with a mark that says so.
        """
        if replace(self, thousands=None) == STANDARD:
            return plain
        rows = list(csv.reader(io.StringIO(plain.decode(), newline="")))
        stream = io.StringIO(newline="")
        writer = csv.writer(stream, delimiter=self.separator, lineterminator="\n")
        places = [k for k, name in enumerate(rows[0]) if name in numbers] if self.decimal != "." else []
        for i, row in enumerate(rows):
            for k in places if i else ():
                row[k] = row[k].replace(".", self.decimal)
            writer.writerow(row)
        try:
            return stream.getvalue().encode(self.encoding)
        except UnicodeEncodeError:
            return stream.getvalue().encode("utf-8-sig")

    def decode(self, data: bytes) -> pd.DataFrame:
        """Return a text file in this dialect as a frame of text, numbers as they are written.

        Raises
        ------
        ValueError
            If it cannot be read.
        """
        text = data.decode("utf-8-sig" if data.startswith(codecs.BOM_UTF8) else self.encoding)
        return pd.read_csv(io.StringIO(text), sep=self.separator, dtype=str, keep_default_na=False, na_values=[""])


STANDARD: Final = Dialect()
"""Comma, point, UTF-8."""
