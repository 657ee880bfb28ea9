"""Lossy compression: the records are an image, and JPEG blurs it (survey of Ciriani et al., section 4.2)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, Problems
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import NUMERIC, Scale

__all__ = ["LossyCompression"]

Floats = npt.NDArray[np.float64]

ROWS = 8 * 4096
"""Records in one image; JPEG cannot have more than 65,535 lines, and works in squares of 8."""


@dataclass(frozen=True)
class LossyCompression(Method):
    """The columns, scaled to grey values 0 to 255, go through JPEG and back.

    The lower the quality, the stronger the compression and the masking. A missing value counts as the mean of its
    column in the image and stays missing. Weights and strata are not looked at; nothing is random. Every value is at
    least rounded to one of 256 grey values.

    Parameters
    ----------
    columns : sequence of str
        Continuous columns, side by side in the image in this order.
    quality : int
        JPEG quality, 1 to 100.
    sort : str, optional
        Records come into the image in the order of this column (and back): similar neighbours are changed less.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"x": range(64), "y": range(64)}, dtype=float)
    >>> masked = md.mask(frame, None, md.LossyCompression(["x", "y"], quality=50))
    >>> bool((masked.frame["x"] - frame["x"]).abs().max() < 16)
    True
    """

    name: ClassVar[str] = "lossy-compression"
    family: ClassVar[str] = "perturbative"
    scales: ClassVar[tuple[Scale, ...]] = NUMERIC
    claim_kinds: ClassVar[tuple[str, ...]] = ("at-most", "at-least")
    source: ClassVar[str] = "Ciriani et al. 2007, section 4.2 (lossy compression)"

    columns: Sequence[str] | str
    quality: int = 50
    sort: str | None = None

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        need_number(self, "quality", problems, least=1, most=100, whole=True)

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self.columns)

    def uses(self, records: Records) -> tuple[str, ...]:
        """Return the column that records are sorted by."""
        return () if self.sort is None else (self.sort,)

    def apply(self, call: MethodCall) -> Masking:
        """Compress and decompress."""
        records = call.records
        values = records.matrix(self.columns)
        gone = np.isnan(values)
        there = np.asarray(~gone.all(axis=0))
        low = np.where(there, np.nanmin(np.where(gone, np.inf, values), axis=0), 0.0)
        high = np.where(there, np.nanmax(np.where(gone, -np.inf, values), axis=0), 0.0)
        width = np.where(high > low, high - low, 1.0)
        mean = np.where(there, np.where(gone, 0, values).sum(axis=0) / np.maximum((~gone).sum(axis=0), 1), 0.0)
        grey = np.rint(255 * (np.where(gone, mean, values) - low) / width).astype(np.uint8)
        order = (
            np.arange(len(grey)) if self.sort is None else records.categories(self.sort).index.argsort(kind="stable")
        )
        new = np.empty_like(values)
        for start in range(0, len(order), ROWS):
            rows = order[start : start + ROWS]
            new[rows] = low + width * jpeg(grey[rows], self.quality) / 255
        new = np.clip(np.where(high > low, new, low), low, high)
        new[gone] = np.nan
        claims = []
        for j, name in enumerate(self.columns):
            records = records.with_numbers(name, new[:, j])
            if there[j]:
                claims.append(_claim("at-most", name, "most", float(high[j]), "above the largest"))
                claims.append(_claim("at-least", name, "least", float(low[j]), "below the smallest"))
        return Masking(records, {"quality": self.quality}, tuple(claims))


def _claim(kind: str, name: str, key: str, limit: float, words: str) -> Claim:
    return Claim(kind, (name,), f"no value of '{name}' is {words} of before", {"column": name, key: limit})


def jpeg(grey: npt.NDArray[np.uint8], quality: int) -> Floats:
    """Return grey values after JPEG; the edges are continued to full squares of 8 before."""
    try:
        from PIL import Image
    except ImportError as error:
        raise InputError("lossy compression needs Pillow: install tabprotect[microdata]") from error
    n, p = grey.shape
    padded = np.pad(grey, ((0, -n % 8), (0, -p % 8)), mode="edge")
    stream = io.BytesIO()
    Image.fromarray(padded, mode="L").save(stream, "JPEG", quality=quality)
    return np.asarray(Image.open(stream), dtype=np.float64)[:n, :p]
