"""What the confidential reports read of a release, whatever class it is of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.attack.certificate import Certificate
from tabprotect.attack.counts import Counts
from tabprotect.attack.findings import Audit
from tabprotect.methods.base.method import Changed
from tabprotect.methods.loss import Loss
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.sensitivity.assessment import Assessment
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.solver.trace import Known
from tabprotect.table.table import Table

__all__ = ["ChangedTable", "Judged", "SuppressedTable"]

Floats = npt.NDArray[np.float64]


class Judged(Protocol):
    """A table, its problem, and what an intruder makes of it."""

    @property
    def table(self) -> Table:
        """The table."""

    @property
    def problem(self) -> Problem:
        """Its first cells are those of the table."""

    @property
    def judgement(self) -> Audit | None:
        """Of what is published; None without anything to publish."""

    @property
    def assessment(self) -> Assessment:
        """Why cells are sensitive."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What was asked for."""


class _Titled(Judged, Protocol):
    """What every judged table has besides."""

    @property
    def title(self) -> str:
        """Heading of the pages."""

    @property
    def unit(self) -> str:
        """Of the values; '' where nothing is said."""

    @property
    def source(self) -> str:
        """Who they are from; '' where nothing is said."""

    @property
    def safe(self) -> bool:
        """Whether nothing that is published gives away what a rule protects."""

    @property
    def counts(self) -> Counts:
        """How many cells there are, are sensitive and are hidden."""

    @property
    def trace(self) -> Sequence[Known]:
        """Cost and bound, as the search went."""

    @property
    def words(self) -> npt.NDArray[np.object_]:
        """What every cell is."""


class SuppressedTable(_Titled, Protocol):
    """A table of which cells are hidden; see `tabprotect.Release`."""

    @property
    def statuses(self) -> pd.DataFrame:
        """Cells, value and respondents by status."""

    @property
    def judgement(self) -> Audit:
        """Of the pattern."""

    @property
    def result(self) -> SuppressionResult:
        """The pattern, its cost and bound."""

    @property
    def pattern(self) -> npt.NDArray[np.bool_]:
        """True for every hidden cell of the table."""

    @property
    def unions(self) -> Sequence[UnionExposure]:
        """Sums of hidden cells that violate a rule."""

    @property
    def certificate(self) -> Certificate:
        """The proof."""

    @property
    def optimality(self) -> str:
        """How near to the optimum the pattern is, by the solver and by the proof."""


class ChangedTable(_Titled, Protocol):
    """A table of changed values; see `tabprotect.ChangedRelease`."""

    @property
    def result(self) -> Changed:
        """Published values, and what an intruder knows of the method."""

    @property
    def values(self) -> Floats | None:
        """Published values of all cells; None without an answer."""

    @property
    def optimality(self) -> str:
        """How near to the optimum the values are, by the solver."""

    @property
    def loss(self) -> Loss:
        """Information lost."""
