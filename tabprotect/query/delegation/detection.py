"""How likely checks find a fraud: the lemma and the theorems of the notebook, and what holds in general."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import expm1, log1p, prod
from sys import float_info

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.query.delegation.expression import Expression
from tabprotect.query.delegation.normal_form import NormalForm
from tabprotect.query.delegation.probability import Odd, Probability, any_odd, odd_probability
from tabprotect.query.delegation.reading import as_expression
from tabprotect.seeds import Seed

__all__ = [
    "Detection",
    "detection_of_several",
    "detection_probability",
    "lemma",
    "over_records",
    "point_is_missed",
    "slot_is_hit",
]


@of_kinds()
def lemma(p: float, q: float) -> float:
    """Probability that two independent parities differ: p (1 - q) + q (1 - p), equation (1) of the notebook.

    Parameters
    ----------
    p, q : float
        Probabilities that the claimed and the computed expression are odd.
    """
    return p * (1 - q) + q * (1 - p)


@dataclass(frozen=True)
class Detection:
    """How likely one parity check finds that another expression was computed than claimed.

    Parameters
    ----------
    claimed, computed : Probability
        Probability that each expression is odd (p and p' in the notebook).
    same_data : Probability
        Probability that their parities differ on the same data: what a check of the result really finds.
    difference : NormalForm
        The parity of the difference of the two expressions.

    Notes
    -----
    The lemma gives p (1 - p') + p' (1 - p). It holds if the parities are independent: expressions that share no
    variable, or a result computed from other data. On the same data it may be far off: a + b + 2 is claimed to be
    a + b with p = p' = 1/2, and no parity ever differs.

    By the identity 1 - 2 P = (1 - 2 p)(1 - 2 p'), the figure of the lemma is at most 1/2 (Theorem 1) if, and only if,
    p and p' lie on the same side of 1/2; the proof in the notebook takes p <= 1/2 for granted, which fails for
    a + b + a b (3/4). It is at least max(p, p') (Theorem 2) if, and only if, p <= 1/2 or p' = 0, and p' <= 1/2 or
    p = 0. It is positive unless both are always even or both always odd; so always-odd claims must be refused as well.

    On the same data, what holds instead is: whenever the difference is not always even, it is odd with a probability
    of at least 2 ** -d for random data, d being the degree of its normal form (the minimum distance of Reed-Muller
    codes); and nothing is found otherwise.
    """

    claimed: Probability
    computed: Probability
    same_data: Probability
    difference: NormalForm

    @property
    def by_lemma(self) -> float:
        """The figure of the lemma, for independent parities."""
        return lemma(self.claimed.value, self.computed.value)

    @property
    def theorem_1(self) -> bool:
        """Whether p and p' lie on the same side of 1/2, so that the figure of the lemma is at most 1/2."""
        return (1 - 2 * self.claimed.value) * (1 - 2 * self.computed.value) >= 0

    @property
    def theorem_2(self) -> bool:
        """Whether the figure of the lemma is at least max(p, p')."""
        p, q = self.claimed.value, self.computed.value
        return (p <= 0.5 or q == 0) and (q <= 0.5 or p == 0)

    @property
    def least(self) -> float:
        """Lower bound of `same_data` for random data: 2 ** -d, or 0 where the difference is always even."""
        return 2.0**-self.difference.degree if self.difference.products else 0.0


@of_kinds()
def detection_probability(
    claimed: Expression | str,
    computed: Expression | str,
    odd: Odd = 0.5,
    fixed: Mapping[str, int] | None = None,
    seed: Seed = 0,
) -> Detection:
    """Compute how likely a parity check finds that `computed` was returned for `claimed`.

    Parameters
    ----------
    claimed, computed : Expression or str
        The two expressions.
    odd : float or mapping of str to float, default 0.5
        Probability of each variable being odd, independently of the others.
    fixed : mapping of str to int, optional
        Variables whose value cannot vary.
    seed : int or numpy.random.Generator, default 0
        For expressions too large to be enumerated, see `odd_probability`.

    Examples
    --------
    >>> found = detection_probability("a*b + c*d", "a*b")
    >>> found.claimed.value, found.computed.value, found.by_lemma, found.same_data.value
    (0.375, 0.25, 0.4375, 0.25)
    >>> detection_probability("a + b", "a + b + 2").same_data.value
    0.0
    """
    first = NormalForm.of(as_expression(claimed), fixed)
    second = NormalForm.of(as_expression(computed), fixed)
    difference = first ^ second
    return Detection(
        odd_probability(first, odd, seed),
        odd_probability(second, odd, seed),
        odd_probability(difference, odd, seed),
        difference,
    )


@of_kinds()
def detection_of_several(
    pairs: Sequence[tuple[Expression | str, Expression | str]],
    odd: Odd = 0.5,
    fixed: Mapping[str, int] | None = None,
    seed: Seed = 0,
) -> Probability:
    """Compute how likely at least one of several results, checked on the same data, has the wrong parity.

    Parameters
    ----------
    pairs : sequence of (Expression or str, Expression or str)
        Claimed and computed expression of the final result and of each intermediate one.
    odd, fixed, seed
        As for `detection_probability`.

    Examples
    --------
    >>> detection_of_several([("a*b + c*d", "a*b + c*d"), ("a*b", "c*d"), ("c*d", "a*b")]).value
    0.375
    """
    differences = [
        NormalForm.of(as_expression(claimed), fixed) ^ NormalForm.of(as_expression(computed), fixed)
        for claimed, computed in pairs
    ]
    return any_odd(differences, odd, seed)


@of_kinds()
def over_records(probability: float, records: int) -> float:
    """Probability of at least one finding in several independent records: 1 - (1 - P) ** n.

    Examples
    --------
    >>> over_records(0.25, 2)
    0.4375
    """
    if probability >= 1:
        return 1.0 if records else 0.0
    return -expm1(records * log1p(-probability))


@of_kinds()
def slot_is_hit(records: int, points: int, altered: int) -> float:
    """Probability that who alters some of the occupied slots alters at least one check point.

    Positions are drawn at random and secret, and ciphertexts tell nothing of them, so the altered slots are a random
    choice: 1 - C(records, altered) / C(records + points, altered).

    Examples
    --------
    >>> round(slot_is_hit(84, 16, 1), 3)
    0.16
    """
    if records < 0 or points < 0:
        raise InputError(f"records and points must be numbers of slots, 0 or more, not {records} and {points}")
    if altered < 0 or altered > records + points:
        raise InputError(f"altered must be from 0 to {records + points}, the number of occupied slots, not {altered}")
    total = records + points
    return 1 - prod(max(total - altered - i, 0) / (total - i) for i in range(points))


@of_kinds()
def point_is_missed(degree: int, modulus: int, points: int) -> float:
    """Upper bound of the probability that another polynomial agrees with the claimed one at all check points.

    Points are drawn independently and uniformly from all residues, so by the lemma of Schwartz and Zippel a difference
    of this degree, not zero modulo the prime, vanishes at one of them with probability at most degree / modulus.

    Parameters
    ----------
    degree : int
        Degree of the difference of the two polynomials.
    modulus : int
        The prime plain modulus.
    points : int
        Number of check points.

    Examples
    --------
    >>> point_is_missed(2, 1032193, 16) < 1e-90
    True
    """
    # what is too small for a float is not 0
    return max(min(1.0, degree / modulus) ** points, float_info.min) if degree else 0.0
