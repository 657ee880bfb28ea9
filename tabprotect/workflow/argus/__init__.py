"""Batches of tau-ARGUS, run by the methods of this package."""

from tabprotect.workflow.argus.run import Outcome, run_batch

__all__ = ["Outcome", "run_batch"]
