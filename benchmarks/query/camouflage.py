"""Camouflage on random queries: truth inside, records still open, and widths of the answers.

``python -m benchmarks.query.camouflage --queries 10000`` hides two confidential fields of generated enterprises, asks
random queries of every kind (`tests.query.camouflage.questions`), and checks

- that every interval holds the true answer, and the answers of all vectors: then all of them, and what they hide, are
  consistent with all answers together;
- by linear programmes, for every confidential value, that the vectors of the hull that meet all linear answers together
  still reach both ends of the required range;
- how wide the answers to sums over the groups are, in per cent of the true sum, beside random perturbation of equal
  protection: every value moved once, by an error with uniform distribution on a range as wide as that of camouflage.
  Its sums come with a guarantee (the sum of all errors' bounds), or with a 95 % interval that may miss the truth;
- what is left of the ranges to somebody who knows a few values, with the default number of vectors and the least one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from tabprotect.errors import InputError
from tabprotect.query.camouflage import Answer, Camouflage, Query, Relative, camouflage
from tabprotect.seeds import as_seed
from tabprotect.solver.mip.milp import solve_milp
from tests.query.camouflage.questions import WORKLOAD, draw, evaluate, firms, with_values

Row = tuple[np.ndarray, float, float]
"""Coefficients of the weights, and the least and largest value of the linear form."""

FIELDS = ("turnover", "profit")
STEPS = 20
"""Ranges have at least 20 units of the values; without that, a range of 20 % of 30 would hold few whole numbers."""

BOUNDS = {"turnover": Relative(0.2), "profit": Relative(0.2, least=5.0)}


def hide(n: int, seed: int, **given: Any) -> tuple[Any, Camouflage]:
    frame = firms(n, seed)
    return frame, camouflage(frame, FIELDS, BOUNDS, **{"workload": WORKLOAD, "steps": STEPS, "seed": seed, **given})


def ask(databases: int, queries: int, n: int, seed: int) -> dict[str, Any]:
    """Ask random queries of several databases, and judge every answer and all of them together."""
    found: dict[str, Any] = defaultdict(int)
    for at in range(databases):
        frame, made = hide(n, seed + at, k=3 + at % 3)
        rng = np.random.default_rng([seed, at])
        vectors = [with_values(frame, {f: p[:, j] for f, p in made.vectors.of.items()}) for j in range(made.vectors.k)]
        linear: list[Row] = []
        for _ in range(queries // databases):
            query = draw(frame, rng)
            try:
                answer = made.answer(query)
            except InputError:
                found["refused: the regressors determine nothing"] += 1
                continue
            found["answered"] += 1
            found["exact"] += answer.exact
            truth = evaluate(frame, query)
            if np.isnan(truth):
                found["without a true answer"] += 1
                found["truth outside"] += not answer.may_be_empty
            else:
                found["truth outside"] += truth not in answer
            values = np.array([evaluate(vector, query) for vector in vectors])
            slack = 1e-9 * np.maximum(np.abs(values), 1)
            inside = (answer.low - slack <= values) & (values <= answer.high + slack) | np.isnan(values)
            found["vectors outside"] += int(np.sum(~inside))
            linear += equations(query, answer, vectors, values)
        found["values"] += made.n * len(FIELDS)
        found["values narrowed by all linear answers together"] += narrowed(made, linear)
        found["rows of the linear programmes"] += len(linear)
    return dict(found)


def equations(query: Query, answer: Answer, vectors: list[Any], values: np.ndarray) -> list[Row]:
    """State what an answer says as linear inequalities of the weights, in units of their largest coefficient."""
    if any(c in FIELDS for c, _, _ in query.where) or np.isnan(answer.low) or np.isinf(answer.width):
        return []
    if query.function in ("sum", "mean", "coefficient"):
        unit = float(np.abs(values).max()) or 1.0
        return [(values / unit, answer.low / unit, answer.high / unit)]
    if query.function == "ratio":
        above, below = (
            np.array([evaluate(vector, Query("sum", name, query.where)) for vector in vectors])
            for name in (query.field, query.denominator)
        )
        unit = float(np.abs(above).max()) or 1.0
        return [
            ((above - answer.low * below) / unit, 0.0, np.inf),
            ((above - answer.high * below) / unit, -np.inf, 0.0),
        ]
    return []


def narrowed(made: Camouflage, linear: list[Row]) -> int:
    """Count values whose range, by linear programmes under all linear answers, is short of the required one."""
    k = made.vectors.k
    A = np.vstack([np.ones(k), *(values for values, _, _ in linear)])
    slack = 1e-9
    low, high = np.array([1.0, *(x for _, x, _ in linear)]), np.array([1.0, *(x for _, _, x in linear)])
    short = 0
    for field, p in made.vectors.of.items():
        rule = BOUNDS[field]
        for row in p:
            ends = []
            for sign in (1.0, -1.0):
                answer = solve_milp(A, low - slack, high + slack, np.zeros(k), np.ones(k), sign * row)
                ends.append(np.nan if answer.x is None else float(row @ (answer.x / answer.x.sum())))
            middle = abs(ends[0] + ends[1]) / 2
            short += not ends[1] - ends[0] >= (1 - 1e-6) * rule.width * max(middle, rule.least)
    return short


def widths(n: int, repeats: int, seed: int) -> dict[str, dict[str, float]]:
    """Median widths of sums over declared and other groups, in per cent of the true sum, and how often 95 % misses."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for at in range(repeats):
        frame = firms(n, seed + at)
        kinds = {
            "camouflage": camouflage(frame, "turnover", 0.2, workload=WORKLOAD, steps=STEPS, seed=seed + at),
            "camouflage, largest first": camouflage(
                frame, "turnover", 0.2, workload=WORKLOAD, steps=STEPS, largest_first="staff", seed=seed + at
            ),
        }
        rng, x = np.random.default_rng([seed, at]), frame["turnover"].to_numpy()
        whole = np.ptp(kinds["camouflage"].vectors.of["turnover"], axis=1)
        errors = whole * (rng.random(n) - 0.5)
        groups = {"total": [[]], "region": [[("region", "==", r)] for r in sorted(set(frame["region"]))]}
        groups["region and size"] = [[*g, ("size", "==", s)] for g in groups["region"] for s in "SL"]
        groups["not declared"] = [[("staff", ">=", float(s))] for s in rng.choice(frame["staff"], 8)]
        for name, wheres in groups.items():
            for where in wheres:
                members = np.ones(n, bool)
                for column, sign, value in where:
                    members &= (frame[column] == value if sign == "==" else frame[column] >= value).to_numpy()
                if not members.any():
                    continue
                total = x[members].sum()
                for kind, made in kinds.items():
                    found[name][kind].append(100 * made.sum("turnover", where).width / total)
                normal = 1.96 * np.sqrt(np.sum(whole[members] ** 2) / 12)
                found[name]["perturbation, guaranteed"].append(100 * whole[members].sum() / total)
                found[name]["perturbation, 95 %"].append(100 * 2 * normal / total)
                found[name]["perturbation, 95 % misses"].append(100 * (abs(errors[members].sum()) > normal))
    return {
        name: {kind: float(np.mean(v) if "misses" in kind else np.median(v)) for kind, v in kinds.items()}
        for name, kinds in found.items()
    }


def exposure(n: int, repeats: int, seed: int) -> dict[str, dict[str, float]]:
    """What is left of the ranges, in per cent, to somebody who knows values of others."""
    found = {}
    for known in (1, 2, 3):
        for k in (known + 2, 2 * known + 3):
            left = []
            for at in range(repeats):
                # in smaller units, so that ranges have some hundred cells and no two rows are alike
                frame = firms(n, seed + at)
                frame["turnover"] = np.round(1000 * frame["turnover"] + np.random.default_rng(at).uniform(0, 1000, n))
                made = camouflage(frame, "turnover", 0.2, k=k, known=known, steps=4 * k, seed=seed + at)
                chosen = np.random.default_rng([seed, at]).choice(n, known, replace=False)
                low, high = made.ranges_given({"turnover": chosen.tolist()})["turnover"]
                share = 100 * (high - low) / np.ptp(made.vectors.of["turnover"], axis=1)
                left.append(np.delete(share, chosen))
            found[f"{known} known, {max(3, k)} vectors"] = {
                "median": float(np.median(left)),
                "tenth": float(np.quantile(left, 0.1)),
                "least": float(np.min(left)),
            }
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--databases", type=int, default=20)
    parser.add_argument("--records", type=int, default=60, help="of the databases for random queries")
    parser.add_argument("--large", type=int, default=1000, help="records for widths and known values")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, help="write the figures as JSON")
    given = parser.parse_args(arguments)
    seed = as_seed(given.seed)
    found = {
        "queries": ask(given.databases, given.queries, given.records, seed),
        "widths": widths(given.large, given.repeats, seed),
        "known": exposure(given.large, given.repeats, seed),
    }
    for name, count in found["queries"].items():
        print(f"{name}: {count:,}")
    print("\nWidth of the answer, % of the true sum (median)")
    for name, kinds in found["widths"].items():
        print(f"  {name}: " + "; ".join(f"{kind} {value:.3g}" for kind, value in kinds.items()))
    print("\nLeft of a range to who knows other values, %")
    for name, shares in found["known"].items():
        print(f"  {name}: " + "; ".join(f"{what} {value:.3g}" for what, value in shares.items()))
    if given.output:
        given.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    outside = ("truth outside", "vectors outside", "values narrowed by all linear answers together")
    return int(any(found["queries"].get(name, 0) for name in outside))


if __name__ == "__main__":
    sys.exit(main())
