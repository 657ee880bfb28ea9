"""Decisions that were made on the same answers already: asked again, they need not be made again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from tabprotect.query.audit.groups import Groups
from tabprotect.query.audit.state import State

__all__ = ["Memory", "digest"]

MOST: Final = 1000
"""Decisions that are kept."""

T = TypeVar("T")


@dataclass(eq=False)
class Memory(Generic[T]):
    """Decisions of one auditor that change nothing, for as long as no new answer counts.

    A decision depends on the state of the auditor and the query sets only. One on the same sets, records for records,
    in the same state is the same decision, with the same figures; in any other state it is made anew. One that leads to
    another state is not kept: that state is large, and where it counts the decision is not made in this one again.

    Attributes
    ----------
    after : callable
        The state that a decision leads to.

    Examples
    --------
    >>> from tabprotect.query.audit import Auditor, Records
    >>> a, made = Auditor(Records.of([4, 3, 3, 5]), "threshold=2"), []
    >>> memory, sets = Memory(lambda decision: a.state), [np.array([True, True, False, False])]
    >>> for _ in range(2):
    ...     _ = memory.recalled(a.state, sets, (), lambda: made.append(1))
    >>> len(made)
    1
    """

    after: Callable[[T], State]
    _state: State | None = None
    _made: dict[bytes, T] = field(default_factory=dict, repr=False)

    def recalled(
        self, state: State, sets: Sequence[npt.NDArray[np.bool_]], also: Sequence[int], make: Callable[[], T]
    ) -> T:
        """Return a decision, made only if it was not made in this state before.

        Parameters
        ----------
        state : State
        sets : sequence of ndarray of bool
        also : sequence of int
            What else the decision depends on.
        make : callable
        """
        if self._state is not state:
            self._state, self._made = state, {}
        key = digest(sets, also)
        if key in self._made:
            return self._made[key]
        decision = make()
        if self.after(decision) is state:
            if len(self._made) >= MOST:
                self._made.pop(next(iter(self._made)))
            self._made[key] = decision
        return decision


def digest(sets: Sequence[npt.NDArray[np.bool_]], also: Sequence[int] = ()) -> bytes:
    """Return 32 bytes that other query sets, records for records, do not have.

    Examples
    --------
    >>> one, two = np.array([True, False]), np.array([False, True])
    >>> digest([one]) == digest([one.copy()]), digest([one]) == digest([two])
    (True, False)
    """
    parts: list[npt.NDArray[Any]] = [np.array([len(sets), *also], np.int64)]
    if isinstance(sets, Groups):
        narrow = np.int16 if sets.n < 2**15 else np.int64
        parts += [np.zeros(1, np.int8), np.asarray(sets.label, narrow)]
    else:
        # the bits that fill up the last byte are no records
        parts += [np.ones(1, np.int8), np.array([len(members) for members in sets], np.int64)]
        parts += [np.packbits(members) for members in sets]
    made = hashlib.blake2b(digest_size=32)
    for part in parts:
        made.update(len(part).to_bytes(8, "little"))
        made.update(np.ascontiguousarray(part).tobytes())
    return made.digest()
