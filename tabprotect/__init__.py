"""tabprotect: protect statistical tables against disclosure, with a proof that needs no solver to check.

Names are imported when they are first used, so that ``import tabprotect`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tabprotect._version import __version__
from tabprotect.views import drawn_by

# what type checkers and editors see; the same names as in `_HOMES`
if TYPE_CHECKING:
    from tabprotect import instances, microdata, models, query
    from tabprotect.attack.audit import audit
    from tabprotect.attack.certificate import Certificate, certify
    from tabprotect.attack.findings import Audit
    from tabprotect.attack.proof_rows import BoundProof
    from tabprotect.certificate.verification import Verification
    from tabprotect.comparison import Comparison, compare
    from tabprotect.errors import InfeasibleError, InputError, SolverError, TabprotectError
    from tabprotect.formats import read_instance
    from tabprotect.formats.jj import write_jj
    from tabprotect.formats.pattern import read_pattern
    from tabprotect.methods.adjustment import AdjustmentResult, adjust
    from tabprotect.methods.adjustment.method import Adjust
    from tabprotect.methods.cell_key.method import CellKey
    from tabprotect.methods.recoding.method import Recode
    from tabprotect.methods.record_swapping.method import Swap
    from tabprotect.methods.rounding import (
        RoundingResult,
        conventional_rounding,
        random_rounding,
        round,
        successive_rounding,
        unbiased_rounding,
    )
    from tabprotect.methods.rounding.method import ConventionalRound, RandomRound, Round, SuccessiveRound, UnbiasedRound
    from tabprotect.methods.small_counts.method import SmallCounts
    from tabprotect.methods.suppression import SuppressionResult, Unprotectable, suppress
    from tabprotect.methods.suppression.linked import suppress_linked
    from tabprotect.methods.suppression.method import Suppress
    from tabprotect.problem import Attacker, Problem, Status
    from tabprotect.release.changed import ChangedRelease
    from tabprotect.release.earlier import Previous
    from tabprotect.release.suppressed import Release
    from tabprotect.release.verify import verify
    from tabprotect.sensitivity import (
        PQ,
        APriori,
        Assessment,
        AtHoldings,
        BoxCox,
        Dominance,
        Granularity,
        Log,
        Manual,
        MissingSafe,
        PPercent,
        Request,
        Threshold,
        ZeroUnsafe,
        assess,
        make_problem,
        parse_rule,
        parse_rules,
    )
    from tabprotect.sensitivity.sums_as_cells import protect_unions
    from tabprotect.sensitivity.union_exposure import UnionExposure
    from tabprotect.sensitivity.unions import union_exposures
    from tabprotect.solver.limits import Limits, Progress
    from tabprotect.solver.tasks.pieces import processes
    from tabprotect.table.dimension import Dimension
    from tabprotect.table.hierarchy import Hierarchy
    from tabprotect.table.link import link
    from tabprotect.table.link.clusters import Cluster, find_clusters
    from tabprotect.table.reading import File, Recognised
    from tabprotect.table.system import LinearSystem
    from tabprotect.table.table import Contributions, Table
    from tabprotect.table.tabulate import tabulate
    from tabprotect.workflow.protect import protect

_HOMES = {
    "attack.audit": ("audit",),
    "attack.certificate": ("Certificate", "certify"),
    "attack.findings": ("Audit",),
    "attack.proof_rows": ("BoundProof",),
    "certificate.verification": ("Verification",),
    "comparison": ("Comparison", "compare"),
    "errors": ("InfeasibleError", "InputError", "SolverError", "TabprotectError"),
    "formats": ("read_instance",),
    "formats.jj": ("write_jj",),
    "formats.pattern": ("read_pattern",),
    "methods.adjustment": ("AdjustmentResult", "adjust"),
    "methods.adjustment.method": ("Adjust",),
    "methods.cell_key.method": ("CellKey",),
    "methods.record_swapping.method": ("Swap",),
    "methods.recoding.method": ("Recode",),
    "methods.rounding.method": ("ConventionalRound", "RandomRound", "Round", "SuccessiveRound", "UnbiasedRound"),
    "methods.small_counts.method": ("SmallCounts",),
    "methods.rounding": (
        "RoundingResult",
        "conventional_rounding",
        "random_rounding",
        "round",
        "successive_rounding",
        "unbiased_rounding",
    ),
    "methods.suppression": ("SuppressionResult", "Unprotectable", "suppress"),
    "methods.suppression.linked": ("suppress_linked",),
    "methods.suppression.method": ("Suppress",),
    "problem": ("Attacker", "Problem", "Status"),
    "release.changed": ("ChangedRelease",),
    "release.earlier": ("Previous",),
    "release.suppressed": ("Release",),
    "release.verify": ("verify",),
    "sensitivity": (
        "APriori",
        "Assessment",
        "AtHoldings",
        "BoxCox",
        "Dominance",
        "Granularity",
        "Log",
        "Manual",
        "MissingSafe",
        "PPercent",
        "PQ",
        "Request",
        "Threshold",
        "ZeroUnsafe",
        "assess",
        "make_problem",
        "parse_rule",
        "parse_rules",
    ),
    "sensitivity.sums_as_cells": ("protect_unions",),
    "sensitivity.union_exposure": ("UnionExposure",),
    "sensitivity.unions": ("union_exposures",),
    "solver.limits": ("Limits", "Progress"),
    "solver.tasks.pieces": ("processes",),
    "table.link.clusters": ("Cluster", "find_clusters"),
    "table.dimension": ("Dimension",),
    "table.hierarchy": ("Hierarchy",),
    "table.link": ("link",),
    "table.reading": ("File", "Recognised"),
    "table.system": ("LinearSystem",),
    "table.table": ("Contributions", "Table"),
    "table.tabulate": ("tabulate",),
    "workflow.protect": ("protect",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
drawn_by(f"{__name__}.report.views")
_PACKAGES = ("instances", "microdata", "models", "query")

# written out, because type checkers read it
__all__ = [
    "PQ",
    "APriori",
    "Adjust",
    "AdjustmentResult",
    "Assessment",
    "AtHoldings",
    "Attacker",
    "Audit",
    "BoundProof",
    "BoxCox",
    "CellKey",
    "Certificate",
    "ChangedRelease",
    "Cluster",
    "Comparison",
    "Contributions",
    "ConventionalRound",
    "Dimension",
    "Dominance",
    "File",
    "Granularity",
    "Hierarchy",
    "InfeasibleError",
    "InputError",
    "Limits",
    "LinearSystem",
    "Log",
    "Manual",
    "MissingSafe",
    "PPercent",
    "Previous",
    "Problem",
    "Progress",
    "RandomRound",
    "Recode",
    "Recognised",
    "Release",
    "Request",
    "Round",
    "RoundingResult",
    "SmallCounts",
    "SolverError",
    "Status",
    "SuccessiveRound",
    "Suppress",
    "SuppressionResult",
    "Swap",
    "Table",
    "TabprotectError",
    "Threshold",
    "UnbiasedRound",
    "UnionExposure",
    "Unprotectable",
    "Verification",
    "ZeroUnsafe",
    "__version__",
    "adjust",
    "assess",
    "audit",
    "certify",
    "compare",
    "conventional_rounding",
    "find_clusters",
    "instances",
    "link",
    "make_problem",
    "microdata",
    "models",
    "parse_rule",
    "parse_rules",
    "processes",
    "protect",
    "protect_unions",
    "query",
    "random_rounding",
    "read_instance",
    "read_pattern",
    "round",
    "successive_rounding",
    "suppress",
    "suppress_linked",
    "tabulate",
    "unbiased_rounding",
    "union_exposures",
    "verify",
    "write_jj",
]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
