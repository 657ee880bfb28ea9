"""What a batch did, line by line, and what was done differently from tau-ARGUS. Confidential."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

__all__ = ["CONFIDENTIAL", "DIFFERENT", "NOTE", "UNSAFE", "Logbook"]

NOTE: Final = ""
DIFFERENT: Final = "DIFFERENT"
UNSAFE: Final = "NOT SAFE"
CONFIDENTIAL: Final = "CONFIDENTIAL"


@dataclass
class Logbook:
    """Entries, each with its kind.

    Attributes
    ----------
    entries : list of (str, str)
        A kind and a text; a command has the kind 'line'.
    """

    entries: list[tuple[str, str]] = field(default_factory=list)

    def command(self, line: int, text: str) -> None:
        """Begin a command."""
        self.entries.append(("line", f"line {line}: {text}"))

    def add(self, text: str, kind: str = NOTE) -> None:
        """Note what happened; the same words are written once for a command."""
        entry = (kind, text)
        begun = max((i for i, (what, _) in enumerate(self.entries) if what == "line"), default=0)
        if entry not in self.entries[begun:]:
            self.entries.append(entry)

    def of(self, kind: str) -> list[str]:
        """Return the entries of one kind."""
        return [text for what, text in self.entries if what == kind]

    def __str__(self) -> str:
        lines = ["CONFIDENTIAL: this logbook is not for publication."]
        for kind, text in self.entries:
            words = text.splitlines() or [""]
            if kind == "line":
                lines.append(words[0])
            else:
                lines.append(f"    {kind + ': ' if kind else ''}{words[0]}")
                lines += [f"        {word.strip()}" for word in words[1:]]
        return "\n".join(lines) + "\n"
