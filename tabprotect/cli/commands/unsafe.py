"""``tabprotect unsafe``: combinations of keys that too few records share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Examples:

[bold]tabprotect unsafe people.csv --keys region,age,sex[/]

[bold]tabprotect unsafe people.csv --keys region,age,sex --up-to 2 --threshold 10,3 --json unsafe.json[/]

What this prints is confidential.
"""


Data = Annotated[
    Path, typer.Argument(metavar="DATA", help="File with a record in every row: text, Excel, Parquet, DuckDB.")
]
Keys = Annotated[str, typer.Option("--keys", metavar="A,B,C", help="Columns that an intruder may know.")]
UpTo = Annotated[int, typer.Option("--up-to", min=1, help="The most keys in a combination.")]
Threshold = Annotated[
    str, typer.Option("--threshold", metavar="N[,N]", help="Records that must share a combination; one by size.")
]
Decimal = Annotated[str | None, typer.Option("--decimal", metavar="SIGN", help="Decimal sign; recognised.")]
Separator = Annotated[
    str | None, typer.Option("--separator", metavar="SIGN", help="Sign between fields, or 'tab'; recognised.")
]
Encoding = Annotated[str | None, typer.Option("--encoding", metavar="NAME", help="Such as cp1252; recognised.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="thousands, member, sheet or relation.")
]
Rows = Annotated[int, typer.Option("--rows", min=1, help="How many sets of keys are shown.")]
JsonOut = Annotated[
    Path | None, typer.Option("--json", metavar="OUT", help="Write the whole table as JSON.", show_default=False)
]
Large = Annotated[
    bool, typer.Option("--large", help="Count outside of memory, in files of any size; DATA may be a pattern.")
]


def unsafe(
    data: Data,
    keys: Keys,
    up_to: UpTo = 3,
    threshold: Threshold = "3",
    decimal: Decimal = None,
    separator: Separator = None,
    encoding: Encoding = None,
    settings: Settings = None,
    rows: Rows = 30,
    json_out: JsonOut = None,
    large: Large = False,
) -> int:
    """Count combinations of keys that too few records share: which keys to recode, and what is left to suppress."""
    import json

    from tabprotect import microdata as md
    from tabprotect.cli import screen
    from tabprotect.cli.exits import Exit
    from tabprotect.cli.progress import working
    from tabprotect.cli.settings import file_of
    from tabprotect.errors import InputError
    from tabprotect.formats.files import write_text

    names = [name.strip() for name in keys.split(",") if name.strip()]
    try:
        numbers = [int(word) for word in threshold.split(",")]
    except ValueError:
        raise InputError(
            f"--threshold must be a whole number, or one for each size such as 10,3, not '{threshold}'"
        ) from None
    by_size = numbers[0] if len(numbers) == 1 else dict(enumerate(numbers, 1))
    file = file_of(data, {"decimal": decimal, "separator": separator, "encoding": encoding}, settings)
    with working(screen.screen(), "count"):
        found = md.unsafe_combinations(
            file, keys=names, up_to=up_to, threshold=by_size, large=md.Large() if large else False
        )
    screen.said(found.recognised)
    if json_out is not None:
        write_text(json_out, json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n")
    console = screen.out()
    shown = found.table[found.table["unsafe"] > 0]
    console.print(found.summary().splitlines()[0])
    if len(shown):
        columns = ("unsafe", "minimal", "records in them", "combinations", "keys")
        cells = [
            (f"{row.unsafe:,}", f"{row.minimal:,}", f"{row.records:,}", f"{row.combinations:,}", str(row.keys))
            for row in shown.itertuples()
        ]
        screen.cells_table(console, columns, cells, most=rows)
    return Exit.UNSAFE if found.value else Exit.DONE
