"""How cells are hidden, and rolled up before: what `protect` takes as its method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tabprotect.sensitivity.costs import Preferences, Transform

__all__ = ["Recode", "Suppress"]


@dataclass(frozen=True)
class Suppress:
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
    """

    cost: Any = None
    method: str = "auto"
    transform: Transform | None = None
    preferences: Preferences | None = None
    engine: str = "scip"
    solver: str | None = None


@dataclass(frozen=True)
class Recode:
    """Roll categories up until no cell is sensitive any more; what may be left is hidden.

    Parameters
    ----------
    rules : mapping of str to RecodingRules, path or str, optional
        Recodings by hand, by column of the microdata: rules, or a .grc file.
    least : bool
        After that, give up the parts of as few codes as are needed to be rid of all sensitive cells.
    keep : mapping of str to int, optional
        Down to which level the codes of a dimension must stay; see `tabprotect.methods.recoding.least_recoding`.
    then : Suppress
        How cells that are sensitive still are hidden.
    """

    rules: Mapping[str, Any] = field(default_factory=dict)
    least: bool = True
    keep: Mapping[str, int] = field(default_factory=dict)
    then: Suppress = Suppress()
