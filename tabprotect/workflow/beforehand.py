"""What can be checked before the work: keys, rules, places to write into, files and columns; all of it at once."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.formats.folder import check_replaceable
from tabprotect.formats.places import temporary_prefix
from tabprotect.methods.recoding.method import Recode
from tabprotect.methods.registry import all_options, maker_of
from tabprotect.release.earlier import check_last
from tabprotect.sensitivity.bounds import BoundsAsTyped
from tabprotect.sensitivity.level import at_holdings, both_levels
from tabprotect.sensitivity.parse import as_rules, right_rules
from tabprotect.sensitivity.requirements import needs_requests, without_requests
from tabprotect.sensitivity.rule import Spoken
from tabprotect.solver.tasks.store import check_resumable
from tabprotect.table.table import Table
from tabprotect.workflow.checking import check_spec
from tabprotect.workflow.fitting import unfitting
from tabprotect.workflow.prepare import tabulated_so
from tabprotect.workflow.request import FACES, Request
from tabprotect.workflow.source import Finished, Records
from tabprotect.workflow.specification import STATED, Spec, TableSpec, check_dialect
from tabprotect.workflow.specified import right_part

__all__ = ["asked_for", "check_beforehand", "check_place"]

_NO_COLUMN = re.compile(r"no column '(.*)'; did you mean '(.*)'\?")
_NO_DIMENSION = re.compile(r"\w+\.([^:]*): no such dimension; did you mean '(.*)'\?")


def check_beforehand(
    content: Mapping[str, Any],
    name: str,
    base: Path,
    *,
    resume: Path | None = None,
    writes: bool = True,
    **other: Any,
) -> Spec:
    """Return the specification, or raise one error with everything that is wrong in it and around it.

    Data are looked at only where something else is wrong: without that, reading them comes next anyhow, and says
    the same.

    Parameters
    ----------
    content : mapping
        Of a specification, unchecked.
    name : str
        Of the specification, in messages.
    base : Path
        What its paths are relative to.
    resume : Path, optional
        Folder of finished pieces.
    writes : bool
        Whether a release is to be written into the folder of the specification.
    **other
        Of `Request`, in the place of what the specification says.

    Raises
    ------
    InputError

    Examples
    --------
    >>> content = {"data": "no.csv", "by": ["region"], "rules": ["p=15"], "levels": "symetric"}
    >>> try:
    ...     check_beforehand(content, "a.toml", Path("nowhere"))
    ... except InputError as error:
    ...     [problem.partition(";")[0] for problem in error.problems if "rule" not in problem]
    ["a.toml: levels: 'symetric' is not possible", 'no.csv: no such file']
    """
    problems = Problems()
    spec = None
    try:
        spec = check_spec(content, name)
    except InputError as error:
        problems.found += error.problems
    likely, wrong = (spec, set()) if spec is not None else _right_part(content)
    if likely is not None:
        if writes:
            problems.attempt(check_place, base / likely.output.folder)
            problems.attempt(_check_formats, likely)
        problems.attempt(check_dialect, likely.output)
        readable = (likely.data is None) != (likely.cells is None) or bool(likely.tables)
        # a table without what is wrong in its own keys would be another one
        whole = wrong.isdisjoint((*TableSpec.model_fields, "method", "tables", "unpublished"))
        request = right_part(problems, likely, base, resume=resume, **other)
        _look_around(request, problems, readable, whole)
    problems.found = _of_one_cause(problems.found)
    _raise(problems)
    assert spec is not None
    return spec


def _of_one_cause(problems: Sequence[str]) -> list[str]:
    """Leave out what follows from a dimension that is misspelled: what names it rightly is right.

    Examples
    --------
    >>> _of_one_cause(["hierarchy.nuts: no such dimension; did you mean 'ntus'?", "a.csv: no column 'ntus'; did you "
    ...                "mean 'nuts'?"])
    ["a.csv: no column 'ntus'; did you mean 'nuts'?"]
    """
    misspelled = {found.groups() for problem in problems if (found := _NO_COLUMN.search(problem))}
    strange = ((problem, _NO_DIMENSION.search(problem)) for problem in problems)
    return [problem for problem, found in strange if found is None or (found[2], found[1]) not in misspelled]


def asked_for(
    data: Any, roles: Mapping[str, Any], rules: Any, holding_rules: Any, unknown: Iterable[str] = (), **other: Any
) -> Request:
    """Return what is asked for from Python, or raise one error with everything that is wrong in it and around it.

    Parameters
    ----------
    data : Table or microdata
    roles : mapping
        How microdata are tabulated; nothing of it goes with a finished table.
    rules, holding_rules
        Of `tabprotect.protect`.
    unknown : iterable of str
        Names of arguments that it does not have.
    **other
        Of `Request`.

    Raises
    ------
    InputError

    Examples
    --------
    >>> import pandas as pd
    >>> try:
    ...     asked_for(pd.DataFrame({"v": [1]}), {"by": ["r"]}, "p%15", None, unions="fix")
    ... except InputError as error:
    ...     [problem[:22] for problem in error.problems]
    ["rule 'p%15' is not kno", "unions must be 'repair", "no column 'r'; there a"]
    """
    problems, finished = Problems(), isinstance(data, Table)
    of_both = [right_rules(problems, () if one is None else one) for one in (rules, holding_rules)]
    asked = (*of_both[0], *(problems.attempt(at_holdings, of_both[1]) or ()))
    if not asked and not problems.found and not (finished and STATED & data.columns.keys()):
        problems.add("nothing says which cells are sensitive: give rules, such as ['p%=15', 'threshold=3']")
    for name in unknown:
        maker = maker_of(name)
        known = [*roles, "rules", "holding_rules", *(FACES.get(one, one) for one in other), *sorted(all_options())]
        cure = did_you_mean(name, known) if maker is None else f"; it is an option of a method: {maker}({name}=...)"
        problems.add(f"protect has no argument '{name}'{cure}")
    given = {name: one for name, one in roles.items() if one is not None}
    if finished and given:
        problems.add(f"only for microdata, and the table is finished already: {', '.join(given)}")
    if not finished and "by" not in given:
        problems.add("microdata need by=, the columns of the dimensions")
    source = Finished(data) if finished else Records(data, {**roles, "both_levels": both_levels(asked)})
    request = Request.right_part(problems, source=source, rules=asked, **other)
    _look_around(request, problems, finished or "by" in given, True)
    _raise(problems)
    assert request is not None
    return request


def _look_around(request: Request | None, problems: Problems, readable: bool, whole: bool) -> None:
    """Note what is wrong with the folders of a request and, where anything is wrong, with its data.

    The table is made only where something of the request names codes, and only of data that are `whole`.
    """
    if request is None:
        return
    if request.resume is not None:
        problems.attempt(check_resumable, request.resume)
    if not problems.found:
        problems.found += _idle(request)
    last = None if request.previous is None else request.previous.release
    if isinstance(last, str | os.PathLike):
        problems.attempt(check_last, Path(last))
    if not problems.found or not readable:
        return
    before = len(problems.found)
    problems.attempt(request.source.check)
    readable_so_far = len(problems.found) == before
    if request.source.roles is not None and request.source.roles.get("request") is None:
        problems.found += [without_requests(rule) for rule in request.rules if needs_requests(rule)]
    if whole and readable_so_far and _names_codes(request) and not _finds_codes(request):
        table = problems.attempt(_table, request)
        problems.found += [] if table is None else unfitting(request, table)


def _idle(request: Request) -> list[str]:
    """Return the columns of the data that nothing looks at, though they are named."""
    roles, found = request.source.roles or {}, []
    if roles.get("request") is not None and not any(map(needs_requests, request.rules)):
        found.append(
            f"request: the request codes in '{roles['request']}' say nothing, since no rule looks at them: add "
            "the rule request=70, or another one, or take request out"
        )
    if roles.get("cost") is not None and request.hiding.cost is not None:
        found.append(
            f"what hiding costs is given twice: in the column '{roles['cost']}' (cost=), and by {request.hiding}; take "
            "one of them out"
        )
    return found


def _names_codes(request: Request) -> bool:
    """Whether anything can be checked only with the codes of the table, or with how its numbers are written."""
    in_doubt = any(isinstance(rule, Spoken) and rule.doubt for rule in request.rules)
    in_doubt |= isinstance(request.bounds, BoundsAsTyped) and request.bounds.in_doubt
    return bool(request.attackers or request.hiding.preferences or in_doubt)


def _finds_codes(request: Request) -> bool:
    """Whether the codes of the table depend on the data, and are not known before it is recoded."""
    return isinstance(request.method, Recode) and bool(request.method.open or request.method.groupings)


def _table(request: Request) -> Table:
    source, top, memory = tabulated_so(request)
    return source.table(top, memory)


def _raise(problems: Problems) -> None:
    problems.found = list(dict.fromkeys(problems.found))
    problems.raise_if_any()


def check_place(folder: Path) -> None:
    """Refuse a folder for a release that holds something else, or that cannot be made.

    Raises
    ------
    InputError
    """
    check_replaceable(folder)
    # a release is filled beside its place, and takes it as a whole
    place = Path(os.path.realpath(folder))
    there = next(parent for parent in place.parents if parent.exists())
    if not there.is_dir():
        raise InputError(f"{folder} cannot be made: {there} is a file; name another folder")
    try:
        # rights do not say all: file systems may be read-only, or hold no files of users at all
        with tempfile.TemporaryDirectory(dir=there, prefix=temporary_prefix(place)):
            pass
    except OSError as error:
        why = f"no folder can be made in {there} ({error.strerror or error})"
        raise InputError(f"{folder} cannot be written: {why}; name another folder") from error


def _check_formats(spec: Spec) -> None:
    if "xlsx" in spec.output.formats:
        try:
            import openpyxl  # noqa: F401
        except ImportError as error:
            raise InputError("Excel files need openpyxl: install tabprotect[excel]") from error


def _right_part(content: Mapping[str, Any]) -> tuple[Spec | None, set[str]]:
    """Return what is left of a specification without the keys that are wrong, if anything can be made of it; and these.

    Of a table within a specification, such as output, only the key in it is left out.
    """
    kept, wrong = dict(content), set[str]()
    for _ in range(2):
        try:
            return Spec.model_validate(kept), wrong
        except ValidationError as error:
            for one in error.errors():
                wrong.add(str(one["loc"][0]))
                _take_out(kept, one["loc"])
    return None, wrong


def _take_out(kept: dict[str, Any], place: Sequence[Any]) -> None:
    """Take out a wrong key, of a table within a specification (such as output) that one alone; of rules, wrong ones."""
    first = str(place[0])
    inner = kept.get(first)
    if first in ("rules", "holding_rules") and isinstance(inner, list):
        texts = [one for one in inner if isinstance(one, str)]
        kept[first] = [one for one in texts if Problems().attempt(as_rules, one) is not None]
    elif len(place) > 1 and isinstance(inner, dict) and place[1] in inner:
        kept[first] = {key: given for key, given in inner.items() if key != place[1]}
    else:
        kept.pop(first, None)
