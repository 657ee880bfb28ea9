"""How cells are hidden: what `tabprotect.protect` takes as its method, unless values are to change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tabprotect.errors import collect
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.suppress import check_method
from tabprotect.sensitivity.costs import Preferences, Transform, wrong_changes
from tabprotect.views import Short

__all__ = ["Suppress"]


@dataclass(frozen=True, repr=False)
class Suppress(Short):
    """Hide cells, at the least cost.

    Parameters
    ----------
    cost : str or sequence of float, optional
        What hiding a cell costs: 'value', 'unit', 'count', the name of a column, or numbers; see
        `tabprotect.sensitivity.costs.costs`. By default the column ``cost`` of the table, else the value.
    method : {'auto', 'exact', 'greedy', 'local', 'modular', 'hypercube', 'network', 'joint', 'passes'}
        See `tabprotect.suppress`; 'passes' goes table by table through linked tables, see `tabprotect.suppress_linked`.
    transform : callable, optional
        Applied to the costs, such as `tabprotect.BoxCox`.
    preferences : mapping, optional
        Factors on the costs by dimension and level.
    engine : {'scip', 'highs', 'pyomo'}
        What solves the programmes.
    solver : str, optional
        The solver behind engine='pyomo'.
    random_costs : float
        Every cost is raised at random by up to this share of it, such as 0.2; 0, the default, for reproducible
        suppression. Whoever knows the method and its rule can otherwise try which tables lead to what was published.
        The draws come from the seed, which is then a fresh secret one unless it is given. Cost and bound of the result
        are in raised costs; no pattern costs less than the one found by more than this share of it.
    options : tabprotect.methods.suppression.options.Options
        The numbers that the methods were tuned with, for research.
    """

    cost: Any = None
    method: str = "auto"
    transform: Transform | None = None
    preferences: Preferences | None = None
    engine: str = "scip"
    solver: str | None = None
    random_costs: float = 0.0
    options: Options = DEFAULTS

    def __post_init__(self) -> None:
        share = self.random_costs
        check_method(self.method, self.engine, self.solver, also=("passes",))
        with collect() as problems:
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < float("inf"):
                problems.add(f"random_costs must be a share of the costs, 0 or more, such as 0.2, not {share!r}")
            for what in wrong_changes(self.transform, self.preferences):
                problems.add(what)
            if not isinstance(self.options, Options):
                problems.add(f"options= takes tabprotect.methods.suppression.options.Options, not {self.options!r}")
