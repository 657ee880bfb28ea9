"""Disclosure risk of microdata: of the file and of every record."""

from __future__ import annotations

from tabprotect.microdata.risk.interval import attribute_disclosure, interval_disclosure
from tabprotect.microdata.risk.massc import massc_risk
from tabprotect.microdata.risk.truta.measure import global_risk

__all__ = ["attribute_disclosure", "global_risk", "interval_disclosure", "massc_risk"]
