"""Methods that change values, each with its options and with what its intruder knows: a choice for `protect`."""

from collections.abc import Mapping

from tabprotect.methods.choices.adjusting import Adjust
from tabprotect.methods.choices.base import Call, Changed, Choice, default_base
from tabprotect.methods.choices.counts import SmallCounts
from tabprotect.methods.choices.keys import CellKey
from tabprotect.methods.choices.options import option_names, options_of, read_options
from tabprotect.methods.choices.rounding import ConventionalRound, RandomRound, Round, SuccessiveRound, UnbiasedRound
from tabprotect.methods.choices.swapping import Swap

__all__ = [
    "CHOICES",
    "Adjust",
    "Call",
    "CellKey",
    "Changed",
    "Choice",
    "ConventionalRound",
    "RandomRound",
    "Round",
    "SmallCounts",
    "SuccessiveRound",
    "Swap",
    "UnbiasedRound",
    "default_base",
    "option_names",
    "options_of",
    "read_options",
]

#: every choice by its name
CHOICES: Mapping[str, type[Choice]] = {
    choice.name: choice
    for choice in (
        Adjust,
        Round,
        UnbiasedRound,
        SuccessiveRound,
        RandomRound,
        ConventionalRound,
        SmallCounts,
        CellKey,
        Swap,
    )
}
