"""``SAFETYRULE``: rules of tau-ARGUS in our words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tabprotect.errors import did_you_mean
from tabprotect.formats.argus.parts import call_of, check_count, number_of, split

__all__ = ["SafetyRule"]

#: how many of the first P, NK, FREQ, REQ rules are at the level of individuals
_INDIVIDUAL: Final = {"P": 2, "NK": 2, "FREQ": 1, "REQ": 1}


@dataclass(frozen=True)
class SafetyRule:
    """``SAFETYRULE``: rules in the words of `tabprotect.parse_rule`, at the level of individuals and of holdings."""

    individual: tuple[str, ...] = ()
    holding: tuple[str, ...] = ()
    weighted: bool = False
    missing_safe: bool = False
    manual: float = 20.0

    @classmethod
    def parse(cls, text: str) -> SafetyRule:
        """Read what follows the keyword."""
        found: dict[bool, list[str]] = {False: [], True: []}
        seen: dict[str, int] = {}
        general: dict[str, float] = {}
        for part in split(text, "|"):
            if not part.strip():
                continue
            name, words = call_of(part)
            numbers = [number_of(word, name) for word in words]
            if name in ("WGT", "MIS"):
                if numbers not in ([0.0], [1.0]):
                    raise ValueError(f"{name} is followed by 0 or 1 in brackets")
                general[name] = numbers[0]
            elif name == "MAN":
                check_count(name, numbers, 1, 1, "per cent")
                general[name] = numbers[0]
            else:
                seen[name] = seen.get(name, 0) + 1
                most = 2 * _INDIVIDUAL.get(name, 0) or 1
                if seen[name] > most:
                    raise ValueError(f"{name} is given {seen[name]} times; at most {most} are allowed")
                rule = _rule(name, numbers)
                if rule is not None:
                    found[name in _INDIVIDUAL and seen[name] > _INDIVIDUAL[name]].append(rule)
        return cls(
            tuple(found[False]),
            tuple(found[True]),
            bool(general.get("WGT", 0)),
            bool(general.get("MIS", 0)),
            general.get("MAN", 20.0),
        )


def _rule(name: str, numbers: list[float]) -> str | None:
    """Return a rule as `tabprotect.parse_rule` reads it; None where its first number switches it off."""
    if name == "P":
        check_count(name, numbers, 1, 3, "p, n")
        if not numbers[0]:
            return None
        if len(numbers) == 3 and numbers[1] != 100:
            return "pq=" + ",".join(f"{number:g}" for number in numbers)
        n = numbers[-1] if len(numbers) > 1 else 1
        return f"p%={numbers[0]:g},{n:g}"
    if name == "NK":
        check_count(name, numbers, 2, 2, "n, k")
        return f"nk={numbers[0]:g},{numbers[1]:g}" if numbers[0] and numbers[1] else None
    if name == "FREQ":
        check_count(name, numbers, 2, 2, "least number, range")
        return f"threshold={numbers[0]:g},{numbers[1]:g}" if numbers[0] else None
    if name == "ZERO":
        check_count(name, numbers, 1, 1, "range")
        return f"zero={numbers[0]:g}" if numbers[0] else None
    if name == "REQ":
        check_count(name, numbers, 3, 4, "percent 1, percent 2, least number, range")
        if not numbers[0]:
            return None
        least = f",{numbers[2]:g}" if len(numbers) == 4 else ""
        return f"request={numbers[0]:g},{numbers[1] or numbers[0]:g},{numbers[-1]:g}{least}"
    raise ValueError(
        f"rule {name} is not known{did_you_mean(name, ['P', 'NK', 'FREQ', 'ZERO', 'REQ', 'WGT', 'MIS', 'MAN'])}"
    )
