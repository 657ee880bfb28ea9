"""Cures of messages, which the library writes as keywords of Python, as flags or as keys of a specification."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tabprotect.cli.flags import Flag, by_key, flag_names

__all__ = ["Face", "said_on"]

_KEYS = (
    "decimal", "thousands", "separator", "encoding", "member", "sheet", "relation", "tolerance", "margins", "empty",
    "contributor", "holding", "request", "weight", "shadow", "cost", "measure", "method", "engine", "by", "kind",
    "unions", "seed", "protect_hidden", "cells",
)  # fmt: skip
"""Keywords of Python that are keys of a specification."""

_OTHER = {
    "digits": "hierarchy.*.digits",
    "lengths": "hierarchy.*.lengths",
    "leader": "hierarchy.*.leader",
    "allow_unsafe": "output.allow_unsafe",
    "formats": "output.formats",
    "table": "relation",
}
"""Keywords of Python, and the keys that they are called in a specification."""

_VALUE = r"'[^']*'|\[[^]]*\]|\([^)]*\)|\.\.\.|[-+\w]+(?:\.\w+)?"
_TYPED = r"(?<![-.\w%])(?<!--set )(?<!--set ')(?<!rule )(?<!rule ')"
"""Stands before what nobody typed: settings and rules stay as they are written."""

_KEYWORD = re.compile(rf"{_TYPED}({'|'.join((*_KEYS, *_OTHER, 'bounds'))})=({_VALUE})?(?=[\s;,.):?]|$)")
_DIMENSION = re.compile(rf"(?:name the total differently: )?Dimension\('([^']*)', (total|missing)=({_VALUE})\)")
_OPTION = re.compile(r"options=(\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})")
_SWAP = re.compile(r"\bSwap\((\w+='[^']*'(?:, \w+='[^']*')*)\)")
_WORDS = re.compile(r"(\w+)='([^']*)'")
_NAMES = re.compile(r"\bnames=(?:\{'([^']*)': '\.\.\.'\})?")
_CODES = re.compile(r"\bcodes=(?:\{'([^']*)': \{\.\.\.\}\})?")
_FEW = re.compile(r"give top=(\d+) to tabulate, or \d+ columns of maxima to Table\.from_cells")
_PHRASES = (
    ("give them to Table.from_cells with Dimension", "give the table as cells=... with Dimension"),
    ("give them to Table.from_cells", "give the table as cells=..."),
    ("the columns of maxima to Table.from_cells", "maxima=[...]"),
    ("the column of counts to Table.from_cells", "count=..."),
    ("cost='count' needs the number", "the cost 'count' needs the number"),
    ("bounds='100%' or bounds=(-1e6, None), or give columns 'lower', 'upper'",
     "bounds='100%' or bounds=(-1e6, None)"),
    ("; use threshold=", "; use the rule threshold=3 instead"),
    (" to tabulate", ""),
    (" to make_problem", ""),
)  # fmt: skip
_MEASURES = re.compile(
    r"pass measure='name' if they are one and the same, or say what each of them measures: measure=\{[^}]*\}"
)
_MORE = re.compile(rf"{_TYPED}(maxima|count)=({_VALUE})?(?=[\s;,.):]|$)")
_WITHIN = re.compile(r"\bhierarchy\.([^:\s]+): (?=(?:lengths|digits)=)")
_HIERARCHY = re.compile(r"\bhierarchy\.([^:\s]+): ")
_NEEDS = re.compile(r"'(\w+)' needs '(\w+)'(?=, the column)")
_OF_FILE = re.compile(r"^(?P<file>[^:]*\.toml: )(?:'([\w.]+)' (?:belongs|says nothing)|([\w.]+): )")
_SPEC = re.compile(r"^flags: (?:'([\w.]+)' (?:is missing|says nothing)|'(\w+)' belongs|([\w.]+): )")


@dataclass(frozen=True)
class Face:
    """Where a message is read.

    Attributes
    ----------
    flags : collection of str
        Those of the command.
    specification : bool
        Whether what is wrong is in a specification (TOML).
    given : mapping
        The flags that were given, and their values: what is wrong with them is not in the specification.
    """

    flags: Collection[str]
    specification: bool = False
    given: Mapping[str, Any] = field(default_factory=dict)

    def sets(self, key: str) -> bool:
        """Whether a flag sets a key, such as ``upper`` or ``hierarchy.nuts``."""
        names = flag_names()
        return names.get(key) in self.given or self.of_dimension(key) is not None

    def of_dimension(self, key: str) -> str | None:
        """Return the flag that says something of one dimension, as in ``hierarchy.nuts``."""
        first, _, name = key.partition(".")
        flags = [flag for flag in by_key().values() if flag.by_dimension and flag.key.split(".")[0] == first]
        for flag in flags:
            if any(word.startswith(f"{name.partition('.')[0]}=") for word in self.given.get(flag.name, ())):
                return flag.name
        return None


def said_on(message: str, face: Face) -> str:
    """Write the cures of one problem as the face takes them.

    Examples
    --------
    >>> flags = Face(["--decimal", "--contributor", "--margins", "--total"])
    >>> said_on("nothing decides; pass decimal=',' or decimal='.'", flags)
    "nothing decides; pass --decimal ',' or --decimal '.'"
    >>> said_on("name the code of the total with Dimension('nuts', total=...), or margins='add'", flags)
    'name the code of the total with --total nuts=CODE, or --margins add'
    >>> said_on("nothing decides; pass decimal=','", Face([], specification=True))
    'nothing decides; pass decimal = ","'
    >>> said_on("flags: 'by' is missing: Columns.", flags)
    '--by is missing: Columns.'
    """
    of_file = _OF_FILE.match(message)
    if of_file and face.sets(of_file[2] or of_file[3]):
        message, face = f"flags: {message[of_file.end('file') :]}", replace(face, specification=False)
    message = _checked(message, face)
    if not face.specification:
        message = _NEEDS.sub(lambda found: " needs ".join(_name(key) for key in found.groups()), message)
    within = _WITHIN.search(message)
    if within and not face.specification:
        message = message.replace(within[0], "", 1)
    of_dimension = within or _HIERARCHY.search(message)
    dimension = of_dimension[1] if of_dimension else None
    message = _HIERARCHY.sub(lambda found: _of_dimension(found, face), message)
    for flag, key in (("--preference", "preferences"), ("--missing", "missing"), ("--bounds", "bounds"),
                      ("--transform", "transform")):  # fmt: skip
        if flag in face.given:
            message = re.sub(rf"^((?:[^:]*: )?){key}(?=: | ')", rf"\1{flag}", message)
    message = _FEW.sub(r"give the columns of \1 largest contributions, maxima=[...]", message)
    for old, new in _PHRASES:
        message = message.replace(old, new)
    if "--name" in face.flags:
        message = _NAMES.sub(
            lambda found: f"--name {_shell(f'{found[1]}=ID')}" if found[1] else "--name DIM=ID", message
        )
        message = _CODES.sub(lambda found: f"--code {_shell(f'{found[1]}:CODE=ID')}" if found[1] else "--code", message)
    message = _MEASURES.sub(
        'say measure = "name" in every table if they are one and the same, or in each what it measures: '
        '[tables.TABLE] measure = "name"',
        message,
    )
    message = _KEYWORD.sub(lambda found: _write(_OTHER.get(found[1], found[1]), found[2], face, dimension), message)
    message = _MORE.sub(lambda found: _write(found[1], found[2], face), message)
    # last, since what they write has names of the user before '=': --total kind=CODE
    message = _SWAP.sub(lambda found: _options(dict(_WORDS.findall(found[1])), face), message)
    message = _OPTION.sub(lambda found: _options(_value(found[1]), face), message)
    return _DIMENSION.sub(lambda found: _write(found[2], found[3], face, found[1]), message)


def _name(key: str) -> str:
    return flag_names().get(key, f"'{key}'")


def _of_dimension(found: re.Match[str], face: Face) -> str:
    """Name a hierarchy by the flag that it was given by."""
    flag = face.of_dimension(f"hierarchy.{found[1]}")
    return found[0] if flag is None else f"{flag} {found[1]}: "


def _checked(message: str, face: Face) -> str:
    """Let what a check of flags found begin with the flag."""
    if not message.startswith("flags: "):
        return message
    found = _SPEC.match(message)
    names = flag_names()
    rest = message.removeprefix("flags: ")
    if found is None:
        rest = rest.replace("unknown key '", "--set: unknown key '")
        return rest.replace(
            "give either 'data' (microdata) or 'cells' (a finished table)",
            "give either --data (microdata) or --cells (a finished table)",
        )
    key = found[1] or found[2]
    if key:
        name = names.get(key, f"--set {key}=...")
        return rest.replace(f"'{key}'", name, 1).replace("cells = ...", "--cells").replace("data = ...", "--data")
    key = found[3]
    parts = key.split(".")
    if parts[-1].isdigit():
        # one of a list
        return f"{names.get('.'.join(parts[:-1]), f'--set {key}')}{rest.removeprefix(key)}"
    plain = key if key in names else f"{parts[0]}.*.{parts[-1]}" if len(parts) > 2 else parts[0]
    if parts[0] == "hierarchy" and len(parts) == 2:
        return f"{face.of_dimension(key) or '--hierarchy'} {parts[1]}={rest.removeprefix(key)}"
    if parts[0] in ("total", "missing") and len(parts) == 2:
        return f"--{parts[0]} {parts[1]}={rest.removeprefix(key)}"
    return f"{names.get(plain, f'--set {key}')}{rest.removeprefix(key)}"


def _write(key: str, text: str | None, face: Face, dimension: str | None = None) -> str:
    """Write one cure: a key and its value."""
    value = _value(text)
    if face.specification:
        return _as_key(key, value, dimension)
    if key == "bounds":
        both = value if isinstance(value, tuple) else (value, value)
        words = ",".join("" if side is None else f"{side:g}" if isinstance(side, float) else str(side) for side in both)
        return f"--bounds {words if isinstance(value, tuple) else value}"
    flag = by_key().get(key)
    if flag is None:
        name = flag_names().get(key, f"--set {key.replace('*', dimension or 'DIM')}=")
        shown = "..." if value is None else _shell(str(value))
        return f"{name}{shown}" if name.endswith("=") else f"{name} {shown}"
    return _as_flag(flag, value, face, dimension or "DIM")


def _options(given: Any, face: Face) -> str:
    """Write the options of a method.

    Examples
    --------
    >>> _options({"open": ["age"]}, Face(["--option"])), _options({"rules": {"age": "age.grc"}}, Face(["--option"]))
    ('--option open=age', '--set options.rules.age=age.grc')
    >>> _options({"open": ["age"]}, Face([], specification=True))
    'options = {open = ["age"]}'
    """
    if not isinstance(given, dict):
        return f"options={given}"
    if face.specification:
        return f"options = {_table(given)}"
    return " ".join(word for name, value in given.items() for word in _option_words(str(name), value))


def _option_words(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for below, inner in _leaves(f"options.{name}", value):
            yield f"--set {_shell(f'{below}={inner}')}"
    else:
        yield f"--option {_shell(f'{name}={_listed(value)}')}"


def _leaves(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict):
        yield key, _listed(value)
        return
    for name, inner in value.items():
        yield from _leaves(f"{key}.{name}", inner)


def _listed(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _table(value: Any) -> str:
    if not isinstance(value, dict):
        return _toml(value)
    return "{" + ", ".join(f"{name} = {_table(inner)}" for name, inner in value.items()) + "}"


def _as_flag(flag: Flag, value: Any, face: Face, dimension: str) -> str:
    if face.flags and flag.name not in face.flags and "--set" in face.flags and not flag.by_dimension:
        return f"--set {flag.key}={'...' if value is None or value is ... else _shell(str(value))}"
    name = flag.name if flag.name in face.flags or not face.flags else f"tabprotect protect {flag.name}"
    if flag.form == "switch":
        return name
    if flag.form == "list" and isinstance(value, list) and value not in ([], [...]):
        return " ".join(f"{name} {_shell(str(one))}" for one in value)
    if flag.by_dimension:
        words = flag.metavar.partition("=")[2] if value is None else (
            ",".join(map(str, value)) if isinstance(value, list) else str(value))  # fmt: skip
        return f"{name} {_shell(f'{dimension}={words}')}"
    unknown = value is None or value is ... or value == [...]
    return f"{name} {flag.metavar if unknown else _shell(f'{value:g}' if isinstance(value, float) else str(value))}"


def _as_key(key: str, value: Any, dimension: str | None) -> str:
    if key == "bounds":
        both = value if isinstance(value, tuple) else (value, value)
        pairs = [f"{name} = {_toml(side)}" for name, side in zip(("lower", "upper"), both, strict=True) if side]
        return " and ".join(pairs)
    if key.startswith("hierarchy.*"):
        return f"{key.rpartition('.')[2]} = {_toml(value)}"
    if key in ("total", "missing") and dimension is not None:
        return f"{key} = {{{json.dumps(dimension, ensure_ascii=False)} = {_toml(value)}}}"
    return f"{key} = {_toml(value)}"


def _toml(value: Any) -> str:
    if value is None or value is ... or value == [...]:
        return "..."
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, ensure_ascii=False)


def _shell(text: str) -> str:
    r"""Write a word for the shell; signs are quoted, so that they can be seen in a sentence.

    Examples
    --------
    >>> _shell(","), _shell("cp1252"), _shell("a=b,c"), _shell("l'an")
    ("','", 'cp1252', 'a=b,c', '"l\'an"')
    """
    if re.fullmatch(r"[-\w.=,+:%/]*\w[-\w.=,+:%/]*", text):
        return text
    return f"'{text}'" if "'" not in text else json.dumps(text, ensure_ascii=False)


def _value(text: str | None) -> Any:
    if text is None or text == "...":
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
