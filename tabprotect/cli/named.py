"""Commands: help that lists methods by the registry, read when it is asked for, and errors in words of the face."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
import typer.core

from tabprotect.cli.asked import is_given
from tabprotect.cli.faces import Face, said_on
from tabprotect.cli.flags import by_key
from tabprotect.errors import InputError

__all__ = ["Command", "Stopped", "filled"]


class Stopped(Exception):
    """Ctrl-C ended a command."""


class Command(typer.core.TyperCommand):
    """A command in whose help ``{methods}`` and the other words of `filled` stand for lists of the registry."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Fill the help of every option, and write it."""
        for parameter in self.params:
            text = getattr(parameter, "help", None)
            if text:
                parameter.help = filled(text)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Carry the command out; the cures of its errors name its flags, or the keys of its specification."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            options = [name for parameter in self.params for name in parameter.opts if name.startswith("--")]
            arguments = [one for one in ctx.params.values() if isinstance(one, Path)]
            given = {flag.name: ctx.params.get(flag.parameter) for flag in by_key().values()}
            given = {name: value for name, value in given.items() if is_given(value)}
            face = Face(options, any(path.suffix.lower() == ".toml" for path in arguments), given)
            # one flag may set two keys, which are wrong in the same way
            raise InputError(*dict.fromkeys(said_on(problem, face) for problem in error.problems)) from error
        except KeyboardInterrupt as error:
            # typer would end the program without a word
            raise Stopped from error


def filled(text: str) -> str:
    """Return a help text with the lists of the registry in it.

    Examples
    --------
    >>> filled("One of {hiding}.")
    'One of auto, exact, greedy, local, modular, hypercube, network, joint, passes.'
    """
    if "{" not in text:
        return text
    from tabprotect.cli.values import METHODS as OF_INSTANCES
    from tabprotect.methods.registry import METHODS, names, options_help
    from tabprotect.methods.suppression import methods

    changing = [one for one in METHODS.values() if one.family == "values"]
    lists = {
        "{hiding}": ", ".join(names("suppress")),
        "{tables}": ", ".join(one.name for one in changing if one.acts_on != "records"),
        "{records}": ", ".join(one.name for one in changing if one.acts_on == "records"),
        "{recoding}": ", ".join(names("recode")),
        "{solved}": ", ".join(methods()),
        "{changed}": ", ".join(OF_INSTANCES),
        "{options}": " ".join(
            f"{', '.join(group)}: {', '.join(options)}." for group, options in options_help().items()
        ),
    }
    if "{compared}" in text:
        # all that attacks and audits comes with it
        from tabprotect.comparison import APPROACHES

        lists["{compared}"] = ", ".join(APPROACHES)
    for word, names_ in lists.items():
        text = text.replace(word, names_)
    return text
