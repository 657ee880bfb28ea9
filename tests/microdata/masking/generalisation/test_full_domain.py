"""The lattice search against brute force over all nodes, and on real data."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect.microdata as md
from tabprotect.errors import InfeasibleError, InputError
from tabprotect.microdata.masking.generalisation.losses import LOSSES
from tabprotect.table.hierarchy import Hierarchy
from tests.microdata.frames import KINDS, as_pandas

TREE = Hierarchy.from_hrc("N\n@a\n@b\nS\n@c\n@d\n@e")
LADDERS = {"age": md.Intervals((10, 20), top=60), "zip": md.Prefixes((1, 2)), "region": md.Tree(TREE)}
KEYS = list(LADDERS)


def people(seed: int, n: int = 24, gaps: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 70, n),
            "zip": rng.choice(["111", "112", "121", "122"], n),
            "region": rng.choice(list("abcde"), n),
            "disease": rng.choice(["flu", "cold", "none"], n, p=[0.5, 0.3, 0.2]),
        }
    )
    if gaps:
        frame.loc[rng.random(n) < 0.15, "region"] = None
    return frame


def generalised(frame: pd.DataFrame) -> list[list[list[Any]]]:
    """Labels of every record, by key and level."""
    found = []
    for key, ladder in LADDERS.items():
        values = [v for v in dict.fromkeys(frame[key]) if v is not None and v == v]
        levels = [values, *ladder.steps(values)]
        if len(set(levels[-1])) > 1:
            levels.append(["*"] * len(values))
        rows = []
        for level, labels in enumerate(levels):
            to = dict(zip(values, labels, strict=True))
            single = labels[0] if level and len(set(labels)) == 1 else None
            rows.append([to.get(v, single) for v in frame[key]])
        found.append(rows)
    return found


def loss_by_hand(name: str, k: int, node: Any, labels: Any, bad: np.ndarray) -> float:
    """Compute a loss record by record."""
    n, heights = len(bad), [len(levels) - 1 for levels in labels]
    classes: dict[Any, int] = {}
    for i in range(n):
        key = tuple(labels[j][level][i] for j, level in enumerate(node))
        classes[key] = classes.get(key, 0) + 1
    kept = [classes[tuple(labels[j][level][i] for j, level in enumerate(node))] for i in range(n) if not bad[i]]
    if name == "height":
        return sum(node)
    if name == "discernibility":
        return sum(kept) + n * bad.sum()
    if name == "class-size":
        return (
            n
            / (
                len({tuple(labels[j][level][i] for j, level in enumerate(node)) for i in range(n) if not bad[i]})
                + bool(bad.any())
            )
            / k
        )
    total = 0.0
    for j, level in enumerate(node):
        for i in range(n):
            level_i = heights[j] if bad[i] else level
            here = [labels[j][level_i][r] for r in range(n)]
            same = [r for r in range(n) if here[r] == here[i]]
            values = {labels[j][0][r] for r in same}
            everything = {labels[j][0][r] for r in range(n)}
            if name == "precision":
                total += level_i / heights[j]
            elif name == "loss-metric":
                total += (len(values) - 1) / max(len(everything) - 1, 1)
            else:
                mine = sum(labels[j][0][r] == labels[j][0][i] for r in range(n))
                total -= np.log2(mine / len(same))
    return total if name == "entropy" else total / (n * len(node))


def best_by_hand(frame: pd.DataFrame, name: str, k: int, budget: int, bad_of: Any = None) -> float:
    labels = generalised(frame)
    best = np.inf
    for node in product(*(range(len(levels)) for levels in labels)):
        rows = [tuple(labels[j][level][i] for j, level in enumerate(node)) for i in range(len(frame))]
        groups: dict[Any, list[int]] = {}
        for i, row in enumerate(rows):
            groups.setdefault(row, []).append(i)
        bad = np.zeros(len(frame), dtype=bool)
        for members in groups.values():
            bad[members] = len(members) < k or (bad_of is not None and bad_of(frame["disease"].iloc[members]))
        if bad.sum() <= budget:
            best = min(best, loss_by_hand(name, k, node, labels, bad))
    return best


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("suppressed", ["remove", "blank"])
def test_no_node_of_the_lattice_is_better(name: str, suppressed: Any) -> None:
    for seed in range(3):
        frame = people(seed, gaps=True)
        step = md.Generalisation(k=3, keys=KEYS, ladders=LADDERS, suppression=0.13, loss=name, suppressed=suppressed)
        masked = md.mask(frame, md.Schema(), step, seed=1)
        facts = masked.steps[0].facts
        assert facts["loss"] == pytest.approx(best_by_hand(frame, name, 3, 3)), seed
        assert masked.verify(), masked.verify().summary()
        assert len(masked.frame) == len(frame) - (facts["suppressed records"] if suppressed == "remove" else 0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["distinct", "entropy", "recursive"])
def test_with_diversity_no_node_is_better(seed: int, kind: Any) -> None:
    frame = people(seed, n=18)

    def bad(values: pd.Series) -> bool:
        counts = np.sort(values.value_counts().to_numpy())[::-1]
        if kind == "distinct":
            return len(counts) < 2
        if kind == "entropy":
            share = counts / counts.sum()
            return bool(np.exp(-(share * np.log(share)).sum()) < 1.8 * (1 - 1e-12))
        return bool(counts[0] >= 1.5 * counts[1:].sum())

    constraint = md.Diversity(
        "disease", {"distinct": 2, "entropy": 1.8, "recursive": 2}[kind], kind, 1.5 if kind == "recursive" else None
    )
    step = md.Generalisation(k=2, keys=KEYS, ladders=LADDERS, suppression=0.34, loss="entropy", constraints=constraint)
    best = best_by_hand(frame, "entropy", 2, 6, bad)
    if np.isinf(best):
        with pytest.raises(InfeasibleError):
            md.mask(frame, md.Schema(), step, seed=1)
        return
    masked = md.mask(frame, md.Schema(), step, seed=1)
    assert masked.steps[0].facts["loss"] == pytest.approx(best)
    assert masked.verify(), masked.verify().summary()


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
def test_t_closeness_holds_afterwards(distance: Any) -> None:
    frame = people(3, n=200)
    tree = Hierarchy.from_hrc("ill\n@flu\n@cold\nwell\n@none")
    schema = md.Schema(hierarchies={"disease": tree})
    for suppressed in ("remove", "blank"):
        step = md.Generalisation(
            k=3, keys=KEYS, ladders=LADDERS, suppression=0.1, suppressed=suppressed,  # type: ignore[arg-type]
            constraints=md.Closeness("disease", 0.15, distance),
        )  # fmt: skip
        masked = md.mask(frame, schema, step, seed=1)
        assert {"k-anonymity", "closeness"} <= {claim.kind for claim in masked.claims}
        assert masked.verify(), masked.verify().summary()


@pytest.mark.slow
def test_adult_with_nine_keys_is_optimal(shared: Callable[[str], Path]) -> None:
    frame = pd.read_csv(shared("microdata/arx_adult_subset.csv"), sep=";")
    keys = list(frame.columns)
    ladders = {key: str(shared(f"microdata/arx_adult_hierarchy_{key}.csv")) for key in keys}
    step = md.Generalisation(k=5, ladders=ladders, suppression=0.01, loss="loss-metric")
    masked = md.mask(frame, md.Schema(keys=keys), step, seed=1)
    facts = masked.steps[0].facts
    assert facts["status"] == "optimal"
    assert facts["nodes"] == 12_960
    assert facts["nodes looked at"] < 6_480
    assert facts["suppressed records"] <= 30
    assert masked.frame.groupby(keys).size().min() >= 5
    assert masked.verify()
    # one level less anywhere is out of the budget, or loses more
    for key, level in facts["levels"].items():
        if level:
            lower = md.Generalisation(
                k=5, ladders=ladders, suppression=0.01, loss="loss-metric", levels={**facts["levels"], key: level - 1}
            )
            try:
                other = md.mask(frame, md.Schema(keys=keys), lower, seed=1).steps[0].facts["loss"]
            except InfeasibleError:
                continue
            assert other >= facts["loss"]


@pytest.mark.slow
def test_adult_as_a_whole_is_optimal_for_every_loss(shared: Callable[[str], Path]) -> None:
    frame = pd.read_csv(shared("microdata/arx_adult.csv"), sep=";")
    keys = list(frame.columns)
    ladders = {key: str(shared(f"microdata/arx_adult_hierarchy_{key}.csv")) for key in keys}
    expected = {
        "height": 10.0,
        "precision": 0.485057,
        "loss-metric": 0.413924,
        "entropy": 308_691.568,
        "discernibility": 7_220_555.0,
        "class-size": 13.71,
    }
    for loss, value in expected.items():
        step = md.Generalisation(k=5, ladders=ladders, suppression=0.01, loss=loss)
        masked = md.mask(frame, md.Schema(keys=keys), step, seed=1)
        assert masked.steps[0].facts["loss"] == pytest.approx(value, rel=1e-5)
        assert masked.verify()


def test_levels_can_be_given_and_are_checked() -> None:
    frame = people(1)
    step = md.Generalisation(k=1, keys=KEYS, ladders=LADDERS, levels={"zip": 2, "age": 1})
    masked = md.mask(frame, md.Schema(), step, seed=1)
    assert masked.frame["zip"].unique().tolist() == ["1**"]
    assert masked.frame["region"].tolist() == frame["region"].tolist()
    with pytest.raises(InfeasibleError, match="too small"):
        md.mask(frame, md.Schema(), md.Generalisation(k=5, keys=KEYS, ladders=LADDERS, levels={"zip": 2}), seed=1)


def test_within_strata_each_stratum_has_k() -> None:
    frame = people(2, n=60)
    frame["stratum"] = ["x", "y"] * 30
    step = md.Generalisation(k=3, keys=KEYS, ladders=LADDERS)
    masked = md.mask(frame, md.Schema(strata=["stratum"]), step, seed=1)
    assert masked.frame.groupby([*KEYS, "stratum"], observed=True).size().min() >= 3
    assert masked.verify()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame(kind: str) -> None:
    step = md.Generalisation(k=3, keys=KEYS, ladders=LADDERS, suppression=0.1)
    masked = md.mask(KINDS[kind](people(4)), md.Schema(), step, seed=1)
    plain = md.mask(people(4), md.Schema(), step, seed=1)
    assert as_pandas(masked.frame).astype(str).to_numpy().tolist() == plain.frame.astype(str).to_numpy().tolist()
    assert masked.verify()


def test_a_released_folder_verifies_and_later_steps_know_the_new_columns(tmp_path: Path) -> None:
    schema = md.Schema(keys=KEYS, hierarchies={"region": TREE}, orders={"age": range(120)})
    steps = [md.Generalisation(k=3, ladders=LADDERS, suppression=0.2), md.LocalSuppression(k=4)]
    masked = md.mask(people(5), schema, steps, seed=1)
    masked.write(tmp_path / "out")
    from tabprotect.microdata.folder import verify_masked

    assert verify_masked(tmp_path / "out")


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: md.Generalisation(loss="precison"), "did you mean 'precision'"),
        (lambda: md.Generalisation(ladders={"a": 5}), "ladder of 'a'"),
        (lambda: md.Generalisation(suppression=1.0), "below 1"),
        (lambda: md.Generalisation(constraints=[{"column": "x"}]), "column and l or t"),
        (lambda: md.Diversity("x", 2, "recursive"), "needs it"),
        (lambda: md.Closeness("x", 2.0), "at most 1"),
        (lambda: md.Prefixes((2, 1)), "must grow"),
        (lambda: md.Intervals((0,)), "above 0"),
        (lambda: md.Steps({"a": ("x",), "b": ("x", "y")}), "same number"),
        (lambda: run(md.Generalisation(keys=["zip"], ladders={"zip": md.Steps({"111": ("*",)})})), "no line for"),
        (lambda: run(md.Generalisation(keys=["age"], ladders={"age": md.Intervals((10, 13))})), "part again"),
        (lambda: run(md.Generalisation(keys=["zip"], ladders={"age": md.Intervals((10,))})), "none of the keys"),
        (lambda: run(md.Generalisation(keys=["zip"], levels={"zip": 7})), "levels 0 to 1"),
        (
            lambda: run(md.Generalisation(keys=["zip"], constraints=md.Closeness("diseas", 0.2))),
            "did you mean 'disease'",
        ),
        (lambda: run(md.Generalisation(keys=["disease"], constraints=md.Diversity("disease", 2))), "is a key"),
    ],
)
def test_bad_input_gives_one_clear_error(make: Any, part: str) -> None:
    with pytest.raises(InputError, match=part):
        make()


def test_what_cannot_be_reached_is_said() -> None:
    with pytest.raises(InfeasibleError, match="allow more suppression"):
        run(md.Generalisation(k=25, keys=["zip"]))


def run(step: md.Method) -> md.Masked:
    return md.mask(people(0), md.Schema(), step, seed=1)


@pytest.mark.parametrize("suppression", [0.0, 0.15])
@pytest.mark.parametrize("seed", range(3))
def test_k_minimal_is_what_brute_force_over_all_lower_nodes_says(seed: int, suppression: float) -> None:
    frame = people(seed)
    k, labels = 3, generalised(frame)
    budget = int(suppression * len(frame) + 1e-9)
    good = set()
    for node in product(*(range(len(levels)) for levels in labels)):
        rows = list(zip(*(labels[j][level] for j, level in enumerate(node)), strict=True))
        sizes = {row: rows.count(row) for row in rows}
        if sum(sizes[row] < k for row in rows) <= budget:
            good.add(node)
    minimal = {
        node for node in good
        if not any(other != node and all(a <= b for a, b in zip(other, node, strict=True)) for other in good)
    }  # fmt: skip
    assert minimal
    assert minimal < good
    for node in sorted(minimal)[:4] + sorted(good - minimal)[:4]:
        levels = dict(zip(KEYS, node, strict=True))
        step = md.Generalisation(k=k, keys=KEYS, ladders=LADDERS, suppression=suppression, levels=levels)
        try:
            facts = md.mask(frame, None, step, seed=1).steps[0].facts
        except InfeasibleError:
            continue
        assert facts["k-minimal"] == (node in minimal)
    for loss in ("height", "precision"):
        step = md.Generalisation(k=k, keys=KEYS, ladders=LADDERS, suppression=suppression, loss=loss)
        facts = md.mask(frame, None, step, seed=1).steps[0].facts
        assert facts["k-minimal"]
        assert tuple(facts["levels"].values()) in minimal


def test_ten_keys_against_all_nodes() -> None:
    rng = np.random.default_rng(7)
    n, k, share = 150, 4, 0.04
    at = rng.integers(0, 3, n)
    codes = np.array([np.clip(at + rng.choice([-1, 0, 0, 0, 1], n), 0, 3) for _ in range(10)])
    keys = [f"k{j}" for j in range(10)]
    frame = pd.DataFrame({key: [f"v{value}" for value in column] for key, column in zip(keys, codes, strict=True)})
    # one level below the top, that joins neighbours in even keys; no level in between in odd ones
    above = {"v0": "low", "v1": "low", "v2": "high", "v3": "high", "low": "all", "high": "all"}
    schema = md.Schema(keys=keys, hierarchies=dict.fromkeys(keys[::2], above))
    masked = md.mask(frame, schema, md.Generalisation(k=k, suppression=share), seed=1)
    ladders = [
        [column, column // 2, column * 0] if j % 2 == 0 else [column, column * 0] for j, column in enumerate(codes)
    ]
    best = np.inf
    for node in product(*(range(len(ladder)) for ladder in ladders)):
        labels = sum(4**j * ladder[level] for j, (ladder, level) in enumerate(zip(ladders, node, strict=True)))
        _, index, sizes = np.unique(labels, return_inverse=True, return_counts=True)
        bad = sizes[index] < k
        if bad.sum() <= share * n:
            heights = np.array([level / (len(ladder) - 1) for ladder, level in zip(ladders, node, strict=True)])
            best = min(best, (heights.sum() * (~bad).sum() + 10 * bad.sum()) / (10 * n))
    facts = masked.steps[0].facts
    assert facts["status"] == "optimal"
    assert facts["nodes"] == 3**5 * 2**5
    assert facts["loss"] == pytest.approx(best, abs=1e-12)
