"""Exact rational arithmetic, and elimination modulo a prime."""

from tabprotect.solver.exact.polyhedron import Polyhedron
from tabprotect.solver.exact.rational import (
    ExactSolver,
    Integers,
    RationalVector,
    exact,
    integer_rows,
    scaled_integers,
    solve_exactly,
)

__all__ = [
    "ExactSolver",
    "Integers",
    "Polyhedron",
    "RationalVector",
    "exact",
    "integer_rows",
    "scaled_integers",
    "solve_exactly",
]
