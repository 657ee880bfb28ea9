"""Many methods on the same file: the R-U confidentiality map (Duncan, Keller-McNulty and Stokes 2001)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from tabprotect.errors import InputError, collect
from tabprotect.formats.folder import write_release
from tabprotect.kinds import of_kinds
from tabprotect.microdata.choosing.map import map_page
from tabprotect.microdata.choosing.score import Score, score
from tabprotect.microdata.mask import mask
from tabprotect.microdata.method import Method, make_method
from tabprotect.microdata.records import read_records
from tabprotect.microdata.schema import Schema, require
from tabprotect.seeds import secret_seed

__all__ = ["Candidate", "Comparison", "compare_masks", "expand_grid"]

MINIMAL = "k-minimal"
"""A step whose facts have this word, and truth for it, is marked on the map as a k-minimal generalisation."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """One chain of methods and what it gave; confidential.

    Attributes
    ----------
    name : str
    score : Score or None
        None if it could not be carried out.
    why : str
        Why not.
    minimal : bool
        Whether a step is a k-minimal generalisation.
    notes : tuple of str
    """

    name: str
    score: Score | None
    why: str = ""
    minimal: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Comparison:
    """The candidates, in the order given; confidential.

    Attributes
    ----------
    candidates : tuple of Candidate
    seed : int
    """

    candidates: tuple[Candidate, ...]
    seed: int

    @cached_property
    def front(self) -> tuple[Candidate, ...]:
        """The Pareto front: candidates such that no other has less loss and no more risk, or the reverse."""
        found: list[Candidate] = []
        best = float("inf")
        done = [c for c in self.candidates if c.score is not None]
        for one in sorted(done, key=lambda c: (c.score.loss, c.score.risk) if c.score else (0.0, 0.0)):
            assert one.score is not None
            same = found and found[-1].score is not None and (found[-1].score.loss, best) == (
                one.score.loss, one.score.risk
            )  # fmt: skip
            if one.score.risk < best or same:
                found.append(one)
                best = one.score.risk
        return tuple(found)

    @property
    def recommended(self) -> Candidate:
        """The candidate of the lowest score; the first of several."""
        done = [c for c in self.candidates if c.score is not None]
        return min(done, key=lambda c: c.score.value if c.score else 0.0)

    def reasons(self) -> tuple[str, ...]:
        """Return why it is recommended, and what speaks for others, in sentences."""
        best = self.recommended
        assert best.score is not None
        done = sorted(
            (c for c in self.candidates if c.score is not None), key=lambda c: c.score.value if c.score else 0
        )
        first = (
            f"{best.name} has the lowest average of information loss ({best.score.loss:.3f}) and risk "
            f"({best.score.risk:.3f}) of {len(done)} candidates: {best.score.value:.3f}; lower is better."
        )
        found = [first]
        if len(done) > 1 and done[1].score is not None:
            found.append(f"The next one is {done[1].name} with {done[1].score.value:.3f}.")
        safer = [c for c in self.front if c.score and c.score.risk < best.score.risk]
        closer = [c for c in self.front if c.score and c.score.loss < best.score.loss]
        if safer:
            one = max(safer, key=lambda c: c.score.risk if c.score else 0)
            assert one.score is not None
            found.append(f"If risk {best.score.risk:.3f} is too high: {one.name} has {one.score.risk:.3f}, "
                         f"with loss {one.score.loss:.3f}.")  # fmt: skip
        if closer:
            one = max(closer, key=lambda c: c.score.loss if c.score else 0)
            assert one.score is not None
            found.append(f"If loss {best.score.loss:.3f} is too high: {one.name} has {one.score.loss:.3f}, "
                         f"with risk {one.score.risk:.3f}.")  # fmt: skip
        found += [
            f"{c.name} is k-minimal: with any key less generalised, classes are too small. Its loss is "
            f"{c.score.loss:.3f}, its risk {c.score.risk:.3f}."
            for c in self.candidates
            if c.minimal and c.score
        ]
        notes: dict[str, list[str]] = {}
        for c in self.candidates:
            for note in c.score.notes if c.score else ():
                notes.setdefault(note, []).append(c.name)
        found += [f"Of {', '.join(names)}: {note}." for note, names in notes.items()]
        return tuple(found)

    def table(self) -> list[dict[str, Any]]:
        """Return a row for every candidate; measures, whether on the front, recommended and k-minimal."""
        rows = []
        for one in self.candidates:
            row: dict[str, Any] = {"candidate": one.name}
            for key in ("score", "loss", "risk"):
                row[key] = None if one.score is None else one.score.to_dict()[key]
            row |= {"front": one in self.front, "recommended": one is self.recommended, "k-minimal": one.minimal}
            row |= {"not possible": one.why, "notes": "; ".join(one.score.notes) if one.score else ""}
            if one.score is not None:
                row |= {m.name: m.value for m in (*one.score.losses, *one.score.risks)}
            rows.append(row)
        return rows

    def summary(self) -> str:
        """Return the candidates by score, and the reasons."""
        done = sorted((c for c in self.candidates if c.score), key=lambda c: c.score.value if c.score else 0)
        lines = [
            f"{c.score.value:.4f}  loss {c.score.loss:.4f}  risk {c.score.risk:.4f}  "
            f"{'*' if c in self.front else ' '} {c.name}"
            for c in done
            if c.score
        ]
        lines += [f"not possible: {c.name}: {c.why}" for c in self.candidates if c.score is None]
        return "\n".join(["score (lower is better), * on the Pareto front", *lines, *self.reasons()])

    def html(self) -> str:
        """Return the map as a page of its own that loads nothing."""
        return map_page(self.table(), self.reasons())

    def write(self, folder: str | Path) -> Path:
        """Write table and map into ``internal/``; ``publish/`` stays empty, for none of it may be published.

        Raises
        ------
        InputError
            If the folder holds anything else, or cannot be written.
        """
        rows = self.table()
        names = list(dict.fromkeys(key for row in rows for key in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        document = {"candidates": rows, "seed": self.seed, "reasons": list(self.reasons())}
        files: dict[str, Any] = {
            "comparison.csv": text.getvalue().encode(),
            "comparison.json": (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode(),
            "map.html": self.html().encode(),
        }
        write_release(folder, {}, files, {"kind": "comparison of masks"})
        return Path(folder)


@of_kinds("schema", "decimal", "linkage")
def compare_masks(
    data: Any,
    schema: Schema | None,
    candidates: Mapping[str, Sequence[Method] | Method],
    *,
    seed: int | None = None,
    workers: int = 1,
    decimal: str | None = None,
    linkage: bool = False,
) -> Comparison:
    """Mask a file with every candidate and score what comes out.

    Parameters
    ----------
    data : frame of any kind, or path
    schema : Schema
    candidates : mapping of str to Method or sequence of Method
    seed : int, optional
        Every candidate is masked with it; the answer does not depend on `workers`.
    workers : int
        Threads.
    decimal : str, optional
        Decimal sign of numbers in a CSV file.
    linkage : bool
        Whether record linkage is among the risks of the score, see `score`.

    Raises
    ------
    InputError
        If the data or schema are wrong, or no candidate can be carried out. One that cannot is kept, with the reason.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"age": np.arange(20, 60), "income": np.arange(40.0) ** 2})
    >>> schema = md.Schema(keys=["age"], confidential=["income"])
    >>> grid = {f"noise {a}": md.Noise(["age", "income"], alpha=a) for a in (0.01, 0.5)}
    >>> found = md.choosing.compare_masks(people, schema, grid, seed=1)
    >>> len(found.front), found.recommended in found.front
    (2, True)
    """
    schema = require(schema)
    if not isinstance(workers, int) or workers < 1:
        raise InputError(f"workers must be a whole number of at least 1, not {workers!r}")
    if not isinstance(candidates, Mapping) or not candidates:
        raise InputError("candidates must map names to methods; there is none")
    number = secret_seed(seed)
    records = read_records(data, schema, decimal=decimal)

    def one(item: tuple[str, Sequence[Method] | Method]) -> Candidate:
        name, chain = item
        try:
            masked = mask(records, schema, chain, seed=number)
            minimal = any(bool(step.facts.get(MINIMAL)) for step in masked.steps)
            return Candidate(name, score(records, masked, schema, linkage=linkage), "", minimal, masked.notes)
        except InputError as error:
            return Candidate(name, None, str(error))

    with ThreadPoolExecutor(workers) as pool:
        done = tuple(pool.map(one, candidates.items()))
    if all(c.score is None for c in done):
        raise InputError(*(f"{c.name}: {c.why}" for c in done))
    return Comparison(done, number)


@of_kinds()
def expand_grid(given: Mapping[str, Any]) -> dict[str, Method]:
    """Return a method for every combination of the parameters of a grid.

    ``{"method": name, ..., "grid": {parameter: [values]}}``, as a ``[[candidates]]`` table of a specification.

    Examples
    --------
    >>> import tabprotect.microdata as md
    >>> list(expand_grid({"method": "top-coding", "columns": ["x"], "grid": {"quantile": [0.9, 0.99]}}))
    ["top-coding(columns=['x'], quantile=0.9)", "top-coding(columns=['x'], quantile=0.99)"]
    """
    grid = given.get("grid", {})
    if not isinstance(given.get("method"), str):
        raise InputError("name the method, such as method = 'noise'")
    with collect() as problems:
        if not isinstance(grid, Mapping):
            problems.add("grid must be a table of parameters and lists of values")
        else:
            for key, values in grid.items():
                if not isinstance(values, list) or not values:
                    problems.add(f"grid: {key} must be a list of values, not {values!r}")
                if key in given:
                    problems.add(f"'{key}' is given beside the grid and in it")
    fixed = {key: value for key, value in given.items() if key not in ("method", "grid")}
    made = [
        make_method(given["method"], {**fixed, **dict(zip(grid, values, strict=True))})
        for values in product(*grid.values())
    ]
    return {str(one): one for one in made}
