"""Pictures of measures as SVG text, which needs no library for plots and can stand in a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from tabprotect.visible import visible

__all__ = ["bars"]


def bars(title: str, found: Sequence[tuple[str, float]]) -> str:
    """Return a bar for each label and number; titles and labels are escaped, control characters made visible.

    Examples
    --------
    >>> "&lt;b&gt;" in bars("<b>", [("one", 1.0)])
    True
    """
    heading = escape(visible(title))
    sizes = [abs(value) if math.isfinite(value) else 0.0 for _, value in found]
    height, top = 18, max(sizes, default=0.0) or 1.0
    rows = [
        f'<text x="150" y="{40 + i * height}" text-anchor="end">{escape(visible(label[:24]))}</text>'
        f'<rect x="156" y="{29 + i * height}" width="{280 * size / top:.1f}" height="13"'
        ' fill="#2f6f9f"/>'
        f'<text x="{162 + 280 * size / top:.1f}" y="{40 + i * height}">{value:.4g}</text>'
        for i, ((label, value), size) in enumerate(zip(found, sizes, strict=True))
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 520 {40 + height * len(found)}" font-size="11" '
        f'font-family="sans-serif"><text x="8" y="16" font-weight="bold">{heading}</text>{"".join(rows)}</svg>'
    )
