"""The cell key method: noise that is the same wherever the same records are counted."""

from tabprotect.methods.cell_key.flex import Flex
from tabprotect.methods.cell_key.keys import KEYS, cell_keys, other_key, record_keys, record_keys_of
from tabprotect.methods.cell_key.perturb import Additivity, CellKeyResult, cell_key, cell_key_magnitudes
from tabprotect.methods.cell_key.table import PerturbationTable, design_perturbation

__all__ = [
    "KEYS",
    "Additivity",
    "CellKeyResult",
    "Flex",
    "PerturbationTable",
    "cell_key",
    "cell_key_magnitudes",
    "cell_keys",
    "design_perturbation",
    "other_key",
    "record_keys",
    "record_keys_of",
]
