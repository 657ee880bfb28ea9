"""Files as they come: every kind, every way of writing numbers, and what is said of it."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.formats.codelists import read_code_list
from tabprotect.table.reading.numbers import Notation, find_notation, to_numbers
from tabprotect.table.reading.tabular import read_tabular

ROWS = [("01", "Zürich", "1.234,50"), ("02", "Genève", "7,25"), ("03", "Łódź", "12")]


def text_of(separator: str = ";", rows: list[tuple[str, str, str]] = ROWS) -> str:
    return "\r\n".join([separator.join(("code", "name", "value")), *(separator.join(row) for row in rows), ""])


def check(path: Path, **options: str) -> object:
    frame, found = read_tabular(path, numbers=["value"], **options)
    assert frame["code"].tolist() == ["01", "02", "03"]
    assert frame["value"].tolist() == [1234.5, 7.25, 12.0]
    assert found.rows == 3
    return found


@pytest.mark.parametrize(("encoding", "said"), [("utf-8", "utf-8"), ("utf-8-sig", "utf-8-sig"), ("utf-16", "utf-16")])
@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_text(tmp_path: Path, encoding: str, said: str, separator: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text_of(separator).encode(encoding))
    found = check(path)
    assert (found.encoding, found.separator, found.decimal, found.thousands) == (said, separator, ",", ".")


@pytest.mark.parametrize(
    ("word", "encoding", "said"),
    [
        ("Zürich Genève", "cp1252", "cp1252"),
        ("España, año, niño", "latin-1", "cp1252"),
        ("été à Nîmes", "cp1252", "cp1252"),
    ],
)
def test_western_texts_are_windows_1252(tmp_path: Path, word: str, encoding: str, said: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(f"code;name\n1;{word}\n".encode(encoding))
    frame, found = read_tabular(path)
    assert found.encoding == said
    assert frame["name"].tolist() == [word]
    assert "line 2 is not UTF-8" in str(found)


def test_what_is_given_holds(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("code;name\n1;\xb9\n".encode("latin-1"))
    frame, found = read_tabular(path, encoding="cp1250")
    assert frame["name"].tolist() == ["ą"]
    assert found.encoding == "cp1250"
    frame, _ = read_tabular(path, encoding="latin-1", separator=",")
    assert list(frame) == ["code;name"]


def test_packed(tmp_path: Path) -> None:
    # gzip without the ending, and an archive with one of two files named
    data = text_of().encode()
    (tmp_path / "a.csv").write_bytes(gzip.compress(data))
    assert check(tmp_path / "a.csv").packed == "gz"
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("in/a.csv", data)
    found = check(tmp_path / "a.zip")
    assert (found.packed, found.member) == ("zip", "in/a.csv")
    with zipfile.ZipFile(tmp_path / "a.zip", "a") as archive:
        archive.writestr("other.csv", b"x")
    with pytest.raises(InputError, match="holds 2 files"):
        read_tabular(tmp_path / "a.zip")
    check(tmp_path / "a.zip", member="in/a.csv")


def test_excel(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    frame = pd.DataFrame({"code": ["01", "02", "03"], "name": ["a", None, "c"], "value": [1234.5, 7.25, 12]})
    with pd.ExcelWriter(path) as book:
        frame.to_excel(book, sheet_name="cells", index=False)
    found = check(path)
    assert (found.kind, found.sheet) == ("excel", "cells")
    with pd.ExcelWriter(path, mode="a") as book:
        frame.to_excel(book, sheet_name="more", index=False)
    with pytest.raises(InputError, match="2 sheets"):
        read_tabular(path)
    check(path, sheet="more")


def test_parquet_and_duckdb(tmp_path: Path) -> None:
    frame = pd.DataFrame({"code": ["01", "02", "03"], "value": [1234.5, 7.25, 12]})
    frame.iloc[:2].to_parquet(tmp_path / "part-1.parquet")
    frame.iloc[2:].to_parquet(tmp_path / "part-2.parquet")
    read, found = read_tabular(tmp_path / "part-*.parquet", numbers=["value"])
    assert read.to_dict("list") == frame.to_dict("list")
    assert len(found.files) == 2
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE cells AS SELECT * FROM frame")
    found = check(tmp_path / "a.duckdb")
    assert found.relation == "cells"
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE VIEW other AS SELECT 1 AS x")
    with pytest.raises(InputError, match="holds 2 tables"):
        read_tabular(tmp_path / "a.duckdb")
    check(tmp_path / "a.duckdb", relation="cells")


def test_a_number_of_two_meanings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("code;value\na;1,234\nb;5\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"'1,234' .* can be read in two ways"):
        read_tabular(path, numbers=["value"])
    assert read_tabular(path, numbers=["value"], decimal=",")[0]["value"].tolist() == [1.234, 5.0]
    assert read_tabular(path, numbers=["value"], decimal=".")[0]["value"].tolist() == [1234.0, 5.0]
    # another number decides
    path.write_text("code;value\na;1,234\nb;5,1\n", encoding="utf-8")
    assert read_tabular(path, numbers=["value"])[0]["value"].tolist() == [1.234, 5.1]


def test_all_mistakes_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("code;value\na;1\nb;2;3\nc\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"3 \(3 fields\), 4 \(1 fields\)"):
        read_tabular(path)
    path.write_text("code;value;value;\na;1;2;3\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_tabular(path)
    assert len(error.value.problems) == 2
    path.write_text("code;value\na;x\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"'x' \(row 1\)"):
        read_tabular(path, numbers=["value"])
    with pytest.raises(InputError, match="did you mean 'value'"):
        read_tabular(path, numbers=["valu"])
    with pytest.raises(InputError, match=r"did you mean 'a.csv'"):
        read_tabular(tmp_path / "b.csv")


@given(
    st.lists(st.floats(-1e9, 1e9).map(lambda x: round(x, 2)), min_size=1, max_size=8),
    st.sampled_from([(".", ""), (",", ""), (",", "."), (".", ","), (",", " "), (".", "'")]),
)
def test_numbers_come_back_in_every_notation(values: list[float], way: tuple[str, str]) -> None:
    decimal, thousands = way
    texts = [f"{v:,.2f}".translate({ord(","): thousands, ord("."): decimal}) for v in values]
    found = find_notation(texts)
    assert found is not None
    assert to_numbers(texts, found, "v").tolist() == values
    assert to_numbers(texts, Notation(decimal, thousands), "v").tolist() == values


def test_code_lists(tmp_path: Path) -> None:
    tree = ("Total", "A", "01", "02", "B", "05")
    path = tmp_path / "list.csv"
    path.write_text("Code;Parent;Description\nA;;x\n01;A;y\n02;A;z\nB;;\n05;B;\n", encoding="utf-8")
    found = read_code_list(path)
    assert (found.form, found.hierarchy.codes) == ("parents", tree)
    path.write_text("Order\tLevel\tCode\n1\t1\tA\n2\t2\t01\n3\t2\t02\n4\t1\tB\n5\t2\t05\n", encoding="utf-8")
    found = read_code_list(path)
    assert (found.form, found.hierarchy.codes) == ("levels", tree)
    path.write_text("Order\tLevel\tCode\n1\t1\tA\n2\t3\t011\n", encoding="utf-8")
    with pytest.raises(InputError, match="row 2: code '011' is of level 3"):
        read_code_list(path)
    path.write_text("id,name\nFR,France\nFR1,Ile\nFR10,Ile\nDE1,B\n", encoding="utf-8")
    found = read_code_list(path, lengths=[2, 3], total="EU")
    assert found.hierarchy.codes == ("EU", "DE", "DE1", "FR", "FR1", "FR10")
    # one code at the top that has parts is the total
    path.write_text("code;parent\nEU;\nFR;EU\nDE;EU\nFR1;FR\n", encoding="utf-8")
    assert read_code_list(path).hierarchy.total == "EU"


def test_blank_cells_are_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("code,value\na,\nb,2.5\n", encoding="utf-8")
    frame, _ = read_tabular(path, numbers=["value"])
    assert np.isnan(frame["value"][0])
    assert frame["value"][1] == 2.5
