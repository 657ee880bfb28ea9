"""Specifications: what to protect and how, as TOML or as flags say it."""

from tabprotect.workflow.specification.parts import (
    SOURCES,
    CarriedSpec,
    HierarchySpec,
    LimitsSpec,
    OutputSpec,
    check_dialect,
    dialect_of,
)
from tabprotect.workflow.specification.specification import (
    BY_DIMENSION,
    INPUTS,
    STATED,
    Spec,
    TableSpec,
    each_table,
)

__all__ = [
    "BY_DIMENSION",
    "INPUTS",
    "SOURCES",
    "STATED",
    "CarriedSpec",
    "HierarchySpec",
    "LimitsSpec",
    "OutputSpec",
    "Spec",
    "TableSpec",
    "check_dialect",
    "dialect_of",
    "each_table",
]
