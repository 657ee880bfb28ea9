"""Rounding to a base: controlled (additive), unbiased, successive, and the plain methods to compare with."""

from tabprotect.methods.rounding.engine import METHODS, Method
from tabprotect.methods.rounding.levels import intruder
from tabprotect.methods.rounding.plain import conventional_rounding, random_rounding
from tabprotect.methods.rounding.result import Diagnosis, RoundingResult
from tabprotect.methods.rounding.round import round
from tabprotect.methods.rounding.successive import successive_rounding
from tabprotect.methods.rounding.unbiased import unbiased_rounding
from tabprotect.methods.rounding.verdict import Verdict, judge

__all__ = [
    "METHODS",
    "Diagnosis",
    "Method",
    "RoundingResult",
    "Verdict",
    "conventional_rounding",
    "intruder",
    "judge",
    "random_rounding",
    "round",
    "successive_rounding",
    "unbiased_rounding",
]
