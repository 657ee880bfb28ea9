"""Random queries: the true answer and those of all vectors are inside, so that together they narrow no record."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from tabprotect.errors import InputError
from tabprotect.query.camouflage import Absolute, Camouflage, Query, Relative, camouflage
from tests.query.camouflage.questions import COMPARE, WORKLOAD, draw, evaluate, firms, with_values

FIELDS = ("turnover", "profit")


def hidden(seed: int, n: int = 40, **given: object) -> Camouflage:
    bounds = {"turnover": Relative(0.2), "profit": Absolute(20.0) if seed % 2 else Relative(0.3, least=5.0)}
    return camouflage(firms(n, seed), FIELDS, bounds, **{"workload": WORKLOAD, "steps": 20, "seed": seed, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(4))
def test_random_queries_hold_the_truth_and_every_vector(seed: int) -> None:
    """As every vector meets all answers, and every range has its ends at vectors, no range is narrowed by them."""
    frame, rng, answered = firms(40, seed), np.random.default_rng(seed), 0
    made = hidden(seed, k=3 + seed % 2)
    vectors = [with_values(frame, {f: p[:, j] for f, p in made.vectors.of.items()}) for j in range(made.vectors.k)]
    for _ in range(50):
        query = draw(frame, rng)
        try:
            answer = made.answer(query)
        except InputError:
            assert query.function == "coefficient"  # too few records
            continue
        answered += 1
        truth = evaluate(frame, query)
        assert truth in answer or (np.isnan(truth) and answer.may_be_empty), query
        for vector in vectors:
            value = evaluate(vector, query)
            slack = 1e-9 * max(abs(value), 1.0)
            assert answer.low - slack <= value <= answer.high + slack or answer.may_be_empty, query
        assert answer.guarantee >= abs(answer.point - truth) or np.isnan(truth) or np.isinf(answer.width)
    assert answered > 40


@pytest.mark.parametrize("seed", range(2))
def test_what_all_linear_answers_leave_open_by_linear_programmes(seed: int) -> None:
    """The intruder has every interval, and knows how they are made: P w with w in the simplex, P not known to him.

    Whatever he derives holds for the P that was used: with that P, and with x free but for the intervals, the linear
    programmes have to reach both ends of what is required.
    """
    made, rng = hidden(seed, n=12), np.random.default_rng(seed)
    P = made.vectors.of["turnover"]
    sets = [*np.eye(12), *(rng.random((40, 12)) < 0.4).astype(float)]
    low, high = [], []
    made = replace(made, public={**made.public, "id": np.arange(12)})
    for members in sets:
        answer = made.sum("turnover", [("id", "in", np.flatnonzero(members).tolist())])
        low.append(answer.low)
        high.append(answer.high)
    A, b = np.vstack([sets, -np.array(sets)]), np.append(high, -np.array(low))
    k = P.shape[1]
    for i in range(12):
        for sign in (1, -1):
            free = linprog(sign * np.eye(12)[i], A, b, bounds=[(None, None)] * 12)
            known = linprog(sign * P[i], A @ P, b, np.ones((1, k)), [1], [(0, None)] * k)
            end = P[i].min() if sign > 0 else P[i].max()
            assert sign * known.fun == pytest.approx(end, rel=1e-7)
            assert free.fun <= known.fun + 1e-7 * abs(end)
    middle = (P.min(axis=1) + P.max(axis=1)) / 2
    assert np.all(np.ptp(P, axis=1) >= 0.2 * middle)


def test_answers_do_not_depend_on_the_truth() -> None:
    """Another truth in the same hull has the same answers: nothing but vectors and public columns is read."""
    made = hidden(0)
    other = np.array([1, 1, 18]) / 20
    table = type(made.table)({f: p @ other for f, p in made.vectors.of.items()}, {}, made.public, made.n)
    impostor = replace(made, table=table, parts=np.array([1, 1, 18]))
    rng, frame = np.random.default_rng(3), firms(40, 0)
    for _ in range(40):
        query = draw(frame, rng)
        try:
            answer = made.answer(query)
        except InputError:
            continue
        assert repr(impostor.answer(query)) == repr(answer)


def test_every_record_is_read_once_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    made, frame, rng = hidden(1), firms(40, 1), np.random.default_rng(1)
    read: dict[str, np.ndarray] = {}
    vectors = type(made.vectors)
    original = vectors.read

    def counted(self: object, field: str, records: np.ndarray) -> np.ndarray:
        np.add.at(read.setdefault(field, np.zeros(40, int)), records, 1)
        return original(self, field, records)  # type: ignore[arg-type]

    monkeypatch.setattr(vectors, "read", counted)
    seen = 0
    for _ in range(60):
        query = draw(frame, rng)
        read.clear()
        try:
            made.answer(query)
        except InputError:
            continue
        chosen = np.ones(40, bool)
        for column, sign, value in query.where:
            if column in made.public:
                chosen &= COMPARE[sign](frame[column].to_numpy(), value)
        fields = {c for c, _, _ in query.where if c in FIELDS} | ({query.field} - {""})
        fields |= {query.denominator} & set(FIELDS) if query.function == "ratio" else set()
        assert set(read) == fields or not chosen.any()
        for count in read.values():
            assert np.array_equal(count, chosen.astype(int))
            seen += int(count.sum())
    assert seen > 500


def test_sums_of_several_fields_share_their_weights() -> None:
    """A ratio is narrower than its two sums suggest, as one vector has both."""
    made = hidden(2, n=200)
    ratio, x, y = made.ratio("profit", "turnover"), made.sum("profit"), made.sum("turnover")
    assert ratio.exact
    assert ratio.width <= x.high / y.low - x.low / y.high


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (Query("summ", "turnover"), "did you mean 'sum'"),
        (Query("sum", "turnovr"), "did you mean 'turnover'"),
        (Query("sum", "region"), "must hold finite numbers"),
        (Query("sum", "turnover", (("regoin", "==", "x"),)), "did you mean 'region'"),
        (Query("sum", "turnover", (("region", "=", "x"),)), "there is no operator '='"),
        (Query("sum", "turnover", (("turnover", "==", 3),)), "takes <, <=, >, >= only"),
        (Query("sum", "turnover", (("turnover", "<", "x"),)), "compared with a number"),
        (Query("sum", "turnover", (("region", "<", 3),)), "cannot be compared"),
        (Query("median", "turnover", (("profit", "<", 3),)), "conditions on public columns only"),
        (Query("quantile", "turnover", level=1.5), "between 0 and 1"),
        (Query("coefficient", "turnover", regressors=("profit",)), "regressors are public columns"),
        (Query("coefficient", "turnover", regressors=("staff",), name="x"), "no coefficient 'x'"),
        (Query("sum", "turnover", ("region", "==", "x")), "where is a list of conditions"),  # type: ignore[arg-type]
    ],
)
def test_what_is_not_understood_is_refused(query: Query, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        hidden(0).answer(query)
