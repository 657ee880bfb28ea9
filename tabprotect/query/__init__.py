"""Query-time protection: decide, query by query, what may be answered about records that must stay confidential."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tabprotect.query.audit import Auditor, Decision, Intruder, Records
    from tabprotect.query.guard import Answer, Guard, Policy

__all__ = ["Answer", "Auditor", "Decision", "Guard", "Intruder", "Policy", "Records"]

_HOMES = {
    **dict.fromkeys(("Auditor", "Decision", "Intruder", "Records"), "tabprotect.query.audit"),
    **dict.fromkeys(("Answer", "Guard", "Policy"), "tabprotect.query.guard"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
