"""What the commands print: the same shapes and words everywhere.

Every word reaches the terminal through a `Screen`: no control character of a name or a code gets there, and nothing in
them is taken for markup or an emoji. Colours are given as styles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from tabprotect.counted import counted
from tabprotect.visible import visible

if TYPE_CHECKING:
    from pathlib import Path

    from tabprotect.release.publication import Publication
    from tabprotect.report.numbers import Numbers
    from tabprotect.table.reading import Recognised

__all__ = [
    "Screen",
    "cells_table",
    "facts",
    "number",
    "out",
    "put_json",
    "reached",
    "said",
    "screen",
    "show_table",
    "verdict",
    "wrong",
]


_FILE_WIDTH = 160  # columns where no terminal says how many it has


class Screen(Console):
    """A console that shows text as it is: no markup, no emoji, and a sign in the place of control characters."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Take a text as it is, cleaned before it is measured."""
        return super().render_str(visible(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield what is to be shown; all output goes through here, so that nothing is missed."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


def out() -> Screen:
    """Return the console of results (standard output)."""
    console = Screen(soft_wrap=True)
    return console if console.is_terminal else Screen(soft_wrap=True, width=_FILE_WIDTH)


def screen() -> Screen:
    """Return the console of progress and warnings (standard error)."""
    return Screen(stderr=True)


def number(value: float | None, numbers: Numbers | None = None) -> str:
    """Write a number for people, as in the data where these say how.

    Examples
    --------
    >>> number(1234567.0), number(0.125), number(None)
    ('1,234,567', '0.125', '-')
    """
    from tabprotect.report.numbers import STANDARD

    return "-" if value is None or value != value else (numbers or STANDARD).plain(value)


def said(found: Iterable[Recognised]) -> None:
    """Say on standard error how files were read."""
    for one in found:
        screen().print(one.line(), style="dim", soft_wrap=True)


def put_json(text: str, place: Path | None) -> bool:
    """Write a result as JSON where it was asked for, if anywhere; say whether that was standard output (``-``)."""
    from tabprotect.formats.files import write_text

    if place is None:
        return False
    if str(place) != "-":
        write_text(place, text)
        return False
    typer.echo(text, nl=False)
    return True


def reached(name: str, status: str | Text, result: Any) -> list[tuple[str, str | Text]]:
    """Return the facts about the result of any method for an instance: sizes, status; cost, bound and gap if known."""
    problem, gap = result.problem, result.gap
    sizes = (
        f"{counted(problem.n_cells, 'cell')}, {len(problem.primaries):,} primary, "
        f"{counted(problem.system.n_equations, 'equation')}"
    )
    paid = (("cost", result.cost), ("bound", result.bound))
    lines: list[tuple[str, str | Text]] = [("instance", f"{name}: {sizes}"), ("status", status)]
    lines += [(word, number(value)) for word, value in paid if value is not None]
    return lines if gap is None else [*lines, ("gap", f"{100 * gap:.2f} %")]


def facts(console: Console, lines: Iterable[tuple[str, str | Text]]) -> None:
    """Print names and values in two columns."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(overflow="fold")
    for name, value in lines:
        grid.add_row(name, value)
    console.print(grid)


def cells_table(
    console: Console,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    most: int = 20,
    numbers: Numbers | None = None,
) -> None:
    """Print a table of cells, at most `most` of them and how many more there are."""
    table = Table(show_edge=False, header_style="bold")
    for k, name in enumerate(columns):
        text = all(isinstance(row[k], str) for row in rows)
        table.add_column(name, justify="left" if text else "right", overflow="fold")
    for row in rows[:most]:
        table.add_row(*(v if isinstance(v, str) else number(v, numbers) for v in row))
    console.print(table)
    if len(rows) > most:
        console.print(f"... and {number(len(rows) - most, numbers)} more")


def verdict(safe: bool) -> Text:
    """Return a coloured yes or no (in words, too)."""
    return Text("safe", "bold green") if safe else Text("NOT SAFE", "bold red")


def wrong(console: Console, failure: str) -> None:
    """Print what a check found wrong."""
    console.print(Text.assemble(("wrong", "bold red"), visible(f": {failure}")))


def not_safe(console: Console, reason: str) -> None:
    """Print why a release is not safe."""
    console.print(Text.assemble(("not safe", "bold red"), visible(f": {reason}")))


_ROWS, _COLUMNS = 24, 8


def show_table(console: Console, release: Publication, numbers: Numbers) -> None:
    """Print the upper levels of a table: the longest dimension down, the next one across, totals of all others.

    Of linked tables the first one that hides cells.
    """
    from tabprotect.release.changed import ChangedRelease
    from tabprotect.release.suppressed import Release
    from tabprotect.report.parts import published_parts
    from tabprotect.table.decimals import decimals_of

    values = release.values if isinstance(release, ChangedRelease) else release.table.values
    places = None if values is None else decimals_of(values)
    parts = published_parts(release.table)
    hides = [
        isinstance(release, Release) and bool(release.pattern[release.table.row_cell[p.rows]].any()) for p in parts
    ]
    part = parts[hides.index(True)] if True in hides else parts[0]
    if len(parts) > 1:
        console.print(f"{part.name} (1 of {len(parts)} linked tables)", style="bold")
    tops = [[code for code, depth in axis.nodes if depth <= 1] for axis in part.axes]
    order = sorted(range(len(tops)), key=lambda k: -len(part.axes[k].codes))
    down = tops[order[0]]
    across = tops[order[1]] if len(order) > 1 else [-1]
    codes = [part.axes[k].nodes[0][0] for k in range(len(tops))]
    rows = {at: int(row) for row, at in zip(part.rows, zip(*(a.tolist() for a in part.at), strict=True), strict=True)}
    names = part.axes[order[1]].codes if len(order) > 1 else ()
    table = Table(show_edge=False, header_style="bold")
    table.add_column(part.axes[order[0]].name, no_wrap=True)
    for code in across[:_COLUMNS]:
        table.add_column(names[code] if code >= 0 else release.table.value_name, justify="right", no_wrap=True)
    for line in down[:_ROWS]:
        words: list[str | Text] = [part.axes[order[0]].codes[line]]
        for code in across[:_COLUMNS]:
            codes[order[0]] = line
            if len(order) > 1:
                codes[order[1]] = code
            words.append(_word(release, rows.get(tuple(codes)), places, numbers))
        table.add_row(*words)
    console.print(table)
    if not isinstance(release, Release):
        console.print("published values (upper levels; the pages show all)", style="dim")
        return
    key = _PRIMARY, " primary   ", _SECONDARY, " secondary   (upper levels; the pages show all)"
    console.print(Text.assemble(*key), style="dim")


_PRIMARY, _SECONDARY = ("× p", "red"), ("× s", "yellow")


def _word(release: Publication, row: int | None, places: int | None, numbers: Numbers) -> str | Text:
    if row is None:
        return ""
    from tabprotect.release.changed import ChangedRelease
    from tabprotect.release.suppressed import Release

    cell = int(release.table.row_cell[row])
    if isinstance(release, ChangedRelease):
        return "" if release.values is None else numbers.fixed(float(release.values[cell]), places)
    assert isinstance(release, Release)
    if not release.pattern[cell]:
        return numbers.fixed(float(release.table.values[cell]), places)
    return Text(*(_PRIMARY if release.words[cell] == "primary" else _SECONDARY))
