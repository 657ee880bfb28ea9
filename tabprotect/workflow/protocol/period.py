"""The data of a period as a protocol reads them, compared with the structure that it was fixed for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tabprotect.errors import InputError, Problems
from tabprotect.microdata.specification import MaskSpec, read_mask_spec
from tabprotect.paths import possible
from tabprotect.table.table import Table
from tabprotect.workflow.protocol.model import Protocol
from tabprotect.workflow.protocol.structure import columns_of, differences, read_structure, structure_of
from tabprotect.workflow.protocol.tables import clusters_of, located, read_tables, request_of_cluster
from tabprotect.workflow.request import Request
from tabprotect.workflow.specification import Spec

__all__ = ["Period", "open_period"]


@dataclass(frozen=True, eq=False)
class Period:
    """The data of a period as a protocol reads them.

    Attributes
    ----------
    protocol : Protocol
    spec : Spec or None
        Of all tables, its files being those of the period; None without tables.
    tables : mapping of str to Table
    clusters : mapping of str to tuple of str
    masks : mapping of str to MaskSpec
    structure : mapping
        What the data look like; see `structure_of`.
    """

    protocol: Protocol
    spec: Spec | None = field(repr=False)
    tables: Mapping[str, Table] = field(repr=False)
    clusters: Mapping[str, tuple[str, ...]]
    masks: Mapping[str, MaskSpec] = field(repr=False)
    structure: Mapping[str, Any] = field(repr=False)

    def request(self, cluster: str, **settings: Any) -> Request:
        """Return what the protocol asks for a cluster, with other settings of the search where they are given.

        A limit in seconds that the protocol sets for all clusters is shared by their numbers of cells; one that a
        cluster sets is its own.
        """
        assert self.spec is not None
        names = self.clusters[cluster]
        request = request_of_cluster(self.protocol, self.spec, cluster, names, self.tables, **settings)
        own = "limits" in settings or "limits" in self.protocol.settings.get(cluster, {})
        if own or request.limits.seconds is None:
            return request
        share = self.cells[cluster] / sum(self.cells.values())
        return request.asking(limits=replace(request.limits, seconds=share * request.limits.seconds))

    @property
    def cells(self) -> dict[str, int]:
        """Return the number of cells of every cluster; cells that its tables share count for each of these."""
        return {name: sum(self.tables[table].n_cells for table in tables) for name, tables in self.clusters.items()}


def open_period(protocol: Protocol, data: Path | None, *, fixed: bool = True) -> Period:
    """Read the data of a period, and compare them with the structure that the protocol was fixed for.

    Parameters
    ----------
    protocol : Protocol
    data : Path or None
        Folder of the period's files, under their names in the protocol (or the only file); None for those beside the
        protocol.
    fixed : bool
        Whether the structure has to be that of the protocol.

    Raises
    ------
    InputError
        Everything that is wrong with the data, and every difference of structure.
    """
    before = None
    if fixed:
        if protocol.structure is None:
            raise InputError(
                f"{protocol.path} is not fixed yet: run `tabprotect develop {protocol.path.name}`, which compares "
                "settings, records the decision and writes the fixed protocol"
            )
        before = read_structure(protocol.base / protocol.structure)
    tables: Mapping[str, Table] = {}
    clusters: Mapping[str, tuple[str, ...]] = {}
    spec = None
    problems = Problems()
    if protocol.shared:
        spec = problems.attempt(lambda: located(protocol.spec(), protocol.base, data))
    masks = {
        name: one
        for name, given in protocol.microdata.items()
        if (one := problems.attempt(_mask_spec, protocol, name, given, data))
    }
    problems.raise_if_any()
    columns = {name: problems.attempt(columns_of, one.data) or [] for name, one in masks.items()}
    if spec is not None:
        tables = read_tables(spec, problems)
        if len(tables) == len(spec.tables):
            clusters = problems.attempt(clusters_of, protocol, spec, tables) or {}
    structure = structure_of(spec, tables, clusters, columns)
    if before is not None:
        differences(before, structure, problems)
    problems.raise_if_any()
    return Period(protocol, spec, tables, clusters, masks, structure)


def _mask_spec(protocol: Protocol, name: str, given: Mapping[str, Any], data: Path | None) -> MaskSpec:
    """Read what a protocol says of a microdata file; its data are those of the period."""
    try:
        spec = read_mask_spec(given, protocol.base)
    except InputError as error:
        raise InputError(*(f"microdata.{name}: {problem}" for problem in error.problems)) from error
    if data is None:
        return spec
    if possible(data).is_file():
        if protocol.shared or len(protocol.microdata) > 1:
            raise InputError(f"{data} is one file, and the protocol has several; name the folder of all of them")
        return replace(spec, data=replace(spec.data, path=data))
    for file in (data / str(given["data"]), data / Path(str(given["data"])).name):
        if file.exists():
            return replace(spec, data=replace(spec.data, path=file))
    raise InputError(f"{data}: there is no file '{Path(str(given['data'])).name}' (microdata.{name})")
