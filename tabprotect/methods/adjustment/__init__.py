"""Controlled tabular adjustment."""

from tabprotect.methods.adjustment.adjust import adjust
from tabprotect.methods.adjustment.preserve import Linear, keep, keep_correlation, keep_covariance, keep_mean
from tabprotect.methods.adjustment.result import AdjustmentResult, Verdict, judge
from tabprotect.methods.adjustment.risk import SenseRisk, sense_risk
from tabprotect.methods.adjustment.strategy import METHODS, Method

__all__ = [
    "METHODS",
    "AdjustmentResult",
    "Linear",
    "Method",
    "SenseRisk",
    "Verdict",
    "adjust",
    "judge",
    "keep",
    "keep_correlation",
    "keep_covariance",
    "keep_mean",
    "sense_risk",
]
