"""Hierarchies from code lists as offices publish them: parents, levels, or prefixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.hierarchy.named import list_in
from tabprotect.table.reading.recognised import Recognised
from tabprotect.table.reading.tabular import read_tabular

__all__ = ["CodeList", "read_code_list"]


@dataclass(frozen=True)
class CodeList:
    """A hierarchy, the labels of its codes, and how they were read.

    Attributes
    ----------
    hierarchy : Hierarchy
        With these labels.
    labels : dict
    form : {'parents', 'levels', 'prefixes', 'flat'}
    recognised : Recognised
    """

    hierarchy: Hierarchy
    labels: dict[str, str]
    form: str
    recognised: Recognised


@of_kinds()
def read_code_list(
    path: str | Path,
    *,
    code: str | None = None,
    parent: str | None = None,
    level: str | None = None,
    label: str | None = None,
    lengths: Sequence[int] | None = None,
    separator: str | None = None,
    total: str | None = None,
    **reading: str | None,
) -> CodeList:
    r"""Read a code list with a line a code, in any form that `read_tabular` reads.

    Lists with a column of parents, such as those of Eurostat's classification server (Order, Level, Code, Parent,
    Description); with levels and codes in the order of the tree; or with codes whose prefixes are the groups (NUTS:
    ``lengths=[2, 3, 4]``).

    Parameters
    ----------
    path : path
    code, parent, level, label : str, optional
        Columns; by default those with usual names.
    lengths : sequence of int, optional
        Characters of every level of the codes.
    separator : str, optional
        Or the sign between the levels of a code.
    total : str, optional
        Code above all others; needed where there are several at the top, by default 'Total' then.
    **reading
        Handed to `read_tabular` (`encoding`, `sheet`, ...).

    Raises
    ------
    InputError
        Columns that are missing; levels that skip one; what `Hierarchy` finds wrong.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "nace.csv"
    >>> _ = path.write_text("Order;Level;Code;Parent;Description\n1;1;A;;Agriculture\n2;2;01;A;Crops\n")
    >>> found = read_code_list(path)
    >>> found.form, found.hierarchy.codes, found.labels["01"]
    ('parents', ('Total', 'A', '01'), 'Crops')
    """
    frame, recognised = read_tabular(path, **reading)  # type: ignore[arg-type]
    given = {"code": code, "parent": parent, "level": level, "label": label}
    found = list_in(frame, recognised.path, given, lengths, separator, total)
    try:
        hierarchy = Hierarchy(*found.splits)
    except InputError as error:
        raise InputError(*(f"{recognised.path}: {problem}" for problem in error.problems)) from error
    return CodeList(hierarchy.labelled(found.labels), found.labels, found.form, recognised)
