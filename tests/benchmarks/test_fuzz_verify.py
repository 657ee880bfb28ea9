"""The fuzz of verify: it alters what it says, and an alteration that matters would be found."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

import tabprotect.release.read
import tabprotect.report.layout
from benchmarks import fuzz_verify as fuzz
from benchmarks.alterations import CERTIFICATE, KINDS, alter, resealed


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("releases")
    for name in ("suppression of counts", "rounding"):
        make, formats = KINDS[name]
        made = make()
        assert made.safe
        made.write(folder / name, formats)
    return folder


def test_alterations_come_again_and_change_what_they_say(releases: Path, tmp_path: Path) -> None:
    base, target = releases / "rounding", tmp_path / "altered"
    found = []
    for seed in range(40):
        done = alter(base, target, random.Random(seed))
        assert str(done) == str(alter(base, target, random.Random(seed)))
        found.append(done)
    assert {done.resealed for done in found} == {True, False}
    assert {done.file.split("/")[0] for done in found} == {"publish", "internal"}
    assert CERTIFICATE in {done.file for done in found}


@pytest.mark.slow
def test_whatever_is_accepted_although_it_matters_is_found(releases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = tabprotect.release.read.read_release
    monkeypatch.setattr(tabprotect.release.read, "read_release", lambda *args: replace(read(*args), failures=()))
    outcomes = [fuzz.answer(fuzz.Asked(seed, str(releases))) for seed in range(60)]
    assert any(said.outcome == "material" and "publish/" in said.words for said in outcomes)

    monkeypatch.setattr(tabprotect.report.layout, "check_rows", lambda *_: None)
    outcomes = [fuzz.answer(fuzz.Asked(seed, str(releases))) for seed in range(3, 60, fuzz.FORGED)]
    assert any(said.outcome == "material" and "published again" in said.words for said in outcomes)

    def broken(*_: object) -> None:
        raise IndexError

    monkeypatch.setattr(tabprotect.release.read, "read_release", broken)
    outcomes = [fuzz.answer(fuzz.Asked(seed, str(releases))) for seed in range(10)]
    assert any(said.outcome == "crash" for said in outcomes)


def test_another_pattern_or_claim_is_another_statement(releases: Path) -> None:
    original = json.loads((releases / "rounding" / CERTIFICATE).read_text())
    assert fuzz._same_statement(original, {**original, "notice": "", "seal": ""})
    assert not fuzz._same_statement(original, {**original, "claim": {**original["claim"], "steps": 1}})
    assert not fuzz._same_statement(original, {**original, "values": original["values"][::-1]})
    hidden = json.loads((releases / "suppression of counts" / CERTIFICATE).read_text())
    assert fuzz._same_statement(hidden, {**hidden, "pattern": hidden["pattern"][::-1]})
    assert not fuzz._same_statement(hidden, {**hidden, "pattern": hidden["pattern"][1:]})
    assert not fuzz._same_statement(hidden, {**hidden, "bound": "1000000"})
    assert resealed(json.loads(json.dumps(hidden))) == hidden


@pytest.mark.slow
def test_a_hundred_alterations() -> None:
    lines: list[str] = []
    assert fuzz.run(range(100), fuzz.SECONDS, lines.append, costly=False) == 0, lines
    assert lines[-2].startswith("100 alterations: ")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [136, 239, 309, 434, 2501])
def test_an_alteration_that_once_was_misjudged_is_right(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    pytest.importorskip("openpyxl")
    folder = tmp_path_factory.getbasetemp() / "all-kinds"
    if not folder.exists():
        fuzz.make(folder)
    assert fuzz.answer(fuzz.Asked(seed, str(folder))).outcome in ("rejected", "immaterial")
