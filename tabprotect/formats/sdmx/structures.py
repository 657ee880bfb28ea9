"""Code lists, hierarchies and data structures of SDMX-ML."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.formats.files import read_bytes
from tabprotect.table.hierarchy import Hierarchy

__all__ = ["CodeTree", "Structure", "read_hierarchies", "read_structures"]


@dataclass(frozen=True)
class CodeTree:
    """A code list or a hierarchy of one.

    Attributes
    ----------
    id : str
        Agency, name and version, such as ``ESTAT:CL_GEO(1.0)``.
    pairs : tuple of (str or None, str)
        Parent and code, in the order of the file; None at the top.
    labels : dict
    """

    id: str
    pairs: tuple[tuple[str | None, str], ...]
    labels: dict[str, str] = field(default_factory=dict, hash=False)

    def hierarchy(self, total: str | None = None) -> Hierarchy:
        """Return the codes as a hierarchy.

        Parameters
        ----------
        total : str, optional
            Code above all; by default the only one at the top that has parts, or '_T' where the list has it, else
            'Total'.

        Raises
        ------
        InputError
            What `Hierarchy` finds wrong.
        """
        roots = [code for parent, code in self.pairs if parent is None]
        inner = {parent for parent, _ in self.pairs if parent is not None}
        if total is None and len(roots) == 1 and roots[0] in inner:
            return Hierarchy.from_pairs([pair for pair in self.pairs if pair[0] is not None]).labelled(self.labels)
        if total is None:
            total = "_T" if "_T" in roots else "Total"
        # a total without parts stands above all others at the top
        pairs = [(parent, code) for parent, code in self.pairs if code != total or parent is not None]
        return Hierarchy.from_pairs(pairs, total=total).labelled(self.labels)


@dataclass(frozen=True)
class Structure:
    """A data structure: its dimensions in their order, and the code list of each ('' for none).

    Attributes
    ----------
    id : str
    dimensions : dict of str to str
    measures, attributes : tuple of str
    """

    id: str
    dimensions: dict[str, str] = field(hash=False)
    measures: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()


def read_hierarchies(path: str | Path) -> dict[str, CodeTree]:
    """Read all code lists and hierarchies of an SDMX-ML structure file (2.1 or 3.0), by their identifiers.

    Codes of a code list have a parent each; a hierarchy is a tree of references to codes of code lists.

    Raises
    ------
    InputError
        If the file is no SDMX-ML, or holds neither; codes whose parent is not in the list.
    """
    root = _root(path)
    found: dict[str, CodeTree] = {}
    with collect() as problems:
        for element in _all(root, "Codelist"):
            tree = _code_list(element)
            known = {code for _, code in tree.pairs}
            for parent, code in tree.pairs:
                if parent is not None and parent not in known:
                    problems.add(
                        f"{path}: {tree.id}: code '{code}' has the parent '{parent}', which is not in the list"
                    )
            found[tree.id] = tree
    labels = {code: label for tree in found.values() for code, label in tree.labels.items()}
    for element in _all(root, "Hierarchy"):
        pairs = tuple(_walk(element, None))
        if pairs:
            tree = CodeTree(_id(element), pairs, {code: labels[code] for _, code in pairs if code in labels})
            found[tree.id] = tree
    if not found:
        raise InputError(f"{path} holds neither code lists nor hierarchies")
    return found


def read_structures(path: str | Path) -> dict[str, Structure]:
    """Read the data structures of an SDMX-ML structure file (2.1 or 3.0), by their identifiers.

    Raises
    ------
    InputError
        If the file is no SDMX-ML, or holds none.
    """
    root = _root(path)
    concepts = {
        element.get("id", ""): next(_lists(element), "") for scheme in _all(root, "ConceptScheme") for element in scheme
    }
    found = {}
    for element in _all(root, "DataStructure"):
        dimensions = {}
        for kind in ("Dimension", "TimeDimension"):
            for one in _all(element, kind):
                if name := one.get("id"):
                    dimensions[name] = next(_lists(one), concepts.get(name, ""))
        measures = [
            one.get("id") or "OBS_VALUE"
            for measured in _all(element, "MeasureList")
            for kind in ("PrimaryMeasure", "Measure")
            for one in _all(measured, kind)
        ]
        attributes = [one.get("id", "") for one in _all(element, "Attribute")]
        if dimensions:
            made = Structure(_id(element), dimensions, tuple(measures), tuple(attributes))
            found[made.id] = made
    if not found:
        raise InputError(f"{path} holds no data structures")
    return found


def _root(path: str | Path) -> ET.Element:
    data = read_bytes(path)
    if b"<!DOCTYPE" in data[:2000] or b"<!ENTITY" in data:
        raise InputError(f"{path} declares entities of its own, which SDMX files have not; it is not read")
    try:
        root = ET.fromstring(data)
    except ET.ParseError as error:
        raise InputError(f"{path} is no XML ({error})") from error
    if _tag(root) not in ("Structure", "RegistryInterface"):
        names = ["Structure"]
        raise InputError(
            f"{path} is no SDMX-ML structure file: it begins with <{_tag(root)}>{did_you_mean(_tag(root), names)}"
        )
    return root


def _tag(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _all(element: ET.Element, tag: str) -> Iterator[ET.Element]:
    return (one for one in element.iter() if _tag(one) == tag)


def _child(element: ET.Element, tag: str) -> ET.Element | None:
    return next((one for one in element if _tag(one) == tag), None)


def _id(element: ET.Element) -> str:
    return f"{element.get('agencyID', '')}:{element.get('id', '')}({element.get('version', '1.0')})"


def _name(element: ET.Element) -> str:
    """Return the English name, or the first one."""
    names = [one for one in element if _tag(one) == "Name"]
    lang = "{http://www.w3.org/XML/1998/namespace}lang"
    chosen = next((one for one in names if one.get(lang, "en") == "en"), names[0] if names else None)
    return "" if chosen is None else (chosen.text or "").strip()


def _code_list(element: ET.Element) -> CodeTree:
    pairs, labels = [], {}
    for code in (one for one in element if _tag(one) == "Code"):
        name, parent = code.get("id", ""), _child(code, "Parent")
        above = None
        if parent is not None:
            reference = _child(parent, "Ref")
            above = reference.get("id") if reference is not None else (parent.text or "").strip() or None
        pairs.append((above, name))
        if label := _name(code):
            labels[name] = label
    return CodeTree(_id(element), tuple(pairs), labels)


def _walk(element: ET.Element, above: str | None) -> Iterator[tuple[str | None, str]]:
    """Yield parents and codes of a tree of references."""
    for one in element:
        if _tag(one) == "HierarchicalCode":
            code = _referred(one)
            yield above, code
            yield from _walk(one, code)


def _referred(element: ET.Element) -> str:
    """Return the code that a hierarchical code refers to: a URN, a reference, or an alias with the code."""
    reference = _child(element, "Code")
    if reference is not None:
        inner = _child(reference, "Ref")
        if inner is not None:
            return inner.get("id", "")
        return (reference.text or "").strip().rpartition(".")[2]
    identifier = _child(element, "CodeID")
    if identifier is not None:
        inner = _child(identifier, "Ref")
        return inner.get("id", "") if inner is not None else (identifier.text or "").strip()
    return element.get("id", "")


def _lists(element: ET.Element) -> Iterator[str]:
    """Yield the code lists that an element is represented by."""
    for one in _all(element, "Enumeration"):
        reference = _child(one, "Ref")
        if reference is not None:
            yield f"{reference.get('agencyID', '')}:{reference.get('id', '')}({reference.get('version', '1.0')})"
        elif one.text:
            yield one.text.strip().rpartition("=")[2]
