"""One reader for all that takes data: every usual form of a file gives what the frame itself gives."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
import tabprotect.microdata as md
from tabprotect.query.guard.database import connect

N = 60
FIRMS = pd.DataFrame(
    {
        "région": [("01", "02", "Île")[i % 3] for i in range(N)],
        "size": ["sml"[i % 2] for i in range(N)],
        "firm": [f"f{i % 25}" for i in range(N)],
        "turnover": [round(1250.25 + 731.5 * (i % 11) + i, 2) for i in range(N)],
        "key": [(7919 * i * i + 13) % (1 << 26) for i in range(N)],
    }
)


def european(value: float) -> str:
    return f"{value:,.2f}".translate(str.maketrans({",": ".", ".": ","}))


def lines() -> str:
    frame = FIRMS.assign(turnover=FIRMS["turnover"].map(european))
    return frame.to_csv(index=False, sep=";", lineterminator="\r\n")


def zipped(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("firms.csv", lines().encode("cp1252"))


def stored(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.register("firms", FIRMS)
        connection.execute("CREATE TABLE records AS SELECT * FROM firms")


def parts(path: Path) -> None:
    FIRMS.iloc[:20].to_parquet(path.with_name("part-1.parquet"))
    FIRMS.iloc[20:].to_parquet(path.with_name("part-2.parquet"))


MAKERS: dict[str, Callable[[Path], object]] = {
    "semicolons.csv": lambda path: path.write_bytes(lines().encode("cp1252")),
    "mark.txt": lambda path: path.write_bytes(lines().encode("utf-8-sig")),
    "tabs.tsv": lambda path: path.write_bytes(lines().replace(";", "\t").encode()),
    "packed.csv.gz": lambda path: path.write_bytes(gzip.compress(lines().encode())),
    "packed.zip": zipped,
    "sheet.xlsx": lambda path: FIRMS.to_excel(path, index=False),
    "part-*.parquet": parts,
    "firms.duckdb": stored,
}
ROLES = {"by": ["région", "size"], "value": "turnover", "contributor": "firm"}


@pytest.fixture(params=MAKERS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    MAKERS[request.param](tmp_path / request.param)
    return tmp_path / request.param


def test_tables(path: Path) -> None:
    found, wanted = tp.tabulate(path, **ROLES), tp.tabulate(FIRMS, **ROLES)
    assert found.values.tolist() == wanted.values.tolist()
    assert found.rows.equals(wanted.rows)
    kind = {".xlsx": "excel", ".parquet": "parquet", ".duckdb": "duckdb"}.get(path.suffix, "text")
    (said,) = found.recognised
    assert said.kind == kind
    if kind == "text":
        assert (said.decimal, said.thousands) == (",", ".")
        assert said.separator == ("\t" if path.suffix == ".tsv" else ";")


def released(data: Path | pd.DataFrame) -> list[tp.Release | tp.ChangedRelease]:
    given = {"seed": 1, "limits": tp.Limits(work=10)}
    return [
        tp.protect(data, "p%=15", tp.Suppress("unit"), **ROLES, **given),
        tp.protect(data, "threshold=3", tp.CellKey(key="key"), by=ROLES["by"], **given),
    ]


@pytest.fixture(scope="module")
def of_the_frame() -> list[tp.Release | tp.ChangedRelease]:
    return released(FIRMS)


def test_releases_and_cell_keys(path: Path, of_the_frame: list[tp.Release | tp.ChangedRelease]) -> None:
    for found, wanted in zip(released(path), of_the_frame, strict=True):
        assert found.public.frame.equals(wanted.public.frame)
        assert path.name.partition(".")[0] in str(found.summary())


def test_finished_tables(path: Path) -> None:
    cells = tp.tabulate(FIRMS, **ROLES).rows
    place = path.with_name("cells.csv")
    place.write_text(cells.assign(turnover=cells["turnover"].map(european)).to_csv(index=False, sep=";"))
    table = tp.Table.from_cells(place, ROLES["by"], "turnover", tolerance=0.1)
    assert table.recognised[0].decimal == ","
    assert np.allclose(table.values, tp.tabulate(FIRMS, **ROLES).values, atol=0.01)


@pytest.mark.parametrize("large", [False, True])
def test_masked_files(path: Path, large: bool) -> None:
    schema = md.Schema(identifiers=["firm"])
    methods = [md.TopCoding("turnover", threshold=6000)]
    masked = md.mask(path, schema, methods, seed=1, large=large)
    frame = masked.frame.df() if large else masked.frame
    assert frame["turnover"].tolist() == FIRMS["turnover"].clip(upper=6000).tolist()
    assert frame["région"].tolist() == FIRMS["région"].tolist()
    assert masked.summary().startswith(f"read {path.name}: ")


@pytest.mark.parametrize("large", [False, True])
def test_unsafe_combinations(path: Path, large: bool) -> None:
    found = md.unsafe_combinations(path, keys=["région", "size", "firm"], threshold=2, large=large)
    wanted = md.unsafe_combinations(FIRMS, keys=["région", "size", "firm"], threshold=2)
    assert found.value == wanted.value
    assert found.recognised[0].path == str(path)


def test_risk(path: Path) -> None:
    schema = md.Schema(keys=["région", "size"])
    assert md.risk.sample_uniqueness(path, None, schema).value == md.risk.sample_uniqueness(FIRMS, None, schema).value


def test_questions(path: Path) -> None:
    if path.suffix in (".duckdb", ".parquet"):
        return
    heard = []
    connection = connect(str(path), heard.append)
    name = path.name.partition(".")[0]
    found = connection.execute(f'SELECT sum(turnover), min(région) FROM "{name}"').fetchone()
    assert found[0] == pytest.approx(FIRMS["turnover"].sum(), abs=1e-6)
    assert found[1] == "01"
    assert heard[0].path == str(path)


def test_what_is_known_of_a_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("r;v\na;1.234\nb;2.345\n")
    with pytest.raises(tp.InputError, match="can be read in two ways"):
        tp.tabulate(path, "r", "v")
    with pytest.raises(tp.InputError, match="can be read in two ways"):
        md.mask(path, md.Schema(), [md.TopCoding("v", threshold=2000)])
    assert tp.tabulate(tp.File(path, decimal=","), "r", "v").values[0] == 3579
    assert tp.tabulate(path, "r", "v", decimal=".").values[0] == 3.579
    masked = md.mask(tp.File(path, decimal=","), md.Schema(), [md.TopCoding("v", threshold=2000)])
    assert masked.frame["v"].tolist() == [1234, 2000]


def test_columns_that_contradict_each_other_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("nace;v\n10.11;12,5\n10.12;7,25\n")
    with pytest.raises(tp.InputError, match=r"several ways \('10\.11' in nace, '12,5' in v\); pass decimal="):
        md.mask(path, md.Schema(), [md.TopCoding("v", threshold=10)])
    masked = md.mask(tp.File(path, decimal=","), md.Schema(), [md.TopCoding("v", threshold=10)])
    assert masked.frame.to_dict("list") == {"nace": ["10.11", "10.12"], "v": [10.0, 7.25]}
    assert tp.tabulate(path, "nace", "v").values.tolist() == [19.75, 12.5, 7.25]


def test_patterns_of_text_are_read_together(tmp_path: Path) -> None:
    (tmp_path / "a-1.csv").write_text("r;v\na;1\nb;2\n")
    (tmp_path / "a-2.csv").write_text("r;v\na;1.234,5\n")
    table = tp.tabulate(tmp_path / "a-*.csv", "r", "v")
    assert table.values.tolist() == [1237.5, 1235.5, 2.0]
    assert len(table.recognised[0].files) == 2
    (tmp_path / "a-3.csv").write_text("r;w\na;1\n")
    with pytest.raises(tp.InputError, match=r"a-3\.csv has other columns than"):
        tp.tabulate(tmp_path / "a-*.csv", "r", "v")


def test_files_of_digests_stay_as_they_are(path: Path) -> None:
    before = {one.name: one.read_bytes() for one in path.parent.iterdir()}
    tp.tabulate(path, **ROLES)
    md.mask(path, md.Schema(), [md.TopCoding("turnover", threshold=6000)], seed=1)
    assert {one.name: one.read_bytes() for one in path.parent.iterdir()} == before
