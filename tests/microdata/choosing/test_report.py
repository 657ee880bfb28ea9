"""The disclosure report: what stands in it, that hostile labels are inert, and the command."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tabprotect.microdata as md
from tabprotect.cli.app import run
from tabprotect.microdata.risk import transparency

TAGS = {
    *("html", "head", "meta", "title", "style", "body", "div", "main", "h1", "h2", "h3", "p", "pre", "footer"),
    *("table", "tr", "th", "td", "ol", "ul", "li", "b", "svg", "text", "rect"),
}
SCHEMA = md.Schema(keys=["age", "sex"], confidential=["income"])


def people(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    return pd.DataFrame(
        {"age": rng.integers(18, 80, n), "sex": rng.choice(["f", "m"], n), "income": rng.lognormal(9, 0.5, n)}
    )


class Page(HTMLParser):
    """Elements and attributes of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_what_an_intruder_learns_is_that_of_the_attack() -> None:
    masked = md.mask(people(), SCHEMA, [md.RankSwapping("income", p=10), md.PRAM("sex")], seed=1)
    page = Page(md.choosing.disclosure_report(masked))
    known = transparency(masked.original, masked, SCHEMA)
    assert "never publish this page" in page.text
    assert f"links {100 * known.value:.2f} % of the records correctly" in page.text
    assert f"without the methods, {100 * known.plain_value:.2f} %" in page.text
    assert "RankWindow(percent=10)" in page.text
    assert "step 2 (pram) on sex: no attack is known here" in page.text
    for heading in ("Schema", "Methods", "Claims", "Risk", "Most exposed records", "Utility"):
        assert heading in page.text
    for measure in ("global disclosure risk", "individual risk", "distance linkage", "propensity score"):
        assert measure in page.text


@pytest.mark.slow
def test_an_attack_that_was_not_made_is_named() -> None:
    masked = md.mask(people(200_001), SCHEMA, md.RankSwapping("income", p=10), seed=1)
    page = Page(md.choosing.disclosure_report(masked)).text
    assert "not measured: linkage with knowledge of the method: not measured along with linkage beyond 200,000" in page
    assert "Not measured; see above." in page


def test_an_attack_that_was_made_before_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    masked = md.mask(people(), SCHEMA, md.RankSwapping("income", p=10), seed=1)
    attack = transparency(masked.original, masked, SCHEMA)
    monkeypatch.setattr(md.risk, "transparency", lambda *_: pytest.fail("the attack was made again"))
    given = Page(md.choosing.disclosure_report(masked, risks=[attack])).text
    assert f"links {100 * attack.value:.2f} % of the records correctly" in given
    assert "not measured: linkage" not in given


def test_hostile_labels_are_inert() -> None:
    evil = "<script>alert(1)</script>"
    quote = '"\' onload="alert(2)\x1b[2J\u202e'
    frame = people().rename(columns={"age": evil, "income": quote})
    frame["sex"] = np.where(frame["sex"] == "f", "</svg><img src=x onerror=alert(3)>", "{{ 7 * 7 }}\x00&lt;")
    schema = md.Schema(keys=[evil, "sex"], confidential=[quote])
    masked = md.mask(frame, schema, [md.Noise(quote, alpha=0.1), md.RankSwapping(evil, p=5)], seed=1)
    masked = replace(masked, title="</title><script>alert(4)</script>")
    text = md.choosing.disclosure_report(masked)
    page = Page(text)
    assert page.tags <= TAGS
    assert not [name for name in page.attributes if name.startswith("on") or name in ("src", "href")]
    # what was given stands there as text
    assert evil in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)


def test_exposed_records_are_those_released() -> None:
    frame = people(60)
    frame.loc[7, "age"] = 99
    masked = md.mask(frame, SCHEMA, md.Microaggregation("income", k=3, method="individual"))
    order = np.arange(60)[::-1].copy()
    turned = replace(masked, records=masked.records.take(order), links=order)
    page = md.choosing.disclosure_report(turned, most=60)
    row = next(line for line in page.split("<tr>") if "<td>99</td>" in line)
    assert '<td class="n">53</td><td class="n">8</td>' in row
    attack = transparency(turned.original, turned, SCHEMA, columns=["income"])
    assert attack.records is not None


def test_a_synthetic_file_says_what_is_not_measured() -> None:
    masked = md.mask(people(), SCHEMA, md.SequentialTrees(["age", "sex", "income"]), seed=1)
    text = Page(md.choosing.disclosure_report(masked)).text
    assert "not measured: distance linkage: no released record comes from an original one" in text
    with pytest.raises(md.InputError, match="Masked"):
        md.choosing.disclosure_report(people())


SPEC = """
data = "people.csv"
seed = 4
[schema]
keys = ["age", "sex"]
confidential = ["income"]
[[steps]]
method = "rank-swapping"
columns = "income"
p = 10
"""


def test_the_command_writes_the_report_of_a_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    spec, page = tmp_path / "s.toml", tmp_path / "report.html"
    spec.write_text(SPEC)
    release = tmp_path / "release"
    assert run(["mask", str(spec), "--out", str(release), "--seed", "9"]) == 0
    measures = '[[measures]]\nmeasure = "transparency"\n[[measures]]\nmeasure = "rank-linkage"\n'
    spec.write_text(SPEC + measures)
    assert run(["risk", str(spec), "--release", str(release), "--report", str(page)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "pinned to one candidate" in out
    assert "may not be published" in out
    text = Page(page.read_text()).text
    assert "rank linkage" in text
    assert "What an intruder with the parameters learns" in text
    # other data, another seed or other steps made another file
    spec.write_text(SPEC.replace("p = 10", "p = 20"))
    assert run(["risk", str(spec), "--release", str(release), "--report", str(tmp_path / "other.html")]) == 2
    assert "holds other records" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "other.html").exists()


@pytest.mark.parametrize(
    ("text", "arguments", "part"),
    [
        (SPEC.replace("seed = 4\n", ""), ["--report", "r.html"], "may draw at random: give the seed of the release"),
        (SPEC.partition("[[steps]]")[0], ["--report", "r.html"], "a disclosure report is about methods"),
        (SPEC, [], "'measures' are missing"),
        ('masked = "people.csv"\n' + SPEC, ["--report", "r.html"], "not both"),
        (
            SPEC.partition("[[steps]]")[0].replace("data", 'masked = "people.csv"\ndata')
            + '[[measures]]\nmeasure = "transparency"\n',
            [],
            "transparency is about methods",
        ),
        (SPEC + '[[measures]]\nmeasure = "suda"\n', ["--release", "nowhere"], "nowhere"),
        (SPEC.partition("[[steps]]")[0] + '[[measures]]\nmeasure = "suda"\n', ["--release", "x"], "goes with"),
    ],
)
def test_bad_specifications(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    text: str, arguments: list[str], part: str,
) -> None:  # fmt: skip
    people(30).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "s.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert run(["risk", "s.toml", *arguments]) == 2
    assert part in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "r.html").exists()


def test_decimal_commas_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.csv").write_text("age;income\n20;1,5\n30;2,5\n40;9,5\n")
    (tmp_path / "s.toml").write_text(
        'data = "p.csv"\nmasked = "p.csv"\ndecimal = ","\n'
        '[[measures]]\nmeasure = "distance-linkage"\ncolumns = ["income"]\n'
    )
    assert run(["risk", str(tmp_path / "s.toml")]) == 0
    assert "distance linkage: 1" in capsys.readouterr().out
