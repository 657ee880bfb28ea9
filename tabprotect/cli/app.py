"""The application: finds the commands, turns errors into one clear message and an exit code."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence
from enum import IntEnum
from typing import Annotated

import typer
from rich.console import Console

from tabprotect._version import __version__
from tabprotect.cli import commands
from tabprotect.errors import InfeasibleError, InputError, SolverError

__all__ = ["Exit", "app", "run"]


class Exit(IntEnum):
    """What the exit code of every command means."""

    DONE = 0  #: done; where there is a pattern, it is safe
    UNSAFE = 1  #: not safe, infeasible, or no safe answer within the limits
    INPUT = 2  #: the input is wrong
    LIMIT = 3  #: a limit was reached (or Ctrl-C pressed); the answer given is safe
    INTERRUPTED = 130  #: ended by a second Ctrl-C


app = typer.Typer(
    name="tabprotect",
    help="Protect statistical tables against disclosure, with a proof that needs no solver to check.",
    epilog="Exit codes: 0 done, 1 not safe or infeasible, 2 bad input, 3 a limit was reached with a safe answer.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # its tracebacks show local variables, which may be confidential
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


# newer releases of typer bring a click of their own
_Usage: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tabprotect {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


for _module in sorted(pkgutil.iter_modules(commands.__path__), key=lambda module: module.name):
    _command = importlib.import_module(f"{commands.__name__}.{_module.name}")
    app.command(_module.name.replace("_", "-"), epilog=getattr(_command, "EPILOG", None))(
        getattr(_command, _module.name)
    )


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; what the user can mend never ends in a traceback."""
    screen = Console(stderr=True)
    try:
        code = app(list(arguments), standalone_mode=False)
        sys.stdout.flush()
    except InputError as error:
        return _fail(screen, "Bad input", error, Exit.INPUT)
    except InfeasibleError as error:
        return _fail(screen, "Not possible", error, Exit.UNSAFE)
    except SolverError as error:
        return _fail(screen, "Solver failed", error, Exit.UNSAFE)
    except MemoryError:
        return _fail(screen, "Out of memory", "nothing was written", Exit.UNSAFE)
    except typer.Abort:
        return int(Exit.INTERRUPTED)
    except _Usage as error:
        error.show()  # type: ignore[attr-defined]
        return int(Exit.INPUT)
    except KeyboardInterrupt:
        screen.print("Ended; nothing was written.", style="yellow")
        return int(Exit.INTERRUPTED)
    except BrokenPipeError:
        # the reader of our output has gone; say nothing more, also when Python flushes at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(Exit.DONE)
    return int(code or 0)


def _fail(screen: Console, what: str, why: object, code: Exit) -> int:
    screen.print(f"{what}: {why}", style="bold red", markup=False, highlight=False, soft_wrap=True)
    return int(code)
