"""Figures of the experiments of Truta et al. in the guide, from stored results, without computing anything anew.

python -m benchmarks.microdata.truta_figures [RESULTS.csv] [--folder docs/microdata]
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["FIGURES", "RESULTS", "draw", "read"]

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "truta-experiments.csv"

FIGURES = {
    "noise on age": ("truta-noise.svg", "noise on age: variance over that of age"),
    "sex reversed": ("truta-sex.svg", "sex reversed: % of the records"),
    "zip recoded": ("truta-zip.svg", "zip codes shortened that fewer records have than"),
}

COLOURS = {1000: "#2f6f9f", 5000: "#b5651d", 25000: "#3a7d44"}
WIDTH, HEIGHT, LEFT, TOP = 440, 230, 50, 20


def read(path: Path) -> list[dict[str, str]]:
    """Return the stored rows."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def draw(rows: Sequence[Mapping[str, str]], experiment: str) -> str:
    """Return DR_max (lines) and DR_min (dashed) of one experiment as SVG; levels stand side by side."""
    mine = [row for row in rows if row["experiment"] == experiment]
    levels = list(dict.fromkeys(row["level"] for row in mine))
    place = {level: LEFT + i * WIDTH / (len(levels) - 1) for i, level in enumerate(levels)}
    parts = [f'<path d="M{LEFT} {TOP}V{TOP + HEIGHT}H{LEFT + WIDTH}" fill="none" stroke="#777"/>']
    for i in range(6):
        y = TOP + HEIGHT * (1 - i / 5)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{LEFT + WIDTH}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{i / 5:.1f}</text>')
    for level, x in place.items():
        word = "all" if experiment == "zip recoded" and level == levels[-1] else level
        parts.append(f'<text x="{x:.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{word}</text>')
    for i, (n, colour) in enumerate(COLOURS.items()):
        for column, dashes in (("DR_max", ""), ("DR_min", ' stroke-dasharray="4 3"')):
            points = [
                (place[row["level"]], TOP + HEIGHT * (1 - float(row[column])))
                for row in mine
                if row["records"] == str(n)
            ]
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.6"{dashes}/>')
            if column == "DR_max":
                parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.4" fill="{colour}"/>' for x, y in points]
        at = TOP + 14 + 16 * i
        parts.append(f'<text x="{LEFT + WIDTH - 4}" y="{at}" text-anchor="end" fill="{colour}">n = {n:,}</text>')
    title = FIGURES[experiment][1]
    parts.append(f'<text x="{LEFT + WIDTH / 2:.0f}" y="{TOP + HEIGHT + 36}" text-anchor="middle">{title}</text>')
    shape = f'viewBox="0 0 {LEFT + WIDTH + 20} {TOP + HEIGHT + 46}" width="{LEFT + WIDTH + 20}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {shape} font-family="sans-serif" font-size="12" role="img" '
        f'aria-label="{title}">\n<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def main() -> None:
    """Draw all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, nargs="?", default=RESULTS)
    parser.add_argument("--folder", type=Path, default=ROOT / "docs" / "microdata")
    given = parser.parse_args()
    rows = read(given.results)
    for experiment, (name, _) in FIGURES.items():
        (given.folder / name).write_text(draw(rows, experiment), encoding="utf-8")
        print(given.folder / name)


if __name__ == "__main__":
    main()
