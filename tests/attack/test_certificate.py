"""Certificates: true ones hold, and nothing in them can be altered."""

from __future__ import annotations

import copy
import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect import instances
from tabprotect.attack import moves
from tabprotect.attack.audit import audit
from tabprotect.attack.certificate import Certificate, certify
from tabprotect.attack.keys import Key
from tabprotect.attack.proof import prove_bound
from tabprotect.attack.proof_rows import (
    AtLeast0,
    AtMost1,
    Bridge,
    Capacity,
    ExactMultipliers,
    ProofRow,
    Rounded,
    Sum,
    Truncated,
)
from tabprotect.attack.statement import problem_statement
from tabprotect.attack.witness import Witnesses
from tabprotect.certificate.document import SECTIONS, digest, seal
from tabprotect.certificate.verify import verify
from tabprotect.errors import InputError
from tabprotect.formats.jj import read_jj
from tabprotect.problem import Attacker, Problem
from tests.checker import Judge
from tests.random_problems import problems

TWO_BY_TWO = [
    [-1, 1, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, -1, 1, 1, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, -1, 1, 1],
    [-1, 0, 0, 1, 0, 0, 1, 0, 0],
    [0, -1, 0, 0, 1, 0, 0, 1, 0],
    [0, 0, -1, 0, 0, 1, 0, 0, 1],
]


def two_by_two(**changes: Any) -> Problem:
    given = {"lpl": 1, "upl": 1.25, "spl": 3, "attackers": [Attacker("A & Co", (0, 3))], **changes}
    return Problem.from_arrays(TWO_BY_TWO, [20, 9.5, 10.5, 8, 3.5, 4.5, 12, 6, 6], primary=[4], **given)


def certificate() -> Certificate:
    """A small one with every section filled: a residual, an attacker, fractions, a proof with every kind of row."""
    problem = two_by_two(b=np.array([0, 0.25, 0, 0, 0, 0]), forced=[0], upper=50)
    one = ExactMultipliers((1,), (1,), 1)
    rows: list[ProofRow] = [
        Capacity(Key(-1, 4, 1), (one,)),
        Bridge(7, 2),
        Capacity(Key(0, 4, 0), (one, ExactMultipliers((1,), (-1,), 1))),
        AtLeast0(5),
        AtMost1(5),
        Sum(((0, Fraction(1, 2)), (1, Fraction(1, 3)), (3, Fraction(1, 7)))),
        Truncated(0),
        Rounded(6),
    ]
    proof = prove_bound(problem, rows)
    proof = replace(proof, rows=(*proof.rows, *rows[:5]))
    return certify(problem, [0, 4, 5, 7, 8], proof=proof, bound=16.25).publishing({"table.csv": "ab12"})


def resealed(document: dict[str, Any]) -> dict[str, Any]:
    """What somebody would do who wants to pass off an altered certificate."""
    document["digest"] = digest(document["problem"])
    document["seal"] = seal((name, digest(document[name])) for name in SECTIONS)
    return document


def test_it_holds_and_says_what_it_proves() -> None:
    found = certificate().verify()
    assert found.ok, found.failures
    assert (found.safe, found.verdict, found.cost, found.questions) == (True, "safe", Fraction(33, 2), 6)
    assert found.bound is not None
    assert 0 < found.bound <= 16.5
    assert any("residual 0.25" in what for what in found.checked)
    assert any("16.25" in what for what in found.not_checked)
    assert "certificate holds: safe" in found.summary()


def test_a_claim_beyond_its_proof_says_how_far_it_is_proven() -> None:
    problem = two_by_two(b=np.array([0, 0.25, 0, 0, 0, 0]), forced=[0], upper=50)
    weak = prove_bound(problem, [Capacity(Key(-1, 4, 1), (ExactMultipliers((1,), (1,), 1),))])
    assert 0 < weak.bound < 16.5
    share = 100 * (1 - float(weak.bound) / 16.5)
    words = f"(optimal by the solver; proven in exact arithmetic to within {share:.2f} %)"
    found = certify(problem, [0, 4, 5, 7, 8], proof=weak, bound=16.5).verify()
    assert found.ok
    assert any(words in what for what in found.not_checked)
    bare = certify(problem, [0, 4, 5, 7, 8], bound=16.5).verify()
    assert any("optimal by the solver; no bound is proven" in what for what in bare.not_checked)
    lower = certify(problem, [0, 4, 5, 7, 8], proof=weak, bound=float(weak.bound)).verify()
    assert not any("search's own bound" in what for what in lower.not_checked)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """All places of a document that hold a number, as number or as text, and all other plain values."""
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*path, name))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from places(item, (*path, number))
    else:
        yield path


def altered(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return value + 1
    try:
        return str(Fraction(value) + 1)
    except ValueError:
        return value + "x"


def test_every_single_alteration_is_rejected() -> None:
    document = json.loads(json.dumps(certificate().document))
    assert verify(document).ok
    everywhere = list(places(document))
    assert len(everywhere) > 200
    for path in everywhere:
        copied = copy.deepcopy(document)
        target = copied
        for step in path[:-1]:
            target = target[step]
        target[path[-1]] = altered(target[path[-1]])
        assert not verify(copied).ok, f"{path} altered to {target[path[-1]]!r} is not noticed"
        del target[path[-1]]
        assert not verify(copied).ok, f"{path} left out is not noticed"


def test_resealing_helps_only_where_the_claim_stays_true() -> None:
    """With the seal renewed, what is left is arithmetic: a witness, cost or bound that is altered is found out."""
    document = json.loads(json.dumps(certificate().document))
    data = problem_statement(two_by_two(b=np.array([0, 0.25, 0, 0, 0, 0]), forced=[0], upper=50))
    assert verify(document, against=data).ok
    harmless = []
    for path in places(document):
        if path[0] in ("seal", "digest"):
            continue
        copied = copy.deepcopy(document)
        target = copied
        for step in path[:-1]:
            target = target[step]
        target[path[-1]] = altered(target[path[-1]])
        if verify(resealed(copied), against=data).ok:
            harmless.append(path)
    # a deviation divided by a little more is another one, and may still reach the level
    harmless = [path for path in harmless if path[0] != "witnesses" or path[-1] != "denominator"]
    assert {path[0] for path in harmless} <= {"notice", "publication", "proof", "claimed_bound"}


def test_problem_data_that_are_not_the_office_s_own_are_found_out(tmp_path: Path) -> None:
    document = json.loads(json.dumps(certificate().document))
    problem = two_by_two(b=np.array([0, 0.25, 0, 0, 0, 0]), forced=[0], upper=50)
    columns = {"cell": list(range(9)), "values": problem.values, "upl": problem.upl, "status": problem.status}
    assert verify(document, against=columns).ok
    table = tmp_path / "office.csv"
    table.write_text("cell,values,upl\n" + "".join(f"{i},{problem.values[i]},1.25\n" for i in range(9)))
    assert verify(document, against=table).ok
    wrong = {**columns, "values": [*problem.values[:8], 7]}
    assert verify(document, against=wrong).failures == ("'values' differs from the data given in 8",)
    assert not verify(document, against={"cell": list(range(8)), "values": problem.values[:8]}).ok
    table.write_text("cell,values\n" + "".join(f"{i},{problem.values[i] + (i == 4)}\n" for i in range(9)))
    assert verify(document, against=table).failures == ("'values' differs from the data given in 4",)
    other = problem_statement(replace(problem, attackers=()))
    assert verify(document, against=other).failures == ("'attackers' differs from the data given",)
    assert not verify(document, against={"nothing": [1]}).ok


def test_office_data_in_jj_form(shared) -> None:
    path = shared("instances/csplib/hie1372d.jj")
    problem = read_jj(path)
    document = certify(problem, problem.may_hide).document
    assert verify(document, against=path).ok
    less = certify(replace(problem, upl=problem.upl / 2), problem.may_hide).document
    assert any("'upl' differs" in failure for failure in verify(less, against=path).failures)


def test_written_files_are_equal_bytes_and_read_back(tmp_path: Path) -> None:
    first, second = (certificate().write(tmp_path / name) for name in ("a.json", "b.json"))
    packed = [certificate().write(tmp_path / folder) for folder in ("c.json.gz", "d.json.gz")]
    assert first.read_bytes() == second.read_bytes()
    assert packed[0].read_bytes() == packed[1].read_bytes()
    assert gzip.decompress(packed[0].read_bytes()) == first.read_bytes()
    assert json.loads(first.read_text()) == certificate().document
    assert verify(first).ok
    assert verify(packed[0]).ok
    assert Certificate.read(packed[0]).document == certificate().document
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.json", "b.json", "c.json.gz", "d.json.gz"]
    assert "CONFIDENTIAL" in first.read_text()[:200]


def test_the_verifier_runs_by_itself_and_knows_no_solver(tmp_path: Path, checkout: Path) -> None:
    path = certificate().write(tmp_path / "a.json")
    code = (
        "import sys, types, runpy\n"
        "for name in ('tabprotect', 'tabprotect.attack'):\n"
        "    sys.modules[name] = module = types.ModuleType(name)\n"
        f"    module.__path__ = [r'{checkout}/' + name.replace('.', '/')]\n"
        f"from tabprotect.certificate.verify import verify\n"
        f"assert verify(r'{path}').safe\n"
        "outside = {m.split('.')[0] for m in sys.modules} - set(sys.stdlib_module_names) - {'__main__', 'tabprotect'}\n"
        "assert not outside, outside\n"
    )
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"format":1,"format":1}', '{"format":"tabprotect-certificate/1"}', "\x00", "[" * 100_000],
    ids=range(8),
)
def test_what_is_no_certificate_is_rejected_and_not_a_crash(tmp_path: Path, text: str) -> None:
    path = tmp_path / "no.json"
    path.write_text(text)
    assert not verify(path).ok
    with pytest.raises(InputError, match="certificate"):
        Certificate.read(path)
    (tmp_path / "no.json.gz").write_bytes(b"no")
    assert not verify(tmp_path / "no.json.gz").ok
    with pytest.raises(FileNotFoundError):
        verify(tmp_path / "nowhere.json")


@pytest.mark.parametrize("number", ["1e999999999", "1E-999999999", "1e_", "9" * 5000])
def test_numbers_that_take_for_ever_are_rejected(number: str) -> None:
    document = copy.deepcopy(dict(certificate().document))
    document["problem"]["weights"][0] = number
    found = verify(resealed(document))
    assert not found.ok
    assert "'weights' holds" in found.failures[0]


def test_deep_nesting_is_rejected_and_not_a_crash() -> None:
    document = copy.deepcopy(dict(certificate().document))
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    document["problem"]["cells"][0] = deep
    assert not verify(document).ok


def test_patterns_that_cannot_be_certified_are_refused_with_names() -> None:
    with pytest.raises(InputError) as caught:
        certify(two_by_two(protected=[5], zero=[7]), [5, 7, 8])
    assert caught.value.problems == (
        "the pattern shows cells that must be hidden: 4 (PRIMARY)",
        "the pattern hides protected or fixed cells: 5 (PROTECTED), 7 (ZERO)",
    )


def test_an_unsafe_pattern_is_certified_as_unsafe_and_cannot_be_talked_up() -> None:
    found = certify(two_by_two(), [4, 5])
    assert found.verdict == "not safe"
    assert found.verify().ok
    assert not found.verify().safe
    document = json.loads(json.dumps(found.document))
    document["verdict"], document["exposed"] = "safe", []
    failures = verify(resealed(document)).failures
    assert "no witness for the upper level of 4 against the public" in failures
    assert "no witness for the sliding level of 4 against attacker 0" in failures


def test_a_witness_must_not_move_what_an_attacker_knows() -> None:
    """The deviation around the rectangle moves cell 8: whoever knows that cell is not impressed by it."""
    document = json.loads(json.dumps(certify(two_by_two(attackers=()), [4, 5, 7, 8]).document))
    document["problem"]["attackers"] = [{"name": "B", "known": [8]}]
    failures = verify(resealed(document)).failures
    assert failures
    assert all("against attacker 0" in failure for failure in failures)


def integral(upper: float) -> Problem:
    return Problem.from_arrays([[1, -2]], [4, 2], [0], lpl=0, upl=1, upper=[4 + upper, 9], integer=True)


def test_fractions_prove_nothing_against_who_knows_integrality(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_found(*_: Any, **__: Any) -> Any:
        return type("Result", (), {"x": None, "status": 1})

    monkeypatch.setattr(moves.optimize, "milp", nothing_found)
    found = certify(integral(1), [0, 1])
    assert found.verdict == "LP-safe only"
    assert found.document["unproven"] == [[-1, 0, 1]]
    assert found.verify().ok
    assert not found.verify().safe
    document = json.loads(json.dumps(found.document))
    document["verdict"], document["unproven"] = "safe", []
    assert verify(resealed(document)).failures == ("no witness for the upper level of 0 against the public",)
    document["unproven"], document["verdict"], document["witnesses"] = [[-1, 0, 1]], "LP-safe only", []
    assert not verify(resealed(document)).ok


@settings(max_examples=30, deadline=None)
@given(problems(), st.integers(0, 10**6))
def test_verdicts_agree_with_the_judge(problem: Problem, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pattern = problem.must_hide | (problem.may_hide & (rng.random(problem.n_cells) < 0.85))
    found = certify(problem, pattern)
    checked = verify(json.loads(json.dumps(found.document)), against=problem_statement(problem))
    assert checked.ok, checked.failures
    assert checked.safe == found.safe == Judge(problem).safe(pattern)
    secondaries = np.flatnonzero(pattern & ~problem.must_hide)
    expected = sum((Fraction(repr(float(w))) for w in problem.weights[secondaries]), Fraction(0))
    assert checked.cost == found.cost == expected


@pytest.mark.parametrize("name", ["hie1372d", "hie1327d", pytest.param("hier13", marks=pytest.mark.slow), "table8"])
def test_library_tables_with_everything_hidden(name: str, shared) -> None:
    problem = read_jj(shared(f"instances/csplib/{name}.jj"))
    found = certify(problem, problem.may_hide).verify()
    assert found.ok
    assert found.safe
    assert found.questions == 2 * len(problem.primaries)


@pytest.mark.parametrize("seed", range(3))
def test_decimals_with_many_digits_in_three_dimensions(seed: int) -> None:
    """Levels and bounds from formulas have 17 digits; every question that floating point answers is made exact."""
    rng = np.random.default_rng(seed)
    shape = (6, 6, 6)
    full = rng.lognormal(3, 1.5, shape).round(2)
    for axis in range(3):
        full = np.concatenate((full.sum(axis=axis, keepdims=True), full), axis=axis)
    cells = np.arange(full.size).reshape(full.shape)
    rows = []
    for axis in range(3):
        for line in np.moveaxis(cells, axis, -1).reshape(-1, 7):
            equation = np.zeros(full.size)
            equation[line] = [-1] + [1] * 6
            rows.append(equation)
    values = full.ravel().round(2)
    primary = rng.choice(cells[1:, 1:, 1:].ravel(), 20, replace=False)
    level = values * rng.uniform(0.02, 0.2, full.size)
    problem = Problem.from_arrays(
        np.array(rows), values, primary, lpl=level, upl=level, lower=values * 0.5, upper=values * 1.5
    )
    pattern = problem.must_hide | (rng.random(full.size) < 0.5)
    exposed = {e.key for e in Witnesses(problem).check(pattern)}
    found = audit(problem, pattern, intervals=False)
    assert {e.key for e in found.exposures} == exposed
    checked = certify(problem, pattern, witnesses=found.evidence).verify()
    assert checked.ok, checked.failures
    assert checked.safe == (not exposed)


def test_evidence_of_an_audit_is_taken_over() -> None:
    problem = instances.load("eustat-rd-companies")
    everything = problem.may_hide
    judged = audit(problem, everything, intervals=False)
    taken = certify(problem, everything, witnesses=judged.evidence)
    assert taken.document == certify(problem, everything).document
