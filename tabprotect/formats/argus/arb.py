"""Batches of tau-ARGUS (.arb): the commands line by line, in an order that makes sense."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tabprotect.errors import Problems, did_you_mean
from tabprotect.formats.argus import commands as c
from tabprotect.formats.argus.text import Text, read_lines

__all__ = ["KEYWORDS", "Batch", "Command", "parse_batch", "read_batch"]


@dataclass(frozen=True)
class Command:
    """One line of a batch.

    Parameters
    ----------
    line : int
        Its number, from 1.
    text : str
        As it is written.
    action : object
        What it asks for; see `tabprotect.formats.argus.commands`. None for a comment or what has no effect.
    note : str
        Why it has no effect.
    """

    line: int
    text: str
    action: c.Action | None
    note: str = ""


@dataclass(frozen=True)
class Batch:
    """The commands of a batch, in their order.

    Parameters
    ----------
    name : str
    commands : tuple of Command
    encoding : str
    """

    name: str
    commands: tuple[Command, ...]
    encoding: str = "utf-8"


def _name(make: Callable[[str], c.Action]) -> Callable[[str], c.Action]:
    def read(text: str) -> c.Action:
        words = c.fields_of(text)
        if len(words) != 1 or not words[0]:
            # an unquoted path may hold commas, and batches with a lost quote are about
            words = [text.strip().strip('"').strip()]
        if not words[0]:
            raise ValueError("is followed by the name of a file")
        return make(words[0])

    return read


def _nothing(make: Callable[[], c.Action]) -> Callable[[str], c.Action]:
    return lambda _text: make()


KEYWORDS: Final[dict[str, Callable[[str], c.Action]]] = {
    "OPENMICRODATA": _name(lambda name: c.OpenData(name, False)),
    "OPENTABLEDATA": _name(lambda name: c.OpenData(name, True)),
    "OPENMETADATA": _name(c.OpenMetadata),
    "SPECIFYTABLE": c.SpecifyTable.parse,
    "SAFETYRULE": c.SafetyRule.parse,
    "READMICRODATA": lambda text: c.ReadData.parse(text, False),
    "READTABLE": lambda text: c.ReadData.parse(text, True),
    "APRIORI": c.Apriori.parse,
    "APRIORY": c.Apriori.parse,
    "RECODE": c.Recode.parse,
    "COVER": _nothing(c.Cover),
    "SUPPRESS": c.Suppress.parse,
    "SOLVER": c.Solver.parse,
    "WRITETABLE": c.WriteTable.parse,
    "LOGBOOK": _name(c.Logbook),
    "VERSIONINFO": _name(c.VersionInfo),
    "CLEAR": _nothing(c.Clear),
    "GOINTERACTIVE": _nothing(c.GoInteractive),
}
"""Every command, and what reads the text after it."""

_WITHOUT_EFFECT: Final = {"COMMENT": "", "SILENT": "nothing is shown in windows", "ANCO": "a switch for developers"}
_ELSEWHERE: Final = {"JJ": "write tabprotect solve FILE.jj"}


def read_batch(path: str | Path) -> Batch:
    """Read a batch of tau-ARGUS.

    Raises
    ------
    InputError
        Every line that is not understood, and why: unknown commands, parameters that cannot be, commands before
        those that they need, numbers of tables that there are not.

    References
    ----------
    tau-ARGUS 4.1 manual, section 5.7.
    """
    return parse_batch(read_lines(path))


def parse_batch(text: Text) -> Batch:
    """Read the lines of a batch; see `read_batch`.

    Examples
    --------
    >>> lines = ("<OPENTABLEDATA> pp.tab", "<OPENMETADATA> pp.rda", '<SPECIFYTABLE> "Size"|"Var2"||', "<READTABLE> 1")
    >>> batch = parse_batch(Text("small.arb", lines, "utf-8"))
    >>> batch.commands[2].action
    SpecifyTable(by=('Size',), response='Var2', shadow='', cost='', power=1.0)
    """
    problems = Problems()
    order = _Order()
    commands: list[Command] = []
    for number, line in enumerate(text.lines, 1):
        stripped = _without_comment(line).strip()
        if not stripped:
            continue
        found = re.match(r"<\s*([A-Za-z]+)\s*>(.*)$", stripped)
        keyword = found[1].upper() if found else ""
        where = f"{text.name}, line {number}"
        if found is None:
            problems.add(f"{where}: '{_short(stripped)}' is no command; commands are words such as <READTABLE>")
        elif keyword in _WITHOUT_EFFECT:
            commands.append(Command(number, stripped, None, _WITHOUT_EFFECT[keyword]))
        elif keyword in _ELSEWHERE:
            problems.add(f"{where}: <{keyword}> is not run from a batch; {_ELSEWHERE[keyword]}")
        elif keyword not in KEYWORDS:
            problems.add(f"{where}: <{keyword}> is not known{did_you_mean(keyword, KEYWORDS)}")
        else:
            try:
                action = KEYWORDS[keyword](found[2])
            except ValueError as error:
                problems.add(f"{where}: <{keyword}> {error}")
                order.assume(keyword)
                continue
            problems.found += [f"{where}: <{keyword}> {what}" for what in order.check(action)]
            commands.append(Command(number, stripped, action))
    if not commands and not problems.found:
        problems.add(f"{text.name}: the batch holds no command")
    problems.raise_if_any()
    return Batch(text.name, tuple(commands), text.encoding)


class _Order:
    """What commands have been seen, as far as others depend on them."""

    def __init__(self) -> None:
        self.data: bool | None = None
        self.metadata = self.tables = self.unread = 0
        self.read = False

    def assume(self, keyword: str) -> None:
        """A command that was not understood is taken as seen, so that one mistake makes one message."""
        if keyword in ("OPENMICRODATA", "OPENTABLEDATA"):
            self.data = keyword == "OPENTABLEDATA"
        elif keyword == "OPENMETADATA":
            self.metadata += 1
        elif keyword == "SPECIFYTABLE":
            self.tables += 1
            self.unread += 1
        elif keyword in ("READMICRODATA", "READTABLE"):
            self.read, self.unread = True, 0

    def check(self, action: c.Action) -> list[str]:
        """Return what is missing before this command."""
        wrong: list[str] = []
        match action:
            case c.OpenData(table=table):
                if self.data is not None and (not table or not self.data):
                    wrong.append("opens other data; write <CLEAR> before it, which begins anew")
                self.data, self.metadata = table, 0
            case c.OpenMetadata():
                if self.data is None:
                    wrong.append("comes before the data; write <OPENMICRODATA> or <OPENTABLEDATA> first")
                self.metadata += 1
            case c.SpecifyTable():
                if not self.metadata:
                    wrong.append("comes before the metadata; write <OPENMETADATA> first")
                self.tables += 1
                self.unread += 1
                self.read = False
            case c.SafetyRule():
                if not self.unread:
                    wrong.append("belongs to a table; write <SPECIFYTABLE> before it, and read the data after it")
            case c.ReadData(table=table):
                if not self.tables:
                    wrong.append("has no table to read; write <SPECIFYTABLE> before it")
                elif self.data is not None and table != self.data:
                    other = "READTABLE" if self.data else "READMICRODATA"
                    wrong.append(f"does not go with these data; write <{other}>")
                self.read, self.unread = True, 0
            case c.Recode() if self.data:
                wrong.append("changes categories of microdata; a finished table cannot be recoded")
            case c.Clear():
                self.__init__()  # type: ignore[misc]
        if isinstance(action, c.Apriori | c.Recode | c.Suppress | c.WriteTable):
            if not self.read:
                wrong.append("comes before the data are read; write <READMICRODATA> or <READTABLE> first")
            elif action.table > self.tables:
                wrong.append(f"names table {action.table}, and there are {self.tables}")
        return wrong


def _without_comment(line: str) -> str:
    if line.lstrip().startswith("\\\\"):
        return ""
    inside = False
    for i, letter in enumerate(line):
        if letter == '"':
            inside = not inside
        elif not inside and line.startswith("//", i):
            return line[:i]
    return line


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "..."
