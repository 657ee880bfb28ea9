"""The primary rules, one file each; a file put here is found, no list is kept."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

from tabprotect.sensitivity.rule import Override, Rule, Spoken

__all__ = ["RULES"]


def _found() -> dict[str, type[Rule] | type[Override]]:
    rules: dict[str, type[Rule] | type[Override]] = {}
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        for _, cls in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(cls, Spoken) and cls.__module__ == module.name:
                rules |= dict.fromkeys(cls.keywords, cls)  # type: ignore[arg-type]
    return rules


RULES: dict[str, type[Rule] | type[Override]] = _found()
"""Every rule and override by each of its keywords."""
