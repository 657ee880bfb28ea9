"""A guard in front of a real database: parses, audits, logs and only then answers."""

from tabprotect.query.guard.answer import Answer
from tabprotect.query.guard.database import connect
from tabprotect.query.guard.guard import Guard
from tabprotect.query.guard.policy import Field, Policy, TablePolicy
from tabprotect.query.guard.role import read_only_role
from tabprotect.query.guard.unavailable import UnavailableError

__all__ = ["Answer", "Field", "Guard", "Policy", "TablePolicy", "UnavailableError", "connect", "read_only_role"]
