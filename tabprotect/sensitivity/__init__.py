"""Primary sensitivity: which cells may not be published, and how far they must be able to move.

The rules are in `tabprotect.sensitivity.rules`, one file each.
"""

from tabprotect.sensitivity.assess import assess, smallest_level
from tabprotect.sensitivity.assessment import Assessment
from tabprotect.sensitivity.attackers import singletons
from tabprotect.sensitivity.bounds import external_bounds
from tabprotect.sensitivity.build import make_problem
from tabprotect.sensitivity.costs import BoxCox, Log
from tabprotect.sensitivity.level import AtHoldings
from tabprotect.sensitivity.parse import as_rules, parse_rule, parse_rules
from tabprotect.sensitivity.requirements import needs
from tabprotect.sensitivity.rule import Decisions, Needs, Override, Rule, Verdict
from tabprotect.sensitivity.rules import RULES
from tabprotect.sensitivity.rules.apriori import APriori
from tabprotect.sensitivity.rules.dominance import Dominance
from tabprotect.sensitivity.rules.granularity import Granularity
from tabprotect.sensitivity.rules.manual import Manual
from tabprotect.sensitivity.rules.missing_safe import MissingSafe
from tabprotect.sensitivity.rules.p_percent import PPercent
from tabprotect.sensitivity.rules.pq import PQ
from tabprotect.sensitivity.rules.request import Request
from tabprotect.sensitivity.rules.threshold import Threshold
from tabprotect.sensitivity.rules.zero_unsafe import ZeroUnsafe
from tabprotect.sensitivity.sums_as_cells import protect_unions
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.sensitivity.unions import union_exposures

__all__ = [
    "PQ",
    "RULES",
    "APriori",
    "Assessment",
    "AtHoldings",
    "BoxCox",
    "Decisions",
    "Dominance",
    "Granularity",
    "Log",
    "Manual",
    "MissingSafe",
    "Needs",
    "Override",
    "PPercent",
    "Request",
    "Rule",
    "Threshold",
    "UnionExposure",
    "Verdict",
    "ZeroUnsafe",
    "as_rules",
    "assess",
    "external_bounds",
    "make_problem",
    "needs",
    "parse_rule",
    "parse_rules",
    "protect_unions",
    "singletons",
    "smallest_level",
    "union_exposures",
]
