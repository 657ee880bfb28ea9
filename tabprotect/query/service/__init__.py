"""The guard as a small HTTP service."""

from tabprotect.query.service.app import create_app
from tabprotect.query.service.keys import Keys

__all__ = ["Keys", "create_app"]
