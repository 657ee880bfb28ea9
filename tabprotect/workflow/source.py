"""Where a table comes from: finished, made of records, or what a specification names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import pandas as pd

from tabprotect.errors import InputError
from tabprotect.table.reading import Recognised
from tabprotect.table.table import Table
from tabprotect.table.tabulate import check_roles, tabulate
from tabprotect.workflow.recode import recode_microdata
from tabprotect.workflow.records import microdata, numbers_of

__all__ = ["Finished", "Records", "Source"]


@runtime_checkable
class Source(Protocol):
    """What a table is made of."""

    @property
    def data(self) -> Any:
        """The records as they came: a frame, a path, a relation; None without records of one table."""
        ...

    @property
    def roles(self) -> Mapping[str, Any] | None:
        """How records are tabulated, by the keywords of `tabprotect.tabulate`; None without records of one table."""
        ...

    def check(self) -> None:
        """Refuse data that are not there or lack a column that is named, without making the table."""
        ...

    def table(self, top: int, memory: str | None) -> Table:
        """Return the table, with the `top` largest contributions to every cell at least."""
        ...

    def records(self) -> pd.DataFrame:
        """Return the records as a frame."""
        ...

    def recoded(self, rules: Mapping[str, Any]) -> Source:
        """Return this with columns recoded by hand."""
        ...

    def filled(self) -> Source:
        """Return this with empty cells that are zero, but not known to be, unless something else was asked for."""
        ...


@dataclass(frozen=True, eq=False)
class Finished:
    """A table that is there already.

    Attributes
    ----------
    given : Table
    """

    given: Table

    @property
    def data(self) -> Any:
        """None: a finished table has no records."""
        return None

    @property
    def roles(self) -> Mapping[str, Any] | None:
        """None: a finished table has no records."""
        return None

    def check(self) -> None:
        """Take the table as it is."""

    def table(self, top: int, memory: str | None) -> Table:
        """Return the table as it is: it holds what contributions it was made with."""
        return self.given

    def records(self) -> pd.DataFrame:
        """Refuse: a finished table has none."""
        raise InputError("the method needs a table made from microdata, and this one is finished already")

    def recoded(self, rules: Mapping[str, Any]) -> Source:
        """Refuse: codes are recoded in records."""
        raise InputError("recodings by hand need microdata; the table is finished already")

    def filled(self) -> Source:
        """Return this: a finished table says itself what its empty cells are."""
        return self


@dataclass(frozen=True, eq=False)
class Records:
    """Microdata, and how they are tabulated.

    Attributes
    ----------
    data : frame, path or relation
    roles : mapping
        Keywords of `tabprotect.tabulate`, `by` among them.
    recognised : tuple of Recognised
        How the file was read that the data come from, where they are no file any more.
    """

    data: Any = field(repr=False)
    roles: Mapping[str, Any]
    recognised: tuple[Recognised, ...] = ()

    def check(self) -> None:
        """Refuse data that lack a column that is named."""
        check_roles(self.data, **self.roles)

    def table(self, top: int, memory: str | None) -> Table:
        """Tabulate."""
        table = tabulate(self.data, top=top, memory_limit=memory, **self.roles)
        return replace(table, recognised=(*self.recognised, *table.recognised))

    def records(self) -> pd.DataFrame:
        """Return the records as a frame."""
        return microdata(self.data, numbers_of(self.roles))[0]

    def recoded(self, rules: Mapping[str, Any]) -> Source:
        """Return this with columns recoded by hand."""
        frame, found = microdata(self.data, numbers_of(self.roles))
        return replace(self, data=recode_microdata(frame, rules), recognised=(*self.recognised, *found))

    def filled(self) -> Source:
        """Return the records as a frame, empty cells being zero unless something else was asked for."""
        frame, found = microdata(self.data, numbers_of(self.roles))
        roles = {**self.roles, "empty": self.roles.get("empty") or "zero"}
        return Records(frame, roles, (*self.recognised, *found))
