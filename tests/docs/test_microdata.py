"""The pages on microdata: one table of all methods, and a plot before and after in every section of a method."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
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
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


TABLE = script("table")
ROWS = [row for rows in TABLE.ROWS.values() for row in rows]


@cache
def functions_of(path: Path) -> frozenset[str]:
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
        assert any(row.papers.startswith(technique) and re.search(rf"Fig\. {figure}\b", row.papers) for row in ROWS), (
            technique
        )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.papers[:40])
def test_no_cell_is_empty_and_every_test_and_section_is_there(row: object) -> None:
    cells = [cell.strip() for cell in TABLE.line(row).strip("|").split(" | ")]
    assert len(cells) == 5
    assert all(cells)
    assert row.tests  # type: ignore[attr-defined]
    for test in row.tests:  # type: ignore[attr-defined]
        path, _, name = test.partition("::")
        assert name in functions_of(CHECKOUT / path), test
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


def sections(page: Path) -> dict[str, str]:
    """The text of every section of a page, by its anchor; that before the first one by an empty text."""
    parts = re.split(r"^## (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    names = [re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in parts[1::2]]
    return {"": parts[0], **dict(zip(names, parts[2::2], strict=True))}


def plots_of(text: str) -> list[str]:
    return re.findall(r"!\[[^\]]+\]\(plots/([\w-]+)\.png\)", text)


def test_the_section_of_every_method_has_a_plot() -> None:
    for row in ROWS:
        if TABLE.kind_of(row) is None:
            continue
        page, _, anchor = row.guide.partition("#")
        found = sections(PAGES / page)
        assert plots_of(found[anchor] if anchor else "".join(found.values())), row.guide


def test_pages_show_plots_that_are_there_and_no_plot_is_left_over() -> None:
    pytest.importorskip("matplotlib")
    shown = {name for page in PAGES.glob("*.md") for name in plots_of(page.read_text(encoding="utf-8"))}
    files = {path.stem: path.stat().st_size for path in (PAGES / "plots").iterdir()}
    assert shown == set(files) == set(script("plots").FIGURES)
    assert all(1000 < size < 25_000 for size in files.values()), files


def test_every_random_or_other_method_is_drawn() -> None:
    """Whatever is registered is called in the script."""
    text = (PAGES / "plots.py").read_text(encoding="utf-8")
    assert [kind.__name__ for kind in md.methods().values() if f"md.{kind.__name__}(" not in text] == []


def test_a_figure_is_the_same_every_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plots = script("plots")
    (tmp_path / "again").mkdir()
    for name in ("swapping", "suppression"):
        first, second = plots.draw(name, tmp_path), plots.draw(name, tmp_path / "again")
        assert first.read_bytes() == second.read_bytes()


@pytest.mark.slow
def test_all_figures_can_be_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plots = script("plots")
    for name in plots.FIGURES:
        assert 1000 < plots.draw(name, tmp_path).stat().st_size < 25_000
