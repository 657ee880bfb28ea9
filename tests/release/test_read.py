"""A release read back is what was proven, byte for byte, whoever made the digests."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tabprotect as tp
from benchmarks.alterations import CERTIFICATE, FORGERIES, LAYOUT, new_digests, published_again, resealed
from tabprotect.attack.certificate import certify
from tabprotect.certificate.document import Malformed
from tabprotect.cli.app import run
from tabprotect.formats.certificate import read_instance
from tabprotect.release.read import read_release


def microdata() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "region": list("aaaabbbbcccc") * 3,
            "size": list("xyzz") * 9,
            "firm": range(36),
            "turnover": [900, 20, 31, 45, 16, 70, 18, 9, 410, 11, 12, 13, 14, 15, 6, 17, 8, 95] * 2,
        }
    )


def linked() -> Any:
    """Tables that share cells, of which one has a code with one part."""
    data = microdata().assign(country=lambda d: d["region"].map({"a": "A", "b": "B", "c": "B"}), kind=list("uvw") * 12)
    region = tp.Dimension(["country", "region"])
    size = tp.tabulate(data, [region, "size"], value="turnover", contributor="firm")
    kind = tp.tabulate(data, ["kind"], value="turnover", contributor="firm")
    return tp.protect(tp.link({"by size": size, "by kind": kind}), ["p%=15"], limits=tp.Limits(work=2000))


KINDS: dict[str, Callable[[], Any]] = {
    "suppression": lambda: made(tp.Suppress(method="exact")),
    "statuses apart": lambda: made(tp.Suppress(method="exact"), separate_statuses=True, decimals=-1),
    "rounding": lambda: made(tp.Round(base=50)),
    "linked, with a code of one part": linked,
}


def made(method: Any, **options: Any) -> Any:
    return tp.protect(
        microdata(), ["p%=15", "threshold=4"], method, by=["region", "size"], value="turnover", contributor="firm",
        limits=tp.Limits(work=2000), **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every kind of release; the first in all formats."""
    place = tmp_path_factory.mktemp("releases")
    for name, make in KINDS.items():
        make().write(place / name, ("csv",))
    KINDS["suppression"]().write(place / "all formats", ("csv", "parquet", "xlsx"))
    return place


@pytest.fixture
def folder(originals: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    kind = getattr(request, "param", "suppression")
    return Path(shutil.copytree(originals / kind, tmp_path / "out"))


@pytest.mark.parametrize("folder", [*KINDS, "all formats"], indirect=True)
def test_it_is_what_was_proven(folder: Path) -> None:
    assert read_release(folder).failures == ()
    assert run(["verify", str(folder)]) == 0
    assert run(["verify", str(folder), "--no-limits"]) == 0
    assert run(["audit", str(folder), "--no-limits"]) == 0


def _status(folder: Path) -> None:
    path = folder / "publish" / "table.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-1], lines[-1] + "17"]) + "\n")


def _column(folder: Path) -> None:
    path = folder / "publish" / "table.csv"
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    inside = pd.read_csv(folder / "internal" / "table.csv")
    frame.insert(2, "note", inside["turnover"].to_numpy())
    frame.to_csv(path, index=False, lineterminator="\n")


def _foreign(folder: Path) -> None:
    shutil.copy(folder / "internal" / "table.csv", folder / "publish" / "table2.csv")


def _report(folder: Path) -> None:
    shutil.copy(folder / "internal" / "report.html", folder / "publish" / "index.html")


def _small_change(folder: Path) -> None:
    path = folder / "publish" / "table.csv"
    lines = path.read_text().splitlines()
    row = lines[1].split(",")
    row[2] = str(float(row[2]) + 1e-7)
    path.write_text("\n".join([lines[0], ",".join(row), *lines[2:]]) + "\n")


def _parquet(folder: Path) -> None:
    path = folder / "publish" / "table.parquet"
    frame = pd.read_parquet(path)
    frame["true"] = pd.read_parquet(folder / "internal" / "table.parquet")["turnover"]
    frame.to_parquet(path)


def _excel(folder: Path) -> None:
    shutil.copy(folder / "internal" / "table.xlsx", folder / "publish" / "table.xlsx")


def _link(folder: Path) -> None:
    (folder / "publish" / "index.html").rename(folder / "page.html")
    (folder / "publish" / "index.html").symlink_to(folder / "page.html")


def _empty_folder(folder: Path) -> None:
    (folder / "publish" / "more").mkdir()


def _linked_folder(folder: Path) -> None:
    (folder / "publish").rename(folder.parent / "elsewhere")
    (folder / "publish").symlink_to(folder.parent / "elsewhere")


def _beside(folder: Path) -> None:
    shutil.copy(folder / "internal" / "table.csv", folder / "table.csv")


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "publish" / "more.csv")


def _missing(folder: Path) -> None:
    (folder / "publish" / "index.html").unlink()


@pytest.mark.parametrize(
    ("alter", "words"),
    [
        (_status, "publish/table.csv is not, byte for byte, what was proven"),
        (_column, "foreign are note"),
        (_foreign, "publish/table2.csv is not part of the release"),
        (_report, "publish/index.html is not, byte for byte"),
        (_small_change, "has another value than was proven"),
        (_parquet, "publish/table.parquet is not, byte for byte"),
        (_excel, "publish/table.xlsx is not, byte for byte"),
        (_link, "publish/index.html is no plain file"),
        (_empty_folder, "publish/more is not part of the release"),
        (_linked_folder, "publish is a link"),
        (_beside, "table.csv is not part of the release, which is publish/ and internal/"),
        (_pipe, "publish/more.csv is not part of the release"),
        (_missing, "publish/index.html is missing"),
    ],
)
@pytest.mark.parametrize("folder", ["all formats"], indirect=True)
def test_new_digests_do_not_help(folder: Path, alter: Callable[[Path], None], words: str) -> None:
    alter(folder)
    new_digests(folder)  # no secret is needed for them
    failures = read_release(folder).failures
    assert any(words in failure for failure in failures), failures


@pytest.mark.parametrize("folder", KINDS, indirect=True)
def test_the_command_line_refuses_what_was_altered(folder: Path) -> None:
    _status(folder)
    new_digests(folder)
    assert run(["verify", str(folder)]) == 1
    assert run(["audit", str(folder)]) == 1


def test_a_value_shown_that_the_certificate_hides_is_what_the_intruder_sees(folder: Path) -> None:
    before = read_release(folder).pattern
    path = folder / "publish" / "table.csv"
    path.write_text(path.read_text().replace(",,suppressed", ",5,suppressed", 1))
    new_digests(folder)
    assert read_release(folder).pattern.sum() == before.sum() - 1


@pytest.mark.parametrize("name", [CERTIFICATE, LAYOUT, "internal/release.json", "publish/table.csv"])
def test_a_pipe_in_place_of_a_file_is_refused_at_once(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    refused = (1,) if name.startswith("publish") else (2,)
    for command in ("verify", "audit"):
        assert run([command, str(folder)]) in refused
    if name.startswith("publish"):
        assert run(["export", str(folder), str(folder.parent / "table.px")]) == 2
    assert run(["verify", str(folder / name)]) == 2


LAYOUTS: dict[str, Callable[[dict[str, Any]], object]] = {
    "rows of other cells": lambda d: d["cell"].reverse(),
    "cells that are not there": lambda d: d["cell"].__setitem__(0, 10**6),
    "another title": lambda d: d.update(title="5 = 3 + 2"),
    "other decimals": lambda d: d.update(decimals=3),
    "decimals of the wrong type": lambda d: d.update(decimals=True),
    "other codes": lambda d: d["columns"][0]["words"].__setitem__(0, "a1"),
    "a code twice": lambda d: d["columns"][0].update(row=[0] * len(d["cell"])),
    "no parts": lambda d: d.update(parts=[]),
    "malformed nodes": lambda d: d["parts"][0]["axes"][0].update(nodes=[[0, -1]]),
    "an unknown format": lambda d: d.update(formats=["csv", "html"]),
    "no columns": lambda d: d.update(columns=[]),
    "an entry too many": lambda d: d.update(further=1),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_that_was_altered_is_found(folder: Path, name: str) -> None:
    path = folder / "internal" / "layout.json"
    document = json.loads(path.read_text())
    LAYOUTS[name](document)
    path.write_text(json.dumps(document))
    new_digests(folder)
    assert run(["verify", str(folder)]) in (1, 2)
    path.unlink()
    assert run(["verify", str(folder)]) == 2


def forged(folder: Path, change: Callable[[dict[str, Any], list[str]], object]) -> None:
    path = folder / LAYOUT
    layout = json.loads(path.read_text())
    change(layout, json.loads((folder / CERTIFICATE).read_text())["problem"]["values"])
    path.write_text(json.dumps(layout))
    with contextlib.suppress(Malformed):  # changed values have no statuses
        published_again(folder)


@pytest.mark.parametrize("folder", KINDS, indirect=True)
def test_public_files_made_again_from_the_same_layout_are_the_same(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in (folder / "publish").iterdir()}
    forged(folder, lambda *_: None)
    assert {path.name: path.read_bytes() for path in (folder / "publish").iterdir()} == before
    assert run(["verify", str(folder)]) == 0


@pytest.mark.parametrize("folder", KINDS, indirect=True)
@pytest.mark.parametrize("name", FORGERIES)
def test_public_files_made_again_from_another_layout_are_refused(folder: Path, name: str) -> None:
    before = {path.name: path.read_bytes() for path in (folder / "publish").iterdir()}
    forged(folder, FORGERIES[name])
    if {path.name: path.read_bytes() for path in (folder / "publish").iterdir()} == before:
        pytest.skip("nothing of that is shown")
    assert run(["verify", str(folder)]) == 2
    assert run(["audit", str(folder)]) == 2


def _as_before(folder: Path) -> None:
    """Make the certificate one of an earlier version, which stated no names."""
    path = folder / CERTIFICATE
    document = json.loads(path.read_text())
    del document["problem"]["shown"]
    path.write_text(json.dumps(resealed(document)))
    new_digests(folder)


def test_a_certificate_that_states_no_names_leaves_names_alone_unchecked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original = Path(shutil.copytree(folder, folder.parent / "original"))
    _as_before(folder)
    assert run(["verify", str(folder)]) == 0
    assert "names of columns" in capsys.readouterr().out
    assert run(["verify", str(folder), "--against", str(original)]) == 1
    for name in ("rows doubled, with the true values", "rows more that tell values", "a column more"):
        again = Path(shutil.copytree(folder, folder.parent / name))
        forged(again, FORGERIES[name])
        assert run(["verify", str(again)]) == 2


def test_names_that_the_certificate_states_otherwise_are_found_against_the_own_release(folder: Path) -> None:
    original = Path(shutil.copytree(folder, folder.parent / "original"))
    assert run(["verify", str(folder), "--against", str(original)]) == 0
    path = folder / CERTIFICATE
    document = json.loads(path.read_text())
    document["problem"]["shown"]["value"] = "turnover: 7"
    path.write_text(json.dumps(resealed(document)))
    forged(folder, lambda layout, _: layout.update(value="turnover: 7"))
    assert run(["verify", str(folder)]) == 0
    assert run(["verify", str(folder), "--against", str(original)]) == 1


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


@pytest.mark.parametrize("folder", ["all formats"], indirect=True)
def test_files_written_by_other_versions_say_so(folder: Path) -> None:
    path = folder / "internal" / "layout.json"
    document = json.loads(path.read_text())
    document["written"]["pandas"] = "0.1"
    path.write_text(json.dumps(document))
    new_digests(folder)
    assert read_release(folder).failures == ()  # the same bytes are the same bytes
    _report(folder)
    new_digests(folder)
    assert any("written with pandas 0.1, this is" in failure for failure in read_release(folder).failures)


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
