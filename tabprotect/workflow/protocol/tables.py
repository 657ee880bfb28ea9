"""The tables of a protocol, read from the files of a period, and the clusters that they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tabprotect.errors import InputError, Problems, collect
from tabprotect.paths import possible
from tabprotect.sensitivity.requirements import needs
from tabprotect.table.link.clusters import Cluster, find_clusters
from tabprotect.table.table import Table
from tabprotect.workflow.inputs import link_specified
from tabprotect.workflow.prepare import TOP
from tabprotect.workflow.protocol.model import SETTINGS, Protocol
from tabprotect.workflow.request import Request
from tabprotect.workflow.source import Source
from tabprotect.workflow.specification import HierarchySpec, Spec, TableSpec, each_table
from tabprotect.workflow.specified import Specified, request_of

__all__ = ["Held", "clusters_of", "located", "place_of", "read_tables", "request_of_cluster"]


@dataclass(frozen=True, eq=False)
class Held(Specified):
    """The table of a specification that was read already.

    Attributes
    ----------
    held : Table
    final : bool
        The table is not what the files say any more, and must never be read again.
    """

    held: Table = field(kw_only=True, repr=False)
    final: bool = field(default=False, kw_only=True)

    def table(self, top: int, memory: str | None) -> Table:
        """Return the table, read again where a method asks for more contributions than are there."""
        there = self.held.contributions
        if not self.final and there is not None and there.values.shape[1] < top and self.spec.cells is None:
            return super().table(top, memory)
        return self.held

    def recoded(self, rules: Mapping[str, Any]) -> Source:
        """Return the specification with columns recoded by hand, to be read again."""
        return Specified(self.spec, self.base, rules)

    def filled(self) -> Source:
        """Return the specification with empty cells that are zero, to be read again."""
        return Specified(self.spec, self.base).filled()


def place_of(base: Path, data: Path | None, file: str) -> Path:
    """Return where a file of the protocol is: that of the period's data if it is there, else that beside the protocol.

    Parameters
    ----------
    base : Path
        Of the protocol.
    data : Path or None
        Folder of the period's files; None where those beside the protocol are meant.
    file : str
        As the protocol names it.
    """
    if data is not None:
        for place in (data / file, data / Path(file).name):
            if place.exists():
                return place.absolute()
    return (base / file).absolute()


def located(spec: Spec, base: Path, data: Path | None) -> Spec:
    """Return a specification whose files are those of a period, by absolute paths.

    Parameters
    ----------
    spec : Spec
    base : Path
    data : Path or None
        A folder with the period's files under their names in the protocol; or the file itself, where there is one.

    Raises
    ------
    InputError
        Every data file that the folder has not.
    """
    names = {file for one in (spec, *spec.tables.values()) for file in (one.data, one.cells) if file is not None}
    single = data if data is not None and possible(data).is_file() else None
    with collect() as problems:
        if data is not None and not data.exists():
            problems.add(f"{data}: no such file or folder")
        elif single is not None and len(names) > 1:
            problems.add(f"{data} is one file, and the protocol has {len(names)}; name the folder of all of them")
        elif data is not None and single is None:
            for name in sorted(names):
                if not any((data / place).exists() for place in (name, Path(name).name)):
                    problems.add(f"{data}: there is no file '{Path(name).name}'")

    def moved(one: TableSpec) -> dict[str, Any]:
        update: dict[str, Any] = {}
        for key in ("data", "cells"):
            if (file := getattr(one, key)) is not None:
                update[key] = str((single or place_of(base, data, file)).absolute())
        if one.hierarchy:
            update["hierarchy"] = {name: _moved(source, base, data) for name, source in one.hierarchy.items()}
        return update

    tables = {name: one.model_copy(update=moved(one)) for name, one in spec.tables.items()}
    return spec.model_copy(update={**moved(spec), "tables": tables})


def _moved(source: HierarchySpec, base: Path, data: Path | None) -> HierarchySpec:
    folder = data if data is not None and data.is_dir() else None
    files = {key: file for key in ("file", "pairs") if (file := getattr(source, key)) is not None}
    return source.model_copy(update={key: str(place_of(base, folder, file)) for key, file in files.items()})


def read_tables(spec: Spec, problems: Problems) -> dict[str, Table]:
    """Read every table of a specification; what is wrong is noted by table, and the table left out."""
    top = max(TOP, needs(spec.all_rules))
    found = {}
    for name, one in each_table(spec).items():
        try:
            found[name] = Specified(one, Path()).table(top, None)
        except InputError as error:
            problems.found += [f"tables.{name}: {problem}" for problem in error.problems]
    return found


def clusters_of(protocol: Protocol, spec: Spec, tables: Mapping[str, Table]) -> dict[str, tuple[str, ...]]:
    """Return the clusters that a protocol names, or those that the tables make.

    Raises
    ------
    InputError
        Where tables of different clusters of the protocol share cells.
    """
    measures = {name: one.measure for name, one in each_table(spec).items() if one.measure is not None}
    found = find_clusters(tables, measure=measures)
    if not protocol.clusters:
        return _named(found, protocol.microdata)
    cluster = {table: name for name, names in protocol.clusters.items() for table in names}
    with collect() as problems:
        for one in found:
            for (a, b), cells in one.links.items():
                if cluster[a] != cluster[b]:
                    problems.add(
                        f"tables '{a}' (cluster '{cluster[a]}') and '{b}' (cluster '{cluster[b]}') share {cells} "
                        "cells, so they have to be protected together; put them into one cluster, or give them "
                        "different measures if their values are of different things"
                    )
    return dict(protocol.clusters)


def _named(found: Sequence[Cluster], taken: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Name clusters by what they measure, where that tells them apart, else by their first tables."""
    measures = [one.measure for one in found]
    named: dict[str, tuple[str, ...]] = {}
    for one in found:
        word = "".join(c if c.isascii() and (c.isalnum() or c in "_.-") else "-" for c in one.measure).strip("-.")
        alone = measures.count(one.measure) == 1 and word and word not in {*taken, *named, "publish", "internal"}
        named[word if alone and len(one.tables) > 1 else one.tables[0]] = one.tables
    return named


def request_of_cluster(
    protocol: Protocol, spec: Spec, cluster: str, names: Sequence[str], tables: Mapping[str, Table], **settings: Any
) -> Request:
    """Return what a protocol asks for a cluster; its tables are read already.

    Parameters
    ----------
    protocol : Protocol
    spec : Spec
        Of all tables, its files located.
    cluster : str
    names : sequence of str
        The tables of the cluster.
    tables : mapping of str to Table
    **settings
        Of the search, in the place of those of the protocol.

    Raises
    ------
    InputError
        Settings that do not go together, or tables that disagree in cells that they share.
    """
    checked = protocol.spec(names, {**protocol.settings.get(cluster, {}), **settings})
    own = spec.model_copy(update={key: getattr(checked, key) for key in SETTINGS})
    own = own.model_copy(update={"tables": {name: spec.tables[name] for name in names}})
    specs = each_table(own)
    one = specs[names[0]] if len(names) == 1 else own
    table = tables[names[0]] if len(names) == 1 else link_specified(specs, {name: tables[name] for name in names})
    title = protocol.title if len(protocol.clusters) == 1 else f"{protocol.title}: {cluster}"
    request = request_of(one, protocol.base, title=title)
    return request.asking(source=Held(one, Path(), held=table))
