"""The solver layer: linear and integer programmes, limits, exact arithmetic; knows nothing of tables.

What is of use elsewhere is public here: integer programmes with rows that are not written down (`branch_and_cut` over a
`Separator`), warm-started linear programmes, limits and progress.
"""

from tabprotect.solver.limits import Limits, Progress
from tabprotect.solver.lp import LinearProgram, LpSolution
from tabprotect.solver.mip.branch_and_cut import branch_and_cut
from tabprotect.solver.mip.lazy import LazyResult, Programme, Separator, at_least
from tabprotect.solver.mip.rows import Row

__all__ = [
    "LazyResult",
    "Limits",
    "LinearProgram",
    "LpSolution",
    "Programme",
    "Progress",
    "Row",
    "Separator",
    "at_least",
    "branch_and_cut",
]
