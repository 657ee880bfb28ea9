"""Recoding: .grc texts, the least roll-up against enumeration and model, open classes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect as tp
from tabprotect.errors import InputError
from tabprotect.methods.recoding import RecodingRules, least_recoding, open_classes
from tabprotect.models import recoding as model
from tabprotect.sensitivity import assess
from tabprotect.table.dimension import Dimension
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.tabulate import tabulate
from tests.sensitivity.cells import table_of, units

DEEP = Hierarchy(
    (
        ("Total", ("N", "S")),
        ("N", ("n1", "n2")),
        ("S", ("s1", "s2", "s3")),
        ("n1", ("n11", "n12")),
        ("s1", ("s11", "s12")),
    )
)
SHORT = Hierarchy((("All", ("x", "y")), ("x", ("x1", "x2"))))


# --- by hand -----------------------------------------------------------------------------------------------------


def test_examples_of_the_manual():
    codes = [str(k) for k in range(1, 183)]
    recode = RecodingRules.parse("1:  - 49\n2: 50  - 99\n3: 100 - 149\n4: 150 - \n")
    assert recode.apply(codes) == [str(1 + min(k // 50, 3)) for k in range(1, 183)]
    ten = [f"{k:02}" for k in range(1, 11)]
    long, short = (
        RecodingRules.parse("1: 01 , 02\n2: 03 , 04\n3: 05 - 07\n4: 08 , 09 , 10"),
        RecodingRules.parse("3: 05,06,07"),
    )
    assert long.apply(ten) == ["1", "1", "2", "2", "3", "3", "3", "4", "4", "4"]
    assert short.apply(ten)[4:8] == ["3", "3", "3", "08"]
    mixed = RecodingRules.parse("1: 02 - 06, 09")
    assert [new for old, new in zip(ten, mixed.apply(ten), strict=True) if new == "1"] == ["1"] * 6


@given(
    st.dictionaries(
        st.text("abxyz019 -,:", min_size=1, max_size=4).filter(lambda s: s.strip()),
        st.lists(st.text("012345", min_size=1, max_size=2), min_size=1, max_size=3),
        min_size=1,
        max_size=4,
    )
)
def test_what_is_printed_is_read_back(rules):
    recode = RecodingRules(
        tuple(
            (
                new,
                tuple(
                    (min(c, d, key=lambda s: s.rjust(2)), None) if i % 3 == 2 else (c, c)
                    for i, (c, d) in enumerate(zip(old, old[::-1], strict=True))
                ),
            )
            for new, old in rules.items()
        )
    )
    assert RecodingRules.parse(str(recode)) == recode


def test_series_keep_index_and_missing_codes():
    series = pd.Series(["1", None, "9"], index=[5, 6, 7], name="age")
    recoded = RecodingRules.parse("old: 5 -").apply(series)
    assert recoded[[5, 7]].tolist() == ["1", "old"]
    assert pd.isna(recoded[6])
    assert recoded.index.tolist() == [5, 6, 7]


def test_bad_recodings_are_named_line_by_line(tmp_path):
    path = tmp_path / "age.grc"
    path.write_text("1 01, 02\n2: 03 04\n3: 9 - 5\n3: 07\n\n4:\n5: a - b - c\n")
    with pytest.raises(InputError) as error:
        RecodingRules.read(path)
    problems = [problem.split("age.grc, ")[1] for problem in error.value.problems]
    assert problems == [
        "line 1: '1 01, 02' has no new code with a colon after it",
        "line 2: '03 04' is neither a code nor a range such as 05 - 07",
        "line 3: the range 9 - 5 is upside down",
        "line 4: the new code '3' has a line already",
        "line 7: 'a - b - c' is neither a code nor a range such as 05 - 07",
    ]
    with pytest.raises(InputError, match="cannot be read"):
        RecodingRules.read(tmp_path / "none.grc")
    with pytest.raises(InputError, match="is empty"):
        RecodingRules.parse("\n")
    with pytest.raises(InputError) as error:
        RecodingRules.parse("1: 1 - 3\n2: 3, 8").apply(["1", "3", "18"])
    assert "code '3' falls under both '1' and '2'" in str(error.value)
    assert "code '8' of new code '2' does not occur" in str(error.value)


# --- the least roll-up -------------------------------------------------------------------------------------------


def crossed(rng, n=60):
    data = pd.DataFrame({"region": rng.choice(DEEP.leaves, n), "kind": rng.choice(SHORT.leaves, n)})
    return tabulate(data, [Dimension("region", DEEP), Dimension("kind", SHORT)])


def choices(hierarchy):
    """Every set of codes whose parts are given up, with everything below."""
    heads = [parent for parent, _ in hierarchy.splits]
    parts = dict(hierarchy.splits)
    for bits in product((False, True), repeat=len(heads)):
        gone = {head for head, bit in zip(heads, bits, strict=True) if bit}
        if all(part in gone for head in gone for part in parts[head] if part in heads):
            yield gone, {code for head in gone for code in parts[head]}


def enumerated(table, primary, weights, keep):
    best = np.inf
    for (one, gone), (other, lost) in product(choices(DEEP), choices(SHORT)):
        if any(DEEP.levels[DEEP.position[c]] < keep.get("region", 0) for c in one):
            continue
        if any(SHORT.levels[SHORT.position[c]] < keep.get("kind", 0) for c in other):
            continue
        removed = np.array([region in gone or kind in lost for region, kind in table.system.cells])
        if not (primary & ~removed).any():
            best = min(best, weights[removed].sum())
    return best


@pytest.mark.slow
def test_equals_the_model_on_200_problems():
    agreed = 0
    for seed in range(1000, 1200):
        rng = np.random.default_rng(seed)
        table = crossed(rng, int(rng.integers(40, 400)))
        primary = (table.values > 0) & (table.values < 3)
        weights = rng.integers(0, 5, table.n_cells).astype(float)
        keep = [{}, {"region": 1}, {"kind": 2}, {"region": 1, "kind": 1}][seed % 4]
        result = least_recoding(table, primary, weights=weights, keep=keep)
        if result.status == "infeasible":
            continue
        agreed += 1
        assert result.cost == result.bound == pytest.approx(answer_of_the_model(table, primary, weights, keep))
    assert agreed > 100


@pytest.mark.parametrize("seed", range(12))
def test_least_of_all_roll_ups(seed):
    rng = np.random.default_rng(seed)
    table = crossed(rng, 40 + 10 * seed)
    primary = (table.values > 0) & (table.values < 3)
    weights = rng.integers(0, 5, table.n_cells).astype(float)
    keep = [{}, {"region": 1}, {"kind": 2}, {"region": 1, "kind": 1}][seed % 4]
    result = least_recoding(table, primary, weights=weights, keep=keep)
    best = enumerated(table, primary, weights, keep)
    if np.isinf(best):
        assert result.status == "infeasible"
        assert result.message.startswith("no code may be given up of: ")
        return
    assert result.status == "optimal"
    assert result.cost == result.bound == best == weights[result.removed].sum()
    assert result.removed[primary].all()
    assert answer_of_the_model(table, primary, weights, keep) == pytest.approx(best)


def answer_of_the_model(table, primary, weights, keep):
    parent = [{part: head for head, parts in h.splits for part in parts} for h in (DEEP, SHORT)]
    parents = [
        [f"{d}{parent[d][code]}" for d, code in enumerate(cell) if code in parent[d]] for cell in table.system.cells
    ]
    above = {
        f"{d}{head}": f"{d}{parent[d][head]}"
        for d, h in enumerate((DEEP, SHORT))
        for head, _ in h.splits
        if head in parent[d]
    }
    stay = [
        f"{d}{head}"
        for d, (h, name) in enumerate(((DEEP, "region"), (SHORT, "kind")))
        for head, _ in h.splits
        if h.levels[h.position[head]] < keep.get(name, 0)
    ]
    return model.solve(model.build(parents, above, weights, np.flatnonzero(primary).tolist(), stay)).objective


@pytest.mark.parametrize("seed", range(4))
def test_the_recoded_table_is_that_of_the_records(seed):
    """Rolled up and tabulated anew from the records: the same cells, contributions and rules; nothing is sensitive."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "region": rng.choice(DEEP.leaves, 80),
            "kind": rng.choice(SHORT.leaves, 80),
            "x": rng.integers(1, 50, 80) * 1.0,
            "firm": rng.integers(0, 60, 80),
        }
    )
    by = [Dimension("region", DEEP), Dimension("kind", SHORT)]
    table = tabulate(data, by, "x", contributor="firm")
    found = assess(table, "threshold=4|nk=1,90")
    result = least_recoding(table, found.primaries)
    assert result.status == "optimal"
    small = result.recoded()
    hierarchies = result.hierarchies()
    up = data.copy()
    for name, hierarchy in (("region", DEEP), ("kind", SHORT)):
        kept = hierarchies[name].codes
        parent = {part: head for head, parts in hierarchy.splits for part in parts}

        def climb(code, kept=kept, parent=parent):
            while code not in kept:
                code = parent[code]
            return code

        up[name] = up[name].map(climb)
    again = tabulate(
        up,
        [Dimension("region", hierarchies["region"]), Dimension("kind", hierarchies["kind"])],
        "x",
        contributor="firm",
    )
    assert small.system.cells.equals(again.system.cells)
    assert np.array_equal(small.values, again.values)
    assert np.array_equal(small.counts, again.counts)
    assert np.array_equal(small.contributions.values, again.contributions.values)
    assert not small.system.residuals(small.values).any()
    assert (small.system.A != again.system.A).nnz == 0
    assert not len(assess(small, "threshold=4|nk=1,90").primaries)
    assert small.rows["region"].isin(hierarchies["region"].codes).all()
    assert small.system.n_cells == table.n_cells - result.removed.sum()


def test_nothing_to_do_and_nothing_possible():
    table = crossed(np.random.default_rng(0))
    result = least_recoding(table, np.zeros(table.n_cells, bool))
    assert (result.cost, result.status, result.collapsed) == (0.0, "optimal", {})
    assert result.recoded().n_cells == table.n_cells
    total = least_recoding(table, [0, 3])
    assert total.status == "infeasible"
    assert total.message == "no code may be given up of: Total x All"
    assert total.cost is None
    held = least_recoding(table, [table.n_cells - 1], keep={"region": 9, "kind": 9})
    assert held.status == "infeasible"


def test_a_table_of_one_code_has_nothing_to_give_up():
    """No code has parts: the sensitive cell is named."""
    frame = pd.DataFrame({"a": ["x", "x"], "value": [9.0, 1.0]})
    for empty in ("zero", "drop"):
        table = tabulate(frame, ["a"], value="value", empty=empty)
        result = least_recoding(table, np.ones(table.n_cells, bool))
        assert result.status == "infeasible"
        assert "no code may be given up" in result.message
        assert least_recoding(table, np.zeros(table.n_cells, bool)).cost == 0
    with pytest.raises(tp.InfeasibleError, match="no code may be given up"):
        tp.protect(frame, "threshold=3", tp.Recode(), by=["a"], value="value")


def test_zero_weights_do_not_give_up_more_than_a_full_subtree():
    table = crossed(np.random.default_rng(1))
    cell = table.system.cells.get_loc(("n11", "All"))
    result = least_recoding(table, [cell], keep={"kind": 9})
    assert result.collapsed == {"region": ("n1",)}
    assert {table.system.cells[i][0] for i in np.flatnonzero(result.removed)} == {"n11", "n12"}


def test_what_cannot_be_recoded_is_refused():
    table = crossed(np.random.default_rng(0))
    with pytest.raises(InputError, match="keep names 'regio', which is no dimension; did you mean 'region'"):
        least_recoding(table, [0], keep={"regio": 1})
    with pytest.raises(InputError, match="must have an entry for each"):
        least_recoding(table, [True])
    with pytest.raises(InputError, match="weights must be numbers of at least 0"):
        least_recoding(table, [3], weights=-np.ones(table.n_cells))
    with pytest.raises(InputError, match="needs a table with a hierarchy"):
        least_recoding(table_of([units(1)]), [0])
    two = Hierarchy(
        (("T", ("A", "B")), ("A", ("1", "2")), ("B", ("3",)), ("T", ("P", "Q")), ("P", ("1", "3")), ("Q", ("2",)))
    )
    linked = tabulate(pd.DataFrame({"r": list("123")}), [Dimension("r", two)])
    with pytest.raises(InputError, match="dimension 'r' is no tree"):
        least_recoding(linked, [0])


# --- open classes ------------------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=2), min_size=4, max_size=9), st.integers(2, 5))
@settings(max_examples=30, deadline=None)
def test_fewest_categories_at_both_ends(grid, n):
    rows = [
        (f"{age:02}", sex)
        for age, pair in enumerate(grid)
        for sex, times in zip("mf", pair, strict=True)
        for _ in range(times)
    ]
    by = [
        Dimension("age", Hierarchy.flat([f"{age:02}" for age in range(len(grid))])),
        Dimension("sex", Hierarchy.flat(list("mf"))),
    ]
    table = tabulate(pd.DataFrame(rows or [("00", "m")], columns=["age", "sex"]), by)
    grid = np.array(grid) if rows else np.array([[1, 0]] + [[0, 0]] * (len(grid) - 1))
    classes = open_classes(table, "age", f"threshold={n}")

    def fewest(counts):
        for size in range(1, len(counts) // 2 + 1):
            sums = counts[:size].sum(axis=0)
            if all(x == 0 or x >= n for x in (*sums, sums.sum())):
                return size
        return None

    sizes = fewest(grid), fewest(grid[::-1])
    assert classes.safe == (None not in sizes)
    for part, size in zip((classes.bottom, classes.top), sizes, strict=True):
        if size is not None:
            assert len(part) == (0 if size == 1 else size)
    if classes.bottom:
        assert classes.bottom == tuple(f"{k:02}" for k in range(len(classes.bottom)))
    if classes.top:
        assert classes.top[-1] == f"{len(grid) - 1:02}"
    if classes.safe and classes.recode is not None:
        recoded = classes.recode.apply([age for age, _ in rows] or ["00"])
        counts = pd.Series(recoded).value_counts()
        new = [name for name, _ in classes.recode.rules]
        assert all(counts.get(name, n) >= n for name in new)


def test_holdings_count_once_in_an_open_class():
    """The class of 80 and over has four records of two holdings."""
    data = pd.DataFrame({"age": ["70", "71", "72", "73", "80", "81", "82", "83"], "firm": list("abcdxxxe"), "v": 1.0})
    table = tabulate(data, ["age"], "v", contributor="firm", top=4)
    classes = open_classes(table, "age", "threshold=2")
    assert (classes.bottom, classes.top, classes.safe) == (("70", "71"), ("82", "83"), True)
    assert open_classes(table, "age", "threshold=3").safe is False


def test_open_classes_need_a_rule_and_a_dimension():
    table = crossed(np.random.default_rng(0))
    with pytest.raises(InputError, match="need a rule"):
        open_classes(table, "kind", "missing")
    with pytest.raises(InputError, match="no dimension 'kid'; did you mean 'kind'"):
        open_classes(table, "kid", "threshold=3")
    with pytest.raises(InputError, match="category 'z' is not in 'kind'"):
        open_classes(table, "kind", "threshold=3", order=["x1", "z"])
    ages = tabulate(pd.DataFrame({"age": ["old"] * 2 + ["young"] + ["middle"] * 5}), ["age"])
    classes = open_classes(ages, "age", "threshold=2", order=["young", "middle", "old"])
    assert (classes.bottom, classes.top, classes.safe) == ((), (), False)
    assert open_classes(ages, "age", "threshold=2", order=["old", "middle"]).safe
