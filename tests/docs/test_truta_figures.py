"""Figures and numbers of the experiments of Truta et al. in the guide are those of the stored results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.microdata.truta_experiments import measured
from benchmarks.microdata.truta_figures import FIGURES, RESULTS, draw, read

PAGE = Path(__file__).resolve().parents[2] / "docs" / "microdata" / "global-risk.md"
SIZES = ("1000", "5000", "25000")
WORDS = {
    r"none": ("noise on age", "0"),
    r"noise on age, c = ([\d.]+)": ("noise on age", None),
    r"sex reversed for (\d+) %": ("sex reversed", None),
    r"zip codes of fewer than (\d+) records shortened": ("zip recoded", None),
    r"all zip codes shortened": ("zip recoded", "100000"),
}


def stored() -> dict[tuple[str, str, str], dict[str, str]]:
    return {(row["records"], row["experiment"], row["level"]): row for row in read(RESULTS)}


def most(n: str, experiment: str) -> list[tuple[str, float]]:
    return [
        (level, float(row["DR_max"]))
        for (size, name, level), row in stored().items()
        if (size, name) == (n, experiment)
    ]


@pytest.mark.parametrize("experiment", FIGURES)
def test_figures_are_drawn_from_the_stored_results(experiment: str) -> None:
    name = FIGURES[experiment][0]
    assert (PAGE.parent / name).read_text(encoding="utf-8") == draw(read(RESULTS), experiment)
    assert f"({name})" in PAGE.read_text(encoding="utf-8")


def test_the_table_has_the_stored_numbers() -> None:
    found, rows = stored(), 0
    text = PAGE.read_text(encoding="utf-8").partition("| masking |")[2].partition("###")[0]
    for line in text.splitlines()[2:]:
        words, *numbers = (cell.strip() for cell in line.strip("|").split("|"))
        for pattern, (experiment, level) in WORDS.items():
            match = re.fullmatch(pattern, words)
            if match:
                wanted = [found[n, experiment, level or match[1]]["DR_max"] for n in SIZES]
                assert numbers == wanted, words
                rows += 1
    assert rows == len([line for line in text.splitlines()[2:] if line.startswith("|")]) == 11


def test_what_is_stored_is_what_comes_out() -> None:
    found = stored()
    for row in measured(1000):
        assert found["1000", row["experiment"], str(row["level"])] == {key: str(value) for key, value in row.items()}


def test_the_sentences_hold() -> None:
    found = stored()
    for n in SIZES:
        noise = [value for _, value in most(n, "noise on age")]
        assert noise == sorted(noise, reverse=True)
        factors = [float(found[n, "noise on age", c]["icf"]) for c in ("4", "16", "64")]
        assert min(factors) > 0.61
        assert max(factors) < 0.68
        zips = [value for _, value in most(n, "zip recoded")]
        assert zips == sorted(zips, reverse=True)
        assert zips[-1] < min(value for _, value in most(n, "sex reversed"))
    assert found["1000", "noise on age", "64"]["keys"] == "sex+zip"
    for n, start in (("1000", "10"), ("5000", "20"), ("25000", "30")):
        rows = {level: found[n, "sex reversed", level] for level, _ in most(n, "sex reversed")}
        levels = list(rows)
        late = [rows[level] for level in levels[levels.index(start) :]]
        assert {row["keys"] for row in late} == {"age+zip"}
        assert len({row["DR_max"] for row in late}) == 1
        assert rows[levels[levels.index(start) - 1]]["keys"] == "age+sex+zip"
    for n, last in (("1000", "1"), ("5000", "4"), ("25000", "16")):
        by_level, recoded = dict(most(n, "noise on age")), most(n, "zip recoded")[-1][1]
        order = list(by_level)
        assert by_level[last] > recoded
        assert by_level[order[order.index(last) + 1]] < recoded
