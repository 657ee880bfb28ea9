"""What results look like in a session and in a notebook: short, and nothing that is confidential."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
import tabprotect.microdata as md
from tabprotect.report.axes import Axis
from tabprotect.report.folded import MOST_COLUMNS, MOST_ROWS, Node, folded
from tabprotect.report.views import MOST_PARTS
from tabprotect.views import view

EVIL = "<script>alert(1)</script>&\"'"
SECRET = 987.0
"""The value of the only sensitive cell."""


def firms() -> pd.DataFrame:
    """Region N, size b has one respondent, Acme, with the secret value; all others have four each of 1000 to 1003."""
    rows = [
        {"region": r, "size": s, "turnover": 1000.0 + i, "who": f"{r}{s}{i}"}
        for r in "NOW"
        for s in "abc"
        for i in range(4)
        if (r, s) != ("N", "b")
    ]
    return pd.DataFrame([*rows, {"region": "N", "size": "b", "turnover": SECRET, "who": "Acme"}])


REGIONS = tp.Hierarchy((("Total", ("NO", "W")), ("NO", ("N", "O"))))


@pytest.fixture(scope="module")
def table() -> tp.Table:
    by = [tp.Dimension("region", REGIONS), "size"]
    return tp.tabulate(firms(), by, "turnover", contributor="who")


@pytest.fixture(scope="module")
def release(table: tp.Table) -> Any:
    return tp.protect(table, "p%=10")


class Reader(HTMLParser):
    """Checks that elements nest, and keeps text, tags and depth of folding."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.depth_of: dict[str, int] = {}
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip() and "style" not in self.open:
            self.words.append(data.strip())
            self.depth_of.setdefault(data.strip(), self.open.count("details"))

    @property
    def text(self) -> str:
        return " ".join(self.words)


def internal(table: tp.Table, release: Any) -> dict[str, Any]:
    return {
        "problem": release.problem,
        "assessment": release.assessment,
        "pattern": release.result,
        "audit": release.audit(),
    }


def reachable(thing: Any, seen: dict[int, Any], depth: int = 5) -> dict[int, Any]:
    """The thing and all results that it holds."""
    if id(thing) not in seen and depth:
        if isinstance(thing, tuple | list):
            for one in thing[:3]:
                reachable(one, seen, depth)
        elif type(thing).__module__.startswith("tabprotect"):
            seen[id(thing)] = thing
            for one in getattr(thing, "__dict__", {}).values():
                reachable(one, seen, depth - 1)
    return seen


SHORT = {
    "Table", "Problem", "Assessment", "Release", "ChangedRelease", "Audit", "SuppressionResult", "LinearSystem",
    "Changed", "Contributions", "Intervals", "Evidence", "PublicTable", "Verification", "Attacker", "Exposure",
}  # fmt: skip


@pytest.mark.parametrize("method", [tp.Suppress(), tp.Round(base=200), tp.Adjust()])
def test_reprs_are_a_line_without_values(table: tp.Table, method: Any) -> None:
    made = tp.protect(table, "p%=10", method, allow_unsafe=True)
    made.certificate, made.public, made.audit()
    found = [one for one in reachable([made, made.verify()], {}).values() if type(one).__name__ in SHORT]
    assert {"Table", "Problem", "Assessment", "LinearSystem", "Contributions", "Audit"} <= {
        type(one).__name__ for one in found
    }
    for one in found:
        text = repr(one)
        assert "\n" not in text
        assert len(text) < 200, text
        assert "Acme" not in text
        # neither the value nor its level nor a contribution
        assert not re.search(r"987|98\.7|\b1,?00[0-3]\b", text), text


def test_reprs_say_what_it_is(table: tp.Table, release: Any) -> None:
    assert repr(table) == "Table('turnover', magnitude: 20 cells, 13 equations, region (5 codes) x size (4 codes))"
    assert repr(table.system) == "LinearSystem(20 cells, 13 equations: region x size)"
    assert repr(table.contributions).startswith("Contributions(up to ")
    assert repr(release.problem) == "Problem(20 cells, 13 equations, 1 primary, 1 attacker who knows cells)"
    assert repr(release.assessment) == "Assessment(1 of 20 cells primary, by 1 rule)"
    hidden = int(release.pattern.sum())
    assert repr(release.audit()) == f"Audit(safe: {hidden} of 20 cells hidden)"
    assert repr(release.result).startswith(f"SuppressionResult(optimal, safe: {hidden} of 20 cells hidden, gap 0.00 %")


def test_an_audit_that_fails_says_so_but_not_by_how_much(release: Any) -> None:
    judged = tp.audit(release.problem, release.problem.status == tp.Status.PRIMARY)
    assert repr(judged) == "Audit(NOT SAFE: 1 of 20 cells hidden, 1 exposed)"
    text = Reader(view(judged)).text
    assert "P exposed" in text
    assert "1 recomputable" in text


def test_len_of_a_table_is_its_cells(table: tp.Table) -> None:
    assert len(table) == table.n_cells == 20


def test_a_release_explains_a_cell(release: Any) -> None:
    first, *why = release.explain("N x b").split("\n")
    assert first.endswith("987, hidden, primary")
    assert why == release.assessment.explain(("N", "b")).split("\n")[1:]
    assert "987" in release.explain("N x b")
    with pytest.raises(tp.InputError, match="there is no cell"):
        release.explain("N x z")


def test_the_view_of_a_table_folds_and_says_that_it_is_internal(table: tp.Table) -> None:
    page = Reader(table._repr_html_())
    assert "INTERNAL" in page.text
    assert "987" in page.words
    assert "Acme" not in page.text
    # the codes of the hierarchy fold into their parents
    assert [page.depth_of[code] for code in ("NO", "N", "O", "W")] == [2, 2, 2, 1]
    assert "script" not in page.tags


def test_views_of_problem_pattern_and_audit_show_no_values(table: tp.Table, release: Any) -> None:
    for name, thing in internal(table, release).items():
        page = Reader(thing._repr_html_())
        assert "INTERNAL" in page.text, name
        assert "P primary" in page.text, name
        assert page.words.count("P") == 1, name
        numbers = [word for word in page.words if re.fullmatch(r"[\d,.]+", word)]
        assert numbers == [], name
        assert "987" not in page.text, name
        assert "p%=10" not in page.text, name
    assert Reader(release.audit()._repr_html_()).words.count("S") == int((release.words == "secondary").sum()) > 0


def test_the_view_of_a_release_is_what_the_public_gets(table: tp.Table, release: Any) -> None:
    page = Reader(release._repr_html_())
    assert "INTERNAL" not in page.text
    assert page.words.count("×") == int(release.pattern.sum())
    hidden = {f"{value:,.0f}" for value in table.values[release.pattern]}
    shown = {f"{value:,.0f}" for value in table.values[~release.pattern]}
    words = set(page.words)
    assert shown <= words
    assert not (hidden - shown) & words
    # primary and secondary cells are told apart only where the public is told
    assert "tp-primary" not in re.sub(r"<style>.*</style>", "", release._repr_html_(), flags=re.DOTALL)
    apart = tp.protect(table, "p%=10", separate_statuses=True)
    body = re.sub(r"<style>.*</style>", "", apart._repr_html_(), flags=re.DOTALL)
    assert "tp-primary" in body
    assert "tp-secondary" in body


def test_the_view_of_an_unsafe_release_shows_no_cell(table: tp.Table) -> None:
    made = tp.protect(table, ["p%=10"], tp.Suppress(), limits=tp.Limits(work=1))
    unsafe = type(made)(made.table, made.problem, made.result, tp.audit(made.problem, []), made.assessment)
    page = Reader(unsafe._repr_html_())
    assert "NOT SAFE" in page.text
    assert not any(word.replace(",", "").isdigit() for word in page.words)


def test_views_of_changed_values_show_what_is_published(table: tp.Table) -> None:
    made = tp.protect(table, "p%=10", tp.Round(base=200), allow_unsafe=True)
    words = set(Reader(made._repr_html_()).words)
    assert {f"{value:,.0f}" for value in made.values} <= words
    assert "987" not in words


def test_everything_is_escaped() -> None:
    frame = pd.DataFrame({EVIL: [EVIL, EVIL, "b"], "value": [1.0, 2.0, 3.0]})
    table = tp.tabulate(frame, [EVIL], "value")
    made = tp.protect(table, "threshold=1", title=EVIL)
    for thing in (table, made, made.problem, made.assessment, made.result, made.audit()):
        text = thing._repr_html_()
        assert "<script" not in text
        assert "&lt;script" in text
        Reader(text)
    masked = md.mask(frame, md.Schema(keys=[EVIL]), [md.PRAM(EVIL)], seed=1)
    assert "<script" not in masked._repr_html_()
    assert "&lt;script" in masked._repr_html_()


def test_every_result_has_a_view() -> None:
    """What a notebook may end a cell with."""
    frame = pd.DataFrame({"region": list("nnsse"), "size": list("abaab"), "value": [1.0, 2.0, 3.0, 4.0, 5.0]})
    release = tp.protect(frame, "threshold=2", by=["region", "size"], value="value")
    rounded = tp.protect(
        frame, "threshold=2", tp.Round(base=2), by=["region", "size"], value="value", allow_unsafe=True
    )
    schema = md.Schema(keys=["region"])
    masked = [md.mask(frame, schema, [md.TopCoding("value", threshold=4)], large=large) for large in (False, True)]
    results = (release.table, release.problem, release.assessment, release.result, release.audit(), release, rounded)
    for thing in (*results, *masked):
        page = Reader(thing._repr_html_())
        assert page.words, type(thing)
    assert Reader(masked[1]._repr_html_()).words == Reader(masked[0]._repr_html_()).words


def test_views_are_bounded_however_large_the_table() -> None:
    codes, n = [f"code {i} " + "x" * 500 for i in range(300)], 300
    frame = pd.DataFrame({"a": np.repeat(codes, n), "b": np.tile(codes, n), "value": 1.0})
    table = tp.tabulate(frame, ["a", "b"], "value")
    assert table.n_cells == 301 * 301
    status = np.full(table.n_cells, tp.Status.SAFE, dtype=np.int8)
    zeros = np.zeros(table.n_cells)
    problem = tp.Problem(
        table.system, table.values, status, zeros, zeros, zeros, zeros + 1, zeros, np.full(len(table), np.inf)
    )
    for thing in (table, problem):
        text = thing._repr_html_()
        page = Reader(text)
        assert len(text) < 250_000
        assert page.tags.count("span") <= (MOST_ROWS + 1) * (MOST_COLUMNS + 1) + 10
        assert "291 further codes of b" in page.text
        assert "221 further lines of a" in page.text


def test_linked_tables_come_one_after_the_other() -> None:
    frame = firms().assign(kind="k", year="y", month="m", day="d")
    pairs = [["region", "size"], ["region", "kind"], ["region", "year"], ["region", "month"], ["region", "day"]]
    linked = tp.link({f"t{i}": tp.tabulate(frame, by, "turnover", contributor="who") for i, by in enumerate(pairs)})
    page = Reader(linked._repr_html_())
    assert repr(linked).endswith("5 linked tables)")
    assert "t0: region x size" in page.words
    assert sum(word.startswith("t") and ": region x" in word for word in page.words) == MOST_PARTS
    assert Reader(tp.protect(linked, "p%=10")._repr_html_()).text.count("region x") == MOST_PARTS


def test_cells_known_by_their_ids_only() -> None:
    problem = tp.Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    assert Reader(problem._repr_html_()).words.count("P") == 1
    table = tp.Table(tp.LinearSystem.from_equations([("t", ["a", "b"])]), np.array([3.0, 1, 2]))
    assert {"t", "3", "a", "1", "b", "2"} <= set(Reader(table._repr_html_()).words)


def test_further_dimensions_are_shown_at_their_total() -> None:
    frame = firms().assign(year=[str(2020 + i % 2) for i in range(len(firms()))])
    table = tp.tabulate(frame, ["region", "year", "size"], "turnover")
    page = Reader(table._repr_html_())
    assert "year: Total" in page.text
    assert f"{firms()['turnover'].sum():,.0f}" in page.words


def test_the_view_of_masked_records_holds_released_records_only() -> None:
    frame = pd.DataFrame({"sex": list("mf") * 30, "age": np.arange(60) + 0.25, "id": [f"P{i}" for i in range(60)]})
    schema = md.Schema(keys=["sex"], confidential=["age"], identifiers=["id"])
    masked = md.mask(frame, schema, [md.Rounding("age", base=10)], seed=1)
    page = Reader(masked._repr_html_())
    assert "50 further records" in page.text
    assert not any(f"{value:g}" in page.words for value in frame["age"])
    assert "P0" not in page.words


def test_rows_left_out_are_the_deepest() -> None:
    children = {"T": [f"g{i}" for i in range(5)], **{f"g{i}": [f"l{i}{j}" for j in range(40)] for i in range(5)}}
    codes = ["T", *(c for g in children["T"] for c in (g, *children[g]))]
    axis = Axis.of("a", codes, children)
    words = np.full(len(codes), "safe", dtype=object)
    made = folded([axis], [np.arange(len(codes))], codes.__getitem__, words, column="v", most=50)

    def count(nodes: tuple[Node, ...] | list[Node]) -> int:
        return sum(1 + count(node.below) for node in nodes)

    assert count(made.nodes) == 50
    assert [node.label for node in made.nodes[0].below] == children["T"]
    assert made.note == f"{len(codes) - 50} further lines of a"
