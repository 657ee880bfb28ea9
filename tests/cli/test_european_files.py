"""Files of European offices by flags only: recognised, said, and never guessed where two readings fit."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import pandas as pd
import pytest
from pydantic import BaseModel

import tabprotect as tp
from tabprotect.cli.settings import read_settings
from tabprotect.errors import InputError
from tabprotect.methods.recoding import RecodingRules
from tabprotect.table.reading import open_data
from tabprotect.workflow.specification import HierarchySpec, Spec
from tests.cli.european import FLAGS, TEXT

POINTS = "Total,p,180.25,published"


def as_excel(path: Path) -> None:
    frame = pd.read_csv(io.StringIO(TEXT), sep=";", decimal=",", thousands=".")
    frame.to_excel(path, index=False)


def as_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("firms.csv", TEXT.encode())


def as_duckdb(path: Path) -> None:
    import duckdb

    frame = pd.read_csv(io.StringIO(TEXT), sep=";", decimal=",", thousands=".")
    with duckdb.connect(str(path)) as connection:
        connection.register("given", frame)
        connection.execute("CREATE TABLE firms AS SELECT * FROM given")


MAKERS: dict[str, Callable[[Path], object]] = {
    "a.csv": lambda path: path.write_bytes(TEXT.encode("cp1252")),
    "a.txt": lambda path: path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode()),
    "a.tsv": lambda path: path.write_text(TEXT.replace(";", "\t")),
    "a.csv.gz": lambda path: path.write_bytes(gzip.compress(TEXT.encode())),
    "a.zip": as_zip,
    "a.xlsx": as_excel,
    "a.duckdb": as_duckdb,
}


@pytest.mark.parametrize("name", MAKERS)
def test_every_form_gives_the_same_release(tmp_path: Path, tabprotect: Callable[..., Any], name: str) -> None:
    MAKERS[name](tmp_path / name)
    found = tabprotect("protect", tmp_path / name, *FLAGS, "--out", tmp_path / "out")
    assert found.code == 0, found.err
    assert f"{name}: " in found.out
    encoding = {"a.csv": "cp1252", "a.txt": "utf-8-sig"}.get(name, "utf-8")
    published = (tmp_path / "out" / "publish" / "table.csv").read_text(encoding=encoding)
    wanted = {".tsv": "Total\tp\t180,25\tpublished", ".xlsx": POINTS, ".duckdb": POINTS}
    assert published.splitlines()[3] == wanted.get(Path(name).suffix, "Total;p;180,25;published")
    if name == "a.csv":
        assert "encoding cp1252, separator ';', decimal ',', thousands '.'" in found.out


def test_two_readings_are_an_error_that_names_the_flag(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    (tmp_path / "a.csv").write_text("r;v\na;1.234\nb;2.345\nb;1.111\nb;1.111\na;1.111\na;1.111\n")
    flags = (tmp_path / "a.csv", "--by", "r", "--value", "v", "--rule", "threshold=2", "--out", tmp_path / "out")
    found = tabprotect("protect", *flags)
    assert found.code == 2
    assert "'1.234'" in found.err
    assert "pass --decimal ',' or --decimal '.'" in found.err
    assert not (tmp_path / "out").exists()
    assert tabprotect("protect", *flags, "--decimal", ",").code == 0
    table = (tmp_path / "out" / "publish" / "table.csv").read_text()
    assert table.splitlines()[1].startswith("Total;8023;")


def inside(kind: Any) -> Any:
    """Return the model in an annotation, or the annotation."""
    if get_origin(kind) in (UnionType, dict, list):
        return next((one for one in get_args(kind) if isinstance(one, type) and issubclass(one, BaseModel)), kind)
    return kind


def keys(model: type[BaseModel], before: str = "") -> list[str]:
    found = []
    for name, one in model.model_fields.items():
        kind = inside(one.annotation)
        below = isinstance(kind, type) and issubclass(kind, BaseModel)
        middle = {"hierarchy": ".region", "tables": ".one"}.get(name, "")
        found += keys(kind, f"{before}{name}{middle}.") if below and name != "tables" else [before + name]
    return found


@pytest.mark.parametrize("key", keys(Spec))
def test_every_key_can_be_set(key: str) -> None:
    """A key given by --set is what the same line is in a file."""
    value = [2, 3] if key.endswith("s") else "x"
    expected: Any = value
    for part in reversed(key.split(".")):
        expected = {part: expected}
    assert read_settings([f"{key}={json.dumps(value)}"]) == expected
    assert len(keys(Spec)) > len(Spec.model_fields) + len(HierarchySpec.model_fields) - 1


def test_a_set_key_acts_as_in_a_specification(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    (tmp_path / "a.csv").write_text(
        "code,v\n" + "".join(f"{c}{d},{i}\n" for i, (c, d) in enumerate(["ab", "ac", "bd"] * 4))
    )
    common = ("--by", "code", "--value", "v", "--rule", "threshold=1")
    assert tabprotect("protect", tmp_path / "a.csv", *common, "--set", "hierarchy.code.lengths=[1]", "--set",
                      'output.title="By letter"', "--out", tmp_path / "one").code == 0  # fmt: skip
    (tmp_path / "a.toml").write_text(
        'data = "a.csv"\nby = ["code"]\nvalue = "v"\nrules = ["threshold=1"]\n[hierarchy.code]\nlengths = [1]\n'
        '[output]\ntitle = "By letter"\nfolder = "two"\n'
    )
    assert tabprotect("protect", tmp_path / "a.toml").code == 0
    for name in ("table.csv", "index.html"):
        assert (tmp_path / "one/publish" / name).read_bytes() == (tmp_path / "two/publish" / name).read_bytes()
    found = tabprotect("protect", tmp_path / "a.csv", *common, "--set", "hierarchy.code.lenghts=[1]")
    assert found.code == 2
    assert "did you mean 'lengths'" in found.err


def test_keys_of_a_specification(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    (tmp_path / "firms.csv").write_bytes(TEXT.encode("cp1252"))
    spec = tmp_path / "spec.toml"
    spec.write_text(
        'data = "firms.csv"\nby = ["région", "taille"]\nvalue = "chiffre"\ncontributor = "firme"\nrules = ["p%=15"]\n'
        '[output]\nseparator = "\\t"\nencoding = "utf-8-sig"\nfolder = "out"\n',
        encoding="utf-8",
    )
    assert tabprotect("protect", spec).code == 0
    data = (tmp_path / "out" / "publish" / "table.csv").read_bytes()
    assert data.startswith("\ufeffrégion\ttaille\tchiffre\tstatus\n".encode())
    spec.write_text(spec.read_text(encoding="utf-8").replace("utf-8-sig", "utf-9"), encoding="utf-8")
    found = tabprotect("protect", spec)
    assert found.code == 2
    assert "there is no encoding 'utf-9'" in found.err


MISTAKES = {
    "several columns at once": (
        ["--by", "région,taile", "--value", "chiffre", "--rule", "p%=15"],
        "these are several columns: name each on its own; there is no 'taile'; did you mean 'taille'?",
    ),
    "a rule without its sign": (["--by", "région", "--value", "chiffre", "--rule", "p%15"], "did you mean 'p%=15'?"),
    "no rule": (["--by", "région", "--value", "chiffre"], "--rule is missing: Such as p%=15"),
    "the other decimal sign": (
        ["--by", "région", "--value", "chiffre", "--rule", "p%=15", "--decimal", "."],
        "'1.090,5' (row 1), '5,5' (row 2), '4,5' (row 3) and 1 more; pass --decimal ',' and --thousands '.'",
    ),
    "the other sign between thousands": (
        ["--by", "région", "--value", "chiffre", "--rule", "p%=15", "--decimal", ",", "--thousands", " "],
        "must hold numbers (decimal sign ',', thousands ' '), but holds '1.090,5' (row 1); pass --thousands '.'",
    ),
    "no sign between thousands": (
        ["--by", "région", "--value", "chiffre", "--rule", "p%=15", "--decimal", ",", "--thousands", ""],
        "column 'chiffre' must hold numbers (decimal sign ','), but holds '1.090,5' (row 1); pass --thousands '.'",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_name_their_cure(case: str, tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    flags, cure = MISTAKES[case]
    text = TEXT.replace("1.090,5", "1.090,5").replace(";5\r", ";5,5\r").replace(";4\r", ";4,5\r")
    (tmp_path / "firms.csv").write_bytes(text.encode("cp1252"))
    found = tabprotect("protect", tmp_path / "firms.csv", *flags, "--out", tmp_path / "out")
    assert found.code == 2
    assert cure in found.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["mask", "risk", "compare-masks"])
def test_commands_on_microdata_say_how_the_file_was_read(
    command: str, tmp_path: Path, tabprotect: Callable[..., Any]
) -> None:
    (tmp_path / "firms.csv").write_bytes(TEXT.encode("cp1252"))
    parts = {
        "mask": '[[steps]]\nmethod = "top-coding"\ncolumns = "chiffre"\nthreshold = 60\n',
        "risk": '[[measures]]\nmeasure = "sample-uniqueness"\n',
        "compare-masks": '[[candidates]]\nmethod = "rank-swapping"\ncolumns = "chiffre"\np = 20\n',
    }
    spec = tmp_path / "spec.toml"
    schema = '[schema]\nkeys = ["région", "taille"]\nidentifiers = ["firme"]\n'
    spec.write_text(f'data = "firms.csv"\nseed = 1\n{schema}{parts[command]}', encoding="utf-8")
    out = [] if command == "risk" else ["--out", tmp_path / "out"]
    found = tabprotect(command, spec, *out)
    assert found.code in (0, None), found.err
    assert "firms.csv: text, encoding cp1252, separator ';', decimal ',', thousands '.'" in found.out + found.err
    spec.write_text(f'data = "firms.csv"\nsepparator = ";"\n{schema}{parts[command]}', encoding="utf-8")
    assert "did you mean 'separator'?" in tabprotect(command, spec, *out).err


def test_unsafe_combinations_of_a_sheet(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    with pd.ExcelWriter(tmp_path / "a.xlsx") as book:
        for name in ("one", "two"):
            pd.DataFrame({"a": list("xxy"), "b": list("kkl")}).to_excel(book, sheet_name=name, index=False)
    found = tabprotect("unsafe", tmp_path / "a.xlsx", "--keys", "a,b")
    assert found.code == 2
    assert "--set sheet=" in found.err
    found = tabprotect("unsafe", tmp_path / "a.xlsx", "--keys", "a,b", "--threshold", "2", "--set", "sheet=two")
    assert found.code == 1
    assert "a.xlsx: excel, sheet two" in found.err
    assert "1 of 3 records" in found.out


def test_questions_about_a_file(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    (tmp_path / "firms.csv").write_bytes(TEXT.encode("cp1252"))
    (tmp_path / "policy.toml").write_text(
        'unit = "firms.firme"\nminimum_units = 3\nrules = "p%=15"\n[tables.firms]\nkey = "firme"\n'
        'public = ["région", "taille"]\n[tables.firms.confidential]\nchiffre = {}\n',
        encoding="utf-8",
    )
    flags = (
        "--policy",
        tmp_path / "policy.toml",
        "--database",
        tmp_path / "firms.csv",
        "--log",
        tmp_path / "log.sqlite",
    )
    found = tabprotect("query", "SELECT COUNT(*) FROM firms WHERE \"taille\" = 'p'", *flags)
    assert found.code == 0, found.out + found.err
    assert found.out.split()[-1] == "5"
    assert "firms.csv: text, encoding cp1252" in found.err


def test_masked_files_are_written_as_asked(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    (tmp_path / "firms.csv").write_bytes(TEXT.encode("cp1252"))
    spec = tmp_path / "spec.toml"
    text = (
        'data = "firms.csv"\nseed = 1\noutput = {separator = "|", encoding = "utf-8"}\n[schema]\n'
        'identifiers = ["firme"]\n[[steps]]\nmethod = "top-coding"\ncolumns = "chiffre"\nthreshold = 60.5\n'
    )
    spec.write_text(text, encoding="utf-8")
    assert tabprotect("mask", spec, "--out", tmp_path / "out").code == 0
    lines = (tmp_path / "out" / "publish" / "data.csv").read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["région|taille|chiffre", "N|g|60,5"]
    assert tabprotect("verify", tmp_path / "out").code == 0
    spec.write_text(text.replace("separator", "seperator"), encoding="utf-8")
    assert "output: unknown key 'seperator'; did you mean 'separator'?" in tabprotect("mask", spec, "--out", "x").err


def test_files_of_codes_are_recognised_as_the_data_are(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    """Hierarchies, recodings and a-priori files of an office whose data are Windows-1252 are so, too."""
    (tmp_path / "a.csv").write_bytes(TEXT.replace("N;", "Nîmes;").replace("S;", "Évreux;").encode("cp1252"))
    (tmp_path / "r.hrc").write_bytes("Midi\r\n@Nîmes\r\nNord\r\n@Évreux\r\n".encode("cp1252"))
    (tmp_path / "t.grc").write_bytes("tous: g, p\r\n".encode("cp1252"))
    (tmp_path / "a.hst").write_bytes("Nîmes,g,u\r\n".encode("cp1252"))
    more = ("--hierarchy", f"région={tmp_path / 'r.hrc'}", "--rule", f"apriori={tmp_path / 'a.hst'}")
    done = tabprotect("protect", tmp_path / "a.csv", *FLAGS, *more, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    rows = (tmp_path / "out" / "publish" / "table.csv").read_bytes().decode("cp1252")
    assert "Nîmes;g;;suppressed" in rows
    assert tp.Hierarchy.read(tmp_path / "r.hrc").leaves == ("Nîmes", "Évreux")
    assert str(RecodingRules.read(tmp_path / "t.grc")).startswith("tous")
    with pytest.raises(InputError, match=r"r\.hrc is not ascii text .*; pass encoding="):
        tp.Hierarchy.read(tmp_path / "r.hrc", encoding="ascii")


def test_a_second_encoding_that_fits_is_said(tmp_path: Path, tabprotect: Callable[..., Any]) -> None:
    """Portuguese, or Romanian: whoever has the other one has to see it without reading all codes."""
    flags = [flag.replace("région", "região") for flag in FLAGS]
    (tmp_path / "a.csv").write_bytes(TEXT.replace("région", "região").encode("cp1252"))
    done = tabprotect("protect", tmp_path / "a.csv", *flags, "--out", tmp_path / "out")
    assert "a.csv: text, encoding cp1252 (cp1250 and iso8859_2 fit, too), separator ';'" in done.out
    named = tabprotect("protect", tmp_path / "a.csv", *flags, "--encoding", "cp1252", "--out", tmp_path / "out")
    assert "a.csv: text, encoding cp1252, separator ';'" in named.out


@pytest.mark.slow
def test_a_terminal_that_cannot_show_a_sign_is_no_failure_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("straße;wert\nmöwe;3\nmöwe;4\namsel;9\namsel;8\namsel;7\n", "utf-8")
    command = [sys.executable, "-m", "tabprotect", "protect", "d.csv", "--by", "straße", "--value", "wert"]
    run = subprocess.run(
        [*command, "--rule", "threshold=3", "--allow-unsafe", "--out", "o"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode != 70, run.stderr
    assert "stra?e" in run.stdout
    assert (tmp_path / "o" / "publish").is_dir()


@pytest.mark.parametrize("blank", [" ", "\u00a0", "\u202f", "\u2009"])
@pytest.mark.parametrize("given", [None, " ", "\u00a0", "\u202f", "\u2009"])
def test_blanks_of_any_kind_between_thousands(
    blank: str, given: str | None, tmp_path: Path, tabprotect: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """French offices write narrow no-break spaces, and any blank on the command line means all of them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "firms.csv").write_text(TEXT.replace("1.090,5", f"1{blank}090,5"), encoding="utf-8")
    more = () if given is None else ("--decimal", ",", "--thousands", given)
    done = tabprotect("protect", "firms.csv", *FLAGS, *more, "--out", "out")
    assert done.code == 0, done.err
    assert "decimal ',', thousands blank" in done.out
    (tmp_path / "firms.csv").write_text(TEXT, encoding="utf-8")
    assert tabprotect("protect", "firms.csv", *FLAGS, "--out", "points").code == 0
    cells = [
        pd.read_csv(tmp_path / folder / "internal/table.csv", sep=";", decimal=",", thousands=thousands)
        for folder, thousands in (("out", blank), ("points", "."))
    ]
    pd.testing.assert_frame_equal(*cells)


@pytest.mark.slow
def test_blanks_between_thousands_in_large_files(tmp_path: Path) -> None:
    """Beyond the beginning, which alone is looked at."""
    lines = [f"a;{i % 90}" for i in range(200_000)] + ["b;1\u202f000"]
    (tmp_path / "large.csv").write_text("r;v\n" + "\n".join(lines) + "\n", encoding="utf-8")
    opened = open_data(tmp_path / "large.csv", ["r"], ["v"], large=1000)
    assert isinstance(opened.source, pd.DataFrame)
    assert opened.source["v"].iloc[-1] == 1000
