"""What a user of every part would write."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd

import tabprotect as tp
import tabprotect.microdata as md
from tabprotect import query
from tabprotect.query.camouflage import camouflage


def tables(firms: pd.DataFrame, out: Path) -> float:
    region = tp.Hierarchy.from_prefixes(["11", "12", "21"], digits=[1, 1])
    release = tp.protect(
        firms,
        ["p%=15", "threshold=3"],
        by=["region", "size"],
        value="turnover",
        contributor="firm",
        hierarchies={"region": region},
        limits=tp.Limits(seconds=10),
        seed=1,
    )
    published: pd.DataFrame = release.frame
    release.write(out)
    release.write(str(out), formats=["csv"])
    print(release, release.explain(("11", "b")), len(release.table))
    if isinstance(release, tp.Release):
        found: tp.Audit = tp.audit(release.problem, release.pattern)
        print(found.safe, found.summary(), found.frame.head(), found.interval(("11", "b")))
        hidden: int = int(release.pattern.sum())
        print(hidden, release.result.cost, release.result.bound, release.audit().safe)
    rounded = tp.protect(firms, "threshold=3", tp.Round(base=5), by=["region", "size"])
    exact = tp.protect(firms, "p%=15", "exact", by="region", value="turnover")
    recoded = tp.protect(firms, "p%=15", method="recode", by="region", value="turnover")
    print(exact.pattern.sum(), recoded.pattern.sum(), exact.result.bound)
    changed = tp.protect(firms, "p%=15", "adjust", by="region", value="turnover")
    print(changed.values, changed.loss)
    for name in ("suppress", "round", None):
        tp.protect(firms, "p%=15", name, by="region", value="turnover")
    comparison: tp.Comparison = tp.compare(release.problem, ["suppress", "round"], limits=5)
    costs = comparison.frame["cost"].sum()
    table = tp.tabulate(firms, by={"region": region, "size": None}, value="turnover")
    assessment = tp.assess(table, [tp.PPercent(15), tp.Threshold(3)])
    problem = tp.make_problem(table, assessment, bounds="50%")
    result = tp.suppress(problem, method="exact", limits=5)
    certificate = tp.certify(problem, result.pattern)
    verified: tp.Verification = tp.verify(certificate, against=problem)
    print(verified.verdict, verified.failures, published.shape, rounded.frame.shape)
    with tp.processes(2) as executor:
        tp.audit(problem, result.pattern, executor=executor)
    direct = tp.Problem.from_arrays([[-1, 1, 1]], [3, 1, 2], primary=[1], lpl=1, upl=1)
    linked = tp.link({"a": table, "b": table})
    print(direct.n_cells, linked.n_cells, tp.instances.names(), tp.instances.load("eustat-investment").n_cells)
    adjusted = tp.adjust(problem, senses="up")
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None = adjusted.values
    print(values)
    return float(costs)


def microdata(people: pd.DataFrame, out: Path) -> md.Masked:
    schema = md.Schema(keys=["region", "age"], confidential=["pay"], weight="w")
    masked = md.mask(people, schema, [md.Noise("pay", alpha=0.1), md.LocalSuppression(k=3)], seed=1)
    masked.write(out)
    print(masked.frame.shape, masked.summary(), masked.verify().failures)
    risks = [
        md.risk.k_anonymity(people, masked.frame, schema, k=3),
        md.risk.individual_risk(people, schema=schema),
    ]
    print([one.value for one in risks], md.utility.numeric_loss(people, masked.frame, schema).value)
    candidates = {f"noise {a}": md.Noise(["pay"], alpha=a) for a in (0.1, 0.2)}
    chosen = md.choosing.compare_masks(people, schema, candidates, seed=1)
    print(chosen.recommended, md.unsafe_combinations(people, schema).summary())
    return masked


def queries(folder: Path, firms: pd.DataFrame) -> object:
    policy = query.Policy.read(folder / "policy.toml")
    guard = query.Guard(duckdb.connect("firms.duckdb", read_only=True), policy, folder / "log.sqlite")
    answer: query.Answer = guard.query("SELECT SUM(salary) FROM emp")
    if not answer.answered:
        print(answer.reason)
    auditor = query.Auditor(query.Records.of([85, 3, 2, 4]), "threshold=2")
    decision = auditor.ask([1, 2, 3])
    hidden = camouflage(firms, "turnover", 0.2, seed=1)
    print(decision.answered, hidden.answer(query.Query("maximum", "turnover")).low)
    return answer.rows


def straight_on(firms: pd.DataFrame, method: str, out: Path) -> list[str]:
    """The ordinary way, whatever the method is: nothing to assert, nothing to cast."""
    release = tp.protect(firms, "p%=15", method, by="region", value="turnover", contributor="firm")
    lines: list[str] = [f"{name}: {text}" for name, text in release.summary().lines]
    lines += [str(release.summary()), release.optimality, release.title, str(release.safe), repr(release)]
    rows: pd.DataFrame = release.frame
    shown: pd.DataFrame = release.published
    folder: Path = release.write(out)
    proven: tp.Verification = release.verify()
    document: dict[str, object] = dict(release.certificate.document)
    intervals: pd.DataFrame = release.audit().frame
    lines += [str(len(one)) for one in (rows, shown, intervals, document)]
    return [*lines, proven.verdict, tp.verify(folder).verdict, tp.verify(release).verdict, tp.audit(release).verdict]


def careful(firms: pd.DataFrame) -> str:
    try:
        tp.protect(firms, "p%=15", by=["region"], value="turnover")
    except tp.InputError as error:
        return "; ".join(error.problems)
    except tp.TabprotectError as error:
        return str(error)
    return ""
