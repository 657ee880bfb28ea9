"""Write the manual page from the command line: ``python docs/man.py`` writes ``docs/man/tabprotect.1``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from tabprotect.cli.app import app

OUT = Path(__file__).parent / "man" / "tabprotect.1"

#: commands of rich markup: [bold], [/], [link=...]
MARKUP = re.compile(r"\[/?(?:bold|dim|italic|link|green|red|yellow|cyan)?(?:=[^\]]*)?\]")


def roff(text: str) -> str:
    r"""Return plain text as roff, on one line; markup of the terminal is left out.

    >>> print(roff("[bold]a[/] --seed 1"))
    a \-\-seed 1
    """
    plain = " ".join(MARKUP.sub("", text).replace("\\[", "[").split())
    plain = plain.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


def paragraphs(text: str | None) -> Iterator[str]:
    """Yield the paragraphs of a help text as roff."""
    for part in re.split(r"\n\s*\n", inspect.cleandoc(text or "")):
        if words := roff(part.replace("\f", "").replace("\b", "")):
            yield words


def parameter(given: Any, context: Any) -> Iterator[str]:
    """Yield the lines of one argument or option; none of a hidden one."""
    record = given.get_help_record(context)
    if record is None:
        return
    shown, words = record
    style = "I" if given.param_type_name == "argument" else "B"
    yield from (".TP", f".{style} {roff(shown)}", roff(words) or "\\&")


def command(name: str, one: Any, parent: Any) -> Iterator[str]:
    """Yield the section of one command."""
    context = one.make_context(name, [], parent=parent, resilient_parsing=True)
    yield f".SS tabprotect {roff(name)}"
    usage = " ".join(one.collect_usage_pieces(context))
    yield from (".PP", f"\\fBtabprotect {roff(name)}\\fR {roff(usage)}")
    for words in paragraphs(one.help):
        yield from (".PP", words)
    for given in one.get_params(context):
        yield from parameter(given, context)
    for words in paragraphs(one.epilog):
        yield from (".PP", words)


def page() -> str:
    """Return the manual page."""
    group = typer.main.get_command(app)
    context = group.make_context("tabprotect", [], resilient_parsing=True)
    lines = [
        '.\\" made by docs/man.py from the command line',
        '.TH TABPROTECT 1 "" "tabprotect" "User Commands"',
        ".SH NAME",
        f"tabprotect \\- {roff(str(group.help)).rstrip('.')}",
        ".SH SYNOPSIS",
        ".B tabprotect",
        ".I COMMAND",
        "[\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]",
        ".SH OPTIONS",
    ]
    for given in group.get_params(context):
        lines += parameter(given, context)
    lines.append(".SH COMMANDS")
    for name in group.list_commands(context):
        lines += command(name, group.get_command(context, name), context)
    lines += [".SH EXIT STATUS", *paragraphs(group.epilog)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(page(), encoding="utf-8")
