"""Recoding: fewer, larger categories."""

from tabprotect.methods.recoding.global_recode import RecodingRules
from tabprotect.methods.recoding.least import RecodingResult, least_recoding
from tabprotect.methods.recoding.open_classes import OpenClasses, open_classes

__all__ = ["OpenClasses", "RecodingResult", "RecodingRules", "least_recoding", "open_classes"]
