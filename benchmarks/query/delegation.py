"""What delegation costs beside computing alone, and how often parity checks find frauds beside what is computed.

``python -m benchmarks.query.delegation`` prints three tables. Times are ratios to the owner computing alone with numpy,
on all records, in the same run. The handler is a process of its own on the same computer.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tabprotect.query.delegation import (
    Check,
    HandlerProcess,
    SameProcess,
    delegate,
    detection_of_several,
    detection_probability,
    read_expression,
)
from tabprotect.query.delegation.checks import odd_records
from tabprotect.query.delegation.frauds import DishonestHandler, computed_instead
from tabprotect.query.delegation.inputs import checked_inputs
from tabprotect.query.delegation.result import FINAL
from tabprotect.query.delegation.wire import Message

THEOREMS = (
    ("a + b", "c + d"),
    ("a*b + c*d", "e"),
    ("a*b", "c*d*e"),
    ("a + b + a*b", "c*d"),
    ("a + b + a*b", "c + d + c*d"),
    ("2*a*b", "c*d"),
    ("2*a*b + 1", "4*c - 1"),
)
COSTS = ("a + b + c + d", "a*b + c*d", "a*b*c - d**2", "a*b + b*c + c*d + d*a", "a**8 + b*c")
FRAUDS = (
    ("drop-product", "a*b + c*d"),
    ("drop-product", "a + b + c + d"),
    ("swap-products", "a*b + c*d"),
    ("replay", "a*c + b*d"),
    ("add-one", "a*b + c*d"),
    ("add-two", "a*b + c*d"),
    ("compute=c*d - a - b", "a*b + c*d"),
    ("compute=a*b*c*d", "a*b + c*d"),
    ("compute=3*a*b + c**2*d", "a*b + c*d"),
)
EARLIER = "a*b + c*d"
BOUND = 100
POINTS = 16
ROOM = "a**7*b"
"""Asked for as well, so that the parameters leave room for frauds with longer products."""


class Timed:
    """A channel that measures how long answers take."""

    def __init__(self) -> None:
        self.inner = HandlerProcess()
        self.seconds = 0.0

    def exchange(self, message: Message, most: int) -> Message:
        """Send a message and wait for the answer."""
        begin = time.perf_counter()
        reply = self.inner.exchange(message, most)
        self.seconds += time.perf_counter() - begin
        return reply

    def close(self) -> None:
        """End the process."""
        self.inner.close()


def columns(records: int, seed: int) -> dict[str, Any]:
    """Draw whole numbers from -100 to 99 for four variables: half of them are odd."""
    rng = np.random.default_rng(seed)
    return {name: rng.integers(-BOUND, BOUND, records) for name in "abcd"}


def needed(text: str, data: dict[str, Any]) -> dict[str, Any]:
    """Keep the variables of an expression."""
    return {name: data[name] for name in read_expression(text).variables}


def fastest(action: Callable[[], Any], times: int = 5) -> float:
    """Least seconds of several runs."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        action()
        found.append(time.perf_counter() - begin)
    return min(found)


def cost(text: str, records: int, seed: int) -> tuple[Any, ...]:
    """Measure one expression; everything relative to the owner computing alone."""
    data, expression = needed(text, columns(records, seed)), read_expression(text)
    inputs = checked_inputs([expression], data, (-BOUND, BOUND))
    alone = fastest(lambda: expression.evaluate(data))
    parity = fastest(lambda: odd_records(expression, inputs))
    handler = Timed()
    try:
        delegate(text, {name: column[:1] for name, column in data.items()}, (-BOUND, BOUND), handler=handler)
        handler.seconds = 0.0
        begin = time.perf_counter()
        found = delegate(text, data, (-BOUND, BOUND), handler=handler, products=False)
        total = time.perf_counter() - begin
    finally:
        handler.close()
    assert found.values is not None
    if not (found.values == expression.evaluate(data)).all():
        raise SystemExit(f"{text}: the delegated result is wrong")
    answer = found.answers[0]
    sizes = (found.parameters.ring, len(found.parameters.moduli), answer.budget)
    return (*sizes, parity / alone, (total - handler.seconds) / alone, handler.seconds / alone, total / alone)


def detected(name: str, text: str, records: int, seed: int) -> tuple[float, float, float, int, int]:
    """Commit one fraud on random data.

    Returns the figure of the lemma, the computed probability, the frequency, and the check points found and in all.
    """
    with_products = name == "swap-products"
    earlier = [EARLIER] if name == "replay" else []
    pairs = computed_instead(name, text, earlier, products=with_products)
    first = next(pair for pair in pairs if pair[0] != pair[1])
    lemma = detection_probability(*first).by_lemma
    exact = detection_of_several(pairs).value
    data = columns(records, seed)
    handler = SameProcess(DishonestHandler(name, seed))
    asked = [*earlier, text, ROOM]
    found = delegate(
        asked, data, (-BOUND, BOUND), handler=handler, products=with_products, check_points=POINTS, seed=seed
    )
    answer = found.answers[len(earlier)]
    if answer.accepted:
        raise SystemExit(f"{name}: the fraud was accepted")
    parity = answer.failures(Check.PARITY, str(first[0]) if with_products else FINAL)
    return (
        lemma,
        exact,
        parity / records,
        answer.failures(Check.POINTS, str(first[0]) if with_products else FINAL),
        (16 * len(found.parameters.moduli) * -(-records // (found.parameters.ring - POINTS))),
    )


def main(arguments: list[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.query.delegation", description=__doc__)
    parser.add_argument("--records", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    print("Lemma and theorems, results computed from other data\n")
    print("| claimed | computed | p | p' | by the lemma | at most 1/2 | at least max(p, p') |")
    print("| --- | --- | ---: | ---: | ---: | --- | --- |")
    for claimed, computed in THEOREMS:
        found = detection_probability(claimed, computed)
        p, q = found.claimed.value, found.computed.value
        holds = ["yes" if theorem else "no" for theorem in (found.theorem_1, found.theorem_2)]
        print(f"| `{claimed}` | `{computed}` | {p} | {q} | {found.by_lemma} | {' | '.join(holds)} |")
    print(f"\nTime relative to the owner computing alone, {given.records} records\n")
    print("| expression | ring | moduli | noise bits left | parities | owner's share | handler's share | delegated |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for text in COSTS:
        ring, moduli, budget, *ratios = cost(text, given.records, given.seed)
        parity, owner, handler, total = ratios
        print(
            f"| `{text}` | {ring} | {moduli} | {budget} | {parity:.2f} | {owner:,.0f} | {handler:,.0f} | {total:,.0f} |"
        )
    print(f"\nFrauds on random data, {given.records} records, one parity check each\n")
    print("| fraud | required | by the lemma | computed | found by parity | check points |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for row, (name, text) in enumerate(FRAUDS):
        lemma, exact, share, points, most = detected(name, text, given.records, given.seed + row)
        print(f"| `{name}` | `{text}` | {lemma:.4f} | {exact:.4f} | {share:.4f} | {points} of {most} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
