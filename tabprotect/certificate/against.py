"""Is the problem inside a certificate the office's own? The standard library only.

Two problems are the same if they have the same cells by name, the same numbers, statuses and attackers, and the same
equations: as sets, each equation divided by the greatest common divisor of its numbers and its first coefficient made
positive. The order of cells and equations does not count. Certificates of releases must also show the cells under the
same names (`tabprotect.certificate.shown`). What a file cannot state is listed as not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tabprotect.certificate.document import COLUMNS
from tabprotect.certificate.given import Data, Equation, of_statement, read
from tabprotect.certificate.limits import UNLIMITED, Limits, Malformed, Meter, require

__all__ = ["Comparison", "compare"]


@dataclass
class Comparison:
    """What differs, what was compared, and what the data given do not state."""

    failures: list[str] = field(default_factory=list)
    compared: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def sentences(self) -> tuple[list[str], list[str]]:
        """Return what was checked and what was not."""
        checked = [f"the embedded problem against the data given: {', '.join(self.compared)}"]
        return checked, [f"{', '.join(self.missing)}: the data given do not state them"] if self.missing else []


def compare(document: Mapping[str, Any], against: Any, limits: Limits = UNLIMITED) -> Comparison:
    """Compare the problem of a certificate with the office's data.

    Parameters
    ----------
    document : mapping
        A certificate whose problem was found to be well formed.
    against : path or mapping
        A problem statement or a mapping with one as ``problem``, columns by name, a certificate or statement (.json), a
        .jj or .csv file, each also as .gz, or the folder of a release.
    limits : Limits

    Raises
    ------
    Malformed
        If the data cannot be read, or name no cells.
    OSError
        If a file cannot be read.
    """
    meter = Meter(limits)
    data = read(against, limits, meter)
    own = of_statement(document["problem"], meter, document.get("claim"))
    require(len(set(own.names)) == len(own.names), "cells of the certificate have the same name, so none can be found")
    require(len(set(data.names)) == len(data.names), "the data given name a cell twice")
    found = Comparison()
    sums = _sums(own, set(data.names))
    own = _without(own, sums)
    left, right = set(own.names), set(data.names)
    if left != right:
        for cells, where in ((left - right, "only in the certificate"), (right - left, "only in the data given")):
            if cells:
                found.failures.append(f"not the same cells: {_few(sorted(cells))} {where}")
        return found
    found.compared.append(f"cells (and {len(sums)} sums of them that are judged as cells, too)" if sums else "cells")
    _columns(own, data, found)
    _equations(own, data, found)
    whole = " (the certificate: whole numbers)" if own.integer else " (the certificate: any numbers)"
    for name, mine, theirs, said in (
        (
            "attackers",
            _sorted(own.attackers),
            _sorted(data.attackers),
            f" (the certificate: {len(own.attackers or ())})",
        ),
        ("integrality", own.integer, data.integer, whole),
        ("claim of the method", own.claim, data.claim, ""),
        ("names of columns and further codes of cells", own.shown, data.shown, ""),
    ):
        if theirs is None:
            if mine is not None:
                found.missing.append(f"{name}{said}")
            continue
        found.compared.append(name)
        if mine != theirs:
            found.failures.append(f"'{name}' differs from the data given")
    return found


def _sums(own: Data, known: set[str]) -> set[str]:
    """Return the cells that the data given do not have, if each of them is but a name for a sum of those they have.

    Then an equation of its own defines it and nothing else mentions it, so that it restricts nobody but the intruder.
    """
    further = set(own.names) - known
    used: dict[str, int] = dict.fromkeys(further, 0)
    for terms, rhs in own.equations or ():
        here = [name for name, _ in terms if name in further]
        if here and (len(here) > 1 or rhs or any(abs(c) != 1 for _, c in terms)):
            return set()
        for name in here:
            used[name] += 1
    return further if all(count == 1 for count in used.values()) else set()


def _without(own: Data, sums: set[str]) -> Data:
    """Leave out cells that are sums."""
    if not sums:
        return own
    kept = [i for i, name in enumerate(own.names) if name not in sums]
    return Data(
        [own.names[i] for i in kept],
        {name: [column[i] for i in kept] for name, column in own.columns.items()},
        [e for e in own.equations or () if not any(name in sums for name, _ in e[0])],
        [
            (name, tuple(c for c in known if c not in sums), tuple(c for c in spared if c not in sums))
            for name, known, spared in own.attackers or ()
        ],
        own.integer,
        own.claim,
        own.shown,
    )


def _sorted(attackers: Iterable[tuple[str, tuple[str, ...], tuple[str, ...]]] | None) -> Any:
    return None if attackers is None else sorted(attackers)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _columns(own: Data, data: Data, found: Comparison) -> None:
    place = {name: i for i, name in enumerate(own.names)}
    for name in COLUMNS:
        if name not in data.columns:
            found.missing.append(name)
            continue
        found.compared.append(name)
        column = own.columns[name]
        pairs = zip(data.names, data.columns[name], strict=True)
        wrong = [cell for cell, given in pairs if not _equal(column[place[cell]], given, name)]
        if wrong:
            found.failures.append(f"'{name}' differs from the data given in {_few(wrong)}")


def _equal(written: Any, given: Any, name: str) -> bool:
    if given == written:
        return True
    if name == "status":
        return str(given).strip() == str(written)
    try:
        return float(written) == float(given)  # the decimals of a file are read as floats
    except (TypeError, ValueError, OverflowError):
        raise Malformed(f"the data given have {str(given)[:40]!r} in '{name}', which is not a number") from None


def _equations(own: Data, data: Data, found: Comparison) -> None:
    if data.equations is None:
        found.missing.append("equations")
        return
    found.compared.append("equations (as sets, each in its smallest whole numbers)")
    mine, theirs = set(own.equations or ()), set(data.equations)
    for left, where in ((mine - theirs, "only in the certificate"), (theirs - mine, "only in the data given")):
        if left:
            words = "; ".join(sorted(_words(equation) for equation in left)[:3])
            found.failures.append(f"{len(left)} equations are {where}: {words}{'; ...' if len(left) > 3 else ''}")


def _words(equation: Equation) -> str:
    terms, rhs = equation
    said = " ".join(f"{'+' if c > 0 else '-'} {'' if abs(c) == 1 else f'{abs(c)} '}{name}" for name, c in terms[:6])
    return f"{said}{' ...' if len(terms) > 6 else ''} = {rhs}"
