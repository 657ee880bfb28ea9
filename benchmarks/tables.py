"""Results of a benchmark as files: CSV, JSON with what was run where, markdown, and performance profiles."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["machine", "markdown", "profile", "write"]

#: Columns of the markdown table and their headings.
HEADINGS = {
    "instance": "instance",
    "cells": "cells",
    "primaries": "primaries",
    "cost": "cost",
    "bound": "bound",
    "gap": "gap",
    "seconds": "s",
    "failure": "failure",
    "peer_cost": "peer cost",
    "peer_seconds": "peer s",
    "peer_failure": "peer failure",
}


def machine() -> dict[str, str | int]:
    """Return what a reader must know of the place and the versions."""
    packages = ("tabprotect", "highspy", "pyscipopt", "numpy", "scipy")
    found: dict[str, str | int] = {"date": date.today().isoformat(), "cores": os.cpu_count() or 0}
    found |= {"processor": _processor(), "system": platform.platform(), "python": platform.python_version()}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def write(path: str | Path, rows: Sequence[dict[str, Any]], facts: dict[str, Any]) -> None:
    """Write FILE.csv, .json, .md and, where matplotlib is installed and a peer took part, .svg."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    about = machine() | facts
    frame = pd.DataFrame([{k: v for k, v in row.items() if k != "trace"} for row in rows])
    frame.to_csv(path.with_suffix(".csv"), index=False, lineterminator="\n")
    path.with_suffix(".json").write_text(json.dumps({"run": about, "rows": list(rows)}, indent=1) + "\n")
    words = "; ".join(f"{key} {value}" for key, value in about.items())
    path.with_suffix(".md").write_text(f"{markdown(frame)}\n\n{words}\n")
    if frame["peer"].astype(bool).any():
        _plot(frame, path.with_suffix(".svg"))


def markdown(frame: pd.DataFrame) -> str:
    """Return the table for a page.

    Examples
    --------
    >>> print(markdown(pd.DataFrame([{"instance": "a", "cost": 12345.0, "gap": 0.0251, "peer_cost": None}])))
    | instance | cost | gap | peer cost |
    | --- | --- | --- | --- |
    | a | 12,345 | 2.51 % | |
    """
    columns = [name for name in HEADINGS if name in frame]
    lines = [
        "| " + " | ".join(HEADINGS[name] for name in columns) + " |",
        "| " + " | ".join("---" for _ in columns) + " |",
    ]
    for row in frame[columns].to_dict("records"):
        cells = [_cell(str(name), value) for name, value in row.items()]
        lines.append("|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|")
    return "\n".join(lines)


def _cell(name: str, value: Any) -> str:
    if value is None or value != value:
        return ""
    if name == "gap":
        return f"{100 * value:.2f} %"
    if name.endswith("seconds"):
        return f"{value:.1f}"
    if isinstance(value, (int, float)):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"
    return str(value).replace("|", "/")


def profile(values: npt.NDArray[np.float64]) -> list[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    """Return performance profiles (Dolan and More 2002): for every column the ratios to the best and the shares.

    Parameters
    ----------
    values : ndarray, shape (instances, programs)
        Costs or seconds, smaller is better, NaN where there is no answer. Rows without any answer count as unsolved.

    Examples
    --------
    >>> ours, theirs = profile(np.array([[1.0, 2.0], [4.0, np.nan]]))
    >>> ours[0].tolist(), ours[1].tolist(), theirs[0].tolist(), theirs[1].tolist()
    ([1.0, 1.0], [0.5, 1.0], [2.0], [0.5])
    """
    usable = np.where(np.isnan(values), np.inf, np.maximum(values, 1e-12))
    best = usable.min(axis=1)
    curves = []
    for column in usable.T:
        good = np.isfinite(column)
        ratios = np.sort(column[good] / best[good])
        curves.append((ratios, np.arange(1, len(ratios) + 1) / len(values)))
    return curves


def _plot(frame: pd.DataFrame, path: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure(figsize=(9, 3.5), layout="constrained")
    names = ("tabprotect", str(frame.loc[frame["peer"].astype(bool), "peer"].iloc[0]))
    panels = (("cost of the safe pattern", "cost"), ("seconds to the end", "seconds"))
    for axes, (title, column) in zip(figure.subplots(1, 2, sharey=True), panels, strict=True):
        values = frame[[column, f"peer_{column}"]].to_numpy(dtype=np.float64, copy=True)
        values[frame[["cost", "peer_cost"]].isna().to_numpy()] = np.nan
        for name, (ratios, shares) in zip(names, profile(values), strict=True):
            last = max(10.0, float(ratios[-1])) if len(ratios) else 10.0
            steps = np.concatenate([[1.0], ratios, [last]]), np.concatenate([[0.0], shares, shares[-1:]])
            if len(ratios):
                axes.step(*steps, where="post", label=name)
        axes.set(title=title, xscale="log", xlabel="times the best", ylim=(0, 1.02))
    figure.axes[0].set_ylabel("share of instances")
    figure.axes[0].legend(loc="lower right")
    figure.savefig(path, metadata={"Date": None})
