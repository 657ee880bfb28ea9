"""SDMX: published tables out, with statuses; code lists and structures in."""

from tabprotect.formats.sdmx.data import FORMATS, encode_sdmx
from tabprotect.formats.sdmx.statuses import ESTAT, LISTS, SDMX, StatusMap
from tabprotect.formats.sdmx.structures import Structure, read_hierarchies, read_structures
from tabprotect.formats.sdmx.written import encode_structure

__all__ = [
    "ESTAT",
    "FORMATS",
    "LISTS",
    "SDMX",
    "StatusMap",
    "Structure",
    "encode_sdmx",
    "encode_structure",
    "read_hierarchies",
    "read_structures",
]
