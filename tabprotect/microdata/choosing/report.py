"""The disclosure report of a masked file: what was done, what can be learned, what is left of its use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from tabprotect.microdata.choosing.map import render
from tabprotect.microdata.choosing.score import score
from tabprotect.microdata.masked import Masked
from tabprotect.microdata.risk.base import Measure

__all__ = ["disclosure_report"]


def disclosure_report(masked: Masked, *, risks: Sequence[Measure] = (), most: int = 20) -> str:
    """Return a page on a masked file, with everything in it; confidential.

    Parameters
    ----------
    masked : Masked
    risks : sequence of Measure
        Further measures of this file; those whose `records` are aligned with it enter the list of exposed records.
    most : int
        How many of the most exposed records are listed, by their mean over measures.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"age": np.arange(20, 60), "income": np.arange(40.0) ** 2})
    >>> schema = md.Schema(keys=["age"], confidential=["income"])
    >>> masked = md.mask(people, schema, md.Noise(["income"], alpha=0.1), seed=1)
    >>> "Most exposed records" in md.choosing.disclosure_report(masked)
    True
    """
    found = score(masked.original, masked, masked.original.schema)
    everything = (*found.risks, *risks)
    aligned = [m for m in everything if m.records is not None and len(m.records) == len(masked.records)]
    original, schema = masked.original, masked.original.schema
    columns = [
        {
            "name": name, "role": schema.role(name), "scale": str(original.scale(name)),
            "released": name in masked.records.columns,
        }
        for name in original.columns
    ]  # fmt: skip
    return render(
        "disclosure",
        records={"original": len(original), "released": len(masked.records)},
        score=found,
        columns=columns,
        steps=masked.steps,
        checks=masked.verify().checks,
        notes=masked.notes,
        risks=[{"name": m.name, "value": m.value, "picture": Markup(m.plot())} for m in everything],
        with_records=[m.name for m in aligned],
        exposed=_exposed(aligned, most),
        losses=[{"name": m.name, "value": m.value, "text": m.summary()} for m in found.losses],
    )


def _exposed(measures: Sequence[Measure], most: int) -> list[dict[str, Any]]:
    if not measures:
        return []
    each = np.column_stack([np.asarray(m.records, dtype=np.float64) for m in measures])
    count = (~np.isnan(each)).sum(axis=1)
    mean = np.where(count > 0, np.nansum(each, axis=1) / np.maximum(count, 1), -np.inf)
    rows = np.argsort(-mean, kind="stable")[:most].tolist()
    return [
        {"record": i, "mean": float(mean[i]), "each": [float(x) for x in each[i]]} for i in rows if np.isfinite(mean[i])
    ]
