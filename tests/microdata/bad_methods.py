"""Kinds of bad parameters of methods: what is called, and the words that the error must hold."""

from __future__ import annotations

import pandas as pd

import tabprotect.microdata as md
from tests.microdata.people import SIZES, TREE, Call, changed, made, masked, put

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
