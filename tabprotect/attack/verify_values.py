"""Check a certificate of changed values with Python integers and fractions, without a solver.

The certificate holds the office's problem with the true values a, the published values v, what the method claims
(`tabprotect.attack.claims`), and inside of it a certificate of cell suppression (`tabprotect.attack.verify`) about the
intruder's problem: every cell is hidden, and the external bounds are what he knows. Its witnesses are other tables
that he cannot tell from the true one, so the checks here are that his bounds are no wider than what v and the claims
leave, and that v keeps what is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from tabprotect.attack.claims import DOUBTS, Claim
from tabprotect.attack.document import (
    PRIMARY,
    VERDICTS,
    Numbers,
    compare,
    digest,
    fraction,
    label_of,
    list_of,
    load,
    require,
    seal,
)
from tabprotect.attack.verification import Verification

__all__ = ["SAME", "SECTIONS", "check_values", "off_sums"]

SECTIONS = (
    "format", "notice", "verdict", "claim", "levels_moved", "sums", "drift", "cost", "claimed_bound", "publication",
    "values", "problem", "attack",
)  # fmt: skip
SAME = Fraction(1, 10**9)
"""Relative error of sums and levels that counts as none, for values that are no exact decimals."""

_INTRUDER = ("cells", "values", "status", "lpl", "upl", "spl", "rhs", "start", "cell", "coefficient", "attackers",
             "integer")  # fmt: skip


def check_values(
    document: Mapping[str, Any], verify: Callable[[Any], Verification], against: Any = None
) -> Verification:
    """Check a certificate of changed values; `verify` checks the one of the intruder that is inside."""
    require(set(document) == {*SECTIONS, "seal"}, f"a certificate has exactly the sections {', '.join(SECTIONS)}, seal")
    sealed = seal((name, digest(document[name])) for name in SECTIONS)
    inner = verify(document["attack"])
    check = _Check(document)
    failures = [*([] if sealed == document["seal"] else ["the seal does not fit the content"]), *inner.failures]
    check.intruder()
    check.promises()
    check.sums()
    verdict = document["verdict"]
    if verdict not in VERDICTS or VERDICTS.index(verdict) < VERDICTS.index(inner.verdict):
        check.failures.append(f"the verdict is '{verdict}', proven is '{inner.verdict}'")
    if check.claim.method in DOUBTS and verdict != VERDICTS[-1]:
        check.failures.append(f"the verdict is '{verdict}', but '{check.claim.method}' leaves doubt and proves nothing")
    if against is not None:
        check.failures += compare(document["problem"], load(against, data=True))
        check.checked.append("the embedded problem against the data given")
    claimed = document["claimed_bound"]
    skipped = [
        *(["that the embedded problem is the office's own (give it to compare)"] if against is None else []),
        "whether rules, levels, bounds, attackers and what intruders know of the method describe the real ones",
        *([f"the search's own bound {claimed} on the distance"] if claimed is not None else []),
        *(["the files published"] if document["publication"] else []),
    ]
    return Verification(
        (*failures, *check.failures),
        (*check.checked, *inner.checked[2:3]),
        tuple(skipped),
        verdict,
        None if document["cost"] is None else fraction(document["cost"], "cost"),
        None,
        inner.questions,
        inner.witnesses,
    )


class _Check:
    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.problem = document["problem"]
        self.numbers = Numbers(self.problem)
        self.seen = document["attack"]["problem"]
        self.hidden = frozenset(document["attack"]["pattern"])
        n = self.numbers.n
        self.claim = Claim.read(document["claim"], n, self.numbers.integer)
        texts = list_of(document["values"], "values")
        require(len(texts) == n, f"'values' must have {n} entries")
        self.v = [fraction(text, "values") for text in texts]
        self.a = [Fraction(x, self.numbers.scale) for x in self.numbers.values]
        self.failures: list[str] = []
        self.checked: list[str] = []

    def named(self, cells: list[int]) -> str:
        names = ", ".join(label_of(self.problem["cells"][i]) for i in cells[:5])
        return names + (f" and {len(cells) - 5} more" if len(cells) > 5 else "")

    def intruder(self) -> None:
        """The intruder's problem is the office's, but for statuses, weights and bounds that are no wider than known."""
        for name in _INTRUDER:
            if name != "status" and self.seen[name] != self.problem[name]:
                self.failures.append(f"the intruder's problem has other '{name}' than the office's")
        status, theirs = self.problem["status"], self.seen["status"]
        lost = [i for i, s in enumerate(status) if s == PRIMARY and theirs[i] != PRIMARY]
        if lost:
            self.failures.append(f"the intruder's problem asks nothing about {self.named(lost)}")
        wider = [i for i in range(self.numbers.n) if not self._inside(i)]
        if wider:
            self.failures.append(f"the intruder is taken to know less than he does of {self.named(wider)}")
        self.checked.append("the intruder's bounds are no wider than published values, method and external bounds say")

    def _inside(self, i: int) -> bool:
        low, high = self.claim.known(i, self.v[i])
        if i not in self.hidden:
            return True  # no witness moves it
        below, above = (_number(self.seen[name][i]) for name in ("lower", "upper"))
        lower, upper = (_number(self.problem[name][i]) for name in ("lower", "upper"))
        least = [x for x in (low, lower) if x is not None]
        most = [x for x in (high, upper) if x is not None]
        if least and (below is None or below < max(least)):
            return False
        return not most or (above is not None and above <= min(most))

    def promises(self) -> None:
        """Every published value is one that the method may give to the true one."""
        claim, a, v = self.claim, self.a, self.v
        broken = [i for i in range(self.numbers.n) if not claim.kept(i, v[i], a[i])]
        if broken:
            self.failures.append(f"published values that the method does not give: {self.named(broken)}")
        words = {
            "multiple": f"all values are multiples of {claim.base}, less than {claim.base * (claim.steps + 1)} away",
            "nearest": f"all values are multiples of {claim.base}, at most {claim.base / 2} away",
            "near": "values are near" if claim.within is None else f"all values are at most {claim.within} away",
            "noise": "all values differ by noise that their count may get",
            "share": "all values differ by noise no larger than a value of that size may get",
            "small": f"small counts are 0 or {claim.base}",
        }
        if claim.method in words and (claim.method != "near" or claim.within is not None):
            self.checked.append(words[claim.method])
        if self.document["levels_moved"]:
            short = [i for i in range(self.numbers.n) if self.problem["status"][i] == PRIMARY and not self._moved(i)]
            if short:
                self.failures.append(f"sensitive cells that moved by less than their level: {self.named(short)}")
            self.checked.append("every sensitive cell moved by its level or more")

    def _moved(self, i: int) -> bool:
        lpl, upl = (Fraction(self.numbers.need[side][i], self.numbers.scale) for side in (-1, 1))
        z = self.v[i] - self.a[i]
        slack = SAME * max(lpl, upl, abs(self.a[i]))
        return (lpl == upl == 0) or (upl > 0 and z >= upl - slack) or (lpl > 0 and -z >= lpl - slack)

    def sums(self) -> None:
        """How far sums are off, as stated."""
        sums, drift = off_sums(self.numbers, self.problem, self.v)
        for name, found in (("sums", sums), ("drift", drift)):
            stated = fraction(self.document[name], name)
            if stated != found:
                self.failures.append(f"'{name}' is {found}, not {stated}")
        off = "the published table adds up exactly" if not sums else f"sums are off by up to {float(sums):.6g}"
        self.checked.append(off)


def off_sums(numbers: Numbers, problem: Mapping[str, Any], v: list[Fraction]) -> tuple[Fraction, Fraction]:
    """Return the largest ``|A v - b|`` and the largest ``|A (v - a)|``."""
    rhs = [fraction(text, "rhs") for text in problem["rhs"]]
    off = drift = Fraction(0)
    for row, b in zip(numbers.rows, rhs, strict=True):
        total = sum((c * v[j] for j, c in row), Fraction(0)) / numbers.unit
        true = Fraction(sum(c * numbers.values[j] for j, c in row), numbers.unit * numbers.scale)
        off, drift = max(off, abs(total - b)), max(drift, abs(total - true))
    return off, drift


def _number(text: Any) -> Fraction | None:
    return None if text in ("inf", "-inf") else fraction(text, "bounds")
