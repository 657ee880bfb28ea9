"""Linked tables: which tables share cells, and one system of all of them."""

from tabprotect.table.link.linking import link

__all__ = ["link"]
