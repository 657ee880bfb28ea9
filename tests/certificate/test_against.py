"""`verify --against` compares the whole problem, and says what it could not compare."""

from __future__ import annotations

import copy
import csv
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.attack.certificate import certify
from tabprotect.attack.statement import problem_statement
from tabprotect.certificate.document import SECTIONS, digest, seal
from tabprotect.certificate.values import SECTIONS as VALUES
from tabprotect.certificate.verify import verify
from tabprotect.formats.jj import write_jj
from tabprotect.problem import Attacker, Problem
from tabprotect.sensitivity.sums_as_cells import protect_unions
from tabprotect.sensitivity.union_exposure import UnionExposure

ROWS = [
    [-1, 1, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, -1, 1, 1, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, -1, 1, 1],
    [-1, 0, 0, 1, 0, 0, 1, 0, 0],
    [0, -1, 0, 0, 1, 0, 0, 1, 0],
    [0, 0, -1, 0, 0, 1, 0, 0, 1],
]


def office(**changes: Any) -> Problem:
    given = {"lpl": 1, "upl": 1.5, "attackers": [Attacker("A & Co", (1, 3))], **changes}
    return Problem.from_arrays(ROWS, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], **given)


def document(problem: Problem | None = None) -> dict[str, Any]:
    problem = problem or office()
    return json.loads(json.dumps(certify(problem, [4, 5, 7, 8]).document))


def resealed(document: dict[str, Any]) -> dict[str, Any]:
    document["digest"] = digest(document["problem"])
    document["seal"] = seal((name, digest(document[name])) for name in SECTIONS)
    return document


def without_equations() -> dict[str, Any]:
    """A certificate that hides the primaries alone, and is safe as nothing adds up to anything."""
    found = document()
    problem = found["problem"]
    problem.update(rhs=[], start=[0], cell=[], coefficient=[])
    found["pattern"] = [4]
    levels = (Fraction(problem["upl"][4]), -Fraction(problem["lpl"][4]))
    found["witnesses"] = [
        {"cells": [4], "numerators": [level.numerator], "denominator": level.denominator} for level in levels
    ]
    found.update(residual="0", cost="0", verdict="safe", exposed=[], unproven=[])
    return resealed(found)


def given(kind: str, folder: Path) -> Path:
    """The office's problem as a file."""
    problem = office()
    if kind == "jj":
        write_jj(replace(problem, attackers=()), folder / "office.jj")
        return folder / "office.jj"
    if kind == "packed jj":
        write_jj(replace(problem, attackers=()), folder / "office.jj.gz")
        return folder / "office.jj.gz"
    if kind == "certificate":
        return certify(problem, problem.may_hide).write(folder / "office.json")
    if kind == "release":
        certify(problem, problem.may_hide).write(_folder(folder / "release" / "internal") / "certificate.json")
        return folder / "release"
    with (folder / "office.csv").open("w") as stream:
        writer = csv.writer(stream)
        writer.writerow(["cell", "values", "lpl", "upl", "weights"])
        writer.writerows(zip(range(9), problem.values, problem.lpl, problem.upl, problem.weights, strict=True))
    return folder / "office.csv"


def _folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


FORMS = ["jj", "packed jj", "certificate", "release", "csv"]


@pytest.mark.parametrize("form", FORMS)
def test_the_office_s_own_problem_is_recognised_in_every_form(form: str, tmp_path: Path) -> None:
    found = verify(document(), against=given(form, tmp_path))
    assert found.safe, found.failures
    said = " ".join(found.checked)
    missing = " ".join(found.not_checked)
    assert "the embedded problem against the data given: cells, values" in said
    assert ("equations" in missing) == (form == "csv")
    assert ("attackers (the certificate: 1), integrality" in missing) == (form in ("jj", "packed jj", "csv"))
    assert ("status" in missing) == (form == "csv")


@pytest.mark.parametrize("form", [form for form in FORMS if form != "csv"])
def test_a_certificate_without_equations_is_not_about_the_office_s_table(form: str, tmp_path: Path) -> None:
    forged = without_equations()
    assert verify(forged).safe  # it proves what it says, of another problem
    found = verify(forged, against=given(form, tmp_path))
    assert any("6 equations are only in the data given" in failure for failure in found.failures)


def test_data_without_equations_say_that_they_were_not_compared(tmp_path: Path) -> None:
    found = verify(without_equations(), against=given("csv", tmp_path))
    assert any(what.startswith("status, spl, lower, upper, equations, attackers") for what in found.not_checked)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"attackers": ()}, "'attackers' differs"),
        ({"attackers": [Attacker("A & Co", (3,))]}, "'attackers' differs"),
        ({"attackers": [Attacker("B & Co", (1, 3))]}, "'attackers' differs"),
        ({"upl": 1}, "'upl' differs"),
        ({"lower": -5}, "'lower' differs"),
        ({"upper": 100}, "'upper' differs"),
        ({"weights": np.ones(9)}, "'weights' differs"),
        ({"forced": [8]}, "'status' differs"),
        ({"spl": 5}, "'spl' differs"),
        ({"integer": True, "upl": 2}, "'integrality' differs"),
        ({"cells": list("abcdefghi")}, "not the same cells"),
    ],
)
def test_every_part_of_the_problem_is_compared(change: dict[str, Any], word: str) -> None:
    other = document(office(**change))
    assert verify(other).ok
    assert any(word in failure for failure in verify(other, against=problem_statement(office())).failures)


def test_equations_are_the_same_in_any_order_and_scale() -> None:
    rows = np.array(ROWS, float)[::-1] * np.array([2, -1, 0.5, 3, 1, -4])[:, None]
    again = Problem.from_arrays(
        rows, office().values, primary=[4], lpl=1, upl=1.5, attackers=[Attacker("A & Co", (1, 3))]
    )
    assert verify(document(again), against=problem_statement(office())).safe
    wrong = rows.copy()
    wrong[0, 8] *= 2
    other = Problem.from_arrays(
        wrong, office().values, primary=[4], lpl=1, upl=1.5, attackers=office().attackers, b=wrong @ office().values
    )
    found = verify(document(other), against=problem_statement(office()))
    assert any("1 equations are only in the certificate" in failure for failure in found.failures)


def test_sums_that_are_protected_too_are_no_difference_but_other_cells_are(tmp_path: Path) -> None:
    problem = office()
    grown = protect_unions(problem, [UnionExposure((4, 5), 8.0, ("p%=15",), 0.5, 0.5, 0.0, True, "")])
    found = verify(certify(grown, grown.may_hide).document, against=given("jj", tmp_path))
    assert found.failures == ()
    assert any("1 sums of them that are judged as cells, too" in what for what in found.checked)
    # a cell that two equations define restricts, or frees, more than its own name
    loose = copy.deepcopy(json.loads(json.dumps(certify(grown, grown.may_hide).document)))
    loose["problem"]["coefficient"][-1] = "-0.5"
    assert any(
        "not the same cells" in failure for failure in verify(resealed(loose), against=given("jj", tmp_path)).failures
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("office.jj", "0\n5\n0 1 1"),
        ("office.jj", ""),
        ("office.jj", "0\n0\n1\n1 2 : 0 (1)"),
        ("office.csv", "cell,values\n0,1\n0,2\n"),
        ("office.csv", "cell,values\n0\n"),
        ("office.csv", "region,turnover\na,1\n"),
        ("office.json", '{"problem": {"cells": 5}}'),
        ("office.json", "[1]"),
        ("office.json.gz", "no"),
    ],
)
def test_data_that_cannot_be_read_are_one_failure(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    found = verify(document(), against=tmp_path / name)
    assert len(found.failures) == 1


def test_the_claim_of_changed_values_is_compared() -> None:
    data = pd.DataFrame({"r": list("aabbcc") * 4, "s": list("xyxyxy") * 4, "v": range(10, 34), "id": range(24)})
    made = tp.protect(data, "p%=15", tp.Round(base=50), by=["r", "s"], value="v", contributor="id")
    original = json.loads(json.dumps(made.certificate.document))
    forged = copy.deepcopy(original)
    forged["claim"]["steps"] = 5
    forged["seal"] = seal((name, digest(forged[name])) for name in VALUES)
    assert verify(forged).ok
    assert any("changes of less than 300" in what for what in verify(forged).not_checked)
    assert verify(forged, against=original).failures == ("'claim of the method' differs from the data given",)
