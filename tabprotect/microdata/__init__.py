"""Protect microdata: mask or synthesise records, measure risk and utility, choose with open eyes.

The usual import is ``import tabprotect.microdata as md``.
"""

from __future__ import annotations

from tabprotect.microdata import anonymity_checks as _anonymity_checks  # noqa: F401 (registers the checkers)
from tabprotect.microdata import checks as _checks  # noqa: F401 (registers the checkers)
from tabprotect.microdata import value_checks as _value_checks  # noqa: F401 (registers the checkers)
from tabprotect.microdata.claims import Check, Claim, Verification, claim_kinds
from tabprotect.microdata.mask import mask
from tabprotect.microdata.masked import Masked, Step
from tabprotect.microdata.masking.coding import BottomCoding, TopCoding
from tabprotect.microdata.masking.companions import HouseholdNumbers, WeightNoise
from tabprotect.microdata.masking.generalisation.constraints import Closeness, Diversity
from tabprotect.microdata.masking.generalisation.full_domain import Generalisation
from tabprotect.microdata.masking.generalisation.ladders import Intervals, Prefixes, Steps, Tree
from tabprotect.microdata.masking.generalisation.mondrian import Mondrian
from tabprotect.microdata.masking.recoding import GlobalRecoding
from tabprotect.microdata.masking.sampling import Sampling
from tabprotect.microdata.masking.suppression.local import LocalSuppression
from tabprotect.microdata.method import Method, make_method, methods
from tabprotect.microdata.records import Records, read_records
from tabprotect.microdata.regions import RegionalIndicators, regional_indicators
from tabprotect.microdata.scales import Scale
from tabprotect.microdata.schema import Schema
from tabprotect.microdata.unsafe import UnsafeCombinations, unsafe_combinations

__all__ = [
    "BottomCoding",
    "Check",
    "Claim",
    "Closeness",
    "Diversity",
    "Generalisation",
    "GlobalRecoding",
    "HouseholdNumbers",
    "Intervals",
    "LocalSuppression",
    "Masked",
    "Method",
    "Mondrian",
    "Prefixes",
    "Records",
    "RegionalIndicators",
    "Sampling",
    "Scale",
    "Schema",
    "Step",
    "Steps",
    "TopCoding",
    "Tree",
    "UnsafeCombinations",
    "Verification",
    "WeightNoise",
    "claim_kinds",
    "make_method",
    "mask",
    "methods",
    "read_records",
    "regional_indicators",
    "unsafe_combinations",
]
