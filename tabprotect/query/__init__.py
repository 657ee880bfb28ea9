"""Query-time protection: decide, query by query, what may be answered about records that must stay confidential.

`Auditor` and `Guard` answer exactly or not at all; `Camouflage` answers everything, by intervals. The two are
alternatives: both kinds of answer about the same data disclose what each of them protects (decision 90).

Examples
--------
>>> import pandas as pd
>>> from tabprotect.query import Camouflage, Query
>>> from tabprotect.query.camouflage import camouflage
>>> firms = pd.DataFrame({"size": ["S", "S", "L", "L"], "turnover": [800, 1200, 9000, 11000]})
>>> hidden = camouflage(firms, "turnover", 0.2, workload=[(), "size"], seed=1)
>>> isinstance(hidden, Camouflage), 11000 in hidden.answer(Query("maximum", "turnover"))
(True, True)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tabprotect.query.audit import Auditor, Decision, Intruder, Records
    from tabprotect.query.camouflage import Absolute, Camouflage, Covering, Query, Relative
    from tabprotect.query.guard import Answer, Guard, Policy

__all__ = [
    "Absolute",
    "Answer",
    "Auditor",
    "Camouflage",
    "Covering",
    "Decision",
    "Guard",
    "Intruder",
    "Policy",
    "Query",
    "Records",
    "Relative",
]

_HOMES = {
    **dict.fromkeys(("Auditor", "Decision", "Intruder", "Records"), "tabprotect.query.audit"),
    # the function `camouflage` has the name of its package, and is imported from there
    **dict.fromkeys(("Absolute", "Camouflage", "Covering", "Query", "Relative"), "tabprotect.query.camouflage"),
    **dict.fromkeys(("Answer", "Guard", "Policy"), "tabprotect.query.guard"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
