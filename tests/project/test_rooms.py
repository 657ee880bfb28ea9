"""The rooms of the package: no circles, every room on its floor, and a picture that shows what is there."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest

#: what microdata may know of the room of tables: columns, codes and their hierarchies, and how a table is made
OPEN = tuple(f"tabprotect.table.{name}" for name in ("tabulate", "hierarchy", "codes", "read", "duck"))


@pytest.fixture(scope="module")
def drawing(checkout: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_rooms", checkout / "docs" / "rooms.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def imports(drawing: ModuleType) -> Any:
    return drawing.graph()


def tables_in_microdata(edges: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Imports of microdata from the room of tables, but for what is open to them."""
    return sorted(
        (a, b)
        for a, b in edges
        if a.startswith("tabprotect.microdata") and b.startswith("tabprotect.table") and not b.startswith(OPEN)
    )


def make(folder: Path, files: dict[str, str]) -> Path:
    for name, text in {"__init__.py": "", **files}.items():
        path = folder / "tabprotect" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if not (path.parent / "__init__.py").exists():
            (path.parent / "__init__.py").write_text("")
    return folder


def test_no_two_modules_import_each_other(drawing: ModuleType, imports: Any) -> None:
    assert drawing.circles(imports) == []


def test_a_circle_is_found_wherever_its_imports_are(drawing: ModuleType, tmp_path: Path) -> None:
    files = {
        "a/one.py": "from tabprotect.a.two import x\n",
        "a/two.py": "def f():\n    from tabprotect.b import three\n",
        "b/three.py": "if TYPE_CHECKING:\n    import tabprotect.a.one\n",
        "b/four.py": "from tabprotect.b.three import y\n",
    }
    found = drawing.circles(drawing.graph(make(tmp_path, files)))
    assert found == [["tabprotect.a.one", "tabprotect.a.two", "tabprotect.b.three"]]


def test_every_room_has_its_floor_and_imports_from_lower_ones(drawing: ModuleType, imports: Any) -> None:
    levels = drawing.floors()
    floor = {room: y for y, layer in enumerate(levels) for room in layer}
    assert len(floor) == sum(map(len, levels))
    rooms = drawing.rooms(imports)
    assert set(rooms) <= set(floor)
    assert {"microdata", "query", "workflow", "certificate", "studio"} <= set(floor)
    assert [(a, b) for a, b in rooms.edges if floor[a] >= floor[b]] == []


def test_the_picture_is_up_to_date(drawing: ModuleType, imports: Any) -> None:
    text = drawing.draw(imports)
    assert drawing.OUT.read_text(encoding="utf-8") == text, "python docs/rooms.py draws it again"
    shown = [node.text for node in ElementTree.fromstring(text).iter() if node.tag.endswith("text")]
    assert set(drawing.rooms(imports)) <= set(shown)


def test_the_page_of_the_architecture_names_only_places_that_there_are(checkout: Path) -> None:
    page = (checkout / "docs" / "architecture.md").read_text(encoding="utf-8")
    places = re.findall(r"`((?:tabprotect|tests|docs|models|instances|benchmarks)/[\w./-]*)`", page)
    assert len(places) > 15
    assert [place for place in places if not (checkout / place).exists()] == []


def test_microdata_knows_no_tables_except_to_tabulate(drawing: ModuleType, imports: Any, tmp_path: Path) -> None:
    assert tables_in_microdata(imports.edges) == []
    files = {
        "table/table.py": "",
        "table/tabulate/dispatch.py": "",
        "microdata/risk.py": "from tabprotect.table import table\nfrom tabprotect.table.tabulate import dispatch\n",
    }
    found = tables_in_microdata(drawing.graph(make(tmp_path, files)).edges)
    assert found == [("tabprotect.microdata.risk", "tabprotect.table.table")]
