"""Cures of messages in the words of a batch: its commands, and the keywords of its metadata."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["in_batch"]

_COMPUTED: Final = "let missing totals be computed: <READTABLE> 1"

_CURES: Final = (
    (r"name the code of the total with Dimension\('([^']*)', total='([^']*)'\)",
     r"name the code of the total: <TOTCODE> '\2' of '\1' in the metadata"),
    (r"name the code of the total with Dimension\('([^']*)', total=\.\.\.\)",
     r"name the code of the total: <TOTCODE> of '\1' in the metadata"),
    (r"let margins be computed: margins='add'$|add the rows of the total to the table", _COMPUTED),
    (r"add them to the table(?:, or let them be computed with margins='add')?", _COMPUTED),
    (r"state how far they may be off: tolerance=[^;]*; (?:if margins .*|or mend the values)",
     "say that sums may be off: <READTABLE> 2; or let all totals be computed from the cells: <READTABLE> 1"),
    (r"give the column of counts to Table\.from_cells", "its variable is <FREQUENCY> in the metadata"),
    (r"give the columns of maxima to Table\.from_cells", "their variables are <MAXSCORE> in the metadata"),
    (r"give top=(\d+) to tabulate, or \d+ columns? of maxima to Table\.from_cells",
     r"as many variables are <MAXSCORE> in the metadata"),
    (r"give them to Table\.from_cells with Dimension\('([^']*)', total='([^']*)'\)",
     r"read them by <OPENTABLEDATA>, with <TOTCODE> '\2' of '\1' in the metadata"),
    (r"give them to Table\.from_cells", "read them by <OPENTABLEDATA>"),
    (r"(say that it is the total|give the total another one): (?:pass )?Dimension\('([^']*)', total='([^']*)'\)",
     r"\1: <TOTCODE> '\3' of '\2' in the metadata"),
)  # fmt: skip
"""Cures as the library writes them, and in a batch."""


def in_batch(problem: str) -> str:
    """Write the cures of one problem as a batch takes them.

    Examples
    --------
    >>> in_batch("rule threshold=3,20 needs the number of contributors: give the column of counts to Table.from_cells")
    'rule threshold=3,20 needs the number of contributors: its variable is <FREQUENCY> in the metadata'
    """
    for written, cure in _CURES:
        problem = re.sub(written, cure, problem)
    return problem
