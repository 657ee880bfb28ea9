"""What a user of the Python package may write, and what is answered when he errs."""

from __future__ import annotations

import re
from inspect import getattr_static
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.attack.certificate import certify
from tabprotect.methods.suppression.lower_bound import own_pattern

FIRMS = pd.DataFrame(
    {
        "region": list("nnnnnsssss"),
        "size": list("bbbssbbsss"),
        "firm": range(10),
        "turnover": [90, 5, 4, 40, 50, 20, 30, 60, 10, 20],
    }
)
HOW: dict[str, Any] = {"by": ["region", "size"], "value": "turnover", "contributor": "firm"}


def with_sums() -> tuple[tp.Problem, np.ndarray[Any, np.dtype[np.bool_]]]:
    """Return a problem with a sum of hidden cells, and the pattern of its table."""
    problem = tp.Problem.from_arrays([[-1, 1, 1, 1, 1]], [26, 9, 6, 5, 6], primary=[1], lpl=2, upl=2)
    sum_ = tp.UnionExposure((1, 2), 15.0, ("p%=10",), 5.0, 5.0, 0.0, True, "sensitive")
    return tp.protect_unions(problem, [sum_]), np.array([False, True, True, True, False])


def test_the_pattern_of_a_table_audits_the_problem_with_sums() -> None:
    problem, pattern = with_sums()
    assert problem.sums == 1
    whole = tp.audit(problem, np.r_[pattern, True])
    for given in (pattern, np.flatnonzero(pattern).tolist()):
        found = tp.audit(problem, given)
        assert found.safe == whole.safe
        assert found.summary() == whole.summary()
        pd.testing.assert_frame_equal(found.frame, whole.frame)
    with pytest.raises(tp.InputError, match="pattern"):
        tp.audit(problem, pattern[:-1])


def test_a_release_is_audited_again_with_the_same_answer() -> None:
    release = tp.protect(FIRMS, "p%=15", **HOW)
    found = tp.audit(release.problem, release.pattern)
    assert found.safe
    assert found.summary() == release.audit().summary()


def test_the_pattern_of_a_table_fits_its_problem_wherever_a_pattern_is_given() -> None:
    problem, pattern = with_sums()
    whole = np.r_[pattern, True]
    for call in (
        lambda given: certify(problem, given).verdict,
        lambda given: own_pattern(problem, given).cost,
        lambda given: tp.suppress(problem, method="greedy", start=given).cost,
        lambda given: problem.cost(given),
    ):
        assert call(pattern) == call(whole)
        with pytest.raises(tp.InputError, match="5"):
            call(pattern[:-1])
    assert certify(problem, pattern).safe
    assert problem.cost(pattern) == 11


def test_a_problem_says_its_sums_apart() -> None:
    problem, _ = with_sums()
    assert repr(problem) == "Problem(5 cells and 1 sum, 2 equations, 1 primary)"
    found = tp.suppress(problem)
    hidden = f"{int(found.pattern[:5].sum())} of 5 cells hidden"
    assert found.pattern[5]
    assert hidden in repr(found)
    assert hidden in repr(tp.audit(problem, found.pattern))


@pytest.mark.parametrize("wrong", [{"rules": {"region": {"n": ["a", "b"]}}}, {"groupings": {"region": {"x": 5}}}])
def test_the_cure_for_recodings_is_python_as_it_stands(wrong: dict[str, Any]) -> None:
    with pytest.raises(tp.InputError) as caught:
        tp.Recode(**wrong)
    cure = re.findall(r"such as (tabprotect\.\S+\(.*?\)), not", str(caught.value))[0]
    given = eval(cure, {"tabprotect": tp})  # noqa: S307 - the text is ours
    assert tp.Recode(rules={"region": given}).rules["region"] == given


def test_cells_of_a_release_have_the_same_names_in_its_audit_as_in_explain() -> None:
    """Sums behind the cells of the table are no codes, and take no positions from them."""
    rng = np.random.default_rng(0)
    n = 14
    codes = {"region": rng.choice(list("nsw"), n), "size": rng.choice(list("ab"), n), "firm": rng.integers(0, 8, n)}
    data = pd.DataFrame({**codes, "v": np.ceil(rng.lognormal(3, 1, n))})
    release = tp.protect(data, "p%=15", by=["region", "size"], value="v", contributor="firm")
    assert release.problem.sums == 1
    certificate = certify(release.problem, release.pattern)
    assert (certificate.safe, certificate.cost) == (True, release.certificate.cost)
    audits = release.audit(), tp.audit(release.problem, release.pattern)
    for wrong in (10**6, ("m", "a"), "m x a"):
        with pytest.raises(tp.InputError) as explained:
            release.explain(wrong)
        for audit in audits:
            with pytest.raises(tp.InputError) as asked:
                audit.interval(wrong)
            assert str(asked.value) == str(explained.value)
            assert "sum of" not in str(asked.value)
    (name,) = [label for label in audits[0].frame["label"].unique() if label.startswith("sum of")]
    assert not name.endswith(" x ")
    position = int(audits[0].frame.set_index("label").loc[name, "cell"].iloc[0])
    for audit in audits:
        assert audit.interval(name) == audit.interval(position)


def test_a_limit_is_a_number_of_seconds_everywhere() -> None:
    problem = tp.Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    assert tp.suppress(problem, limits=5).safe
    assert tp.compare(problem, ["suppress"], limits=5, audit_limits=5).frame[
        ["cost", "exposed"]
    ].to_numpy().tolist() == [[5, 0]]
    with pytest.raises(tp.InputError, match="limits must be"):
        tp.suppress(problem, limits="5 s")  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [FIRMS, None])
def test_what_is_no_problem_is_named(given: Any) -> None:
    for call in (lambda: tp.audit(given, []), lambda: tp.suppress(given)):
        with pytest.raises(tp.InputError, match="needs a Problem"):
            call()


def test_attackers_know_the_cells_that_are_named() -> None:
    known = {"bank": ["n x s", ("s", "b")]}
    release = tp.protect(FIRMS, "p%=15", attackers=known, **HOW)
    attacker = release.problem.attackers[-1]
    labels = [release.problem.system.label(i) for i in attacker.known[:2]]
    assert (attacker.name, labels) == ("bank", ["n x s", "s x b"])
    assert release.safe
    assert set(release.settings["attackers"]) == {"bank"}
    # the same by positions; a bank that knows secondaries asks for more of them
    again = tp.protect(FIRMS, "p%=15", attackers=[tp.Attacker("bank", attacker.known[:2])], **HOW)
    assert (again.pattern == release.pattern).all()
    for wrong in ({"bank": ["n x t"]}, {"bank": "n x s"}, ["n x s"]):
        with pytest.raises(tp.InputError, match="attacker"):
            tp.protect(FIRMS, "p%=15", attackers=wrong, **HOW)  # type: ignore[arg-type]


def test_frame_is_a_property_of_every_result() -> None:
    for name in tp.__all__:
        kind = getattr(tp, name)
        if isinstance(kind, type) and hasattr(kind, "frame"):
            assert not callable(getattr_static(kind, "frame")), name


def test_dir_shows_what_is_public_and_nothing_else() -> None:
    assert dir(tp) == sorted(tp.__all__)


def test_the_help_of_protect_has_two_lines_a_parameter_at_most() -> None:
    text = (tp.protect.__doc__ or "").split("Parameters\n")[1].split("Returns\n")[0]
    assert "handed" not in text
    lines = [line for line in text.splitlines() if line.startswith("        ")]
    names = [line for line in text.splitlines() if line.startswith("    ") and not line.startswith("     ")]
    assert len(lines) <= len(names) + 2
