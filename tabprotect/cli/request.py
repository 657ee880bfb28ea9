"""From files and flags on the command line to a specification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tabprotect.cli.flags import Flag
from tabprotect.cli.settings import read_settings
from tabprotect.errors import Problems, collect
from tabprotect.workflow.specification import Spec, check_spec, load_toml

__all__ = ["DATA", "is_data", "specification"]

DATA = (
    ".csv", ".tsv", ".tab", ".txt", ".gz", ".zip", ".xlsx", ".xlsm", ".parquet", ".pq", ".duckdb", ".ddb",
)  # fmt: skip
"""Endings of files of records."""


def is_data(path: Path) -> bool:
    """Whether a file named without a flag holds records; problems may be packed, too (.jj.gz)."""
    return path.suffix.lower() in DATA and not path.name.lower().endswith((".jj.gz", ".lp.gz", ".json.gz"))


def specification(path: Path | None, flags: Mapping[Flag, Any], settings: Sequence[str]) -> tuple[Spec, Path]:
    """Return the specification that a file, ``--set`` and flags give together, and what its paths are relative to.

    Flags come before ``--set``, and both before the file. Paths of flags are relative to the current folder, those of
    the file to where it is.

    Parameters
    ----------
    path : Path, optional
        A specification, or microdata.
    flags : mapping of Flag to value
    settings : sequence of str
        Words ``KEY=VALUE``.

    Raises
    ------
    InputError
        Everything that is wrong with flags, or with the specification that they give.
    """
    given: dict[str, Any] = {}
    with collect() as problems:
        if path is not None and is_data(path):
            given["data"], path = str(path), None
        for flag, value in flags.items():
            _put(given, flag, value, path is not None, problems)
    content = {} if path is None else load_toml(path)
    whole = _merged(_merged(content, read_settings(settings)), given)
    return check_spec(whole, "flags" if path is None else str(path)), Path() if path is None else path.parent


def _put(given: dict[str, Any], flag: Flag, value: Any, absolute: bool, problems: Problems) -> None:
    """Put the value of one flag where its key says."""
    if flag.key == "bounds":
        lower, sign, upper = value.partition(",")
        given["lower"], given["upper"] = _bound(lower), _bound(upper if sign else lower)
        return
    if flag.key == "attackers":
        for word in value:
            for name, cell in _pairs(flag, [word], problems).items():
                given.setdefault("attackers", {}).setdefault(name, []).append(cell)
        return
    if flag.metavar.startswith(("DIM=", "NAME=")):
        table, _, inner = flag.key.partition(".")
        for name, word in _pairs(flag, value, problems).items():
            one = _word(flag, word, absolute, problems)
            if name in given.setdefault(table, {}):
                problems.add(f"{flag.flag} {name}={word}: '{name}' is given twice")
            given[table][name] = {inner: one} if inner else one
        return
    if flag.key == "data" and "data" in given:
        problems.add(f"microdata are given twice: {given['data']} and --data {value}")
    if flag.key == "separator" and value in ("tab", "\\t"):
        value = "\t"
    place = given
    *tables, last = flag.key.split(".")
    for table in tables:
        place = place.setdefault(table, {})
    place[last] = _path(value, absolute) if flag.kind is Path else value


def _word(flag: Flag, word: str, absolute: bool, problems: Problems) -> Any:
    """Read what is given for one dimension."""
    form = flag.metavar.partition("=")[2]
    if form == "FILE":
        return _path(Path(word), absolute)
    if form == "CODE,...":
        return word.split(",")
    if form == "N,N,...":
        try:
            return [int(number) for number in word.split(",")]
        except ValueError:
            problems.add(f"{flag.flag} '{word}': write whole numbers, such as {flag.flag} nuts=2,4,5")
    return word


def _path(path: Path, absolute: bool) -> str:
    return str(path.absolute() if absolute else path)


def _bound(word: str) -> float | str:
    try:
        return float(word)
    except ValueError:
        return word


def _pairs(flag: Flag, words: Sequence[str], problems: Problems) -> dict[str, str]:
    """Read ``name=value`` words."""
    found: dict[str, str] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            problems.add(f"{flag.flag} '{word}': write {flag.metavar}")
        elif name in found and flag.metavar.startswith("DIM="):
            problems.add(f"{flag.flag} {word}: '{name}' is given twice")
        else:
            found[name] = value
    return found


def _merged(content: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Put what was given over what is there."""
    merged = dict(content)
    for name, value in given.items():
        below = merged.get(name)
        merged[name] = _merged(below, value) if isinstance(value, dict) and isinstance(below, dict) else value
    return merged
