"""Auditing of sums over query sets (Malvestuto and Moscarini 1990, 1998): which answers may be given together."""

from tabprotect.query.audit.auditor import Auditor
from tabprotect.query.audit.decision import Decision, Denial, Step
from tabprotect.query.audit.records import Intruder, Records

__all__ = ["Auditor", "Decision", "Denial", "Intruder", "Records", "Step"]
