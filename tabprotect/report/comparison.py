"""The page on which methods stand side by side. It is confidential: it measures distances from the true values."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from markupsafe import Markup

from tabprotect._version import __version__
from tabprotect.report.numbers import STANDARD, Numbers
from tabprotect.report.pages import Bars, Grid, environment

__all__ = ["comparison_page"]


def comparison_page(
    title: str, facts: str, charts: Sequence[Bars], grids: Sequence[Grid], numbers: Numbers = STANDARD
) -> str:
    """Return a self-contained page without script.

    Parameters
    ----------
    title, facts : str
        Heading, and a line below it.
    charts : sequence of Bars
    grids : sequence of Grid
    numbers : Numbers
        How numbers are written.
    """
    style = (resources.files("tabprotect.report") / "static" / "style.css").read_text(encoding="utf-8")
    page = environment().get_template("comparison.html.j2")
    return page.render(
        title=title, facts=facts, charts=charts, grids=grids, style=Markup(style), script="", data="{}",
        version=__version__, numbers=numbers,
    )  # fmt: skip
