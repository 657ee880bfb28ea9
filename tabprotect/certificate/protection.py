"""Whether witnesses reach every protection level: against the public, and against every attacker who knows cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from typing import Any

from tabprotect.certificate.document import (
    VERDICTS,
    counted,
    integers,
    list_of,
    mapping_of,
    positions,
    question,
    require,
)
from tabprotect.certificate.limits import Meter
from tabprotect.certificate.numbers import Numbers

__all__ = ["Protection"]


class Protection:
    """The witnesses of a certificate, and which questions of which attackers they answer.

    Parameters
    ----------
    document : mapping
        The certificate.
    numbers : Numbers
        Of its problem.
    hidden : set of int
        The pattern.
    meter : Meter
        What the check may cost.
    label : callable
        The name of a cell, for messages.

    Attributes
    ----------
    failures, checked : list of str
        What was found wrong, and what holds if that is nothing.
    """

    def __init__(
        self,
        document: Mapping[str, Any],
        numbers: Numbers,
        hidden: Collection[int],
        meter: Meter,
        label: Callable[[int], str],
    ) -> None:
        self.document, self.numbers, self.hidden, self.meter, self.label = document, numbers, hidden, meter, label
        self.failures: list[str] = []
        self.checked: list[str] = []

    def expect(self, holds: bool, failure: str) -> None:
        """Note a failure unless something holds."""
        if not holds:
            self.failures.append(failure)

    def run(self) -> tuple[int, int]:
        """Check all witnesses, then that they answer all questions of all attackers; return how many there are."""
        document, numbers = self.document, self.numbers
        exposed, unproven = (self.questions(name) for name in ("exposed", "unproven"))
        require(numbers.integer or not unproven, "only integer problems have unproven questions")
        verdict = VERDICTS[2 if exposed else 1 if unproven else 0]
        self.expect(document["verdict"] == verdict, f"the verdict must be '{verdict}', not '{document['verdict']}'")
        witnesses = [self.deviation(w, z) for w, z in enumerate(list_of(document["witnesses"], "witnesses"))]
        moving: dict[int, set[int]] = {}
        moves: dict[int, dict[int, Fraction]] = {p: {} for p, _ in numbers.questions()}
        for w, (z, denominator) in enumerate(witnesses):
            self.meter.spend(5 + 10 * len(z))
            for cell, numerator in z.items():
                moving.setdefault(cell, set()).add(w)
                if cell in moves:
                    moves[cell][w] = Fraction(numerator * numbers.scale, denominator)
        integral = {w for w, (_, denominator) in enumerate(witnesses) if denominator == 1 or not numbers.integer}
        asked = self.ask(exposed, unproven, integral, moving, moves)
        pairs = zip(numbers.known, numbers.unasked, strict=True)
        spared = sum(cell in moves for known, unasked in pairs for cell in unasked - known)
        left_out = f", but for {counted(spared, 'cell')} that the problem does not ask some of them about"
        self.checked.append(
            f"{counted(len(witnesses), 'witness', 'witnesses')} within A z = 0, bounds and pattern; all levels are"
            f" reached against the public and "
            f"{counted(len(numbers.known), 'attacker who knows cells', 'attackers who know cells')}"
            + (left_out if spared else "")
            + (" (not those listed)" if exposed else "")
        )
        return asked, len(witnesses)

    def ask(
        self,
        exposed: set[tuple[int, int, int]],
        unproven: set[tuple[int, int, int]],
        integral: set[int],
        moving: Mapping[int, set[int]],
        moves: Mapping[int, Mapping[int, Fraction]],
    ) -> int:
        """Ask all questions of all attackers; return how many these are.

        Parameters
        ----------
        exposed, unproven : set
            Questions that are said to have no answer, or none in whole numbers.
        integral : set of int
            Witnesses in whole numbers, where these are asked for.
        moving : mapping
            Which witnesses move a cell.
        moves : mapping
            How far, of cells that are asked about.
        """
        numbers = self.numbers
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
        return asked

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
