"""The last period's pattern as a preference, and what both releases of a revision tell together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.errors import InputError
from tabprotect.problem import Status
from tabprotect.release.earlier import Previous, read_earlier
from tabprotect.solver.limits import Budget
from tabprotect.workflow.carry_out import carry_out
from tabprotect.workflow.previous import beside, judge_both, preferring, revising, stability
from tabprotect.workflow.protocol.tables import Held
from tabprotect.workflow.request import Request
from tabprotect.workflow.source import Finished
from tabprotect.workflow.specification import Spec

CODES = ["Total", *"abcd"]


def table(inner: list[list[float]], counts: dict[tuple[int, int], int] | None = None) -> tp.Table:
    """A table of 4 x 4 inner cells with margins; a count below 3 makes a cell sensitive."""
    values = np.array(inner, float)
    n = np.full(values.shape, 9.0)
    for place, count in (counts or {}).items():
        n[place] = count
    rows = []
    for numbers in (values, n):
        full = np.vstack([numbers.sum(0), numbers])
        rows.append(np.hstack([full.sum(1, keepdims=True), full]).ravel())
    frame = pd.DataFrame([(r, c) for r in CODES for c in CODES], columns=["row", "col"])
    return tp.Table.from_cells(frame.assign(v=rows[0], n=rows[1]), ["row", "col"], "v", count="n")


def request(one: tp.Table) -> Request:
    return Request.of(source=Finished(one), rules="threshold=3")


INNER = [[10.0, 20, 30, 40], [15, 25, 35, 45], [50, 60, 70, 80], [11, 22, 33, 44]]


def released(folder: Path, one: tp.Table) -> Path:
    release = carry_out(request(one))
    assert release.safe
    return release.write(folder)


def test_the_pattern_of_the_last_period_is_kept(tmp_path: Path) -> None:
    """Other values make another pattern the cheapest one; at lowered costs the old one is kept."""
    before = released(tmp_path / "r", table(INNER, {(0, 0): 1}))
    earlier = read_earlier(before)
    other = [[10.0, 90, 30, 12], [90, 90, 35, 13], [50, 60, 70, 80], [14, 22, 33, 15]]
    now = table(other, {(0, 0): 1})
    alone = carry_out(request(now))
    assert stability(alone, earlier).share < 1
    kept = carry_out(preferring(request(now), earlier, 0.01))
    found = stability(kept, earlier)
    assert (found.share, found.cells, found.suppressed, found.freed) == (1.0, 25, (), ())
    assert kept.safe
    # costs of cells that were published stay what they are
    hidden = earlier.hidden[earlier.match(now)]
    assert np.allclose(kept.problem.weights, np.where(hidden, 0.01, 1) * alone.problem.weights)


def test_cells_that_are_freed_and_newly_suppressed_are_counted(tmp_path: Path) -> None:
    earlier = read_earlier(released(tmp_path / "r", table(INNER, {(0, 0): 1})))
    now = table(INNER, {(2, 2): 1})
    release = carry_out(preferring(request(now), earlier, 0.1))
    found = stability(release, earlier)
    was = earlier.hidden[earlier.match(now)]
    assert "c x c" in found.suppressed
    assert len(found.suppressed) == int((release.pattern & ~was).sum())
    assert len(found.freed) == int((~release.pattern & was).sum())
    assert found.kept + len(found.suppressed) + len(found.freed) == found.cells == 25


def test_two_safe_releases_that_tell_together(tmp_path: Path) -> None:
    """The same quantities with another pattern: each is safe alone, and cells that only one hides are known."""
    earlier = read_earlier(released(tmp_path / "r", table(INNER, {(0, 0): 1})))
    hidden = earlier.hidden[earlier.match(table(INNER))].reshape(5, 5)[1:, 1:]
    other = np.array(INNER)
    other[hidden] += 200  # what was hidden is dear now, so that another pattern is cheaper
    other[0, 0] = 10
    now = table(other.tolist(), {(0, 0): 1})
    release = carry_out(request(now))
    assert release.safe
    both = judge_both(release, earlier, ())
    assert not both.safe
    assert any("a x a" in line for line in both.problems())
    revised, disclosed = revising(request(now), now, earlier)
    assert disclosed == ()
    again = carry_out(preferring(request(revised), earlier, 0.1))
    assert again.safe
    found = judge_both(again, earlier, disclosed)
    assert found.safe
    assert found.problems() == []
    assert not (again.pattern & ~earlier.hidden[earlier.match(now)]).any()


def test_what_the_audit_of_both_releases_had_no_time_for_is_no_verdict(tmp_path: Path) -> None:
    before = released(tmp_path / "r", table(INNER, {(0, 0): 1}))
    now = table(INNER, {(0, 0): 1})
    previous, earlier = Previous(before, revision=True), read_earlier(before)
    release = carry_out(request(now))
    assert beside(release, previous, earlier, (), Budget()).safe
    ended = beside(release, previous, earlier, (), Budget(cancelled=True))
    assert not ended.safe
    assert ended.unfinished == "the search was cancelled, no safe pattern yet"
    assert ended.carried.both.undecided
    assert "levels not decided" in ended.result.message
    known = beside(release, previous, earlier, ("a x a",), Budget(cancelled=True))
    assert not known.safe
    assert not known.unfinished


def test_a_cell_that_was_sensitive_stays_protected(tmp_path: Path) -> None:
    """The revised count is above the threshold; published, the value would tell that of the last release."""
    earlier = read_earlier(released(tmp_path / "r", table(INNER, {(0, 0): 1, (1, 1): 1})))
    now = table(INNER, {(1, 1): 1})
    labels = [now.system.label(i) for i in range(now.n_cells)]
    cell = labels.index("a x a")
    freed = carry_out(request(now))
    assert freed.problem.status[cell] == Status.SAFE
    opened = replace(freed, result=replace(freed.result, pattern=freed.pattern & (np.array(labels) != "a x a")))
    assert not judge_both(opened, earlier, ()).before.safe
    revised, _ = revising(request(now), now, earlier)
    release = carry_out(request(revised))
    assert release.problem.status[cell] == Status.PRIMARY
    assert release.problem.lpl[cell] == earlier.problem.lpl[earlier.position["a x a"]]
    assert release.safe
    assert judge_both(release, earlier, ()).safe


def test_a_cell_that_was_published_and_is_sensitive_now_is_named(tmp_path: Path) -> None:
    earlier = read_earlier(released(tmp_path / "r", table(INNER, {(0, 0): 1})))
    now = table(INNER, {(3, 3): 1})
    assert not earlier.hidden[earlier.position["d x d"]]
    revised, disclosed = revising(request(now), now, earlier)
    assert disclosed == ("d x d",)
    release = carry_out(request(revised))
    both = judge_both(release, earlier, disclosed)
    assert not both.safe
    assert both.problems()[0].startswith("d x d is sensitive now, and the last release published it")


def test_a_release_that_was_altered_is_refused(tmp_path: Path) -> None:
    folder = released(tmp_path / "r", table(INNER, {(0, 0): 1}))
    path = folder / "publish" / "table.csv"
    path.write_text(path.read_text().replace("suppressed", "published", 1))
    with pytest.raises(InputError, match="is not the release that was written"):
        read_earlier(folder)


def test_changed_values_have_no_pattern(tmp_path: Path) -> None:
    one = table(INNER, {(0, 0): 1})
    tp.protect(one, "threshold=3", tp.Round(base=50)).write(tmp_path / "r")
    with pytest.raises(InputError, match="no pattern"):
        read_earlier(tmp_path / "r")


def test_nothing_that_is_given_is_changed(tmp_path: Path) -> None:
    earlier = read_earlier(released(tmp_path / "r", table(INNER, {(0, 0): 1})))
    now = table(INNER, {(1, 1): 1})
    asked = request(now)
    columns = dict(now.columns)
    revising(asked, now, earlier)
    preferring(asked, earlier, 0.5)
    assert dict(now.columns) == columns
    assert asked.hiding == replace(asked.hiding)


def test_a_revised_table_is_never_read_again(tmp_path: Path) -> None:
    one = tp.tabulate(pd.DataFrame({"a": ["x", "y"], "v": [1.0, 2.0]}), "a", "v", top=1)
    spec = Spec(data="gone.csv", by=["a"], value="v", rules=["p%=15"])
    assert Held(spec, tmp_path, held=one, final=True).table(9, None) is one
    with pytest.raises(InputError, match=r"gone\.csv"):
        Held(spec, tmp_path, held=one).table(9, None)
