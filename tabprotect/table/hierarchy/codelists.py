"""The forms in which hierarchies come: pairs, nested columns, prefixes, plain lists; `indented` has those of text.

Every function returns the splits (a code and its parts) and the codes of a `Hierarchy`, and notes all problems of
its form at once. What is wrong with the graph itself is found by `Hierarchy`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from tabprotect.errors import InputError, as_items, collect, did_you_mean
from tabprotect.table.codes import Codes, as_code, read_codes, some, sort_codes

__all__ = ["splits_of_columns", "splits_of_flat", "splits_of_pairs", "splits_of_prefixes"]

Splits = tuple[tuple[tuple[str, tuple[str, ...]], ...], tuple[str, ...]]


def splits_of_pairs(pairs: Any, parent: str, child: str, total: str | None) -> Splits:
    """Read parent/child pairs; see `Hierarchy.from_pairs`."""
    if total is not None:
        check_total(total)
    with collect() as problems:
        edges: list[tuple[str | None, str]] = []
        for number, (up, down) in enumerate(_pairs(pairs, parent, child), start=1):
            try:
                above, below = as_code(up), as_code(down)
            except ValueError as error:
                problems.add(f"pair {number}: {error} is no code")
                continue
            if below is None:
                problems.add(f"pair {number}: the child is missing")
            else:
                edges.append((above, below))
        above_of: dict[str, dict[str | None, None]] = {}
        children: dict[str, list[str]] = {}
        twice: dict[tuple[str | None, str], None] = {}
        for up, down in edges:
            if up in above_of.setdefault(down, {}):
                twice[up, down] = None
                continue
            above_of[down][up] = None
            if up is not None:
                children.setdefault(up, []).append(down)
        if twice:
            problems.add(f"pairs given more than once: {some([f'{up} > {down}' for up, down in twice])}")
        for code, above_all in above_of.items():
            if len(above_all) > 1:
                names = " and ".join(repr(up) if up is not None else "no parent" for up in above_all)
                problems.add(
                    f"'{code}' has {len(above_all)} parents: {names}; "
                    "build every grouping by itself and merge them with Hierarchy.merge"
                )
    if not edges:
        raise InputError("the hierarchy is empty: it has no codes")
    roots = list(dict.fromkeys(up for up, _ in edges if up is not None and not any(above_of.get(up, ()))))
    roots += [down for down, ups in above_of.items() if list(ups) == [None] and down not in roots]
    if total is None:
        return tuple((up, tuple(parts)) for up, parts in children.items()), tuple(roots)
    return rooted(roots, children, total)


def _pairs(pairs: Any, parent: str, child: str) -> Iterable[tuple[Any, Any]]:
    if isinstance(pairs, Mapping):
        return [(up, down) for down, up in pairs.items()]
    if isinstance(pairs, (list, tuple, set, frozenset)) or not hasattr(pairs, "columns"):
        words = "pairs (parent, child), two codes each"
        found = as_items(pairs, (list, tuple, np.ndarray), "pairs", words)
        if any(len(pair) != 2 for pair in found):
            raise InputError(f"pairs must be a list of {words}")
        return [(pair[0], pair[1]) for pair in found]
    frame = _frame(pairs)
    _need(frame, [parent, child])
    return list(zip(frame[parent].to_list(), frame[child].to_list(), strict=True))


def splits_of_columns(data: Any, columns: Sequence[str], total: str) -> Splits:
    """Read nested columns, outermost first; see `Hierarchy.from_columns`."""
    if isinstance(columns, str) or not columns:
        raise InputError("columns must be a list of column names, outermost first")
    frame = _frame(data)
    _need(frame, columns)
    return splits_of_coded([read_codes(frame[name], name) for name in columns], columns, total)


def splits_of_coded(
    coded: Sequence[Codes], columns: Sequence[str], total: str, rows: Sequence[int] | None = None
) -> Splits:
    """Make the splits from columns that are factorised already; `rows` are the numbers of the rows, from 0."""
    with collect() as problems:
        for column in coded:
            for problem in column.problems:
                problems.add(problem)
        index = np.column_stack([column.index for column in coded])
        paths, first = np.unique(index, axis=0, return_index=True)
        paths, first = paths[np.argsort(first)], np.sort(first)
        if rows is not None:
            first = np.asarray(rows)[first]
        parent_of: dict[str, tuple[str, int, str]] = {}
        for path, row in zip(paths.tolist(), first.tolist(), strict=True):
            above, where, ended = total, "", False
            for column, position, name in zip(coded, path, columns, strict=True):
                if position < 0:
                    ended = True
                    continue
                code = column.values[position]
                if ended:
                    problems.add(f"row {row + 1}: '{code}' in column '{name}' has no code in the column before it")
                    break
                if code == above and where:
                    continue
                if code == total:
                    problems.add(f"column '{name}' holds the code of the total, '{total}'; pass another total")
                    break
                known = parent_of.setdefault(code, (above, row, name))
                if known[0] != above:
                    problems.add(
                        f"'{code}' in column '{name}' has two parents: '{known[0]}' (row {known[1] + 1}) "
                        f"and '{above}' (row {row + 1})"
                    )
                    break
                above, where = code, name
    if not parent_of:
        raise InputError(f"the hierarchy is empty: no codes in {', '.join(map(repr, columns))}")
    children: dict[str, list[str]] = {}
    for code, (above, _, _) in parent_of.items():
        children.setdefault(above, []).append(code)
    return tuple((up, tuple(sort_codes(parts))) for up, parts in children.items()), (total,)


def splits_of_prefixes(
    codes: Iterable[Any],
    lengths: Sequence[int] | None,
    separator: str | None,
    total: str,
    digits: Sequence[int] | None = None,
) -> Splits:
    """Cut codes into prefixes; see `Hierarchy.from_prefixes`."""
    if sum(given is not None for given in (lengths, separator, digits)) != 1:
        raise InputError("give either lengths, such as [1, 2, 3], or digits, such as [1, 1, 1], or a separator ('.')")
    names = _distinct(codes, total)
    ends = _ends(names, lengths, digits)
    parent_of: dict[str, str] = {}
    with collect() as problems:
        for name in names:
            if separator is not None:
                parts = name.split(separator)
                groups = [separator.join(parts[:k]) for k in range(1, len(parts))]
                if not all(parts):
                    problems.add(f"code '{name}' has an empty part between '{separator}'")
            else:
                groups = [name[:k] for k in ends if k < len(name)]
            path = [total, *groups, name]
            if total in path[1:]:
                problems.add(f"a prefix of '{name}' is the code of the total, '{total}'; pass another total")
            parent_of.update(zip(path[1:], path[:-1], strict=True))
    children: dict[str, list[str]] = {}
    for code, above in parent_of.items():
        children.setdefault(above, []).append(code)
    return tuple((up, tuple(sort_codes(parts))) for up, parts in children.items()), (total,)


def _ends(names: Sequence[str], lengths: Sequence[int] | None, digits: Sequence[int] | None) -> list[int]:
    """Return where the prefixes of every level end, if that fits the codes."""
    word, numbers = ("digits", digits) if digits is not None else ("lengths", () if lengths is None else lengths)
    given = list(as_items(numbers, (int, np.integer), word, "whole numbers"))
    if any(isinstance(k, bool) for k in given):
        raise InputError(f"{word} must be whole numbers, not {given}")
    if any(k < 1 for k in given):
        raise InputError(f"{word} must be positive, not {given}")
    if digits is None and sorted(set(given)) != given:
        raise InputError(
            f"lengths={given} must grow: the characters from the first one on, such as [2, 4, 5]; "
            f"if these are the characters of each level by itself, as in tau-ARGUS, pass digits={given}"
        )
    ends = np.cumsum(given, dtype=np.int64).tolist() if digits is not None else given
    longest = max(map(len, names), default=0)
    with collect() as problems:
        if given and longest < ends[-1]:
            reach = (
                f"digits={given} add up to {ends[-1]}" if digits is not None else f"lengths={given} end at {ends[-1]}"
            )
            problems.add(f"{reach} characters but the longest code has {longest}")
        if digits is not None and longest > ends[-1]:
            problems.add(f"digits={given} add up to {ends[-1]} characters but the longest code has {longest}")
        wrong = [name for name in names if given and len(name) < ends[-1] and len(name) not in ends]
        if wrong:
            allowed = ", ".join(map(str, ends))
            problems.add(f"codes end between two levels, {word}={given} allow {allowed} characters: {some(wrong)}")
    return ends


def splits_of_flat(codes: Iterable[Any], total: str) -> Splits:
    """Put a total over a list of codes; see `Hierarchy.flat`."""
    return ((total, tuple(_distinct(codes, total))),), (total,)


def _distinct(codes: Iterable[Any], total: str) -> list[str]:
    """Return codes as text; refuse missing, empty and repeated ones and the total."""
    if isinstance(codes, str):
        raise InputError(f"codes must be a list, not the text '{codes}'")
    if not isinstance(codes, Iterable):
        raise InputError(f"codes must be a list, not {codes!r}")
    check_total(total)
    names: dict[str, None] = {}
    twice: dict[str, None] = {}
    with collect() as problems:
        for number, raw in enumerate(codes, start=1):
            try:
                name = as_code(raw)
            except ValueError as error:
                problems.add(f"code {number} is {error}")
                continue
            if name is None:
                problems.add(f"code {number} is missing")
            elif name == total:
                problems.add(f"code {number} is that of the total, '{total}'; leave it out or pass another total")
            elif name in names:
                twice[name] = None
            else:
                names[name] = None
        if twice:
            problems.add(f"codes given more than once: {some([repr(name) for name in twice])}")
        if not names:
            problems.add("the hierarchy is empty: it has no codes")
    return list(names)


def check_total(total: object) -> None:
    if not isinstance(total, str):
        raise InputError(f"the code of the total must be a text, not {total!r}")


def rooted(roots: list[str], children: Mapping[str, list[str]], total: str) -> Splits:
    """Put the total above the outermost codes, unless it is one of them and the only one."""
    splits = [(up, tuple(parts)) for up, parts in children.items()]
    if roots == [total]:
        return tuple(splits), (total,)
    if total in children:
        return tuple(splits), (total, *roots)
    return ((total, tuple(root for root in roots if root != total)), *splits), (total,)


def _frame(data: Any) -> nw.DataFrame[Any]:
    try:
        frame = nw.from_native(data)
    except TypeError as error:
        raise InputError(
            f"{type(data).__name__} is no data frame that can be read (pandas, polars, pyarrow)"
        ) from error
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def _need(frame: nw.DataFrame[Any], columns: Sequence[str]) -> None:
    with collect() as problems:
        for name in columns:
            if not isinstance(name, str) or name not in frame.columns:
                problems.add(f"no column '{name}'{did_you_mean(name, frame.columns)}")
