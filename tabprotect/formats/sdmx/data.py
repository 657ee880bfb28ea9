"""Published tables as SDMX-CSV and SDMX-ML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import pandas as pd

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.formats.published import Published
from tabprotect.formats.sdmx.statuses import SDMX, StatusMap

__all__ = ["FORMATS", "encode_sdmx", "identifier_problems"]

FORMATS: Final = {
    "csv-1.0": "DATA_SDMX_CSV_1_0_0",
    "csv-2.0": "DATA_SDMX_CSV_2_0_0",
    "ml-2.1": "DATA_SDMX_ML_2_1_STR",
    "ml-2.1-generic": "DATA_SDMX_ML_2_1_GEN",
    "ml-3.0": "DATA_SDMX_ML_3_0",
}
"""Forms of SDMX, and what pysdmx calls them."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_CODE = re.compile(r"[A-Za-z0-9_@$-]+")
_EPOCH = datetime(1980, 1, 1, tzinfo=UTC)


def encode_sdmx(
    table: Published,
    form: str = "csv-2.0",
    *,
    agency: str = "ORG",
    structure: str = "DSD_TABLE",
    version: str = "1.0",
    statuses: StatusMap = SDMX,
    names: Mapping[str, str] | None = None,
    codes: Mapping[str, Mapping[str, str]] | None = None,
    fixed: Mapping[str, str] | None = None,
    prepared: datetime | None = None,
) -> bytes:
    """Return a published table as an SDMX message, with CONF_STATUS and OBS_STATUS for every cell.

    Parameters
    ----------
    table : Published
        Primary and secondary cells get codes of their own where the table tells them apart
        (``separate_statuses=True``); `StatusMap.together` writes them alike all the same.
    form : {'csv-1.0', 'csv-2.0', 'ml-2.1', 'ml-2.1-generic', 'ml-3.0'}
    agency, structure, version : str
        The data structure that the message refers to.
    statuses : StatusMap
    names : mapping of str to str, optional
        Identifiers of the dimensions.
    codes : mapping of str to mapping, optional
        Identifiers of codes, by dimension, such as ``{"region": {"Total": "_T"}}``.
    fixed : mapping of str to str, optional
        Dimensions with one code for all cells, such as ``{"FREQ": "A", "TIME_PERIOD": "2025"}``; they come first.
    prepared : datetime, optional
        Time in the header of SDMX-ML; by default always the same, so that equal tables give equal files.

    Raises
    ------
    InputError
        If pysdmx is not installed; every name and code that is no identifier in SDMX.

    Examples
    --------
    >>> frame = pd.DataFrame({"a": ["T", "x"], "v": [5.0, None], "status": ["published", "suppressed"]})
    >>> print(encode_sdmx(Published.of(frame)).decode().splitlines()[-1])
    datastructure,ORG:DSD_TABLE(1.0),I,x,,Q,C
    """
    if form not in FORMATS:
        raise InputError(f"SDMX is not written as '{form}'{did_you_mean(form, FORMATS)}")
    try:
        from pysdmx.io import write_sdmx
        from pysdmx.io.format import Format
        from pysdmx.io.pd import PandasDataset
        from pysdmx.model import Organisation
        from pysdmx.model.message import Header
    except ImportError as error:
        raise InputError("SDMX needs pysdmx: install tabprotect[sdmx]") from error
    frame = _frame(table, statuses, names or {}, codes or {}, fixed or {})
    dataset = PandasDataset(structure=_schema(frame, agency, structure, version), data=frame)
    more: dict[str, Any] = {}
    if form.startswith("ml"):
        more["header"] = Header(id="TABLE", prepared=prepared or _EPOCH, sender=Organisation(id=agency))
    text = write_sdmx(dataset, Format[FORMATS[form]], **more)
    assert text is not None
    return str(text).encode()


def _frame(
    table: Published,
    statuses: StatusMap,
    names: Mapping[str, str],
    codes: Mapping[str, Mapping[str, str]],
    fixed: Mapping[str, str],
) -> pd.DataFrame:
    problems = Problems()
    for what, given in (("names", names), ("codes", codes)):
        for name in given:
            if name not in table.dimensions:
                problems.add(f"{what}: '{name}' is no dimension{did_you_mean(name, table.dimensions)}")
    columns: dict[str, Any] = {name: np.full(len(table.frame), code) for name, code in fixed.items()}
    for name in table.dimensions:
        known = codes.get(name, {})
        columns[names.get(name, name)] = [known.get(code, code) for code in table.frame[name].astype(str)]
    problems.found += identifier_problems(columns)
    if clash := [name for name in columns if name in ("OBS_VALUE", "OBS_STATUS", "CONF_STATUS")]:
        problems.add(f"dimensions are called {', '.join(clash)}, as the measure and its statuses are; pass names=")
    if len(columns) < len(fixed) + len(table.dimensions):
        problems.add("two dimensions have the same identifier; pass names=")
    problems.raise_if_any()
    columns["OBS_VALUE"] = table.values
    for name, chosen in (("OBS_STATUS", statuses.obs), ("CONF_STATUS", statuses.conf)):
        columns[name] = [chosen[word] or None for word in table.words]
    frame = pd.DataFrame(columns)
    where = list(frame.columns[:-3])
    if frame[where].duplicated().any():
        twice = frame[where][frame[where].duplicated()].iloc[0]
        raise InputError(f"two cells have the codes {', '.join(map(str, twice))}; codes= makes them alike")
    return frame


def identifier_problems(columns: Mapping[str, Any]) -> list[str]:
    """Return the names and codes that are no identifiers in SDMX, in words."""
    found = [
        f"'{name}' is no identifier in SDMX (letters, digits, _ and -); pass names={{'{name}': '...'}}"
        for name in columns
        if not _NAME.fullmatch(name)
    ]
    for name, column in columns.items():
        bad = [code for code in dict.fromkeys(map(str, column)) if not _CODE.fullmatch(code)]
        if bad:
            more = f" and {len(bad) - 3} more" if len(bad) > 3 else ""
            shown = ", ".join(map(repr, bad[:3]))
            found.append(f"codes of {name} are no identifiers in SDMX: {shown}{more}; pass codes={{'{name}': {{...}}}}")
    return found


def _schema(frame: pd.DataFrame, agency: str, structure: str, version: str) -> Any:
    from pysdmx.model import Component, Components, Concept, DataType, Role, Schema

    made = []
    for name in frame.columns:
        kind = DataType.DOUBLE if name == "OBS_VALUE" else DataType.STRING
        role = Role.MEASURE if name == "OBS_VALUE" else Role.ATTRIBUTE if name.endswith("_STATUS") else Role.DIMENSION
        if name not in ("OBS_VALUE", "OBS_STATUS", "CONF_STATUS"):
            role = Role.DIMENSION
        level = "O" if role is Role.ATTRIBUTE else None
        made.append(Component(name, role is Role.DIMENSION, role, Concept(name, dtype=kind), attachment_level=level))
    return Schema("datastructure", agency, structure, Components(made), version, [])
