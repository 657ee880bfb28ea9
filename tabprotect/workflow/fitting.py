"""What a request says of a table that it does not fit: its rules, costs, bounds and attackers, all of it at once."""

from __future__ import annotations

from tabprotect.errors import Problems
from tabprotect.methods.recoding.method import Recode
from tabprotect.sensitivity.assess import assess
from tabprotect.sensitivity.attackers import known_cells
from tabprotect.sensitivity.bounds import external_bounds
from tabprotect.sensitivity.costs import costs
from tabprotect.sensitivity.rule import Override
from tabprotect.table.codes import explain_unknown
from tabprotect.table.table import Table
from tabprotect.workflow.request import Request

__all__ = ["unfitting", "unknown_missing"]


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
    """Return what is wrong with codes that stand for 'unknown': no table has them.

    Examples
    --------
    >>> import pandas as pd
    >>> from tabprotect.table.dimension import Dimension
    >>> from tabprotect.table.tabulate import tabulate
    >>> region = Dimension("region", missing=["X", "Y"])
    >>> unknown_missing(tabulate(pd.DataFrame({"region": ["N", "X"]}), region))
    ["missing: 'Y' is no code of 'region', and no record is without a code; there are 'Total', 'N', 'X'"]
    """
    dimensions = (*table.dimensions, *(one for part in table.parts.values() for one in part))
    codes = {str(one.name): one.codes for one in dimensions}
    known = {(str(one.name), code) for one in dimensions for code in one.codes}
    wanted = dict.fromkeys((str(one.name), code) for one in dimensions for code in one.missing)
    return [
        f"missing: '{code}' is no code of '{name}', and no record is without a code{explain_unknown(code, codes[name])}"
        for name, code in wanted
        if (name, code) not in known
    ]
