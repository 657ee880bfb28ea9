"""Check a certificate of changed values with Python integers and fractions, without a solver.

The certificate holds the office's problem with the true values a, the published values v, what the method claims
(`tabprotect.certificate.claims`), and inside of it a certificate of cell suppression
(`tabprotect.certificate.verify`) about the intruder's problem: every cell is hidden, and the external bounds are what
he knows. Its witnesses are other tables that he cannot tell from the true one, so the checks here are that his bounds
are no wider than what v and the claims leave, and that v keeps what is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from tabprotect.certificate.against import compare
from tabprotect.certificate.claims import DOUBTS, STEPPED, Claim
from tabprotect.certificate.document import (
    PRIMARY,
    SHOWN,
    VERDICTS,
    digest,
    fraction,
    label_of,
    list_of,
    mapping_of,
    positions,
    require,
    seal,
    text_of,
    words_of,
)
from tabprotect.certificate.extent import beyond
from tabprotect.certificate.limits import LIMITS, Limits, Meter
from tabprotect.certificate.numbers import Numbers, decimal
from tabprotect.certificate.verification import Verification

__all__ = ["SAME", "SECTIONS", "check_values", "off_sums"]

Checker = Callable[[Mapping[str, Any], Any, Limits], Verification]
"""What checks a certificate of hidden cells; see `tabprotect.certificate.verify.check`."""

SECTIONS = (
    "format", "notice", "verdict", "claim", "levels_moved", "sums", "drift", "cost", "claimed_bound", "publication",
    "values", "problem", "attack",
)  # fmt: skip
SAME = Fraction(1, 10**9)
"""Relative error of sums and levels that counts as none, for values that are no exact decimals."""

_INTRUDER = ("cells", "values", "status", "lpl", "upl", "spl", "rhs", "start", "cell", "coefficient", "attackers",
             "integer")  # fmt: skip


def check_values(
    document: Mapping[str, Any], check: Checker, against: Any = None, limits: Limits = LIMITS
) -> Verification:
    """Check a certificate of changed values; see `tabprotect.certificate.verify.verify`."""
    require(set(document) == {*SECTIONS, "seal"}, f"a certificate has exactly the sections {', '.join(SECTIONS)}, seal")
    outer = _Check(document, limits)
    sealed = seal((name, digest(document[name])) for name in SECTIONS)
    inner = check(document["attack"], None, limits)
    failures = [*([] if sealed == document["seal"] else ["the seal does not fit the content"]), *inner.failures]
    outer.intruder()
    outer.claims_kept()
    outer.sums()
    verdict, attack = document["verdict"], document["attack"]["verdict"]
    if VERDICTS.index(verdict) < VERDICTS.index(attack):
        outer.failures.append(f"the verdict is '{verdict}', proven is '{attack}'")
    if outer.claim.method in DOUBTS and verdict != VERDICTS[-1]:
        outer.failures.append(f"the verdict is '{verdict}', but '{outer.claim.method}' leaves doubt and proves nothing")
    missing: list[str] = []
    if against is not None:
        found = compare(document, against, limits)
        outer.failures += found.failures
        checked, missing = found.sentences()
        outer.checked += checked
    return Verification(
        (*failures, *outer.failures),
        (*outer.checked, *inner.checked[2:3]),
        (*missing, *outer.skipped(against)),
        verdict,
        None,
        None,
        inner.questions,
        inner.witnesses,
        None,
        (*inner.reasons, *outer.doubt()),
    )


class _Check:
    def __init__(self, document: Mapping[str, Any], limits: Limits) -> None:
        self.document = document
        meter = Meter(limits)
        self.problem = document["problem"]
        self.numbers = Numbers(self.problem, meter)
        self.texts()
        attack = document["attack"]
        require(
            isinstance(attack, Mapping) and isinstance(attack.get("problem"), Mapping), "'attack' must be a certificate"
        )
        self.seen = mapping_of(attack["problem"], "problem", set(self.problem) - set(SHOWN), SHOWN)
        Numbers(self.seen, meter)
        n = self.numbers.n
        require(len(self.seen["cells"]) == n, "the intruder's problem has other cells than the office's")
        self.hidden = frozenset(positions(attack.get("pattern"), n, "pattern"))
        self.claim = Claim.read(document["claim"], n, self.numbers.integer)
        meter.spend(n * self.claim.work)
        texts = list_of(document["values"], "values")
        require(len(texts) == n, f"'values' must have {n} entries")
        self.v = [decimal(text, "values") for text in texts]
        self.a = [Fraction(x, self.numbers.scale) for x in self.numbers.values]
        self.failures: list[str] = []
        self.checked: list[str] = []

    def texts(self) -> None:
        """Check the types of what is not used in arithmetic."""
        document = self.document
        for name in ("notice", "seal"):
            text_of(document[name], name)
        require(document["verdict"] in VERDICTS, f"the verdict must be one of {', '.join(VERDICTS)}")
        require(isinstance(document["levels_moved"], bool), "'levels_moved' must be true or false")
        require(isinstance(document["publication"], Mapping), "'publication' must be an object")
        for file, its_digest in document["publication"].items():
            text_of(its_digest, f"digest of {file}")
        self.cost = None if document["cost"] is None else fraction(document["cost"], "cost")
        self.claimed = (
            None if document["claimed_bound"] is None else fraction(document["claimed_bound"], "claimed_bound")
        )

    def doubt(self) -> list[str]:
        """Say why values are never safe that leave doubt only."""
        return [f"'{self.claim.method}' leaves doubt and proves no distance"] if self.claim.method in DOUBTS else []

    def skipped(self, against: Any) -> list[str]:
        """Say what nobody can conclude from the check."""
        document, claim = self.document, self.claim
        far = "up to" if claim.method == "rising" else "less than"
        steps = f" (changes of {far} {claim.base * (claim.steps + 1)})" if claim.method in STEPPED else ""
        return [
            *(["that the embedded problem is the office's own (against= compares it)"] if against is None else []),
            "whether rules, levels, bounds, attackers and what intruders know of the method describe the real ones"
            + steps,
            *([] if self.cost is None else [f"the distance {words_of(self.cost)}, in the method's own measure"]),
            *([] if self.claimed is None else [self.search_bound(self.claimed)]),
            *(
                []
                if document["levels_moved"]
                else ["whether every sensitive cell moved by its level; that is not claimed"]
            ),
            "notice and names of attackers, which are words",
            *(["the files published"] if document["publication"] else []),
        ]

    def search_bound(self, claimed: Fraction) -> str:
        """Say what the search claims of the distance, of which nothing is proven."""
        said = "" if self.cost is None else beyond(self.cost, claimed, None)
        return f"the search's own bound {words_of(claimed)} on the distance{f' ({said})' if said else ''}"

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
        below, above = (self._number(self.seen[name][i]) for name in ("lower", "upper"))
        lower, upper = (self._number(self.problem[name][i]) for name in ("lower", "upper"))
        least = [x for x in (low, lower) if x is not None]
        most = [x for x in (high, upper) if x is not None]
        if least and (below is None or below < max(least)):
            return False
        return not most or (above is not None and above <= min(most))

    def _number(self, text: str) -> Fraction | None:
        return None if text in ("inf", "-inf") else decimal(text, "bounds")

    def claims_kept(self) -> None:
        """Every published value is one that the method may give to the true one."""
        claim, a, v = self.claim, self.a, self.v
        broken = [i for i in range(self.numbers.n) if not claim.kept(i, v[i], a[i])]
        if broken:
            self.failures.append(f"published values that the method does not give: {self.named(broken)}")
        words = {
            "multiple": f"all values are multiples of {claim.base}, less than {claim.base * (claim.steps + 1)} away",
            "rising": f"all values are multiples of {claim.base}, less than {claim.base * (claim.steps + 1)} below, "
            "or that much above at most",
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
                self.failures.append(f"'{name}' is {words_of(found)}, not {words_of(stated)}")
        off = "the published table adds up exactly" if not sums else f"sums are off by up to {words_of(sums, 6)}"
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
