"""Targeted record swapping: households at risk change places before tables are made."""

from tabprotect.methods.record_swapping.swap import SwapResult, swap_records

__all__ = ["SwapResult", "swap_records"]
