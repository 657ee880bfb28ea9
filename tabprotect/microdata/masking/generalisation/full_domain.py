"""Full-domain generalisation: every key at one level of its ladder (survey of Ciriani et al., section 4.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InfeasibleError, InputError, Problems, SolverError, did_you_mean
from tabprotect.microdata.anonymity import value_counts
from tabprotect.microdata.categories import Categories
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.keys import KeyCodes
from tabprotect.microdata.masking.generalisation.by_keys import ByKeys
from tabprotect.microdata.masking.generalisation.constraints import Constraint, Judge
from tabprotect.microdata.masking.generalisation.ladders import Steps, Tree, as_ladder, located_ladder
from tabprotect.microdata.masking.generalisation.lattice import MOST_NODES, Found, Lattice
from tabprotect.microdata.masking.generalisation.losses import LOSSES, make_loss
from tabprotect.microdata.masking.generalisation.rungs import Ladder, Rungs
from tabprotect.microdata.masking.relabel import relabelled
from tabprotect.microdata.method import Masking, MethodCall
from tabprotect.microdata.parameters import need_choice, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import ORDINAL

__all__ = ["Generalisation"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Generalisation(ByKeys):
    """Keys are generalised to one level each: the least loss at which classes of equal keys are large and diverse.

    Every combination of levels is looked at, as far as it is not settled by others: the answer is optimal. Records in
    classes that are too small may be suppressed, up to a share of the file.

    A missing key is a value of its own until all values have one label. Classes are counted within the strata of the
    schema that are no keys. Weights are not looked at: k counts records. Missing confidential values do not count.

    Parameters
    ----------
    k : int
        Least number of records in a class.
    keys : str or sequence of str, optional
        By default the keys of the schema.
    ladders : mapping of str to ladder, optional
        `Tree`, `Prefixes`, `Intervals` or `Steps`, a hierarchy, or the path of a file of steps. By default the
        hierarchy of the schema; else a key stays or is given up.
    suppression : float
        Share of the records that may be suppressed, such as 0.01.
    suppressed : {'remove', 'blank'}
        Suppressed records are not released, or released without their keys.
    loss : {'height', 'precision', 'loss-metric', 'entropy', 'discernibility', 'class-size'}
        What is minimised; see `generalisation.losses.Loss`.
    constraints : sequence of Diversity or Closeness, optional
        What classes must satisfy beside their size.
    levels : mapping of str to int, optional
        Instead of a search: the level of every key (others stay at 0). Then k may be 1.

    Notes
    -----
    Among the facts, 'k-minimal' says whether no key could stay one level lower by itself: the file is not generalised
    more than k and the constraints need. The best node of a loss that does not grow with every level (entropy,
    discernibility, class size) may be another one.

    Raises
    ------
    InfeasibleError
        If even the highest levels do not do.

    Examples
    --------
    Ciriani et al., Fig. 6: one step on the ZIP code.

    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"zip": ["94138", "94139", "94141", "94142"], "sex": ["f", "f", "m", "m"]})
    >>> step = md.Generalisation(k=2, ladders={"zip": md.Prefixes((1, 2))}, loss="precision")
    >>> masked = md.mask(frame, md.Schema(keys=["zip", "sex"]), step, seed=1)
    >>> masked.frame["zip"].tolist(), masked.frame["sex"].tolist()
    (['9413*', '9413*', '9414*', '9414*'], ['f', 'f', 'm', 'm'])
    """

    name: ClassVar[str] = "generalisation"
    family: ClassVar[str] = "non-perturbative"
    claim_kinds: ClassVar[tuple[str, ...]] = ("k-anonymity", "diversity", "closeness", "function-of")
    source: ClassVar[str] = "Ciriani et al. 2007, section 4.1; Samarati 2001"

    k: int = 2
    keys: Sequence[str] | str | None = None
    ladders: Mapping[str, Any] = field(default_factory=dict)
    suppression: float = 0.0
    suppressed: Literal["remove", "blank"] = "remove"
    loss: str = "precision"
    constraints: Sequence[Constraint] | Constraint = ()
    levels: Mapping[str, int] | None = None

    @classmethod
    def located(cls, parameters: Mapping[str, Any], base: Path) -> dict[str, Any]:
        """Return parameters with the paths of ladders relative to a folder."""
        ladders = parameters.get("ladders")
        if not isinstance(ladders, Mapping):
            return dict(parameters)
        return {**parameters, "ladders": {key: located_ladder(one, base) for key, one in ladders.items()}}

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        super().check_parameters(problems)
        need_number(self, "suppression", problems, least=0, below=1)
        need_choice(self, "suppressed", problems, ("remove", "blank"))
        need_choice(self, "loss", problems, LOSSES)
        made: dict[str, Ladder] = {}
        for key, given in self.ladders.items() if isinstance(self.ladders, Mapping) else ():
            try:
                made[key] = as_ladder(given)
            except InputError as error:
                problems.found += [f"{self.name}: ladder of '{key}': {what}" for what in error.problems]
        if not isinstance(self.ladders, Mapping):
            problems.add(f"{self.name}: ladders must map keys to ladders, not {self.ladders!r}")
        object.__setattr__(self, "ladders", made)
        for key, level in (self.levels or {}).items():
            if isinstance(level, bool) or not isinstance(level, int) or level < 0:
                problems.add(f"{self.name}: the level of '{key}' must be a whole number of at least 0, not {level!r}")

    def check(self, records: Records, problems: Problems) -> None:
        """Note what the records do not allow."""
        super().check(records, problems)
        keys = self._keys(records)
        if not keys:
            return
        for key in [*self.ladders, *(self.levels or {})]:
            if key not in keys:
                problems.add(f"'{key}' is none of the keys{did_you_mean(key, keys)}")
        rungs = self._rungs(records, problems)
        if len(rungs) < len(keys):
            return
        for key, level in (self.levels or {}).items():
            if key in keys and level > rungs[keys.index(key)].height:
                problems.add(f"the ladder of '{key}' has levels 0 to {rungs[keys.index(key)].height}, not {level}")
        nodes = prod(one.height + 1 for one in rungs)
        if nodes > MOST_NODES and self.levels is None:
            problems.add(
                f"the lattice has {nodes:,} nodes, more than {MOST_NODES:,}; take fewer keys or shorter ladders"
            )

    def _rungs(self, records: Records, problems: Problems) -> list[Rungs]:
        found = []
        for key in self._keys(records):
            values = records.categories(key).values
            tree = records.schema.hierarchies.get(key)
            ladder = self.ladders.get(key) or (
                Tree(tree) if tree is not None else Steps({str(v): ("*",) for v in values})
            )
            try:
                found.append(ladder.rungs(values, key))
            except InputError as error:
                problems.found += error.problems
        return found

    def apply(self, call: MethodCall) -> Masking:
        """Search the lattice, generalise and suppress."""
        records = call.records
        keys, strata = self._keys(records), self._strata(records)
        problems = Problems()
        rungs = self._rungs(records, problems)
        problems.raise_if_any()
        judge = Judge(records, self.k, self._constraints())
        columns = [np.where((c := records.categories(key)).index < 0, len(c.values), c.index) for key in keys]
        within = records.groups(strata)[0] if strata else np.zeros(len(records), dtype=np.int64)
        codes = np.column_stack([*columns, within, *judge.values])
        whole = KeyCodes(
            ("",) * codes.shape[1], tuple(tuple(range(int(c.max()) + 1)) for c in codes.T), codes
        ).patterns()
        loss = make_loss(self.loss, rungs, whole.codes[:, : len(keys)], whole.counts, self.k)
        budget = int(np.floor(self.suppression * len(records) + 1e-9))
        lattice = Lattice(
            rungs, whole.codes, whole.counts, 1, judge, loss, budget, leave_out=self.suppressed == "remove"
        )
        found = self._node(lattice, keys)
        bad = self._bad(rungs, columns, within, judge, found.node)
        if int(bad.sum()) != found.suppressed:
            raise SolverError("the search counted other classes than there are; nothing was made of its answer")
        facts: dict[str, Any] = {
            "levels": dict(zip(keys, found.node, strict=True)), "loss": found.loss,
            "suppressed records": int(bad.sum()),
            "budget": budget, "nodes": found.nodes, "nodes looked at": found.looked_at,
            "status": "given" if self.levels is not None else "optimal", "k-minimal": lattice.minimal(found.node),
        }  # fmt: skip
        return self._release(records, keys, strata, rungs, columns, found.node, bad, facts)

    def _node(self, lattice: Lattice, keys: tuple[str, ...]) -> Found:
        """Return the node to take."""
        if self.levels is None:
            found = lattice.search()
            if found is None:
                raise InfeasibleError(
                    f"{self.name}: no generalisation reaches k = {self.k} and the constraints with "
                    f"{lattice.budget} records suppressed; allow more suppression"
                )
            return found
        node = tuple(int(self.levels.get(key, 0)) for key in keys)
        sizes, labels, counts = lattice.classes(node)
        bad = lattice.judge.bad(sizes, counts, leave_out=lattice.leave_out)
        if sizes[bad].sum() > lattice.budget:
            raise InfeasibleError(
                f"{self.name}: at these levels {int(sizes[bad].sum())} records are in classes that are too small or "
                f"not diverse; {lattice.budget} may be suppressed"
            )
        value = lattice.loss.value(node, sizes, labels, bad)
        return Found(node, value, int(sizes[bad].sum()), lattice.state.size, 1)

    def _bad(
        self, rungs: list[Rungs], columns: list[Ints], within: Ints, judge: Judge, node: tuple[int, ...]
    ) -> npt.NDArray[np.bool_]:
        """Return which records are to be suppressed, counted anew from the records."""
        labels = [r.index[level][c] for r, level, c in zip(rungs, node, columns, strict=True)]
        table = np.column_stack([*labels, within])
        classes = KeyCodes(
            ("",) * table.shape[1], tuple(tuple(range(int(c.max()) + 1)) for c in table.T), table
        ).patterns()
        n = len(classes.counts)
        counts = [value_counts(classes.index, v, n, size) for v, size in zip(judge.values, judge.sizes, strict=True)]
        bad = judge.bad(classes.counts.astype(np.float64), counts, leave_out=self.suppressed == "remove")
        return np.asarray(bad[classes.index])

    def _release(
        self, records: Records, keys: tuple[str, ...], strata: tuple[str, ...], rungs: list[Rungs],
        columns: list[Ints], node: tuple[int, ...], bad: npt.NDArray[np.bool_], facts: dict[str, Any],
    ) -> Masking:  # fmt: skip
        released = records
        for key, ladder, level, column in zip(keys, rungs, node, columns, strict=True):
            if level:
                labels = [label for label in ladder.labels[level] if label is not None]
                index = ladder.index[level][column]
                ordered = records.scale(key) in ORDINAL and len(labels) > 1
                released = relabelled(released, key, labels, np.where(index < len(labels), index, -1), ordered=ordered)
        rows = None
        if bad.any() and self.suppressed == "remove":
            rows = np.flatnonzero(~bad)
            released = released.take(rows)
        elif bad.any():
            for key in keys:
                found = released.categories(key)
                released = released.with_categories(key, Categories(found.values, np.where(bad, -1, found.index)))
        silent = bool(bad.any()) and self.suppressed == "blank"
        if bad.all():
            raise InfeasibleError(f"{self.name}: every record would be suppressed")
        classes = (*keys, *strata)
        text = f"at least {self.k} records share every combination of {', '.join(classes)}"
        missing = "stated" if silent else "own"
        given = {"keys": list(keys), "strata": list(strata), "k": self.k, "missing": missing}
        claims = [Claim("k-anonymity", classes, text + ("; records without keys fit all" if silent else ""), given)]
        claims += [one.claim(classes, records, keys if silent else ()) for one in self._constraints()]
        for key in keys:
            text = f"equal values of '{key}' have equal labels"
            claims.append(Claim("function-of", (key,), text, {"column": key, "blanks": silent}, (key,)))
        return Masking(released, facts, tuple(claims), rows)
