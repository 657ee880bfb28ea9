"""Certificates: a pattern with all that is needed to check it again without a solver."""

from __future__ import annotations

import contextlib
import gzip
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tabprotect.attack.components import pattern_mask
from tabprotect.attack.document import FORMAT, SECTIONS, VERDICTS, Malformed, Numbers, canonical, digest, load, seal
from tabprotect.attack.evidence import Evidence, gather
from tabprotect.attack.keys import Key
from tabprotect.attack.proof import BoundProof
from tabprotect.attack.rebuild import proven_bound
from tabprotect.attack.statement import decimals, problem_statement
from tabprotect.attack.verify import Verification, verify
from tabprotect.attack.witness import Witnesses
from tabprotect.errors import InputError
from tabprotect.problem import Problem, Status
from tabprotect.solver.exact import exact
from tabprotect.solver.limits import Budget

__all__ = ["Certificate", "certify", "write_whole"]

NOTICE = (
    "CONFIDENTIAL. This certificate holds unprotected values, protection levels and intruders' knowledge. "
    "It must not leave the office."
)


@dataclass(frozen=True, eq=False)
class Certificate:
    """A JSON document that proves what it claims about a pattern; confidential, since it embeds the problem.

    Attributes
    ----------
    document : mapping
        The sections by name; see `tabprotect.attack.verify` for how they are checked.
    """

    document: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"Certificate({self.verdict}: cost {self.cost}, proven bound {self.bound})"

    @property
    def verdict(self) -> str:
        """'safe', 'LP-safe only' or 'not safe'."""
        return str(self.document["verdict"])

    @property
    def safe(self) -> bool:
        """True when a witness is included for every level that must be reached."""
        return self.verdict == VERDICTS[0]

    @property
    def cost(self) -> Fraction:
        """Sum of the weights of the secondary suppressions."""
        return Fraction(self.document["cost"])

    @property
    def bound(self) -> Fraction | None:
        """The proven lower bound on the cost of any safe pattern; None without a proof."""
        return None if self.document["bound"] is None else Fraction(self.document["bound"])

    def verify(self, *, against: Any = None) -> Verification:
        """Check it; see `tabprotect.attack.verify.verify`."""
        return verify(self.document, against=against)

    def publishing(self, files: Mapping[str, str]) -> Certificate:
        """Return the certificate with the SHA-256 of every published file, by name."""
        return Certificate(_sealed({**self.document, "publication": dict(sorted(files.items()))}))

    def write(self, path: str | Path) -> Path:
        """Write to a .json file, or compressed to .json.gz; the same certificate gives the same bytes.

        Either the whole file is written or nothing.
        """
        return write_whole(path, _pieces(self.document))

    @classmethod
    def read(cls, path: str | Path) -> Certificate:
        """Read a certificate without judging it.

        Raises
        ------
        InputError
            If the file is not a certificate.
        """
        try:
            document = load(path)
        except (OSError, Malformed) as error:
            raise InputError(f"{path}: not a readable certificate ({error})") from error
        if document.get("format") != FORMAT or set(document) != {*SECTIONS, "seal"}:
            raise InputError(f"{path}: not a certificate of the form {FORMAT}")
        return cls(document)


def certify(
    problem: Problem,
    pattern: Any,
    *,
    bound: float | None = None,
    proof: BoundProof | None = None,
    witnesses: Witnesses | Evidence | None = None,
    budget: Budget | None = None,
) -> Certificate:
    """Prove what can be proven about a pattern, in exact arithmetic.

    Parameters
    ----------
    problem : Problem
    pattern : sequence of bool or of positions
        The hidden cells.
    bound : float, optional
        The lower bound that the search claims; kept as a claim, which the verifier does not confirm.
    proof : BoundProof, optional
        Inequalities and multipliers for a lower bound that the verifier does confirm.
    witnesses : Witnesses or Evidence, optional
        A judge that has looked at this problem already, or the evidence of an audit of this very pattern.
    budget : Budget, optional
        What is not proven when it is exhausted is listed as exposed.

    Returns
    -------
    Certificate
        Of verdict 'safe' only if exact witnesses answer every question, else with the unanswered ones listed.

    Raises
    ------
    InputError
        If the pattern shows a primary or forced cell, or hides a protected or fixed one.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    >>> c = certify(p, [1, 2])
    >>> c, c.verify(against=problem_statement(p)).safe
    (Certificate(safe: cost 6, proven bound None), True)
    """
    hidden = pattern_mask(problem, pattern)
    _check_pattern(problem, hidden)
    evidence = witnesses if isinstance(witnesses, Evidence) else gather(problem, hidden, witnesses, budget)
    statement = problem_statement(problem)
    numbers = Numbers(statement)
    secondaries = np.flatnonzero(hidden & ~problem.must_hide)
    cost = sum((exact(w) for w in problem.weights[secondaries].tolist()), Fraction(0))
    exposed = [_key(e.key) for e in evidence.exposures]
    unproven = [_key(k) for k in evidence.unproven]
    claimed = None if bound is None else decimals([bound])[0]
    if claimed is not None and not exposed and Fraction(claimed) > cost:
        claimed = str(cost)  # above the cost by rounding only: the pattern shows that no bound is higher
    proof_document = None if proof is None else proof.document()
    return Certificate(
        _sealed(
            {
                "format": FORMAT,
                "notice": NOTICE,
                "verdict": VERDICTS[2 if exposed else 1 if unproven else 0],
                "cost": str(cost),
                "bound": None if proof_document is None else str(proven_bound(numbers, proof_document)),
                "claimed_bound": claimed,
                "residual": str(numbers.residual),
                "publication": {},
                "pattern": np.flatnonzero(hidden).tolist(),
                "exposed": exposed,
                "unproven": unproven,
                "witnesses": [
                    {
                        "cells": w.cells.tolist(),
                        "numerators": [int(v) for v in w.z.numerators.tolist()],
                        "denominator": int(w.z.denominator),
                    }
                    for w in evidence.witnesses
                ],
                "proof": proof_document,
                "problem": statement,
            }
        )
    )


def _check_pattern(problem: Problem, hidden: Any) -> None:
    shown = np.flatnonzero(problem.must_hide & ~hidden)
    fixed = np.flatnonzero(hidden & ~problem.may_hide)
    wrong = []
    for cells, what in ((shown, "shows cells that must be hidden"), (fixed, "hides protected or fixed cells")):
        if len(cells):
            names = ", ".join(f"{problem.system.label(int(i))} ({Status(problem.status[i]).name})" for i in cells[:5])
            wrong.append(f"the pattern {what}: {names}" + (f" and {len(cells) - 5} more" if len(cells) > 5 else ""))
    if wrong:
        raise InputError(*wrong)


def _key(key: Key) -> list[int]:
    return [int(part) for part in key]


def _sealed(document: dict[str, Any]) -> dict[str, Any]:
    parts = {name: digest(document[name]) for name in SECTIONS if name != "digest"}
    document["digest"] = parts["problem"]
    parts["digest"] = digest(document["digest"])
    document["seal"] = seal((name, parts[name]) for name in SECTIONS)
    return document


def write_whole(path: str | Path, pieces: Iterator[str]) -> Path:
    """Write text that comes in pieces to a file, compressed for .gz; either the whole file is written or nothing."""
    path = Path(path)
    partial = path.with_name(path.name + ".partial")
    try:
        with _opened(partial, compressed=path.suffix == ".gz") as stream:
            for text in pieces:
                stream.write(text.encode("ascii"))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def _pieces(document: Mapping[str, Any]) -> Iterator[str]:
    """The text of the file in pieces: one section, or one entry of a large section, at a time."""
    for number, name in enumerate((*SECTIONS, "seal")):
        yield f"{',' if number else '{'}\n{canonical(name)}:"
        section = document[name]
        if name == "problem":
            for k, entry in enumerate(sorted(section)):
                yield f"{',' if k else '{'}\n {canonical(entry)}:{canonical(section[entry])}"
            yield "}"
        elif name == "witnesses" and section:
            for k, witness in enumerate(section):
                yield f"{',' if k else '['}\n {canonical(witness)}"
            yield "]"
        else:
            yield canonical(section)
    yield "\n}\n"


@contextlib.contextmanager
def _opened(path: Path, *, compressed: bool) -> Iterator[io.BufferedWriter | gzip.GzipFile]:
    with path.open("wb") as raw:
        if not compressed:
            yield raw
            return
        # no file name and no time in the header: equal certificates are equal files
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
            yield packed
