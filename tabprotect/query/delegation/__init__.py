"""Delegation of computations to a handler who sees ciphertexts only, with checks of what comes back."""

from tabprotect.query.delegation.detection import Detection, detection, detection_of_several, lemma
from tabprotect.query.delegation.expression import Expression
from tabprotect.query.delegation.normal_form import NormalForm
from tabprotect.query.delegation.reading import read_expression

__all__ = ["Detection", "Expression", "NormalForm", "detection", "detection_of_several", "lemma", "read_expression"]
