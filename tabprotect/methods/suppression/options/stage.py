"""What all stages of options have in common: named numbers with a default and a range."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from tabprotect.errors import InputError

__all__ = ["Stage", "Stages", "number"]


def number(default: Any, *, least: float = 0.0, most: float = math.inf) -> Any:
    """Return the field of an option, or of several numbers of one meaning; each is from `least` to `most`."""
    return field(default=default, metadata={"least": least, "most": most})


@dataclass(frozen=True, kw_only=True)
class Stage:
    """The options of one stage.

    Raises
    ------
    InputError
        If a value is of another kind than the default, or outside its range; all of them are named.
    """

    def __post_init__(self) -> None:
        if wrong := list(self._problems()):
            raise InputError(f"{type(self).__name__}: {'; '.join(wrong)}")

    def _problems(self) -> Iterator[str]:
        """Tell what is wrong."""
        for each in fields(self):
            if why := _wrong(getattr(self, each.name), each.default, str(each.type), **each.metadata):
                yield f"{each.name} must be {why}, not {getattr(self, each.name)!r}"


@dataclass(frozen=True, kw_only=True)
class Stages:
    """The options of several stages.

    Raises
    ------
    InputError
        If something else is given than the options of a stage.
    """

    def __post_init__(self) -> None:
        for each in fields(self):
            if type(getattr(self, each.name)).__name__ != each.type:
                raise InputError(f"{each.name} must be {each.type}, not {getattr(self, each.name)!r}")


def _wrong(value: Any, like: Any, kind: str, least: float, most: float) -> str:
    """Return what a value should be, where it is not."""
    if isinstance(like, tuple):
        several = isinstance(value, tuple) and bool(value)
        if several and ("..." in kind or len(value) == len(like)):
            return next(filter(None, (_wrong(v, like[0], kind, least, most) for v in value)), "")
        return "a tuple of numbers" if "..." in kind else f"a tuple of {len(like)} numbers"
    whole = isinstance(like, int)
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or not least <= value <= most:
        range_ = f"from {least:g} to {most:g}" if most < math.inf else f"of at least {least:g}"
        return f"{'a whole number' if whole else 'a number'} {range_}"
    return ""
