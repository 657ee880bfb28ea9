"""Kinds of bad input to the library: what is called with a good frame, and the words that the error must hold."""

from __future__ import annotations

import numpy as np
import pandas as pd

import tabprotect.microdata as md
from tests.microdata.bad_methods import NON_PERTURBATIVE, PERTURBATIVE, SYNTHETIC
from tests.microdata.people import SIZES, SUPPRESS, TOP, TREE, Call, changed, made, masked, put

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
