"""Check a certificate with Python integers and fractions, without a solver.

``python -m tabprotect.certificate.verify CERTIFICATE [DATA]``. This file and those that it imports need the standard
library only, so that an auditor can read them in one sitting (certificates of changed values need
`tabprotect.certificate.values` and `claims` besides). Whatever is read is checked for type, length and range before
it is used, and `tabprotect.certificate.limits` says how much of it there may be. Notation: the true table is a,
equations A y = b, a deviation is z with A z = 0.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Mapping
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
    digest,
    fraction,
    integers,
    label_of,
    list_of,
    load,
    mapping_of,
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
            skipped.insert(0, "that the embedded problem is the office's own (give it to compare)")
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
        )

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
        """Check all witnesses, then that they answer all questions of all attackers."""
        document, numbers = self.document, self.numbers
        exposed, unproven = (self.questions(name) for name in ("exposed", "unproven"))
        require(numbers.integer or not unproven, "only integer problems have unproven questions")
        verdict = VERDICTS[2 if exposed else 1 if unproven else 0]
        self.expect(document["verdict"] == verdict, f"the verdict must be '{verdict}', not '{document['verdict']}'")
        witnesses = [self.deviation(w, z) for w, z in enumerate(list_of(document["witnesses"], "witnesses"))]
        integral = {w for w, (_, denominator) in enumerate(witnesses) if denominator == 1 or not numbers.integer}
        moving: dict[int, set[int]] = {}
        moves: dict[int, dict[int, Fraction]] = {p: {} for p, _ in numbers.questions()}
        for w, (z, denominator) in enumerate(witnesses):
            self.meter.spend(5 + 10 * len(z))
            for cell, numerator in z.items():
                moving.setdefault(cell, set()).add(w)
                if cell in moves:
                    moves[cell][w] = Fraction(numerator * numbers.scale, denominator)
        known_to = Counter(w for known in numbers.known for w in self.blind(known, moving))
        able = {
            (p, side): sorted(self.able(p, side, moves[p]), key=known_to.__getitem__) for p, side in numbers.questions()
        }
        places = {one: k for k, one in enumerate(able)}
        sides = Counter(cell for cell, _ in able)

        def answering(attacker: int, cell: int, side: int, blind: set[int]) -> tuple[int, ...] | None:
            fractional = (attacker, cell, side) in unproven or (-1, cell, side) in unproven
            allowed = moves[cell].keys() if fractional else integral
            return self.answering(cell, side, able[cell, side], moves[cell], allowed, blind)

        # what answers the public also answers everybody who knows none of the cells that it moves
        public = {one: answering(-1, *one, set()) for one in able}
        rests_on: dict[int, set[tuple[int, int]]] = {}
        for one, found in public.items():
            for w in found or ():
                rests_on.setdefault(w, set()).add(one)
        unanswered = {one for one, found in public.items() if found is None}
        asked = 0
        nothing = frozenset[int]()
        intruders = zip([nothing, *numbers.known], [nothing, *numbers.unasked], strict=True)
        for attacker, (known, unasked) in enumerate(intruders, start=-1):
            asked += len(able) - sum(sides[cell] for cell in unasked)
            blind = self.blind(known, moving)
            again = unanswered.union(*(rests_on.get(w, ()) for w in blind))
            self.meter.spend(len(known) + len(blind) + 5 * len(again))
            who = "the public" if attacker < 0 else f"attacker {attacker}"
            for cell, side in sorted(again, key=places.__getitem__):
                if cell in unasked or (attacker, cell, side) in exposed or (-1, cell, side) in exposed:
                    continue
                if answering(attacker, cell, side, blind) is None:
                    level = {1: "upper", -1: "lower", 0: "sliding"}[side]
                    self.failures.append(f"no witness for the {level} level of {self.label(cell)} against {who}")
        pairs = zip(numbers.known, numbers.unasked, strict=True)
        spared = sum(cell in moves for known, unasked in pairs for cell in unasked - known)
        left_out = f", but for {_counted(spared, 'cell')} that the problem does not ask some of them about"
        self.checked.append(
            f"{_counted(len(witnesses), 'witness', 'witnesses')} within A z = 0, bounds and pattern; all levels are"
            f" reached against the public and {_counted(len(numbers.known), 'attacker')} who know cells"
            + (left_out if spared else "")
            + (" (not those listed)" if exposed else "")
        )
        return asked, len(witnesses)

    def questions(self, name: str) -> set[tuple[int, int, int]]:
        """Return a list of questions, each of which must be one that is asked."""
        numbers = self.numbers
        asked = set(numbers.questions())
        found = set()
        for value in list_of(self.document[name], name):
            attacker, cell, side = question(value)
            who = -1 <= attacker < len(numbers.known) and (cell, side) in asked
            require(who and (attacker < 0 or cell not in numbers.unasked[attacker]), f"'{name}' lists what nobody asks")
            found.add((attacker, cell, side))
        return found

    def blind(self, known: Collection[int], moving: Mapping[int, set[int]]) -> set[int]:
        """Return the witnesses that move a cell which an attacker knows."""
        self.meter.spend(len(known) + sum(len(moving.get(j, ())) for j in known))
        return set[int]().union(*(moving.get(j, ()) for j in known))

    def able(self, cell: int, side: int, moves: Mapping[int, Fraction]) -> list[int]:
        """Return the witnesses that reach a one-sided level."""
        level = self.numbers.need[side][cell]
        self.meter.spend(3 * len(moves))
        return [w for w, move in moves.items() if side * move >= level] if side else []

    def answering(
        self,
        cell: int,
        side: int,
        alone: list[int],
        moves: Mapping[int, Fraction],
        allowed: Collection[int],
        blind: set[int],
    ) -> tuple[int, ...] | None:
        """Return witnesses that reach a level, are allowed, and move no known cell; None where there are none."""
        if side:
            seen, found = next(
                ((k, (w,)) for k, w in enumerate(alone) if w in allowed and w not in blind), (len(alone), None)
            )
            self.meter.spend(2 + seen)
            return found
        self.meter.spend(2 + 3 * len(moves))
        mine = {w: move for w, move in moves.items() if w in allowed and w not in blind}
        if not mine:
            return None
        top, bottom = max(mine, key=mine.__getitem__), min(mine, key=mine.__getitem__)
        width = max(mine[top], Fraction(0)) - min(mine[bottom], Fraction(0))
        return (top, bottom) if width >= self.numbers.need[0][cell] else None

    def deviation(self, w: int, witness: Mapping[str, Any]) -> tuple[dict[int, int], int]:
        """Check A z = 0, bounds and pattern of one witness."""
        numbers = self.numbers
        mapping_of(witness, f"witness {w}", ("cells", "numerators", "denominator"))
        cells = positions(witness["cells"], numbers.n, f"cells of witness {w}")
        numerators = integers(witness["numerators"], f"numerators of witness {w}")
        (denominator,) = integers([witness["denominator"]], f"denominator of witness {w}")
        distinct = len(cells) == len(set(cells)) == len(numerators)
        require(distinct and denominator > 0, f"witness {w} is malformed")
        bits = max(map(int.bit_length, (denominator, *numerators)))
        self.meter.long(bits, 5 + sum(8 + 2 * len(numbers.columns[cell]) for cell in cells))
        sums: dict[int, int] = {}
        for cell, z in zip(cells, numerators, strict=True):
            bound = numbers.up[cell] if z > 0 else numbers.down[cell]
            if bound is not None and abs(z) * numbers.scale > bound * denominator:
                self.failures.append(f"witness {w} breaks an external bound of {self.label(cell)}")
            self.expect(cell in self.hidden, f"witness {w} moves the published cell {self.label(cell)}")
            for row, c in numbers.columns[cell]:
                sums[row] = sums.get(row, 0) + c * z
        broken = [row for row, total in sums.items() if total]
        self.expect(not broken, f"witness {w} breaks equations {broken[:5]}")
        return dict(zip(cells, numerators, strict=True)), denominator

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
            rows = _counted(len(document["proof"]["rows"]), "inequality", "inequalities")
            self.checked.append(f"lower bound {words_of(self.bound)} from {rows} rebuilt exactly")

    def claimed(self) -> tuple[Fraction | None, str]:
        """Return the bound that is claimed, and how far it goes beyond the proven one, in words."""
        document = self.document
        if document["claimed_bound"] is None or document["verdict"] != "safe":
            return None, ""
        claimed = fraction(document["claimed_bound"], "claimed_bound")
        return claimed, beyond(self.cost, claimed, self.bound)


def _counted(number: int, one: str, several: str = "") -> str:
    return f"{number} {one if number == 1 else several or one + 's'}"


if __name__ == "__main__":
    outcome = verify(sys.argv[1], against=sys.argv[2] if len(sys.argv) > 2 else None)
    print(outcome.summary())
    sys.exit(0 if outcome.ok else 1)
