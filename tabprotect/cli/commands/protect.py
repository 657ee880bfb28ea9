"""``tabprotect protect``: from a specification or flags to a release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from tabprotect.cli.arguments import MemoryLimit, Resume, TimeLimit, Workers, WorkLimit
from tabprotect.cli.flags import SEARCH, with_flags

EPILOG = """Examples:

[bold]tabprotect protect turnover.toml[/]

[bold]tabprotect protect register.csv --by nace --by region --hierarchy nace=nace.hrc --value turnover
--contributor enterprise_id --holding group_id --rule "p%=15" --rule "threshold=3" --out release[/]

[bold]tabprotect protect register.csv --by nace --by region --value turnover --rule "p%=15" --method round
--base 1000[/]

[bold]tabprotect protect firms.csv --by code --value turnover --decimal , --lengths code=1,3 --rule "p%=15"[/]

[bold]tabprotect protect --cells table.csv --by region --value v --count n --rule "threshold=3"[/]
"""


@with_flags(release=True)
def protect(
    spec: Annotated[
        Path | None,
        typer.Argument(
            metavar="SPEC.toml|DATA",
            help="Everything in one file, overridden by flags; or the microdata (text, Excel, Parquet, DuckDB).",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="WORD",
            help="Hiding: {hiding}. Other values: {tables}; from microdata: {records}. Fewer categories: {recoding}.",
            rich_help_panel=SEARCH,
            show_default=False,
        ),
    ] = None,
    time_limit: TimeLimit = None,
    work_limit: WorkLimit = None,
    memory_limit: MemoryLimit = None,
    workers: Workers = None,
    resume: Resume = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Same seed, same answer.", rich_help_panel=SEARCH)
    ] = None,
    *,
    flags: Mapping[str, Any],
) -> int:
    """Find the sensitive cells of a table, hide or change as little as possible to protect them, and prove it.

    Writes publish/ (for everybody) and internal/ (confidential). The first Ctrl-C stops with the best answer so far.
    """
    from tabprotect.cli.asked import asked
    from tabprotect.cli.run import carry_out
    from tabprotect.workflow.beforehand import check_beforehand

    limits = {"seconds": time_limit, "work": work_limit, "memory": memory_limit}
    given = asked(spec, flags, method=method, seed=seed, limits=limits)
    checked = check_beforehand(given.content, given.name, given.base, resume=resume, **given.more)
    return carry_out(checked, given.base, workers=workers, resume=resume, **given.more)
