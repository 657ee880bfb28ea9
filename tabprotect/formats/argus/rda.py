"""Metadata of ARGUS (.rda): the variables of a file of microdata or of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from tabprotect.errors import Problems, did_you_mean
from tabprotect.formats.argus.rda_keywords import KEYWORDS, PARTS
from tabprotect.formats.argus.text import Text, read_lines, split_words

__all__ = ["Metadata", "Variable", "parse_rda", "read_rda"]


_TABLE_ONLY: Final = ("FREQUENCY", "MAXSCORE", "STATUS", "SAFE", "UNSAFE", "PROTECT", *PARTS)


@dataclass(frozen=True)
class Variable:
    """One variable of a file.

    Parameters
    ----------
    name : str
    start, width : int
        First character (from 1) and number of characters, in files of fixed width.
    missing : tuple of str
        Codes that stand for "unknown".
    recodable : bool
        It spans tables.
    total : str
        Code of the total.
    distance : tuple of int
        Cost of a cell by its number of steps from a sensitive one.
    codelist, hierarchy : str
        Files of labels (.cdl) and of the hierarchy (.hrc).
    leader : str
        What indents the lines of the hierarchy file.
    levels : tuple of int
        Or the number of characters of every level of the codes.
    numeric : bool
    decimals : int
    part : str
        In tables: 'shadow', 'cost', 'lpl', 'upl', 'count', 'top', 'status'; '' for a value.
    weight, holding, truncable, record_key, household, house_id : bool
    request : tuple of str
        Codes of those who ask for protection, the first and second kind.
    id_level : int, optional
        Level of identification (mu-ARGUS).
    priority : int, optional
        Weight of the variable in local suppression (mu-ARGUS).
    related : tuple of str
        Variables that are suppressed with this one (mu-ARGUS).
    other : tuple of (str, tuple of str)
        Keywords of the cell-key method, as they are.
    """

    name: str
    start: int = 0
    width: int = 0
    missing: tuple[str, ...] = ()
    recodable: bool = False
    total: str = "Total"
    distance: tuple[int, ...] = ()
    codelist: str = ""
    hierarchical: bool = False
    hierarchy: str = ""
    leader: str = "@"
    levels: tuple[int, ...] = ()
    numeric: bool = False
    decimals: int = 0
    part: str = ""
    weight: bool = False
    holding: bool = False
    request: tuple[str, ...] = ()
    truncable: bool = False
    record_key: bool = False
    id_level: int | None = None
    household: bool = False
    house_id: bool = False
    priority: int | None = None
    related: tuple[str, ...] = ()
    other: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class Metadata:
    """What an .rda file says.

    Parameters
    ----------
    kind : {'fixed', 'free', 'table'}
        Microdata of fixed width, microdata with separators, or a finished table.
    variables : tuple of Variable
    separator : str
        '' for fixed width.
    names_first : bool
        The first line of the data holds the names of the variables.
    safe, unsafe, protect : str
        Codes of the status variable of a table.
    """

    kind: Literal["fixed", "free", "table"]
    variables: tuple[Variable, ...]
    separator: str = ""
    names_first: bool = False
    safe: str = "S"
    unsafe: str = "U"
    protect: str = "P"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables, in their order."""
        return tuple(variable.name for variable in self.variables)

    def find(self, name: str) -> Variable | None:
        """Return the variable of a name, in any case; None if there is none."""
        return next((v for v in self.variables if v.name.casefold() == name.casefold()), None)

    def of_part(self, part: str) -> tuple[Variable, ...]:
        """Return the variables of a table that have a part such as 'top'."""
        return tuple(variable for variable in self.variables if variable.part == part)


_AS_THEY_ARE: Final = (
    "PFILE", "PFILE_FREQ", "PFILE_CONT", "PFILE_SEP", "CKM", "INCLUDEZEROS", "PARITY", "SCALING", "SEPARATION",
)  # fmt: skip
_OF_FILE: Final = ("SEPARATOR", "NAMESINFRONT", "SPSS", "SAFE", "UNSAFE", "PROTECT")


def read_rda(path: str | Path, *, table: bool | None = None) -> Metadata:
    """Read an .rda file of tau-ARGUS or mu-ARGUS.

    Parameters
    ----------
    path : path
    table : bool, optional
        It describes a finished table. By default the keywords tell.

    Raises
    ------
    InputError
        Every line that cannot be read, by its number.

    References
    ----------
    tau-ARGUS 4.1 manual, section 5.1; mu-ARGUS 5.1 manual, section 6.1.
    """
    return parse_rda(read_lines(path), table=table)


def parse_rda(text: Text, *, table: bool | None = None) -> Metadata:
    """Read the lines of an .rda file; see `read_rda`."""
    problems = Problems()
    if table is None:
        table = any(f"<{word}>" in line.upper() for line in text.lines for word in _TABLE_ONLY)
    general: dict[str, Any] = {}
    variables: list[Variable] = []
    free = any(line.strip().upper().startswith("<SEPARATOR>") for line in text.lines)
    kind: Literal["fixed", "free", "table"] = "table" if table else "free" if free else "fixed"
    for number, line in enumerate(text.lines, 1):
        words = split_words(line)
        if not words:
            continue

        def refuse(what: str, number: int = number) -> None:
            problems.add(f"{text.name}, line {number}: {what}")

        try:
            if words[0].startswith("<"):
                _option(words, general, variables)
            else:
                variable = _first_line(words, kind)
                if variable.name.casefold() in {known.name.casefold() for known in variables}:
                    refuse(f"variable '{variable.name}' is there already")
                variables.append(variable)
        except ValueError as error:
            refuse(str(error))
    if table and not free:
        problems.add(f'{text.name}: a table needs a first line such as <SEPARATOR> ";"')
    if not variables:
        problems.add(f"{text.name}: there are no variables")
    problems.found += [f"{text.name}: {what}" for variable in variables for what in _doubts(variable)]
    problems.raise_if_any()
    return Metadata(kind, tuple(variables), **general)


def _first_line(words: list[str], kind: str) -> Variable:
    """Read the line that a variable begins with: its name, place, width and missing codes."""
    name, rest = words[0], words[1:]
    if kind == "table":
        return Variable(name, missing=tuple(rest))
    wanted = ("start", "width") if kind == "fixed" else ("width",)
    numbers = rest[: len(wanted)]
    if len(numbers) < len(wanted) or not all(word.isascii() and word.isdigit() for word in numbers):
        raise ValueError(f"'{name}' is followed by its {' and '.join(wanted)} (whole numbers), then by missing codes")
    start = int(numbers[0]) if kind == "fixed" else 0
    return Variable(name, start, int(numbers[-1]), missing=tuple(rest[len(wanted) :]))


def _option(words: list[str], general: dict[str, Any], variables: list[Variable]) -> None:
    keyword = words[0].strip("<>").upper()
    if keyword == "SPSS":
        raise ValueError("system files of SPSS are not read; write the data as text, or as Parquet")
    if keyword in ("SEPARATOR", "SAFE", "UNSAFE", "PROTECT", "NAMESINFRONT"):
        name = {"NAMESINFRONT": "names_first"}.get(keyword, keyword.lower())
        if name == "names_first":
            general[name] = True
            return
        if len(words) != 2:
            raise ValueError(f"<{keyword}> is followed by one word")
        general[name] = "\t" if words[1].upper() in ("TAB", "\\T") else words[1]
        return
    if keyword in _AS_THEY_ARE and variables:
        variables[-1] = replace(variables[-1], other=(*variables[-1].other, (keyword, tuple(words[1:]))))
        return
    if keyword not in KEYWORDS:
        known = [f"<{name}>" for name in (*KEYWORDS, *_OF_FILE)]
        raise ValueError(f"keyword '{words[0]}' is not known{did_you_mean(f'<{keyword}>', known)}")
    if not variables:
        raise ValueError(f"<{keyword}> says something of a variable, and there is none before it")
    try:
        variables[-1] = replace(variables[-1], **KEYWORDS[keyword](words[1:]))
    except ValueError as error:
        raise ValueError(f"<{keyword}> {error}") from None


def _doubts(variable: Variable) -> list[str]:
    found = []
    if variable.width and variable.levels and sum(variable.levels) != variable.width:
        found.append(
            f"the levels of '{variable.name}' ({' '.join(map(str, variable.levels))}) have "
            f"{sum(variable.levels)} characters, its codes {variable.width}"
        )
    if variable.hierarchical and not (variable.hierarchy or variable.levels):
        found.append(f"'{variable.name}' is <HIERARCHICAL>, but neither <HIERCODELIST> nor <HIERLEVELS> says how")
    return found
