"""Documents that are made to cost their reader time or memory are refused, by stated limits."""

from __future__ import annotations

import copy
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tabprotect.attack.certificate import certify
from tabprotect.certificate.document import SECTIONS, digest, seal
from tabprotect.certificate.limits import UNLIMITED, Limits, Malformed, read_within, size_of_json
from tabprotect.certificate.verify import verify
from tabprotect.problem import Attacker, Problem

ROWS = [[-1, 1, 1, 1]]


def document(**changes: Any) -> dict[str, Any]:
    problem = Problem.from_arrays(ROWS, [20, 9, 6, 5], primary=[1], lpl=2, upl=2, **changes)
    return json.loads(json.dumps(certify(problem, [1, 2]).document))


def resealed(document: dict[str, Any]) -> dict[str, Any]:
    document["digest"] = digest(document["problem"])
    document["seal"] = seal((name, digest(document[name])) for name in SECTIONS)
    return document


@pytest.mark.parametrize("name", ["pipe.json", "pipe.json.gz"])
def test_what_is_no_regular_file_keeps_nobody_waiting(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(Malformed, match="no regular file"):
        read_within(tmp_path / name, UNLIMITED)
    assert "no regular file" in verify(tmp_path / name).failures[0]
    assert "no regular file" in verify("/dev/zero").failures[0]


def test_a_packed_file_is_never_unpacked_whole(tmp_path: Path) -> None:
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b" " * 5_000_000))
    with pytest.raises(Malformed, match="holds more than the limit of 50,000 bytes"):
        read_within(path, Limits(memory=100_000))
    assert len(read_within(path, UNLIMITED)) == 5_000_000
    assert "--no-limits" in verify(path, limits=Limits(memory=100_000)).failures[0]


@pytest.mark.parametrize("text", ["[" + "[]," * 5000 + "[]]", '{"a":[' + '{"b":{}},' * 3000 + "{}]}", "[" * 20_000])
def test_what_would_not_fit_into_memory_is_not_parsed(text: str, tmp_path: Path) -> None:
    path = tmp_path / "bomb.json"
    path.write_text(text)
    assert "more than the limit of 0 MB" in verify(path, limits=Limits(memory=200_000)).failures[0]


def test_the_size_of_a_text_in_memory_is_not_underestimated() -> None:
    import tracemalloc

    texts = ["[" + "[]," * 5000 + "[]]", '{"a":[' + '{"b":{}},' * 3000 + "{}]}", json.dumps(document()), json.dumps(
        [str(i) for i in range(5000)]), json.dumps([10**6 + i for i in range(5000)])]  # fmt: skip
    for text in texts:
        tracemalloc.start()
        found = json.loads(text)
        size, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert found is not None
        assert size <= size_of_json(text.encode()) <= 12 * size + 1000


def many_witnesses() -> dict[str, Any]:
    found = document(attackers=[Attacker(str(k), (3,)) for k in range(50)])
    found["problem"]["attackers"] = [{"name": str(k), "known": [2]} for k in range(50)]
    found["witnesses"] *= 1000
    return found


def long_numbers() -> dict[str, Any]:
    found = document()
    found["witnesses"] = [{"cells": [1, 2], "numerators": [10**4000, -(10**4000)], "denominator": 10**4000}] * 50
    return found


def chain() -> dict[str, Any]:
    found = document()
    first = [{"kind": "at_least_0", "cell": 3}]
    sums = [{"kind": "sum", "terms": [[k, f"{10**3000 + k}/{10**3000 + k + 7}"]]} for k in range(200)]
    found["proof"] = {"facts": [], "multipliers": [], "rows": first + sums}
    found["bound"] = "0"
    return found


def attackers() -> dict[str, Any]:
    found = document()
    found["problem"]["attackers"] = [{"name": "", "known": [0, 1, 2, 3]}] * 20_000
    return found


@pytest.mark.parametrize("make", [many_witnesses, long_numbers, chain, attackers])
def test_work_is_counted(make: Any) -> None:
    found = verify(resealed(make()), limits=Limits(work=100_000))
    assert len(found.failures) == 1
    assert "limit" in found.failures[0]


def test_whoever_made_a_certificate_needs_no_limits() -> None:
    problem = Problem.from_arrays(ROWS, [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    made = certify(problem, [1, 2])
    assert not verify(made.document, limits=Limits(work=10)).ok
    assert made.verify().safe


@pytest.mark.parametrize("noise", [10**7, -(10**12)])
def test_noise_that_would_be_searched_for_ever_is_refused(noise: int) -> None:
    from tabprotect.certificate.claims import Claim

    with pytest.raises(Malformed, match="noise beyond"):
        Claim.read({"method": "noise", "support": [[0, noise]], "fixed": []}, 3, True)


def test_questions_that_nobody_asks_cannot_be_listed() -> None:
    for name, key in (("exposed", [-1, 2, 1]), ("exposed", [5, 1, 1]), ("unproven", [-1, 1, 7])):
        found = copy.deepcopy(document())
        found[name] = [key]
        assert any("nobody asks" in failure for failure in verify(resealed(found)).failures)
