"""Run a batch of tau-ARGUS, command by command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tabprotect.errors import InputError, TabprotectError
from tabprotect.formats.argus import commands as c
from tabprotect.formats.argus.arb import Batch, read_batch
from tabprotect.formats.files import check_writable, write_text
from tabprotect.release.publication import Publication
from tabprotect.workflow.argus.cures import in_batch
from tabprotect.workflow.argus.logbook import DIFFERENT, UNSAFE, Logbook
from tabprotect.workflow.argus.protection import Means
from tabprotect.workflow.argus.session import Session

__all__ = ["Outcome", "run_batch"]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a batch came to. Confidential.

    Attributes
    ----------
    log : Logbook
    logbook : path
        Where the log was written.
    written : tuple of path
        Everything else that was written.
    releases : mapping of int to Publication
        By the number of the table (of the last session, after ``CLEAR``).
    safe : bool
        No table was refused or found unsafe.
    stopped : bool
        A limit ended a search.
    """

    log: Logbook
    logbook: Path
    written: tuple[Path, ...]
    releases: dict[int, Publication]
    safe: bool
    stopped: bool


def run_batch(
    path: str | Path, *, folder: str | Path | None = None, release: str | Path | None = None, means: Means | None = None
) -> Outcome:
    """Run a batch of tau-ARGUS with the methods of this package.

    Parameters
    ----------
    path : path
        The batch (.arb). Files that it names are looked for beside it.
    folder : path, optional
        Where to write; by default beside the batch. Full paths of another machine are cut to their last name.
    release : path, optional
        Write every protected table there, too, with its report and certificate, one folder each.
    means : Means, optional
        Limits, seed, responsibility for what is not safe.

    Returns
    -------
    Outcome

    Raises
    ------
    InputError
        Before anything is run: every line that is not understood. Then the first command that cannot be carried out,
        by its line; the logbook says what was done until there.

    References
    ----------
    tau-ARGUS 4.1 manual, section 5.7.
    """
    batch = read_batch(path)
    home = Path(path).absolute().parent
    session = Session(
        home, home if folder is None else Path(folder), None if release is None else Path(release), means or Means()
    )
    named = next((cmd.action.name for cmd in batch.commands if isinstance(cmd.action, c.Logbook)), None)
    logbook = session.place(named) if named else session.target / f"{Path(path).stem}.log"
    if logbook.resolve() == Path(path).resolve():
        raise InputError(f"{batch.name}: the logbook has the name of the batch")
    logbook.parent.mkdir(parents=True, exist_ok=True)
    check_writable(logbook)
    try:
        _carry_out(batch, session)
    finally:
        write_text(logbook, str(session.log))
    releases = {number: found.release for number, found in session.protected.items()}
    return Outcome(session.log, logbook, tuple(session.written), releases, not session.log.of(UNSAFE), session.stopped)


def _carry_out(batch: Batch, session: Session) -> None:
    if batch.encoding not in ("utf-8-sig", "utf-8"):
        session.log.add(f"the batch is read as {batch.encoding}")
    for command in batch.commands:
        session.log.command(command.line, command.text)
        if command.action is None:
            if command.note:
                session.log.add(command.note)
            continue
        if isinstance(command.action, c.GoInteractive):
            session.log.add("the batch ends here: there is no window to go to; run tabprotect --help", DIFFERENT)
            return
        try:
            session.do(command.action)
        except TabprotectError as error:
            problems = tuple(map(in_batch, error.problems if isinstance(error, InputError) else (str(error),)))
            where = f"{batch.name}, line {command.line}"
            for problem in problems:
                session.log.add(f"ended here: {problem}", UNSAFE)
            raise type(error)(*(f"{where}: {problem}" for problem in problems)) from error
