"""Lines that batches over the survey begin with, and what is asked of what comes out."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

from tabprotect.workflow.argus import Outcome

Run = Callable[..., Outcome]
OPEN = ('<OPENMICRODATA> "C:\\Mes documents\\SURVEY.asc"', '<OPENMETADATA> "survey.rda"')
TABLE = '<SPECIFYTABLE> "Size""Région"|"Turnover"||'
READ = "<READMICRODATA>"


def lines_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def judged(outcome: Outcome, number: int = 1) -> None:
    """The release is safe, and its certificate says so without a solver."""
    release = outcome.releases[number]
    assert release.safe
    assert release.verify().safe
