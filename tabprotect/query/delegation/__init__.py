"""Delegation of computations to a handler who sees ciphertexts only, with checks of what comes back."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tabprotect.query.delegation.channel import Channel, HandlerProcess, SameProcess
    from tabprotect.query.delegation.detection import (
        Detection,
        detection_of_several,
        detection_probability,
        lemma,
        over_records,
        point_is_missed,
        slot_is_hit,
    )
    from tabprotect.query.delegation.expression import Expression
    from tabprotect.query.delegation.normal_form import NormalForm
    from tabprotect.query.delegation.owner import delegate
    from tabprotect.query.delegation.parameters import Parameters, choose_parameters
    from tabprotect.query.delegation.probability import Probability, odd_probability
    from tabprotect.query.delegation.reading import read_expression
    from tabprotect.query.delegation.result import Check, Delegated, Delegation, Finding
    from tabprotect.query.delegation.wire import HandlerError

__all__ = [
    "Channel",
    "Check",
    "Delegated",
    "Delegation",
    "Detection",
    "Expression",
    "Finding",
    "HandlerError",
    "HandlerProcess",
    "NormalForm",
    "Parameters",
    "Probability",
    "SameProcess",
    "choose_parameters",
    "delegate",
    "detection_of_several",
    "detection_probability",
    "lemma",
    "odd_probability",
    "over_records",
    "point_is_missed",
    "read_expression",
    "slot_is_hit",
]

_HOMES = {
    **dict.fromkeys(("Channel", "HandlerProcess", "SameProcess"), "tabprotect.query.delegation.channel"),
    **dict.fromkeys(
        (
            "Detection",
            "detection_probability",
            "detection_of_several",
            "lemma",
            "over_records",
            "point_is_missed",
            "slot_is_hit",
        ),
        "tabprotect.query.delegation.detection",
    ),
    **dict.fromkeys(("Expression",), "tabprotect.query.delegation.expression"),
    **dict.fromkeys(("NormalForm",), "tabprotect.query.delegation.normal_form"),
    **dict.fromkeys(("delegate",), "tabprotect.query.delegation.owner"),
    **dict.fromkeys(("Parameters", "choose_parameters"), "tabprotect.query.delegation.parameters"),
    **dict.fromkeys(("Probability", "odd_probability"), "tabprotect.query.delegation.probability"),
    **dict.fromkeys(("read_expression",), "tabprotect.query.delegation.reading"),
    **dict.fromkeys(("Check", "Delegated", "Delegation", "Finding"), "tabprotect.query.delegation.result"),
    **dict.fromkeys(("HandlerError",), "tabprotect.query.delegation.wire"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
