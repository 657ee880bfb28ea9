"""One release, one count: terminal, JSON, pages, files, audit and comparison say the same numbers in the same words."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.cli.app import run
from tabprotect.comparison import compare
from tabprotect.release.read import read_release
from tabprotect.workflow.request import Request
from tabprotect.workflow.source import Finished

RULES = ["p%=15", "threshold=3"]
LIMITS = tp.Limits(work=20_000)


@pytest.fixture(scope="module")
def tables() -> tp.Table:
    """Two linked tables: a cell that both show is one cell in two rows."""
    data = tp.instances.register(80, seed=2)
    data = data.assign(section=data["division"].str[:1])
    shared: dict[str, Any] = {"value": "turnover", "contributor": "enterprise_id"}
    return tp.link({name: tp.tabulate(data, ["section", name], **shared) for name in ("size", "nuts")})


@pytest.fixture(scope="module")
def release(tables: tp.Table) -> tp.Release:
    found = tp.protect(tables, RULES, limits=LIMITS)
    assert isinstance(found, tp.Release)
    return found


@pytest.fixture(scope="module")
def folder(release: tp.Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release.write(tmp_path_factory.mktemp("counts") / "release", ("csv", "xlsx"))


def legend(page: str) -> dict[str, int]:
    """The numbers beside the words of a page."""
    found = re.findall(r"</span> ([^:<]+).*?<strong>([\d,]+)</strong> cells", page)
    return {word: int(n.replace(",", "")) for word, n in found}


def cards(page: str) -> dict[str, str]:
    return dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)", page))


def test_a_count_is_of_cells_and_not_of_rows(release: tp.Release) -> None:
    counts = release.counts
    words = release.words
    assert counts.cells == release.table.n_cells < counts.rows == len(release.table.rows)
    assert counts.hidden == int(release.pattern.sum()) == counts.primary + counts.secondary + counts.forced > 0
    assert counts.primary == int(np.sum(words == "primary"))
    assert counts.secondary == int(np.sum(words == "secondary"))
    assert counts.sums == release.problem.n_cells - release.table.n_cells


def test_all_faces_of_a_release_say_the_same(
    release: tp.Release, folder: Path, tables: tp.Table, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = release.counts
    # terminal and repr
    said = dict(release.summary().lines)
    assert said["cells"] == f"{counts.cells} in {counts.rows} rows"
    assert said["hidden"] == f"{counts.hidden}: {counts.primary} primary, {counts.secondary} secondary"
    assert f"{counts.cells} cells, {counts.hidden} hidden" in repr(release)
    # manifest
    manifest = json.loads((folder / "internal" / "release.json").read_text())
    assert manifest["counts"] == counts.document()
    # audit: in Python, read back, and as a command, in words and as JSON
    assert release.audit().counts == release.judgement.counts == counts
    assert f"{counts.cells} cells in {counts.rows} rows, hidden {said['hidden']}" in release.judgement.summary()
    released = read_release(folder)
    assert (released.cells, released.rows) == (counts.cells, counts.rows)
    capsys.readouterr()
    assert run(["audit", str(folder)]) == 0
    assert f"{counts.cells} cells in {counts.rows} rows, hidden {said['hidden']}" in capsys.readouterr().out
    assert run(["audit", str(folder), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == counts.document()
    # what an export says of rows, of which several may show a cell
    table = pd.read_csv(folder / "publish" / "table.csv")
    assert run(["export", str(folder), str(folder.parent / "out.xlsx")]) == 0
    said_rows = f"2 tables, {counts.rows} rows, {int((table['status'] != 'published').sum())} of them hidden"
    assert said_rows in " ".join(capsys.readouterr().out.split())
    # pages
    public = (folder / "publish" / "index.html").read_text()
    assert f"{counts.cells} cells in {counts.rows} rows." in public
    assert legend(public) == {"published": counts.cells - counts.hidden, "suppressed": counts.hidden}
    report = (folder / "internal" / "report.html").read_text()
    shown = cards(report)
    names = {"Cells": counts.cells, "Hidden": counts.hidden, "Primary": counts.primary, "Secondary": counts.secondary}
    assert {name: int(shown[name]) for name in names} == names
    here = legend(report)
    assert (here["primary"], here["secondary"]) == (counts.primary, counts.secondary)
    assert sum(here.values()) == counts.cells
    # published files have a row for every code combination
    frame = pd.read_csv(folder / "publish" / "table.csv")
    assert len(frame) == counts.rows
    # comparison: what suppression hides of the same cells
    (line,) = compare(Request.of(source=Finished(tables), rules=RULES, limits=LIMITS), ["suppress"]).lines
    assert line.loss is not None
    assert line.risk is not None
    assert line.loss.hidden == counts.hidden
    assert line.risk.sensitive == counts.primary


@pytest.mark.slow
def test_of_changed_values_none_is_hidden(tables: tp.Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release = tp.protect(tables, RULES, tp.Adjust(), seed=1, limits=LIMITS)
    assert isinstance(release, tp.ChangedRelease)
    n, rows = tables.n_cells, int(tables.published_rows.sum())
    words = f"{n} cells in {rows} rows, {int(np.sum(release.words == 'primary'))} sensitive, values changed"
    for found in (release.judgement, release.audit(), tp.audit(release)):
        assert found is not None
        counts = found.counts
        assert (counts.cells, counts.rows) == (n, rows)
        assert counts.hidden == counts.primary == counts.secondary == 0
        assert f"{words} and none hidden" in found.summary()
        assert "secondary" not in set(found.frame["status"])
        assert repr(found) == f"Audit(safe: {n} cells, values changed)"
        assert f"{n} cells, values changed" in found._repr_html_()
    folder = release.write(tmp_path / "release")
    capsys.readouterr()
    assert run(["audit", str(folder)]) == 0
    assert f"{words} and none hidden" in " ".join(capsys.readouterr().out.split())
    assert run(["audit", str(folder), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == release.audit().counts.document()


def test_the_reason_of_a_method_counts_sums_apart() -> None:
    """As in the counts of the release, sums that are protected as cells are none."""
    data = tp.instances.register(30, seed=0)
    table = tp.tabulate(data, ["nuts", "size"], "turnover", contributor="enterprise_id")
    release = tp.protect(table, RULES, limits=LIMITS)
    counts = release.counts
    assert counts.sums == 2
    summary = str(release.summary())
    assert f"since {counts.cells} cells and 2 sums found until then are at most 3,000" in summary
    assert "2 sums of hidden cells were protected, too" in summary


def test_sums_are_no_cells_of_the_last_period(tmp_path: Path) -> None:
    data = tp.instances.register(30, seed=0)
    table = tp.tabulate(data, ["nuts", "size"], "turnover", contributor="enterprise_id")
    first = tp.protect(table, RULES, limits=LIMITS)
    n = table.n_cells
    assert first.problem.n_cells == n + 2
    previous = tp.Previous(first.write(tmp_path / "first"), revision=True)
    again = tp.protect(table, RULES, limits=LIMITS, previous=previous)
    said = dict(again.summary().lines)["last period"]
    assert said == f"{n} of {n} common cells kept, 0 newly hidden, 0 given up; 0 only now, 0 only then"
    assert again.safe


def test_all_faces_count_changed_values_alike(
    tables: tp.Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = tp.protect(tables, RULES, tp.Adjust(), seed=1, limits=LIMITS)
    assert isinstance(release, tp.ChangedRelease)
    counts = release.counts
    assert counts == release.audit().counts == tp.audit(release).counts
    assert (counts.cells, counts.rows) == (tables.n_cells, len(tables.rows))
    assert (counts.sensitive, counts.hidden) == (int(np.sum(release.words == "primary")), 0)
    lines = dict(release.summary().lines)
    assert lines["cells"] == f"{counts.cells} in {counts.rows} rows"
    assert lines["sensitive"] == str(counts.sensitive)
    folder = release.write(tmp_path / "release")
    manifest = json.loads((folder / "internal" / "release.json").read_text(encoding="utf-8"))
    assert manifest["counts"] == counts.document()
    run(["audit", str(folder)])
    out = " ".join(capsys.readouterr().out.split())
    assert f"{counts.cells} cells in {counts.rows} rows, {counts.sensitive} sensitive, values changed" in out
    run(["audit", str(folder), "--json", "-"])
    assert json.loads(capsys.readouterr().out)["counts"] == counts.document()


def test_the_frame_of_statuses_adds_up(release: tp.Release, folder: Path) -> None:
    frame = release.statuses.set_index("status")
    counts = release.counts
    assert (frame.loc["primary", "cells"], frame.loc["secondary", "cells"]) == (counts.primary, counts.secondary)
    assert frame["cells"].sum() == counts.cells
    assert frame["value"].sum() == pytest.approx(release.table.values.sum())
    assert release.table.counts is not None
    assert frame["respondents"].sum() == release.table.counts.sum()
    report = (folder / "internal" / "report.html").read_text()
    assert "Cells by status" in report
    assert "Hidden value by level" not in (folder / "publish" / "index.html").read_text()


def test_statuses_of_changed_values_say_what_moved() -> None:
    data = pd.DataFrame({"r": list("aabbbcc") * 3, "v": [50.0, 1, 7, 8, 9, 30, 2] * 3, "firm": list("pqrstuv") * 3})
    release = tp.protect(data, "p%=15", tp.Round(base=10), by=["r"], value="v", contributor="firm")
    frame = release.statuses.set_index("status")
    assert release.values is not None
    moved = np.abs(release.values - release.table.values)
    assert frame["cells"].sum() == release.table.n_cells
    assert frame["changed"].sum() == np.sum(moved > 0)
    assert frame["distance"].sum() == pytest.approx(moved.sum())
    assert frame.loc["primary", "distance"] == pytest.approx(moved[release.words == "primary"].sum())
