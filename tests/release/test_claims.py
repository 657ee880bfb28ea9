"""A release says no more than its certificate proves."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tabprotect as tp
from benchmarks.alterations import CERTIFICATE, new_digests, resealed
from tabprotect.attack.certificate import certify
from tabprotect.cli.app import run
from tabprotect.formats.certificate import read_instance
from tabprotect.release.read import read_release
from tests.release.kinds import KINDS

PLACES: list[tuple[tuple[Any, ...], Any]] = [
    (("problem", "start", 2), 10**6),
    (("problem", "cell", 3), 10**6),
    (("problem", "cell", 3), -1),
    (("problem", "start"), {"a": 1}),
    (("problem", "values", 0), "1e400"),
    (("problem", "values", 0), 5),
    (("problem", "lower", 0), "inf"),
    (("problem", "upper", 0), "-inf"),
    (("problem", "weights", 0), "inf"),
    (("problem", "status", 0), True),
    (("problem", "cells", 0), {"a": 1}),
    (("problem", "cells", 0), None),
    (("problem", "attackers"), [{"name": 1, "known": []}]),
    (("problem", "attackers"), [{"name": "a", "known": [10**6]}]),
    (("problem",), []),
    (("pattern",), 5),
    (("pattern",), [10**6]),
    (("pattern",), ["a"]),
    (("claim",), 7),
    (("claim",), {"method": ["multiple"]}),
    (("values",), None),
    (("attack",), {"problem": 1}),
    (("attack",), []),
    (("publication",), []),
    (("verdict",), ["safe"]),
    (("proof",), {"facts": [[1]], "rows": 5, "multipliers": None}),
]


@pytest.mark.parametrize("seal", [False, True], ids=["as it is", "sealed anew"])
@pytest.mark.parametrize(("place", "value"), PLACES, ids=[f"{'/'.join(map(str, p))}={v!r:.20}" for p, v in PLACES])
def test_one_wrong_number_or_type_never_ends_a_process(
    originals: Path, tmp_path: Path, place: tuple[Any, ...], value: Any, seal: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = "rounding" if place[0] in ("claim", "values", "attack") else "suppression"
    folder = Path(shutil.copytree(originals / kind, tmp_path / "out"))
    path = folder / CERTIFICATE
    document = json.loads(path.read_text())
    target = document
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = value
    path.write_text(json.dumps(resealed(document) if seal else document))
    if seal:
        new_digests(folder)
    assert run(["verify", str(folder)]) in (1, 2)
    # the audit makes its own judgement and needs no proof
    assert run(["audit", str(folder)]) in ((0, 1) if seal and place[0] in ("attack", "proof") else (1, 2))
    assert "Traceback" not in capsys.readouterr().err
    if place[0] == "problem":
        with pytest.raises(tp.InputError, match="damaged"):
            read_instance(path)


@pytest.mark.parametrize(
    "change",
    [
        {"safe": "yes"},
        {"cost": 1},
        {"bound": 10**9},
        {"bound": []},
        {"publish": 5},
        {"internal": {"../x": "1"}},
        {"internal": {}},
    ],
)
def test_a_manifest_cannot_claim_more_than_the_certificate(folder: Path, change: dict[str, Any]) -> None:
    path = folder / "internal" / "release.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    assert run(["verify", str(folder)]) in (1, 2)


@pytest.mark.parametrize("status", ["optimal", "optimal by the solver", "optimal by the solver; proven", "feasible", 7])
@pytest.mark.parametrize("kind", ["suppression", "rounding"])
def test_a_status_beyond_its_proof_says_so_or_is_refused(kind: str, status: Any, tmp_path: Path) -> None:
    release = KINDS[kind]()
    if kind == "suppression":
        # what a solver says whose proof is lost
        release = replace(
            release, result=replace(release.result, status="optimal", bound=release.result.cost, cuts=None)
        )
    release.write(tmp_path / "out", ("csv",))
    manifest = tmp_path / "out" / "internal" / "release.json"
    said = json.loads(manifest.read_text())
    assert said["status"] == "optimal by the solver; no bound is proven in exact arithmetic"
    assert read_release(tmp_path / "out").failures == ()
    manifest.write_text(json.dumps({**said, "status": status}))
    (failure,) = read_release(tmp_path / "out").failures
    assert failure.startswith("release.json has ")
    assert "no status" in failure or "by the solver only: no bound is proven" in failure


def test_what_a_search_does_not_claim_is_not_called_optimal(folder: Path) -> None:
    manifest, proof = folder / "internal" / "release.json", folder / CERTIFICATE
    document = json.loads(proof.read_text())
    proof.write_text(json.dumps(resealed({**document, "bound": None, "claimed_bound": None, "proof": None})))
    claims = {"status": "optimal", "bound": None, "proven_bound": None, "gap": None}
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), **claims}))
    assert any("has no bound that meets the cost" in failure for failure in read_release(folder).failures)


def test_verify_says_how_far_optimality_is_proven() -> None:
    problem = tp.instances.load("eustat-investment")
    found = tp.suppress(problem)
    lines = [
        certify(problem, found.pattern, bound=bound, proof=proof).verify().summary().split("\n")[1]
        for bound, proof in ((found.bound, found.cuts), (found.bound, None), (0.9 * found.bound, None), (None, None))
    ]
    assert lines == [
        "cost 37, proven lower bound 37, optimal, proven in exact arithmetic",
        "cost 37, optimal by the solver; no bound is proven in exact arithmetic",
        "cost 37, by the solver within 10.00 %; no bound is proven in exact arithmetic",
        "cost 37",
    ]
