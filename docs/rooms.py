"""Draw the rooms of the package and the imports between them: ``python docs/rooms.py`` writes ``docs/rooms.svg``.

Rooms and floors are those of the import-linter contract in ``pyproject.toml``, arrows are read from the code. An import
that follows from others (A imports B, B imports C, so A over C) is not drawn.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

import networkx as nx

CHECKOUT = Path(__file__).resolve().parents[1]
OUT = Path(__file__).with_name("rooms.svg")

PACKAGE = "tabprotect"

#: of a box and of the space around it
WIDTH, HEIGHT, GAP, RISE = 112, 28, 14, 30

#: space for arrows on both sides
SIDE = 90

#: the tip of an arrow
TIP = (
    '<defs><marker id="tip" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" markerHeight="6" orient="auto">'
    '<path d="M0 0L6 3L0 6z" fill="#667"/></marker></defs>'
)


def modules(checkout: Path = CHECKOUT) -> dict[str, Path]:
    """Return every module of the package with its file."""
    found = {}
    for path in sorted((checkout / PACKAGE).rglob("*.py")):
        parts = path.relative_to(checkout).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, names: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules of the package that a file imports, in functions and for type checkers too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield from [name for name in (full, node.module) if name in names][:1]


def graph(checkout: Path = CHECKOUT) -> nx.DiGraph:
    """Return the modules and their imports, without the package itself, which is no room but the list of names."""
    names = modules(checkout)
    found = nx.DiGraph()
    found.add_nodes_from(names)
    for name, path in names.items():
        found.add_edges_from((name, other) for other in imported(path, names) if other != name)
    found.remove_node(PACKAGE)
    return found


def circles(found: nx.DiGraph) -> list[list[str]]:
    """Return groups of modules that import each other."""
    return sorted(sorted(group) for group in nx.strongly_connected_components(found) if len(group) > 1)


def floors(checkout: Path = CHECKOUT) -> list[list[str]]:
    """Return the rooms of every floor as the contract lists them, the top floor first; reserved ones are not there."""
    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in project["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers" and PACKAGE in contract.get("containers", []):
            return [[room.strip(" ()") for room in layer.replace("|", ":").split(":")] for layer in contract["layers"]]
    raise LookupError("no contract of layers")


def rooms(found: nx.DiGraph) -> nx.DiGraph:
    """Return the rooms (modules and folders directly in the package) and the imports between them."""

    def room(name: str) -> str:
        return name.split(".")[1]

    drawn = nx.DiGraph()
    drawn.add_nodes_from(room(name) for name in found)
    drawn.add_edges_from((room(a), room(b)) for a, b in found.edges if room(a) != room(b))
    return drawn


def draw(found: nx.DiGraph, checkout: Path = CHECKOUT) -> str:
    """Return the picture: floors from the top down, arrows from a room to what it imports."""
    drawn = rooms(found)
    levels = [[room for room in layer if room in drawn] for layer in floors(checkout)]
    levels = [layer for layer in levels if layer]
    width = max(map(len, levels)) * (WIDTH + GAP) + GAP + 2 * SIDE
    height = len(levels) * (HEIGHT + RISE) + GAP
    place = {}
    for y, layer in enumerate(levels):
        left = (width - len(layer) * (WIDTH + GAP) + GAP) / 2
        for x, room in enumerate(layer):
            place[room] = (left + x * (WIDTH + GAP), GAP + y * (HEIGHT + RISE))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="sans-serif">',
        "<title>The rooms of tabprotect, and what imports what</title>",
        TIP,
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>',
    ]
    for k, (a, b) in enumerate(sorted(nx.transitive_reduction(drawn).edges)):
        line = f'<path d="{_arrow(place[a], place[b], width, k)}" fill="none" stroke="#99a" marker-end="url(#tip)">'
        lines.append(f"{line}<title>{a} imports {b}</title></path>")
    for room, (x, y) in place.items():
        lines += [
            f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="#eef1f8" stroke="#446"/>',
            f'<text x="{x + WIDTH / 2:g}" y="{y + 18:g}" text-anchor="middle" font-size="13">{escape(room)}</text>',
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _arrow(start: tuple[float, float], end: tuple[float, float], width: float, k: int) -> str:
    """Return a path from one box down to another; one that passes floors goes round the boxes between, side by side."""
    (x, y), (u, v) = start, end
    x, y, u = x + WIDTH / 2, y + HEIGHT, u + WIDTH / 2
    if v - y <= RISE:
        bend = (v - y) / 2
        return f"M{x:g} {y:g}C{x:g} {y + bend:g} {u:g} {v - bend:g} {u:g} {v:g}"
    right = x + u > width or (x + u == width and k % 2 == 0)
    far = 10 + 9 * (k % 8)
    far = width - far if right else far
    out = x + (1 if right else -1) * (WIDTH / 4 + 3 * (k % 4))
    into = u + (1 if right else -1) * (WIDTH / 4 + 3 * (k % 4))
    down = f"M{out:g} {y:g}C{out:g} {y + RISE:g} {far:g} {y:g} {far:g} {y + RISE:g}"
    return f"{down}V{v - RISE:g}C{far:g} {v:g} {into:g} {v - RISE:g} {into:g} {v:g}"


if __name__ == "__main__":
    OUT.write_text(draw(graph()), encoding="utf-8")
