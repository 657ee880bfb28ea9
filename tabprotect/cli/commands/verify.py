"""``tabprotect verify``: check a certificate or a release without a solver."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Examples:

[bold]tabprotect verify release[/]

[bold]tabprotect verify certificate.json --against table8.jj[/]
"""


def verify(
    target: Annotated[
        Path, typer.Argument(metavar="CERTIFICATE|RELEASE", help="A certificate, or a release's folder.")
    ],
    against: Annotated[
        Path | None,
        typer.Option(
            "--against", metavar="DATA", help="The office's own data: a .jj or .csv file, or another certificate."
        ),
    ] = None,
) -> int:
    """Check a proof with integers and fractions only, without a solver; of a release also every file.

    Exit code 0 only if everything holds and proves that every protection level is reached.
    """
    from tabprotect.attack.document import Malformed
    from tabprotect.attack.verify import verify as check
    from tabprotect.cli import screen
    from tabprotect.cli.app import Exit
    from tabprotect.errors import InputError
    from tabprotect.formats.files import read_bytes
    from tabprotect.formats.folder import PUBLISH, changed_files, read_manifest
    from tabprotect.formats.places import recover
    from tabprotect.formats.released import read_release

    failures: list[str] = []
    certificate = target
    recover(target)
    if target.is_dir():
        released = read_release(target)
        failures = [*changed_files(target), *released.failures]
        if released.certificate.document["publication"] != read_manifest(target)[PUBLISH]:
            failures.append("the certificate names other digests of the published files than the release does")
        certificate = target / "internal" / "certificate.json"
    for path in (certificate, against):
        if path is not None:
            read_bytes(path)  # for its clear errors
    try:
        found = check(certificate, against=against)
    except (OSError, Malformed) as error:
        raise InputError(f"{target} cannot be checked: {error}") from error
    console = screen.out()
    colour = "green" if found.safe and not failures else "red"
    first, *rest = found.summary().split("\n")
    if target.is_dir():
        rest = [line for line in rest if line != "not checked: the files published"]
        rest.append("checked: every file of the release, and that what is published is what was proven")
    console.print(first, style=f"bold {colour}")
    for line in rest:
        console.print(line)
    for failure in failures:
        screen.wrong(console, failure)
    return Exit.DONE if found.safe and not failures else Exit.UNSAFE
