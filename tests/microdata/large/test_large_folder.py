"""Releases of large masked files: what is written, what verification finds, and the commands."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import tabprotect.microdata as md
from tabprotect.cli.app import run
from tabprotect.errors import InfeasibleError, InputError
from tabprotect.formats.folder import read_manifest
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.large.folder import verify_large
from tabprotect.microdata.large.stage import ROW
from tests.microdata.large.cases import people

SCHEMA = md.Schema(identifiers=["id"], strata=["region"], weight="w")
STEPS = [
    md.TopCoding("income", quantile=0.9),
    md.GlobalRecoding("age", cuts=[18, 40, 65]),
    md.PRAM("sector", floor=0.6),
    md.Sampling(share=0.5),
]


def masked(n: int = 240, batch: int = 50) -> md.LargeMasked:
    return md.mask(people(n), SCHEMA, STEPS, seed=3, large=md.Large(batch=batch), title="People")


def release(folder: Path) -> Path:
    return masked().write(folder / "out", ["csv", "parquet"])


def rewrite(path: Path, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    """Change a file and its digest: what only a comparison of values can find."""
    frame = change(pq.read_table(path).to_pandas())
    frame.to_parquet(path, index=False)
    update(path)


def update(path: Path) -> None:
    import hashlib

    manifest = path.parent.parent / "internal" / "release.json"
    document = json.loads(manifest.read_text())
    document[path.parent.name][path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest.write_text(json.dumps(document))


def test_a_release_holds_what_was_masked_and_verifies(tmp_path: Path) -> None:
    found = masked()
    out = found.write(tmp_path / "out", ["csv", "parquet"])
    wanted = found.frame.df()
    for name in ("data.csv", "data.parquet"):
        path = out / "publish" / name
        there = pd.read_csv(path) if name.endswith("csv") else pd.read_parquet(path)
        pd.testing.assert_frame_equal(there, wanted, check_dtype=False)
    assert sorted(p.name for p in (out / "publish").iterdir()) == ["data.csv", "data.parquet", "metadata.json"]
    public = json.loads((out / "publish" / "metadata.json").read_text())
    assert (public["title"], public["records"]) == ("People", len(wanted))
    assert [column["name"] for column in public["columns"]] == list(wanted)
    links = pd.read_parquet(out / "internal" / "links.parquet")
    assert links["released"].tolist() == list(range(1, len(wanted) + 1))
    frame = people(240)
    assert frame["id"].iloc[links["original"] - 1].tolist() == links["id"].tolist()
    assert frame["region"].iloc[links["original"] - 1].tolist() == wanted["region"].tolist()
    assert read_manifest(out)["seed"] == 3
    assert all(stat.S_IMODE(p.stat().st_mode) == 0o600 for p in (out / "internal").iterdir())
    checked = verify_large(out, md.Large(batch=17))
    assert checked, checked.summary()
    assert [c.claim for c in checked.checks] == [c.claim for c in found.verify().checks]
    # nothing of the release was taken away with the stages that read it
    assert verify_large(out)
    # an earlier release is replaced, in the default form
    found.write(out)
    assert not (out / "publish" / "data.parquet").exists()
    assert verify_large(out)


def test_without_identifiers_links_are_numbers_alone(tmp_path: Path) -> None:
    found = md.mask(people(60), None, md.Sampling(share=0.5), seed=1, large=True)
    out = found.write(tmp_path / "out", ["parquet"])
    assert list(pd.read_parquet(out / "internal" / "links.parquet")) == ["released", "original"]
    assert verify_large(out)


def test_numbers_that_are_none_are_missing_in_text(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1.0, np.nan, 3.0], "y": [1, 2, 3]})
    found = md.mask(frame, None, md.TopCoding("x", threshold=2), large=True)
    out = found.write(tmp_path / "out", ["csv", "parquet"])
    assert (out / "publish" / "data.csv").read_text() == "x,y\n1.0,1\n,2\n2.0,3\n"
    assert verify_large(out)


@pytest.mark.parametrize(
    ("part", "name", "said"),
    [
        ("publish", "data.csv", "publish/data.csv was altered"),
        ("publish", "data.parquet", "publish/data.parquet was altered"),
        ("internal", "links.parquet", "internal/links.parquet was altered"),
    ],
)
def test_an_altered_file_is_found(tmp_path: Path, part: str, name: str, said: str) -> None:
    out = release(tmp_path)
    path = out / part / name
    path.write_bytes(path.read_bytes() + b"x")
    assert said in verify_large(out).failures
    path.unlink()
    assert f"{part}/{name} is missing" in verify_large(out).failures


def test_a_published_file_with_other_values_is_found_though_its_digest_fits(tmp_path: Path) -> None:
    out = release(tmp_path)
    csv, parquet = (out / "publish" / f"data.{kind}" for kind in ("csv", "parquet"))
    csv.write_text(csv.read_text().replace("north", "south", 1))
    update(csv)
    rewrite(parquet, lambda f: f.assign(income=f["income"] + (np.arange(len(f)) == 5)))
    found = verify_large(out)
    assert found.failures == tuple(
        f"publish/data.{kind} does not hold the values that the claims are about" for kind in ("csv", "parquet")
    )
    rewrite(parquet, lambda f: f.head(20))
    assert len(verify_large(out).failures) == 2


def test_claims_are_checked_on_the_values_of_the_release(tmp_path: Path) -> None:
    out = release(tmp_path)
    rewrite(out / "internal" / "released.parquet", lambda f: f.assign(income=f["income"].fillna(0) + 1e9))
    found = verify_large(out)
    assert next(c.claim.kind for c in found.checks if not c.holds) == "at-most"


def test_damaged_row_numbers_are_refused(tmp_path: Path) -> None:
    out = release(tmp_path)
    inside = out / "internal"
    before = next(inside.glob("before-*.parquet"))
    rewrite(before, lambda f: f.iloc[5:])
    with pytest.raises(InputError, match="lacks rows that are released"):
        verify_large(out)
    rewrite(inside / "released.parquet", lambda f: f.assign(**{ROW: f[ROW].to_numpy()[::-1]}))
    with pytest.raises(InputError, match="numbers of its rows do not ascend"):
        verify_large(out)
    rewrite(inside / "released.parquet", lambda f: f.drop(columns=ROW))
    with pytest.raises(InputError, match=r"released\.parquet cannot be read"):
        verify_large(out)
    released = release(tmp_path)
    claims = json.loads((inside / "claims.json").read_text())
    for claim in claims["claims"]:
        claim["parameters"] = {}
    (inside / "claims.json").write_text(json.dumps(claims))
    assert "parameters are damaged" in verify_large(released).summary()
    (inside / "claims.json").write_text('{"claims": [{}]}')
    with pytest.raises(InputError, match=r"claims\.json is damaged"):
        verify_large(out)


def test_nothing_is_written_where_a_claim_fails_or_the_place_is_taken(tmp_path: Path) -> None:
    found = masked()
    false = Claim("at-most", ("income",), "no income is above 0", {"column": "income", "most": 0.0})
    with pytest.raises(InfeasibleError, match="does not hold"):
        replace(found, claims=(false,)).write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="csv or parquet, not"):
        found.write(tmp_path / "out", ["xlsx"])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("x")
    with pytest.raises(InputError, match="holds files but no release"):
        found.write(tmp_path / "mine")
    md.mask(people(20), None, STEPS[0]).write(tmp_path / "small")
    with pytest.raises(InputError, match="no release of large masked microdata"):
        verify_large(tmp_path / "small")


SPEC = """
data = "people-*.csv"
seed = 4
formats = ["parquet"]
large = {large}

[schema]
identifiers = ["id"]

[[steps]]
method = "noise"
columns = ["turnover"]
alpha = 0.1
"""


def specification(folder: Path, large: str = '{ order = "id", batch = 30, folder = "." }') -> str:
    frame = people(100)
    frame[:50].to_csv(folder / "people-1.csv", index=False)
    frame[50:].to_csv(folder / "people-2.csv", index=False)
    (folder / "spec.toml").write_text(SPEC.replace("{large}", large))
    return str(folder / "spec.toml")


def test_the_command_masks_in_batches_and_verifies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, out = specification(tmp_path), tmp_path / "out"
    assert run(["mask", spec, "--out", str(out)]) == 0
    assert "100 records in, 100 released" in capsys.readouterr().out
    wanted = md.mask(
        str(tmp_path / "people-*.csv"), md.Schema(identifiers=["id"]), md.Noise("turnover", alpha=0.1), seed=4,
        large=md.Large(order="id"),
    )  # fmt: skip
    pd.testing.assert_frame_equal(pd.read_parquet(out / "publish" / "data.parquet"), wanted.frame.df())
    assert run(["verify", str(out)]) == 0
    assert "every claim holds" in capsys.readouterr().out
    (out / "publish" / "data.parquet").write_bytes(b"")
    assert run(["verify", str(out)]) != 0
    assert "was altered" in capsys.readouterr().out
    # no file of a stage stays beside the data
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "people-1.csv", "people-2.csv", "spec.toml"]


@pytest.mark.parametrize(
    ("large", "said"),
    [
        ('"yes"', "large must be true, false or a table"),
        ("{ ordre = 'id' }", "large: unknown key 'ordre'; did you mean 'order'"),
        ("{ batch = 0 }", "batch must be a whole number of at least 1"),
        ("{ folder = 3 }", "folder must be a text"),
    ],
)
def test_bad_options(tmp_path: Path, capsys: pytest.CaptureFixture[str], large: str, said: str) -> None:
    assert run(["mask", specification(tmp_path, large), "--out", str(tmp_path / "out")]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_other_commands_do_not_overlook_large(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = Path(specification(tmp_path, "true"))
    text = spec.read_text()
    spec.write_text(text.replace('["parquet"]', '["xlsx"]'))
    assert run(["mask", str(spec), "--out", str(tmp_path / "out")]) == 2
    assert "a sheet does not hold them" in " ".join(capsys.readouterr().err.split())
    spec.write_text(text + '[[measures]]\nmeasure = "suda"\n')
    assert run(["risk", str(spec)]) == 2
    assert "measures need all records in memory" in " ".join(capsys.readouterr().err.split())
    spec.write_text(text.replace("[[steps]]", "[[candidates]]"))
    assert run(["compare-masks", str(spec), "--out", str(tmp_path / "out")]) == 2
    assert "candidates are compared with all records in memory" in " ".join(capsys.readouterr().err.split())


def test_unsafe_combinations_of_several_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specification(tmp_path)
    people(100).to_csv(tmp_path / "all.csv", index=False)
    shown = []
    for data, more in (("people-*.csv", ["--large"]), ("all.csv", [])):
        asked = ["unsafe", str(tmp_path / data), "--keys", "region,sector,children", "--threshold", "4"]
        assert run([*asked, "--json", str(tmp_path / "found.json"), *more]) == run(asked + more) != 0
        shown.append((capsys.readouterr().out, (tmp_path / "found.json").read_text()))
    assert shown[0] == shown[1]
