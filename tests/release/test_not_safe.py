"""A release that was written as not safe is not safe for whoever reads it: audit, verify, export, the next period."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.cli.app import run
from tabprotect.formats.folder import digests
from tabprotect.formats.published import read_published
from tabprotect.release.read import read_release

BY = ["region", "size"]


def firms(seed: int) -> pd.DataFrame:
    """Seeds 0 and 23: the cheapest pattern gives sums away, to one respondent or to everybody."""
    rng = np.random.default_rng(seed)
    n = 14
    codes = {"region": rng.choice(list("nsw"), n), "size": rng.choice(list("ab"), n), "firm": rng.integers(0, 8, n)}
    return pd.DataFrame({**codes, "v": np.ceil(rng.lognormal(3, 1, n))})


def protected(seed: int = 23, **how: Any) -> tp.Release:
    given: dict[str, Any] = {"by": BY, "value": "v", "contributor": "firm", "unions": "audit", "allow_unsafe": True}
    release = tp.protect(firms(seed), "p%=15", **{**given, **how})
    assert isinstance(release, tp.Release)
    return release


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return protected().write(tmp_path / "out")


@pytest.mark.parametrize("seed", [0, 23])
def test_sums_that_are_given_away_are_exposed_cells_of_the_certificate(seed: int, tmp_path: Path) -> None:
    release = protected(seed)
    assert release.unions
    assert not any(one.safe for one in (release, release.judgement, release.audit(), tp.audit(release)))
    label = release.problem.system.label
    sums = {"sum of " + " + ".join(map(label, one.cells)) for one in release.unions}
    assert {label(int(i)) for i in release.judgement.exposed} == sums
    assert release.counts.sums == 0  # none of them is protected
    for form in (release, release.certificate, release.certificate.document, release.write(tmp_path / "out")):
        found = tp.verify(form)
        assert (found.ok, found.safe, found.verdict) == (True, False, "not safe")
        assert all(one in " ".join(found.reasons) for one in sums)
    assert tp.verify(release).questions == release.verify().questions


def test_what_is_known_of_the_cells_stays_as_it_is() -> None:
    """Cost, bound, pattern and intervals are those of the release without the look at sums."""
    alone, found = protected(unions="off"), protected()
    assert (found.result.cost, found.result.bound) == (alone.result.cost, alone.result.bound)
    assert found.pattern.tolist() == alone.pattern.tolist()
    frame = found.audit().frame
    own = frame[frame["cell"] < found.table.n_cells]
    columns = ["cell", "attacker", "low", "high"]
    pd.testing.assert_frame_equal(own[columns].reset_index(drop=True), alone.audit().frame[columns])


def test_audit_and_verify_have_the_exit_code_of_a_verdict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", str(folder)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("NOT SAFE: 12 cells")
    assert "can be computed and violates p%=15" in " ".join(out.split())
    assert run(["audit", str(folder), "--json", "-"]) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert (verdict["safe"], len(verdict["exposed"]), verdict["failures"]) == (False, 4, [])
    assert len(verdict["not_safe"]) == 4
    assert run(["verify", str(folder)]) == 1
    assert capsys.readouterr().out.startswith("certificate holds: not safe")


def test_nothing_below_the_verdict_calls_the_release_safe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    firms(23).to_csv("firms.csv", index=False)
    words = "protect firms.csv --by region --by size --value v --contributor firm --rule p%=15 --unions audit"
    assert run([*words.split(), "--allow-unsafe", "--out", "out"]) == 1
    out = capsys.readouterr().out
    assert "NOT SAFE: 12 cells" in out
    assert not [line for line in out.splitlines() if line.startswith("safe")]
    page = (tmp_path / "out" / "internal" / "report.html").read_text(encoding="utf-8")
    assert "NOT SAFE" in page
    assert "by exact witnesses, see certificate.json" in page
    assert not tp.verify(tmp_path / "out" / "internal" / "certificate.json").safe


def says_safe(manifest: dict[str, Any]) -> None:
    manifest["safe"] = True
    del manifest["not_safe"]


def says_nothing(manifest: dict[str, Any]) -> None:
    del manifest["not_safe"]


@pytest.mark.parametrize("change", [says_safe, says_nothing])
def test_a_manifest_does_not_make_it_safe(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = folder / "internal" / "release.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")
    assert not tp.verify(folder).safe
    assert not read_release(folder).safe
    assert (run(["audit", str(folder)]), run(["verify", str(folder)])) == (1, 1)
    assert run(["export", str(folder), str(folder.parent / "x.px")]) in (1, 2)
    assert not (folder.parent / "x.px").exists()


def test_a_release_of_which_only_the_manifest_says_so_is_not_safe(tmp_path: Path) -> None:
    """As earlier versions wrote it: the certificate of the cells alone holds."""
    folder = protected(0, unions="off").write(tmp_path / "out")
    assert tp.verify(folder).safe
    path = folder / "internal" / "release.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**manifest, "safe": False}), encoding="utf-8")
    found = tp.verify(folder)
    assert (found.ok, found.verdict) == (True, "not safe")
    assert found.reasons == ("release.json says that it was written as not safe",)
    assert (run(["audit", str(folder)]), run(["verify", str(folder)])) == (1, 1)


def test_export_needs_the_permission_that_protect_needs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = folder.parent / "x.px"
    assert run(["export", str(folder), str(place)]) == 1
    assert not place.exists()
    assert "NOT SAFE: nothing was written (--allow-unsafe writes it" in " ".join(capsys.readouterr().out.split())
    assert run(["export", str(folder), str(place), "--allow-unsafe"]) == 1
    assert place.exists()
    assert "NOT SAFE" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_export_refuses_a_table_that_was_altered(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = protected(0, unions="repair").write(tmp_path / "out", (form,))
    place = tmp_path / "x.px"
    assert run(["export", str(folder), str(place)]) == 0
    place.unlink()
    table = folder / "publish" / f"table.{form}"
    if form == "csv":
        table.write_text(table.read_text().replace("1", "2"))
    else:
        pd.read_parquet(table).iloc[::-1].to_parquet(table)
    assert run(["export", str(folder), str(place)]) == 2
    assert "is not the release that was written" in " ".join(capsys.readouterr().err.split())
    assert not place.exists()
    with pytest.raises(tp.InputError, match=f"publish/table.{form} was altered"):
        read_published(folder)


def test_export_refuses_a_table_that_was_altered_with_its_digest(tmp_path: Path) -> None:
    folder = protected(0, unions="repair").write(tmp_path / "out")
    table, path = folder / "publish" / "table.csv", folder / "internal" / "release.json"
    before = digests({"table.csv": table.read_bytes()})["table.csv"]
    table.write_text(table.read_text().replace("1", "2"))
    after = digests({"table.csv": table.read_bytes()})["table.csv"]
    path.write_text(path.read_text().replace(before, after))
    assert run(["export", str(folder), str(tmp_path / "x.px")]) == 2
    assert not (tmp_path / "x.px").exists()


def test_the_next_period_is_told(folder: Path) -> None:
    release = protected(unions="repair", previous=folder)
    told = [text for name, text in release.summary().lines if name == "warning"]
    assert len(told) == 4
    assert all(text.startswith("the last release was written as not safe: ") for text in told)


def revision(tmp_path: Path) -> tp.Release:
    """A cell that is sensitive now was published: alone the release is safe, beside the last one it is not."""

    def table(n: list[int]) -> tp.Table:
        rows = pd.DataFrame({"region": ["Total", *"abcd"], "v": [100.0, 10, 20, 30, 40], "n": [sum(n), *n]})
        return tp.Table.from_cells(rows, ["region"], "v", count="n")

    last = tp.protect(table([1, 9, 9, 9]), "threshold=3").write(tmp_path / "last")
    previous = tp.Previous(last, revision=True)
    release = tp.protect(table([1, 9, 9, 1]), "threshold=3", previous=previous, allow_unsafe=True)
    assert isinstance(release, tp.Release)
    return release


def test_a_revision_that_is_not_safe_beside_the_last_release_is_nowhere_called_so(tmp_path: Path) -> None:
    release = revision(tmp_path)
    assert release.certificate.verify().safe  # which knows nothing of another release
    assert release.carried is not None
    assert not release.carried.safe
    folder = release.write(tmp_path / "out")
    assert not any(one.safe for one in (release, release.judgement, release.audit(), tp.audit(release)))
    assert "NOT SAFE" in repr(release.audit())
    for form in (release, folder):
        found = tp.verify(form)
        assert (found.ok, found.verdict) == (True, "not safe")
        assert "d is sensitive now, and the last release published it" in found.reasons[0]
    assert (run(["audit", str(folder)]), run(["verify", str(folder)])) == (1, 1)
    page = (folder / "internal" / "report.html").read_text(encoding="utf-8")
    assert "with the last release, see release.json" in page
