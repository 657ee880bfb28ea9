"""JSON-stat 2.0."""

from __future__ import annotations

import json
from typing import Any

from tabprotect.formats.published import Published

__all__ = ["encode_jsonstat"]


def encode_jsonstat(table: Published) -> bytes:
    """Return a published table as a JSON-stat 2.0 dataset.

    Hidden cells are null with the status 'c' (confidential); combinations without a cell are null with 'm'
    (missing, data cannot exist), as in the flags of Eurostat. The unit is in the extension, as there is no dimension of
    measures.

    Parameters
    ----------
    table : Published

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": ["T", "x"], "v": [5.0, None], "status": ["published", "suppressed"]})
    >>> made = json.loads(encode_jsonstat(Published.of(frame)))
    >>> made["value"], made["status"]
    ([5, None], {'1': 'c'})
    """
    codes, rows = table.cube()
    values, hidden = table.values, table.hidden
    shown = [None if row < 0 or hidden[row] else _number(values[row]) for row in rows]
    status = {str(i): "m" if row < 0 else "c" for i, row in enumerate(rows) if row < 0 or hidden[row]}
    made: dict[str, Any] = {
        "version": "2.0",
        "class": "dataset",
        "label": table.title,
        "id": list(table.dimensions),
        "size": [len(known) for known in codes],
        "dimension": {
            name: {"label": name, "category": {"index": known, "label": {c: table.label(name, c) for c in known}}}
            for name, known in zip(table.dimensions, codes, strict=True)
        },
        "value": shown,
    }
    if table.source:
        made["source"] = table.source
    further: dict[str, Any] = {"unit": {"label": table.unit}} if table.unit else {}
    if status:
        made["status"] = status
        further["status"] = {"label": {"c": "confidential", "m": "not in the table"}}
    if further:
        made["extension"] = further
    return (json.dumps(made, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def _number(value: float) -> int | float:
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)
