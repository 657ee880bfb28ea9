"""A release is checked and audited as a whole: by its object, its certificate or its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp

FIRMS = pd.DataFrame(
    {"region": list("nnnnnsssss"), "size": list("bbssbbsssb"), "v": [90, 5, 4, 40, 50, 20, 30, 60, 10, 20]}
)


@pytest.fixture(params=["greedy", "round"])
def release(request: pytest.FixtureRequest) -> Any:
    return tp.protect(FIRMS, "p%=15", request.param, by=["region", "size"], value="v", intervals=False)


def test_every_form_of_a_proof_is_checked(release: Any, tmp_path: Path) -> None:
    folder = release.write(tmp_path / "out")
    for form in (release, release.certificate, release.certificate.document, folder, str(folder)):
        found = tp.verify(form)
        assert (found.safe, found.questions) == (True, release.verify().questions)


def test_a_changed_public_file_is_found(release: Any, tmp_path: Path) -> None:
    folder = release.write(tmp_path / "out")
    table = folder / "publish" / "table.csv"
    table.write_text(table.read_text().replace("4", "5"))
    found = tp.verify(folder)
    assert not found.ok
    assert any("table.csv" in failure for failure in found.failures)
    assert (found.verdict, found.safe) == ("rejected", False)


def test_the_verdict_of_altered_values_in_a_proof_is_that_it_is_rejected(release: Any) -> None:
    document = release.certificate.document
    found = tp.verify({**document, "cost": document["cost"] + "1"})
    assert found.failures
    assert (found.verdict, found.safe) == ("rejected", False)
    assert not any("malformed" in failure for failure in found.failures)


def test_a_proof_is_held_against_the_data_in_every_form(release: Any, tmp_path: Path) -> None:
    folder = release.write(tmp_path / "out")
    for data in (release, release.certificate, folder):
        assert tp.verify(folder, against=data).safe
    assert tp.verify(release, against=release).safe
    other = tp.protect(FIRMS.assign(v=FIRMS["v"] + 1), "p%=15", "greedy", by=["region", "size"], value="v")
    assert not tp.verify(release, against=other).ok
    assert not tp.verify(release, against=other.problem).ok


def test_a_release_is_audited_as_its_problem_and_pattern(release: Any) -> None:
    found = tp.audit(release)
    whole = release.audit()
    assert (found.safe, found.counts) == (whole.safe, whole.counts)
    assert found.frame["low"].tolist() == pytest.approx(whole.frame["low"].tolist())


def test_a_result_of_a_search_is_audited() -> None:
    problem = tp.make_problem(tp.tabulate(FIRMS, ["region", "size"], "v"), "p%=15")
    result = tp.suppress(problem, method="greedy")
    assert np.array_equal(tp.audit(result).pattern, tp.audit(problem, result.pattern).pattern)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r: tp.audit(r.problem), "audit needs the pattern of a problem"),
        (lambda r: tp.audit(r, [1]), "has a pattern of its own"),
        (lambda r: tp.audit("release"), "audit needs a Problem, .* not str"),
        (lambda r: tp.verify(FIRMS), "verify needs a release, a certificate, or the path of either, not DataFrame"),
        (lambda r: tp.verify("nowhere.json"), "nowhere.json cannot be checked: No such file"),
        (lambda r: tp.verify(r, against=5), "against must be a problem, a release, .* not int"),
    ],
)
def test_all_else_is_refused_with_what_is_wanted(release: Any, call: Any, words: str) -> None:
    with pytest.raises(tp.InputError, match=words):
        call(release)
