"""Random response: a respondent's answer is true with a known probability (survey section 5.2; Warner 1965)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from tabprotect.errors import InputError, Problems
from tabprotect.kinds import of_kinds
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, need_choice, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import NOMINAL, Scale

__all__ = ["RandomResponse", "random_response_estimate"]


@dataclass(frozen=True)
class RandomResponse(Method):
    """Each value is kept with probability `truth`; else it is the answer to another question.

    The other question has the same answers with known probabilities ('unrelated'), or is the opposite of the true
    one ('warner', columns of two values). Missing values stay missing. Weights and strata are not looked at: the
    probabilities are the same for everybody, and known to the analyst; see `random_response_estimate`.

    Parameters
    ----------
    columns : str or sequence of str
        Columns of categories, in the survey of yes and no.
    truth : float
        Probability of the true answer.
    kind : {'unrelated', 'warner'}
    answers : mapping of value to float, optional
        Probabilities of the answers to the unrelated question; all values of the column equally by default.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"drug": ["yes"] * 20 + ["no"] * 80})
    >>> masked = md.mask(frame, None, md.RandomResponse("drug", truth=0.75), seed=1)
    >>> sorted(set(masked.frame["drug"]))
    ['no', 'yes']
    """

    name: ClassVar[str] = "random-response"
    family: ClassVar[str] = "partially synthetic"
    scales: ClassVar[tuple[Scale, ...]] = NOMINAL
    random: ClassVar[bool] = True
    source: ClassVar[str] = "Ciriani et al. 2007, section 5.2 (random response)"

    columns: Sequence[str] | str
    truth: float = 0.75
    kind: Literal["unrelated", "warner"] = "unrelated"
    answers: Mapping[Any, float] | None = None

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        need_number(self, "truth", problems, above=0, below=1)
        need_choice(self, "kind", problems, ("unrelated", "warner"))
        if self.kind == "warner" and self.answers is not None:
            problems.add("random-response: answers belong to kind='unrelated'")
        if self.kind == "warner" and self.truth == 0.5:
            problems.add(
                "random-response: with truth=0.5 and kind='warner' released values say nothing; take another one"
            )
        if self.answers is not None:
            shares = list(self.answers.values()) if isinstance(self.answers, Mapping) else [-1.0]
            if any(not isinstance(s, int | float) or s < 0 for s in shares) or abs(sum(shares) - 1) > 1e-9:
                problems.add("random-response: answers must map values to probabilities that add up to 1")

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self.columns)

    def check(self, records: Records, problems: Problems) -> None:
        """Note columns whose values do not fit."""
        for name in self.columns:
            values = records.categories(name).values
            if self.kind == "warner" and len(values) != 2:
                problems.add(f"column '{name}' has {len(values)} values; kind='warner' takes two")
            if self.answers is not None and set(self.answers) - set(values):
                problems.add(f"column '{name}' never holds {min(map(str, set(self.answers) - set(values)))}")

    def apply(self, call: MethodCall) -> Masking:
        """Draw an answer for every record."""
        records, facts = call.records, {}
        for name in self.columns:
            one = call.records.categories(name)
            n, m = len(one.index), len(one.values)
            if not m:
                continue
            keep = call.rng.random(n) < self.truth
            if self.kind == "warner":
                other = 1 - one.index
            else:
                share = (
                    np.full(m, 1 / m)
                    if self.answers is None
                    else np.array([self.answers.get(v, 0.0) for v in one.values])
                )
                other = call.rng.choice(m, n, p=share / share.sum())
            index = np.where(one.index < 0, -1, np.where(keep, one.index, other))
            records = records.with_categories(name, type(one)(one.values, index))
            facts[name] = {"changed": int((index != one.index).sum())}
        return Masking(records, facts)


@of_kinds()
def random_response_estimate(shares: Mapping[Any, float], method: RandomResponse) -> dict[Any, float]:
    """Estimate the true shares from released ones (unbiased; may fall outside of [0, 1]).

    Parameters
    ----------
    shares : mapping of value to float
        Released shares of all values.
    method : RandomResponse

    Examples
    --------
    >>> random_response_estimate({"yes": 0.275, "no": 0.725}, RandomResponse("x", truth=0.75))
    {'yes': 0.2, 'no': 0.8}
    """
    if not shares:
        raise InputError("random response is estimated from the shares of all values, and there are none")
    if method.kind == "warner":
        if len(shares) != 2:
            raise InputError("kind='warner' needs the shares of two values")
        return {v: round((s - (1 - method.truth)) / (2 * method.truth - 1), 12) for v, s in shares.items()}
    other = method.answers or dict.fromkeys(shares, 1 / len(shares))
    return {v: round((s - (1 - method.truth) * other.get(v, 0.0)) / method.truth, 12) for v, s in shares.items()}
