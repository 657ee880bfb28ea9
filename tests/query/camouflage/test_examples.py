"""The model of the notebook (eqs. 1 to 4), on its database of employees, with vectors and answers made by hand.

The chapter on camouflage prints no numbers. The vectors here are four of the kind it describes, the last one the true
vector itself, which the hull may contain as a corner as far as answering is concerned.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tabprotect.query.camouflage.answering import Answering, Query
from tabprotect.query.camouflage.vectors import Vectors

SALARY = [85, 3, 2, 4, 3, 3, 4, 3, 3]
P1 = [80, 4, 2, 5, 2, 3, 4, 2, 4]
P2 = [90, 2, 3, 3, 4, 3, 3, 4, 3]
P3 = [84, 3, 1, 4, 3, 4, 5, 3, 2]


@pytest.fixture
def emp() -> Answering:
    department = np.array(["Management"] * 3 + ["Administration"] * 3 + ["Services"] * 3)
    years = np.array([20, 3, 1, 5, 2, 2, 4, 3, 1])
    p = np.array([P1, P2, P3, SALARY], float).T
    return Answering(Vectors({"salary": p}), {"dep": department, "years": years}, 9)


MANAGEMENT = (("dep", "==", "Management"),)


def reads(answer: object) -> tuple[float, float, bool]:
    return pytest.approx(answer.low, abs=1e-9), pytest.approx(answer.high, abs=1e-9), answer.exact


@pytest.mark.parametrize(
    ("query", "low", "high"),
    [
        (Query("sum", "salary", MANAGEMENT), 86, 95),  # 86, 95, 88, 90
        (Query("sum", "salary"), 106, 115),  # 106, 115, 109, 110
        (Query("mean", "salary", MANAGEMENT), 86 / 3, 95 / 3),
        (Query("count", "", MANAGEMENT), 3, 3),
        (Query("ratio", "salary", MANAGEMENT, denominator="years"), 86 / 24, 95 / 24),
        (Query("maximum", "salary"), 80, 90),  # the first employee has the largest salary in all vectors
        (
            Query("maximum", "salary", (("dep", "==", "Services"),)),
            10 / 3,
            5,
        ),  # sums are 10; (P1 + 2 P2) / 3
        (Query("minimum", "salary", MANAGEMENT), 1, 8 / 3),  # (P1 + 2 P2) / 3 has 86.7, 8/3, 8/3
    ],
)
def test_answers_by_hand(emp: Answering, query: Query, low: float, high: float) -> None:
    answer = emp.answer(query)
    assert (low, high, True) == reads(answer)
    assert answer.point == pytest.approx((low + high) / 2)
    assert answer.guarantee == pytest.approx((high - low) / 2)


def test_one_record_is_hidden_between_its_entries(emp: Answering) -> None:
    """Eqs. 1 and 2 for the first employee with l = 80, u = 90: the query set of one record gives no more than that."""
    assert reads(emp.sum("salary", [("years", "==", 20)])) == (80, 90, True)


def test_the_variance_of_management_is_convex_over_the_hull(emp: Answering) -> None:
    answer = emp.variance("salary", MANAGEMENT, kind="population")
    assert answer.high == pytest.approx(np.var([90, 2, 3]))
    assert answer.low == pytest.approx(np.var([80, 4, 2]))
    assert answer.exact


def test_counts_with_confidential_conditions(emp: Answering) -> None:
    """Salaries of at least 4: 5, 3, 4, 3 of them at the vectors, and 5 (P1) is the most that any vector can have."""
    answer = emp.count([("salary", ">=", 4)])
    assert answer.low <= 3
    assert answer.high >= 4
    assert emp.count([("salary", ">", 10)]) == emp.count([("salary", ">", 79.9)])
    assert reads(emp.count([("salary", ">", 10)])) == (1, 1, True)
    assert emp.count([("salary", ">", 91)]).may_be_empty


def test_the_mean_of_large_salaries(emp: Answering) -> None:
    answer = emp.mean("salary", [("salary", ">", 10)])
    assert reads(answer) == (80, 90, True)


def test_an_empty_query_set_has_no_mean(emp: Answering) -> None:
    answer = emp.mean("salary", [("years", ">", 40)])
    assert math.isnan(answer.low)
    assert answer.may_be_empty
    assert emp.sum("salary", [("years", ">", 40)]).width == 0
