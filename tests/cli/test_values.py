"""Adjusting, rounding and comparing on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

JJ = """0
9
t 20 20 s 0 99 0 0 0
tx 9 9 s 0 99 0 0 0
ty 11 11 s 0 99 0 0 0
a 8 8 s 0 99 0 0 0
ax 3 3 u 0 99 1 1 0
ay 5 5 s 0 99 0 0 0
b 12 12 s 0 99 0 0 0
bx 6 6 s 0 99 0 0 0
by 6 6 s 0 99 0 0 0
6
0 3 : t (-1) tx (1) ty (1)
0 3 : a (-1) ax (1) ay (1)
0 3 : b (-1) bx (1) by (1)
0 3 : t (-1) a (1) b (1)
0 3 : tx (-1) ax (1) bx (1)
0 3 : ty (-1) ay (1) by (1)
"""
FIRMS = "region,size,firm\n" + "\n".join(f"{'ns'[i % 2]},{'bm'[i // 2 % 2]},f{i}" for i in range(23)) + "\n"
SPEC = 'data = "firms.csv"\nby = ["region", "size"]\ncontributor = "firm"\nrules = ["threshold=6"]\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.jj").write_text(JJ)
    (tmp_path / "off.jj").write_text(JJ.replace("t 20 20", "t 21 21"))
    (tmp_path / "firms.csv").write_text(FIRMS)
    (tmp_path / "spec.toml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def result(place, name="o.json"):
    return json.loads((place / name).read_text())


def sums(values):
    return values["t"] - values["a"] - values["b"], values["a"] - values["ax"] - values["ay"]


@pytest.mark.parametrize("senses", ["up", "down", "free"])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_adjust(place, tabprotect, senses, norm):
    options = ["--norm", norm, "--senses", senses, "--weights", "unit"]
    done = tabprotect("solve", "a.jj", "--method", "adjust", *options, "--json", "o.json")
    assert done.code == 0
    got = result(place)
    assert set(got) == {"status", "optimality", "cost", "bound", "gap", "values", "senses", "seconds", "message"}
    assert got["status"] == "optimal"
    assert got["optimality"].startswith("optimal by ")
    assert got["bound"] == pytest.approx(got["cost"], rel=1e-4)
    assert set(got["values"]) == {"t", "tx", "ty", "a", "ax", "ay", "b", "bx", "by"}
    assert abs(got["values"]["ax"] - 3) >= 1 - 1e-9
    assert sums(got["values"]) == pytest.approx((0, 0), abs=1e-6)
    assert got["senses"]["ax"] in {"up": (1,), "down": (-1,), "free": (1, -1)}[senses]
    assert "cost" in done.out
    if norm == "l1":
        assert got["cost"] == pytest.approx(4)


def test_what_inner_cells_keep(place, tabprotect):
    true = {"ax": 3, "ay": 5, "bx": 6, "by": 6}
    for options, least in (
        (["--preserve", "means"], -1),
        (["--preserve", "correlation", "--correlation", "0.9999"], 0.9999),
    ):
        done = tabprotect("solve", "a.jj", "--method", "adjust", *options, "--json", "o.json")
        assert done.code == 0, done
        values = result(place)["values"]
        assert values["t"] == pytest.approx(20)
        assert abs(values["ax"] - 3) >= 1 - 1e-9
        inner = np.array([[values[i], a] for i, a in true.items()])
        assert np.corrcoef(inner.T)[0, 1] >= least - 1e-7


@pytest.mark.parametrize("weights", ["value", "reciprocal", "unit"])
def test_weights(place, tabprotect, weights):
    arguments = ["solve", "a.jj", "--method", "adjust", "--senses", "up", "--weights", weights, "--json", "-"]
    got = json.loads(tabprotect(*arguments).out)
    assert got["status"] == "optimal"
    true = {"t": 20, "tx": 9, "ty": 11, "a": 8, "ax": 3, "ay": 5, "b": 12, "bx": 6, "by": 6}
    weight = {"value": lambda a: a, "reciprocal": lambda a: 1 / a, "unit": lambda a: 1}[weights]
    assert got["cost"] == pytest.approx(sum(weight(a) * abs(got["values"][i] - a) for i, a in true.items()))


def test_tables_that_do_not_add_up_are_adjusted(place, tabprotect):
    assert tabprotect("solve", "off.jj").code == 2
    assert tabprotect("solve", "off.jj", "--method", "adjust", "--json", "o.json").code == 0
    assert sums(result(place)["values"])[0] == pytest.approx(1)


def test_round(place, tabprotect):
    done = tabprotect("solve", "a.jj", "--method", "round", "--base", "5", "--json", "o.json")
    assert done.code == 0
    assert "add up exactly" in done.out
    got = result(place)
    assert (got["status"], got["base"], got["steps"], got["loss"], got["relaxation"]) == ("optimal", 5, 0, 0, None)
    assert all(v % 5 == 0 for v in got["values"].values())
    assert sums(got["values"]) == (0, 0)
    assert (
        got["cost"]
        == got["bound"]
        == sum(abs(got["values"][line.split()[0]] - float(line.split()[1])) for line in JJ.splitlines()[2:11])
    )
    decimal = json.loads(tabprotect("solve", "a.jj", "--method", "round", "--base", "0.3", "--json", "-").out)
    assert decimal["status"] == "optimal"


@pytest.mark.parametrize("method", ["unbiased-round", "random-round", "conventional-round"])
def test_plain_rounding(place, tabprotect, method):
    done = tabprotect("solve", "a.jj", "--method", method, "--base", "5", "--seed", "3", "--json", "o.json")
    assert done.code == 0
    got = result(place)
    assert (got["bound"], got["gap"]) == (None, None)
    assert got["jump"] < 5
    assert method != "unbiased-round" or got["loss"] == 0
    again = json.loads(tabprotect("solve", "a.jj", "--method", method, "--base", "5", "--seed", "3", "--json", "-").out)
    assert again["values"] == got["values"]


def test_small_counts(place, tabprotect):
    done = tabprotect("solve", "a.jj", "--method", "small-counts", "--base", "4", "--json", "o.json")
    assert done.code == 0
    got = result(place)
    assert (got["status"], got["base"]) == ("optimal", 4)
    assert all(v == 0 or v >= 4 for v in got["values"].values())
    assert sums(got["values"]) == (0, 0)
    assert "at least 2" in tabprotect("solve", "a.jj", "--method", "small-counts", "--base", "1").err


def test_where_rounding_is_impossible_the_relaxation_is_offered(place, tabprotect):
    """Levels that no neighbouring multiple can give."""
    (place / "b.jj").write_text(JJ.replace("0 99 1 1 0", "0 99 3 8 0"))
    done = tabprotect("solve", "b.jj", "--method", "round", "--base", "5", "--levels", "--json", "o.json")
    assert done.code == 1
    got = result(place)
    assert (got["status"], got["values"]) == ("infeasible", None)
    steps = got["relaxation"]["steps"]
    assert steps >= 1
    relaxed = tabprotect(
        "solve", "b.jj", "--method", "round", "--base", "5", "--levels", "--steps", steps, "--json", "o.json"
    )
    assert relaxed.code == 0
    assert result(place)["status"] == "optimal"


def test_options_that_do_not_go_together_are_one_error(place, tabprotect):
    done = tabprotect(
        "solve", "a.jj", "--method", "round", "--senses", "up", "--engine", "scip", "--steps", "x", "--json", "o.json"
    )
    assert done.code == 2
    assert "4 problems" in done.err
    for word in ("--senses does not go with", "--engine does not go with", "needs --base", "--steps is a whole number"):
        assert word in done.err
    assert not (place / "o.json").exists()
    for arguments, word in (
        (["--norm", "l1"], "--norm does not go with --method auto; it is for adjust, round"),
        (["--method", "adjust", "--norm", "l3"], "unknown norm 'l3'"),
        (["--method", "adjust", "--senses", "upp"], "unknown senses 'upp'"),
        (["--method", "adjust", "--weights", "values"], "did you mean 'value'"),
        (["--method", "adjust", "--preserve", "mean"], "did you mean 'means'"),
        (["--method", "adjust", "--correlation", "0.9"], "goes with preserve=correlation"),
        (["--method", "adjust", "--preserve", "correlation", "--correlation", "2"], "at most 1, not 2"),
        (["--method", "round", "--base", "5", "--preserve", "means"], "it is for adjust"),
        (["--method", "adjust", "--base", "5"], "--base does not go with"),
        (["--method", "round", "--base", "-5"], "must be a positive number"),
        (["--method", "rounds"], "did you mean 'round'"),
    ):
        done = tabprotect("solve", "a.jj", *arguments)
        assert done.code == 2, arguments
        assert word in done.err


def test_compare_a_specification(place, tabprotect):
    done = tabprotect("compare", "spec.toml", "--html", "c.html", "--json", "c.json")
    assert done.code == 0
    assert "CONFIDENTIAL" in done.out
    assert "Information loss" in done.out
    got = result(place, "c.json")
    assert got["notice"].startswith("CONFIDENTIAL")
    names = [line["method"] for line in got["methods"]]
    assert names[0] == "suppress"
    assert "cell-key" in names
    assert all(line["loss"] is not None for line in got["methods"]), got
    assert "CONFIDENTIAL" in (place / "c.html").read_text()


def test_compare_an_instance(place, tabprotect):
    done = tabprotect(
        "compare", "a.jj", "--method", "suppress", "--method", "round:base=5", "--json", "-", "--plot", "c.svg"
    )
    got = json.loads(done.out)
    assert [line["method"] for line in got["methods"]] == ["suppress", "round"]
    assert got["methods"][1]["options"] == {"base": 5}
    assert (place / "c.svg").exists()
    bad = tabprotect("compare", "a.jj", "--method", "roundd", "--method", "round:base=x", "--plot", "c.gif")
    assert bad.code == 2
    assert "3 problems" in bad.err
