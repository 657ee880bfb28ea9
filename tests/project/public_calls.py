"""Every public name: a call of it with data that must stay as they are, or why it is given no data."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import tabprotect as tp
from tests.project import public_microdata_calls, public_query_calls
from tests.project.given import Given

__all__ = ["ARRAYS", "FIRMS", "FRAMES", "NO_DATA", "Call", "public_callables", "public_modules"]

Frames = Callable[[pd.DataFrame], Any]
"""What makes a frame of one library from a pandas one."""
Call = Callable[[Given, Frames, Path], object]
"""One call: what it gives is noted; the frames are of one library; files go into a folder."""

FIRMS = pd.DataFrame(
    {
        "region": list("nnnnnsssss"),
        "size": list("bbssbbsssb"),
        "firm": list("abcdefghij"),
        "turnover": [90.0, 5.0, 4.0, 40.0, 50.0, 20.0, 30.0, 60.0, 10.0, 20.0],
        "staff": [9, 1, 2, 3, 5, 2, 3, 7, 1, 2],
    }
)
CELLS = pd.DataFrame({"region": ["n", "s", "Total"], "turnover": [90.0, 20.0, 110.0], "count": [9, 4, 13]})
HOW: dict[str, Any] = {"by": ["region", "size"], "value": "turnover", "contributor": "firm"}


def public_modules() -> tuple[str, ...]:
    """Return the public packages: the root, those that it names, and what these hold in packages of their own."""
    found = ["tabprotect"]
    for name in tp._PACKAGES:
        package = importlib.import_module(f"tabprotect.{name}")
        found.append(package.__name__)
        for child in pkgutil.iter_modules(package.__path__):
            whole = f"{package.__name__}.{child.name}"
            # the models are modules, each with functions of its own
            if name == "models" or (child.ispkg and hasattr(importlib.import_module(whole), "__all__")):
                found.append(whole)
    return tuple(found)


def public_callables() -> Iterator[str]:
    """Return what can be called, once each, by the first public place that has it."""
    seen: list[Any] = []
    for module in public_modules():
        package = importlib.import_module(module)
        for name in getattr(package, "__all__", ()):
            thing = getattr(package, name)
            if callable(thing) and not inspect.ismodule(thing) and not any(thing is one for one in seen):
                seen.append(thing)
                yield f"{module}.{name}"


def numbers() -> dict[str, Any]:
    """Return arrays of a small problem; a caller can write into them."""
    return {
        "A": np.array([[-1.0, 1.0, 1.0, 1.0, 0.0], [-1.0, 0.0, 0.0, 0.0, 1.0]]),
        "values": np.array([20.0, 9.0, 6.0, 5.0, 20.0]),
        "primary": np.array([1]),
        "lpl": np.array([0.0, 2.0, 0.0, 0.0, 0.0]),
        "upl": np.array([0.0, 2.0, 0.0, 0.0, 0.0]),
        "weights": np.array([20.0, 9.0, 6.0, 5.0, 20.0]),
        "lower": np.zeros(5),
        "upper": np.full(5, 100.0),
        "b": np.zeros(2),
    }


def problem(**changed: Any) -> tp.Problem:
    return tp.Problem.from_arrays(**{**numbers(), **changed})


def counts() -> tp.Problem:
    """Return a small table of counts."""
    return tp.Problem.from_arrays([[-1, 1, 1, 1]], [7, 1, 2, 4], primary=[1], lpl=1, upl=1, integer=True)


PATTERN = np.array([False, True, True, True, False])


def table(frame: Any = FIRMS) -> tp.Table:
    return tp.tabulate(frame, **HOW)


def _previous(given: Given, frames: Frames, folder: Path) -> None:
    made = table()
    tp.protect(made, "p%=15", previous=given(tp.Previous(given(made.values < 60))))


def _problem(given: Given, frames: Frames, folder: Path) -> None:
    made = tp.Problem.from_arrays(**{key: given(one) for key, one in numbers().items()})
    given(made)
    tp.Problem(*(given(getattr(made, name)) for name in list(made.__dataclass_fields__)[:9]))
    tp.suppress(made)


def _system(given: Given, frames: Frames, folder: Path) -> None:
    A = sparse.csr_array(numbers()["A"])
    tp.LinearSystem(given(A), given(np.zeros(2)), given(pd.Index(list("tabcd"))))
    # entries out of order and stored twice are set in order, but not in what was given
    untidy = sparse.csr_array((np.array([1.0, -1.0, 0.5, 0.5]), np.array([2, 0, 1, 1]), np.array([0, 4])), shape=(1, 3))
    tp.LinearSystem(given(untidy), given(np.zeros(1)), pd.RangeIndex(3))
    tp.LinearSystem.from_equations(given([("t", ["a", "b"]), {"a": -1.0, "c": 1.0, "d": 1.0}]))
    tp.LinearSystem.from_hierarchies(given([tp.Hierarchy.flat(["a", "b"]), tp.Hierarchy.flat(["x", "y"])]))


def _table(given: Given, frames: Frames, folder: Path) -> None:
    tp.Table.from_cells(given(frames(CELLS.copy())), given(["region"]), "turnover", count="count")
    crosstab = pd.DataFrame({"region": ["n", "s"], "b": [1.0, 2.0], "s": [3.0, 4.0]})
    tp.Table.from_crosstab(given(frames(crosstab)), "turnover", rows="region", columns="size")


def _hierarchy(given: Given, frames: Frames, folder: Path) -> None:
    pairs = pd.DataFrame({"parent": ["all", "all", "n"], "child": ["n", "s", "n1"]})
    tp.Hierarchy.from_pairs(given(frames(pairs)))
    tp.Hierarchy.from_columns(given(frames(FIRMS.copy())), given(["region", "firm"]))
    tp.Hierarchy.from_prefixes(given(["11", "12", "21"]), given([1, 2]))
    tp.Hierarchy.merge(given(tp.Hierarchy.flat(["a", "b", "c"])), given(tp.Hierarchy.flat(["a", "b", "c"])))


def _tabulate(given: Given, frames: Frames, folder: Path) -> None:
    by, trees = given(["region", "size"]), given({"region": tp.Hierarchy.flat(["n", "s"])})
    tp.tabulate(given(frames(FIRMS.copy())), by, "turnover", contributor="firm", hierarchies=trees)
    tp.tabulate(given(frames(FIRMS.copy())), given({"region": tp.Hierarchy.flat(["n", "s"])}))


def _protect_with(method: Any, **options: Any) -> Call:
    """Return a call of `protect` with a method that has parameters of its own."""

    def call(given: Given, frames: Frames, folder: Path) -> None:
        frame = given(frames(FIRMS.copy()))
        release = tp.protect(frame, given(["p%=15"]), given(method()), seed=1, **{**HOW, **options})
        release.write(folder / "release")

    return call


def _count_with(method: Any) -> Call:
    def call(given: Given, frames: Frames, folder: Path) -> None:
        options = {"by": given(["region", "size"])}
        tp.protect(given(frames(FIRMS.copy())), "threshold=3", given(method()), seed=1, allow_unsafe=True, **options)

    return call


def _protect(given: Given, frames: Frames, folder: Path) -> None:
    how = {**HOW, "by": given(["region", "size"]), "hierarchies": given({"region": tp.Hierarchy.flat(["n", "s"])})}
    release = tp.protect(
        given(frames(FIRMS.copy())), given(["p%=15", "nk=2,85"]), attackers=given({"x": ["n x b"]}), **how
    )
    given(release.table), given(release.problem), given(release.pattern)
    release.write(folder / "release")
    tp.audit(release.problem, release.pattern)
    tp.protect(given(table()), "p%=15")


def _compare(given: Given, frames: Frames, folder: Path) -> None:
    tp.compare(given(problem()), given(["suppress", "round"]), limits=5.0)


def _adjust(given: Given, frames: Frames, folder: Path) -> None:
    tp.adjust(given(problem()), senses=given(np.array([1])), weights=given(np.ones(5)), fixed=given(np.array([0])))


def _link(given: Given, frames: Frames, folder: Path) -> None:
    one, other = tp.tabulate(FIRMS, ["region"], "turnover"), tp.tabulate(FIRMS, ["size"], "turnover")
    tp.link(given({"a": one, "b": other}))
    tp.find_clusters(given({"a": one, "b": other}))


def _linked(given: Given, frames: Frames, folder: Path) -> None:
    tp.suppress_linked(given(problem()), given({"a": np.arange(4), "b": np.array([1, 4])}))


def _unions(given: Given, frames: Frames, folder: Path) -> None:
    made = given(table())
    hidden = tp.protect(made, "p%=15", unions="off", allow_unsafe=True).pattern
    tp.union_exposures(made, given(["p%=15"]), given(hidden))
    sum_ = tp.UnionExposure((1, 2), 15.0, ("p%=10",), 5.0, 5.0, 0.0, True, "sensitive")
    tp.protect_unions(given(problem()), given([sum_]))


def _assess(given: Given, frames: Frames, folder: Path) -> None:
    made = given(table())
    assessed = given(tp.assess(made, given(["p%=15"])))
    tp.make_problem(made, assessed, cost=given(np.ones(made.n_cells)))
    tp.make_problem(made, given(["p%=15"]))


def _certify(given: Given, frames: Frames, folder: Path) -> None:
    stated = given(problem())
    certificate = tp.certify(stated, given(PATTERN.copy()))
    document = given(dict(certificate.document))
    assert tp.verify(document).verdict == "safe"
    tp.verify(given(tp.certify(stated, PATTERN)), against=stated)


def _audit(given: Given, frames: Frames, folder: Path) -> None:
    stated = given(problem(attackers=[tp.Attacker("x", (2,))]))
    tp.audit(stated, given(PATTERN.copy()))
    tp.audit(stated, given([1, 2, 3]))


def _suppress(given: Given, frames: Frames, folder: Path) -> None:
    stated, start = given(problem()), given(PATTERN.copy())
    for method in ("auto", "exact", "greedy"):
        tp.suppress(stated, method=method, start=start)


def _files(given: Given, frames: Frames, folder: Path) -> None:
    stated = given(problem())
    tp.write_jj(stated, folder / "x.jj")
    before = (folder / "x.jj").read_bytes()
    tp.read_instance(folder / "x.jj")
    (folder / "p.json").write_text("[1, 2, 3]")
    tp.read_pattern(folder / "p.json", stated.system)
    assert (folder / "x.jj").read_bytes() == before
    assert (folder / "p.json").read_text() == "[1, 2, 3]"


def _round_with(name: str, **options: Any) -> Call:
    return lambda given, frames, folder: getattr(tp, name)(given(counts()), 3, weights=given(np.ones(4)), **options)


def _successive(given: Given, frames: Frames, folder: Path) -> None:
    firms = FIRMS.assign(year=[1, 2] * 5)
    frame, by = given(frames(firms.copy())), given(["region", "size", "year"])
    tp.protect(frame, "threshold=3", given(tp.SuccessiveRound(base=3)), by=by, seed=1, allow_unsafe=True)
    stated = given(tp.make_problem(tp.tabulate(firms, by), "threshold=3"))
    tp.successive_rounding(stated, 3, weights=given(np.ones(stated.n_cells)))


def _recode() -> Any:
    from tabprotect.methods.recoding import RecodingRules

    return tp.Recode(rules={"size": RecodingRules.parse("all: b, s")})


FRAMES: dict[str, Call] = {
    "tabprotect.Table": _table,
    "tabprotect.Hierarchy": _hierarchy,
    "tabprotect.tabulate": _tabulate,
    "tabprotect.protect": _protect,
    "tabprotect.successive_rounding": _successive,
    "tabprotect.Suppress": _protect_with(lambda: tp.Suppress(cost=np.ones(9))),
    "tabprotect.Recode": _protect_with(_recode),
    "tabprotect.Adjust": _protect_with(tp.Adjust),
    "tabprotect.Round": _protect_with(lambda: tp.Round(base=20)),
    "tabprotect.ConventionalRound": _count_with(lambda: tp.ConventionalRound(base=3)),
    "tabprotect.RandomRound": _count_with(lambda: tp.RandomRound(base=3)),
    "tabprotect.UnbiasedRound": _count_with(lambda: tp.UnbiasedRound(base=3)),
    "tabprotect.SuccessiveRound": _successive,
    "tabprotect.SmallCounts": _count_with(tp.SmallCounts),
    "tabprotect.CellKey": _count_with(tp.CellKey),
    "tabprotect.Swap": _count_with(lambda: tp.Swap(geography=["region"], risk=["size"], similar=[["size"]], k=2)),
    **public_microdata_calls.FRAMES,
    **public_query_calls.FRAMES,
}
"""Public name -> a call that is given frames."""

ARRAYS: dict[str, Call] = {
    "tabprotect.Problem": _problem,
    "tabprotect.Previous": _previous,
    "tabprotect.LinearSystem": _system,
    "tabprotect.compare": _compare,
    "tabprotect.audit": _audit,
    "tabprotect.certify": _certify,
    "tabprotect.verify": _certify,
    "tabprotect.suppress": _suppress,
    "tabprotect.suppress_linked": _linked,
    "tabprotect.adjust": _adjust,
    "tabprotect.link": _link,
    "tabprotect.find_clusters": _link,
    "tabprotect.assess": _assess,
    "tabprotect.make_problem": _assess,
    "tabprotect.union_exposures": _unions,
    "tabprotect.protect_unions": _unions,
    "tabprotect.write_jj": _files,
    "tabprotect.read_instance": _files,
    "tabprotect.read_pattern": _files,
    "tabprotect.round": _round_with("round", protect=True),
    "tabprotect.conventional_rounding": _round_with("conventional_rounding"),
    "tabprotect.random_rounding": _round_with("random_rounding", seed=1),
    "tabprotect.unbiased_rounding": _round_with("unbiased_rounding", seed=1),
    **public_microdata_calls.ARRAYS,
    **public_query_calls.ARRAYS,
}
"""Public name -> a call that is given arrays, problems and tables."""

NO_DATA: dict[str, str] = {**public_microdata_calls.NO_DATA, **public_query_calls.NO_DATA}
"""Public name -> why no call of it is given data."""


def _excused(why: str, module: str, *names: str) -> None:
    NO_DATA.update({f"{module}.{name}": why for name in names})


_excused(
    "a result: made by calls that are tested here",
    "tabprotect",
    "Audit", "Certificate", "BoundProof", "Verification", "Comparison", "AdjustmentResult", "RoundingResult",
    "SuppressionResult", "Unprotectable", "ChangedRelease", "Release", "Assessment", "Contributions", "Cluster",
    "Recognised", "UnionExposure", "Progress",
)  # fmt: skip
_excused("an error", "tabprotect", "InfeasibleError", "InputError", "SolverError", "TabprotectError")
_excused(
    "parameters that cannot be changed: numbers, words and tuples",
    "tabprotect",
    "APriori", "AtHoldings", "BoxCox", "Dominance", "Granularity", "Log", "Manual", "MissingSafe",
    "PPercent", "PQ", "Request", "Threshold",
    "ZeroUnsafe", "Attacker", "Status", "Limits", "File", "Dimension", "parse_rule", "parse_rules", "processes",
)  # fmt: skip
