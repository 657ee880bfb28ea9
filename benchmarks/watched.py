"""What checks of patterns cost where many attackers know cells: work, programmes and processor time.

Run from the checkout: ``python -m benchmarks.watched [--case holdings] [--seeds 0-3] [--singles 8]``.

Per problem one judge checks everything hidden, then patterns that hide random shares of it, and after each of these the
same pattern less one secondary after the other, up to the first exposure. The patterns depend on the problem alone, so
that two versions of the package, each run in its own checkout, answer the same questions: the numbers of exposures in
the last columns must agree. Work are simplex iterations; seconds are of the processor.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks.regret_runs import CASES
from tabprotect.attack.witness import Witnesses
from tabprotect.instances import family
from tabprotect.solver.limits import Budget

SHARES = (1.0, 0.9, 0.75, 0.6)


def measure(case: str, seed: int, singles: int) -> str:
    """Return one row."""
    name, size = CASES[case]
    problem = family(name, seed, **size)
    rng = np.random.default_rng(seed)
    judge, budget = Witnesses(problem), Budget()
    exposed, unsafe, checks = 0, 0, 0
    begun = time.process_time()
    for share in SHARES:
        pattern = problem.must_hide | (problem.may_hide & (rng.random(problem.n_cells) < share))
        exposed += len(judge.check(pattern, budget))
        secondaries = np.flatnonzero(pattern & ~problem.must_hide)
        for cell in rng.permutation(secondaries)[:singles].tolist():
            less = pattern.copy()
            less[cell] = False
            unsafe += bool(judge.check(less, budget, stop_at_first=True))
        checks += 1 + min(singles, len(secondaries))
    seconds = time.process_time() - begun
    about = (case, seed, problem.n_cells, len(problem.attackers), checks, budget.work, judge.programmes)
    return "| " + " | ".join([*map(str, about), f"{seconds:.2f}", str(exposed), str(unsafe)]) + " |"


def main() -> None:
    """Print one row a problem."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", default="holdings", choices=[name for name in CASES if name.startswith("holdings")])
    parser.add_argument("--seeds", default="0-3", help="first and last seed")
    parser.add_argument("--singles", type=int, default=8, help="secondaries taken out of each pattern")
    given = parser.parse_args()
    first, _, last = given.seeds.partition("-")
    print("| case | seed | cells | attackers | checks | work | programmes | seconds | exposures | unsafe less one |")
    print("| --- |" + " --- |" * 9)
    for seed in range(int(first), int(last or first) + 1):
        print(measure(given.case, seed, given.singles), flush=True)


if __name__ == "__main__":
    main()
