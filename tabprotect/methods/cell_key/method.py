"""The cell key method as a method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tabprotect.attack.statement import decimals as written
from tabprotect.errors import InputError
from tabprotect.methods.base.method import Acts, Call, Changed, Method, held
from tabprotect.methods.base.options import ABOVE_ZERO, INNER
from tabprotect.methods.cell_key import CellKeyResult, Flex, cell_key, cell_key_magnitudes, design_perturbation
from tabprotect.problem import Status
from tabprotect.table.decimals import decimals_of

__all__ = ["CellKey"]

SHARE = 0.1
"""Share of the largest contribution that one unit of noise is, where none is given."""

STEP = 5
"""Magnitudes: the noise takes multiples of 1/5, where nothing is given."""

_FOR_MAGNITUDES = ("small", "large", "point", "power", "weights", "step", "decimals")


@dataclass(frozen=True)
class CellKey(Method):
    """Noise that is the same wherever the same records are counted or added; see `tabprotect.methods.cell_key`.

    Counts move by whole numbers, magnitudes by multiples of a share of their largest contribution.

    Parameters
    ----------
    deviation : int
        Largest noise.
    variance : float
        Of the noise.
    stay : float, optional
        Probability of no change.
    blocked : int
        Counts from 1 to this are never published.
    small, large : float, optional
        Magnitudes: what one unit of noise is, as a share of the largest contribution, for small and (by default the
        same) large contributions; see `tabprotect.methods.cell_key.Flex`. 0.1 by default.
    point, power : float, optional
        The flex point, where shares begin to fall from small to large, and how fast; 3 by default.
    weights : str, optional
        Shares that the largest, second largest, ... contribution gets: ``"1:0.5"`` makes noise of two. ``"1"`` by
        default.
    step : int, optional
        Magnitudes: the noise takes multiples of 1/step; 5 by default.
    decimals : int, optional
        Of the perturbed magnitudes; by default those that the values have, so that no odd digits give noise away.
    key : str, optional
        Column of the record keys in microdata; without it they are drawn by the seed.
    keys : ndarray of int, optional
        Keys of the cells, where the table is finished already.
    """

    name: ClassVar[str] = "cell-key"
    claims: ClassVar[tuple[str, ...]] = ("noise", "share")
    acts_on: ClassVar[Acts] = "records"
    page: ClassVar[str] = "other-methods.md#cell-keys"
    drawn: ClassVar[bool] = True

    deviation: int = field(default=3, metadata=ABOVE_ZERO)
    variance: float = field(default=1.5, metadata=ABOVE_ZERO)
    stay: float | None = None
    blocked: int = 0
    small: float | None = field(default=None, metadata=ABOVE_ZERO)
    large: float | None = field(default=None, metadata=ABOVE_ZERO)
    point: float | None = field(default=None, metadata=ABOVE_ZERO)
    power: float | None = field(default=None, metadata=ABOVE_ZERO)
    weights: str | None = None
    step: int | None = field(default=None, metadata=ABOVE_ZERO)
    decimals: int | None = None
    key: str | None = None
    keys: npt.NDArray[np.int64] | None = field(default=None, repr=False, compare=False, metadata=INNER)

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.flex

    @property
    def flex(self) -> Flex:
        """How large the noise on magnitudes is."""
        small = SHARE if self.small is None else self.small
        if (self.large is None) != (self.point is None):
            raise InputError("cell-key: large and point go together: give both, or one share for all contributions")
        if self.large is None and self.power is not None:
            raise InputError("cell-key: power says how fast shares fall from small to large; give large and point, too")
        try:
            weights = tuple(float(word) for word in (self.weights or "1").split(":"))
        except ValueError as error:
            raise InputError(f"cell-key: weights must be shares such as '1:0.5:0.3', not '{self.weights}'") from error
        large = small if self.large is None else self.large
        power = 3.0 if self.power is None else self.power
        return Flex(small, large, 1.0 if self.point is None else self.point, power, weights)

    @property
    def contributions(self) -> int:
        """One for every weight."""
        return len(self.flex.weights)

    def change(self, call: Call) -> Changed:
        """Perturb counts or magnitudes."""
        keys = call.keys if self.keys is None else self.keys
        if keys is None:
            raise InputError("the cell key method needs the keys of records, so a table made from microdata")
        result, claim = self._counts(call, keys) if call.problem.integer else self._magnitudes(call, keys)
        claim["fixed"] = held(call.problem, Status.PROTECTED, Status.ZERO)
        a = result.additivity
        message = f"{a.broken:,} of {a.equations:,} sums do not hold, by up to {a.largest:,.10g}"
        knows = "the table of noise" + ("" if call.problem.integer else ", shares of the largest contributions")
        cost = float(np.abs(result.noise).sum())
        return Changed(result.values, claim, knows, "feasible", cost, message=message, result=result)

    def _counts(self, call: Call, keys: npt.NDArray[np.int64]) -> tuple[CellKeyResult, dict[str, Any]]:
        given = [name for name in _FOR_MAGNITUDES if getattr(self, name) is not None]
        if given:
            raise InputError(f"cell-key: {', '.join(given)} belong to magnitudes; this is a table of counts")
        table = design_perturbation(self.deviation, self.variance, stay=self.stay, blocked=self.blocked)
        support = [np.rint(table.noise[row > 0]).astype(int).tolist() for row in table.probabilities]
        return cell_key(call.problem, keys, table), {"method": "noise", "support": support}

    def _magnitudes(self, call: Call, keys: npt.NDArray[np.int64]) -> tuple[CellKeyResult, dict[str, Any]]:
        p, cells = call.problem, call.table
        if cells is None or cells.contributions is None:
            raise InputError("cell-key: magnitudes need their largest contributions, so a table made from microdata")
        if self.blocked:
            raise InputError("cell-key: blocked belongs to counts; this is a table of magnitudes")
        if "negative" in cells.columns or np.any(p.values < 0):
            raise InputError("cell-key: there are values below 0, so noise has no limit that could be told; use round")
        if cells.weighted_counts is not None:
            raise InputError("cell-key: records with sampling weights are not perturbed; use round or adjust")
        step = STEP if self.step is None else self.step
        table = design_perturbation(self.deviation, self.variance, stay=self.stay, step=step)
        places = decimals_of(p.values) if self.decimals is None else self.decimals
        result = cell_key_magnitudes(p, keys, table, self.flex, cells, decimals=places)
        corners, slope = self.flex.reach(table.deviation, 0.0 if places is None else 0.5 * 10.0**-places)
        reach = [written(pair) for pair in corners]
        return result, {"method": "share", "reach": reach, "slope": written([slope])[0]}
