"""Specifications of masked files: data, schema, methods and output in one TOML file, checked as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.formats.dialect import Dialect
from tabprotect.microdata.large.options import Large
from tabprotect.microdata.method import Method, make_method
from tabprotect.microdata.schema import Schema
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.reading import File, Recognised

__all__ = ["MaskSpec", "read_mask_spec", "read_schema"]

_READING = tuple(one.name for one in fields(File)[1:])
_KEYS = ("data", *_READING, "title", "seed", "schema", "steps", "formats", "large", "output")
_OUTPUT = ("separator", "decimal", "encoding")


@dataclass(frozen=True)
class MaskSpec:
    """What a specification says.

    Attributes
    ----------
    data : File
        With what is known of how it is written.
    schema : Schema
    steps : tuple of Method
    title : str
    seed : int or None
    formats : tuple of str
    large : Large or False
        How the steps are carried out in batches, if they are.
    output : mapping
        What is asked for of public text files: separator, decimal, encoding.
    """

    data: File
    schema: Schema
    steps: tuple[Method, ...]
    title: str = "Masked microdata"
    seed: int | None = None
    formats: tuple[str, ...] = ("csv",)
    large: Large | Literal[False] = False
    output: Mapping[str, str] = field(default_factory=dict)

    def dialect(self, recognised: Sequence[Recognised]) -> Dialect:
        """Return how public text files are written: as the specification says, else as the data are."""
        return Dialect.like(recognised, **self.output)


def read_mask_spec(content: Mapping[str, Any], base: Path, *, steps: bool = True) -> MaskSpec:
    """Check a specification and make what it names; every path in it is relative to `base`.

    Raises
    ------
    InputError
        Everything that is wrong with it.

    Examples
    --------
    >>> spec = read_mask_spec(
    ...     {"data": "p.csv", "steps": [{"method": "top-coding", "columns": "income", "quantile": 0.99}]}, Path())
    >>> str(spec.steps[0])
    "top-coding(columns=['income'], quantile=0.99)"
    """
    problems = Problems()
    for key in content:
        if key not in _KEYS:
            problems.add(f"unknown key '{key}'{did_you_mean(key, _KEYS)}")
    if not isinstance(content.get("data"), str):
        problems.add("'data' is missing: a file (text, Excel, Parquet or DuckDB), relative to the specification")
    texts = ((key, str, "a text") for key in (*_READING, "title"))
    for key, kind, word in (*texts, ("seed", int, "a whole number")):
        if key in content and (not isinstance(content[key], kind) or isinstance(content[key], bool)):
            problems.add(f"{key} must be {word}, not {content[key]!r}")
    formats = content.get("formats", ["csv"])
    if not isinstance(formats, list) or not formats or not set(map(str, formats)) <= {"csv", "parquet", "xlsx"}:
        problems.add(f"formats must be a list of csv, parquet or xlsx, not {formats!r}")
    large = problems.attempt(lambda: _large(content.get("large", False), base)) or False
    if large and isinstance(formats, list) and "xlsx" in formats:
        problems.add("formats of large files are csv and parquet: a sheet does not hold them")
    output = problems.attempt(lambda: _output(content.get("output", {}))) or {}
    if large and output:
        problems.add("output: files of batches are written with commas, points and UTF-8; leave it out")
    schema = problems.attempt(lambda: read_schema(content.get("schema", {}), base)) or Schema()
    given = content.get("steps", [])
    if steps and (not isinstance(given, list) or not given):
        problems.add("'steps' are missing: one [[steps]] table for every method, such as method = 'top-coding'")
        given = []
    made = [problems.attempt(_step, one, i, base) for i, one in enumerate(given)]
    known = {key: content[key] for key in _READING if isinstance(content.get(key), str)}
    data = problems.attempt(lambda: File(base / str(content.get("data")), **known))
    problems.raise_if_any()
    assert data is not None
    return MaskSpec(
        data, schema, tuple(m for m in made if m is not None),
        content.get("title", "Masked microdata"), content.get("seed"), tuple(formats), large, output,
    )  # fmt: skip


def read_schema(given: Any, base: Path) -> Schema:
    """Make a schema from a table of a specification; hierarchies name .hrc files.

    Raises
    ------
    InputError
    """
    if not isinstance(given, Mapping):
        raise InputError("schema must be a table of keys")
    names = [f.name for f in fields(Schema)]
    problems = Problems()
    for key in given:
        if key not in names:
            problems.add(f"schema: unknown key '{key}'{did_you_mean(key, names)}")
    trees: dict[str, Hierarchy] = {}
    files = given.get("hierarchies", {})
    if not isinstance(files, Mapping):
        problems.add("schema: hierarchies must be a table of columns and .hrc files")
        files = {}
    for column, file in files.items():
        tree = problems.attempt(_tree, file, base)
        if tree is not None:
            trees[column] = tree
    words = {key: value for key, value in given.items() if key in names}
    schema = problems.attempt(lambda: Schema(**{**words, "hierarchies": trees}))
    problems.raise_if_any()
    assert isinstance(schema, Schema)
    return schema


def _output(given: Any) -> dict[str, str]:
    """Check what is asked for of public text files."""
    if not isinstance(given, Mapping):
        raise InputError(f"output must be a table of {', '.join(_OUTPUT)}, not {given!r}")
    wrong = [key for key in given if key not in _OUTPUT]
    if wrong:
        raise InputError(*(f"output: unknown key '{key}'{did_you_mean(key, _OUTPUT)}" for key in wrong))
    Dialect.check_asked(**given)
    return dict(given)


def _large(given: Any, base: Path) -> Large | Literal[False]:
    """Make the options of batches: ``large = true``, or a table of them."""
    if given is False:
        return False
    if given is True:
        return Large()
    if not isinstance(given, Mapping):
        raise InputError(f"large must be true, false or a table of its options, not {given!r}")
    names = [f.name for f in fields(Large)]
    wrong = [key for key in given if key not in names]
    if wrong:
        raise InputError(*(f"large: unknown key '{key}'{did_you_mean(key, names)}" for key in wrong))
    folder = given.get("folder")
    if folder is not None and not isinstance(folder, str):
        raise InputError(f"large: folder must be a text, not {folder!r}")
    return Large(**{**given, **({} if folder is None else {"folder": str(base / folder)})})


def _tree(file: Any, base: Path) -> Hierarchy:
    if not isinstance(file, str):
        raise InputError(f"schema: a hierarchy is the path of a .hrc file, not {file!r}")
    return Hierarchy.read(base / file)


def _step(given: Any, i: int, base: Path) -> Method:
    if not isinstance(given, Mapping) or not isinstance(given.get("method"), str):
        raise InputError(f"step {i + 1}: name its method, such as method = 'top-coding'")
    try:
        return make_method(given["method"], {key: value for key, value in given.items() if key != "method"}, base)
    except InputError as error:
        raise InputError(*(f"step {i + 1}: {problem}" for problem in error.problems)) from error
