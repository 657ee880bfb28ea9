"""Confidentiality via camouflage: unlimited answers as intervals over a hull that hides the true vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tabprotect.errors import collect, did_you_mean
from tabprotect.kinds import of_kinds
from tabprotect.query.camouflage.bounds import Bounds, Lattice
from tabprotect.query.camouflage.build import at_random, build, orders_of
from tabprotect.query.camouflage.construction import draw_patterns, draw_weights
from tabprotect.query.camouflage.data import groups_of, read
from tabprotect.query.camouflage.hidden import Camouflage, checked
from tabprotect.query.camouflage.parameters import number_of_vectors, rules_of, steps_of, units_of
from tabprotect.query.camouflage.vectors import Vectors
from tabprotect.seeds import Seed, secret_seed

__all__ = ["camouflage"]


@of_kinds("confidential", "known", "steps", "unit", "workload", "largest_first")
def camouflage(
    frame: Any,
    confidential: str | Sequence[str],
    bounds: Bounds | float | Mapping[str, Bounds | float],
    *,
    k: int | None = None,
    known: int = 0,
    steps: int = 100,
    unit: float | Mapping[str, float] | None = None,
    workload: Sequence[str | Sequence[str]] = ((),),
    largest_first: str | None = None,
    seed: Seed | None = None,
) -> Camouflage:
    """Hide confidential fields in the hull of k protecting vectors (Gopal and Goes 1998; eqs. 1 to 4 of the notebook).

    Other than in the paper, the true vector is none of the vectors but a mean of them with secret weights, drawn from
    all weights with the same density: one of k vectors would be guessed with probability 1/k.

    Parameters
    ----------
    frame : pandas, polars or pyarrow table
        Never changed. Columns that are neither confidential nor bounds are public: known to everybody for every record.
    confidential : str or sequence of str
    bounds : Relative, Absolute, Covering, float, or one of them for every field
        How far every value must stay open; a float is `Relative` (width).
    k : int, optional
        Number of vectors, at least 3 and at least known + 2; 3 by default, or 2 known + 3 if more.
    known : int
        How many confidential values an intruder may know exactly. Nobody who knows fewer than k - 1 has as many
        equations as unknown weights; what remains of the ranges is computed by `Camouflage.ranges_given`.
    steps : int
        Common denominator of the weights, at least 4 k; also the least width of a range, in units. With s steps there
        are (s - 1) over (k - 1) different weights, all equally likely to who has found all vectors.
    unit : float, or float by field, optional
        What values are known to be multiples of, or commonly rounded to; the last decimal that occurs by default. The
        remainder of a value by division by the unit is no secret.
    workload : sequence of str or of sequences of str
        Public columns whose groups will be asked for, such as ``["region", ("region", "size")]``; () is the total.
        Sums over these groups get narrow answers. By default the total.
    largest_first : str, optional
        A public column of sizes: rows are built in descending order of it, which makes answers narrower than the
        random order that is taken otherwise. The true values may not be used for that, as the rows would tell.
    seed : int, Generator or None
        A fresh secret one by default. Whoever knows it knows the weights.

    Returns
    -------
    Camouflage

    Raises
    ------
    InputError
        Columns, bounds or parameters are wrong.

    Examples
    --------
    >>> import pandas as pd
    >>> firms = pd.DataFrame({"size": ["S", "S", "L", "L"], "turnover": [800, 1200, 9000, 11000]})
    >>> hidden = camouflage(firms, "turnover", 0.2, workload=[(), "size"], seed=1)
    >>> answer = hidden.sum("turnover", [("size", "==", "L")])
    >>> 20000 in answer, answer.exact, answer.width < 0.2 * 20000
    (True, True, True)
    """
    fields = [confidential] if isinstance(confidential, str) else list(confidential)
    groupings = tuple((g,) if isinstance(g, str) else tuple(g) for g in workload)
    rules = rules_of(fields, bounds)
    vectors = number_of_vectors(k, known)
    named = [c for g in groupings for c in g] + ([largest_first] if largest_first is not None else [])
    table = read(frame, fields, rules)
    with collect() as problems:
        for name in dict.fromkeys(named):
            if name not in table.public:
                problems.add(f"'{name}' is no public column{did_you_mean(name, table.public)}")
    number = secret_seed(seed)
    units, size = units_of(fields, unit, table), steps_of(steps, vectors)
    parts = draw_weights(vectors, size, np.random.default_rng([number, 0]))
    rng = np.random.default_rng([number, 1, 0])
    groups = groups_of(table, groupings)
    rows = {}
    for name in fields:
        patterns, orders = draw_patterns(table.n, vectors, rng), orders_of(table, rules[name], largest_first, rng)
        lattice, choose = Lattice(units[name], size, vectors), at_random(rng.random(table.n))
        rows[name] = build(name, table, rules[name], lattice, parts, patterns, groups, orders, choose)
    made = Camouflage(
        Vectors(rows),
        table.public,
        table.n,
        rules,
        groupings,
        table=table,
        units=units,
        steps=size,
        parts=parts,
        seed=number,
    )
    return checked(made)
