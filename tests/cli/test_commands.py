"""The commands on good input: what they write, what they say, and how they exit."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tabprotect.methods.suppression.suppress import CLASSIC
from tests.cli.conftest import tree

FIRMS = """region,size,firm,turnover
n,b,f0,90
n,b,f1,5
n,b,f2,4
n,s,f3,40
n,s,f4,50
s,b,f5,20
s,b,f6,30
s,s,f7,60
s,s,f8,10
s,s,f9,20
"""
GRID = """0
9
0 20 20 s 0 40 0 0 0
1 9 9 s 0 18 0 0 0
2 11 11 s 0 22 0 0 0
3 8 8 s 0 16 0 0 0
4 3 3 u 0 6 1 1 0
5 5 5 s 0 10 0 0 0
6 12 12 s 0 24 0 0 0
7 6 6 s 0 12 0 0 0
8 6 6 s 0 12 0 0 0
6
0 3 : 0 (-1) 1 (1) 2 (1)
0 3 : 3 (-1) 4 (1) 5 (1)
0 3 : 6 (-1) 7 (1) 8 (1)
0 3 : 0 (-1) 3 (1) 6 (1)
0 3 : 1 (-1) 4 (1) 7 (1)
0 3 : 2 (-1) 5 (1) 8 (1)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "firms.csv").write_text(FIRMS)
    (tmp_path / "grid.jj").write_text(GRID)
    return tmp_path


FLAGS = [
    "protect", "firms.csv", "--by", "region", "--by", "size", "--value", "turnover", "--contributor", "firm",
    "--rule", "p%=15", "--out", "release",
]  # fmt: skip


def test_solve_writes_the_promised_keys(tabprotect, place):
    done = tabprotect("solve", "grid.jj", "--json", "out.json")
    assert done.code == 0
    answer = json.loads((place / "out.json").read_text())
    keys = {"status", "cost", "bound", "gap", "suppressed", "safe", "seconds", "optimality", "warnings", "message"}
    assert set(answer) == keys
    assert (answer["status"], answer["optimality"], answer["warnings"]) == ("optimal", "optimal", [])
    assert (answer["cost"], answer["bound"], answer["gap"]) == (17.0, 17.0, 0.0)
    assert answer["suppressed"] == [4, 5, 7, 8]
    assert answer["safe"] is True


@pytest.mark.parametrize("method", CLASSIC)
def test_solve_by_a_classic_method(tabprotect, place, method):
    assert tabprotect("solve", "grid.jj", "--method", method, "--json", "out.json").code == 0
    answer = json.loads((place / "out.json").read_text())
    # the lower bound of a linear programme meets the cost, so the pattern is proven the cheapest
    assert (answer["status"], answer["cost"], answer["bound"]) == ("optimal", 17.0, 17.0)


def test_solve_of_what_nothing_protects_exits_with_1(tabprotect, place):
    (place / "hard.jj").write_text(GRID.replace("4 3 3 u 0 6 1 1 0", "4 3 3 u 0 6 1 9 0"))
    done = tabprotect("solve", "hard.jj", "--json", "out.json")
    assert done.code == 1
    answer = json.loads((place / "out.json").read_text())
    assert (answer["status"], answer["safe"], answer["cost"], answer["gap"]) == ("infeasible", False, None, None)
    assert "cannot be protected" in answer["message"]


def test_solve_without_any_time_hides_all_that_a_primary_is_tied_to_and_exits_with_3(tabprotect, place):
    done = tabprotect("solve", "grid.jj", "--time-limit", 0, "--json", "out.json")
    assert done.code == 3
    answer = json.loads((place / "out.json").read_text())
    assert (answer["status"], answer["safe"], len(answer["suppressed"])) == ("feasible", True, 9)


def test_a_classic_method_without_any_time_knows_nothing_and_exits_with_1(tabprotect, place):
    done = tabprotect("solve", "grid.jj", "--method", "joint", "--time-limit", 0, "--json", "out.json")
    assert done.code == 1
    assert json.loads((place / "out.json").read_text())["status"] == "unknown"


def test_a_cell_with_status_m_is_hidden_and_not_charged(tabprotect, place):
    (place / "m.jj").write_text(GRID.replace("5 5 5 s", "5 5 5 m"))
    assert tabprotect("solve", "m.jj", "--json", "out.json").code == 0
    answer = json.loads((place / "out.json").read_text())
    assert (answer["cost"], answer["suppressed"]) == (12.0, [4, 5, 7, 8])


def test_audit_of_a_pattern(tabprotect, place):
    (place / "safe.json").write_text("[4, 5, 7, 8]")
    (place / "bare.json").write_text("[4, 5]")
    assert tabprotect("audit", "grid.jj", "--pattern", "safe.json", "--intervals", "i.csv").code == 0
    with (place / "i.csv").open() as lines:
        intervals = {row["cell"]: (float(row["low"]), float(row["high"])) for row in csv.DictReader(lines)}
    assert intervals["4"] == (0.0, 6.0)
    done = tabprotect("audit", "grid.jj", "--pattern", "bare.json", "--json", "verdict.json")
    assert done.code == 1
    verdict = json.loads((place / "verdict.json").read_text())
    assert verdict["safe"] is False
    assert verdict["exposed"] == [4]
    assert {(e["side"], e["needed"]) for e in verdict["exposures"]} == {("up", 1.0), ("down", 1.0)}


def test_intervals_that_a_limit_left_out_are_told_and_are_no_rows(tabprotect, place):
    (place / "safe.json").write_text("[4, 5, 7, 8]")
    given = ("audit", "grid.jj", "--pattern", "safe.json", "--intervals", "i.csv")
    done = tabprotect(*given, "--time-limit", 0)
    said = " ".join(done.err.split())
    assert "4 of 4 intervals were not computed within the limits" in said
    assert "i.csv is without them" in said
    assert (place / "i.csv").read_text().splitlines()[1:] == []
    assert "not computed" not in tabprotect(*given).err
    assert len((place / "i.csv").read_text().splitlines()) == 5


def test_audit_takes_what_solve_wrote(tabprotect, place):
    assert tabprotect("solve", "grid.jj", "--json", "out.json").code == 0
    assert tabprotect("audit", "grid.jj", "--pattern", "out.json").code == 0
    verdict = json.loads(tabprotect("audit", "grid.jj", "--pattern", "out.json", "--json", "-").out)
    solved = json.loads((place / "out.json").read_text())
    assert verdict["cost"] == solved["cost"]
    assert 0 < verdict["bound"] <= solved["cost"]
    assert verdict["gap"] == pytest.approx(1 - verdict["bound"] / verdict["cost"])


def test_flags_and_spec_give_the_same_release(tabprotect, place):
    assert tabprotect(*FLAGS).code == 0
    (place / "spec.toml").write_text(
        'data = "firms.csv"\nby = ["region", "size"]\nvalue = "turnover"\ncontributor = "firm"\nrules = ["p%=15"]\n'
        '[output]\nfolder = "again"\n'
    )
    assert tabprotect("protect", "spec.toml").code == 0
    one, other = tree(place / "release"), tree(place / "again")
    said = [json.loads(files.pop("internal/release.json")) for files in (one, other)]
    commands = [inside["provenance"].pop("command") for inside in said]
    assert commands[0] != commands[1]
    assert said[0] == said[1]
    assert one == other


def test_a_file_without_a_byte_is_called_empty(tabprotect, place):
    (place / "firms.csv").write_text("")
    done = tabprotect(*FLAGS)
    assert done.code == 2
    assert "firms.csv: the file is empty" in done.err
    assert not (place / "release").exists()


def test_a_release_is_audited_and_verified(tabprotect, place):
    assert tabprotect(*FLAGS).code == 0
    assert tabprotect("audit", "release").code == 0
    done = tabprotect("verify", "release")
    assert done.code == 0
    assert "the office's own (--against compares it)" in done.out
    compared = tabprotect("verify", "release", "--against", "release")
    assert compared.code == 0
    assert "--against" not in compared.out
    (table,) = (place / "release" / "publish").glob("*.csv")
    table.write_text(table.read_text().replace("140", "141"))
    done = tabprotect("verify", "release")
    assert done.code == 1
    assert table.name in done.out + done.err


def test_a_changed_certificate_is_rejected(tabprotect, place):
    assert tabprotect(*FLAGS).code == 0
    (certificate,) = (place / "release" / "internal").glob("certificate*")
    document = json.loads(certificate.read_text())
    document["problem"]["values"] = [str(v).replace("9", "8") for v in document["problem"]["values"]]
    certificate.write_text(json.dumps(document))
    assert tabprotect("verify", certificate).code == 1


def test_an_audit_may_stop_at_the_first_exposed_cell(tabprotect, place):
    text = GRID.replace("2 11 11 s 0 22 0 0 0", "2 11 11 u 0 22 1 1 0")
    (place / "grid.jj").write_text(text)
    (place / "nothing.json").write_text("[]")
    whole = json.loads(tabprotect("audit", "grid.jj", "--pattern", "nothing.json", "--json", "-").out)
    done = tabprotect("audit", "grid.jj", "--pattern", "nothing.json", "--json", "-", "--first")
    first = json.loads(done.out)
    assert done.code == 1
    assert (whole["exhaustive"], first["exhaustive"]) == (True, False)
    assert len(first["exposures"]) == 1 < len(whole["exposures"])
    assert "others may be exposed" in tabprotect("audit", "grid.jj", "--pattern", "nothing.json", "--first").out
    refused = tabprotect("audit", "grid.jj", "--pattern", "nothing.json", "--first", "--intervals", "i.csv")
    assert refused.code == 2


def test_the_schema_knows_the_words_of_a_spec(tabprotect):
    schema = json.loads(tabprotect("schema").out)
    assert schema["additionalProperties"] is False
    assert {"data", "by", "value", "rules", "output", "limits", "hierarchy"} <= set(schema["properties"])
    wanted = ("rules", "holding_rules", "lpl", "spl", "status", "upl", "tables")
    assert [one["required"] for one in schema["anyOf"]] == [[key] for key in wanted]


def test_a_limit_with_a_safe_answer_exits_with_3(tabprotect, place, shared):
    done = tabprotect(
        "solve", shared("instances/csplib/hie1372d.jj"), "--work-limit", 20000, "--json", place / "out.json"
    )
    assert done.code == 3
    answer = json.loads((place / "out.json").read_text())
    assert answer["status"] == "feasible"
    assert 0 <= answer["gap"] < 1
    assert answer["bound"] <= answer["cost"]


@pytest.mark.slow
def test_ctrl_c_returns_the_best_safe_answer(place, shared):
    command = [
        sys.executable, "-m", "tabprotect", "solve", str(shared("instances/csplib/hie1327d.jj")), "--json", "out.json",
    ]  # fmt: skip
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    time.sleep(12)
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=90)
    assert "Traceback" not in said
    assert running.returncode == 3, said
    answer = json.loads((place / "out.json").read_text())
    assert answer["status"] == "feasible"
    assert answer["safe"] is True


@pytest.mark.slow
def test_two_runs_of_the_demo_write_the_same_bytes(tmp_path):
    for run in ("one", "two"):
        environment = {**os.environ, "PYTHONHASHSEED": {"one": "1", "two": "2"}[run]}
        command = [sys.executable, "-m", "tabprotect", "demo", "--work-limit", "10000", "--out", str(tmp_path / run)]
        subprocess.run(command, check=True, capture_output=True, env=environment)
    one, two = tree(tmp_path / "one"), tree(tmp_path / "two")
    for files in (one, two):
        settings = json.loads(files["internal/release.json"])["settings"]
        assert (settings["contributor"], settings["holding"]) == ("enterprise_id", "group_id")
        # what was called and where it was written is noted there, besides the date, which is fixed here
        inside = json.loads(files["internal/release.json"])
        assert inside["provenance"].pop("command").startswith("tabprotect demo")
        files["internal/release.json"] = json.dumps(inside).encode()
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []
    assert not any(str(tmp_path).encode() in content for content in one.values() if content)


@pytest.mark.slow
def test_the_demo_ends_with_a_safe_answer_at_a_limit_of_time(tabprotect, place):
    done = tabprotect("demo", "--time-limit", "2", "--out", "demo")
    assert done.code in (0, 3), done
    inside = json.loads((place / "demo" / "internal" / "release.json").read_text())
    assert inside["safe"]
    for said in (inside["settings"], inside["provenance"]["roles"]):
        assert (said["contributor"], said["holding"]) == ("enterprise_id", "group_id")


@pytest.mark.parametrize(("limit", "code"), [("1", 3), ("1000000", 0)])
def test_a_limit_that_ends_a_compared_method_is_told_by_the_exit_code(tabprotect, place, limit, code):
    done = tabprotect("compare", "grid.jj", "--method", "suppress", "--work-limit", limit, "--json", "-")
    assert done.code == code
    (line,) = json.loads(done.out)["methods"]
    assert line["stopped"] == (code == 3)
    assert line["optimality"].startswith("feasible" if code else "optimal")
