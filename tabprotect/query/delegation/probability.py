"""Probabilities that parities of expressions are odd, exact where they can be enumerated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import log, prod, sqrt

import networkx as nx
import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, did_you_mean
from tabprotect.query.delegation.normal_form import NormalForm
from tabprotect.seeds import Seed, as_seed

__all__ = ["Odd", "Probability", "any_odd", "odd_probability"]

MOST_ENUMERATED = 20
"""Variables of which all combinations are enumerated: a million of them."""

DRAWS = 1_000_000
RISK = 0.001
"""Probability that a sampled figure misses by more than its error."""

Odd = float | Mapping[str, float]
"""Probability that a variable is odd: one for all variables, or one each."""

Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Probability:
    """A probability and how well it is known.

    Parameters
    ----------
    value : float
        The probability, or its estimate.
    error : float
        0 where all combinations were enumerated; otherwise the estimate is off by more than this with a probability of
        at most 0.001 (Hoeffding's inequality).
    """

    value: float
    error: float = 0.0

    def __str__(self) -> str:
        return f"{self.value:.6g}" + (f" +- {self.error:.2g}" if self.error else "")


def odd_probability(form: NormalForm, odd: Odd = 0.5, seed: Seed = 0) -> Probability:
    """Compute the probability that an expression is odd, for independent parities of its variables.

    Parameters
    ----------
    form : NormalForm
        The parity of the expression.
    odd : float or mapping of str to float, default 0.5
        Probability of each variable being odd (p_d in the notebook).
    seed : int or numpy.random.Generator, default 0
        For parts that share more than 20 variables, of which a million combinations are drawn.

    Notes
    -----
    ANDs that share no variable are independent, and p = (1 - prod(1 - 2 p_i)) / 2 for the XOR of independent parts:
    the recurrence p_0 = p_a (1 - p_b) + (1 - p_a) p_b of the notebook. Only ANDs that share variables are enumerated.

    Examples
    --------
    >>> from tabprotect.query.delegation import read_expression
    >>> odd_probability(NormalForm.of(read_expression("a + b + a*b"))).value
    0.75
    """
    rng = np.random.default_rng(as_seed(seed))
    parts = [joint([part], [probabilities(part.variables, odd)], rng) for part in components(form)]
    even = prod(1 - 2 * part.value for part in parts)
    return Probability((1 - even) / 2, sum(part.error for part in parts))


def any_odd(forms: Sequence[NormalForm], odd: Odd = 0.5, seed: Seed = 0) -> Probability:
    """Compute the probability that at least one of several expressions is odd, for the same data.

    Examples
    --------
    >>> from tabprotect.query.delegation import read_expression
    >>> any_odd([NormalForm.of(read_expression(text)) for text in ("a*b", "a*c")]).value
    0.375
    """
    forms = [form for form in forms if form.products]
    if any(form.constant == 1 for form in forms):
        return Probability(1.0)
    rng = np.random.default_rng(as_seed(seed))
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(len(forms)))
    seen: dict[str, int] = {}
    for i, form in enumerate(forms):
        graph.add_edges_from((i, seen.setdefault(name, i)) for name in form.variables)
    parts = []
    for group in nx.connected_components(graph):
        together = [forms[i] for i in sorted(group)]
        if len(together) == 1:
            parts.append(odd_probability(together[0], odd, rng))
        else:
            parts.append(joint(together, [probabilities(form.variables, odd) for form in together], rng))
    return Probability(1 - prod(1 - part.value for part in parts), sum(part.error for part in parts))


def components(form: NormalForm) -> list[NormalForm]:
    """Split an XOR into parts that share no variable."""
    graph: nx.Graph[str] = nx.Graph()
    for product in form.products:
        names = sorted(product) or [""]  # the constant is a part of its own
        nx.add_path(graph, names) if len(names) > 1 else graph.add_node(names[0])
    part = {name: i for i, group in enumerate(nx.connected_components(graph)) for name in group}
    found: dict[int, set[frozenset[str]]] = {}
    for product in form.products:
        found.setdefault(part[min(product, default="")], set()).add(product)
    return [NormalForm(frozenset(products)) for _, products in sorted(found.items())]


def joint(forms: Sequence[NormalForm], each: Sequence[Mapping[str, float]], rng: np.random.Generator) -> Probability:
    """Compute the probability that at least one form is odd, by enumeration or by sampling."""
    chances = reduce(lambda a, b: {**a, **b}, each)
    names = sorted(chances)
    if len(names) <= MOST_ENUMERATED:
        truth = reduce(np.bitwise_or, [truth_table(form, names) for form in forms])
        if all(chance == 0.5 for chance in chances.values()):
            return Probability(int(np.count_nonzero(truth)) / truth.size)
        weights = reduce(np.multiply.outer, [np.array([1 - chances[n], chances[n]]) for n in names], np.ones(()))
        return Probability(float(weights.reshape(-1)[truth.astype(bool)].sum()))
    bits = {name: np.packbits(rng.random(DRAWS) < chances[name]) for name in names}
    found = reduce(np.bitwise_or, [form.evaluate(bits, DRAWS // 8) for form in forms])
    return Probability(int(np.unpackbits(found).sum()) / DRAWS, sqrt(log(2 / RISK) / (2 * DRAWS)))


def truth_table(form: NormalForm, names: Sequence[str]) -> Bits:
    """Return the parity for all combinations; the first variable changes slowest."""
    size = len(names)
    place = {name: size - 1 - i for i, name in enumerate(names)}
    table = np.zeros(2**size, dtype=np.uint8)
    for product in form.products:
        table[sum(1 << place[name] for name in product)] = 1
    for i in range(size):  # Moebius transform: the XOR over all subsets of what is odd
        halves = table.reshape(-1, 2, 2**i)
        halves[:, 1] ^= halves[:, 0]
    return table


def probabilities(names: Sequence[str], odd: Odd) -> dict[str, float]:
    """Return the probability of being odd for each variable.

    Raises
    ------
    InputError
        If one is missing or outside 0 to 1.
    """
    found = {}
    for name in names:
        if isinstance(odd, Mapping) and name not in odd:
            raise InputError(f"no probability of being odd is given for '{name}'{did_you_mean(name, odd)}")
        chance = odd[name] if isinstance(odd, Mapping) else odd
        if isinstance(chance, bool) or not isinstance(chance, int | float | np.number) or not 0 <= chance <= 1:
            raise InputError(f"the probability of '{name}' being odd must be from 0 to 1, not {chance!r}")
        found[name] = float(chance)
    return found
