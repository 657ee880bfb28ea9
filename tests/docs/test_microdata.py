"""The pages on microdata: one table of all methods, and a plot before and after in every section of a method."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import tabprotect.microdata as md

CHECKOUT = Path(__file__).resolve().parents[2]
PAGES = CHECKOUT / "docs" / "microdata"
FIGURES = {
    4: ("Sampling", "Local suppression", "Global recoding", "Top-coding", "Bottom-coding", "Generalization"),
    5: (
        "Resampling", "Lossy compression", "Rounding", "PRAM", "MASSC", "Random noise", "Swapping", "Rank swapping",
        "Micro-aggregation",
    ),
    12: (
        "Bootstrap", "Cholesky decomposition", "Multiple imputation", "Maximum entropy", "Latin Hypercube Sampling",
    ),
    13: (
        "IPSO", "Hybrid masking", "Random response", "Blank and impute", "SMIKe",
        "Multiply imputed partially synthetic dataset",
    ),
}  # fmt: skip
"""The techniques of the survey's figures."""


def script(name: str) -> ModuleType:
    """Import a script of the pages."""
    spec = importlib.util.spec_from_file_location(f"docs_microdata_{name}", PAGES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


TABLE = script("table")
ROWS = [row for rows in TABLE.ROWS.values() for row in rows]


@cache
def tests_of(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


def test_the_page_holds_the_table_of_today() -> None:
    """Otherwise: ``python docs/microdata/table.py``."""
    text = TABLE.PAGE.read_text(encoding="utf-8")
    assert text == TABLE.page(text)


def test_every_registered_method_has_a_row() -> None:
    there = {kind for row in ROWS if (kind := TABLE.kind_of(row)) is not None}
    assert there == set(md.methods().values())


@pytest.mark.parametrize("figure", FIGURES)
def test_every_technique_of_the_survey_has_a_row(figure: int) -> None:
    for technique in FIGURES[figure]:
        assert any(
            row.papers.startswith(technique) and re.search(rf"Fig\. {figure}\b", row.papers) for row in ROWS
        ), technique


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.papers[:40])
def test_no_cell_is_empty_and_every_test_and_section_is_there(row: object) -> None:
    cells = [cell.strip() for cell in TABLE.line(row).strip("|").split(" | ")]
    assert len(cells) == 5
    assert all(cells)
    assert row.tests  # type: ignore[attr-defined]
    for test in row.tests:  # type: ignore[attr-defined]
        path, _, name = test.partition("::")
        assert name in tests_of(CHECKOUT / path), test
    page, _, anchor = row.guide.partition("#")  # type: ignore[attr-defined]
    assert (PAGES / page).is_file()
    assert not anchor or anchor in anchors(PAGES / page), row.guide  # type: ignore[attr-defined]
    name = row.here.partition(" ")[0]  # type: ignore[attr-defined]
    found: object = md
    if name.startswith("tabprotect."):
        module, _, name = name.rpartition(".")
        found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    assert callable(found)
