"""Text in the manner of the data: written, verified, read back."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect as tp
import tabprotect.microdata as md
from tabprotect.formats.dialect import STANDARD, Dialect
from tabprotect.formats.frames import encode_frame
from tabprotect.formats.published import read_published
from tabprotect.microdata.folder import verify_masked
from tabprotect.release.read import read_release
from tabprotect.table.reading import read_frame
from tests.quick import examples

ROWS = [f"{'né'[i % 2]};{'ab'[i % 3 > 0]};f{i};{i * 37 % 101},25" for i in range(23)]


@pytest.fixture
def firms(tmp_path: Path) -> Path:
    path = tmp_path / "firms.csv"
    path.write_bytes("\r\n".join(["région;size;firm;turnover", *ROWS]).encode("cp1252"))
    return path


def release_of(firms: Path) -> tp.Release:
    return tp.protect(firms, "p%=60", by=["région", "size"], value="turnover", contributor="firm")


def test_a_release_is_written_as_the_data_are(firms: Path, tmp_path: Path) -> None:
    release = release_of(firms)
    release.write(tmp_path / "out")
    text = (tmp_path / "out" / "publish" / "table.csv").read_bytes().decode("cp1252")
    assert text.splitlines()[:2] == ["région;size;turnover;status", "Total;Total;1084,75;published"]
    assert text.splitlines()[2] == "Total;a;282,0;published"
    assert not read_release(tmp_path / "out").failures
    read = read_published(tmp_path / "out")
    wanted = release.public.frame["turnover"].to_numpy(float, na_value=float("nan"))
    assert read.values.tolist() == pytest.approx(wanted.tolist(), nan_ok=True)
    changed = text.replace("1084,75", "1084,5")
    (tmp_path / "out" / "publish" / "table.csv").write_bytes(changed.encode("cp1252"))
    assert any("has another value than was proven" in one for one in read_release(tmp_path / "out").failures)


def test_asked_for_otherwise(firms: Path, tmp_path: Path) -> None:
    release_of(firms).write(tmp_path / "out", dialect=STANDARD)
    text = (tmp_path / "out" / "publish" / "table.csv").read_text()
    assert text.splitlines()[0] == "région,size,turnover,status"
    assert not read_release(tmp_path / "out").failures


def test_masked_files_are_written_as_the_data_are(firms: Path, tmp_path: Path) -> None:
    masked = md.mask(firms, md.Schema(identifiers=["firm"]), [md.TopCoding("turnover", threshold=50.5)], seed=1)
    masked.write(tmp_path / "out")
    lines = (tmp_path / "out" / "publish" / "data.csv").read_bytes().decode("cp1252").splitlines()
    assert lines[:3] == ["région;size;turnover", "n;a;0,25", "é;b;37,25"]
    assert verify_masked(tmp_path / "out")
    path = tmp_path / "out" / "publish" / "data.csv"
    path.write_bytes(path.read_bytes().replace(b"37,25", b"38,25"))
    assert not verify_masked(tmp_path / "out")


def test_letters_that_an_encoding_has_not_make_it_utf_8() -> None:
    frame = pd.DataFrame({"a": ["Łódź"], "v": [1.5]})
    assert encode_frame(frame, "csv", dialect=Dialect(";", ",", "cp1252")).startswith(b"\xef\xbb\xbfa;v\n")


def test_signs_that_are_none() -> None:
    with pytest.raises(tp.InputError, match="3 problems"):
        Dialect("x", "-", "utf-9")


words = st.text(st.characters(codec="cp1252", exclude_characters="\r\n\0", exclude_categories=("Cc",)), min_size=1)


@given(
    st.lists(
        st.tuples(words.filter(lambda w: w.strip() == w), st.floats(-1e9, 1e9).map(lambda v: round(v, 3))),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from([".", ","]),
    st.sampled_from(["utf-8", "utf-8-sig", "cp1252"]),
)
@settings(max_examples=examples(40, 100))
def test_round_trip(rows: list[tuple[str, float]], separator: str, decimal: str, encoding: str) -> None:
    frame = pd.DataFrame({"code": [f"c{word}" for word, _ in rows], "value": [value for _, value in rows]})
    dialect = Dialect(separator, decimal, encoding)
    read = dialect.decode(encode_frame(frame, "csv", dialect=dialect))
    assert read["code"].tolist() == frame["code"].tolist()
    assert [float(word.replace(decimal, ".")) for word in read["value"]] == frame["value"].tolist()


def test_the_reader_reads_what_was_written(tmp_path: Path) -> None:
    frame = pd.DataFrame({"code": ["01", "é;ü"], "value": [1234.5, 0.25]})
    path = tmp_path / "a.csv"
    path.write_bytes(encode_frame(frame, "csv", dialect=Dialect(";", ",", "cp1252")))
    read, found = read_frame(path, ["value"])
    assert read.to_dict("list") == frame.to_dict("list")
    assert Dialect.like([found]).document() == {"separator": ";", "decimal": ",", "encoding": found.encoding}
