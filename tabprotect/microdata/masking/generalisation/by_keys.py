"""What methods share that make classes of records with equal keys, under constraints."""

from __future__ import annotations

from collections.abc import Sequence

from tabprotect.errors import InputError, Problems
from tabprotect.microdata.masking.generalisation.constraints import Constraint, as_constraints
from tabprotect.microdata.method import Method
from tabprotect.microdata.parameters import as_columns, need_number
from tabprotect.microdata.records import Records

__all__ = ["ByKeys"]


class ByKeys(Method):
    """A method with the parameters k, keys and constraints, which its subclasses declare as fields."""

    k: int
    keys: Sequence[str] | str | None
    constraints: Sequence[Constraint] | Constraint

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter of classes that cannot be."""
        need_number(self, "k", problems, least=1, whole=True)
        if self.keys is not None:
            as_columns(self, "keys", problems)
        try:
            object.__setattr__(self, "constraints", as_constraints(self.constraints))
        except InputError as error:
            problems.found += [f"{self.name}: {what}" for what in error.problems]
            object.__setattr__(self, "constraints", ())

    def _keys(self, records: Records) -> tuple[str, ...]:
        return tuple(records.schema.keys) if self.keys is None else tuple(self.keys)

    def _constraints(self) -> tuple[Constraint, ...]:
        assert not isinstance(self.constraints, Constraint)
        return tuple(self.constraints)

    def _strata(self, records: Records) -> tuple[str, ...]:
        keys = self._keys(records)
        return tuple(name for name in records.schema.strata if name not in keys)

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the keys."""
        return self._keys(records)

    def uses(self, records: Records) -> tuple[str, ...]:
        """Return strata and the columns of the constraints."""
        return (*self._strata(records), *(one.column for one in self._constraints()))

    def check(self, records: Records, problems: Problems) -> None:
        """Note missing keys, and constraints that the records do not allow."""
        keys = self._keys(records)
        if not keys:
            problems.add("no keys are given, here or in the schema")
        for one in self._constraints():
            one.check(records, problems)
            if one.column in keys:
                problems.add(f"'{one.column}' is a key and cannot be in a constraint, too")
