"""``tabprotect verify``: check certificates or releases without a solver."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Examples:

[bold]tabprotect verify release[/]

[bold]tabprotect verify release2025[/]   (what `tabprotect apply` wrote: every cluster and every masked file)

[bold]tabprotect verify certificate.json --against table8.jj[/]
"""


def verify(
    targets: Annotated[
        list[Path],
        typer.Argument(metavar="CERTIFICATE|RELEASE...", help="Certificates, or folders of releases or of a period."),
    ],
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            metavar="DATA",
            help="The office's own data: a .jj or .csv file, another certificate, or a release's folder. Compared is "
            "all that they state: cells, equations, attackers, integrality, bounds, levels, costs, statuses.",
        ),
    ] = None,
    no_limits: Annotated[
        bool,
        typer.Option("--no-limits", help="Check a document of any size: for those that you made yourself."),
    ] = False,
) -> int:
    """Check a proof with integers and fractions only, without a solver; of a release also every file.

    The public files of a release are made again from the proof, and compared byte for byte. Exit code 0 only if
    everything holds and proves that every protection level is reached; of several releases each one is checked.
    """
    from tabprotect.cli import screen
    from tabprotect.cli.exits import Exit
    from tabprotect.cli.progress import Display
    from tabprotect.errors import InputError
    from tabprotect.formats.places import recover
    from tabprotect.release.period import releases_in
    from tabprotect.solver.limits import Budget

    for target in (*targets, *([] if against is None else [against])):
        recover(target)
    found = [place for target in targets for place in releases_in(target)]
    if against is not None and len(found) > 1:
        raise InputError(f"--against is compared with one certificate, not with {len(found)}; verify them one by one")
    codes = []
    with Display(screen.screen()) as progress:
        budget = Budget(progress=progress)
        for place in found:
            budget.report("verify", message=str(place))
            if len(found) > 1:
                screen.out().print(str(place), style="bold")
            codes.append(_verify(place, against, no_limits))
    return Exit.DONE if not any(codes) else Exit.UNSAFE


def _verify(target: Path, against: Path | None, no_limits: bool) -> int:
    from tabprotect.certificate.document import Malformed
    from tabprotect.certificate.limits import LIMITS, UNLIMITED
    from tabprotect.certificate.verify import verify as check
    from tabprotect.cli import screen
    from tabprotect.cli.exits import Exit
    from tabprotect.errors import InputError
    from tabprotect.formats.certificate import check_file
    from tabprotect.formats.folder import MASKED, MASKED_LARGE, read_manifest
    from tabprotect.release.read import certificate_of
    from tabprotect.release.verify import check_folder

    kind = read_manifest(target).get("kind") if target.is_dir() else None
    if kind in (MASKED, MASKED_LARGE):
        return _verify_masked(target, large=kind == MASKED_LARGE)
    limits = UNLIMITED if no_limits else LIMITS
    if against is not None:
        against = certificate_of(against) if against.is_dir() else check_file(against)
    released = None
    try:
        if target.is_dir():
            found, released = check_folder(target, against, limits)
        else:
            found = check(check_file(target), against=against, limits=limits)
    except (OSError, Malformed) as error:
        raise InputError(f"{target} cannot be checked: {error}") from error
    console, failures = screen.out(), () if released is None else released.failures
    colour = "green" if found.safe and not failures else "red"
    first, *rest = found.summary("." if released is None else released.dialect.decimal).split("\n")
    console.print(first, style=f"bold {colour}")
    for line in rest:
        console.print(line.replace("(against= compares it)", "(--against compares it)"))
    for failure in failures:
        screen.wrong(console, failure)
    return Exit.DONE if found.safe and not failures else Exit.UNSAFE


def _verify_masked(target: Path, *, large: bool) -> int:
    from tabprotect.cli import screen
    from tabprotect.cli.exits import Exit
    from tabprotect.microdata.folder import verify_masked
    from tabprotect.microdata.large.folder import verify_large

    checked = verify_large(target) if large else verify_masked(target)
    screen.out().print(checked.summary(), style="green" if checked else "red")
    return Exit.DONE if checked else Exit.UNSAFE
