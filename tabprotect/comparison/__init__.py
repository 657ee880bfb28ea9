"""Several methods on one table, side by side: what is lost, what an intruder still learns, how long it takes."""

from tabprotect.comparison.approaches import APPROACHES, Approach, parse_approach
from tabprotect.comparison.compare import Comparison, compare
from tabprotect.comparison.measures import Risk
from tabprotect.methods.loss import Loss, loss

__all__ = ["APPROACHES", "Approach", "Comparison", "Loss", "Risk", "compare", "loss", "parse_approach"]
