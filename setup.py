"""Only what pyproject.toml cannot say: every room is a package without being listed by hand."""

from setuptools import find_packages, setup

BESIDE = ("models", "instances")

setup(
    packages=[
        *find_packages(include=["tabprotect", "tabprotect.*"]),
        *(f"tabprotect.{name}" for top in BESIDE for name in (top, *(f"{top}.{p}" for p in find_packages(top)))),
    ]
)
