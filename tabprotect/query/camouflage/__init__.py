"""Confidentiality via camouflage (Gopal and Goes): every query is answered, by an interval over a hull of vectors."""

from __future__ import annotations

from tabprotect.query.camouflage.answer import Answer
from tabprotect.query.camouflage.answering import Query
from tabprotect.query.camouflage.bounds import Absolute, Covering, Relative
from tabprotect.query.camouflage.camouflage import camouflage
from tabprotect.query.camouflage.hidden import Camouflage, Protection

__all__ = ["Absolute", "Answer", "Camouflage", "Covering", "Protection", "Query", "Relative", "camouflage"]
