"""TenSEAL, the library of the homomorphic encryption, loaded where it is needed."""

from __future__ import annotations

from typing import Any

from tabprotect.errors import InputError

__all__ = ["tenseal"]


def tenseal() -> Any:
    """Return the module of TenSEAL.

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        import tenseal as module
    except ImportError:
        raise InputError(
            "delegation needs TenSEAL: install the extra 'delegation', as in pip install 'tabprotect[delegation]'"
        ) from None
    return module
