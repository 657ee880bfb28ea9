"""Recoding: fewer, larger categories."""

from tabprotect.methods.recoding.alternatives import GroupingResult, least_grouping
from tabprotect.methods.recoding.global_recode import RecodingRules
from tabprotect.methods.recoding.least import least_recoding
from tabprotect.methods.recoding.open_classes import OpenClasses, open_classes
from tabprotect.methods.recoding.result import RecodingResult

__all__ = [
    "GroupingResult",
    "OpenClasses",
    "RecodingResult",
    "RecodingRules",
    "least_grouping",
    "least_recoding",
    "open_classes",
]
