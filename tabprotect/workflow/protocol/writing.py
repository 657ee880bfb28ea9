"""The releases of a period in one folder, written whole or not at all, and every one of them verified."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tabprotect.certificate.limits import UNLIMITED
from tabprotect.certificate.verify import verify
from tabprotect.errors import InfeasibleError, InputError, SolverError, collect
from tabprotect.formats.folder import INTERNAL, check_replaceable
from tabprotect.formats.places import recover, writing_folder
from tabprotect.microdata.folder import verify_masked
from tabprotect.release.period import PERIOD, parts_of
from tabprotect.release.read import certificate_of, read_release
from tabprotect.workflow.protocol.apply import Protected
from tabprotect.workflow.specification import dialect_of

__all__ = ["check_place", "period_report", "write_period"]

_NOTICE = "CONFIDENTIAL. Nothing in this folder may be published."


def check_place(folder: Path) -> None:
    """Refuse a place that holds anything but the releases of a period.

    Raises
    ------
    InputError
        Names what is in the way.
    """
    recover(folder)
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder for the releases")
    there = sorted(path.name for path in folder.iterdir())
    if not there:
        return
    parts = parts_of(folder)
    if parts is None:
        raise InputError(f"{folder} holds files but no releases of a protocol; name an empty or a new folder")
    known = set(parts)
    inside = sorted(path.name for path in (folder / INTERNAL).iterdir())
    with collect() as problems:
        foreign = [name for name in there if name not in {*known, INTERNAL}]
        foreign += [f"{INTERNAL}/{name}" for name in inside if name != PERIOD]
        if foreign:
            problems.add(f"{folder} holds what is not of its releases ({', '.join(foreign[:3])}); move it away")
        for name in sorted(known & set(there)):
            try:
                check_replaceable(folder / name)
            except InputError as error:
                problems.found += error.problems


def write_period(protected: Protected, folder: Path) -> Path:
    """Write a folder for every part, each with publish/ and internal/, and verify it before it takes its place.

    Parameters
    ----------
    protected : Protected
    folder : Path

    Raises
    ------
    InfeasibleError
        If a release is not safe and nobody took the responsibility.
    InputError
        If the folder cannot be written, or holds something else.
    SolverError
        If a release that was written does not pass its own verification.
    """
    check_place(folder)
    if not protected.safe and not protected.allow_unsafe:
        raise InfeasibleError("the releases are not safe, so nothing is written")
    spec = protected.period.spec
    with writing_folder(folder) as place:
        for name, release in protected.releases.items():
            assert spec is not None
            dialect = dialect_of(spec.output, release.table.recognised)
            _verify(release.write(place / name, spec.output.formats, dialect=dialect), release.safe)
        for name, masked in protected.masked.items():
            asked = protected.period.masks[name]
            masked.write(place / name, asked.formats, dialect=asked.dialect(masked.original.recognised))
            found = verify_masked(place / name)
            if not found:
                raise SolverError(f"{name}: the masked file does not hold what is claimed; please report this")
        (place / INTERNAL).mkdir(mode=0o700)
        text = json.dumps(period_report(protected), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        path = place / INTERNAL / PERIOD
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
            stream.write(text)
    return folder


def period_report(protected: Protected) -> dict[str, Any]:
    """Return what is to be known of the releases of a period, as JSON; confidential."""
    releases = {}
    for name, release in protected.releases.items():
        facts: dict[str, Any] = {"tables": list(protected.period.clusters[name]), "safe": release.safe}
        if name in protected.stability:
            kept = protected.stability[name]
            facts["stability"] = {
                "cells": kept.cells, "kept": kept.kept, "share": round(kept.share, 6), "new": kept.new,
                "gone": kept.gone, "suppressed": list(kept.suppressed), "freed": list(kept.freed),
            }  # fmt: skip
        if name in protected.both:
            both = protected.both[name]
            facts["with the last release"] = {"safe": both.safe, "problems": both.problems()}
        releases[name] = facts
    protocol: Mapping[str, Any] = {
        "file": protected.period.protocol.path.name, "structure": protected.period.protocol.structure
    }  # fmt: skip
    return {
        "notice": _NOTICE,
        "parts": [*protected.releases, *protected.masked],
        "protocol": protocol,
        "releases": releases,
        "notes": list(protected.notes),
    }


def _verify(folder: Path, safe: bool) -> None:
    """Check a release as whoever reads it would, without a solver."""
    # limits are against documents of others
    checked = verify(certificate_of(folder), limits=UNLIMITED)
    failures = [*checked.failures, *read_release(folder, UNLIMITED).failures]
    if failures or (safe and not checked.safe):
        why = failures[0] if failures else "the proof does not show that it is safe"
        raise SolverError(f"{folder.name}: the release that was written is not what was proven ({why}); report this")
