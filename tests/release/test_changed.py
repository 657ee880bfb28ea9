"""Releases of changed values: what the public folder gives away, and whether everything can be checked."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import tabprotect as tp
from tabprotect.attack.certificate import Certificate
from tabprotect.attack.statement import problem_statement
from tabprotect.attack.values import ValuesCertificate
from tabprotect.errors import InputError
from tabprotect.formats.folder import changed_files, read_manifest
from tabprotect.release.read import read_release
from tests.release.cases import REGIONS, RULES, SIZES, dimensions, make, microdata, people, resealed

MAGNITUDES: list[Any] = [
    tp.Round(base=20_000),
    tp.Adjust(),
    tp.Adjust(within=60_000, weights="unit"),
    tp.RandomRound(base=20_000),
    tp.ConventionalRound(base=40_000),
    tp.CellKey(small=0.2),
]
COUNTS: list[Any] = [
    tp.CellKey(), tp.CellKey(deviation=4, variance=3, blocked=1), tp.SmallCounts(), tp.Round(base=4), tp.Adjust(),
    tp.RandomRound(base=3),
]  # fmt: skip
KINDS = [*((m, False) for m in MAGNITUDES), *((m, True) for m in COUNTS)]


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: f"{kind[0]}{' of counts' if kind[1] else ''}")
def release(request: pytest.FixtureRequest) -> tp.ChangedRelease:
    method, counts = request.param
    made = make(method, counts=counts, seed=0)
    assert made.values is not None
    assert len(made.problem.primaries)
    return made


@pytest.fixture(scope="module")
def written(release: tp.ChangedRelease, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release.write(tmp_path_factory.mktemp("written") / "out", ("csv", "parquet", "xlsx"))


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "out"))


def known(release: tp.ChangedRelease, v: float) -> tuple[float, float]:
    """What the method alone says, written down anew."""
    claim, whole = release.result.claim, 1.0 if release.problem.integer else 0.0
    if claim["method"] == "multiple":
        far = float(claim["base"]) * (claim["steps"] + 1) - whole
        return v - far, v + far
    if claim["method"] == "nearest":
        return v - float(claim["base"]) / 2, v + float(claim["base"]) / 2 - whole
    if claim["method"] == "near":
        far = np.inf if claim["within"] is None else float(claim["within"])
        return v - far, v + far
    if claim["method"] == "share":
        most, half = 3 * 0.2, 0.5
        return (v - half) / (1 + most), (v + half) / (1 - most)
    raise NotImplementedError


@pytest.mark.parametrize("method", MAGNITUDES, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_an_intruder_with_the_public_folder_finds_no_more_than_the_audit_allows(
    method: Any, seed: int, tmp_path: Path
) -> None:
    made = make(method, seed)
    made.write(tmp_path / "out")
    frame = pd.read_csv(tmp_path / "out" / "publish" / "table.csv", dtype={"region": str, "size": str})
    assert list(frame.columns) == ["region", "size", "turnover"]
    cells = {codes: i for i, codes in enumerate(zip(frame["region"], frame["size"], strict=True))}
    bounds = [(max(0.0, low), high) for low, high in (known(made, v) for v in frame["turnover"])]
    rows = []
    for k, tree in enumerate((REGIONS, SIZES)):
        others = [("all", *SIZES["all"]), ("T", *REGIONS["T"], *REGIONS["N"], *REGIONS["S"])][k]
        for (parent, children), other in itertools.product(tree.items(), others):
            row = np.zeros(len(cells))
            for code, sign in [(parent, -1.0), *((child, 1.0) for child in children)]:
                row[cells[(code, other) if k == 0 else (other, code)]] = sign
            rows.append(row)
    system = made.table.system.cells
    exposed = False
    for i in made.problem.primaries.tolist():
        ends = []
        for sign in (1.0, -1.0):
            cost = np.zeros(len(cells))
            cost[cells[system[i]]] = sign
            result = linprog(cost, A_eq=np.array(rows), b_eq=np.zeros(len(rows)), bounds=bounds)
            assert result.status in (0, 3)
            ends.append(np.inf if result.status == 3 else sign * result.fun)
        slack = 1e-6 * max(1.0, abs(made.table.values[i]))
        assert made.audit().interval(i) == pytest.approx(tuple(ends), abs=slack)
        needed = made.table.values[i] - made.problem.lpl[i], made.table.values[i] + made.problem.upl[i]
        exposed |= ends[0] > needed[0] + slack or ends[1] < needed[1] - slack
    # the attackers who know cells may find more, never less
    assert made.safe <= (not exposed)


def test_the_page_and_the_files_say_what_was_proven(release: tp.ChangedRelease, folder: Path) -> None:
    frame = pd.read_csv(folder / "publish" / "table.csv", dtype={"region": str, "size": str})
    assert frame.shape[1] == 3
    value = frame.columns[-1]
    cells = release.table.system.cells
    place = [cells.get_loc((r, s)) for r, s in zip(frame["region"], frame["size"], strict=True)]
    assert frame[value].tolist() == release.certificate.values[place].tolist()
    page = (folder / "publish" / "index.html").read_text()
    data = json.loads(re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)[0])
    (table,) = data["tables"]
    assert table["value"] == frame[value].tolist()
    assert set(table["status"]) == {0}
    assert [status["id"] for status in data["statuses"]] == ["published"]
    assert set(data) == {"value", "unit", "decimals", "signs", "statuses", "tables"}
    assert set(table) == {"name", "axes", "at", "value", "status"}
    for kind in ("parquet", "xlsx"):
        read = pd.read_parquet if kind == "parquet" else pd.read_excel
        assert read(folder / "publish" / f"table.{kind}")[value].tolist() == frame[value].tolist()


def test_nothing_public_names_a_rule_a_status_a_seed_or_a_distance(release: tp.ChangedRelease, folder: Path) -> None:
    manifest = read_manifest(folder)
    lost = release.loss
    seed = str(release.settings["seed"])
    secrets = [
        *RULES, "p%", "threshold", "primary", "secondary", "PRIMARY", "sensitive", "suppress", "sha256", "tabprotect",
        "seed", "steps", "norm", "weight", "optimal", "feasible", release.result.knows,
        *manifest["publish"].values(), *manifest["internal"].values(), str(folder), str(folder.parent),
        f"{lost.distance:.0f}", f"{lost.distance:,.0f}", f"{lost.relative:.6f}", f"{lost.mean:.4f}",
    ]  # fmt: skip
    secrets = [secret for secret in secrets if len(secret) > 3]
    if len(seed) > 5:
        secrets.append(seed)
    for path in (folder / "publish").iterdir():
        if path.suffix not in (".csv", ".html"):
            continue
        text = path.read_text().split("</style>")[-1].split("<script>")[0]
        text = text.replace("to keep the information of respondents confidential", "")
        for secret in secrets:
            # numbers as whole ones: 14882 is not in 148822
            assert not re.search(rf"(?<!\d){re.escape(secret)}(?!\d)", text), secret
        assert "confidential" not in text.lower()


def test_what_is_public_depends_on_nothing_but_published_values(release: tp.ChangedRelease) -> None:
    from dataclasses import replace

    from tabprotect.report.public import public_files

    table = release.table
    shuffled = np.random.default_rng(1).permutation(len(table.rows))
    rows = table.rows.iloc[shuffled].copy()
    rows.iloc[:, -1] = -1
    other = replace(
        table, values=np.zeros(table.n_cells), rows=rows.reset_index(drop=True), row_cell=table.row_cell[shuffled],
        counts=None, contributions=None,
    )  # fmt: skip
    # other true values, contributors and order, other statuses and rules: the same bytes
    one = public_files(release.public, ("csv", "parquet"))
    two = public_files(replace(release.public, frame=replace_public(other, release)), ("csv", "parquet"))
    assert one == two


def replace_public(table: Any, release: tp.ChangedRelease) -> pd.DataFrame:
    from tabprotect.report.public import public_values

    assert release.values is not None
    return public_values(table, release.values, title="Turnover", note=release.public.note).frame


def test_the_certificate_holds_and_the_folder_is_what_was_proven(release: tp.ChangedRelease, folder: Path) -> None:
    found = tp.verify(folder / "internal" / "certificate.json", against=problem_statement(release.problem))
    assert found.failures == ()
    assert found.safe == release.safe
    assert changed_files(folder) == []
    released = read_release(folder)
    assert released.failures == ()
    assert isinstance(released.certificate, ValuesCertificate)
    again = tp.audit(released.problem, released.pattern, intervals=False)
    assert again.safe == release.safe
    assert sorted(map(tuple, (e.key for e in again.exposures))) == sorted(
        map(tuple, (e.key for e in release.judgement.exposures))  # type: ignore[union-attr]
    )
    with pytest.raises(tp.InputError, match="not a certificate of the form"):
        Certificate.read(folder / "internal" / "certificate.json")


def _value(d: dict[str, Any]) -> None:
    d["values"] = [str(float(d["values"][0]) + 7), *d["values"][1:]]


def _sums(d: dict[str, Any]) -> None:
    d["sums"] = "12345"


def _truth(d: dict[str, Any]) -> None:
    values = d["problem"]["values"]
    d["problem"] = {**d["problem"], "values": [str(float(values[0]) + 1), *values[1:]]}


def _verdict(d: dict[str, Any]) -> None:
    d["verdict"] = "safer"


def _entries(d: dict[str, Any]) -> None:
    d["claim"] = {**d["claim"], "further": 1}


@pytest.mark.parametrize("forge", [_value, _sums, _truth, _verdict, _entries])
def test_forged_certificates_are_refused(release: tp.ChangedRelease, forge: Callable[[dict[str, Any]], None]) -> None:
    document = dict(release.certificate.document)
    assert tp.verify(resealed(document)).ok
    forge(document)
    assert not tp.verify(document).ok
    assert not tp.verify(resealed(document)).ok


def test_an_intruder_who_knows_more_than_the_certificate_says_is_found() -> None:
    document = dict(make(tp.Round(base=20_000)).certificate.document)
    for claim in ({"base": "10000"}, {"base": "20000.5"}, {"steps": 1}):
        forged = {**document, "claim": {**document["claim"], **claim}}
        found = tp.verify(resealed(forged))
        # one more step is less knowledge: the intruder of the certificate is the stronger one, so that still holds
        assert found.ok == ("steps" in claim)
    attack = json.loads(json.dumps(document["attack"]))
    attack["problem"]["status"] = [0] * len(attack["problem"]["status"])
    found = tp.verify(resealed({**document, "attack": attack}))
    assert any("asks nothing about" in failure for failure in found.failures)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [("all,small,", "all,small,9", "another value than was proven"), ("T,all,", "X,all,", "codes are not those")],
)
def test_altered_files_are_found(tmp_path: Path, old: str, new: str, words: str) -> None:
    made = make(tp.Adjust())
    folder = made.write(tmp_path / "out")
    path = folder / "publish" / "table.csv"
    text = path.read_text()
    at = "T,small," if old.startswith("all") else old
    path.write_text(text.replace(at, at + "9" if old.startswith("all") else new, 1))
    assert any("altered" in failure for failure in changed_files(folder))
    assert any(words in failure for failure in read_release(folder).failures), read_release(folder).failures


def test_what_is_not_safe_is_not_published(tmp_path: Path) -> None:
    made = tp.protect(
        microdata(0), RULES, tp.ConventionalRound(base=10), by=dimensions(), value="turnover", contributor="firm"
    )
    assert not made.safe
    for attempt in (lambda: made.published, lambda: made.write(tmp_path / "out"), lambda: made.certificate):
        with pytest.raises(tp.InfeasibleError, match="not safe, so nothing is published"):
            attempt()
    none = tp.protect(
        microdata(0), RULES, tp.Round(base=10, steps=0), by=dimensions(), value="turnover", contributor="firm",
        limits=tp.Limits(work=2000),
    )  # fmt: skip
    with pytest.raises(tp.InfeasibleError, match="nothing is published: base 10"):
        none.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_three_dimensions_are_rounded_layer_by_layer() -> None:
    data = people(1, 200)
    made = tp.protect(data, "threshold=3", tp.SuccessiveRound(base=4), by=["town", "sex", "origin"], allow_unsafe=True)
    assert isinstance(made, tp.ChangedRelease)
    assert made.values is not None
    assert not (made.values % 4).any()
    assert made.loss.off == 0
    assert made.loss.largest < 8
    assert made.result.claim["steps"] == 1
    assert made.verify().ok
    with pytest.raises(InputError, match="three dimensions"):
        tp.protect(data, "threshold=3", tp.SuccessiveRound(base=4), by=["town", "sex"])


def test_settings_of_hidden_cells_do_not_go_with_changed_values() -> None:
    for option in ({"unions": "off"}, {"separate_statuses": True}, {"decimals": 1}):
        with pytest.raises(tp.InputError, match=f"only for hiding cells, and round hides none: {next(iter(option))}"):
            make(tp.Round(), **option)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: tp.Round(base=0), "base must be above 0, not 0"),
        (lambda: tp.Round(base="5"), "base must be a number, not '5'"),
        (lambda: tp.Round(steps="lest"), "did you mean 'least'"),
        (lambda: tp.Round(steps=-1), "steps must be at least 0"),
        (lambda: tp.Round(levels=3), "levels must be yes or no"),
        (lambda: tp.Adjust(norm="l3"), "norm must be 'l1' or 'l2' or 'linf', not 'l3'"),
        (lambda: tp.Adjust(senses="upp", fixed="total"), "2 problems"),
        (lambda: tp.Adjust(within=float("inf")), "finite"),
        (lambda: tp.CellKey(deviation=1.5), "deviation must be a whole number"),
        (lambda: tp.SmallCounts(base=True), "base must be a whole number, not True"),
    ],
)
def test_options_that_cannot_be_are_refused_at_once(wrong: Callable[[], Any], words: str) -> None:
    with pytest.raises(tp.InputError, match=words):
        wrong()


def test_the_report_shows_true_and_published_values(release: tp.ChangedRelease, folder: Path) -> None:
    page = (folder / "internal" / "report.html").read_text()
    data = json.loads(re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)[0])
    (table,) = data["tables"]
    details = {d["name"]: d for d in table["detail"]}
    assert {"Published", "Change", "The intruder's interval", "Sensitive by"} <= set(details)
    changes = np.array(details["Published"]["of"]) - np.array(table["value"])
    np.testing.assert_allclose(details["Change"]["of"], changes, atol=1e-9)
    assert page.count("CONFIDENTIAL") >= 4
    assert ("NOT SAFE" in page) == (not release.safe)
    frame = pd.read_csv(folder / "internal" / "table.csv")
    assert {"published", "change", "interval_low", "cell"} <= set(frame.columns)
    assert "intruders know" in str(release.summary())
