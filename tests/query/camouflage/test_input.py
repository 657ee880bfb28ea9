"""What is wrong with frames, bounds and parameters, in one error."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tabprotect.errors import InputError
from tabprotect.query.camouflage import Absolute, Covering, Relative, camouflage
from tests.query.camouflage.questions import firms


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"confidential": "turnovr"}, "did you mean 'turnover'"),
        ({"confidential": "region"}, "must hold numbers"),
        ({"confidential": []}, "no confidential field"),
        ({"confidential": ["turnover", "turnover"]}, "named twice"),
        ({"bounds": {"profit": 0.2}}, "no bounds for field 'turnover'"),
        ({"bounds": "10 %"}, "bounds of 'turnover' are"),
        ({"bounds": 1.5}, "above 0 and below 1"),
        ({"steps": 11}, "whole number from 12"),
        ({"unit": 0}, "unit of 'turnover' must be a number above 0"),
        ({"unit": {"profit": 1}}, "a unit is given for 'profit'"),
        ({"bounds": Relative(0.2, least=-1)}, "at least 0"),
        ({"bounds": Absolute(0)}, "not above 0"),
        ({"bounds": Absolute("stuff")}, "did you mean 'staff'"),
        ({"bounds": Covering("l", "u")}, "no column 'l'"),
        ({"k": 2}, "at least 3"),
        ({"k": 3.5}, "at least 3"),
        ({"known": -1}, "at least 0"),
        ({"workload": ["regoin"]}, "did you mean 'region'"),
        ({"workload": ["turnover"]}, "no public column"),
        ({"largest_first": "region"}, "must hold numbers"),
        ({"seed": "x"}, "seed must be"),
    ],
)
def test_what_is_wrong_is_named(given: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        camouflage(firms(9, 0), **{"confidential": "turnover", "bounds": 0.2, **given})


def test_values_that_are_missing_are_named() -> None:
    frame = pd.DataFrame({"x": [0.0, 3.0, np.nan], "y": [0.0, 3.0, 5.0]})
    with pytest.raises(InputError, match="column 'x': 1 missing or infinite values, the first in record 2"):
        camouflage(frame, "x", 0.2)
    widths = {
        float(np.ptp(camouflage(frame, "y", 0.2, steps=20, seed=s).vectors.of["y"], axis=1).min()) for s in range(40)
    }
    assert widths == {20, 40}  # whole cells of 20 units, the zero with its own
    with pytest.raises(InputError, match="not dict"):
        camouflage({"x": [1.0]}, "x", 0.2)


def test_bounds_around_the_value_are_refused() -> None:
    """The value +- 10 % gives the value: it is the middle. So does any other fixed place between bounds."""
    frame = firms(12, 1)
    for place in (0.5, 0.2):
        frame["l"] = frame["turnover"] * (1 - 0.2 * place)
        frame["u"] = frame["turnover"] * (1 + 0.2 * (1 - place))
        with pytest.raises(InputError, match="draw positions at random"):
            camouflage(frame, "turnover", Covering("l", "u"))
    frame["l"] = frame["turnover"] + 1
    with pytest.raises(InputError, match="12 values are outside"):
        camouflage(frame, "turnover", Covering("l", "u"))


def test_an_empty_table_and_public_conditions_with_missing_values() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "g": ["a", None, "b"]})
    made = camouflage(frame, "x", 0.2, workload=["g"], seed=1)
    assert made.count([("g", "!=", "a")]).low == 1
    assert made.count([("g", "in", ["a", "b"])]).low == 2
    assert made.delete([0, 1, 2]).count().low == 0
