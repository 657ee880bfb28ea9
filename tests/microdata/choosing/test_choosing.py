"""Score, map, recommendation, report and the command."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tabprotect.microdata as md
from tabprotect.cli.app import run
from tabprotect.microdata.choosing.compare import Candidate, Comparison
from tabprotect.microdata.choosing.score import Score

SCHEMA = md.Schema(keys=["age", "sex"], confidential=["income"])


def people(n: int = 150) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    return pd.DataFrame(
        {"age": rng.integers(18, 80, n), "sex": rng.choice(["f", "m"], n), "income": rng.lognormal(9, 0.5, n)}
    )


def _candidate(name: str, loss: float, risk: float) -> Candidate:
    return Candidate(name, Score(loss, risk, (), ()))


def test_front_and_recommendation_by_hand() -> None:
    points = {"a": (0.1, 0.9), "b": (0.2, 0.5), "c": (0.3, 0.6), "d": (0.6, 0.1), "e": (0.2, 0.5)}
    found = Comparison(tuple(_candidate(name, *xy) for name, xy in points.items()), 1)
    assert [c.name for c in found.front] == ["a", "b", "e", "d"]
    assert found.recommended.name == "b"
    reasons = " ".join(found.reasons())
    assert "d has 0.100, with loss 0.600" in reasons
    assert "a has 0.100, with risk 0.900" in reasons


def test_lower_is_better() -> None:
    frame = people()
    same = md.choosing.score(frame, frame, SCHEMA)
    rng = np.random.default_rng(0)
    shuffled = md.choosing.score(frame, frame.apply(lambda c: rng.permutation(c)), SCHEMA)
    assert same.loss == 0.0
    # each value lies in the intervals around itself
    assert [m.value for m in same.risks[1:]] == [1.0, 1.0]
    assert shuffled.risk < same.risk
    assert shuffled.value == pytest.approx((shuffled.loss + shuffled.risk) / 2)


def test_the_answer_does_not_depend_on_the_workers() -> None:
    grid = {str(a): md.Noise(["age", "income"], alpha=a) for a in (0.05, 0.2, 1.0)}
    one, two = (md.choosing.compare_masks(people(), SCHEMA, grid, seed=3, workers=w).table() for w in (1, 3))
    assert one == two
    assert one[0]["risk"] > one[2]["risk"]
    assert one[0]["loss"] < one[2]["loss"]


def test_a_candidate_that_cannot_be_is_kept_with_the_reason() -> None:
    grid = {"good": md.Noise("income", alpha=0.1), "bad": md.Noise("sex", alpha=0.1)}
    found = md.choosing.compare_masks(people(), SCHEMA, grid, seed=3)
    assert "unordered" in found.candidates[1].why
    assert "not possible: bad" in found.summary()
    with pytest.raises(md.InputError, match="unordered"):
        md.choosing.compare_masks(people(), SCHEMA, {"bad": grid["bad"]}, seed=3)


def test_pages_load_nothing_and_escape_names() -> None:
    page = Comparison((_candidate("<script>alert(1)</script>", 0.1, 0.2),), 1).html()
    assert "<script>alert" not in page
    assert "default-src 'none'" in page
    masked = md.mask(people(), SCHEMA, md.Noise("income", alpha=0.1), seed=1)
    report = md.choosing.disclosure_report(masked, most=5)
    for text in (page, report):
        assert "CONFIDENTIAL" in text
        assert 'src="' not in text
        assert "href=" not in text
    assert "global disclosure risk" in report
    assert report.count('<td class="n">') >= 5


def test_the_command_writes_table_and_map(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    spec = tmp_path / "spec.toml"
    spec.write_text(
        'data = "people.csv"\nseed = 4\n[schema]\nkeys = ["age", "sex"]\nconfidential = ["income"]\n'
        '[[candidates]]\nmethod = "noise"\ncolumns = ["age", "income"]\ngrid = {alpha = [0.1, 0.5]}\n'
        '[[candidates]]\nmethod = "top-coding"\ncolumns = "income"\nquantile = 0.9\n'
    )
    assert run(["compare-masks", str(spec), "--out", str(tmp_path / "out")]) == 0
    inside = tmp_path / "out" / "internal"
    rows = list(csv.DictReader((inside / "comparison.csv").open()))
    assert len(rows) == 3
    document = json.loads((inside / "comparison.json").read_text())
    assert [row["candidate"] for row in document["candidates"]] == [row["candidate"] for row in rows]
    assert not list((tmp_path / "out" / "publish").iterdir())
    assert (inside / "map.html").read_text().count("<circle") == 3
    spec.write_text('data = "people.csv"\n[[candidates]]\nmethod = "noice"\n')
    assert run(["compare-masks", str(spec), "--out", str(tmp_path / "out2")]) == 2
    assert "did you mean 'noise'" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out2").exists()


def test_a_file_without_links_has_a_score() -> None:
    found = md.choosing.score(people(), people(100), SCHEMA, links=np.full(100, -1))
    assert [m.name for m in found.risks] == ["global disclosure risk"]
    assert found.risk == 0.0
    assert np.isfinite(found.value)
    with pytest.raises(md.InputError, match="no masked record is linked"):
        md.risk.interval_disclosure(people(), people(), SCHEMA, links=np.full(150, -1))


def test_k_minimal_generalisations_are_marked(tmp_path: Path) -> None:
    frame = people(80)
    ladders = {"age": md.Intervals((10, 20))}
    grid: dict[str, md.Method] = {
        "searched": md.Generalisation(k=3, ladders=ladders),
        "too far": md.Generalisation(k=3, ladders=ladders, levels={"age": 3, "sex": 1}),
        "noise": md.Noise("income", alpha=0.1),
    }
    found = md.choosing.compare_masks(frame, SCHEMA, grid, seed=1)
    assert [c.minimal for c in found.candidates] == [True, False, False]
    assert [row["k-minimal"] for row in found.table()] == [True, False, False]
    assert found.candidates[0].score is not None
    losses = {m.name: m for m in found.candidates[0].score.losses}
    assert 0 < losses["information loss, continuous"].value < 0.5
    page = found.html()
    assert page.count('class="minimal"') == 1
    assert any(line.startswith("searched is k-minimal") for line in found.reasons())
    inside = found.write(tmp_path / "out") / "internal"
    assert [row["k-minimal"] for row in csv.DictReader((inside / "comparison.csv").open())] == [
        "True",
        "False",
        "False",
    ]


def test_linkage_counts_where_it_is_asked_for() -> None:
    frame = people(100)
    schema = md.Schema(keys=["age"], confidential=["income"])
    masked = md.mask(frame, schema, md.RankSwapping("age", p=3), seed=1)
    plain, asked = (md.choosing.score(frame, masked, schema, linkage=wanted) for wanted in (False, True))
    linkage = asked.risks[-1]
    assert linkage.name == "record linkage"
    found = md.risk.distance_linkage(frame, masked, schema, columns=["age"])
    known = md.risk.transparency(frame, masked, schema, columns=["age"])
    assert linkage.value == max(found.value, known.value)
    assert asked.risk == pytest.approx((plain.risk * len(plain.risks) + linkage.value) / (len(plain.risks) + 1))
    rows = md.choosing.compare_masks(frame, SCHEMA, {"n": md.Noise("age")}, seed=1, linkage=True).table()
    # sex is no number: distances are Gower's
    noisy = md.mask(frame, SCHEMA, md.Noise("age"), seed=1)
    gower = md.risk.distance_linkage(frame, noisy, SCHEMA, columns=["age", "sex"], metric="gower")
    assert rows[0]["record linkage"] == max(gower.value, gower.details["with the method"]["value"])
    with pytest.raises(md.InputError, match="the Masked itself"):
        md.choosing.score(frame, masked.frame[::-1], schema, links=np.arange(100)[::-1], linkage=True)


@pytest.mark.slow
def test_linkage_that_was_not_measured_is_no_zero() -> None:
    frame = people(200_001)
    methods = {"swapped": md.RankSwapping("age", p=3), "noisy": md.Noise("age")}
    found = md.choosing.compare_masks(frame, SCHEMA, methods, seed=1, linkage=True)
    for one in found.candidates:
        assert one.score is not None
        linkage = one.score.risks[-1]
        assert linkage.details["with the method"] is None
        assert linkage.value == linkage.details["plain"]
        assert "beyond 200,000 records" in linkage.details["not measured"]
        assert "beyond 200,000 records" in one.score.to_dict()["notes"][0]
    said = [line for line in found.reasons() if line.startswith("Of swapped, noisy: record linkage counts distance")]
    assert len(said) == 1
    assert said[0] in found.summary()
    assert "beyond 200,000 records" in found.html()
    assert all("beyond 200,000 records" in row["notes"] for row in found.table())


def test_why_linkage_was_not_measured_is_said() -> None:
    frame = people(100)
    unordered = md.choosing.compare_masks(frame, md.Schema(keys=["sex"]), {"x": md.PRAM("sex")}, seed=1, linkage=True)
    assert "no key that is released is continuous or ordered" in unordered.table()[0]["notes"]
    alone = md.choosing.score(frame, frame, SCHEMA, linkage=True)
    assert "pass the Masked" in alone.notes[0]
    assert md.choosing.score(frame, frame, SCHEMA).notes == ()


def test_the_map_can_be_sorted_and_filtered() -> None:
    points = {"a": (0.1, 0.9), "b": (0.2, 0.5), "c": (0.3, 0.6)}
    page = Comparison(tuple(_candidate(name, *xy) for name, xy in points.items()), 1).html()
    assert page.count('data-front="yes"') == 4
    assert page.count('data-front="no" ') == 1
    assert 'id="only-front"' in page
    assert '<table id="candidates">' in page
