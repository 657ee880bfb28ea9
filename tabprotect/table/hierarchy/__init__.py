"""Hierarchies of codes, and the forms in which they come."""

from tabprotect.table.hierarchy.hierarchy import Hierarchy

__all__ = ["Hierarchy"]
