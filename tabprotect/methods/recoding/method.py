"""Recoding before cells are hidden: what `tabprotect.protect` takes as its method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tabprotect.methods.suppression.method import Suppress

__all__ = ["Recode"]


@dataclass(frozen=True)
class Recode:
    """Roll categories up until no cell is sensitive any more; what may be left is hidden.

    Parameters
    ----------
    rules : mapping of str to RecodingRules, path or str, optional
        Recodings by hand, by column of the microdata: rules, or a .grc file.
    least : bool
        After that, give up the parts of as few codes as are needed to be rid of all sensitive cells.
    keep : mapping of str to int, optional
        Down to which level the codes of a dimension must stay; see `tabprotect.methods.recoding.least_recoding`.
    then : Suppress
        How cells that are sensitive still are hidden.
    """

    rules: Mapping[str, Any] = field(default_factory=dict)
    least: bool = True
    keep: Mapping[str, int] = field(default_factory=dict)
    then: Suppress = field(default_factory=Suppress)
