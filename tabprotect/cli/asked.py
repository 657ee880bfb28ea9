"""What a command line asks for: a specification, overridden by flags, as one content with the place of its paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabprotect.cli.flags import Flag, by_key, flag_names
from tabprotect.cli.settings import read_settings
from tabprotect.cli.twice import GivenOnce
from tabprotect.errors import Problems

__all__ = ["FLAGS_ONLY", "Asked", "asked", "is_given"]

FLAGS_ONLY = "flags"
"""The name of what is asked for without a specification."""


@dataclass(frozen=True)
class Asked:
    """The content of a specification, unchecked.

    Attributes
    ----------
    content : mapping
    name : str
        In messages.
    base : Path
        What its paths are relative to.
    more : mapping
        Parts of the request that no key of a specification holds.
    """

    content: Mapping[str, Any]
    name: str
    base: Path
    more: Mapping[str, Any]


def asked(path: Path | None, flags: Mapping[str, Any], **more: Any) -> Asked:
    """Put flags over a specification, or over nothing.

    Parameters
    ----------
    path : Path, optional
        A specification (.toml), or a file of microdata.
    flags : mapping
        Values by the names of flags (see `tabprotect.cli.flags`).
    **more
        Further keys of a specification, as flags of their own give them.

    Raises
    ------
    InputError
        Everything that is wrong with the flags.
    """
    from tabprotect.formats import is_instance
    from tabprotect.workflow.checking import load_toml
    from tabprotect.workflow.located import located

    problems = Problems()
    given, spec = dict(flags), path
    if path is not None and is_instance(path):
        problems.add(
            f"{path} is an instance, which states its problem itself: tabprotect solve {path}; data are files of text "
            "such as .csv, or .xlsx, .parquet or .duckdb files"
        )
    elif path is not None and path.suffix.lower() != ".toml":
        if given.get("--data") is not None:
            problems.add(f"microdata are given twice: {path} and --data {given['--data']}")
        spec, given["--data"] = None, path
    said: dict[str, Any] = {}
    for flag in by_key().values():
        if is_given(given.get(flag.name)):
            _put(said, flag, given[flag.name], problems)
    settings = problems.attempt(read_settings, given.get("--set") or ()) or {}
    problems.found += _twice(given, more)
    problems.raise_if_any()
    content = {} if spec is None else load_toml(spec)
    if spec is not None and spec.parent.resolve() != Path.cwd():
        # paths on the command line are relative to where we are, those of a specification to where it is
        settings, said = located(settings, Path()), located(said, Path())
    content = _merged(_merged(content, settings), _merged(said, more))
    base = Path() if spec is None else spec.parent
    return Asked(content, FLAGS_ONLY if spec is None else str(spec), base, _in_doubt(given.get("--bounds")))


def _twice(given: Mapping[str, Any], more: Mapping[str, Any]) -> list[str]:
    """Return the keys that are given twice."""
    once, wrong, names = GivenOnce(), Problems(), flag_names()
    for flag in by_key().values():
        value = given.get(flag.name)
        for each in ([word] for word in value) if flag.by_dimension and value else [value] if is_given(value) else []:
            said: dict[str, Any] = {}
            _put(said, flag, each, Problems())
            wrong.found += once.note(said, _typed(flag.name, each))
    for key, value in more.items():
        for name, one in ((f"{key}.{k}", v) for k, v in value.items()) if isinstance(value, dict) else [(key, value)]:
            whole = {key: value} if name == key else {key: {name.partition(".")[2]: one}}
            wrong.found += once.note(whole, _typed(names.get(name, name), one))
    for word in given.get("--set") or ():
        wrong.found += once.note(Problems().attempt(read_settings, [word]) or {}, f"--set {word}")
    return wrong.found


def _typed(name: str, value: Any) -> str:
    """Return a flag and its value as they were typed."""
    words = value if isinstance(value, list) else [] if value is True else [value]
    return " ".join([name, *(f"{one:g}" if isinstance(one, float) else str(one) for one in words)])


def is_given(value: Any) -> bool:
    """Return whether a flag was given: 0 was, a switch that is off was not."""
    return not (value is None or value is False or value in ([], ()))


def _put(said: dict[str, Any], flag: Flag, value: Any, problems: Problems) -> None:
    """Put the value of a flag where its key belongs."""
    if flag.form == "two":
        said.update(_bounds(value, problems))
    elif flag.by_dimension:
        _by_dimension(said, flag, value, problems)
    else:
        *above, last = flag.key.split(".")
        place = said
        for name in above:
            place = place.setdefault(name, {})
        if flag.form == "path":
            value = str(value)
        elif flag.form in ("switch", "off"):
            value = flag.form == "switch"
        elif flag.key == "separator" and value in ("tab", "\\t"):
            value = "\t"
        place[last] = value


def _by_dimension(said: dict[str, Any], flag: Flag, words: list[str], problems: Problems) -> None:
    key, _, part = flag.key.partition(".*.")
    for word in words:
        name, sign, text = word.partition("=")
        value: Any = text
        if not sign or not name:
            problems.add(f"{flag.name} '{word}': write {flag.metavar}")
            continue
        if flag.form in ("words", "numbers", "factors"):
            value = [one.strip() for one in text.split(",")]
        if flag.form == "several":
            said.setdefault(key, {}).setdefault(name, []).append(text)
            continue
        if flag.form == "numbers":
            if not all(one.isascii() and one.isdigit() for one in value):
                problems.add(f"{flag.name} '{word}': write whole numbers, such as {flag.name} {name}=2,4")
                continue
            value = [int(one) for one in value]
        if flag.form == "factors":
            try:
                value = [float(one) for one in value]
            except ValueError:
                problems.add(f"{flag.name} '{word}': factors are numbers, such as {flag.name} {name}=100,10,1")
                continue
        inner = said.setdefault(key, {})
        if part:
            inner = inner.setdefault(name, {})
        inner[part or name] = value


def _bounds(text: str, problems: Problems) -> dict[str, Any]:
    from tabprotect.sensitivity.bounds import BoundsAsTyped

    sides = problems.attempt(BoundsAsTyped.read, text) or (None, None)
    return {name: side for name, side in zip(("lower", "upper"), sides, strict=True) if side is not None}


def _in_doubt(text: str | None) -> dict[str, Any]:
    """Return bounds that are other ones with a decimal comma: whether the data have one is not known yet."""
    from tabprotect.sensitivity.bounds import BoundsAsTyped

    read = None if text is None else BoundsAsTyped.read(text)
    return {"bounds": read} if read is not None and read.in_doubt else {}


def _merged(content: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Put what was given over what is there; None and empty mappings were not given."""
    from tabprotect.workflow.specification import SOURCES

    merged = dict(content)
    for name, value in given.items():
        if isinstance(value, dict):
            if not value:
                continue
            below = merged.get(name)
            below = below if isinstance(below, dict) else {}
            if any(source in value for source in SOURCES):
                # one source of a hierarchy takes the place of another
                below = {key: one for key, one in below.items() if key not in SOURCES}
            inner = _merged(below, value)
            if inner:
                merged[name] = inner
        elif value is not None:
            merged[name] = value
    return merged
