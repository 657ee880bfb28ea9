"""A protocol is read from its file and that of its rules, and everything that is wrong with both is said at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.microdata.specification import read_mask_spec
from tabprotect.sensitivity.parse import as_rules, rules_in
from tabprotect.workflow.checking import load_toml
from tabprotect.workflow.protocol.model import RULE_KEYS, SETTINGS, OwnKeys, PreviousSpec, Protocol
from tabprotect.workflow.specification import Spec

__all__ = ["read_protocol"]

_NAME = re.compile(r"\w(?:[\w. -]*[\w-])?")
_RESERVED = ("publish", "internal")
_WORDS = {"bool": "true or false", "float": "a number", "str": "a text"}


def read_protocol(path: str | Path) -> Protocol:
    """Read a protocol and the file of its rules, and check both as a whole.

    Raises
    ------
    InputError
        Everything that is wrong, by key.
    """
    path = Path(path)
    content = load_toml(path)
    problems = Problems()
    known = [*OwnKeys.model_fields, *(name for name in Spec.model_fields if name not in OwnKeys.model_fields)]
    for key in content:
        if key not in known:
            problems.add(f"unknown key '{key}'{did_you_mean(key, known)}")
    own = {key: content.get(key, {}) for key in ("tables", "clusters", "microdata")}
    for key, given in own.items():
        if not isinstance(given, dict) or not all(isinstance(one, dict) for one in given.values()):
            problems.add(f"{key} must be tables of keys, one [{key}.NAME] for each")
            own[key] = {}
    if not content.get("tables") and not content.get("microdata"):
        problems.add("there is nothing to publish: write one [tables.NAME] for every table, or [microdata.NAME]")
    clusters = _clusters(own["clusters"], own["tables"], problems)
    _names(clusters, own["microdata"], own["tables"] if not clusters else {}, problems)
    title = _typed(content, "title", str, "Protected tables", problems)
    structure = _typed(content, "structure", str, None, problems)
    rules = _rules(content, path, problems) if own["tables"] else {}
    trials = _trials(content.get("trial", []), problems)
    previous = _previous(content.get("previous", {}), problems)
    settings = {name: {k: v for k, v in one.items() if k != "tables"} for name, one in own["clusters"].items()}
    specified = {
        k: v for k, v in content.items() if k in Spec.model_fields and k not in ("rules", "tables", "previous")
    }
    protocol = Protocol(
        path, title, content, {**specified, **rules, "tables": own["tables"]} if own["tables"] else {},
        clusters, settings, own["microdata"], trials, previous, structure,
    )  # fmt: skip
    _parts(protocol, problems)
    if problems.found:
        prefix = f"{path}: "
        raise InputError(*dict.fromkeys(p if p.startswith(prefix) else prefix + p for p in problems.found))
    return protocol


def _clusters(given: Mapping[str, Any], tables: Mapping[str, Any], problems: Problems) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, one in given.items():
        names = one.get("tables")
        if not isinstance(names, list) or not names or not all(isinstance(table, str) for table in names):
            problems.add(f"clusters.{name}: 'tables' is missing: a list of the names of its tables")
            continue
        for table in names:
            if table not in tables:
                problems.add(f"clusters.{name}: there is no table '{table}'{did_you_mean(table, tables)}")
        found[name] = tuple(table for table in names if table in tables)
        for key in one:
            if key not in SETTINGS and key != "tables":
                problems.add(f"clusters.{name}: unknown key '{key}'{did_you_mean(key, ('tables', *SETTINGS))}")
    member = [table for names in found.values() for table in names]
    for table in tables if given else ():
        if member.count(table) != 1:
            where = "no cluster" if table not in member else "several clusters"
            problems.add(f"tables.{table} is in {where}; name every table in one of [clusters.NAME]")
    return found


def _names(
    clusters: Mapping[str, Any], microdata: Mapping[str, Any], tables: Mapping[str, Any], problems: Problems
) -> None:
    """Refuse names that cannot be those of folders of a release."""
    for kind, names in (("clusters", clusters), ("microdata", microdata), ("tables", tables)):
        for name in names:
            if not _NAME.fullmatch(name) or name in _RESERVED:
                problems.add(f"{kind}.{name}: a folder cannot have this name; use letters, digits, spaces, -, _ and .")
    for name in microdata:
        if name in clusters or name in tables:
            problems.add(f"microdata.{name}: tables have this name as well; every part needs a folder of its own")


def _typed(content: Mapping[str, Any], key: str, kind: type, default: Any, problems: Problems) -> Any:
    given = content.get(key, default)
    if key in content and not isinstance(given, kind):
        problems.add(f"{key}: should be {_WORDS[kind.__name__]}, not {given!r}")
        return default
    return given


def _rules(content: Mapping[str, Any], path: Path, problems: Problems) -> dict[str, Any]:
    """Return the rules, from their own file where the protocol names one."""
    given = content.get("rules")
    if not isinstance(given, str):
        return {} if given is None else {"rules": given}
    file = path.parent / given
    try:
        found = load_toml(file)
    except InputError as error:
        problems.found += [f"rules: {problem}" for problem in error.problems]
        return {"rules": ["threshold=3"]}
    for key in found:
        if key not in RULE_KEYS:
            problems.add(f"{given}: unknown key '{key}'{did_you_mean(key, RULE_KEYS)}")
        elif key in content and key != "rules":
            problems.add(f"'{key}' is given twice: in {given} and in the protocol")
    if "rules" not in found:
        problems.add(f"{given}: 'rules' is missing: {Spec.model_fields['rules'].description}")
    if isinstance(found.get("rules"), list):
        found["rules"] = [_beside(text, Path(given).parent) for text in found["rules"]]
    return {"rules": ["threshold=3"], **{key: one for key, one in found.items() if key in RULE_KEYS}}


def _beside(text: Any, folder: Path) -> Any:
    """Return a rule of a file in a folder as it reads beside the protocol."""
    try:
        as_it_is, there = as_rules(text), rules_in([text], folder)
    except (InputError, TypeError):
        # the specification says what is wrong with it
        return text
    return text if as_it_is == there else "|".join(map(str, there))


def _trials(given: Any, problems: Problems) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        problems.add("trial must be tables of keys, one [[trial]] for every setting to compare")
        return ()
    for number, one in enumerate(given, 1):
        for key in one:
            if key not in SETTINGS:
                problems.add(f"trial {number}: unknown key '{key}'{did_you_mean(key, SETTINGS)}")
    return tuple({key: value for key, value in one.items() if key in SETTINGS} for one in given)


def _previous(given: Any, problems: Problems) -> PreviousSpec:
    fields = PreviousSpec.model_fields
    if not isinstance(given, dict):
        problems.add("previous must be a table of keys, such as revision = true")
        return PreviousSpec()
    words = {}
    for key in given:
        if key not in fields:
            problems.add(f"previous: unknown key '{key}'{did_you_mean(key, fields)}")
    revision = given.get("revision", False)
    if not isinstance(revision, bool):
        problems.add(f"previous.revision: should be true or false, not {revision!r}")
    else:
        words["revision"] = revision
    factor = given.get("factor", fields["factor"].default)
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 < factor <= 1:
        problems.add(f"previous.factor: should be a number above 0 and at most 1, not {factor!r}")
        factor = fields["factor"].default
    return PreviousSpec(factor=float(factor), **words)


def _parts(protocol: Protocol, problems: Problems) -> None:
    """Check the specification of every part; what is wrong with all of them is said once."""
    said: list[str] = []
    prefix = f"{protocol.path}: "
    attempts: list[tuple[str, Sequence[str] | None, Mapping[str, Any]]] = [("", None, {})] if protocol.shared else []
    attempts += [
        (f"clusters.{name}: ", tables, protocol.settings.get(name, {}))
        for name, tables in protocol.clusters.items()
        if tables
    ]
    attempts += [(f"trial {i}: ", None, one) for i, one in enumerate(protocol.trials, 1) if protocol.shared]
    for where, tables, settings in attempts:
        try:
            protocol.spec(tables, {key: one for key, one in settings.items() if key in SETTINGS})
        except InputError as error:
            lines = [problem.removeprefix(prefix) for problem in error.problems]
            problems.found += [where + line for line in lines if line not in said]
            said += lines
    for name, given in protocol.microdata.items():
        try:
            read_mask_spec(given, protocol.base)
        except InputError as error:
            problems.found += [f"microdata.{name}: {problem}" for problem in error.problems]
