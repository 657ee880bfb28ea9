"""Suppression in large tables by many small programmes around the cells in question."""

from tabprotect.methods.suppression.large.method import local

__all__ = ["local"]
