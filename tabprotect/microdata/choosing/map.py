"""The page of the confidentiality map."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from tabprotect._version import __version__
from tabprotect.visible import visible

__all__ = ["map_page", "render"]


def map_page(rows: Sequence[Mapping[str, Any]], reasons: Sequence[str]) -> str:
    """Return a page with the map, as inline SVG, and the table."""
    points = [row for row in rows if row["score"] is not None]
    most = {key: max((float(row[key]) for row in points), default=1.0) * 1.08 or 1.0 for key in ("loss", "risk")}
    places = [
        {"x": 60 + 620 * row["loss"] / most["loss"], "y": 400 - 370 * row["risk"] / most["risk"], "row": row, "i": i}
        for i, row in enumerate(rows)
        if row["score"] is not None
    ]
    front = sorted((p for p in places if p["row"]["front"]), key=lambda p: p["x"])
    line = " ".join(f"{p['x']:.1f},{p['y']:.1f}" for p in front)
    ticks = [
        {"x": 60 + 155 * i, "y": 400 - 92.5 * i, "loss": most["loss"] * i / 4, "risk": most["risk"] * i / 4}
        for i in range(5)
    ]
    fixed = ("candidate", "score", "loss", "risk", "front", "recommended", "k-minimal", "not possible", "notes")
    measures = [name for name in dict.fromkeys(key for row in rows for key in row) if name not in fixed]
    return render("map", rows=rows, places=places, line=line, ticks=ticks, reasons=reasons, measures=measures)


def render(name: str, **facts: Any) -> str:
    """Fill a template of this folder; what is filled in is escaped, control characters are shown as signs."""
    loader = jinja2.PackageLoader("tabprotect.microdata.choosing")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, finalize=_shown
    )
    environment.filters["number"] = lambda x: "" if x is None else f"{x:.4f}" if isinstance(x, float) else str(x)
    environment.filters["plain"] = lambda x: json.dumps(x, ensure_ascii=False, default=str)
    style = (resources.files("tabprotect.report") / "static" / "style.css").read_text(encoding="utf-8")
    return environment.get_template(f"{name}.html.j2").render(style=Markup(style), version=__version__, **facts)


def _shown(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
