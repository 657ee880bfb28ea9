"""Drawn problems against a slow tabulation, and whether all of their primaries can be protected."""

from __future__ import annotations

from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np
import pytest

from tabprotect.attack.audit import audit
from tabprotect.errors import InputError
from tabprotect.instances.families import family, microdata
from tabprotect.instances.margins import DRAWN, margins, thin
from tabprotect.instances.streams import Stream
from tabprotect.problem import Problem, Status
from tests.instances.test_families import fingerprint

CASES: list[tuple[str, dict[str, Any]]] = [
    ("margins", {"d": 5, "k": 2, "categories": 3, "records": 200}),
    ("margins", {"d": 6, "k": 3, "categories": (4, 3, 2, 2, 2, 2), "records": 60, "tables": 3}),
    ("margins", {"d": 12, "k": 2, "categories": 2, "records": 100}),
    ("thin", {"sizes": (4, 4, 4)}),
    ("thin", {"sizes": (6, 2, 2, 2), "filled": 0.5, "weights": "unit"}),
]


@pytest.mark.parametrize(("name", "size"), CASES)
def test_every_sum_over_a_dimension_is_an_equation_once_and_holds(name: str, size: dict[str, Any]) -> None:
    problem = family(name, seed=4, **size)
    values = dict(zip(problem.system.cells, problem.values.tolist(), strict=True))
    expected = set()
    for code in values:
        for j in (j for j, part in enumerate(code) if part == "Total"):
            parts = frozenset(c for c in values if c[j] != "Total" and (*c[:j], "Total", *c[j + 1 :]) == code)
            if parts:
                assert sum(values[part] for part in parts) == values[code]
                expected.add((code, parts))
    A, cells = problem.system.A, list(problem.system.cells)
    stated = []
    for a, b in zip(A.indptr, A.indptr[1:], strict=False):
        totals = [cells[i] for i, sign in zip(A.indices[a:b], A.data[a:b], strict=True) if sign == -1]
        parts = [cells[i] for i, sign in zip(A.indices[a:b], A.data[a:b], strict=True) if sign == 1]
        assert len(totals) == 1
        stated.append((totals[0], frozenset(parts)))
    assert len(stated) == len(expected)
    assert set(stated) == expected


@pytest.mark.parametrize(("name", "size"), CASES)
def test_all_primaries_can_be_protected(name: str, size: dict[str, Any]) -> None:
    problem = family(name, seed=4, **size)
    assert audit(problem, problem.may_hide, intervals=False).safe
    assert not audit(problem, problem.must_hide, intervals=False).safe


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_same_seed_same_problem_and_another_seed_another(name: str) -> None:
    prints = [fingerprint(family(name, seed=seed)) for seed in (2, 2, *range(3, 7))]
    assert prints[0] == prints[1]
    assert len(set(prints)) == 5


def test_problems_stay_what_they_were() -> None:
    """Benchmark results are comparable over years only while these numbers stand."""
    assert fingerprint(family("margins", seed=1)) == 1445531872
    assert fingerprint(family("thin", seed=1)) == 3618435609


@pytest.mark.parametrize("d", range(5, 13))
def test_full_margins_have_as_many_cells_as_they_must(d: int) -> None:
    problem = margins(Stream(d), d=d, k=2, categories=2, records=400)
    assert problem.n_cells == 1 + 2 * d + 4 * comb(d, 2)
    assert problem.system.n_equations == d + 2 * d * (d - 1)


def test_a_thin_table_has_all_its_cells() -> None:
    problem = thin(Stream(1), sizes=(8, 8, 8))
    assert problem.n_cells == 9**3
    assert problem.system.n_equations == 3 * 81
    assert set(problem.system.cells) == set(product(*(["Total", *(f"{c}{i + 1}" for i in range(8))] for c in "abc")))


def test_chosen_margins_are_those_whose_cells_are_there() -> None:
    problem = margins(Stream(3), d=5, k=3, categories=2, records=300, tables=2)
    sets = {frozenset(j for j, part in enumerate(code) if part != "Total") for code in problem.system.cells}
    most = [part for part in sets if len(part) == 3]
    assert len(most) == 2
    assert sets == {frozenset(p) for m in most for size in range(4) for p in combinations(sorted(m), size)}


@pytest.mark.parametrize(("largest", "share"), [(1.0, 0.1), (0.3, 0.1), (0.2, 0.05)])
def test_share_size_and_levels_of_primaries(largest: float, share: float) -> None:
    problem: Problem = thin(Stream(5), primaries=share, largest=largest)
    chosen = problem.primaries
    assert len(chosen) == round(share * problem.n_cells)
    rank = np.argsort(np.argsort(problem.values[1:])) / (problem.n_cells - 1)
    assert rank[chosen - 1].max() < largest + 0.01
    assert rank[chosen - 1].max() > 0.8 * largest
    percent = problem.upl[chosen] / problem.values[chosen]
    assert ((np.abs(percent - 0.05) < 0.01) | (np.abs(percent - 0.1) < 0.01) | (problem.upl[chosen] == 1)).all()
    assert 0.3 < (percent > 0.075).mean() < 0.7
    assert (problem.lpl == problem.upl).all()
    assert set(problem.status.tolist()) == {Status.SAFE, Status.PRIMARY}


def test_weights() -> None:
    by = {name: thin(Stream(5), sizes=(3, 3), weights=name) for name in ("value", "log", "unit")}
    values = by["value"].values
    assert by["value"].weights.tolist() == values.tolist()
    assert by["log"].weights == pytest.approx(np.log(1 + values))
    assert set(by["unit"].weights.tolist()) == {1.0}


def test_all_that_is_wrong_is_named_at_once() -> None:
    with pytest.raises(InputError, match=r"(?s)not k=6.*records must be at least 1"):
        family("margins", d=5, k=6, records=0)
    with pytest.raises(InputError, match="there are 10 margins with k=3 of d=5 dimensions, not tables=11"):
        family("margins", tables=11)
    with pytest.raises(InputError, match=r"(?s)no weights 'values'; did you mean 'value'.*'primaries' must lie"):
        family("thin", weights="values", primaries=0)
    with pytest.raises(InputError, match="at least 2 categories, not 1"):
        family("thin", sizes=(3, 1))
    with pytest.raises(InputError, match="filled=0"):
        family("thin", filled=0)
    with pytest.raises(InputError, match="did you mean 'margins'"):
        family("margin")
    with pytest.raises(InputError, match="drawn without records"):
        microdata("thin")
