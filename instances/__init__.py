"""Benchmark instances, their generators and their index."""

from tabprotect.instances.families import FAMILIES, family
from tabprotect.instances.index import data, index, load, names, recipe
from tabprotect.instances.register import register

__all__ = ["FAMILIES", "data", "family", "index", "load", "names", "recipe", "register"]
