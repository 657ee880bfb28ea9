"""Tabulation: one protocol, and an engine for frames in memory, for DuckDB and for clusters."""

from tabprotect.table.tabulate.checks import check_roles
from tabprotect.table.tabulate.dispatch import tabulate

__all__ = ["check_roles", "tabulate"]
