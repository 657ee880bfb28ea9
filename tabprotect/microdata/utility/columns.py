"""Which columns a measure is about."""

from __future__ import annotations

from collections.abc import Sequence

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.microdata.risk.base import Pair
from tabprotect.microdata.scales import Scale

__all__ = ["common_columns"]


def common_columns(
    both: Pair, columns: Sequence[str] | None, scales: Sequence[Scale], what: str, least: int = 1
) -> list[str]:
    """Return the columns of both files with some scales, without identifiers, weight and household.

    Raises
    ------
    InputError
        If named ones are not there or have another scale, or fewer than `least` are left.
    """
    schema = both.original.schema
    left_out = {*schema.identifiers, schema.weight, schema.household}
    if columns is None:
        shared = [n for n in both.original.columns if n in both.masked.columns and n not in left_out]
        names = [n for n in shared if both.original.scale(n) in scales]
    else:
        names = [columns] if isinstance(columns, str) else list(columns)
        with collect() as problems:
            for name in names:
                if name not in both.original.columns or name not in both.masked.columns:
                    problems.add(f"no column '{name}' in both files{did_you_mean(name, both.original.columns)}")
                elif both.original.scale(name) not in scales:
                    problems.add(f"column '{name}' is {both.original.scale(name)}; {what} columns are needed")
    if len(names) < least:
        raise InputError(f"both files must share at least {least} {what} column{'s' * (least > 1)}, not {len(names)}")
    return names
