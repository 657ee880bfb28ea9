"""What every method for microdata is: parameters, what it needs of a column, what it does to records."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, Problems, collect, did_you_mean
from tabprotect.kinds import of_kinds, shown
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import ANY, Scale

__all__ = ["Masking", "Method", "MethodCall", "make_method", "methods", "shown"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class MethodCall:
    """What a method is called with.

    Attributes
    ----------
    records : Records
        As the step before left them.
    rng : numpy.random.Generator
        The only source of randomness.
    """

    records: Records
    rng: np.random.Generator


@dataclass(frozen=True, eq=False)
class Masking:
    """What a method made of records; confidential.

    Attributes
    ----------
    records : Records
    facts : mapping
        What was done, in numbers and words; JSON, internal.
    claims : tuple of Claim
        What holds of the new records.
    rows : ndarray of int, optional
        For each new record the position of the old one that it comes from, -1 for none; without it records and their
        order are the same.
    notes : tuple of str
        What the user should know, such as limits reached.
    """

    records: Records
    facts: Mapping[str, Any] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    rows: Ints | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Method(ABC):
    """A method that masks or synthesises records: a frozen dataclass whose fields are its parameters.

    A subclass with a `name` is known to the command line, the specification, the comparison and the documentation. Its
    docstring says what it does with missing values, strata and weights.
    """

    name: ClassVar[str] = ""
    family: ClassVar[str] = ""
    """'non-perturbative', 'perturbative', 'fully synthetic' or 'partially synthetic'."""
    scales: ClassVar[tuple[Scale, ...]] = ANY
    """Scales that its target columns may have."""
    random: ClassVar[bool] = False
    """Whether it draws at random."""
    claim_kinds: ClassVar[tuple[str, ...]] = ()
    """Kinds of the claims that it can make; see `tabprotect.microdata.claims`."""
    source: ClassVar[str] = ""
    """Paper and section."""

    def __init_subclass__(cls, **words: Any) -> None:
        super().__init_subclass__(**words)
        if cls.name:
            other = _METHODS.setdefault(cls.name, cls)
            # a frozen dataclass with slots is made twice; anything else is a clash
            if other is not cls and other.__qualname__ != cls.__qualname__:
                raise TypeError(f"two methods are called '{cls.name}': {other.__qualname__}, {cls.__qualname__}")
            _METHODS[cls.name] = cls

    def __post_init__(self) -> None:
        with collect() as problems:
            self._check_kinds(problems)
            self.check_parameters(problems)

    def _check_kinds(self, problems: Problems) -> None:
        """Note flags, texts and mappings that are none; the other parameters are checked with their defaults."""
        for f in fields(self):
            given, outer = getattr(self, f.name), _outer(str(f.type))
            optional = outer.endswith(" | None")
            kind, words = _KINDS.get(outer.removesuffix(" | None"), (object, ""))
            if not isinstance(given, kind) and not (optional and given is None):
                problems.add(f"{self.name}: {f.name} must be {words}, not {shown(given)}")
                if f.default is not MISSING:
                    object.__setattr__(self, f.name, f.default)

    @classmethod
    def located(cls, parameters: Mapping[str, Any], base: Path) -> dict[str, Any]:
        """Return parameters of a specification with every path relative to the folder of the specification."""
        return dict(parameters)

    def check_parameters(self, problems: Problems) -> None:  # noqa: B027 (a method may have none)
        """Note every parameter that cannot be, without data."""

    @abstractmethod
    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns that it changes (or makes)."""

    def uses(self, records: Records) -> tuple[str, ...]:
        """Return further columns that it reads."""
        return ()

    def makes(self, records: Records) -> tuple[str, ...]:
        """Return those of its targets that need not be there before."""
        return ()

    def check(self, records: Records, problems: Problems) -> None:  # noqa: B027
        """Note everything about the records that the method cannot work with, beyond columns and scales."""

    @abstractmethod
    def apply(self, call: MethodCall) -> Masking:
        """Carry it out."""

    def keeps(self, claim: Claim) -> bool:
        """Return whether an earlier claim about a column that this method changes still holds."""
        return False

    def parameters(self) -> dict[str, Any]:
        """Return all parameters as JSON would have them; confidential."""
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}

    def __str__(self) -> str:
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        defaults = {f.name: f.default for f in fields(self)}
        words = [f"{name}={_plain(value)}" for name, value in given.items() if value is not defaults[name]]
        return f"{self.name}({', '.join(words)})"


_METHODS: dict[str, type[Method]] = {}

_KINDS: dict[str, tuple[type, str]] = {
    "bool": (bool, "true or false"),
    "str": (str, "a text"),
    "Mapping": (Mapping, "a mapping"),
    "dict": (Mapping, "a mapping"),
}
"""What a parameter must be, by its annotation, and how to say so."""


def _outer(annotation: str) -> str:
    """Return an annotation without what stands in brackets.

    Examples
    --------
    >>> _outer("Mapping[str, Sequence[str] | str] | None")
    'Mapping | None'
    """
    while (shorter := re.sub(r"\[[^\[\]]*\]", "", annotation)) != annotation:
        annotation = shorter
    return annotation


def methods() -> dict[str, type[Method]]:
    """Return every method by its name, in alphabetical order.

    Examples
    --------
    >>> import tabprotect.microdata as md
    >>> "top-coding" in md.methods()
    True
    """
    return dict(sorted(_METHODS.items()))


@of_kinds()
def make_method(name: str, parameters: Mapping[str, Any], base: Path | None = None) -> Method:
    """Make a method from its name and parameters, as a specification gives them; its paths are relative to `base`.

    Raises
    ------
    InputError
        Names the unknown method, every unknown parameter and every value that cannot be.

    Examples
    --------
    >>> import tabprotect.microdata as md
    >>> make_method("top-coding", {"columns": "income", "threshold": 100})
    TopCoding(columns=('income',), threshold=100, quantile=None, tail=None, replace='threshold')
    """
    if name not in _METHODS:
        raise InputError(f"there is no method '{name}'{did_you_mean(name, methods())}")
    kind = _METHODS[name]
    known = [f.name for f in fields(kind)]
    with collect() as problems:
        for given in parameters:
            if given not in known:
                problems.add(f"'{given}' is no parameter of {name}{did_you_mean(given, known)}")
        for f in fields(kind):
            if f.name not in parameters and f.default is MISSING and f.default_factory is MISSING:
                problems.add(f"{name}: {f.name} is missing")
    return kind(**(parameters if base is None else kind.located(parameters, base)))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return value.to_dict() if hasattr(value, "to_dict") else str(value)
