"""Statuses that come with a finished table, as letters: what tau-ARGUS, sdcTable and plain words mean."""

from __future__ import annotations

from typing import Any, Final

import narwhals as nw
import numpy as np
import numpy.typing as npt

from tabprotect.errors import Problems, did_you_mean
from tabprotect.table.codes import factorise, rows_of

__all__ = ["EMPTY", "read_status"]

EMPTY: Final = "e"
"""An empty cell of tau-ARGUS; it becomes 'z', and must be zero."""

_LETTERS: Final = {
    "s": ("s", "safe", "v", "valid"),
    "u": ("u", "unsafe", "primary", "sensitive", "true", "a", "b"),
    "m": ("m", "x", "d", "secondary", "forced", "suppressed", "complementary"),
    "p": ("p", "protected", "protect", "published"),
    "z": ("z", "zero", "structural", "structural zero", "fixed"),
    EMPTY: (EMPTY, "empty", "-"),
    "": ("", "false", "none", "nan", "na"),
}
_MEANING: Final = {word: letter for letter, words in _LETTERS.items() for word in words}


def read_status(frame: nw.DataFrame[Any], name: str, problems: Problems) -> npt.NDArray[np.object_]:
    """Return statuses as letters.

    's' safe, 'u' sensitive (primary), 'm' suppressed already (tau-ARGUS M, sdcTable x), 'p' must be published, 'z'
    structural zero or fixed, 'e' empty, '' nothing said. Words are accepted in any case, and true/false for sensitive
    or not.
    """
    values, index = factorise(frame[name])
    letters = np.full(len(values) + 1, "", dtype=object)
    for i, value in enumerate(values):
        word = str(value).strip().lower()
        if word not in _MEANING:
            known = [word for words in _LETTERS.values() for word in words if len(word) > 1]
            problems.add(
                f"column '{name}' holds the unknown status {value!r} in {rows_of(index == i)}"
                f"{did_you_mean(word, known)}; "
                "use s (safe), u (sensitive), m (suppressed already), p (must be published) or z (zero, fixed)"
            )
        letters[i] = _MEANING.get(word, "")
    return letters[index]
