"""What a user gets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Answer"]


@dataclass(frozen=True)
class Answer:
    """The answer to one query, or why there is none.

    Attributes
    ----------
    answered : bool
    columns : tuple of str
        Names of the result columns.
    rows : tuple of tuple
        One row, or one for every group; None stands for what is not published.
    reason : str
        Why the query was denied, in words that hold no confidential number.
    entry : int
        Number of the entry in the log.
    steps : tuple of str
        Every step of the test. Internal: for the owner of the data, never for the user.

    Examples
    --------
    >>> Answer(True, ("sum",), ((10.0,),)).value
    10.0
    """

    answered: bool
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    reason: str = ""
    entry: int = 0
    steps: tuple[str, ...] = field(default=(), repr=False)

    @property
    def value(self) -> Any:
        """The single value of a query without groups."""
        if len(self.rows) != 1 or len(self.columns) != 1:
            raise ValueError(self.reason or f"{len(self.rows)} rows of {len(self.columns)} columns are no single value")
        return self.rows[0][0]

    def public(self) -> dict[str, Any]:
        """Return what may leave the building."""
        return {
            "answered": self.answered,
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "reason": self.reason,
        }

    def explain(self) -> str:
        """Return every step as text (internal)."""
        return "\n".join([*self.steps, "Result: " + ("answered" if self.answered else f"denied: {self.reason}")])
