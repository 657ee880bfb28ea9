"""Check a certificate with Python integers and fractions, without a solver.

``python -m tabprotect.certificate.verify CERTIFICATE [DATA]``. This file and those that it imports need the standard
library only, so that an auditor can read them in one sitting (certificates of changed values need
`tabprotect.certificate.values` and `claims` besides). Whatever is read is checked for type, length and range before
it is used, and `tabprotect.certificate.limits` says how much of it there may be. Notation: the true table is a,
equations A y = b, a deviation is z with A z = 0.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tabprotect.certificate.against import compare
from tabprotect.certificate.document import (
    FORMAT,
    PROTECTED,
    SECTIONS,
    VALUES_FORMAT,
    VERDICTS,
    ZERO,
    Malformed,
    counted,
    digest,
    fraction,
    label_of,
    load,
    positions,
    question,
    require,
    seal,
    text_of,
    words_of,
)
from tabprotect.certificate.extent import beyond
from tabprotect.certificate.limits import LIMITS, Limits, Meter
from tabprotect.certificate.numbers import Numbers
from tabprotect.certificate.protection import Protection
from tabprotect.certificate.rebuild import proven_bound
from tabprotect.certificate.values import check_values
from tabprotect.certificate.verification import Verification

__all__ = ["Verification", "verify"]

NOTICEABLE = Fraction(1, 10**9)
"""Largest residual, relative to the largest value, that is left to the rounding of floating-point numbers."""


def verify(certificate: Any, *, against: Any = None, limits: Limits = LIMITS) -> Verification:
    """Check a certificate: everything it claims is recomputed exactly.

    Parameters
    ----------
    certificate : path or mapping
        A certificate file (.json or .json.gz) or its content.
    against : path or mapping, optional
        The office's own data, to make sure that the certificate is about them: a problem statement or a file or release
        that holds one (such as another certificate), a .jj file, or columns by name (``cell`` and any of values,
        status, lpl, upl, spl, weights, lower, upper), also as a .csv file. Everything that they state is compared:
        cells, numbers, statuses, equations, attackers, integrality; what they do not state is listed as not checked.
    limits : Limits
        What a document may cost its reader; `UNLIMITED` for those that you made yourself.

    Raises
    ------
    OSError
        If a file cannot be read.
    """
    try:
        document = load(certificate, limits)
        if document.get("format") == VALUES_FORMAT:
            # about changed values, with a certificate of this form inside
            return check_values(document, check, against, limits)
        return check(document, against, limits)
    except Malformed as error:
        return Verification((str(error),))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        return Verification((f"malformed: {type(error).__name__}: {str(error)[:200]}",))


def check(document: Mapping[str, Any], against: Any = None, limits: Limits = LIMITS) -> Verification:
    """Check a certificate of hidden cells; `Malformed` if it is none."""
    return _Check(document, limits).run(against)


class _Check:
    def __init__(self, document: Mapping[str, Any], limits: Limits) -> None:
        require(document.get("format") == FORMAT, f"not a certificate of the form {FORMAT}")
        require(
            set(document) == {*SECTIONS, "seal"}, f"a certificate has exactly the sections {', '.join(SECTIONS)}, seal"
        )
        self.document, self.limits = document, limits
        self.failures: list[str] = []
        self.checked: list[str] = []
        self.meter = Meter(limits)
        self.numbers = Numbers(document["problem"], self.meter)
        self.texts()
        pattern = positions(document["pattern"], self.numbers.n, "pattern")
        self.hidden = set(pattern)
        require(len(pattern) == len(self.hidden), "the pattern names a cell twice")
        self.cost = sum((self.numbers.weights[i] for i in self.secondaries()), Fraction(0))
        self.bound: Fraction | None = None

    def texts(self) -> None:
        """Check the types of what is not used in arithmetic."""
        document = self.document
        for name in ("notice", "seal", "digest"):
            text_of(document[name], name)
        require(document["verdict"] in VERDICTS, f"the verdict must be one of {', '.join(VERDICTS)}")
        published = document["publication"]
        require(isinstance(published, Mapping), "'publication' must be an object")
        for file, its_digest in published.items():
            text_of(its_digest, f"digest of {file}")

    def secondaries(self) -> list[int]:
        return [i for i in self.hidden if not self.numbers.must_hide(i)]

    def label(self, cell: int) -> str:
        return label_of(self.document["problem"]["cells"][cell])

    def expect(self, holds: bool, failure: str) -> None:
        if not holds:
            self.failures.append(failure)

    def run(self, against: Any) -> Verification:
        self.integrity()
        self.pattern()
        asked, witnesses = self.protection()
        self.objective()
        claimed, unproven = self.claimed()
        skipped = [
            "whether rules, levels, bounds and attackers describe the real intruders",
            "that cells listed as exposed or unproven could not have been proven after all"
            if self.document["exposed"] or self.document["unproven"]
            else "",
            f"the search's own bound {words_of(claimed)} ({unproven})" if claimed is not None and unproven else "",
            "notice and names of attackers, which are words",
            "the files published" if self.document["publication"] else "",
        ]
        if against is None:
            skipped.insert(0, "that the embedded problem is the office's own (against= compares it)")
        else:
            found = compare(self.document, against, self.limits)
            self.failures += found.failures
            checked, missing = found.sentences()
            self.checked += checked
            skipped = missing + skipped
        return Verification(
            tuple(self.failures),
            tuple(self.checked),
            tuple(s for s in skipped if s),
            self.document["verdict"],
            self.cost,
            self.bound,
            asked,
            witnesses,
            claimed,
            self.reasons(),
        )

    def reasons(self) -> tuple[str, ...]:
        """Name the cells that are listed as exposed, and those without a witness in whole numbers."""
        listed = {
            what: sorted({cell for _, cell, _ in map(question, self.document[name])})
            for name, what in (("exposed", "exposed"), ("unproven", "no witness in whole numbers"))
        }
        return tuple(f"{what}: {self.names(cells)}" for what, cells in listed.items() if cells)

    def integrity(self) -> None:
        document, numbers = self.document, self.numbers
        parts = {name: digest(document[name]) for name in SECTIONS}
        self.expect(document["seal"] == seal(parts.items()), "the seal is broken: something was altered")
        self.expect(document["digest"] == parts["problem"], "the problem is not the one that the digest names")
        residual = fraction(document["residual"], "residual")
        self.expect(
            residual == numbers.residual,
            f"largest residual |A a - b| is {words_of(numbers.residual)}, not {words_of(residual)}",
        )
        size = Fraction(max(map(abs, numbers.values), default=0), numbers.scale)
        seen = f" (largest residual {words_of(numbers.residual, 6)})" if numbers.residual > NOTICEABLE * size else ""
        self.checked.append(f"seal, digest, equations A a = b{seen}")

    def pattern(self) -> None:
        status = self.numbers.status
        shown = [i for i in range(self.numbers.n) if self.numbers.must_hide(i) and i not in self.hidden]
        self.expect(not shown, f"published although primary or suppressed already: {self.names(shown)}")
        fixed = sorted(i for i in self.hidden if status[i] in (PROTECTED, ZERO))
        self.expect(not fixed, f"hidden although protected or structural zero: {self.names(fixed)}")
        self.checked.append("every primary and forced cell is hidden, no protected or fixed one")

    def names(self, cells: list[int]) -> str:
        return ", ".join(self.label(i) for i in cells[:5]) + (f" and {len(cells) - 5} more" if len(cells) > 5 else "")

    def protection(self) -> tuple[int, int]:
        found = Protection(self.document, self.numbers, self.hidden, self.meter, self.label)
        counts = found.run()
        self.failures += found.failures
        self.checked += found.checked
        return counts

    def objective(self) -> None:
        document = self.document
        cost = fraction(document["cost"], "cost")
        self.expect(cost == self.cost, f"the secondaries cost {words_of(self.cost)}, not {words_of(cost)}")
        self.checked.append("cost of the secondaries")
        claimed = [fraction(document[name], name) for name in ("bound", "claimed_bound") if document[name] is not None]
        if document["verdict"] == "safe":
            self.expect(all(b <= cost for b in claimed), "a lower bound exceeds the cost")
        require(
            (document["proof"] is None) == (document["bound"] is None), "a bound needs a proof, and a proof a bound"
        )
        if document["proof"] is not None:
            self.bound = proven_bound(self.numbers, document["proof"])
            self.expect(
                claimed[0] == self.bound,
                f"the proof gives the bound {words_of(self.bound)}, not {words_of(claimed[0])}",
            )
            rows = counted(len(document["proof"]["rows"]), "inequality", "inequalities")
            self.checked.append(f"lower bound {words_of(self.bound)} from {rows} rebuilt exactly")

    def claimed(self) -> tuple[Fraction | None, str]:
        """Return the bound that is claimed, and how far it goes beyond the proven one, in words."""
        document = self.document
        if document["claimed_bound"] is None or document["verdict"] != "safe":
            return None, ""
        claimed = fraction(document["claimed_bound"], "claimed_bound")
        return claimed, beyond(self.cost, claimed, self.bound)


if __name__ == "__main__":
    outcome = verify(sys.argv[1], against=sys.argv[2] if len(sys.argv) > 2 else None)
    print(outcome.summary())
    sys.exit(0 if outcome.ok else 1)
