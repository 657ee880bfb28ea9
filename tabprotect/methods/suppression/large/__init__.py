"""Suppression in large tables by many small programmes around the cells in question."""

from tabprotect.methods.suppression.large.method import charge_power, local

__all__ = ["charge_power", "local"]
