"""What is of another kind is refused; lists are not walked through."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds


@of_kinds()
def total(numbers: Sequence[float]) -> float:
    return sum(numbers)


class Counted(list):
    walked = 0

    def __iter__(self):
        for one in super().__iter__():
            self.walked += 1
            yield one


def test_a_long_column_is_not_walked_through_by_the_check():
    column = Counted([1.0] * 100_000)
    assert total(column) == 100_000
    assert column.walked < 101_000


@pytest.mark.parametrize("given", [["a"], [1.0, None], "12", 5, {1.0: 2.0}])
def test_lists_of_another_kind_are_refused(given):
    with pytest.raises(InputError, match="numbers must be a list of numbers"):
        total(given)
