"""Draw the plots of the pages on microdata: ``python docs/microdata/plots.py`` writes ``docs/microdata/plots/*.png``.

A figure for every section with methods: the records before, and after each of the methods, from the same small file
of random records with the same seed. Needs the extra ``plot``.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from PIL import Image

import tabprotect as tp
import tabprotect.microdata as md

mpl.use("agg")
from matplotlib import pyplot as plt

OUT = Path(__file__).parent / "plots"
SEED = 1
STYLE = {
    "font.family": "DejaVu Sans", "font.size": 8, "axes.titlesize": 8, "savefig.dpi": 110,
    "axes.spines.top": False, "axes.spines.right": False, "lines.markersize": 3,
}  # fmt: skip
BEFORE, AFTER = "#7a828e", "#3450a4"
TREE = tp.Hierarchy((("all", ("north", "south")), ("north", ("n1", "n2")), ("south", ("s1", "s2"))))
Panel = tuple[str, Any]
Draw = Callable[[Any, pd.DataFrame, str], None]


def people(n: int = 60) -> pd.DataFrame:
    """Random records."""
    rng = np.random.default_rng(20)
    wage = rng.lognormal(3, 0.45, n).round(1)
    return pd.DataFrame(
        {
            "wage": wage,
            "rent": (0.25 * wage + rng.lognormal(1, 0.4, n)).round(1),
            "age": rng.integers(18, 80, n),
            "region": rng.choice(TREE.leaves, n, p=[0.4, 0.3, 0.2, 0.1]),
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(["clerk", "cook", "driver"], n, p=[0.5, 0.3, 0.2]),
            "w": rng.integers(5, 40, n).astype(float),
            "hid": np.repeat(rng.permutation(n // 2), 2),
        }
    )


def scatter(x: str, y: str, size: str | None = None) -> Draw:
    """Draw two columns of numbers."""

    def draw(axes: Any, frame: pd.DataFrame, colour: str) -> None:
        areas = 9.0 if size is None or size not in frame else 0.9 * frame[size]
        axes.scatter(frame[x], frame[y], s=areas, color=colour, linewidths=0)
        axes.set_xlabel(x)
        axes.set_ylabel(y)

    return draw


def counts(*names: str) -> Draw:
    """Draw how many records have each value, or combination of values."""

    def draw(axes: Any, frame: pd.DataFrame, colour: str) -> None:
        words = frame[list(names)].astype(object).where(frame[list(names)].notna(), "?").astype(str)
        found = words.agg(" ".join, axis=1).value_counts().sort_index()
        axes.barh(range(len(found)), found.to_numpy(), color=colour)
        axes.set_yticks(range(len(found)), list(found.index))
        axes.set_xlabel("records")

    return draw


def cells(names: Sequence[str], rows: int = 14) -> Draw:
    """Draw which values of the first records are there."""

    def draw(axes: Any, frame: pd.DataFrame, colour: str) -> None:
        there = frame[list(names)].head(rows).notna().to_numpy()
        row, column = np.nonzero(there)
        axes.scatter(column, row, s=20, marker="s", color=colour, linewidths=0)
        row, column = np.nonzero(~there)
        axes.scatter(column, row, s=16, marker="x", color="#b3261e", linewidths=0.8)
        axes.set_xticks(range(len(names)), list(names))
        axes.set_xlim(-0.7, len(names) - 0.3)
        axes.set_ylabel("record")

    return draw


def after(frame: pd.DataFrame, step: md.Method, schema: md.Schema | None = None) -> pd.DataFrame:
    """Mask."""
    found: pd.DataFrame = md.mask(frame, schema, step, seed=SEED).frame
    return found


def figure(draw: Draw, frame: pd.DataFrame, panels: Sequence[Panel], across: int = 4, share: bool = False) -> Any:
    """Return a figure: the records before, then after each method."""
    shown = [("before", frame), *panels]
    down = -(-len(shown) // across)
    wide = min(across, len(shown))
    made, axes = plt.subplots(
        down, wide, figsize=(1.9 * wide, 1.75 * down), squeeze=False, sharex=share, sharey=share, layout="constrained"
    )
    for place, (title, records) in zip(axes.flat, shown, strict=False):
        draw(place, records, BEFORE if title == "before" else AFTER)
        place.set_title(title)
    for place in axes.flat[len(shown) :]:
        place.set_visible(False)
    return made


def numbers(*steps: tuple[str, md.Method], **words: Any) -> Any:
    """Return a figure of wage and rent."""
    frame = people()
    panels = [(title, after(frame, step)) for title, step in steps]
    return figure(scatter("wage", "rent"), frame, panels, share=True, **words)


BOTH = ("wage", "rent")


def _recoding() -> Any:
    frame = people()[["age"]]
    steps: list[tuple[str, md.Method]] = [
        ("global recoding", md.GlobalRecoding("age", width=20, origin=0)),
        ("top coding", md.TopCoding("age", threshold=65)),
        ("bottom coding", md.BottomCoding("age", threshold=30)),
    ]

    def draw(axes: Any, records: pd.DataFrame, colour: str) -> None:
        axes.scatter(frame["age"], records["age"].astype(object), s=9, color=colour, linewidths=0)
        axes.set_xlabel("age before")

    return figure(draw, frame, [(title, after(frame, step)) for title, step in steps])


def _generalisation() -> Any:
    frame = people()[["region", "sex"]]
    schema = md.Schema(keys=["region", "sex"], hierarchies={"region": TREE})
    steps = [("generalisation, k=5", md.Generalisation(k=5)), ("Mondrian, k=5", md.Mondrian(k=5))]
    return figure(counts("region", "sex"), frame, [(title, after(frame, step, schema)) for title, step in steps])


def _suppression() -> Any:
    frame = people()
    keys = ["region", "sex", "job"]
    schema = md.Schema(keys=keys)
    return figure(cells(keys), frame, [("local suppression, k=5", after(frame, md.LocalSuppression(k=5), schema))])


def _sampling() -> Any:
    frame = people()
    schema = md.Schema(weight="w", strata=["sex"])
    steps = [
        ("simple", md.Sampling(share=0.4)),
        ("systematic", md.Sampling(share=0.4, design="systematic")),
    ]
    panels = [(title, after(frame, step, schema)) for title, step in steps]
    return figure(scatter("wage", "rent", "w"), frame, panels, share=True)


def _companions() -> Any:
    frame = people()
    schema = md.Schema(weight="w", household="hid")

    def draw(name: str) -> Draw:
        def one(axes: Any, records: pd.DataFrame, colour: str) -> None:
            axes.scatter(frame[name], records[name], s=9, color=colour, linewidths=0)
            axes.set_xlabel(f"{name} before")
            axes.set_ylabel(name)

        return one

    made, axes = plt.subplots(1, 4, figsize=(7.6, 1.75), layout="constrained")
    shown = [
        ("w", "weights before", frame), ("w", "weight noise", after(frame, md.WeightNoise(share=0.3), schema)),
        ("hid", "households before", frame), ("hid", "household numbers", after(frame, md.HouseholdNumbers(), schema)),
    ]  # fmt: skip
    for place, (name, title, records) in zip(axes, shown, strict=True):
        draw(name)(place, records, BEFORE if "before" in title else AFTER)
        place.set_title(title)
    return made


def _noise() -> Any:
    kinds = ("uncorrelated", "correlated", "linear", "romm")
    steps: list[tuple[str, md.Method]] = [(kind, md.Noise(BOTH, kind=kind, alpha=0.3)) for kind in kinds]
    return numbers(*steps, ("multiplicative", md.Noise(BOTH, kind="multiplicative", least=0.1, most=0.3)), across=3)


def _pram() -> Any:
    frame = people()
    steps = [
        ("invariant", md.PRAM("job", floor=0.6)),
        ("optimal", md.PRAM("job", kind="optimal", floor=0.3, ceiling=0.7)),
        ("given", md.PRAM("job", kind="given", matrix=[[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])),
    ]

    def draw(axes: Any, records: pd.DataFrame, colour: str) -> None:
        found = pd.crosstab(frame["job"], records["job"])
        y, x = np.indices(found.shape)
        axes.scatter(x, y, s=8 * found.to_numpy(), color=colour, linewidths=0)
        axes.set_xticks(range(3), list(found.columns))
        axes.set_yticks(range(3), list(found.index))
        axes.set_xlabel("after")
        axes.set_ylabel("before")
        axes.margins(0.3)

    return figure(draw, frame, [(title, after(frame, step)) for title, step in steps])


def _record_swapping() -> Any:
    frame = people().sort_values("region", ignore_index=True)
    frame["age"] = frame["age"] // 5 * 5
    step = md.RecordSwapping("region", risk="age", similar=[["sex"]], k=2)

    def draw(axes: Any, records: pd.DataFrame, colour: str) -> None:
        moved = (records["region"] != frame["region"]).to_numpy()
        axes.scatter(records["age"][~moved], records["region"][~moved], s=9, color=colour, linewidths=0)
        axes.scatter(records["age"][moved], records["region"][moved], s=9, color="#b3261e", linewidths=0)
        axes.set_xlabel("age")

    return figure(draw, frame, [("record swapping", after(frame, step))])


def _massc() -> Any:
    frame = people(200)
    step = md.MASSC(core=["region", "sex"], noncore="job", outcomes="wage", bias=0.1, variance=0.1)
    return figure(scatter("wage", "rent"), frame, [("MASSC", after(frame, step))], share=True)


def _random_response() -> Any:
    frame = people()
    step = md.RandomResponse("sex", truth=0.7)
    return figure(counts("sex"), frame, [("random response", after(frame, step))], share=True)


def _microaggregation() -> Any:
    names = ("mdav", "v-mdav", "individual", "individual-optimal", "single-axis", "mhm", "ward", "genetic", "exact")
    steps: list[tuple[str, md.Method]] = [
        (name, md.Microaggregation(BOTH, k=4, method=name, seconds=None)) for name in names if name != "exact"
    ]
    steps.append(("mhm, improved", md.Microaggregation(BOTH, k=4, method="mhm", improve=True)))
    steps.append(("given, by job", md.Microaggregation(BOTH, k=4, method="given", by="job")))
    small = people()
    panels = [(title, after(small, step)) for title, step in steps]
    panels.append(("exact (24 records)", after(small.head(24), md.Microaggregation(BOTH, k=4, method="exact"))))
    return figure(scatter("wage", "rent"), small, panels, share=True)


def _exact() -> Any:
    steps: list[tuple[str, md.Method]] = [("Cholesky", md.Cholesky(BOTH))]
    steps += [(f"IPSO {variant}", md.IPSO("rent", given="wage", variant=variant)) for variant in ("A", "B", "C")]
    return numbers(*steps, across=5)


def _entropy() -> Any:
    frame = people()[["sex", "job"]]
    step = md.MaximumEntropy(["sex", "job"], margins=[["sex"], ["job"]])
    return figure(counts("sex", "job"), frame, [("maximum entropy", after(frame, step))], share=True)


def _replicates() -> Any:
    frame = people()
    partly = after(frame, md.PartiallySynthetic("rent", replicates=1))
    rng = np.random.default_rng(21)
    everybody = pd.DataFrame({"wage": rng.lognormal(3, 0.45, 300).round(1)})
    fully = after(frame, md.MultipleImputation("rent", background="wage", population=everybody, replicates=1))
    panels = [("partially synthetic", partly), ("multiple imputation", fully)]
    return figure(scatter("wage", "rent"), frame, panels, share=True)


def _smike() -> Any:
    frame = people()
    step = md.SMIKe(["region", "sex"], near="age", threshold=6, mixing=8, rate=0.8)
    return figure(counts("region", "sex"), frame[["region", "sex"]], [("SMIKe", after(frame, step))], share=True)


FIGURES: dict[str, Callable[[], Any]] = {
    "recoding": _recoding,
    "generalisation": _generalisation,
    "suppression": _suppression,
    "sampling": _sampling,
    "companions": _companions,
    "noise": _noise,
    "pram": _pram,
    "swapping": lambda: numbers(("swapping", md.Swapping("rent", match="job", rate=0.5))),
    "record-swapping": _record_swapping,
    "rank-swapping": lambda: numbers(
        ("by rank", md.RankSwapping(BOTH, p=15)),
        ("by range", md.RankSwapping(BOTH, p=15, by="range")),
        ("p-distribution", md.RankSwapping(BOTH, p=15, by="p-distribution")),
    ),
    "resampling": lambda: numbers(
        ("resampling", md.Resampling(BOTH, samples=3)),
        ("rounding", md.Rounding(BOTH, base=5)),
        ("random rounding", md.Rounding(BOTH, base=5, direction="random")),
        ("lossy compression", md.LossyCompression(BOTH, quality=20, sort="wage")),
        across=5,
    ),
    "massc": _massc,
    "random-response": _random_response,
    "microaggregation": _microaggregation,
    "fuzzy": lambda: numbers(
        ("fuzzy, m1=1.2, m2=1.5", md.FuzzyMicroaggregation(BOTH, k=4, m1=1.2, m2=1.5)),
        ("fuzzy, m1=m2=2", md.FuzzyMicroaggregation(BOTH, k=4)),
    ),
    "exact": _exact,
    "numbers": lambda: numbers(
        ("bootstrap", md.Bootstrap(BOTH)), ("Latin hypercube", md.LatinHypercube(BOTH)),
        ("hybrid masking", md.HybridMasking(BOTH, share=0.5)),
    ),
    "entropy": _entropy,
    "trees": lambda: numbers(("sequential trees", md.SequentialTrees(BOTH)),
                             ("smoothed", md.SequentialTrees(BOTH, smooth=True))),
    "replicates": _replicates,
    "blank-and-impute": lambda: numbers(
        ("means by job", md.BlankAndImpute("rent", by={"rent": "job"}, rate=0.3)),
        ("drawn", md.BlankAndImpute("rent", rate=0.3, how="draw")),
    ),
    "smike": _smike,
}  # fmt: skip


def draw(name: str, folder: Path) -> Path:
    """Draw one figure; the same file every time."""
    with mpl.rc_context(STYLE):
        made = FIGURES[name]()
        picture = io.BytesIO()
        made.savefig(picture, format="png")
        plt.close(made)
    path = folder / f"{name}.png"
    # a few colours make small files, and without metadata they are the same every time
    Image.open(picture).convert("RGB").quantize(24, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    for one in sys.argv[1:] or FIGURES:
        print(f"wrote {draw(one, OUT)}")
