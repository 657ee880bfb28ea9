"""Every key of a specification on the command line, and compare beside protect."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tabprotect.cli import flags as flags_module
from tabprotect.cli.flags import by_key, flag_names
from tabprotect.cli.settings import read_settings
from tabprotect.workflow.specification import Spec
from tests.cli.test_european_files import keys

Run = Callable[..., Any]

FIRMS = "code,size,firm,turnover,w\n" + "".join(
    f"{c}{d},{'bs'[i % 2]},f{i},{7 * i % 23 + 1},1\n" for i, (c, d) in enumerate(["ab", "ac", "bd", "be"] * 6)
)
CELLS = "region,value,n,m1,lo,hi\nTotal,100,9,60,1,1\nn,70,5,60,1,1\ns,30,4,10,1,1\n"
COMMON = ("--by", "code", "--value", "turnover", "--rule", "threshold=3")
FINISHED = ("--by", "region", "--value", "value", "--rule", "manual=0")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "firms.csv").write_text(FIRMS)
    (tmp_path / "cells.csv").write_text(CELLS)
    (tmp_path / "tree.txt").write_text("a\n@ab\n@ac\nb\n@bd\n@be\n")
    (tmp_path / "tree.csv").write_text("parent,child\nTotal,a\nTotal,b\na,ab\na,ac\nb,bd\nb,be\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


#: key -> what is given on the command line, and what the specification holds then; the rest takes a text
GIVEN: dict[str, tuple[str, Any]] = {
    "by": ("code", ["code"]),
    "maxima": ("m1", ["m1"]),
    "holders": ("h", ["h"]),
    "margins": ("add", "add"),
    "tolerance": ("0.5", 0.5),
    "engine": ("highs", "highs"),
    "empty": ("drop", "drop"),
    "decimal": (",", ","),
    "thousands": (".", "."),
    "separator": (";", ";"),
    "output.separator": (";", ";"),
    "output.decimal": (",", ","),
    "output.encoding": ("cp1252", "cp1252"),
    "output.thousands": ("'", "'"),
    "hierarchy.region.codes": ("code=a,b", ["a", "b"]),
    "hierarchy.region.columns": ("code=a,b", ["a", "b"]),
    "hierarchy.region.lengths": ("code=1,2", [1, 2]),
    "hierarchy.region.digits": ("code=1,1", [1, 1]),
    "hierarchy.region.file": ("code=tree.txt", "tree.txt"),
    "hierarchy.region.pairs": ("code=tree.csv", "tree.csv"),
    "total": ("code=all", {"code": "all"}),
    "missing": ("code=a,b", {"code": ["a", "b"]}),
    "rules": ("threshold=3", ["threshold=3"]),
    "holding_rules": ("p%=15", ["p%=15"]),
    "levels": ("upper", "upper"),
    "unions": ("audit", "audit"),
    "attackers": ("office=x", {"office": ["x"]}),
    "random_costs": ("0.1", 0.1),
    "transform": ("log", "log"),
    "preferences": ("code=100,10", {"code": [100.0, 10.0]}),
    "previous.release": ("last", "last"),
    "previous.factor": ("0.5", 0.5),
    "previous.keep": ("", True),
    "previous.revision": ("", True),
    "protect_hidden": ("", True),
    "singletons": ("", False),
    "intervals": ("", False),
    "seed": ("7", 7),
    "limits.seconds": ("2.5", 2.5),
    "limits.work": ("9", 9),
    "limits.memory": ("1.5", 1.5),
    "limits.gap": ("0.1", 0.1),
    "options": ("base=5", {"base": "5"}),
    "output.formats": ("parquet", ["parquet"]),
    "output.decimals": ("1", 1),
    "output.separate_statuses": ("", True),
    "output.allow_unsafe": ("", True),
    "lower": ("50%,", "50%"),
    "upper": (",50%", "50%"),
    "unpublished": ('{code = ["a"]}', {"code": ["a"]}),
    "tables": ('{t = {data = "firms.csv", by = ["code"]}}', None),
}


def key_of(key: str) -> str:
    return key.replace(".region.", ".*.") if key.startswith("hierarchy") else key


@pytest.mark.parametrize("key", keys(Spec))
def test_every_key_is_set_on_the_command_line(key: str, place: Path, tabprotect: Run,
                                              monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """By its flag where it has one, by --set elsewhere; the checked specification holds what was given."""
    seen: list[Any] = []
    monkeypatch.setattr("tabprotect.cli.run.carry_out", lambda spec, *_a, **_k: seen.append(spec) or 0)
    name = flag_names().get(key_of(key)) or ("--bounds" if key in ("lower", "upper") else None)
    word, expected = GIVEN.get(key, ("x", "x"))
    if key in ("data", "cells"):
        word = expected = f"{'firms' if key == 'data' else 'cells'}.csv"
    if key == "method":
        word = expected = "greedy"
    if name is None:
        plain = key.replace(".region.", ".code.")
        arguments = ["--set", f"{plain}={word}"]
        if key.startswith("hierarchy"):
            arguments += [] if key.endswith("separator") else ["--codes", "code=a,b"]
    else:
        arguments = [name, *([word] if word else [])]
    finished = key in ("cells", "count", "weighted_count", "maxima", "holders", "status", "lpl", "upl", "spl",
                       "margins", "tolerance")  # fmt: skip
    arguments += ["--method", "round"] if key == "options" else []
    (place / "last").mkdir()
    arguments += ["--previous", "last"] if key.startswith("previous.") and key != "previous.release" else []
    arguments += ["--holding", "code"] if key == "holding_rules" else []
    arguments += ["--rule", "request=70"] if key == "request" else []
    arguments += ["--set", f"tables={GIVEN['tables'][0]}"] if key == "unpublished" else []
    source = (
        []
        if key in ("data", "cells", "tables", "unpublished")
        else ["--cells", "cells.csv"]
        if finished
        else ["firms.csv"]
    )
    common = [] if key in ("by", "tables", "unpublished") else ["--by", "code"]
    rules = [] if key == "rules" else ["--rule", "threshold=3"]
    done = tabprotect("protect", *source, *common, *rules, "--value", "turnover", *arguments)
    assert done.code == 0, done.err
    found: Any = seen[0]
    for part in key.replace(".region.", ".code.").split("."):
        found = found[part] if isinstance(found, dict) else getattr(found, part)
    if key == "tables":
        assert found["t"].data == "firms.csv"
    else:
        assert found == expected


def test_every_flag_sets_a_key() -> None:
    known = {key_of(key) for key in keys(Spec)}
    strange = {key for key in by_key() if key not in known} - {"bounds", "options.base"}
    assert not strange
    wanted = (
        "--decimal --separator --encoding --thousands --lengths --digits --pairs --bounds --tolerance --margins "
        "--empty --missing --lpl --upl"
    )
    assert set(wanted.split(" ")) <= {flag.name for flag in flags_module.FLAGS}


@pytest.mark.parametrize(
    ("file", "name"), [("tree.txt", "a.dat"), ("tree.csv", "b.hrc"), ("tree.csv", "c.txt"), ("tree.txt", "d.csv")]
)
def test_hierarchies_are_known_by_what_is_in_them(place: Path, tabprotect: Run, file: str, name: str) -> None:
    (place / name).write_bytes((place / file).read_bytes())
    for out, flag in (("one", f"--hierarchy=code={name}"), ("two", "--lengths=code=1,2")):
        done = tabprotect("protect", "firms.csv", *COMMON, flag, "--out", out)
        assert done.code == 0, done.err
    assert (place / "one/publish/table.csv").read_bytes() == (place / "two/publish/table.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "key", "first", "second"),
    [
        (("--set", 'rules=["p%=15"]'), "rules", "--rule threshold=3", '--set rules=["p%=15"]'),
        (("--set", "rules=1"), "rules", "--rule threshold=3", "--set rules=1"),
        (("--option", "base=5", "--base", "10"), "options.base", "--base 10", "--option base=5"),
        (("--decimals", "2", "--set", "output.decimals=1"), "output.decimals", "--decimals 2",
         "--set output.decimals=1"),
        (("--lengths", "code=1,2", "--set", "hierarchy.code=tree.txt"), "hierarchy.code", "--lengths code=1,2",
         "--set hierarchy.code=tree.txt"),
        (("--lengths", "code=1,2", "--hierarchy", "code=tree.txt"), "hierarchy.code", "--hierarchy code=tree.txt",
         "--lengths code=1,2"),
        (("--bounds", "50%", "--set", "lower=1"), "lower", "--bounds 50%", "--set lower=1"),
        (("--no-singletons", "--set", "singletons=true"), "singletons", "--no-singletons", "--set singletons=true"),
        (("--set", "method=exact", "--method", "greedy"), "method", "--method greedy", "--set method=exact"),
        (("--time-limit", "9", "--set", "limits.seconds=3"), "limits.seconds", "--time-limit 9",
         "--set limits.seconds=3"),
    ],
)  # fmt: skip
def test_what_is_given_twice_is_named(place: Path, tabprotect: Run, arguments: tuple[str, ...], key: str, first: str,
                                      second: str) -> None:  # fmt: skip
    """What a flag says once took the place of what --set says, without a word."""
    done = tabprotect("protect", "firms.csv", *COMMON, *arguments, "--out", "out")
    assert done.code == 2
    assert f"{key} is given twice: by {first} and by {second}; take one of them out" in done.err
    assert not (place / "out").exists()


def test_the_parts_of_one_hierarchy_are_not_given_twice(place: Path, tabprotect: Run) -> None:
    """Other keys of the same hierarchy, and other dimensions."""
    more = ("--hierarchy", "code=tree.txt", "--set", "hierarchy.code.total=all", "--set", "hierarchy.size.total=both")
    done = tabprotect("protect", "firms.csv", *COMMON, "--by", "size", "--codes", "size=b,s", *more, "--out", "out")
    assert done.code == 0, done.err
    assert set(pd.read_csv("out/publish/table.csv")["size"]) == {"both", "b", "s"}


def test_keys_of_files_are_not_given_twice(place: Path, tabprotect: Run) -> None:
    done = tabprotect("unsafe", "firms.csv", "--keys", "code", "--decimal", ".", "--set", "decimal=,")
    assert done.code == 2
    assert "decimal is given twice: by --decimal . and by --set decimal=,; take one of them out" in done.err


def test_names_with_any_letters_need_no_quotes_in_keys(place: Path, tabprotect: Run) -> None:
    """As the cures of keys are printed."""
    (place / "firms.csv").write_text(FIRMS.replace("code", "Größe der Firma"))
    asked = ("firms.csv", "--by", "Größe der Firma", "--value", "turnover", "--rule", "threshold=3")
    for key in ("Größe der Firma", '"Größe der Firma"'):
        more = ("--set", f"hierarchy.{key}.lengths=[1, 2]", "--method", "recode", "--set", f"options.keep.{key}=1")
        done = tabprotect("protect", *asked, *more, "--out", "out")
        assert done.code == 0, done.err
    assert read_settings(['options.keep."a.ö.b"=1']) == {"options": {"keep": {"a.ö.b": 1}}}


def test_flags_that_are_wrong_are_named_as_flags(place: Path, tabprotect: Run) -> None:
    done = tabprotect("protect", "firms.csv", "--value", "turnover", "--levels", "uper", "--rule", "threshold=3")
    assert done.code == 2
    assert "--by is missing" in done.err
    assert "--levels: 'uper' is not possible" in done.err
    assert "flags" not in done.err


INPUTS: dict[str, tuple[str, ...]] = {
    "data": ("firms.csv", *COMMON, "--lengths", "code=1,2", "--contributor", "firm"),
    "cells": ("--cells", "cells.csv", "--by", "region", "--value", "value", "--count", "n", "--rule", "threshold=5"),
    "levels": ("--cells", "cells.csv", *FINISHED[:4], "--count", "n", "--lpl", "lo", "--upl", "hi", "--bounds", "0,500",
               "--rule", "threshold=5"),
    "rounding": ("firms.csv", *COMMON, "--method", "round", "--base", "5"),
    "hiding": ("firms.csv", *COMMON, "--by", "size", "--method", "greedy", "--cost", "unit", "--levels", "upper"),
    "options": ("firms.csv", *COMMON, "--method", "adjust", "--option", "norm=l1", "--title", "A table"),
    "specification": ("s.toml", "--rule", "threshold=4"),
}  # fmt: skip


@pytest.mark.parametrize("name", INPUTS)
def test_compare_takes_what_protect_takes(place: Path, tabprotect: Run, monkeypatch: pytest.MonkeyPatch,
                                          name: str) -> None:  # fmt: skip
    """The same arguments state the same problem."""
    (place / "s.toml").write_text(
        'data = "firms.csv"\nby = ["code"]\nvalue = "turnover"\nrules = ["p%=15"]\n[hierarchy.code]\nlengths = [1, 2]\n'
    )
    stated: list[Any] = []
    for name_, attribute in (("comparison.compare", "prepare_request"), ("workflow.carry_out", "prepare")):
        module = import_module(f"tabprotect.{name_}")
        real = getattr(module, attribute)

        def spy(*given: Any, real: Any = real, **named: Any) -> Any:
            stated.append(real(*given, **named))
            return stated[-1]

        monkeypatch.setattr(module, attribute, spy)
    one = tabprotect("protect", *INPUTS[name], "--out", "out")
    two = tabprotect("compare", *INPUTS[name], "--json", "-")
    assert (one.code, two.code) == (0, 0), (one, two)
    first, second = (prepared.problem for prepared in stated)
    assert (first.system.A != second.system.A).nnz == 0
    for what in ("values", "weights", "lower", "upper", "lpl", "upl", "spl", "status"):
        assert np.array_equal(getattr(first, what), getattr(second, what), equal_nan=what != "status"), what
    assert len(first.attackers) == len(second.attackers)
    if "--method" in INPUTS[name]:
        assert len(json.loads(two.out)["methods"]) == 1


def test_options_of_no_method_that_is_compared_are_refused(place: Path, tabprotect: Run) -> None:
    done = tabprotect("compare", "firms.csv", *COMMON, "--method", "suppress", "--base", "5")
    assert (done.code, "no method that is compared has it" in done.err) == (2, True)
    done = tabprotect("compare", "firms.csv", *COMMON, "--base", "5")
    assert (done.code, "go with --method" in done.err) == (2, True)


def test_all_that_can_be_checked_before_is_one_message(place: Path, tabprotect: Run,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Rule, levels, column, hierarchy, output folder, folder of pieces; and nothing is tabulated."""
    monkeypatch.setattr("tabprotect.workflow.inputs.tabulate", lambda *_a, **_k: pytest.fail("work was done"))
    for folder in ("full", "pieces"):
        (place / folder).mkdir()
        (place / folder / "mine.txt").write_text("kept")
    done = tabprotect("protect", "firms.csv", "--by", "cod", "--value", "turnovr", "--rule", "q%=3", "--levels",
                      "uper", "--out", "full", "--resume", "pieces", "--hierarchy", "cod=no.hrc")  # fmt: skip
    assert done.code == 2
    for words in ("7 problems", "rule 'q%=3' is not known", "--levels: 'uper'", "no column 'cod'",
                  "no column 'turnovr'; did you mean 'turnover'?", "full holds files but no release",
                  "pieces: not a folder for resuming", "no.hrc"):  # fmt: skip
        assert words in done.err, done.err
    assert [sorted(p.name for p in (place / f).iterdir()) for f in ("full", "pieces")] == [["mine.txt"]] * 2


def test_a_folder_that_cannot_be_made_is_found_before(place: Path, tabprotect: Run,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr("tabprotect.workflow.inputs.tabulate", lambda *_a, **_k: pytest.fail("work was done"))
    done = tabprotect("protect", "firms.csv", *COMMON, "--out", "firms.csv/out")
    assert (done.code, "firms.csv is a file" in done.err) == (2, True)
    done = tabprotect("protect", "firms.csv", *COMMON, "--resume", "firms.csv")
    assert (done.code, "a file, where a folder for resuming is wanted" in done.err) == (2, True)


def test_a_table_that_does_not_add_up_names_the_five_worst_equations(place: Path, tabprotect: Run) -> None:
    rows = ["r,c,v", "Total,Total,1000"]
    rows += [f"r{i},Total,{50 + 10 * i}" for i in range(9)] + [f"r{i},c{j},5" for i in range(9) for j in range(10)]
    rows += [f"Total,c{j},45" for j in range(10)]
    (place / "c.csv").write_text("\n".join(rows) + "\n")
    done = tabprotect("protect", "--cells", "c.csv", "--by", "r", "--by", "c", "--value", "v", "--rule", "manual=0")
    assert done.code == 2
    named = re.findall(r"(\w+ x Total) = ", done.err.split("do", 1)[1])
    assert "Total x Total = " in done.err
    assert [one for one in named if one.startswith("r")][:2] == ["r8 x Total", "r7 x Total"]
    assert done.err.count(" against ") == 5
    assert len(done.err) < 1300, len(done.err)


def test_noise_of_arithmetic_is_no_note(place: Path, tabprotect: Run) -> None:
    (place / "c.csv").write_text("r,v,n\nTotal,0.3,9\na,0.1,5\nb,0.2,4\n")
    how = ("--cells", "c.csv", "--by", "r", "--value", "v", "--count", "n", "--rule", "threshold=2")
    done = tabprotect("protect", *how)
    assert (done.code, "residual" in done.out) == (0, False)
    (place / "c.csv").write_text("r,v,n\nTotal,0.31,9\na,0.1,5\nb,0.2,4\n")
    done = tabprotect("protect", *how, "--tolerance", "0.02")
    assert (done.code, "rounding residuals up to 0.01" in done.out) == (0, True)


def test_one_is_no_plural(place: Path, tabprotect: Run) -> None:
    (place / "c.csv").write_text("r,v\nTotal,3\n")
    done = tabprotect("protect", "--cells", "c.csv", "--by", "r", "--value", "v", "--rule", "manual=0")
    assert not re.search(r"\b1 (cells|rows|columns|files|labels|sums|equations)\b", done.out + done.err), done


def test_paths_of_flags_are_relative_to_the_current_folder(place: Path, tabprotect: Run) -> None:
    """Those of a specification are relative to it; a-priori files of --rule were looked for there, too."""
    (place / "spec").mkdir()
    (place / "spec/own.hst").write_text("ab;u\n")
    (place / "spec/own.txt").write_text("a\n@ab\n@ac\nb\n@bd\n@be\n")
    (place / "here.hst").write_text("ac;u\n")
    (place / "spec/spec.toml").write_text(
        'data = "../firms.csv"\nby = ["code"]\nvalue = "turnover"\nrules = ["threshold=3", "apriori=own.hst"]\n'
        'hierarchy = {code = "own.txt"}\noutput = {folder = "out"}\n'
    )
    done = tabprotect("protect", "spec/spec.toml")
    assert done.code == 0, done.err
    assert (place / "spec/out/publish").is_dir()
    rules = ("--rule", "threshold=3", "--rule", "manual=10|apriori=here.hst")
    for more in (rules, ("--set", 'rules=["threshold=3", "apriori=here.hst"]')):
        for tree in (("--hierarchy", "code=tree.txt"), ("--set", "hierarchy.code=tree.txt")):
            done = tabprotect("protect", "spec/spec.toml", *more, *tree, "--set", "output.folder=here")
            assert done.code == 0, done.err
            table = pd.read_csv("here/internal/table.csv").set_index("code")
            assert table.loc["ac", "status"] == "primary", table
    done = tabprotect("protect", "spec/spec.toml", "--rule", "apriori=own.hst")
    assert done.code == 2
    assert f"{place}/own.hst: cannot be read" in done.err
