"""Protecting by other values and by fewer categories on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.cli.named import filled
from tabprotect.methods.base.options import option_names
from tabprotect.methods.registry import VALUE_METHODS

RECORDS = """region,size,firm,turnover
n1,b,f0,90
n1,b,f1,5
n2,b,f2,4
n1,s,f3,40
n2,s,f4,50
s1,b,f5,20
s1,b,f6,30
s2,s,f7,60
s2,s,f8,10
s1,s,f9,20
"""
TREE = "N\n@n1\n@n2\nS\n@s1\n@s2\n"
SPEC = """
data = "firms.csv"
by = ["region", "size"]
value = "turnover"
contributor = "firm"
rules = ["p%=15"]
hierarchy = {region = "region.hrc"}

[output]
folder = "out"
"""
COUNTS = """
data = "firms.csv"
by = ["region", "size"]
rules = ["threshold=2"]
method = "cell-key"
seed = 7
hierarchy = {region = "region.hrc"}

[output]
folder = "out"
allow_unsafe = true
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "firms.csv").write_text(RECORDS)
    (tmp_path / "region.hrc").write_text(TREE)
    (tmp_path / "spec.toml").write_text(SPEC)
    (tmp_path / "counts.toml").write_text(COUNTS)
    (tmp_path / "size.grc").write_text("all: b, s\n")
    return tmp_path


def published(place: Path) -> pd.DataFrame:
    return pd.read_csv(place / "out" / "publish" / "table.csv", keep_default_na=False)


@pytest.mark.parametrize(
    ("arguments", "multiple"),
    [
        (["--method", "round", "--base", "50"], 50),
        (["--method", "round", "--option", "base=50", "--option", "norm=linf"], 50),
        (["--method", "adjust"], 1),
        (["--method", "adjust", "--option", "preserve=correlation", "--option", "correlation=0.95"], 1),
        (["--method", "cell-key", "--option", "small=0.2", "--option", "weights=1:0.5", "--seed", "1"], 1),
        (["--method", "random-round", "--base", "100", "--seed", "1"], 100),
    ],
)
def test_values_are_changed_written_and_proven(place, tabprotect, arguments, multiple) -> None:
    done = tabprotect("protect", "spec.toml", *arguments, "--allow-unsafe")
    assert done.code in (0, 1), done.err
    assert "intruders know" in done.out
    frame = published(place)
    assert list(frame.columns) == ["region", "size", "turnover"]
    assert (frame["turnover"] % multiple == 0).all()
    checked = tabprotect("verify", "out")
    assert checked.code == done.code
    assert "certificate holds" in checked.out
    assert tabprotect("audit", "out").code == done.code
    (place / "out" / "publish" / "table.csv").write_text("region,size,turnover\n")
    assert "wrong" in tabprotect("verify", "out").out


def test_the_same_seed_on_the_command_line_and_in_python(place, tabprotect) -> None:
    assert tabprotect("protect", "counts.toml").code in (0, 1)
    frame = published(place)
    tree = tp.Hierarchy.read("region.hrc")
    made = tp.protect(
        "firms.csv", "threshold=2", tp.CellKey(), by=[tp.Dimension("region", tree), "size"], seed=7, allow_unsafe=True
    )
    assert made.published.iloc[:, -1].tolist() == frame.iloc[:, -1].tolist()
    drawn = json.loads((place / "out" / "internal" / "release.json").read_text())["settings"]["seed"]
    assert drawn == 7


def test_keys_of_a_column_make_counts_and_magnitudes_comparable(place, tabprotect) -> None:
    frame = pd.read_csv("firms.csv")
    frame["rkey"] = [(7919 * k * k) % 2**26 for k in range(1, len(frame) + 1)]
    frame.to_csv("firms.csv", index=False)
    found = []
    for spec in ("spec.toml", "counts.toml"):
        words = ("--option", "key=rkey", "--allow-unsafe")
        assert tabprotect("protect", spec, "--method", "cell-key", *words, "--seed", "1").code in (0, 1)
        first = published(place)
        assert tabprotect("protect", spec, "--method", "cell-key", *words, "--seed", "2").code in (0, 1)
        assert first.equals(published(place))
        done = tabprotect("compare", spec, "--method", "cell-key:key=rkey", "--json", "out.json")
        assert done.code == 0, done.err
        (line,) = json.loads(Path("out.json").read_text())["methods"]
        assert line["status"] == "feasible"
        found.append(first)
    assert found[0][["region", "size"]].equals(found[1][["region", "size"]])


SWAP = """
data = "firms.csv"
by = ["region", "size"]
rules = ["threshold=2"]
hierarchy = {region = "region.hrc"}
seed = 3

[output]
folder = "out"
"""
HOW = ("--option", "geography=area+region", "--option", "risk=size", "--option", "similar=kind/", "--option", "k=2")


def test_swapped_records_are_tabulated_and_never_called_safe(place, tabprotect) -> None:
    frame = pd.read_csv("firms.csv")
    frame["area"], frame["kind"] = frame["region"].str[0], "x"
    frame.to_csv("firms.csv", index=False)
    (place / "swap.toml").write_text(SWAP)
    done = tabprotect("protect", "swap.toml", "--method", "swap", *HOW)
    assert done.code == 1
    assert "doubt only" in done.out
    assert not (place / "out").exists()
    done = tabprotect("protect", "swap.toml", "--method", "swap", *HOW, "--allow-unsafe")
    assert done.code == 1
    assert "records counted elsewhere" in " ".join(done.out.split())
    shown = published(place).set_index(["region", "size"]).iloc[:, 0]
    for size in ("Total", "b", "s"):
        assert shown["N", size] == shown["n1", size] + shown["n2", size]
        assert (
            shown["Total", size]
            == shown["N", size] + shown["S", size]
            == (frame["size"].eq(size) | (size == "Total")).sum()
        )
    assert "certificate holds: not safe" in tabprotect("verify", "out").out
    audited = tabprotect("audit", "out")
    assert audited.code == 1
    assert "keeps no distance" in " ".join(audited.out.split())
    public = (place / "out" / "publish" / "index.html").read_text()
    assert "counted in other areas" in public
    done = tabprotect("compare", "swap.toml", "--method", "swap:geography=area+region,risk=size,similar=kind/,k=2",
                      "--method", "cell-key", "--json", "out.json")  # fmt: skip
    assert done.code == 0
    swapped, _ = json.loads(Path("out.json").read_text())["methods"]
    assert swapped["loss"]["off"] == 0
    assert swapped["risk"] is None
    assert "counted elsewhere" in swapped["message"]
    for change, words in (
        (["--option", "risk="], "swap: risk must name columns"),
        (["--option", "risk=sizes"], "did you mean 'size'"),
        (["--option", "geography=kind", "--option", "similar=area"], "no dimension of the table is of kind"),
        (["--option", "geo=kind"], "'geo' is no option of swap"),
    ):
        done = tabprotect("protect", "swap.toml", "--method", "swap", *HOW, *change)
        assert done.code == 2
        assert words in done.err, done.err


def test_without_a_seed_random_methods_draw_a_secret_one(place, tabprotect) -> None:
    seeds = []
    for _ in range(2):
        tabprotect("protect", "spec.toml", "--method", "random-round", "--base", "100", "--allow-unsafe")
        seeds.append(json.loads((place / "out" / "internal" / "release.json").read_text())["settings"]["seed"])
    assert seeds[0] != seeds[1]
    assert min(seeds) > 10**9
    assert all(str(seed) not in path.read_text() for seed in seeds for path in (place / "out" / "publish").iterdir())


def test_recoding_by_hand_and_by_the_least_roll_up(place, tabprotect) -> None:
    assert tabprotect("protect", "spec.toml", "--method", "recode").code == 0
    assert (published(place)["status"] == "published").all()
    with (place / "spec.toml").open("a") as spec:
        spec.write('\n[options]\nleast = false\nrules = {size = "size.grc"}\n')
    assert tabprotect("protect", "spec.toml", "--method", "recode").code == 0
    assert set(published(place)["size"]) == {"Total", "all"}


def test_what_does_not_go_is_one_clear_error(place, tabprotect) -> None:
    for arguments, words in (
        (["--method", "rond"], "did you mean 'round'"),
        (["--method", "round", "--base", "0"], "base must be above 0"),
        (["--method", "round", "--option", "norm=l3", "--option", "bas=3"], "2 problems"),
        (["--method", "adjust", "--base", "5"], "'base' is no option of adjust"),
        (["--method", "adjust", "--option", "preserve=mean"], "did you mean 'means'"),
        (["--method", "adjust", "--option", "correlation=0.9"], "for preserve=correlation"),
        (["--base", "5"], "options (base) are for methods that change values"),
        (["--method", "round", "--cost", "unit"], "only for hiding cells, and round hides none: cost"),
        (["--method", "cell-key", "--option", "large=0.1"], "large and point go together"),
        (["--method", "cell-key", "--option", "weights=1,2"], "such as '1:0.5:0.3'"),
        (["--method", "cell-key", "--option", "blocked=2"], "blocked belongs to counts"),
        (["--method", "small-counts"], "is for tables of counts"),
        (["--method", "recode", "--option", "lest=1"], "did you mean 'least'"),
        (["--method", "round", "--option", "norm"], "write NAME=VALUE"),
    ):
        done = tabprotect("protect", "spec.toml", *arguments)
        assert done.code == 2, (arguments, done)
        assert words in done.err, (arguments, done.err)
        assert not (place / "out").exists()


def test_what_is_not_safe_is_not_written(place, tabprotect) -> None:
    done = tabprotect("protect", "spec.toml", "--method", "conventional-round", "--base", "2")
    assert done.code == 1
    assert "NOT SAFE" in done.out
    assert not (place / "out").exists()


def test_instances_lack_what_two_methods_need(place, tabprotect) -> None:
    for method, words in (
        ("cell-key", "no keys of the records"),
        ("recode", "no hierarchies"),
        ("swap", "no records"),
        ("successive-round", "no codes"),
    ):
        done = tabprotect("solve", "any.jj", "--method", method)
        assert done.code == 2
        assert words in done.err


def test_help_names_every_method_and_option(tabprotect) -> None:
    said = {command: re.sub(r"[^a-z-]+", " ", tabprotect(command, "--help").out) for command in ("protect", "compare")}
    for method, choice in VALUE_METHODS.items():
        listed = next(
            part for part in re.split(r"\.\s", filled("{options} ")) if method in part.split(": ")[0].split(", ")
        )
        assert listed.split(": ")[1].rstrip(".").split(", ") == list(option_names(choice))
        for command, words in said.items():
            assert method in words, (command, method)


def test_wrong_options_of_a_comparison_are_bad_input(place, tabprotect) -> None:
    done = tabprotect("compare", "spec.toml", "--method", "round:norm=l3", "--method", "adjust:senses=upp")
    assert done.code == 2
    assert "--method round: norm must be" in done.err
    assert "did you mean 'up'" in done.err
