"""Short words for what is long, and views of results in notebooks.

A view of a class of a lower room is drawn by a room that it does not know.

The package names that room when it is imported, so nothing of it is loaded before the first view.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

__all__ = ["Short", "drawn_by", "many", "view"]

_HOME: Final[list[str]] = []


class Short:
    """Base of dataclasses with many options: what is printed is what differs from the defaults.

    Examples
    --------
    >>> import tabprotect as tp
    >>> tp.Suppress(), tp.Suppress(method="exact"), tp.Recode(then=tp.Suppress(cost="unit"))
    (Suppress(), Suppress(method='exact'), Recode(then=Suppress(cost='unit')))
    """

    def __repr__(self) -> str:
        return _differing(self)


def _differing(given: Any) -> str:
    from dataclasses import MISSING, fields, is_dataclass

    if not is_dataclass(given) or isinstance(given, type):
        return repr(given)
    said = []
    for one in fields(given):
        value = getattr(given, one.name)
        default = one.default if one.default_factory is MISSING else one.default_factory()
        if one.repr and (type(value) is not type(default) or repr(value) != repr(default)):
            said.append(f"{one.name}={_differing(value)}")
    return f"{type(given).__name__}({', '.join(said)})"


def drawn_by(module: str) -> None:
    """Name the module whose function ``html`` draws what `view` is asked for."""
    _HOME[:] = [module]


def view(thing: object) -> str:
    """Return a thing as a piece of HTML, as notebooks show it.

    Examples
    --------
    >>> import tabprotect as tp
    >>> problem = tp.Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    >>> "Problem(4 cells, 1 equation, 1 primary)" in view(problem)
    True
    """
    return str(importlib.import_module(_HOME[0]).html(thing))


def many(number: int, noun: str) -> str:
    """Return a number and what is counted.

    Examples
    --------
    >>> many(1, "cell"), many(1200, "cell")
    ('1 cell', '1,200 cells')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
