"""The application: finds the commands, turns errors into one clear message and an exit code."""

from __future__ import annotations

import errno
import importlib
import os
import pkgutil
import platform
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from tabprotect._version import __version__
from tabprotect.cli import commands
from tabprotect.cli import screen as screens
from tabprotect.cli.exits import EndedAtOnce, Exit, ended
from tabprotect.cli.line import remember
from tabprotect.cli.named import Command, Stopped
from tabprotect.cli.screen import Screen
from tabprotect.errors import InfeasibleError, InputError, SolverError

__all__ = ["Exit", "app", "run"]


app = typer.Typer(
    name="tabprotect",
    help="Protect statistical tables against disclosure, with a proof that needs no solver to check.",
    epilog="Exit codes: 0 done, 1 not safe or infeasible, 2 bad input, 3 stopped by a limit or Ctrl-C with a safe "
    "answer or none, 70 the program failed, which says nothing about the data, 130 ended at once by a second Ctrl-C.",
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
    app.command(_module.name.replace("_", "-"), cls=Command, epilog=getattr(_command, "EPILOG", None))(
        getattr(_command, _module.name)
    )


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; nothing ever ends in a traceback."""
    screen = screens.screen()
    remember(arguments)
    try:
        with _plain_warnings(screen):
            return _run(arguments, screen)
    except BrokenPipeError:
        # the reader of our output has gone; say nothing more, also when Python flushes at its end
        return _unread()
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):
            # typer makes an exit with code 1 of it, which would be a verdict
            return _unread()
        return error.code if isinstance(error.code, int) else int(Exit.FAULT if error.code else Exit.DONE)
    except KeyboardInterrupt:
        # while an error was being told, or before the work began
        return _ended(arguments, screen, twice=False)
    except BaseException as error:
        return _fault(screen, error)


def _run(arguments: Sequence[str], screen: Screen) -> int:
    try:
        code = app(list(arguments), standalone_mode=False)
        if code == Exit.INTERRUPTED:
            # no command returns it: typer makes it of an interrupt outside of them
            raise KeyboardInterrupt
        sys.stdout.flush()
    except InputError as error:
        return _fail(screen, "Bad input", error, Exit.INPUT)
    except InfeasibleError as error:
        return _fail(screen, "Not possible", error, Exit.UNSAFE)
    except SolverError as error:
        return _fail(screen, "Solver failed", error, Exit.FAULT)
    except MemoryError:
        return _fail(screen, "Out of memory", "nothing was written", Exit.FAULT)
    except _Usage as error:
        return _misused(screen, error)
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        return _fail(screen, "Bad input", f"{error.strerror}: {str(error.filename)[:120]}...", Exit.INPUT)
    except (Stopped, typer.Abort, KeyboardInterrupt) as error:
        return _ended(arguments, screen, twice=isinstance(error.__cause__ or error, EndedAtOnce))
    return int(code or 0)


def _ended(arguments: Sequence[str], screen: Screen, *, twice: bool) -> int:
    """Say that Ctrl-C ended the work before there was an answer."""
    code = Exit.INTERRUPTED if twice else ended(arguments)
    what = "before there was a verdict" if code == Exit.UNSAFE else "nothing was written"
    screen.print(f"Ended; {what}.", style="yellow")
    return int(code)


def _unread() -> int:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(Exit.UNREAD)


def _fail(screen: Screen, what: str, why: object, code: Exit) -> int:
    screen.print(f"{what}: {why}", style="bold red", soft_wrap=True)
    return int(code)


_NO_NUMBERS = (
    (
        "Input should be a valid number, unable to parse string as a number",
        "it should be a number; decimals are written with a point, such as 0.5",
    ),
    ("Input should be a valid integer, unable to parse string as an integer", "it should be a whole number"),
)
"""What the reader of the command line says of numbers, and that in plain words."""


def _misused(screen: Screen, error: Any) -> int:
    """Say what is wrong with the command line."""
    context = getattr(error, "ctx", None)
    message = error.format_message()
    for words, plain in _NO_NUMBERS:
        message = message.replace(words, plain)
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(message, err=True)
        return int(Exit.INPUT)
    if context is not None:
        screen.print(context.get_usage(), style="yellow", soft_wrap=True)
        screen.print(f"Try '{context.command_path} -h' for help.", style="dim", soft_wrap=True)
    return _fail(screen, "Error", message, Exit.INPUT)


def _fault(screen: Screen, error: BaseException) -> int:
    """Say in one line what to report of an error that nobody foresaw: its kind and place, no word of the data."""
    frames = traceback.extract_tb(error.__traceback__)
    home = Path(__file__).parents[1]
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(home)]
    places = dict.fromkeys(_place(frame, home.parent) for frame in (*ours[-1:], *frames[-1:]))
    kind = type(error)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return _fail(
        screen,
        "The program failed, which says nothing about the data; please report this line",
        f"{name} at {' in '.join(places) or 'an unknown place'} (tabprotect {__version__}, "
        f"Python {platform.python_version()}, {sys.platform})",
        Exit.FAULT,
    )


def _place(frame: traceback.FrameSummary, home: Path) -> str:
    file = Path(frame.filename)
    short = file.relative_to(home) if file.is_relative_to(home) else Path(*file.parts[-2:])
    return f"{short.as_posix()}:{frame.lineno}"


@contextmanager
def _plain_warnings(screen: Screen) -> Iterator[None]:
    """Show warnings of libraries in one clean line each, without the source line that raised them."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        screen.print(f"Warning: {message} ({category.__name__})", style="yellow", soft_wrap=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
