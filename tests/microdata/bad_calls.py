"""Kinds of bad input to the library: what is called with a good frame, and the words that the error must hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import tabprotect as tp
import tabprotect.microdata as md

TREE = tp.Hierarchy((("all", ("north", "south")), ("north", ("n1", "n2")), ("south", ("s1", "s2"))))
SIZES = ("small", "medium", "large")
Call = Callable[[pd.DataFrame], object]


def people() -> pd.DataFrame:
    """Forty records with a column of every scale and role."""
    rng = np.random.default_rng(7)
    n = 40
    frame = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "region": rng.choice(TREE.leaves, n),
            "size": rng.choice(SIZES, n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(0, 90, n),
            "pay": rng.lognormal(7, 0.6, n).round(2),
            "debt": rng.lognormal(5, 1, n).round(1),
            "w": rng.integers(1, 20, n).astype(float),
            "hid": np.repeat(np.arange(n // 2), 2),
            "day": pd.to_datetime([f"2020-{1 + i % 12:02}-01" for i in range(n)]),
        }
    )
    frame.loc[3, "pay"] = np.nan
    return frame


def masked(*steps: Any, **schema: Any) -> Call:
    """Mask the frame under a schema."""
    return lambda frame: md.mask(frame, md.Schema(**schema), list(steps), seed=1)


def changed(change: Callable[[pd.DataFrame], pd.DataFrame], *steps: Any, **schema: Any) -> Call:
    """Mask a frame that was made wrong."""
    return lambda frame: md.mask(change(frame), md.Schema(**schema), list(steps), seed=1)


def made(make: Callable[[], object]) -> Call:
    """Make something that needs no frame."""
    return lambda frame: make()


def put(column: str, row: int, value: Any) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Put one value into a column."""

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        values = frame[column].astype(object).tolist()
        values[row] = value
        return frame.assign(**{column: values})

    return change


TOP = md.TopCoding("pay", threshold=1000)
SUPPRESS = md.LocalSuppression(k=2)

SCHEMAS: dict[str, tuple[Call, tuple[str, ...]]] = {
    "keys as one word": (made(lambda: md.Schema(keys="sex")), ("keys must be a list", "keys=['sex']")),
    "a key twice": (made(lambda: md.Schema(keys=["sex", "sex"])), ("keys name sex twice",)),
    "a key that is no word": (made(lambda: md.Schema(keys=["sex", 3])), ("keys must be a list of columns",)),  # type: ignore[list-item]
    "keys of None": (made(lambda: md.Schema(keys=None)), ("keys must be a list of columns",)),  # type: ignore[arg-type]
    "an identifier among the keys": (
        made(lambda: md.Schema(keys=["id"], identifiers=["id"])),
        ("'id' is an identifier", "among the keys"),
    ),
    "the weight among the confidential": (
        made(lambda: md.Schema(confidential=["w"], weight="w")),
        ("'w' is the weight", "confidential"),
    ),
    "weight and household the same": (
        made(lambda: md.Schema(weight="w", household="w")),
        ("'w' is the weight", "the household"),
    ),
    "two weights": (made(lambda: md.Schema(weight=["w", "v"])), ("weight must be the name of one column",)),  # type: ignore[arg-type]
    "an unknown scale": (made(lambda: md.Schema(scales={"pay": "continous"})), ("'pay'", "did you mean 'continuous'")),
    "a scale that is no word": (made(lambda: md.Schema(scales={"pay": ["a"]})), ("'pay'", "continuous")),  # type: ignore[dict-item]
    "a scale that fits no order": (
        made(lambda: md.Schema(scales={"size": "unordered"}, orders={"size": SIZES})),
        ("'size'", "order", "unordered"),
    ),
    "an order as one word": (made(lambda: md.Schema(orders={"size": "small"})), ("order of 'size'", "lowest first")),
    "an order that repeats": (made(lambda: md.Schema(orders={"size": ["a", "a"]})), ("order of 'size'", "once")),
    "an order of lists": (made(lambda: md.Schema(orders={"size": [["a"], ["b"]]})), ("order of 'size'", "once")),
    "order and hierarchy": (
        made(lambda: md.Schema(orders={"region": ["n1"]}, hierarchies={"region": TREE})),
        ("'region'", "an order and a hierarchy"),
    ),
    "a hierarchy as a number": (
        made(lambda: md.Schema(hierarchies={"region": 3})),
        ("hierarchy of 'region'", "must be a Hierarchy"),
    ),
    "hierarchies as a list": (made(lambda: md.Schema(hierarchies=[TREE])), ("hierarchies must map columns",)),  # type: ignore[arg-type]
    "several at once": (
        made(lambda: md.Schema(keys=["w", "id"], weight="w", identifiers=["id"], scales={"pay": "x"})),
        ("3 problems", "'w'", "'id'", "'pay'"),
    ),
    "a schema that is a mapping": (
        lambda frame: md.mask(frame, {"keys": ["sex"]}, TOP),  # type: ignore[arg-type]
        ("schema must be a Schema", "dict"),
    ),
    "a key that is not there": (masked(TOP, keys=["regin"]), ("no column 'regin'", "did you mean 'region'")),
    "no household there": (masked(TOP, household="hids"), ("no column 'hids'", "did you mean 'hid'")),
    "a value outside of its order": (
        masked(md.RankSwapping("size"), orders={"size": ["small", "large"]}),
        ("'size'", "'medium'", "order"),
    ),
    "a code outside of its hierarchy": (
        changed(put("region", 2, "n9"), md.Mondrian(k=2), keys=["region"], hierarchies={"region": TREE}),
        ("'region'", "'n9'", "hierarchy"),
    ),
    "codes outside of a hierarchy, generalised": (
        changed(put("region", 2, "n9"), md.Generalisation(k=2), keys=["region"], hierarchies={"region": TREE}),
        ("'region'", "'n9'"),
    ),
}

FRAMES: dict[str, tuple[Call, tuple[str, ...]]] = {
    "data that are no frame": (lambda frame: md.mask(5, None, TOP), ("type int", "pandas")),
    "data as a list of records": (lambda frame: md.mask([{"pay": 1}], None, TOP), ("type list", "pandas")),
    "a file that is not there": (lambda frame: md.mask("nowhere.csv", None, TOP), ("nowhere.csv",)),
    "an empty frame": (changed(lambda frame: frame.head(0), TOP), ("no records",)),
    "a frame without columns": (changed(lambda frame: frame[[]], TOP), ("pay",)),
    "the same name twice": (
        changed(lambda frame: frame.set_axis(["id", "sex", "sex", *frame.columns[3:]], axis=1), TOP),
        ("several columns are called sex", "rename"),
    ),
    "names that are numbers": (
        changed(lambda frame: frame.rename(columns={"debt": 5}), TOP),
        ("5", "name"),
    ),
    "several levels of names": (
        changed(lambda frame: pd.concat({"a": frame}, axis=1), TOP),
        ("name",),
    ),
    "a column that is not there": (masked(md.Noise("pya")), ("no column 'pya'", "did you mean 'pay'")),
    "lists in a column": (changed(put("sex", 0, ["f", "m"]), md.PRAM("sex")), ("'sex'", "list")),
    "mappings in a key": (changed(put("sex", 0, {"f": 1}), SUPPRESS, keys=["sex", "region"]), ("'sex'", "dict")),
    "bytes in a column": (changed(put("sex", 0, b"f"), md.PRAM("sex")), ("'sex'", "bytes")),
    "objects in a column": (changed(put("sex", 0, object()), md.PRAM("sex")), ("'sex'", "object")),
    "an infinite value": (changed(put("pay", 2, np.inf), md.Noise("pay")), ("'pay'", "infinite", "row 3")),
    "an infinite value, not masked itself": (
        changed(put("debt", 2, -np.inf), md.IPSO("pay", given="debt")),
        ("'debt'", "infinite"),
    ),
    "text among numbers": (changed(put("pay", 2, "many"), md.Noise("pay")), ("'pay'", "many")),
    "numbers and text in an order": (
        changed(put("size", 2, 7), md.RankSwapping("size"), scales={"size": "ordered"}),
        ("'size'", "order"),
    ),
    "a column without any value": (
        changed(lambda frame: frame.assign(pay=np.nan), md.Noise("pay")),
        ("'pay'", "no value"),
    ),
    "a column without any value, for microaggregation": (
        changed(lambda frame: frame.assign(pay=np.nan), md.Microaggregation("pay", k=3)),
        ("'pay'", "no value"),
    ),
    "a column without any value, for a quantile": (
        changed(lambda frame: frame.assign(pay=np.nan), md.TopCoding("pay", quantile=0.9)),
        ("'pay'", "no value"),
    ),
    "a category without any value": (
        changed(lambda frame: frame.assign(sex=None), md.PRAM("sex")),
        ("'sex'", "no value"),
    ),
    "a weight that is missing": (
        changed(put("w", 4, None), md.TopCoding("pay", quantile=0.9), weight="w"),
        ("'w'", "no value", "row 5"),
    ),
    "a negative weight": (
        changed(put("w", 4, -2.0), md.TopCoding("pay", quantile=0.9), weight="w"),
        ("'w'", "above 0", "-2"),
    ),
    "a weight of zero": (
        changed(put("w", 4, 0.0), md.Microaggregation("pay", k=3), weight="w"),
        ("'w'", "above 0"),
    ),
    "a weight that is text": (
        changed(put("w", 4, "much"), md.Microaggregation("debt", k=3), weight="w"),
        ("'w'", "numbers", "much"),
    ),
    "a weight that no step looks at": (changed(put("w", 4, -2.0), TOP, weight="w"), ("'w'", "above 0")),
    "no weight there": (masked(TOP, weight="wt"), ("no column 'wt'",)),
    "an infinite weight": (
        changed(put("w", 4, np.inf), md.TopCoding("pay", quantile=0.9), weight="w"),
        ("'w'", "infinite"),
    ),
    "true and false as numbers": (
        changed(lambda frame: frame.assign(pay=frame["pay"] > 900), md.Noise("pay")),
        ("'pay'", "unordered", "continuous"),
    ),
    "whole numbers beyond 2^53": (
        changed(lambda frame: frame.assign(age=frame["age"] + 2**60), md.Noise("age")),
        ("'age'", "2^53"),
    ),
    "complex numbers": (
        changed(lambda frame: frame.assign(pay=frame["pay"] * 1j), md.Noise("pay")),
        ("pay", "complex"),
    ),
}

CHAINS: dict[str, tuple[Call, tuple[str, ...]]] = {
    "no method": (lambda frame: md.mask(frame, None, []), ("no method was given", "top-coding")),
    "a class instead of a method": (
        lambda frame: md.mask(frame, None, md.PRAM),  # type: ignore[arg-type]
        ("PRAM", "call it with its parameters"),
    ),
    "a word instead of a method": (
        lambda frame: md.mask(frame, None, ["pram"]),  # type: ignore[list-item]
        ("'pram'", "did you mean 'pram'"),
    ),
    "an unknown method": (made(lambda: md.make_method("rank-swaping", {})), ("did you mean 'rank-swapping'",)),
    "an unknown parameter": (
        made(lambda: md.make_method("noise", {"columns": "pay", "aplha": 1})),
        ("'aplha'", "did you mean 'alpha'"),
    ),
    "a parameter that is missing": (made(lambda: md.make_method("noise", {})), ("noise", "columns")),
    "a scale that does not fit": (masked(md.Noise("sex")), ("'sex' is unordered", "continuous", "pram")),
    "numbers for categories": (masked(md.PRAM("pay")), ("'pay' is continuous", "noise")),
    "dates for numbers": (masked(md.Noise("day")), ("'day' is ordered", "continuous")),
    "a column that an earlier step left out": (
        masked(md.Cholesky(["pay", "debt"]), md.PRAM("sex")),
        ("step 2 (pram)", "'sex'"),
    ),
    "a column twice": (made(lambda: md.Noise(["pay", "pay"])), ("columns name a column twice",)),
    "no columns": (made(lambda: md.Noise([])), ("at least 1 column",)),
    "columns as a number": (made(lambda: md.Noise(5)), ("must be a list of columns",)),  # type: ignore[arg-type]
    "an identifier as a target": (masked(md.PRAM("id"), identifiers=["id"]), ("'id' is an identifier",)),
    "a negative seed": (lambda frame: md.mask(frame, None, TOP, seed=-1), ("seed", "-1")),
    "a seed as text": (lambda frame: md.mask(frame, None, TOP, seed="one"), ("seed", "one")),  # type: ignore[arg-type]
    "problems of two steps at once": (
        masked(md.Noise("pya"), md.PRAM("pay")),
        ("2 problems", "step 1 (noise)", "'pya'", "step 2 (pram)", "'pay' is continuous"),
    ),
    "no keys": (masked(SUPPRESS), ("no keys are given",)),
    "no household": (masked(md.HouseholdNumbers()), ("no household",)),
    "no weights to change": (masked(md.WeightNoise()), ("no weight",)),
    "strata of one record": (
        changed(lambda frame: frame.assign(area=range(len(frame))), md.Microaggregation("debt", k=3), strata=["area"]),
        ("k", "strat"),
    ),
    "a household across strata": (
        masked(md.Sampling(share=0.5, unit="household"), household="hid", strata=["sex"]),
        ("households", "several strata"),
    ),
    "a file with an unknown format": (
        lambda frame: md.mask(frame, None, TOP, seed=1).write("never", formats=["sas"]),
        ("sas", "csv"),
    ),
}

NON_PERTURBATIVE: dict[str, tuple[Call, tuple[str, ...]]] = {
    "k of zero": (made(lambda: md.LocalSuppression(k=0)), ("k must be at least 1",)),
    "k above the records": (masked(md.LocalSuppression(k=41), keys=["sex"]), ("41",)),
    "k that is no whole number": (made(lambda: md.LocalSuppression(k=2.5)), ("k must be a whole number", "2.5")),  # type: ignore[arg-type]
    "k that is true": (made(lambda: md.LocalSuppression(k=True)), ("k must be a whole number",)),
    "k as text": (made(lambda: md.Generalisation(k="3")), ("k must be a whole number",)),  # type: ignore[arg-type]
    "k above the records, generalised": (masked(md.Generalisation(k=41), keys=["sex"]), ("41",)),
    "k above the records, locally recoded": (masked(md.Mondrian(k=41), keys=["sex"]), ("41",)),
    "a quantile of one": (made(lambda: md.TopCoding("pay", quantile=1.0)), ("quantile must be below 1",)),
    "a negative quantile": (made(lambda: md.BottomCoding("pay", quantile=-0.1)), ("quantile must be above 0",)),
    "threshold and quantile": (
        made(lambda: md.TopCoding("pay", threshold=1, quantile=0.5)),
        ("either threshold or quantile",),
    ),
    "a tail of values below zero": (
        changed(put("pay", 0, -1.0), md.TopCoding("pay", quantile=0.9, tail="lognormal")),
        ("'pay'", "0 or less"),
    ),
    "cuts that do not grow": (made(lambda: md.GlobalRecoding("pay", cuts=[3, 1])), ("cuts must be growing",)),
    "cuts that are no list": (made(lambda: md.GlobalRecoding("pay", cuts=3)), ("cuts must be growing",)),  # type: ignore[arg-type]
    "a category that is not there": (
        masked(md.GlobalRecoding("size", mapping={"smal": "x"})),
        ("no 'smal'", "did you mean 'small'"),
    ),
    "rules that are none": (made(lambda: md.GlobalRecoding("sex", rules="f m")), ("global-recoding",)),
    "rules of a file that is not there": (made(lambda: md.GlobalRecoding("sex", rules="no.grc")), ("no.grc",)),
    "a level without a tree": (masked(md.GlobalRecoding("sex", level=1)), ("'sex'", "hierarchy")),
    "a level above the root": (
        masked(md.GlobalRecoding("region", level=9), hierarchies={"region": TREE}),
        ("'region'", "levels", "9"),
    ),
    "too few labels": (masked(md.GlobalRecoding("pay", cuts=[500, 900], labels=["a"])), ("'pay'", "3 intervals")),
    "labels as a number": (made(lambda: md.GlobalRecoding("pay", cuts=[5], labels=5)), ("labels",)),  # type: ignore[arg-type]
    "a mapping that tears an order": (
        masked(md.GlobalRecoding("size", mapping={"small": "x", "large": "x"}), orders={"size": SIZES}),
        ("'size'", "not neighbours"),
    ),
    "an unknown loss": (made(lambda: md.Generalisation(k=2, loss="hight")), ("loss", "did you mean 'height'")),  # type: ignore[arg-type]
    "a ladder for no key": (
        masked(md.Generalisation(k=2, ladders={"sx": md.Prefixes((1,))}), keys=["sex"]),
        ("'sx'", "did you mean 'sex'"),
    ),
    "a ladder file that is not there": (
        made(lambda: md.Generalisation(k=2, ladders={"sex": "nowhere.csv"})),
        ("nowhere.csv",),
    ),
    "a constraint on a key": (
        masked(md.Mondrian(k=2, constraints=md.Diversity("sex", l=2)), keys=["sex"]),
        ("'sex'", "constraint"),
    ),
    "more diversity than values": (
        masked(md.Mondrian(k=2, constraints=md.Diversity("sex", l=5)), keys=["age"]),
        ("'sex'", "5"),
    ),
    "closeness above one": (made(lambda: md.Closeness("pay", t=1.5)), ("t of t-closeness", "at most 1")),
    "an importance of zero": (
        made(lambda: md.LocalSuppression(k=2, importance={"sex": 0})),
        ("importance of 'sex'", "above 0"),
    ),
    "an importance as a list": (
        made(lambda: md.LocalSuppression(k=2, importance=["sex"])),  # type: ignore[arg-type]
        ("importance", "map"),
    ),
    "an importance for no key": (
        masked(md.LocalSuppression(k=2, importance={"sx": 2}), keys=["sex"]),
        ("'sx'", "did you mean 'sex'"),
    ),
    "thresholds for sizes beyond the keys": (
        masked(md.LocalSuppression(thresholds={4: 2}), keys=["sex", "size"]),
        ("4",),
    ),
    "more drawn than there are": (masked(md.Sampling(size=100)), ("100 records cannot be drawn from 40",)),
    "a share above one": (made(lambda: md.Sampling(share=1.5)), ("share must be at most 1",)),
    "an allocation to no stratum": (
        masked(md.Sampling(allocation={"x": 3}), strata=["sex"]),
        ("no stratum 'x'",),
    ),
    "an unknown design": (made(lambda: md.Sampling(size=3, design="simpl")), ("did you mean 'simple'",)),  # type: ignore[arg-type]
    "weight noise of everything": (made(lambda: md.WeightNoise(share=1.0)), ("share must be below 1",)),
}

PERTURBATIVE: dict[str, tuple[Call, tuple[str, ...]]] = {
    "a matrix that is not stochastic": (
        made(lambda: md.PRAM("sex", kind="given", matrix=[[0.9, 0.2], [0.1, 0.9]])),
        ("row 1 of the matrix adds up to 1.1",),
    ),
    "a matrix with negative entries": (
        made(lambda: md.PRAM("sex", kind="given", matrix=[[1.2, -0.2], [0, 1]])),
        ("matrix", "0"),
    ),
    "a matrix that is not square": (
        made(lambda: md.PRAM("sex", kind="given", matrix=[[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])),
        ("matrix", "square"),
    ),
    "a matrix with rows of different lengths": (
        made(lambda: md.PRAM("sex", kind="given", matrix=[[1], [0.5, 0.5]])),
        ("matrix", "square"),
    ),
    "a matrix of text": (made(lambda: md.PRAM("sex", kind="given", matrix="x")), ("matrix",)),
    "a matrix of the wrong size": (
        masked(md.PRAM("size", kind="given", matrix=[[1, 0], [0, 1]])),
        ("'size' has 3 categories", "2 rows"),
    ),
    "a probability above one": (made(lambda: md.PRAM("sex", floor=1.2)), ("floor must be below 1",)),
    "a ceiling below the floor": (
        made(lambda: md.PRAM("sex", kind="optimal", floor=0.5, ceiling=0.2)),
        ("ceiling", "below floor"),
    ),
    "an estimate of different lengths": (
        made(lambda: md.pram_estimate([1, 2, 3], [[1, 0], [0, 1]])),
        ("counts must be 2 finite numbers",),
    ),
    "truth for certain": (made(lambda: md.RandomResponse("sex", truth=1.0)), ("truth must be below 1",)),
    "answers that do not add up": (
        made(lambda: md.RandomResponse("sex", answers={"f": 0.5, "m": 0.2})),
        ("answers", "add up to 1"),
    ),
    "answers that never occur": (
        masked(md.RandomResponse("sex", answers={"f": 0.5, "x": 0.5})),
        ("'sex'", "'x'|x"),
    ),
    "alpha of zero": (made(lambda: md.Noise("pay", alpha=0)), ("alpha must be above 0",)),
    "alpha that is not a number": (made(lambda: md.Noise("pay", alpha=float("nan"))), ("alpha must be a number",)),
    "an unknown kind of noise": (made(lambda: md.Noise("pay", kind="corelated")), ("did you mean 'correlated'",)),  # type: ignore[arg-type]
    "least above most": (
        made(lambda: md.Noise("pay", kind="multiplicative", least=0.3, most=0.1)),
        ("least must be below most",),
    ),
    "ranks of more than everything": (made(lambda: md.RankSwapping("pay", p=101)), ("p must be at most 100",)),
    "a swap rate of zero": (made(lambda: md.Swapping("pay", rate=0)), ("rate must be above 0",)),
    "swapped and matched": (made(lambda: md.Swapping("pay", match="pay")), ("pay cannot be both",)),
    "a match that is not there": (masked(md.Swapping("pay", match="sx")), ("no column 'sx'", "did you mean 'sex'")),
    "a rounding base of zero": (made(lambda: md.Rounding("pay", base=0)), ("base must be above 0",)),
    "neither base nor points": (made(lambda: md.Rounding("pay")), ("either base or points",)),
    "points of another dimension": (
        made(lambda: md.Rounding(["pay", "debt"], points=[[1, 2, 3]])),
        ("2 numbers", "3"),
    ),
    "points that are no numbers": (made(lambda: md.Rounding("pay", points=["a"])), ("points must be numbers",)),
    "one resample": (made(lambda: md.Resampling("pay", samples=1)), ("samples must be at least 2",)),
    "a quality of zero": (made(lambda: md.LossyCompression("pay", quality=0)), ("quality must be at least 1",)),
    "groups of one": (made(lambda: md.Microaggregation("pay", k=1)), ("k must be at least 2",)),
    "groups above the records": (masked(md.Microaggregation("debt", k=41)), ("41|40",)),
    "an unknown microaggregation": (
        made(lambda: md.Microaggregation("pay", method="mdva")),  # type: ignore[arg-type]
        ("method", "did you mean 'mdav'"),
    ),
    "an option of another microaggregation": (
        made(lambda: md.Microaggregation("pay", gamma=0.2)),
        ("gamma", "v-mdav"),
    ),
    "a mean of categories": (
        masked(md.Microaggregation("sex", k=3, aggregate={"sex": "mean"})),
        ("'sex'", "mode"),
    ),
    "an order of categories without one": (
        masked(md.Microaggregation("sex", k=3, method="individual")),
        ("'sex' is unordered", "mdav"),
    ),
    "a fuzziness below one": (made(lambda: md.FuzzyMicroaggregation("pay", m1=0.5)), ("m1 must be at least 1",)),
    "core and noncore": (made(lambda: md.MASSC(core="sex", noncore="sex")), ("'sex' is both core and noncore",)),
    "a bias bound of zero": (made(lambda: md.MASSC(core="sex", bias=0)), ("bias must be above 0",)),
}

SYNTHETIC: dict[str, tuple[Call, tuple[str, ...]]] = {
    "fewer records than columns": (made(lambda: md.Cholesky(["pay", "debt"], n=1)), ("n must be at least 2",)),
    "no more records than columns": (masked(md.Cholesky(["pay", "debt"], n=2)), ("above the number of columns",)),
    "replaced and given": (made(lambda: md.IPSO("pay", given="pay")), ("pay cannot be both",)),
    "an unknown variant": (made(lambda: md.IPSO("pay", given="debt", variant="D")), ("variant",)),  # type: ignore[arg-type]
    "a regression on too few records": (
        changed(lambda frame: frame.head(3), md.IPSO("pay", given=["debt", "age", "w"])),
        ("complete records",),
    ),
    "a given column of categories": (masked(md.IPSO("pay", given="sex")), ("'sex' is unordered",)),
    "lognormal below zero": (
        changed(put("pay", 0, -5.0), md.Bootstrap("pay", marginal="lognormal")),
        ("'pay'", "0 or less"),
    ),
    "a share of one": (made(lambda: md.HybridMasking("pay", share=1.0)), ("share must be below 1",)),
    "rate and rows": (made(lambda: md.BlankAndImpute("pay", rate=0.1, rows=[1])), ("either rate or rows",)),
    "a row beyond the last": (masked(md.BlankAndImpute("debt", rows=[99])), ("no row 99", "40")),
    "rows from zero": (made(lambda: md.BlankAndImpute("pay", rows=[0])), ("counted from 1",)),
    "a mean of text": (masked(md.BlankAndImpute("sex", rate=0.2)), ("'sex' is unordered", "mode")),
    "margins of other columns": (
        made(lambda: md.SequentialTrees(["pay"], margins=[["sex"]])),
        ("'sex'", "not among the columns"),
    ),
    "margins of numbers": (masked(md.SequentialTrees(["pay"], margins=[["pay"]])), ("'pay' is continuous",)),
    "margins as words": (made(lambda: md.MaximumEntropy(["sex"], margins=["sex"])), ("list of lists",)),  # type: ignore[list-item]
    "too many cells": (
        masked(md.MaximumEntropy(["id", "region", "size", "sex", "age", "hid"], bins=2000)),
        ("cells|categories|combinations",),
    ),
    "a threshold of one": (made(lambda: md.SMIKe("sex", threshold=1)), ("threshold must be at least 2",)),
    "no population": (made(lambda: md.MultipleImputation("pay", background="sex")), ("population is missing",)),
    "a population without the background": (
        masked(md.MultipleImputation("pay", "sex", population=pd.DataFrame({"sx": ["f"]}))),
        ("no column 'sex'",),
    ),
    "more than the population": (
        masked(md.MultipleImputation("debt", "sex", population=pd.DataFrame({"sex": ["f", "m"]}), n=9)),
        ("9 records cannot be drawn", "2"),
    ),
    "a replicate column in the way": (
        changed(lambda frame: frame.assign(replicate=1), md.PartiallySynthetic("debt", replicates=2)),
        ("'replicate'", "rename"),
    ),
    "leaves of nothing": (made(lambda: md.PartiallySynthetic("pay", leaf=0)), ("leaf must be at least 1",)),
    "one estimate": (made(lambda: md.combine_partially_synthetic([1.0], [1.0])), ("at least two files",)),
}

UNSAFE: dict[str, tuple[Call, tuple[str, ...]]] = {
    "keys as one word": (lambda frame: md.unsafe_combinations(frame, keys="sex"), ("keys=['sex']",)),
    "no keys": (lambda frame: md.unsafe_combinations(frame), ("at least one key",)),
    "a key twice": (lambda frame: md.unsafe_combinations(frame, keys=["sex", "sex"]), ("none twice",)),
    "a key that is not there": (lambda frame: md.unsafe_combinations(frame, keys=["sx"]), ("did you mean 'sex'",)),
    "keys that are numbers": (
        lambda frame: md.unsafe_combinations(frame, keys=[1, 2]),  # type: ignore[list-item]
        ("no column '1'|names of columns|list of (columns|names)",),
    ),
    "sizes from zero": (lambda frame: md.unsafe_combinations(frame, keys=["sex"], up_to=0), ("up_to must be",)),
    "a threshold of zero": (
        lambda frame: md.unsafe_combinations(frame, keys=["sex"], threshold=0),
        ("threshold",),
    ),
    "a threshold as text": (
        lambda frame: md.unsafe_combinations(frame, keys=["sex"], threshold="3"),  # type: ignore[arg-type]
        ("threshold",),
    ),
    "lists in a key": (
        lambda frame: md.unsafe_combinations(put("sex", 0, ["f"])(frame), keys=["sex"]),
        ("'sex'", "list"),
    ),
    "a listing of no key": (
        lambda frame: md.unsafe_combinations(frame, keys=["sex"]).listing("age"),
        ("'age' is none of the keys",),
    ),
    "regional indicators of no area": (
        lambda frame: md.regional_indicators(frame, area="zip", indicators=["size"], population={}, least=3),
        ("zip",),
    ),
}

CALLS = {
    f"{part}: {name}": case
    for part, cases in {
        "schema": SCHEMAS, "frame": FRAMES, "chain": CHAINS, "non-perturbative": NON_PERTURBATIVE,
        "perturbative": PERTURBATIVE, "synthetic": SYNTHETIC, "unsafe": UNSAFE,
    }.items()
    for name, case in cases.items()
}  # fmt: skip
