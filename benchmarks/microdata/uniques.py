"""Estimated risk of a sample beside true frequencies: ``python -m benchmarks.microdata.uniques SAMPLE POPULATION``.

The files are the samples eusilcS and the population eusilcP that the R package simPop publishes, as CSV. Estimates come
from the sample and its weights alone; the truth is counted in the population.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

import tabprotect.microdata as md
from tabprotect.microdata.risk.base import Measure

KEYS = {"db040": "region", "hsize": "hsize", "age": "age", "rb090": "gender", "pb220a": "citizenship"}
"""Names of the keys in the sample and in the population."""

MODELS: Mapping[str, Callable[..., Measure]] = {
    "poisson-gamma": md.risk.poisson_gamma_uniques,
    "dirichlet-multinomial": md.risk.dirichlet_multinomial_uniques,
    "Pitman": md.risk.pitman_uniques,
    "Zayatz": md.risk.zayatz_uniques,
}


def read(sample: Path, population: Path, seed: int = 1) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """Return samples with weights w and the population: eusilcS, and a simple random sample of eusilcP of its size.

    Records without citizenship (children) are left out. The weights of eusilcS sum to more people than eusilcP has:
    they are scaled to its size.
    """
    mine = pd.read_csv(sample)[[*KEYS, "rb050"]].rename(columns=KEYS).dropna()
    everybody = pd.read_csv(population)[list(KEYS.values())].dropna().reset_index(drop=True)
    mine["w"] = mine["rb050"] * len(everybody) / mine["rb050"].sum()
    drawn = everybody.sample(len(mine), random_state=seed).assign(w=len(everybody) / len(mine))
    return {"eusilcS": (mine, everybody), "drawn from eusilcP": (drawn, everybody)}


def compare(sample: pd.DataFrame, population: pd.DataFrame) -> pd.DataFrame:
    """Return a row for every estimate: what is estimated, how, the estimate, the truth and their ratio."""
    schema = md.Schema(keys=list(KEYS.values()), weight="w")
    true = md.risk.population_uniqueness(sample, schema=schema, population=population)
    assert true.records is not None
    # whose keys nobody in the population has, nobody finds there
    found_there = true.records > 0
    rows = [("Pr(PU | SU)", name, model(sample, schema=schema).value, true.value) for name, model in MODELS.items()]
    risk = md.risk.individual_risk(sample, schema=schema)
    assert risk.records is not None
    rows.append(
        (
            "re-identifications",
            "individual risk",
            float(risk.records[found_there].sum()),
            float((1 / true.records[found_there]).sum()),
        )
    )
    found = pd.DataFrame(rows, columns=["measure", "model", "estimate", "truth"])
    return found.assign(ratio=found["estimate"] / found["truth"], nowhere=int((~found_there).sum()))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sample", type=Path)
    parser.add_argument("population", type=Path)
    given = parser.parse_args()
    for name, (sample, population) in read(given.sample, given.population).items():
        found = compare(sample, population)
        print(
            f"{name}: {len(sample):,} of {len(population):,}, {found.pop('nowhere').iloc[0]:,} with keys that none has"
        )
        print(found.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
