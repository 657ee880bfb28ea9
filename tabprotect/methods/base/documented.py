"""Options of a method as its class documents them: types, defaults and help."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, get_type_hints

from tabprotect.methods.base.options import option_words

__all__ = ["Option", "documented_options"]


@dataclass(frozen=True)
class Option:
    """One option of a method.

    Attributes
    ----------
    name : str
    takes : str
        What it may be, in words, such as ``"a number"`` or ``"'l1' or 'l2'"``.
    default : object
        None where there is none, or where the method finds its own.
    help : str
        As in the docstring of the method's class.
    text : bool
        Whether it can be given as text, on the command line and in specifications.
    """

    name: str
    takes: str
    default: Any
    help: str
    text: bool = True


def documented_options(
    made: type[Any], without: tuple[str, ...] = (), given_as_text: bool = True
) -> tuple[Option, ...]:
    """Read the options of a dataclass: types from its annotations, help from its docstring."""
    try:
        hints = get_type_hints(made)
    except NameError:  # types of other rooms, for type checkers only
        hints = {}
    documented: dict[str, str] = {}
    for one in reversed(made.__mro__):
        documented |= _parameters(inspect.cleandoc(one.__doc__ or ""))
    return tuple(
        Option(
            f.name,
            option_words(hints[f.name]) if f.name in hints else "",
            _default(f),
            documented.get(f.name, ""),
            given_as_text and not f.metadata.get("inner"),
        )
        for f in fields(made)
        if f.name not in without
    )


def _default(field: Field[Any]) -> Any:
    if field.default is not MISSING:
        return field.default
    return None if field.default_factory is MISSING else field.default_factory()


def _parameters(doc: str) -> dict[str, str]:
    """Return what the section "Parameters" of a numpydoc docstring says of every name."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", doc, re.MULTILINE | re.DOTALL)
    found: dict[str, str] = {}
    for part in re.split(r"^(?=\S)", section[1] if section else "", flags=re.MULTILINE):
        head, _, rest = part.partition("\n")
        for name in head.partition(" : ")[0].split(","):
            if name.strip():
                found[name.strip()] = " ".join(rest.split())
    return found
