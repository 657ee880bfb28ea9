"""Rules of individuals and of holdings at once: what anybody can compute, counted out from the records."""

from __future__ import annotations

import json
import shlex
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy.optimize import linprog

import tabprotect as tp
from tabprotect.cli.app import run
from tabprotect.errors import InputError
from tabprotect.problem import Status
from tabprotect.workflow.carry_out import carry_out
from tabprotect.workflow.checking import check_spec
from tabprotect.workflow.specified import request_of
from tests.quick import first

Floats = npt.NDArray[np.float64]
ROLES: dict[str, Any] = {"by": ["r", "s"], "value": "v", "contributor": "firm", "holding": "group"}
OWN, HELD = 35.0, 20.0


def records(seed: int, n: int = 26) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    firm = rng.integers(0, 14, n)
    return pd.DataFrame(
        {
            "r": rng.choice(list("abc"), n),
            "s": rng.choice(list("xyz"), n),
            "firm": [f"f{k}" for k in firm],
            "group": [f"g{k // 2}" for k in firm],
            "v": rng.integers(5, 400, n).astype(float),
        }
    )


def members(frame: pd.DataFrame, cell: Any, level: str) -> dict[str, float]:
    """Who contributes what to a cell."""
    inside = np.ones(len(frame), bool)
    for name, code in zip(("r", "s"), cell, strict=True):
        inside &= (frame[name] == code).to_numpy() | (code == "Total")
    found: dict[str, float] = frame[inside].groupby(level)["v"].sum().to_dict()
    return found


def together(parts: list[dict[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, 0.0) + value
    return total


def needed(part: dict[str, float], p: float, guesser: str | None = None) -> float:
    """The upper level that the p% rule asks for; with a guesser who knows the sum beside his own contribution."""
    sizes = sorted((v for name, v in part.items() if name != guesser), reverse=True)
    if not sizes:
        return 0.0
    second = 0.0 if guesser is not None or len(sizes) < 2 else sizes[1]
    return max(p / 100 * sizes[0] - (sum(sizes) - sizes[0] - second), 0.0)


def furthest(table: tp.Table, hidden: Any, known: list[int], weights: Floats) -> tuple[float, float]:
    """How small and how large a sum of cells can be for who knows the published ones and these."""
    A = table.system.A.toarray()
    fixed = ~np.asarray(hidden)
    fixed[known] = True
    bounds = [(v, v) if f else (0, None) for v, f in zip(table.values, fixed, strict=True)]
    ends = []
    for sign in (1, -1):
        found = linprog(sign * weights, A_eq=A, b_eq=table.system.b, bounds=bounds)
        ends.append(sign * found.fun if found.status == 0 else -sign * np.inf)
    return ends[0], ends[1]


def shortcomings(frame: pd.DataFrame, release: Any) -> list[str]:
    """What individuals, holdings and everybody can compute too closely, by the records alone."""
    table, hidden = release.table, release.pattern
    n = table.n_cells
    cells = table.system.cells.tolist()
    by = {level: [members(frame, cell, level) for cell in cells] for level in ("firm", "group")}
    alone: dict[tuple[str, str], list[int]] = {}
    for level, parts in by.items():
        for i, part in enumerate(parts):
            if len(part) == 1 and hidden[i]:
                alone.setdefault((level, next(iter(part))), []).append(i)
    everything = release.problem.may_hide[:n]
    found = []
    for who, known in [(None, []), *alone.items()]:
        for i in np.flatnonzero(hidden).tolist():
            level = max(needed(by["firm"][i], OWN), needed(by["group"][i], HELD))
            if level == 0 or i in known:
                continue
            unit = np.eye(n)[i]
            if furthest(table, hidden, known, unit)[1] < table.values[i] + level - 1e-6:
                # nothing can be done where he computes it with all hidden
                able = furthest(table, everything, known, unit)[1] >= table.values[i] + level - 1e-6
                found += [f"{who} knows {cells[i]}"] if able else []
        for i, j in combinations([k for k in np.flatnonzero(hidden).tolist() if k not in known], 2):
            if set(cells[i]).isdisjoint(cells[j]) or "Total" in (*cells[i], *cells[j]):
                continue
            low, high = furthest(table, hidden, known, np.eye(n)[i] + np.eye(n)[j])
            if high - low > 1e-6:
                continue
            for level, p in (("firm", OWN), ("group", HELD)):
                if who is not None and who[0] != level:
                    continue
                part = together([by[level][i], by[level][j]])
                if needed(part, p, who[1] if who else None) > 1e-9:
                    found.append(f"{who} computes {cells[i]} + {cells[j]}, sensitive at {level}")
    found += [
        f"{cells[i]} is published"
        for i in np.flatnonzero(~hidden).tolist()
        if needed(by["firm"][i], OWN) + needed(by["group"][i], HELD) > 1e-9
    ]
    return found


@pytest.mark.parametrize("seed", first(3, range(8)))
def test_no_individual_and_no_holding_computes_what_is_sensitive(seed: int) -> None:
    frame = records(seed)
    release = tp.protect(frame, f"p%={OWN}", holding_rules=f"p%={HELD}", **ROLES, levels="upper", intervals=False)
    assert release.safe
    assert release.verify().ok
    assert shortcomings(frame, release) == []


@pytest.mark.slow
def test_rules_of_one_level_leave_the_other_exposed() -> None:
    """What the test above looks for is there: at least once each way."""
    left_open = {}
    for name, roles in (("individuals", {**ROLES, "holding": None}), ("holdings", ROLES)):
        p = OWN if name == "individuals" else HELD
        found = []
        for seed in range(3):
            release = tp.protect(records(seed), f"p%={p}", **roles, levels="upper", intervals=False)
            found += shortcomings(records(seed), release)
        left_open[name] = found
    assert left_open["individuals"]
    assert left_open["holdings"]


def test_cells_are_sensitive_by_either_level_with_the_larger_level() -> None:
    frame = records(3, 60)
    by = {k: v for k, v in ROLES.items() if k != "holding"}
    own = tp.assess(tp.tabulate(frame, **by), "p%=15|threshold=3")
    held = tp.assess(tp.tabulate(frame, **ROLES), "p%=30|threshold=2")
    release = tp.protect(frame, "p%=15|threshold=3", holding_rules=["p%=30", "threshold=2"], **ROLES)
    both = release.assessment
    assert np.array_equal(both.primaries, np.union1d(own.primaries, held.primaries))
    assert np.array_equal(both.upl, np.maximum(own.upl, held.upl))
    assert np.array_equal(both.reasons["holdings: p%=30"], held.reasons["p%=30"])
    assert np.array_equal(both.reasons["p%=15"], own.reasons["p%=15"])
    assert 0 < len(held.primaries) != len(own.primaries)
    cell = int(np.setdiff1d(held.primaries, own.primaries)[0])
    words = release.explain(both.table.system.cells[cell])
    assert "p%=15: not sensitive" in words
    assert "holdings: p%=30: sensitive" in words


def test_everybody_a_holding_of_his_own_is_one_level() -> None:
    frame = records(5, 40).assign(group=lambda f: "of " + f["firm"])
    rules = "p%=15|threshold=2"
    one = tp.protect(frame, rules, **{**ROLES, "holding": None})
    two = tp.protect(frame, rules, holding_rules=rules, **ROLES)
    assert np.array_equal(one.problem.lpl, two.problem.lpl)
    assert [a.known for a in one.problem.attackers] == [a.known for a in two.problem.attackers]
    assert np.array_equal(one.pattern, two.pattern)
    assert one.result.cost == two.result.cost


def test_rules_of_holdings_alone_find_what_a_table_of_holdings_has() -> None:
    frame = records(6, 40)
    one = tp.protect(frame, "p%=30", **ROLES)
    two = tp.protect(frame, holding_rules="p%=30", **ROLES)
    assert np.array_equal(one.problem.status[: one.table.n_cells], two.problem.status[: two.table.n_cells])
    n = one.table.n_cells
    assert np.array_equal(one.problem.lpl[:n], two.problem.lpl[:n])
    holding = {tuple(a.known) for a in two.problem.attackers if a.holding}
    assert {tuple(a.known) for a in one.problem.attackers} == holding


def test_rules_of_holdings_alone_do_for_all_faces(folder: Path) -> None:
    one = tp.protect(pd.read_csv(folder / "firms.csv"), holding_rules="p%=30", **ROLES)
    asked = {"data": "firms.csv", **ROLES, "holding_rules": ["p%=30"]}
    two = carry_out(request_of(check_spec(asked, "spec"), folder))
    assert one.safe
    assert len(one.assessment.primaries)
    assert np.array_equal(one.pattern, two.pattern)
    words = "--by r --by s --value v --contributor firm --holding group --holding-rule p%=30"
    assert run(["protect", str(folder / "firms.csv"), *shlex.split(words), "--out", str(folder / "alone")]) == 0
    inside = json.loads((folder / "alone" / "internal" / "release.json").read_text())
    assert inside["settings"]["rules"] == ["holdings: p%=30"]
    assert inside["cost"] == one.result.cost


def test_something_has_to_say_which_cells_are_sensitive() -> None:
    for data, roles in ((records(1), ROLES), (tp.tabulate(records(1), **ROLES), {})):
        with pytest.raises(InputError, match="nothing says which cells are sensitive: give rules"):
            tp.protect(data, **roles)


def test_sums_are_looked_at_for_both_levels() -> None:
    # each hidden cell has firms of two groups; together they are two firms of each of two groups, of different sizes
    frame = pd.DataFrame(
        {
            "r": list("nnnsssww"),
            "firm": list("abcdefgh"),
            "group": ["g", "h", "h", "g", "i", "i", "j", "k"],
            "v": [70.0, 20, 20, 70, 20, 20, 50, 60],
        }
    )
    table = tp.tabulate(frame, "r", "v", contributor="firm", holding="group", both_levels=True)
    hidden = np.isin(table.system.cells.get_level_values("r"), ["n", "s"])
    assert tp.sensitivity.union_exposures(table, "p%=30", hidden) == ()
    (found,) = tp.sensitivity.union_exposures(table, ["p%=30", "holdings: p%=30"], hidden)
    # of 220, group g has 140 and the next 40: the rest, 40, is less than 30 % of 140
    assert found.rules == ("holdings: p%=30",)
    assert found.upl == pytest.approx(0.3 * 140 - 40)
    (both,) = tp.sensitivity.union_exposures(table, ["p%=150", "holdings: p%=30"], hidden)
    assert both.rules == ("p%=150", "holdings: p%=30")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    records(11, 60).to_csv(tmp_path / "firms.csv", index=False)
    return tmp_path


def test_all_faces_give_one_release(folder: Path) -> None:
    frame = pd.read_csv(folder / "firms.csv")
    method = tp.Suppress(method="exact")
    one = tp.protect(frame, ["p%=15"], method, holding_rules=["p%=30", "threshold=2"], **ROLES)
    asked = {"data": "firms.csv", **ROLES, "rules": ["p%=15"], "holding_rules": ["p%=30", "threshold=2"]}
    two = carry_out(request_of(check_spec({**asked, "method": "exact"}, "spec"), folder))
    assert one.safe
    assert np.array_equal(one.problem.upl, two.problem.upl)
    assert one.problem.attackers == two.problem.attackers
    assert np.array_equal(one.pattern, two.pattern)
    words = "--by r --by s --value v --contributor firm --holding group --rule p%=15 --holding-rule p%=30"
    flags = [*shlex.split(words), "--holding-rule", "threshold=2", "--method", "exact", "--out", str(folder / "o")]
    assert run(["protect", str(folder / "firms.csv"), *flags]) == 0
    document = json.loads(next((folder / "o").rglob("certificate.json")).read_text())
    assert {k: document[k] for k in ("cost", "bound")} == {k: one.certificate.document[k] for k in ("cost", "bound")}
    assert run(["verify", str(folder / "o")]) == 0
    inside = json.loads(next((folder / "o" / "internal").rglob("release.json")).read_text())
    assert inside["settings"]["rules"] == ["p%=15", "holdings: p%=30", "holdings: threshold=2"]
    assert (inside["settings"]["contributor"], inside["settings"]["holding"]) == ("firm", "group")
    public = "".join(path.read_text() for path in (folder / "o" / "publish").rglob("*") if path.suffix != ".png")
    assert "holdings:" not in public


def test_linked_tables_and_other_methods_take_both_levels(folder: Path) -> None:
    tables = {"one": {"by": ["r"]}, "two": {"by": ["s"]}}
    asked = {"data": "firms.csv", "value": "v", "contributor": "firm", "holding": "group", "rules": ["p%=15"]}
    linked = carry_out(request_of(check_spec({**asked, "holding_rules": ["p%=60"], "tables": tables}, "spec"), folder))
    assert linked.safe
    assert linked.table.holdings is not None
    held = tp.assess(tp.tabulate(pd.read_csv(folder / "firms.csv"), "r", "v", holding="group"), "p%=60")
    assert (
        linked.assessment.reasons["holdings: p%=60"][: len(held.status)].tolist()
        == (held.status == Status.PRIMARY).tolist()
    )
    for method in (tp.Round(), tp.Recode()):
        release = tp.protect(pd.read_csv(folder / "firms.csv"), "p%=15", method, holding_rules="p%=30", **ROLES)
        assert release.safe
        assert "holdings: p%=30" in release.assessment.reasons


def test_what_is_missing_is_said(folder: Path) -> None:
    frame = records(1)
    with pytest.raises(InputError, match="need holding=, the column of the group"):
        tp.protect(frame, "p%=15", holding_rules="p%=30", **{**ROLES, "holding": None})
    with pytest.raises(InputError, match="give holding= and both_levels=True to tabulate"):
        tp.protect(tp.tabulate(frame, **ROLES), "p%=15", holding_rules="p%=30")
    with pytest.raises(InputError, match="'missing' decides about cells, whoever contributes to them"):
        tp.protect(frame, "p%=15", holding_rules="missing", **ROLES)
    with pytest.raises(InputError, match="'holding_rules' needs 'holding'"):
        check_spec({"data": "a.csv", "by": ["r"], "rules": ["p%=15"], "holding_rules": ["p%=15"]}, "spec")
