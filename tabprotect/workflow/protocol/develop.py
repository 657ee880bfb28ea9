"""Decisions: settings that were tried, what was chosen, and the protocol fixed by it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tabprotect.errors import InputError
from tabprotect.formats.files import check_writable, read_bytes, write_text
from tabprotect.workflow.protocol.model import Protocol
from tabprotect.workflow.protocol.period import Period
from tabprotect.workflow.protocol.structure import structure_text
from tabprotect.workflow.protocol.toml import toml_of

__all__ = ["DECISIONS", "Trial", "append_decisions", "best_of", "decided", "fix", "fixed_path", "untried"]

DECISIONS = "decisions.jsonl"
"""In the internal folder of a protocol: one line a decision, each with the digest of all lines before."""


@dataclass(frozen=True)
class Trial:
    """One setting of one cluster, and what came of it. Confidential.

    Attributes
    ----------
    cluster : str
    number : int
        From 1, in the order of trial.
    settings : mapping
        In the place of those of the protocol; empty for the settings as they are.
    method : str
        What was run, in words.
    status : str
    seconds : float
    cost, bound : float or None
        In the method's own measure.
    hidden, changed : int or None
        Cells without a value, and with another one.
    exposed, undecided : int or None
        Sensitive cells of which an intruder learns too much, and those not judged within the limits.
    comparable : bool
        Whether the cost is measured as that of the settings as they are.
    message : str
    """

    cluster: str
    number: int
    settings: Mapping[str, Any]
    method: str
    status: str
    seconds: float
    cost: float | None = None
    bound: float | None = None
    hidden: int | None = None
    changed: int | None = None
    exposed: int | None = None
    undecided: int | None = None
    comparable: bool = True
    message: str = field(default="", repr=False)

    @property
    def safe(self) -> bool:
        """Whether nothing sensitive was found exposed, and everything was judged."""
        return self.exposed == 0 and self.undecided == 0


def best_of(trials: Sequence[Trial]) -> Trial | None:
    """Return the safe trial of the least cost among those whose costs can be compared; None without any.

    Where the settings as they are cannot be compared with anything, the first safe trial is taken.

    Examples
    --------
    >>> given = Trial("a", 1, {}, "auto", "feasible", 1.0, 20.0, exposed=0, undecided=0)
    >>> cheaper = Trial("a", 2, {"method": "exact"}, "exact", "optimal", 9.0, 15.0, exposed=0, undecided=0)
    >>> best_of([given, cheaper]).number
    2
    """
    safe = [one for one in trials if one.safe]
    measured = [one for one in safe if one.comparable and one.cost is not None]
    if measured:
        return min(measured, key=lambda one: (one.cost, one.number))
    return safe[0] if safe else None


def decided(trials: Mapping[str, Sequence[Trial]], wanted: Mapping[str, int]) -> dict[str, Trial]:
    """Return the trial of every cluster that has a safe one: the one that is wanted, by number, else the best.

    Examples
    --------
    >>> given = Trial("a", 1, {}, "auto", "feasible", 1.0, 20.0, exposed=0, undecided=0)
    >>> unsafe = Trial("a", 2, {"method": "exact"}, "exact", "optimal", 9.0, 15.0, exposed=1, undecided=0)
    >>> decided({"a": [given, unsafe]}, {})["a"].number, decided({"a": [given, unsafe]}, {"a": 2})
    (1, {})
    """
    chosen = {}
    for cluster, found in trials.items():
        one = found[wanted[cluster] - 1] if cluster in wanted else best_of(found)
        if one is not None and one.safe:
            chosen[cluster] = one
    return chosen


def untried(period: Period) -> dict[str, Trial]:
    """Return the settings of the protocol, as they are and without running them, as the trial of every cluster.

    Raises
    ------
    InputError
        Settings that do not go together.
    """
    for cluster in period.clusters:
        period.request(cluster)
    return {cluster: Trial(cluster, 1, {}, "as given", "not tried", 0.0) for cluster in period.clusters}


def fixed_path(protocol: Protocol, out: Path | None) -> Path:
    """Return where the fixed protocol goes: beside the protocol, whose paths stay valid there.

    Raises
    ------
    InputError
        If the place is another folder, or cannot be written.
    """
    path = out or protocol.path.with_name(f"{protocol.path.stem.removesuffix('.fixed')}.fixed.toml")
    if path.parent.resolve() != protocol.base.resolve():
        raise InputError(f"--out {path}: the fixed protocol stays in the folder of {protocol.path}, as its paths do")
    check_writable(path)
    return path


def append_decisions(
    protocol: Protocol, period: Period, trials: Sequence[Trial], chosen: Mapping[str, Trial], when: str
) -> Path:
    """Record what was tried and chosen; nothing that is there is ever changed.

    Parameters
    ----------
    protocol : Protocol
    period : Period
    trials : sequence of Trial
    chosen : mapping of str to Trial
        By cluster.
    when : str
        Date and time.

    Raises
    ------
    InputError
        If earlier decisions were altered, or the file cannot be written.
    """
    folder = protocol.internal
    path = folder / DECISIONS
    before = _decided(path)
    record = {
        "when": when,
        "protocol": hashlib.sha256(read_bytes(protocol.path)).hexdigest(),
        "structure": structure_text(period.structure)[1],
        "tried": [asdict(one) for one in trials],
        "chosen": {name: {"number": one.number, "settings": dict(one.settings)} for name, one in chosen.items()},
        "before": hashlib.sha256(before).hexdigest(),
    }
    line = json.dumps(record, ensure_ascii=False, allow_nan=False, default=str) + "\n"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "wb") as stream:
            stream.write(line.encode())
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error
    return path


def fix(protocol: Protocol, period: Period, chosen: Mapping[str, Trial], path: Path) -> Path:
    """Write the protocol with what was decided, and what data have to look like.

    Parameters
    ----------
    protocol : Protocol
    period : Period
    chosen : mapping of str to Trial
    path : Path
        See `fixed_path`.
    """
    text, digest = structure_text(period.structure)
    name = f"{protocol.internal.name}/structure-{digest}.json"
    protocol.internal.mkdir(mode=0o700, exist_ok=True)
    write_text(protocol.base / name, text)
    content = {key: one for key, one in protocol.content.items() if key not in ("clusters", "trial", "structure")}
    clusters = {
        cluster: {"tables": list(tables), **protocol.settings.get(cluster, {}), **chosen[cluster].settings}
        for cluster, tables in period.clusters.items()
    }
    note = f"# Written by `tabprotect develop` from {protocol.path.name}; why is in {protocol.internal.name}/.\n"
    write_text(path, note + toml_of({**content, "structure": name, "clusters": clusters}))
    return path


def _decided(path: Path) -> bytes:
    """Return the decisions so far.

    Raises
    ------
    InputError
        If a line was altered since the next one was written.
    """
    if not path.exists():
        return b""
    text = read_bytes(path)
    before = b""
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        try:
            digest = json.loads(line)["before"]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}, line {number}: no decision ({error}); nothing was recorded") from error
        if digest != hashlib.sha256(before).hexdigest():
            raise InputError(
                f"{path}: a line before line {number} was altered after it was written; decisions are only ever "
                "appended, so restore the file"
            )
        before += line
    return text
