"""``tabprotect audit``: play the intruder against a pattern or a release."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tabprotect.cli.arguments import TimeLimit
from tabprotect.counted import counted

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tabprotect.attack.findings import Audit
    from tabprotect.formats.dialect import Dialect
    from tabprotect.methods.suppression.result import SuppressionResult
    from tabprotect.problem import Problem
    from tabprotect.report.numbers import Numbers
    from tabprotect.solver.limits import Budget

EPILOG = """Examples:

[bold]tabprotect audit table8.jj --pattern result.json[/]

[bold]tabprotect audit release --intervals intervals.csv[/]
"""


Target = Annotated[
    Path, typer.Argument(metavar="INSTANCE|RELEASE", help="An instance file, or the folder of a release.")
]
Pattern = Annotated[
    Path | None,
    typer.Option(
        "--pattern",
        metavar="PATTERN.json",
        help="For an instance: a list of cell ids, or what `tabprotect solve --json` wrote.",
        show_default=False,
    ),
]
Intervals = Annotated[
    Path | None,
    typer.Option("--intervals", metavar="OUT", help="Write the intruder's interval of every hidden cell (.csv)."),
]
JsonOut = Annotated[
    Path | None, typer.Option("--json", metavar="OUT", help="Write the verdict there; - is standard output.")
]
First = Annotated[bool, typer.Option("--first", help="Only say whether it is safe: stop at the first exposed cell.")]
NoLimits = Annotated[
    bool, typer.Option("--no-limits", help="Read a release of any size: for those that you made yourself.")
]


def audit(
    target: Target,
    pattern: Pattern = None,
    intervals: Intervals = None,
    json_: JsonOut = None,
    first: First = False,
    no_limits: NoLimits = False,
    time_limit: TimeLimit = None,
) -> int:
    """Say whether an intruder can conclude too much from what is published, and about which cells.

    Exit code 1 and the exposed cells if so. What cannot be decided within a time limit counts as exposed.
    """
    import json

    from rich.text import Text

    from tabprotect.attack.audit import audit as judge
    from tabprotect.cli import screen
    from tabprotect.cli.exits import Exit
    from tabprotect.cli.progress import Display, interruptible
    from tabprotect.report.numbers import Numbers
    from tabprotect.solver.limits import Budget, Limits

    _check(intervals, json_, first)
    given = _given(target, pattern, no_limits)
    for note in _odd(given.problem, given.hidden):
        screen.screen().print(note, style="yellow")
    with interruptible(screen.screen()) as asked, Display(screen.screen()) as progress:
        budget = Budget(Limits(seconds=time_limit, stop=asked.is_set), progress)
        budget.report("audit")
        found = judge(given.problem, given.hidden, intervals=intervals is not None, budget=budget, stop_at_first=first)
    found = replace(found, cells=given.cells, rows=given.rows, changed=given.changed, not_safe=given.not_safe)
    if intervals is not None:
        _write(found, intervals, given.dialect)
        if found.left_out:
            screen.screen().print(Text(f"{found.left_out}; {intervals} is without them", "yellow"))
    own = None if pattern is None or first or not found.safe else _priced(found, budget)
    price = {} if own is None else {"cost": own.cost, "bound": own.bound, "gap": own.gap}
    verdict = {**_verdict(found, given.failures), **price}
    if not screen.put_json(json.dumps(verdict, indent=2, allow_nan=False) + "\n", json_):
        _show(screen.out(), found, given.failures, Numbers.of(given.dialect))
        if own is not None:
            screen.out().print(_priced_words(own))
    if not found.safe or given.failures:
        # what Ctrl-C left undecided may be exposed: 3 would call it safe
        return Exit.UNSAFE
    return Exit.LIMIT if asked.is_set() else Exit.DONE


def _check(intervals: Path | None, json_: Path | None, first: bool) -> None:
    """Refuse places that cannot be written, and options that do not go together, before the work."""
    from tabprotect.errors import InputError
    from tabprotect.formats.files import check_writable
    from tabprotect.formats.folder import check_outside

    for out in (intervals, json_):
        if out is not None and str(out) != "-":
            check_outside(out)
            check_writable(out)
    if intervals is not None and intervals.suffix.lstrip(".") not in ("csv", "parquet", "xlsx"):
        raise InputError(f"{intervals}: intervals are written as .csv, .parquet or .xlsx")
    if first and intervals is not None:
        raise InputError("--first stops before the intervals that --intervals asks for; give one of them")


@dataclass(frozen=True)
class _Given:
    """What is judged: a pattern of an instance, or a release, what is wrong with its files, and why it is not safe."""

    problem: Problem
    hidden: npt.NDArray[np.bool_]
    dialect: Dialect
    failures: tuple[str, ...] = ()
    not_safe: tuple[str, ...] = ()
    cells: int | None = None
    rows: int | None = None
    changed: bool = False


def _given(target: Path, pattern: Path | None, no_limits: bool) -> _Given:
    from tabprotect.errors import InputError
    from tabprotect.formats.places import recover

    recover(target)
    if not target.is_dir():
        return _instance(target, pattern)
    if pattern is not None:
        raise InputError("--pattern goes with an instance; a release has its own")
    return _release(target, no_limits)


def _instance(path: Path, pattern: Path | None) -> _Given:
    from tabprotect.errors import InputError
    from tabprotect.formats import read_instance
    from tabprotect.formats.dialect import STANDARD
    from tabprotect.formats.pattern import read_pattern

    problem = read_instance(path)
    if pattern is None:
        raise InputError("an instance needs --pattern PATTERN.json, the cells that are hidden")
    return _Given(problem, read_pattern(pattern, problem.system), STANDARD)


def _release(folder: Path, no_limits: bool) -> _Given:
    from tabprotect.certificate.claims import DOUBTS
    from tabprotect.certificate.limits import LIMITS, UNLIMITED
    from tabprotect.release.read import read_release

    found = read_release(folder, UNLIMITED if no_limits else LIMITS)
    claim = found.certificate.document.get("claim", {})
    doubt = [f"'{claim['method']}' leaves doubt and proves no distance"] if claim.get("method") in DOUBTS else []
    why = found.not_safe or tuple(doubt)
    sizes = found.cells, found.rows
    return _Given(found.problem, found.pattern, found.dialect, found.failures, why, *sizes, found.changed)


def _write(found: Audit, place: Path, dialect: Dialect) -> None:
    """Write the intervals of hidden cells that were computed, in the form that the ending of the place says.

    Ends are values plus deviations: of those that are not whole the digits beyond the fifteenth are rounding errors.
    """
    from tabprotect.formats.files import write_bytes
    from tabprotect.formats.frames import encode_frame

    frame = found.computed_frame.drop(columns="cell").rename(columns={"label": "cell"})
    for ends in ("low", "high", "needed_low", "needed_high", "missing"):
        frame[ends] = [end if end.is_integer() else float(f"{end:.15g}") for end in frame[ends]]
    form = place.suffix.lstrip(".")
    write_bytes(place, encode_frame(frame, form, confidential=True, dialect=dialect))


def _priced(found: Audit, budget: Budget) -> SuppressionResult | None:
    """Return what a safe pattern of the user costs and what any other one costs at least."""
    from tabprotect.methods.suppression.lower_bound import found_safe

    problem, hidden = found.problem, found.pattern
    return None if (hidden & ~problem.may_hide).any() else found_safe(problem, hidden, budget)


def _priced_words(own: SuppressionResult) -> str:
    gap = "" if own.gap is None else f", gap {100 * own.gap:.2f} %"
    note = f" ({own.message})" if own.message else ""
    return f"The secondary cells cost {own.cost:,.10g}; no safe pattern costs less than {own.bound:,.10g}{gap}{note}"


def _odd(problem: Problem, hidden: npt.NDArray[np.bool_]) -> list[str]:
    """Say what is odd about a pattern without being unsafe."""
    import numpy as np

    strange = np.flatnonzero(hidden & ~problem.may_hide)
    if not len(strange):
        return []
    names = ", ".join(problem.system.label(int(i)) for i in strange[:5])
    return [
        f"The pattern hides {counted(len(strange), 'cell')} that everybody knows or that must be published: {names}"
    ]


def _verdict(found: Audit, failures: tuple[str, ...]) -> dict[str, Any]:
    from tabprotect.formats.pattern import cell_ids

    system = found.problem.system
    return {
        "safe": found.safe and not failures,
        "lp_safe_only": found.lp_safe_only,
        "undecided": found.undecided,
        "counts": found.counts.document(),
        "exposed": cell_ids(system, found.exposed),
        "exposures": [
            {
                "cell": cell_ids(system, [e.key.cell])[0],
                "attacker": None if e.key.attacker < 0 else found.problem.attackers[e.key.attacker].name,
                "side": {1: "up", -1: "down", 0: "width"}[e.key.side],
                "reached": e.reached,
                "needed": e.needed,
                "decided": e.decided,
            }
            for e in found.exposures
        ],
        "published": cell_ids(system, found.shown),
        "recomputable": cell_ids(system, found.recomputable),
        "left_open": cell_ids(system, found.left_open),
        "warnings": found.warnings(),
        "exhaustive": found.exhaustive,
        "not_safe": list(found.not_safe),
        "failures": list(failures),
    }


def _show(console: Any, found: Audit, failures: tuple[str, ...], numbers: Numbers) -> None:
    from rich.text import Text

    from tabprotect.cli.screen import cells_table, not_safe, verdict, wrong

    problem = found.problem
    label = problem.system.label
    known = counted(len(problem.attackers), "attacker who knows", "attackers who know")
    sizes = f": {found.counts_words}; {known} cells"
    sizes = numbers.said(sizes)
    word = Text(found.verdict, "bold yellow") if found.undecided and not failures else None
    console.print(Text.assemble(word or verdict(found.safe and not failures), sizes))
    if words := found.counts.sums_words:
        console.print(numbers.said(words))
    for reason in found.not_safe:
        not_safe(console, reason)
    for failure in failures:
        wrong(console, failure)
    if len(found.shown):
        console.print("\nPublished although they must be hidden:", style="bold")
        cells_table(
            console, ["cell", "value"], [(label(int(i)), problem.values[i]) for i in found.shown], numbers=numbers
        )
    if found.exposures:
        console.print("\nNot decided:" if found.undecided else "\nExposed:", style="bold")
        sides = {1: "upwards", -1: "downwards", 0: "width"}
        rows = [
            (
                label(e.key.cell),
                "the public" if e.key.attacker < 0 else problem.attackers[e.key.attacker].name,
                sides[e.key.side] if e.decided else f"{sides[e.key.side]} (not decided)",
                e.reached,
                e.needed,
            )
            for e in found.exposures
        ]
        cells_table(console, ["cell", "to whom", "side", "moves", "needs"], rows, numbers=numbers)
    if not found.exhaustive:
        console.print("Stopped at the first exposed cell; others may be exposed, too.")
    if found.unproven:
        console.print(
            "LP-safe only: no integral witness was found for "
            f"{counted(len(found.unproven), 'protection level')}; intruders who "
            "know that values are whole numbers may conclude more."
        )
    if len(found.recomputable):
        names = ", ".join(label(int(i)) for i in found.recomputable[:10])
        what = "Cells" if found.changed else "Hidden cells"
        console.print(f"{what} that can be recomputed exactly: {names}")
