"""The two folders: what the public one gives away, and whether everything in them can be checked."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import tabprotect as tp
from tabprotect.formats.folder import changed_files, read_manifest
from tabprotect.release.read import read_release
from tests.release.cases import REGIONS, RULES, SIZES, dimensions, microdata


def make(seed: int, **options: Any) -> tp.Release:
    how = {"value": "turnover", "contributor": "firm", "title": "Turnover", "limits": tp.Limits(work=2000)}
    return tp.protect(microdata(seed), RULES, by=dimensions(), **how, **options)


@pytest.fixture(scope="module")
def release() -> tp.Release:
    made = make(0)
    assert made.safe
    assert made.pattern.any()
    return made


@pytest.fixture
def folder(release: tp.Release, tmp_path: Path) -> Path:
    return release.write(tmp_path / "out", ("csv", "parquet", "xlsx"))


def intruder(publish: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """The interval of every hidden cell from published files and the classifications alone, by one LP a side."""
    frame = pd.read_csv(publish / "table.csv", dtype=str, keep_default_na=False)
    assert list(frame.columns) == ["region", "size", "turnover", "status"]
    cells = {(r, s): i for i, (r, s) in enumerate(zip(frame["region"], frame["size"], strict=True))}
    known = [None if text == "" else float(text) for text in frame["turnover"]]
    rows, rhs = [], []
    for k, tree in enumerate((REGIONS, SIZES)):
        others = [("all", *SIZES["all"]), ("T", *REGIONS["T"], *REGIONS["N"], *REGIONS["S"])][k]
        for (parent, children), other in itertools.product(tree.items(), others):
            row, constant = np.zeros(len(cells)), 0.0
            for code, sign in [(parent, -1.0), *((child, 1.0) for child in children)]:
                cell = cells[(code, other) if k == 0 else (other, code)]
                if known[cell] is None:
                    row[cell] = sign
                else:
                    constant -= sign * known[cell]
            rows.append(row)
            rhs.append(constant)
    A, b = np.array(rows), np.array(rhs)
    found = {}
    for codes, i in cells.items():
        if known[i] is not None:
            continue
        ends = []
        for sign in (1.0, -1.0):
            cost = np.zeros(len(cells))
            cost[i] = sign
            result = linprog(cost, A_eq=A, b_eq=b, bounds=(0, None))
            assert result.status in (0, 3)
            ends.append(np.inf if result.status == 3 else sign * result.fun)
        found[codes] = (ends[0], ends[1])
    return found


@pytest.mark.parametrize("seed", range(4))
def test_an_intruder_with_the_public_folder_finds_no_more_than_the_audit_allows(seed: int, tmp_path: Path) -> None:
    made = make(seed)
    made.write(tmp_path / "out")
    shutil.rmtree(tmp_path / "out" / "internal")
    found = intruder(tmp_path / "out" / "publish")
    cells = made.table.system.cells
    assert {c for c, hidden in zip(cells, made.pattern, strict=True) if hidden} == set(found)
    for codes, (low, high) in found.items():
        i = cells.get_loc(codes)
        a, b = made.audit().interval(i)
        slack = 1e-6 * max(1.0, abs(made.table.values[i]))
        assert low == pytest.approx(a, abs=slack)
        assert high == pytest.approx(b, abs=slack)
        if made.problem.status[i] == tp.Status.PRIMARY:
            assert low <= made.table.values[i] - made.problem.lpl[i] + slack
            assert high >= made.table.values[i] + made.problem.upl[i] - slack


def test_the_page_says_what_the_table_says(folder: Path) -> None:
    frame = pd.read_csv(folder / "publish" / "table.csv", dtype={"region": str, "size": str})
    page = (folder / "publish" / "index.html").read_text()
    data = json.loads(re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)[0])
    (table,) = data["tables"]
    region, size = (axis["codes"] for axis in table["axes"])
    rows = [(region[r], size[s], v) for r, s, v in zip(*table["at"], table["value"], strict=True)]
    expected = [
        (r, s, None if np.isnan(v) else v)
        for r, s, v in zip(frame["region"], frame["size"], frame["turnover"], strict=True)
    ]
    assert rows == expected
    assert set(data) == {"value", "unit", "decimals", "signs", "statuses", "tables"}
    assert set(table) == {"name", "axes", "at", "value", "status"}


def test_nothing_public_names_a_rule_a_cost_or_a_digest(release: tp.Release, folder: Path) -> None:
    texts = [p.read_text() for p in (folder / "publish").iterdir() if p.suffix in (".csv", ".html")]
    manifest = read_manifest(folder)
    secrets = [
        *RULES, "p%", "threshold", "PRIMARY", "secondary suppress", "sha256", "tabprotect",
        *manifest["publish"].values(), *manifest["internal"].values(), str(release.certificate.document["digest"]),
        f"{release.result.cost:.0f}", f"{release.result.cost:,.0f}", str(folder), str(folder.parent),
    ]  # fmt: skip
    for text in texts:
        for secret in secrets:
            assert secret not in text.split("</style>")[-1], secret
        assert "confidential" not in text.split("</style>")[-1].replace("information of respondents confidential", "")


def test_the_inside_holds_the_proof_and_the_digests_of_the_outside(release: tp.Release, folder: Path) -> None:
    assert changed_files(folder) == []
    released = read_release(folder)
    assert released.failures == ()
    assert released.pattern.tolist() == release.result.pattern.tolist()
    assert released.certificate.document["publication"] == read_manifest(folder)["publish"]
    assert tp.verify(folder / "internal" / "certificate.json").safe
    for name in ("values", "lpl", "upl", "weights", "lower", "upper", "status"):
        np.testing.assert_array_equal(getattr(released.problem, name), getattr(release.problem, name))
    assert released.problem.attackers == release.problem.attackers
    assert (released.problem.system.A != release.problem.system.A).nnz == 0


def test_the_report_shows_values_rules_intervals_and_digests(release: tp.Release, folder: Path) -> None:
    page = (folder / "internal" / "report.html").read_text()
    data = json.loads(re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)[0])
    (table,) = data["tables"]
    values = dict(zip(release.table.system.cells, release.table.values, strict=True))
    region, size = (axis["codes"] for axis in table["axes"])
    assert [values[region[r], size[s]] for r, s in zip(*table["at"], strict=True)] == table["value"]
    details = {d["name"]: d for d in table["detail"]}
    assert len(details["The intruder's interval"]["of"]) == release.pattern.sum()
    assert set(details["Sensitive by"]["words"]) <= {"", "p%=15", "threshold=3", "p%=15, threshold=3"}
    for digest in read_manifest(folder)["publish"].values():
        assert digest in page
    assert page.count("CONFIDENTIAL") >= 4
    assert "firm" not in page.split("</style>")[-1].replace("<td>contributor</td><td>firm</td>", "")


def test_the_internal_table_knows_every_row(release: tp.Release, folder: Path) -> None:
    frame = pd.read_csv(folder / "internal" / "table.csv")
    assert frame.columns.tolist() == [
        "region", "size", "turnover", "status", "contributors", "rules", "lpl", "upl", "spl", "weights", "lower",
        "upper",
        "interval_low", "interval_high", "cell",
    ]  # fmt: skip
    assert frame["turnover"].tolist() == release.table.values[release.table.row_cell].tolist()
    hidden = release.pattern[release.table.row_cell]
    assert frame["interval_low"].notna().tolist() == hidden.tolist()
    assert (frame["interval_low"][hidden] <= frame["turnover"][hidden]).all()


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("publish/table.csv", "suppressed", "published", "altered"),
        ("publish/table.csv", ",,suppressed", ",1,suppressed", "has a value and is suppressed"),
        ("publish/table.csv", ",,suppressed", ",77,published", "published although the certificate hides it"),
        ("internal/certificate.json", '"cost":"', '"cost":"1', "altered"),
    ],
)
def test_altered_files_are_found(folder: Path, file: str, old: str, new: str, words: str) -> None:
    path = folder / file
    path.write_text(path.read_text().replace(old, new, 1))
    found = [*changed_files(folder), *read_release(folder).failures]
    assert any(words in failure for failure in found), found


def test_statuses_are_separate_only_on_request(tmp_path: Path) -> None:
    made = make(1, separate_statuses=True)
    counts = made.public.counts()
    assert counts["primary"] == np.sum(made.words == "primary")
    assert counts["secondary"] == np.sum(made.words == "secondary")
    assert set(replace(made, separate_statuses=False).public.counts()) == {"published", "suppressed"}
    made.write(tmp_path / "out")
    assert read_release(tmp_path / "out").failures == ()


def test_published_values_can_be_rounded(tmp_path: Path) -> None:
    data = microdata(0).assign(turnover=lambda d: d["turnover"] + 0.25)
    made = tp.protect(data, "threshold=3", by=["region"], value="turnover", decimals=0)
    assert made.public.frame["turnover"].dtype == "Int64"
    made.write(tmp_path / "out")
    assert read_release(tmp_path / "out").failures == ()
    assert replace(made, decimals=None).public.decimals in (1, 2)


def test_a_release_can_be_written_again_and_a_failure_leaves_what_was_there(release: tp.Release, folder: Path) -> None:
    before = {p.name: p.read_bytes() for p in folder.rglob("*.*")}
    release.write(folder, ("csv", "parquet", "xlsx"))
    assert {p.name: p.read_bytes() for p in folder.rglob("*.*")} == before
    with pytest.raises(tp.InputError, match="did you mean 'parquet'"):
        release.write(folder, ("parket",))
    assert {p.name: p.read_bytes() for p in folder.rglob("*.*")} == before
    assert [p.name for p in folder.parent.iterdir()] == ["out"]


def test_the_summary_prints(release: tp.Release) -> None:
    text = str(release.summary())
    assert f"cost              {release.result.cost:,.0f}" in text
    assert "safe, proven by exact witnesses" in text
    assert "Turnover" in repr(release)
    from rich.console import Console

    console = Console(width=120, record=True, file=None, quiet=True)
    console.print(release.summary())


def test_optimal_by_the_solver_is_not_proven_in_exact_arithmetic(tmp_path: Path) -> None:
    data = microdata(0)
    made = tp.protect(data, RULES, tp.Suppress(method="exact"), by=["region", "size"], value="turnover")
    proof = made.result.cuts
    assert made.result.status == "optimal"
    assert proof is not None
    assert made.optimality == "optimal"
    weak = replace(made, result=replace(made.result, cuts=replace(proof, multipliers=(), bound=Fraction(0))))
    assert weak.optimality == "optimal by the solver; proven in exact arithmetic to within 100.00 %"
    assert weak.optimality in str(weak.summary())
    bare = replace(made, result=replace(made.result, cuts=None))
    assert bare.optimality == "optimal by the solver; no bound is proven in exact arithmetic"
    folder = weak.write(tmp_path / "out")
    assert read_manifest(folder)["status"] == weak.optimality
    assert read_manifest(folder)["proven_bound"] == 0
    assert read_release(folder).failures == ()
    assert weak.optimality in (folder / "internal" / "report.html").read_text()
