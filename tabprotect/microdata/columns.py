"""New columns of the same library and type as old ones."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

__all__ = ["like_numbers", "like_values"]


def like_numbers(old: nw.Series[Any], values: npt.NDArray[Any]) -> nw.Series[Any]:
    """Return numbers as a column of the type of another one, nan as missing.

    Whole numbers stay whole where all of them are and fit the old type; else the column becomes one of floats.

    Examples
    --------
    >>> old = nw.from_native(pd.Series([1, 2, 3], name="a"), series_only=True)
    >>> like_numbers(old, np.array([4.0, 5.0, 6.0])).dtype, like_numbers(old, np.array([4.5, 5.0, 6.0])).dtype
    (Int64, Float64)
    """
    values = np.asarray(values, dtype=np.float64)
    missing = np.isnan(values)
    native, dtype = old.to_native(), old.dtype
    whole = dtype.is_integer() and _fits(dtype, values[~missing])
    if isinstance(native, pd.Series):
        return _wrap(_pandas_numbers(native, values, missing, whole, _same_length(old, values)))
    kind = _arrow_integer(dtype) if whole else pa.float32() if dtype == nw.Float32 else pa.float64()
    array = pa.array(np.where(missing, 0, values), type=pa.float64(), mask=missing).cast(kind)
    return _from_arrow(old, array, None if dtype.is_integer() and not whole else dtype)


def like_values(old: nw.Series[Any], values: Sequence[Any], *, same_type: bool = True) -> nw.Series[Any]:
    """Return values of any kind as a column of the same library, None as missing.

    They have the old type where all of them fit it, unless another one is wanted.

    Examples
    --------
    >>> old = nw.from_native(pd.Series([31, 47], name="age"), series_only=True)
    >>> like_values(old, ["30-39", None]).to_list(), like_values(old, [32, 48]).dtype
    (['30-39', None], Int64)
    """
    given = list(values)
    native = old.to_native()
    if isinstance(native, pd.Series) and not same_type:
        return _wrap(pd.Series(given, index=_same_length(old, given), name=old.name))
    if isinstance(native, pd.Series):
        return _wrap(_pandas_values(native, given, _same_length(old, given)))
    try:
        array = pa.array(given)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        array = pa.array([None if v is None else str(v) for v in given])
    return _from_arrow(old, array, old.dtype if same_type else None)


def _wrap(series: Any) -> nw.Series[Any]:
    wrapped: nw.Series[Any] = nw.from_native(series, series_only=True)
    return wrapped


def _same_length(old: nw.Series[Any], values: Sequence[Any] | npt.NDArray[Any]) -> Any:
    native = old.to_native()
    return native.index if len(native) == len(values) else pd.RangeIndex(len(values))


def _fits(dtype: Any, values: npt.NDArray[np.float64]) -> bool:
    if not np.all(values == np.floor(values)):
        return False
    limits = np.iinfo(np.dtype(str(dtype).lower()))
    return bool(values.size == 0 or (values.min() >= limits.min and values.max() <= min(limits.max, 2**53)))


def _arrow_integer(dtype: Any) -> pa.DataType:
    return pa.from_numpy_dtype(np.dtype(str(dtype).lower()))


def _pandas_numbers(old: Any, values: Any, missing: Any, whole: bool, index: Any) -> Any:
    kind = old.dtype
    if isinstance(kind, np.dtype):
        if whole and not missing.any():
            return pd.Series(values.astype(kind), index=index, name=old.name)
        if whole:
            # whole numbers with gaps need a type that has both
            data = pd.array(np.where(missing, 0, values).astype(np.int64), dtype="Int64")
            data[missing] = pd.NA
            return pd.Series(data, index=index, name=old.name)
        return pd.Series(
            values.astype(kind if np.issubdtype(kind, np.floating) else np.float64), index=index, name=old.name
        )
    wanted: Any
    if isinstance(kind, pd.ArrowDtype):
        wanted = kind if whole or not pa.types.is_integer(kind.pyarrow_dtype) else pd.ArrowDtype(pa.float64())
    else:
        wanted = kind if whole or str(kind).startswith("Float") else pd.Float64Dtype()
    filled: Any = pd.Series(np.where(missing, 0, values), index=index, name=old.name).astype(wanted)
    return filled.mask(pd.Series(missing, index=index))


def _pandas_values(old: Any, given: list[Any], index: Any) -> Any:
    kind = old.dtype
    if isinstance(kind, pd.CategoricalDtype):
        extra = [v for v in dict.fromkeys(given) if v is not None and v not in kind.categories]
        ordered = bool(kind.ordered) and not extra
        categories = list(kind.categories) + extra
        return pd.Series(pd.Categorical(given, categories=categories, ordered=ordered), index=index, name=old.name)
    if isinstance(kind, np.dtype) and kind.kind in "iuf" and not any(isinstance(v, str | bool) for v in given):
        return _pandas_numbers(old, *_with_gaps(given, kind), index)
    if isinstance(kind, np.dtype) and kind.kind in "iufb":
        if all(v is not None and not isinstance(v, str) for v in given):
            tried = pd.Series(given, index=index, name=old.name)
            cast = tried.astype(kind) if tried.dtype.kind in "iufb" else None
            if cast is not None and bool((cast == tried).all()):
                return cast
        return pd.Series(given, index=index, name=old.name, dtype=object)
    try:
        return pd.Series(given, index=index, name=old.name, dtype=kind)
    except (ValueError, TypeError, pa.ArrowInvalid):
        return pd.Series(given, index=index, name=old.name, dtype=object)


def _with_gaps(given: list[Any], kind: Any) -> tuple[Any, Any, bool]:
    """Return numbers, where they are missing, and whether they are whole ones in a column of whole numbers."""
    values = np.array([np.nan if v is None or v is pd.NA else v for v in given], dtype=np.float64)
    missing = np.isnan(values)
    there = values[~missing]
    return values, missing, bool(kind.kind in "iu" and (there == np.floor(there)).all())


def _from_arrow(old: nw.Series[Any], array: pa.Array, dtype: Any) -> nw.Series[Any]:
    """Return an Arrow array in the library of a column, in its type where that is possible."""
    native = old.to_native()
    if isinstance(native, pa.ChunkedArray):
        if dtype is not None and native.type != array.type:
            with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
                array = array.dictionary_encode() if pa.types.is_dictionary(native.type) else array.cast(native.type)
        return _wrap(pa.chunked_array([array]))
    import polars as pl

    series = pl.Series(old.name, pl.from_arrow(array))
    if dtype is not None and series.dtype != native.dtype:
        with suppress(pl.exceptions.PolarsError):
            series = series.cast(native.dtype)
    return _wrap(series)
