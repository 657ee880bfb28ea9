"""Rounding to a base: controlled (additive), unbiased, and the plain methods to compare with."""

from tabprotect.methods.rounding.levels import intruder
from tabprotect.methods.rounding.result import Diagnosis, RoundingResult
from tabprotect.methods.rounding.round import METHODS, Method, round

__all__ = ["METHODS", "Diagnosis", "Method", "RoundingResult", "intruder", "round"]
