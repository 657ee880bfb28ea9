"""Metadata of ARGUS (.rda), written."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from tabprotect.errors import InputError
from tabprotect.formats.argus.rda import Metadata, Variable
from tabprotect.formats.argus.rda_keywords import PARTS
from tabprotect.formats.argus.text import quoted
from tabprotect.formats.files import write_text

__all__ = ["write_rda"]


def write_rda(metadata: Metadata, path: str | Path) -> None:
    """Write an .rda file; `read_rda` gives the same metadata back (name the kind with ``table=``).

    Raises
    ------
    InputError
        If a name cannot be written, or the file cannot.
    """
    lines = []
    if metadata.separator:
        lines.append(f"<SEPARATOR> {quoted('TAB' if metadata.separator == chr(9) else metadata.separator)}")
    if metadata.names_first:
        lines.append("<NAMESINFRONT>")
    for name in ("safe", "unsafe", "protect"):
        word = getattr(metadata, name)
        if word != getattr(Metadata, name):
            lines.append(f"<{name.upper()}> {quoted(word)}")
    for variable in metadata.variables:
        lines += _written(variable, metadata.kind)
    write_text(path, "\n".join(lines) + "\n")


def _written(variable: Variable, kind: str) -> list[str]:
    v = variable
    if not v.name or any(sign.isspace() for sign in v.name) or v.name[0] in '<"':
        raise InputError(f"variable {v.name!r}: names are single words and do not begin with '<' or quotes")
    place = {"fixed": [str(v.start), str(v.width)], "free": [str(v.width)], "table": []}[kind]
    lines = [" ".join([v.name, *place, *map(quoted, v.missing)])]
    default = {field.name: field.default for field in fields(Variable)}
    given = {name: getattr(v, name) for name in default if getattr(v, name) != default[name]}
    flags = {
        "recodable": "RECODABLE", "hierarchical": "HIERARCHICAL", "weight": "WEIGHT", "holding": "HOLDING",
        "truncable": "TRUNCABLE", "record_key": "RECORDKEY", "household": "HOUSEHOLD", "house_id": "HOUSE_ID",
    }  # fmt: skip
    texts = {"total": "TOTCODE", "codelist": "CODELIST", "hierarchy": "HIERCODELIST", "leader": "HIERLEADSTRING"}
    numbers = {"distance": "DISTANCE", "levels": "HIERLEVELS", "decimals": "DECIMALS", "id_level": "IDLEVEL",
               "priority": "SUPPRESSPRIORITY"}  # fmt: skip
    words = {"count": "FREQUENCY", "top": "MAXSCORE", "status": "STATUS"}
    if v.part in words:
        lines.append(f"<{words[v.part]}>")
    elif v.numeric:
        part = next((f" <{name}>" for name, part in PARTS.items() if part == v.part), "")
        lines.append(f"<NUMERIC>{part}")
    for name, value in given.items():
        if name in flags:
            lines.append(f"<{flags[name]}>")
        elif name in texts:
            lines.append(f"<{texts[name]}> {quoted(value)}")
        elif name in numbers:
            lines.append(f"<{numbers[name]}> {' '.join(map(str, value)) if isinstance(value, tuple) else value}")
    if v.request:
        lines.append("<REQUEST> " + " ".join(map(quoted, v.request)))
    if v.related:
        lines.append("<RELATED> " + " ".join(map(quoted, v.related)))
    lines += [" ".join([f"<{keyword}>", *map(quoted, rest)]) for keyword, rest in v.other]
    return [lines[0], *(f"    {line}" for line in lines[1:])]
