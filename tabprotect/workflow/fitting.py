"""What a request says of a table that it does not fit: its rules, costs, bounds and attackers, all of it at once."""

from __future__ import annotations

from collections.abc import Sequence

from tabprotect.errors import Problems
from tabprotect.methods.recoding.method import Recode
from tabprotect.sensitivity.assess import assess
from tabprotect.sensitivity.attackers import known_cells
from tabprotect.sensitivity.bounds import external_bounds
from tabprotect.sensitivity.costs import costs
from tabprotect.sensitivity.rule import Override
from tabprotect.table.codes import explain_unknown, likely_misspelt
from tabprotect.table.table import Table
from tabprotect.workflow.request import Request

__all__ = ["absent_missing", "unfitting", "unknown_missing"]


def unfitting(request: Request, table: Table) -> list[str]:
    """Return what does not fit a table, of all that a request says of its cells.

    Parameters
    ----------
    request : Request
    table : Table

    Examples
    --------
    >>> import pandas as pd
    >>> from tabprotect.table.tabulate import tabulate
    >>> from tabprotect.workflow.source import Finished
    >>> table = tabulate(pd.DataFrame({"region": ["N", "S"], "turnover": [5, 7]}), "region", "turnover")
    >>> known = {"tax office": ["W"]}
    >>> request = Request.of(source=Finished(table), rules="nk=5,70", attackers=known, bounds=("low", None))
    >>> [problem[:22] for problem in unfitting(request, table)]
    ['rule nk=5,70 needs the', 'lower bound: there is ', "attacker 'tax office':"]
    """
    how, problems = request.hiding, Problems()
    problems.found += unknown_missing(table)
    assessment = problems.attempt(assess, table, request.rules, levels=request.levels)
    # an a-priori file may give bounds, too
    if assessment is not None or not any(isinstance(rule, Override) for rule in request.rules):
        problems.attempt(external_bounds, table, request.bounds, None if assessment is None else assessment.bounds)
    problems.attempt(costs, table, how.cost, transform=how.transform, preferences=how.preferences)
    if not isinstance(request.method, Recode):
        # beside a recoding they may know cells of the table before it
        problems.attempt(known_cells, table, request.attackers)
    return problems.found


def unknown_missing(table: Table) -> list[str]:
    """Return what is wrong with codes that stand for 'unknown': those that are likely another code, misspelt.

    Examples
    --------
    >>> import pandas as pd
    >>> from tabprotect.table.dimension import Dimension
    >>> from tabprotect.table.tabulate import tabulate
    >>> region = Dimension("region", missing=["unknwon", "x", "99"])
    >>> unknown_missing(tabulate(pd.DataFrame({"region": ["N", "unknown", "X"]}), region))
    ["missing: 'unknwon' is no code of 'region'; did you mean 'unknown'?",
     "missing: 'x' is no code of 'region'; 'X' is known: they differ in upper and lower case only"]
    """
    return [
        f"missing: '{code}' is no code of '{name}'{explain_unknown(code, codes)}"
        for name, code, codes in _absent(table)
        if likely_misspelt(code, codes)
    ]


def absent_missing(table: Table) -> tuple[str, ...]:
    """Say which codes that stand for 'unknown' no record has: another period may have them.

    Examples
    --------
    >>> import pandas as pd
    >>> from tabprotect.table.dimension import Dimension
    >>> from tabprotect.table.tabulate import tabulate
    >>> absent_missing(tabulate(pd.DataFrame({"region": ["N", "S"]}), Dimension("region", missing=["99"])))
    ("no record has the code '99' of 'region', which stands for 'unknown', and none is without a code",)
    """
    return tuple(
        f"no record has the code '{code}' of '{name}', which stands for 'unknown', and none is without a code"
        for name, code, codes in _absent(table)
        if not likely_misspelt(code, codes)
    )


def _absent(table: Table) -> list[tuple[str, str, Sequence[str]]]:
    """Return the codes for 'unknown' that no table has: the dimension, the code, and the codes that there are."""
    dimensions = (*table.dimensions, *(one for part in table.parts.values() for one in part))
    codes = {str(one.name): one.codes for one in dimensions}
    known = {(str(one.name), code) for one in dimensions for code in one.codes}
    wanted = dict.fromkeys((str(one.name), code) for one in dimensions for code in one.missing)
    return [(name, code, codes[name]) for name, code in wanted if (name, code) not in known]
