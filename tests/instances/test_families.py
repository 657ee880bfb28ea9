"""The families against a slow tabulation by pandas, and against themselves over time."""

from __future__ import annotations

import zlib

import numpy as np
import pandas as pd
import pytest

from tabprotect.errors import InputError
from tabprotect.instances.families import FAMILIES, family, microdata
from tabprotect.instances.microdata import Microdata
from tabprotect.instances.streams import Stream
from tabprotect.problem import Problem, Status
from tabprotect.table.hierarchy import Hierarchy


def fingerprint(problem: Problem) -> int:
    parts = (problem.values, problem.status, problem.upl, problem.weights, problem.system.A.indices)
    return zlib.crc32(b"".join(np.ascontiguousarray(part).astype("<f8").tobytes() for part in parts))


def under(hierarchy: Hierarchy, code: str) -> set[str]:
    """All codes at or below one, by walking down."""
    found = {code}
    for parent, parts in hierarchy.splits * len(hierarchy.codes):
        if parent in found:
            found |= set(parts)
        if len(found) == len(hierarchy.codes):
            break
    return found


def records(data: Microdata, codes: tuple[str, ...]) -> pd.DataFrame:
    inside = np.ones(len(data.frame), dtype=bool)
    for (name, hierarchy), code in zip(data.dimensions.items(), codes, strict=True):
        inside &= data.frame[name].isin(under(hierarchy, code)).to_numpy()
    return data.frame[inside]


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_cells_levels_and_statuses_are_those_of_the_records(name: str) -> None:
    problem, data = family(name, seed=5), microdata(name, seed=5)
    percent = 15 if name == "business" else 10
    rng = np.random.default_rng(0)
    some = np.union1d(rng.choice(problem.n_cells, 25, replace=False), problem.primaries[:10])
    for cell in some:
        inside = records(data, problem.system.cells[cell])
        parts = sorted(inside.groupby("holder")["value"].sum(), reverse=True)
        total = sum(parts)
        first, rest = (parts[0] if parts else 0.0), sum(parts[2:])
        level = max(first * percent / 100 - rest, 0.3 * total if 0 < len(parts) < 3 else 0.0)
        assert problem.values[cell] == total
        if not parts:
            assert problem.status[cell] == Status.ZERO
        elif level > 0:
            assert problem.status[cell] == Status.PRIMARY
            assert problem.upl[cell] == pytest.approx(max(level, 1.0))
            assert problem.lpl[cell] == (0 if problem.attackers else problem.upl[cell])
        else:
            assert problem.status[cell] == Status.SAFE
    assert np.abs(problem.system.residuals(problem.values)).max() == 0


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_same_seed_same_problem_and_another_seed_another(name: str) -> None:
    assert fingerprint(family(name, seed=2)) == fingerprint(family(name, seed=2))
    assert fingerprint(family(name, seed=2)) != fingerprint(family(name, seed=3))


def test_problems_stay_what_they_were() -> None:
    """Benchmark results are comparable over years only while these numbers stand."""
    assert Stream(0).integers(0, 1000, 6).tolist() == [636, 269, 40, 16, 813, 912]
    assert fingerprint(family("flat3d", seed=1, a=10, b=10, c=10)) == 1588902280
    assert fingerprint(family("hier3d", seed=1)) == 4044612503


def test_sole_contributors_are_attackers_who_know_all_their_cells() -> None:
    problem, data = family("singletons", seed=1), microdata("singletons", seed=1)
    sole: dict[object, set[int]] = {}
    for cell in range(problem.n_cells):
        holders = records(data, problem.system.cells[cell])["holder"].unique()
        if len(holders) == 1:
            sole.setdefault(holders[0], set()).add(cell)
    assert len(sole) > 5
    assert sorted(sorted(a.known) for a in problem.attackers) == sorted(map(sorted, sole.values()))


def test_linked_tables_share_their_margins_and_repeat_no_equation() -> None:
    problem = family("linked", seed=4)
    A = problem.system.A
    rows = {(A.indices[a:b].tobytes(), A.data[a:b].tobytes()) for a, b in zip(A.indptr, A.indptr[1:], strict=False)}
    assert len(rows) == A.shape[0]
    grand = problem.system.cells.get_loc(("Total",) * 4)
    assert sum(grand in A.indices[a:b] for a, b in zip(A.indptr, A.indptr[1:], strict=False)) == 4


def test_twenty_thousand_cells() -> None:
    problem = family("hier3d", seed=1, activity=(6, 4, 3), region=(5, 5), size=5)
    assert problem.n_cells > 20_000
    assert np.abs(problem.system.residuals(problem.values)).max() == 0


def test_unknown_names_get_a_cure() -> None:
    with pytest.raises(InputError, match="did you mean 'flat3d'"):
        family("flat3D")
    with pytest.raises(InputError, match="no size 'row'; did you mean 'rows'"):
        family("flat2d", row=3)
