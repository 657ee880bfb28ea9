"""Protocols: one file that says how a publication of many tables and microdata files is protected, period by period."""
