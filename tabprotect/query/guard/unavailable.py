"""The error of a guard that cannot answer anybody now."""

from __future__ import annotations

from tabprotect.errors import InputError

__all__ = ["ConnectionLostError", "UnavailableError"]


class UnavailableError(InputError):
    """Nothing can be answered, whatever the query: its cause is for the owner, and no reason for a denial.

    The log was replaced or cannot be written, it speaks of other data or of other accounts, or the database is gone.
    """


class ConnectionLostError(UnavailableError):
    """The connection to the database was lost, and nothing of the query has counted yet."""
