"""Global recoding: categories and intervals for the whole file (survey of Ciriani et al., section 4.1; mu-ARGUS)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.methods.recoding import RecodingRules
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.masking.coding import weighted_quantile
from tabprotect.microdata.masking.generalisation.ladders import Tree
from tabprotect.microdata.masking.relabel import range_label, relabelled
from tabprotect.microdata.method import Masking, Method, MethodCall, shown
from tabprotect.microdata.parameters import as_columns, need_choice, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import NUMERIC, ORDINAL, Scale

__all__ = ["GlobalRecoding"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class GlobalRecoding(Method):
    """Categories are put together, or numbers become intervals, in the same manner for every record.

    Say how by one of `mapping`, `rules`, `level`, `cuts`, `width` or `classes`. Missing values stay missing. With
    weights, classes of equal frequency hold equal weight. Strata are not looked at: one recoding for the file.

    Parameters
    ----------
    columns : str or sequence of str
    mapping : mapping, optional
        New category of old ones (as they are, or as text); others stay as they are.
    rules : str, optional
        The same as mu-ARGUS writes it: the path of a .grc file, or its text; see `RecodingRules`.
    level : int, optional
        Steps up the value tree of the schema; see `Tree`.
    cuts : sequence of float, optional
        Boundaries: an interval holds its lower end. Values outside of them are open classes.
    width : float, optional
        Intervals of one width, from `origin` on.
    origin : float
    classes : int, optional
        So many intervals of equal width, or of equal frequency (fewer where values repeat); both ends are open classes.
    equal : {'width', 'frequency'}
        For `classes`.
    bottom, top : float, optional
        With `width`: values below `bottom`, and from `top` on, are open classes.
    labels : sequence of str, optional
        Names of the intervals of `cuts`, `width` or `classes` from the lowest on, also of those without a record.

    Examples
    --------
    Temperatures in Ciriani et al., Fig. 7.

    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"temp": [35.2, 37.7, 38.1, 40.1]})
    >>> step = md.GlobalRecoding("temp", cuts=[35, 37, 39, 41], labels=["<", "nf", "f", "hf", ">"])
    >>> md.mask(frame, None, step).frame["temp"].tolist()
    ['nf', 'f', 'f', 'hf']
    """

    name: ClassVar[str] = "global-recoding"
    family: ClassVar[str] = "non-perturbative"
    claim_kinds: ClassVar[tuple[str, ...]] = ("categories", "function-of")
    source: ClassVar[str] = "Ciriani et al. 2007, section 4.1; Eustat notebook, mu-ARGUS"

    columns: Sequence[str] | str
    mapping: Mapping[Any, Any] | None = None
    rules: str | None = None
    level: int | None = None
    cuts: Sequence[float] | None = None
    width: float | None = None
    origin: float = 0.0
    classes: int | None = None
    equal: Literal["width", "frequency"] = "width"
    bottom: float | None = None
    top: float | None = None
    labels: Sequence[str] | None = None

    @classmethod
    def located(cls, parameters: Mapping[str, Any], base: Path) -> dict[str, Any]:
        """Return parameters with the path of a .grc file relative to a folder."""
        rules = parameters.get("rules")
        if isinstance(rules, str) and rules.endswith(".grc"):
            return {**parameters, "rules": str(base / rules)}
        return dict(parameters)

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        how = [
            name
            for name in ("mapping", "rules", "level", "cuts", "width", "classes")
            if getattr(self, name) is not None
        ]
        if len(how) != 1:
            problems.add(f"{self.name}: give one of mapping, rules, level, cuts, width or classes, not {how or 'none'}")
        need_number(self, "level", problems, least=1, whole=True, optional=True)
        need_number(self, "width", problems, above=0, optional=True)
        need_number(self, "origin", problems)
        need_number(self, "classes", problems, least=1, whole=True, optional=True)
        need_number(self, "bottom", problems, optional=True)
        need_number(self, "top", problems, optional=True)
        need_choice(self, "equal", problems, ("width", "frequency"))
        if self.cuts is not None:
            cuts = list(self.cuts) if isinstance(self.cuts, list | tuple) else []
            if (
                not cuts
                or any(isinstance(c, bool) or not isinstance(c, int | float) for c in cuts)
                or cuts != sorted(set(cuts))
            ):
                problems.add(f"{self.name}: cuts must be growing numbers, not {shown(self.cuts)}")
        if (self.bottom is not None or self.top is not None) and self.width is None:
            problems.add(f"{self.name}: bottom and top belong to width; put the open classes into cuts or rules")
        if self.bottom is not None and self.top is not None and not self.bottom < self.top:
            problems.add(f"{self.name}: bottom must be below top")
        if self.labels is not None:
            if not {"cuts", "width", "classes"} & set(how):
                problems.add(f"{self.name}: labels belong to cuts, width or classes")
            words = self.labels if isinstance(self.labels, list | tuple) else []
            if not words or not all(isinstance(w, str) for w in words) or len(set(words)) < len(words):
                problems.add(f"{self.name}: labels must be a list of different words, not {shown(self.labels)}")
        if isinstance(self.rules, str):
            try:
                self._rules()
            except InputError as error:
                problems.found += [f"{self.name}: {what}" for what in error.problems]

    def _rules(self) -> RecodingRules:
        """Read the rules: a path has one line and no colon after a code."""
        assert self.rules is not None
        if self.rules.endswith(".grc"):
            return RecodingRules.read(Path(self.rules))
        return RecodingRules.parse(self.rules)

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self.columns)

    def check(self, records: Records, problems: Problems) -> None:
        """Note what the records do not allow."""
        for name in self.columns:
            if self.level is not None and name not in records.schema.hierarchies:
                problems.add(f"column '{name}' has no hierarchy in the schema, whose level {self.level} could be taken")
            numbers = self.cuts is not None or self.width is not None or self.classes is not None
            if numbers and records.scale(name) not in NUMERIC:
                problems.add(f"column '{name}' is {records.scale(name)}; intervals need a continuous one")
            elif not problems.found:
                problems.attempt(self.recode, records, name)

    def apply(self, call: MethodCall) -> Masking:
        """Recode."""
        records = call.records
        facts, claims = {}, []
        released = records
        for name in self.columns:
            labels, index, allowed, ordered = self.recode(records, name)
            released = relabelled(released, name, labels, index, ordered=ordered)
            facts[name] = {"categories": [str(label) for label in labels]}
            text = f"'{name}' holds one of {len(allowed)} categories only"
            claims.append(Claim("categories", (name,), text, {"column": name, "values": [str(v) for v in allowed]}))
            text = f"equal values of '{name}' have equal categories"
            claims.append(Claim("function-of", (name,), text, {"column": name}, (name,)))
        return Masking(released, facts, tuple(claims))

    def recode(self, records: Records, name: str) -> tuple[list[Any], Ints, list[Any], bool]:
        """Return the new categories, that of every record, all that there may be, and whether they are in an order."""
        if self.cuts is not None or self.width is not None or self.classes is not None:
            return self._intervals(records, name)
        found = records.categories(name)
        if self.level is not None:
            rungs = Tree(records.schema.hierarchies[name]).rungs(found.values, name)
            if self.level > rungs.height:
                raise InputError(
                    f"column '{name}': the tree has {rungs.height} levels above the values, not {self.level}"
                )
            new = [rungs.labels[self.level][i] for i in rungs.index[self.level][:-1]]
        elif self.rules is not None:
            codes = [_code(value) for value in found.values]
            to = self._rules().mapping(codes)
            new = [to[code] if to[code] != code else value for code, value in zip(codes, found.values, strict=True)]
        else:
            new = self._mapped(name, found.values)
        place: dict[Any, int] = {}
        index = np.array([place.setdefault(value, len(place)) for value in new] + [-1], dtype=np.int64)
        # an order of the old categories is one of the new ones where these are runs of it
        runs = 1 + sum(a != b for a, b in pairwise(new))
        ordered = records.scale(name) in ORDINAL and runs == len(place) and not _numbers(new)
        if (
            not ordered
            and records.scale(name) == Scale.ORDERED
            and name in records.schema.orders
            and runs != len(place)
        ):
            raise InputError(
                f"column '{name}' is ordered, and '{_torn(new)}' would hold categories that are not neighbours"
            )
        return list(place), index[found.index], list(place), ordered

    def _mapped(self, name: str, values: Sequence[Any]) -> list[Any]:
        assert self.mapping is not None
        unknown = [old for old in self.mapping if old not in values and str(old) not in {_code(v) for v in values}]
        if unknown:
            raise InputError(f"column '{name}' holds no {unknown[0]!r}{did_you_mean(unknown[0], values)}")
        words = {str(old): new for old, new in self.mapping.items()}
        return [self.mapping.get(value, words.get(_code(value), value)) for value in values]

    def _intervals(self, records: Records, name: str) -> tuple[list[Any], Ints, list[Any], bool]:
        values = records.numbers(name)
        there = ~np.isnan(values)
        x = values[there]
        if not len(x):
            return [], np.full(len(values), -1, dtype=np.int64), [], True
        edges = self.edges(x, records.weights()[there])
        whole = bool((x == np.floor(x)).all())
        names = [range_label(a, b, whole) for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]
        if self.labels is not None:
            if len(self.labels) != len(names):
                raise InputError(
                    f"column '{name}' gets {len(names)} intervals ({', '.join(names)}), not {len(self.labels)}"
                )
            names = list(self.labels)
        at = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, len(names) - 1)
        used = np.unique(at)
        index = np.full(len(values), -1, dtype=np.int64)
        index[there] = np.searchsorted(used, at)
        return [names[i] for i in used], index, names, True

    def edges(self, x: Floats, weights: Floats) -> Floats:
        """Return the boundaries of all intervals of some values with weights, infinite where they are open."""
        if self.cuts is not None:
            return np.array([-np.inf, *map(float, self.cuts), np.inf])
        if self.width is not None:
            low = x.min() if self.bottom is None else max(x.min(), self.bottom)
            high = x.max() if self.top is None else min(x.max(), self.top)
            first, last = np.floor((low - self.origin) / self.width), np.floor((high - self.origin) / self.width)
            if last - first > 1_000_000:
                raise InputError(f"intervals of width {self.width:g} would be {last - first:,.0f}; take wider ones")
            inner = self.origin + np.arange(first, last + 2) * self.width
            ends = [] if self.bottom is None else [-np.inf, self.bottom]
            after = [] if self.top is None else [self.top, np.inf]
            low_end = -np.inf if self.bottom is None else self.bottom
            high_end = np.inf if self.top is None else self.top
            return np.array([*ends, *inner[(inner > low_end) & (inner < high_end)], *after])
        assert self.classes is not None
        if self.equal == "width":
            inside = np.unique(np.linspace(x.min(), x.max(), self.classes + 1)[1:-1])
            return np.array([-np.inf, *inside, np.inf])
        cuts = [weighted_quantile(x, weights, i / self.classes) for i in range(1, self.classes)]
        # an interval holds its lower end: the quantile itself belongs to the class below
        above = np.unique(x)
        borders = {float(above[np.searchsorted(above, c, side="right")]) for c in cuts if c < above[-1]}
        return np.array([-np.inf, *sorted(borders), np.inf])


def _code(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value)


def _numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, int | float) for value in values)


def _torn(new: Sequence[Any]) -> Any:
    """Return a category that occurs in several runs."""
    seen: list[Any] = []
    for value, before in zip(new, [None, *new[:-1]], strict=True):
        if value != before and value in seen:
            return value
        seen.append(value)
    return ""
