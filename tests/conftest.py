"""Fixtures for every room."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.main
from hypothesis import settings

# machines differ in speed, and a run must be repeatable
settings.register_profile("project", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("project")

# internal files hold the date of the work: releases that are compared must not differ by it
os.environ.setdefault("SOURCE_DATE_EPOCH", "1700000000")

CHECKOUT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder of this checkout."""
    return CHECKOUT


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """Locate a file of the shared data, or skip the test: ``shared("instances/csplib/table8.jj")``.

    The folder is named by the environment variable TABPROTECT_SHARED, by default it is ../shared beside the checkout.
    """
    root = Path(os.environ.get("TABPROTECT_SHARED", CHECKOUT.parent / "shared"))

    def locate(name: str) -> Path:
        path = root / name
        if not path.exists():
            pytest.skip(f"needs the shared data: {path} is not there (set TABPROTECT_SHARED)")
        return path

    return locate


@pytest.fixture(scope="session", autouse=True)
def commands_made_once() -> Iterator[None]:
    """A run makes its command line anew from the functions, which takes longer than many a command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", cache(typer.main.get_command))
        yield
