"""Names, seeds and sizes of another kind altogether: one error that names the argument."""

from __future__ import annotations

import pytest

from tabprotect import instances
from tests.wrong_kinds import arguments, check, named

CALLS = [
    (instances.data, {"name": "eustat-investment"}),
    (instances.load, {"name": "eustat-investment"}),
    (instances.family, {"name": "flat2d"}),
    (instances.register, {"n": 50}),
]


@pytest.mark.parametrize(("function", "given", "name"), arguments(CALLS), ids=named)
def test_arguments(function, given, name):
    check(lambda wrong: function(**{**given, name: wrong}))


def test_sizes_of_families():
    check(lambda wrong: instances.family("flat2d", rows=wrong))
    check(lambda wrong: instances.family("hier2d", activity=wrong))
