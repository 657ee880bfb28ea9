"""Data structures out: code lists with parents, concepts and the structure of a published table, as SDMX-ML 2.1."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from tabprotect.errors import Problems, did_you_mean
from tabprotect.formats.published import Published
from tabprotect.formats.sdmx.data import identifier_problems
from tabprotect.formats.sdmx.statuses import LISTS, SDMX, StatusMap
from tabprotect.table.hierarchy import Hierarchy

__all__ = ["encode_structure"]

_MESSAGE: Final = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message"
_STRUCTURE: Final = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1/structure"
_COMMON: Final = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1/common"
_LANG: Final = "{http://www.w3.org/XML/1998/namespace}lang"
_TIME: Final = "TIME_PERIOD"
_EPOCH = datetime(1980, 1, 1, tzinfo=UTC)


def encode_structure(
    table: Published,
    *,
    agency: str = "ORG",
    structure: str = "DSD_TABLE",
    version: str = "1.0",
    statuses: StatusMap = SDMX,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    names: Mapping[str, str] | None = None,
    codes: Mapping[str, Mapping[str, str]] | None = None,
    fixed: Mapping[str, str] | None = None,
    prepared: datetime | None = None,
) -> bytes:
    """Return the data structure that `encode_sdmx` refers to, with its concepts and code lists, as SDMX-ML 2.1.

    Parameters
    ----------
    table : Published
        Its codes and labels; no value gets into a structure.
    agency, structure, version, statuses, names, codes, fixed, prepared
        As for `encode_sdmx`.
    hierarchies : mapping of str to Hierarchy, optional
        By dimension: codes get the parents that they have there. Codes of the hierarchy that the table does not show
        are left out, and what is below them stands below the next one above.

    Raises
    ------
    InputError
        Every name and code that is no identifier in SDMX; dimensions that are none; codes that a hierarchy has not.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": ["T", "x"], "v": [5.0, None], "status": ["published", "suppressed"]})
    >>> text = encode_structure(Published.of(frame), hierarchies={"a": Hierarchy.flat(["x"], "T")}).decode()
    >>> 'Codelist id="CL_a"' in text, "DataStructure " in text
    (True, True)
    """
    trees, named, known = hierarchies or {}, names or {}, codes or {}
    problems = Problems()
    for what, given in (("names", named), ("codes", known), ("hierarchies", trees)):
        for name in given:
            if name not in table.dimensions:
                problems.add(f"{what}: '{name}' is no dimension{did_you_mean(name, table.dimensions)}")
    lists = {name: {table_code: known.get(name, {}).get(table_code, table_code) for table_code in table.codes(name)}
             for name in table.dimensions}  # fmt: skip
    dimensions = {**{name: [code] for name, code in (fixed or {}).items()}}
    dimensions |= {named.get(name, name): list(lists[name].values()) for name in table.dimensions}
    problems.found += identifier_problems(dimensions)
    parents = {}
    for name in table.dimensions:
        found = _parents(table.codes(name), trees[name], name, problems) if name in trees else {}
        parents[named.get(name, name)] = {lists[name][code]: lists[name][above] for code, above in found.items()}
    problems.raise_if_any()
    labels = {
        named.get(name, name): {identifier: table.label(name, code) for code, identifier in lists[name].items()}
        for name in table.dimensions
    }
    root = _element(None, _MESSAGE, "Structure")
    header = _element(root, _MESSAGE, "Header")
    for tag, text in (("ID", structure), ("Test", "false"), ("Prepared", (prepared or _EPOCH).isoformat())):
        _element(header, _MESSAGE, tag).text = text
    _element(header, _MESSAGE, "Sender", id=agency)
    inside = _element(root, _MESSAGE, "Structures")
    by = _Writer(agency, version)
    whole = _element(inside, _STRUCTURE, "Codelists")
    for name, listed in ((name, found) for name, found in dimensions.items() if name != _TIME):
        by.code_list(whole, f"CL_{name}", name, {one: labels.get(name, {}).get(one, one) for one in listed},
                     parents.get(name, {}))  # fmt: skip
    for attribute, identifier in (("CONF_STATUS", statuses.conf_list), ("OBS_STATUS", statuses.obs_list)):
        by.code_list(whole, f"CL_{attribute}", identifier, LISTS[identifier], {})
    concepts = _element(_element(inside, _STRUCTURE, "Concepts"), _STRUCTURE, "ConceptScheme", **by.keys("CS_TABLE"))
    by.name(concepts, "Concepts")
    for name in (*dimensions, "OBS_VALUE", "OBS_STATUS", "CONF_STATUS"):
        by.name(_element(concepts, _STRUCTURE, "Concept", id=name), table.value if name == "OBS_VALUE" else name)
    by.structure(inside, structure, list(dimensions), table.title)
    ET.indent(root)
    stream = io.BytesIO()
    ET.ElementTree(root).write(stream, encoding="utf-8", xml_declaration=True)
    return stream.getvalue() + b"\n"


def _parents(codes: list[str], tree: Hierarchy, name: str, problems: Problems) -> dict[str, str]:
    """Return the next code above each that the table shows."""
    above = {part: parent for parent, parts in tree.splits for part in parts}
    shown, found = set(codes), {}
    if unknown := [code for code in codes if code not in tree.codes]:
        problems.add(f"the hierarchy of '{name}' has no code {', '.join(map(repr, unknown[:5]))}")
    for code in codes:
        parent = above.get(code)
        while parent is not None and parent not in shown:
            parent = above.get(parent)
        if parent is not None:
            found[code] = parent
    return found


def _element(parent: ET.Element | None, space: str, tag: str, **keys: str) -> ET.Element:
    made = ET.Element(f"{{{space}}}{tag}" if space else tag, keys)
    if parent is not None:
        parent.append(made)
    return made


class _Writer:
    """What all artefacts of one agency and version have."""

    def __init__(self, agency: str, version: str) -> None:
        self.agency, self.version = agency, version

    def keys(self, name: str) -> dict[str, str]:
        return {"id": name, "agencyID": self.agency, "version": self.version, "isFinal": "true"}

    def name(self, parent: ET.Element, text: str) -> None:
        made = _element(parent, _COMMON, "Name")
        made.set(_LANG, "en")
        made.text = text

    def code_list(
        self, parent: ET.Element, name: str, title: str, codes: Mapping[str, str], above: Mapping[str, str]
    ) -> None:
        whole = _element(parent, _STRUCTURE, "Codelist", **self.keys(name))
        self.name(whole, title)
        for code, label in codes.items():
            if code:
                one = _element(whole, _STRUCTURE, "Code", id=code)
                self.name(one, label or code)
                if code in above:
                    _element(_element(one, _STRUCTURE, "Parent"), "", "Ref", id=above[code])

    def structure(self, parent: ET.Element, name: str, dimensions: list[str], title: str) -> None:
        whole = _element(_element(parent, _STRUCTURE, "DataStructures"), _STRUCTURE, "DataStructure", **self.keys(name))
        self.name(whole, title)
        parts = _element(whole, _STRUCTURE, "DataStructureComponents")
        listed = _element(parts, _STRUCTURE, "DimensionList", id="DimensionDescriptor")
        # the dimension of time is the last one
        for place, one in enumerate(sorted(dimensions, key=lambda name: name == _TIME), 1):
            time = one == _TIME
            made = _element(listed, _STRUCTURE, "TimeDimension" if time else "Dimension", id=one, position=str(place))
            self._represented(made, one, None if time else f"CL_{one}", "ObservationalTimePeriod")
        listed = _element(parts, _STRUCTURE, "AttributeList", id="AttributeDescriptor")
        for one in ("OBS_STATUS", "CONF_STATUS"):
            made = _element(listed, _STRUCTURE, "Attribute", id=one, assignmentStatus="Conditional")
            self._represented(made, one, f"CL_{one}")
            _element(_element(_element(made, _STRUCTURE, "AttributeRelationship"), _STRUCTURE, "PrimaryMeasure"), "",
                     "Ref", id="OBS_VALUE")  # fmt: skip
        listed = _element(parts, _STRUCTURE, "MeasureList", id="MeasureDescriptor")
        self._represented(_element(listed, _STRUCTURE, "PrimaryMeasure", id="OBS_VALUE"), "OBS_VALUE", None, "Double")

    def _represented(self, parent: ET.Element, concept: str, codes: str | None, kind: str = "") -> None:
        identity = _element(parent, _STRUCTURE, "ConceptIdentity")
        _element(identity, "", "Ref", id=concept, maintainableParentID="CS_TABLE", agencyID=self.agency,
                 maintainableParentVersion=self.version, package="conceptscheme", **{"class": "Concept"})  # fmt: skip
        local = _element(parent, _STRUCTURE, "LocalRepresentation")
        if codes is None:
            _element(local, _STRUCTURE, "TextFormat", textType=kind)
            return
        _element(_element(local, _STRUCTURE, "Enumeration"), "", "Ref", id=codes, agencyID=self.agency,
                 version=self.version, package="codelist", **{"class": "Codelist"})  # fmt: skip


for _prefix, _space in (("mes", _MESSAGE), ("str", _STRUCTURE), ("com", _COMMON)):
    ET.register_namespace(_prefix, _space)
