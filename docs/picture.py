"""Draw the table of the README: ``python docs/picture.py`` writes ``docs/table.svg``.

Turnover of four sections of the bundled, synthetic register by activity and region, protected as anybody would.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

import tabprotect as tp

OUT = Path(__file__).parent / "table.svg"
SECTIONS = {"E": "Water, waste", "F": "Construction", "I": "Hotels, restaurants", "J": "Information"}
ROW, COLUMN, LEFT, TOP = 23, 77, 190, 74
FILLS = {"published": "#ffffff", "primary": "#f4a6a0", "secondary": "#fbdf9d"}
LEGEND = {
    "published": "published",
    "primary": "tells too much about somebody: hidden",
    "secondary": "hidden so that nobody can compute the red ones",
}


def release() -> tp.Release:
    """Protect the table."""
    register = tp.instances.register()
    divisions = tp.Hierarchy.read(tp.instances.data("division.hrc"))
    splits = tuple((parent, tuple(SECTIONS) if parent == "Total" else parts) for parent, parts in divisions.splits)
    activity = tp.Hierarchy(tuple(split for split in splits if split[0] in ("Total", *SECTIONS)))
    return tp.protect(
        register[register["division"].isin(activity.leaves)],
        by=[
            tp.Dimension("division", activity),
            tp.Dimension("nuts", tp.Hierarchy.read(tp.instances.data("nuts.hrc"))),
        ],
        value="turnover",
        contributor="enterprise_id",
        holding="group_id",
        rules=["p%=15", "threshold=3"],
    )


def text(x: float, y: float, words: str, *, anchor: str = "end", weight: int = 400, fill: str = "#1f2430") -> str:
    """Return one piece of text."""
    style = f'text-anchor="{anchor}" font-weight="{weight}" fill="{fill}"'
    return f'<text x="{x:g}" y="{y:g}" {style}>{escape(words)}</text>'


def draw(made: tp.Release) -> str:
    """Return the picture of a release with two dimensions."""
    rows, columns = (dimension.hierarchy for dimension in made.table.dimensions)
    assert rows is not None
    assert columns is not None
    shown = made.table.rows.assign(
        word=[word if word in FILLS else "published" for word in made.words[made.table.row_cell]]
    ).set_index(["division", "nuts"])
    width, height = LEFT + COLUMN * len(columns.codes) + 12, TOP + ROW * len(rows.codes) + 46
    look = 'font-size="12.5" font-family="-apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {look}>',
        f'<rect width="{width}" height="{height}" rx="8" fill="#f6f7f9"/>',
        text(14, 26, "Turnover by activity and region, million euro", anchor="start", weight=600),
    ]
    for j, region in enumerate(columns.codes):
        bold = 700 if columns.levels[j] < 2 else 400
        parts.append(text(LEFT + COLUMN * (j + 1) - 8, TOP - 10, region, weight=bold))
    for i, activity in enumerate(rows.codes):
        y, level = TOP + ROW * i, int(rows.levels[i])
        name = f"{activity}  {SECTIONS[activity]}" if activity in SECTIONS else activity
        parts.append(text(14 + 16 * level, y + 16, name, anchor="start", weight=700 if level < 2 else 400))
        for j, region in enumerate(columns.codes):
            cell = shown.loc[(activity, region)]
            x, word = LEFT + COLUMN * j, str(cell["word"])
            parts.append(
                f'<rect x="{x}" y="{y}" width="{COLUMN - 1.5}" height="{ROW - 1.5}" rx="2" fill="{FILLS[word]}"/>'
            )
            if word == "published":
                bold = 700 if level < 2 or columns.levels[j] < 2 else 400
                parts.append(text(x + COLUMN - 8, y + 15.5, f"{cell['turnover'] / 1000:,.1f}", weight=bold))
            else:
                parts.append(text(x + (COLUMN - 1.5) / 2, y + 15.5, "×", anchor="middle", fill="#5a2a27"))
    x, y = 14.0, height - 18
    for word, words in LEGEND.items():
        parts.append(
            f'<rect x="{x}" y="{y - 12}" width="15" height="15" rx="2" fill="{FILLS[word]}" stroke="#c9ccd3"/>'
        )
        parts.append(text(x + 22, y, words, anchor="start"))
        x += 46 + 6.4 * len(words)
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    OUT.write_text(draw(release()), encoding="utf-8")
    print(f"wrote {OUT}")
