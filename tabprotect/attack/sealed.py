"""Documents that prove something, sealed against changes, as files."""

from __future__ import annotations

import contextlib
import gzip
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from tabprotect.certificate.document import VERDICTS, Malformed, canonical, digest, load, seal
from tabprotect.certificate.limits import LIMITS, UNLIMITED, Limits
from tabprotect.certificate.verify import Verification, verify
from tabprotect.errors import InputError
from tabprotect.paths import possible

__all__ = ["NOTICE", "SealedDocument"]

NOTICE = (
    "CONFIDENTIAL. This certificate holds unprotected values, protection levels and intruders' knowledge. "
    "It must not leave the office."
)


@dataclass(frozen=True, eq=False)
class SealedDocument:
    """What certificates of all kinds have in common.

    Attributes
    ----------
    document : mapping
        The sections by name.
    """

    FORM: ClassVar[str]
    SECTIONS: ClassVar[tuple[str, ...]]

    document: Mapping[str, Any]

    @classmethod
    def sealed(cls, document: Mapping[str, Any], **known: str) -> Self:
        """Return the certificate with these sections and their seal; `known` are digests of some of them."""
        digests = ((name, known.get(name) or digest(document[name])) for name in cls.SECTIONS)
        return cls({**document, "seal": seal(digests)})

    @property
    def verdict(self) -> str:
        """'safe', 'LP-safe only' or 'not safe'."""
        return str(self.document["verdict"])

    @property
    def safe(self) -> bool:
        """True when a witness is included for every level that must be reached."""
        return self.verdict == VERDICTS[0]

    def verify(self, *, against: Any = None) -> Verification:
        """Check it, whatever its size; see `tabprotect.certificate.verify.verify`."""
        return verify(self.document, against=against, limits=UNLIMITED)

    def publishing(self, files: Mapping[str, str], shown: Mapping[str, Any] | None = None) -> Self:
        """Return the certificate with the SHA-256 of every published file, by name, and how they name the cells.

        Parameters
        ----------
        files : mapping of str to str
        shown : mapping, optional
            See `tabprotect.certificate.shown`.
        """
        document = {**self.document, "publication": dict(sorted(files.items()))}
        if shown is not None:
            document["problem"] = {**document["problem"], "shown": dict(shown)}
        if shown is not None and "digest" in document:
            document["digest"] = digest(document["problem"])
        return self.sealed(document)

    def write(self, path: str | Path) -> Path:
        """Write to a .json file, or compressed to .json.gz; the same certificate gives the same bytes.

        Either the whole file is written or nothing.
        """
        return _write_whole(path, _pieces(self.document, self.SECTIONS))

    @classmethod
    def read(cls, path: str | Path, limits: Limits = LIMITS) -> Self:
        """Read a certificate without judging it.

        Raises
        ------
        InputError
            If the file is not a certificate.
        """
        try:
            document = load(path, limits)
        except (OSError, Malformed) as error:
            raise InputError(f"{path}: not a readable certificate ({error})") from error
        return cls.of(document, str(path))

    @classmethod
    def of(cls, document: Mapping[str, Any], name: str = "certificate") -> Self:
        """Return a certificate that was read, without judging it; see `read`.

        Raises
        ------
        InputError
            If it is no certificate of this form, or the problem in it is damaged.
        """
        if not isinstance(document, Mapping):
            raise InputError(f"{name}: not a certificate but {type(document).__name__}")
        if document.get("format") != cls.FORM or set(document) != {*cls.SECTIONS, "seal"}:
            raise InputError(f"{name}: not a certificate of the form {cls.FORM}")
        return cls(document)


def _write_whole(path: str | Path, pieces: Iterator[str]) -> Path:
    """Write text that comes in pieces to a file, compressed for .gz; either the whole file is written or nothing."""
    path = possible(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file to write")
    partial = path.with_name(path.name + ".partial")
    try:
        with _opened(partial, compressed=path.suffix == ".gz") as stream:
            for text in pieces:
                stream.write(text.encode("ascii"))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def _pieces(document: Mapping[str, Any], sections: Sequence[str]) -> Iterator[str]:
    """The text of the file in pieces: one section, or one entry of a large section, at a time."""
    for number, name in enumerate((*sections, "seal")):
        yield f"{',' if number else '{'}\n{canonical(name)}:"
        section = document[name]
        if name == "problem":
            for k, entry in enumerate(sorted(section)):
                yield f"{',' if k else '{'}\n {canonical(entry)}:{canonical(section[entry])}"
            yield "}"
        elif name == "witnesses" and section:
            for k, witness in enumerate(section):
                yield f"{',' if k else '['}\n {canonical(witness)}"
            yield "]"
        else:
            yield canonical(section)
    yield "\n}\n"


@contextlib.contextmanager
def _opened(path: Path, *, compressed: bool) -> Iterator[io.BufferedWriter | gzip.GzipFile]:
    with path.open("wb") as raw:
        if not compressed:
            yield raw
            return
        # no file name and no time in the header: equal certificates are equal files
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
            yield packed
