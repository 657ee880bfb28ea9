"""What a protocol says: the tables of a publication, their clusters, rules, methods and microdata files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from tabprotect.workflow.checking import check_spec
from tabprotect.workflow.specification import Spec, TableSpec

__all__ = ["RULE_KEYS", "SETTINGS", "ClusterSpec", "OwnKeys", "PreviousSpec", "Protocol", "schema_of_protocols"]

RULE_KEYS = ("rules", "holding_rules", "levels", "lower", "upper", "singletons", "unions", "protect_hidden")
"""What a file of rules may hold."""

SETTINGS = tuple(
    name
    for name in Spec.model_fields
    if name not in {*TableSpec.model_fields, *RULE_KEYS, "tables", "output", "previous"}
)
"""What every cluster may decide for itself: method, options, cost, limits, ..."""


class PreviousSpec(BaseModel):
    """How the release of the last period is taken into account."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    factor: float = Field(
        default=0.1, gt=0, le=1, description="Costs of cells that were hidden in the last period are multiplied by it."
    )
    revision: bool = Field(
        default=False,
        description="Both releases are of the same quantities: only cells hidden in both count as hidden, and both are "
        "audited so.",
    )


class ClusterSpec(BaseModel):
    """Linked tables that are protected together; beside `tables` any setting of the search, such as method."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    tables: list[str] = Field(min_length=1, description="Names of its tables.")


class OwnKeys(BaseModel):
    """The keys that a protocol has and a specification has not, for the JSON Schema."""

    title: str = Field(default="Protected tables", description="Heading of the pages; public.")
    rules: str | list[str] = Field(description="A file of rules (confidential), relative to the protocol; or rules.")
    clusters: dict[str, ClusterSpec] = Field(default={}, description="Without them, found from the data.")
    microdata: dict[str, dict[str, Any]] = Field(
        default={}, description="Microdata files: a name, and what `tabprotect mask` reads."
    )
    trial: list[dict[str, Any]] = Field(default=[], description="Settings that `tabprotect develop` compares.")
    previous: PreviousSpec = PreviousSpec()
    structure: str | None = Field(default=None, description="Written by `tabprotect develop`: what data look like.")


@dataclass(frozen=True, eq=False)
class Protocol:
    """A protocol that was read and checked.

    Attributes
    ----------
    path : Path
    title : str
    content : mapping
        The file as it is.
    shared : mapping
        What a specification of all tables would say, the rules filled in; empty without tables.
    clusters : mapping of str to tuple of str
        The tables of every cluster; empty where they are to be found.
    settings : mapping of str to mapping
        What every cluster says besides.
    microdata : mapping of str to mapping
        What `tabprotect mask` would read.
    trials : tuple of mapping
    previous : PreviousSpec
    structure : str or None
        Name of the file of the structure, relative to the protocol; None while the protocol is not fixed.
    """

    path: Path
    title: str
    content: Mapping[str, Any] = field(repr=False)
    shared: Mapping[str, Any] = field(repr=False)
    clusters: Mapping[str, tuple[str, ...]]
    settings: Mapping[str, Mapping[str, Any]]
    microdata: Mapping[str, Mapping[str, Any]] = field(repr=False)
    trials: tuple[Mapping[str, Any], ...]
    previous: PreviousSpec
    structure: str | None

    @property
    def base(self) -> Path:
        """What its paths are relative to."""
        return self.path.parent

    @property
    def internal(self) -> Path:
        """The folder of its decisions; confidential."""
        return self.base / f"{self.path.stem.removesuffix('.fixed')}.internal"

    def spec(self, tables: Sequence[str] | None = None, settings: Mapping[str, Any] | None = None) -> Spec:
        """Return the specification of some tables (of all), with settings in the place of those of the protocol.

        Raises
        ------
        InputError
            Everything that is wrong with it.
        """
        spec = check_spec(_over(self.shared, settings or {}), str(self.path))
        if tables is None:
            return spec
        return spec.model_copy(update={"tables": {name: spec.tables[name] for name in tables}})


def schema_of_protocols() -> dict[str, Any]:
    """Return the JSON Schema of protocols, for editors that complete them.

    Examples
    --------
    >>> sorted(set(schema_of_protocols()["properties"]) - set(Spec.model_json_schema()["properties"]))
    ['clusters', 'microdata', 'structure', 'title', 'trial']
    """
    shared, own = Spec.model_json_schema(), OwnKeys.model_json_schema()
    return {
        **shared,
        "title": "Protocol",
        "description": "What a publication consists of, and how it is protected, period by period.",
        "$defs": {**shared["$defs"], **own["$defs"]},
        "properties": {**shared["properties"], **own["properties"]},
        "required": [],
    }


def _over(content: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Put settings over those that are there; what belongs to another method goes with it."""
    merged = {**content, **given}
    if given.get("method", content.get("method")) != content.get("method") and "options" not in given:
        merged.pop("options", None)
    return merged
