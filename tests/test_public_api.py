from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tabprotect as tp


def test_every_public_name_is_there() -> None:
    for name in tp.__all__:
        assert getattr(tp, name) is not None
        assert name in dir(tp)


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(tp.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        (str(node.module).removeprefix("tabprotect").lstrip("."), alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    named = {(home, name) for home, names in tp._HOMES.items() for name in names}
    assert seen == named | {("", package) for package in tp._PACKAGES}


def test_what_is_exported_is_what_is_imported_when_first_used() -> None:
    assert sorted(tp.__all__) == sorted({"__version__", *tp._PACKAGES, *tp._HOME_OF})
    assert len(set(tp.__all__)) == len(tp.__all__)


def test_the_function_is_not_replaced_by_its_module() -> None:
    import tabprotect.workflow.protect  # noqa: F401

    assert callable(tp.protect)


def test_unknown_names_are_no_attributes() -> None:
    with pytest.raises(AttributeError, match="no attribute 'tabulat'"):
        _ = tp.tabulat  # type: ignore[attr-defined]


def test_importing_is_quick() -> None:
    heavy = "{'numpy', 'pandas', 'scipy', 'duckdb', 'highspy', 'pyscipopt', 'pyomo'}"
    code = f"import sys, tabprotect; print(sorted({heavy} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"


def test_the_reference_names_only_what_there_is(checkout: Path) -> None:
    page = (checkout / "docs" / "reference.md").read_text()
    names = re.findall(r"^::: tabprotect\.(\w+)$", page, re.MULTILINE)
    assert len(names) > 10
    assert set(names) <= {*tp.__all__, "errors"}


def numbers(A: Any, values: Any, level: Any) -> tp.Problem:
    return tp.Problem.from_arrays(A, values, primary=[1], lpl=level, upl=1)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda p: tp.suppress(p, seed="x"),
            "seed must be a whole number .* or a numpy.random.Generator, not 'x'",
        ),
        (
            lambda p: tp.suppress(p, seed=-1),
            "seed must be a whole number .* or a numpy.random.Generator, not -1",
        ),
        (lambda p: numbers([[1, 1], [1]], [1, 2], 1), "A must be a matrix of numbers, with as many in every row"),
        (lambda p: numbers([[-1, 1, 1]], ["a", 2, 3], 1), "values must be numbers: .*'a'"),
        (lambda p: numbers([[-1, 1, 1]], [5, 2, 3], "x"), "lpl must be numbers: .*'x'"),
        (lambda p: tp.protect(p, 5), "rules must be such as 'p%=15', or a list of them, not 5"),
    ],
)
def test_what_is_no_input_at_all_is_told_in_one_error(call: Callable[[Any], object], says: str) -> None:
    problem = tp.Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    with pytest.raises(tp.InputError, match=says):
        call(problem)
