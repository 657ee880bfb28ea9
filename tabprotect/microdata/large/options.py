"""How records are handled that need not fit into memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tabprotect.errors import InputError, collect
from tabprotect.kinds import check_fields

__all__ = ["Large", "as_large"]


@dataclass(frozen=True)
class Large:
    """How records are handled in batches.

    Parameters
    ----------
    order : str or sequence of str
        Columns that number the records: no value missing, no combination twice. Records are sorted by them first, so
        that random draws belong to the records and not to the order in which an engine happens to read. DuckDB
        relations and files have an order of their own without it; a relation that joins or groups has none. A Spark
        frame has none, and methods that draw at random need `order` there.
    memory_limit : str
        What DuckDB may take, such as '4GB'; what does not fit goes to disk.
    batch : int
        Records that are changed at a time. Results do not depend on it.
    folder : str, optional
        Where intermediate files are kept, by default the temporary folder of the system. About two copies of the data
        must fit.

    Raises
    ------
    InputError
        If a value cannot be.

    Examples
    --------
    >>> Large(order="id", memory_limit="4GB")
    Large(order=('id',), memory_limit='4GB', batch=131072, folder=None)
    """

    order: Sequence[str] | str = ()
    memory_limit: str = "1GB"
    batch: int = 131_072
    folder: str | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        order = (self.order,) if isinstance(self.order, str) else self.order
        with collect() as problems:
            if self.batch < 1:
                problems.add(f"Large: batch must be a whole number of at least 1, not {self.batch!r}")
        object.__setattr__(self, "order", tuple(order))


def as_large(given: Any) -> Large:
    """Return the options that ``large=`` gives."""
    if isinstance(given, Large):
        return given
    if given is not True:
        raise InputError(f"large must be True, False or Large(...), not {given!r}")
    return Large()
