"""A table as a batch asks for it, and the table that is made of that."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tabprotect.errors import InputError, did_you_mean
from tabprotect.formats.argus.commands import ReadData, SafetyRule, SpecifyTable
from tabprotect.formats.argus.rda import Metadata, Variable
from tabprotect.formats.argus.recodings import Recoding
from tabprotect.table.table import Table
from tabprotect.workflow.argus.decided import Decided

__all__ = ["Built", "Specified", "variable_of"]


@dataclass
class Specified:
    """What a batch says of one table.

    Attributes
    ----------
    number : int
        From 1.
    data : path
    metadata : Metadata
    folder : path
        Where the files are that the metadata name.
    asked : SpecifyTable
    rules : SafetyRule, optional
        None takes the status that comes with a finished table.
    read : ReadData, optional
    recodings : dict
        By variable: a recoding, or the deepest level that is kept.
    """

    number: int
    data: Path
    metadata: Metadata
    folder: Path
    asked: SpecifyTable
    rules: SafetyRule | None = None
    read: ReadData | None = None
    recodings: dict[str, Recoding | int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """How the table is called in messages."""
        return f"table {self.number}"

    @property
    def title(self) -> str:
        """Its variables and response."""
        return f"{' x '.join(self.asked.by)} | {self.asked.response or '<freq>'}"

    @property
    def uses_status(self) -> bool:
        """Whether the status of a finished table says which cells are sensitive."""
        rules = self.rules
        return self.metadata.kind == "table" and (rules is None or not (rules.individual or rules.holding))

    def rule_texts(self) -> list[str]:
        """Return the rules of the table itself, in the words of `tabprotect.parse_rule`."""
        rules = self.rules or SafetyRule()
        texts = list(rules.individual or rules.holding)
        if rules.missing_safe:
            texts.append("missing")
        if self.uses_status:
            texts.append(f"manual={rules.manual:g}")
        return texts


@dataclass(frozen=True, eq=False)
class Built:
    """A table, and what decides about its cells besides rules.

    Attributes
    ----------
    table : Table
    rules : tuple of str
    decided : tuple of Decided
    places : int
        Decimals of the values, as the metadata say.
    """

    table: Table
    rules: tuple[str, ...]
    decided: tuple[Decided, ...] = ()
    places: int = 0

    @property
    def everything(self) -> list[Any]:
        """Rules and decisions, as `tabprotect.assess` takes them."""
        return [*self.rules, *self.decided]


def variable_of(spec: Specified, name: str, what: str) -> Variable:
    """Return a variable of the metadata by its name, in any case.

    Raises
    ------
    InputError
        If there is none.
    """
    found = spec.metadata.find(name)
    if found is None:
        raise InputError(f"{spec.name}: the metadata have no {what} '{name}'{did_you_mean(name, spec.metadata.names)}")
    return found
