"""What a batch of tau-ARGUS has opened and made so far, and how each of its commands changes that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath

from tabprotect._version import __version__
from tabprotect.errors import InputError
from tabprotect.formats.argus import commands as c
from tabprotect.formats.argus.lists import Change, read_apriori
from tabprotect.formats.argus.rda import Metadata, read_rda
from tabprotect.formats.argus.recodings import read_recoding
from tabprotect.formats.argus.text import find_file
from tabprotect.formats.files import write_text
from tabprotect.sensitivity.assess import assess
from tabprotect.workflow.argus.decided import by_hand
from tabprotect.workflow.argus.logbook import DIFFERENT, UNSAFE, Logbook
from tabprotect.workflow.argus.protection import Means, Protected, protect_linked, protect_one
from tabprotect.workflow.argus.specified import Built, Specified, variable_of
from tabprotect.workflow.argus.tables import build
from tabprotect.workflow.argus.together import Together
from tabprotect.workflow.argus.writing import write_table

__all__ = ["Session"]


@dataclass
class Session:
    """What a batch has opened and made so far."""

    home: Path
    target: Path
    release: Path | None
    means: Means
    log: Logbook = field(default_factory=Logbook)
    data: Path | None = None
    metadata: tuple[Metadata, Path] | None = None
    specs: list[Specified] = field(default_factory=list)
    changes: dict[int, list[tuple[str, tuple[Change, ...], bool]]] = field(default_factory=dict)
    built: dict[int, Built] = field(default_factory=dict)
    protected: dict[int, Protected] = field(default_factory=dict)
    written: list[Path] = field(default_factory=list)
    table_data: bool = False
    stopped: bool = False
    together: Together = field(default_factory=Together)
    read_files: set[Path] = field(default_factory=set)

    def do(self, action: c.Action) -> None:
        """Carry out one command."""
        handlers: dict[type, Callable[..., None]] = {
            c.OpenData: self._open_data,
            c.OpenMetadata: self._open_metadata,
            c.SpecifyTable: self._specify,
            c.SafetyRule: self._rules,
            c.ReadData: self._read,
            c.Apriori: self._apriori,
            c.Recode: self._recode,
            c.Suppress: self._suppress,
            c.WriteTable: self._write,
            c.Solver: self._solver,
            c.Cover: self._cover,
            c.VersionInfo: self._version,
            c.Clear: self._clear,
            c.Logbook: lambda _action: None,
        }
        handlers[type(action)](action)

    def find(self, name: str, folder: Path | None = None) -> Path:
        """Return a file to read."""
        found = find_file(name, folder or self.home)
        if found.note:
            self.log.add(found.note)
        self.read_files.add(found.path)
        return found.path

    def place(self, name: str) -> Path:
        """Return a file to write: below the target, whatever drive or folder of another machine is named."""
        windows = PureWindowsPath(name)
        if Path(name).is_absolute() and Path(name).parent.is_dir():
            return Path(name)
        if windows.anchor:
            self.log.add(f"'{name}' is written as '{windows.name}' in {self.target}", DIFFERENT)
            return self.target / windows.name
        return self.target.joinpath(*windows.parts)

    def _open_data(self, action: c.OpenData) -> None:
        self.data, self.table_data, self.metadata = self.find(action.name), action.table, None

    def _open_metadata(self, action: c.OpenMetadata) -> None:
        path = self.find(action.name)
        self.metadata = read_rda(path, table=self.table_data), path.parent
        for variable in self.metadata[0].variables:
            if variable.other:
                words = ", ".join(f"<{word}>" for word, _ in variable.other)
                self.log.add(f"{variable.name}: {words} belong to the cell-key method and play no part here")

    def _specify(self, action: c.SpecifyTable) -> None:
        assert self.data is not None
        assert self.metadata is not None
        spec = Specified(len(self.specs) + 1, self.data, *self.metadata, action)
        for name in action.by:
            variable_of(spec, name, "variable")
        for name in (action.response, action.shadow, action.cost):
            if name not in ("", "frequency", "unit", "distance"):
                variable_of(spec, name, "variable")
        self.specs.append(spec)

    def _rules(self, action: c.SafetyRule) -> None:
        self.specs[-1].rules = action

    def _read(self, action: c.ReadData) -> None:
        for spec in self.specs:
            if spec.read is None:
                spec.read = action
                table = self.table(spec.number).table
                self.log.add(f"{spec.name} ({spec.title}): {table.n_cells:,} cells")

    def _apriori(self, action: c.Apriori) -> None:
        spec = self.specs[action.table - 1]
        path = self.find(action.name)
        width = len(spec.asked.by)
        changes, left_out = read_apriori(path, width, separator=action.separator or None, ignore=action.ignore)
        for problem in left_out:
            self.log.add(f"left out: {problem}")
        if action.expand:
            self.log.add("codes with one part are one cell here, so trivial levels need no expansion")
        self.changes.setdefault(spec.number, []).append((path.name, changes, action.ignore))
        self._forget(spec.number)
        self.table(spec.number)

    def _recode(self, action: c.Recode) -> None:
        spec = self.specs[action.table - 1]
        variable = variable_of(spec, action.variable, "variable").name
        if variable not in {variable_of(spec, name, "variable").name for name in spec.asked.by}:
            raise InputError(f"{spec.name} is not spanned by '{variable}' but by {', '.join(spec.asked.by)}")
        spec.recodings[variable] = action.how if isinstance(action.how, int) else read_recoding(self.find(action.how))
        self._forget(spec.number)
        self.log.add(f"{spec.name}: {self.table(spec.number).table.n_cells:,} cells after the recoding")

    def _forget(self, number: int) -> None:
        self.built.pop(number, None)
        if self.protected.pop(number, None) is not None:
            self.log.add(f"table {number} has changed, and has to be protected again")

    def table(self, number: int) -> Built:
        """Return a table, made when it is needed first."""
        if number not in self.built:
            spec = self.specs[number - 1]
            found = build(spec, self.log)
            for name, changes, ignore in self.changes.get(number, ()):
                sensitive = assess(found.table, found.everything)
                margin = 20.0 if spec.rules is None else spec.rules.manual
                decided, left_out = by_hand(
                    found.table, changes, name, margin=margin, ignore=ignore, sensitive=sensitive
                )
                for problem in left_out:
                    self.log.add(f"left out: {problem}")
                found = Built(found.table, found.rules, (*found.decided, decided), found.places)
            self.built[number] = found
        return self.built[number]

    def _suppress(self, action: c.Suppress) -> None:
        if action.table:
            spec = self.specs[action.table - 1]
            done = [protect_one(spec, self.table(spec.number), action, self.means, self.log)]
            numbers = [action.table]
        else:
            numbers = [spec.number for spec in self.specs]
            done = protect_linked(self.specs, [self.table(n) for n in numbers], action, self.means, self.log)
        self.protected.update(zip(numbers, done, strict=True))
        self.stopped |= any(one.release.stopped for one in done)
        if self.release is not None and all(one.safe or self.means.allow_unsafe for one in done):
            name = "linked" if not action.table else f"table{action.table}"
            self.written.append(done[0].release.write(self.release / f"{name}-{action.method}"))

    def _write(self, action: c.WriteTable) -> None:
        if action.ignored:
            self.log.add(f"options '{action.ignored}' mean nothing and play no part")
        path = self.place(action.name)
        if path.resolve() in {found.resolve() for found in self.read_files}:
            raise InputError(f"{path.name} is a file that this batch reads; it is not written over")
        spec, built, protected = (
            self.specs[action.table - 1],
            self.table(action.table),
            self.protected.get(action.table),
        )
        public = action.form in (1, 2, 3) and not action.options.get("AS", False)
        shown = None
        if public and protected is not None and (protected.safe or self.means.allow_unsafe):
            shown = Together.shown(path, spec, built, protected)
            if (conflict := self.together.against(shown)) and not self.means.allow_unsafe:
                cure = "protect linked tables together (table 0), or publish one pattern of a table"
                self.log.add(f"{path.name} was not written: {conflict}, and who has both learns it; {cure}", UNSAFE)
                return
        path.parent.mkdir(parents=True, exist_ok=True)
        unsafe = self.means.allow_unsafe
        written = write_table(action, path, spec, built, protected, self.log, allow_unsafe=unsafe)
        if shown is not None:
            self.together.add(shown)
        for one in written:
            self.log.add(f"written: {one}")
        self.written += written

    def _solver(self, action: c.Solver) -> None:
        licence = f", and the licence {action.licence}" if action.licence else ""
        self.log.add(f"{action.name}{licence} are not used: the solvers that come with this package are", DIFFERENT)

    def _cover(self, _action: c.Cover) -> None:
        self.log.add("linked tables are joined without a cover table, so there is none to protect", DIFFERENT)

    def _version(self, action: c.VersionInfo) -> None:
        path = self.place(action.name)
        write_text(path, f"tabprotect {__version__}\n")
        self.written.append(path)

    def _clear(self, _action: c.Clear) -> None:
        self.data = self.metadata = None
        self.specs, self.changes, self.built, self.protected = [], {}, {}, {}
