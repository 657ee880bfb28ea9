"""Hierarchies of codes: how they are built and changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tabprotect.errors import InputError, as_items, did_you_mean
from tabprotect.paths import possible
from tabprotect.table.hierarchy import codelists, indented, named
from tabprotect.table.hierarchy.graph import CodeGraph
from tabprotect.table.reading.plain import raw_bytes, read_plain_text
from tabprotect.table.reading.tabular import read_tabular

__all__ = ["Hierarchy"]


@dataclass(frozen=True, repr=False)
class Hierarchy(CodeGraph):
    """Codes of one dimension, and which code is the sum of which.

    A tree in most cases. Several groupings of the same leaves (counties and functional regions, say) make a
    graph: then a code may be the sum of its parts in more than one way, and a leaf may have several parents.

    Build one with `read`, `from_hrc`, `from_pairs`, `from_columns`, `from_prefixes`, `flat` or `merge`.

    Parameters
    ----------
    splits : tuple of (str, tuple of str), or mapping of str to sequence of str
        Each is one equation: a code and the codes that add up to it.
    codes : tuple of str
        All codes; needed only when there are no splits. They are put in order, the total first and every code after
        all of its parents.
    labels : mapping of str to str
        What codes stand for, as far as that is known; pages show it beside the codes. Equality does not look at it.
    file : str
        The code list that they come from, for the provenance of releases. Equality does not look at it.

    Raises
    ------
    InputError
        One error that names every cycle, orphan, duplicate and code that is counted twice.

    Examples
    --------
    >>> h = Hierarchy((("Total", ("A", "B")), ("A", ("1", "2")), ("B", ("3",))))
    >>> h.codes
    ('Total', 'A', '1', '2', 'B', '3')
    >>> h.leaves, h.aliases, h.levels.tolist()
    (('1', '2', '3'), {'3': 'B'}, [0, 1, 2, 2, 1, 2])
    >>> h == Hierarchy({"Total": ["A", "B"], "A": ["1", "2"], "B": ["3"]})
    True
    """

    @classmethod
    def read(
        cls, path: str | Path, leader: str | None = None, total: str | None = None, encoding: str | None = None
    ) -> Hierarchy:
        """Read a hierarchy by what is in its file: an indented code list (.hrc), or a list with named columns.

        The columns are a code and its parent, or its level in the order of the tree, or codes alone; and labels of the
        codes where there are such. They may be in text, Excel or Parquet.

        Parameters
        ----------
        path : str or Path
        leader : str, optional
            What indents a line of an indented list by one level, see `from_hrc`; where it is given, the file is such a
            list. By default recognised: '@' as in tau-ARGUS, a tab, or blanks, as many for every level.
        total : str, optional
            Code of the total, see `from_hrc`.
        encoding : str, optional
            By default recognised, as that of data files.

        Raises
        ------
        InputError
            If the file cannot be read, or names the lines that are wrong.
        """
        if leader is None and named.is_named(possible(path), raw_bytes(path), encoding):
            frame, _ = read_tabular(path, encoding=encoding)
            found = named.list_in(frame, str(path), total=total)
            return cls._named(str(path), lambda: found.splits).labelled(found.labels)
        text = read_plain_text(path, encoding)
        return cls._named(str(path), indented.splits_of_hrc, text, leader, total)

    @classmethod
    def from_hrc(cls, text: str, leader: str | None = None, total: str | None = None) -> Hierarchy:
        r"""Build from indented text: one code a line, the leader repeated once per level.

        Blanks around a code are not part of it. The format holds no total: without `total`, the only code at the
        outermost level is taken as the total, and above several of them 'Total' is added. With `total`, this code is
        added above all, unless it is the outermost code already.

        Examples
        --------
        >>> Hierarchy.from_hrc("North\n@1\n@2\nSouth\n@3\n@4").codes
        ('Total', 'North', '1', '2', 'South', '3', '4')
        """
        if isinstance(text, str) and "\n" not in text and text.strip().lower().endswith((".hrc", ".txt")):
            raise InputError(f"from_hrc takes the text of a hierarchy; read a file by Hierarchy.read({text.strip()!r})")
        return cls(*indented.splits_of_hrc(text, leader, total))

    @classmethod
    def from_pairs(
        cls, pairs: Any, parent: str = "parent", child: str = "child", total: str | None = None
    ) -> Hierarchy:
        """Build from parent/child pairs.

        Parameters
        ----------
        pairs : data frame, mapping of child to parent, or iterable of (parent, child)
            A missing parent means that the child is at the top.
        parent, child : str
            Columns of the frame.
        total : str, optional
            Code added above all codes without a parent. Needed when there are several of them.

        Examples
        --------
        >>> Hierarchy.from_pairs([("EU", "DE"), ("EU", "FR"), ("DE", "DE1"), ("DE", "DE2")]).leaves
        ('DE1', 'DE2', 'FR')
        """
        return cls(*codelists.splits_of_pairs(pairs, parent, child, total))

    @classmethod
    def from_columns(cls, frame: Any, columns: Sequence[str], total: str = "Total") -> Hierarchy:
        """Build from nested columns such as section, division, group (outermost first), one path a row.

        The frame may be microdata or a code list. A path may end early (the finer columns missing), and a code may be
        repeated in the next column (it is one code then).

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"section": ["A", "A", "B"], "division": ["01", "02", "05"]})
        >>> Hierarchy.from_columns(frame, ["section", "division"]).codes
        ('Total', 'A', '01', '02', 'B', '05')
        """
        return cls(*codelists.splits_of_columns(frame, columns, total))

    @classmethod
    def from_prefixes(
        cls,
        codes: Iterable[Any],
        lengths: Sequence[int] | None = None,
        separator: str | None = None,
        total: str = "Total",
        *,
        digits: Sequence[int] | None = None,
    ) -> Hierarchy:
        """Build from codes whose prefixes are the groups.

        Exactly one of `lengths`, `separator` and `digits` says where prefixes end.

        Parameters
        ----------
        codes : iterable of str
        lengths : sequence of int
            Characters of the codes of every level, counted from the first one, such as (2, 3, 4, 5) for NUTS. Codes
            may be longer than the last of them: they are one level more.
        separator : str
            The sign between levels, such as '.' in '01.1.2'.
        total : str
            Code of the total.
        digits : sequence of int
            Characters that every level adds, as tau-ARGUS has them: (2, 1, 1, 1) for NUTS. They add up to the
            length of the longest code.

        Raises
        ------
        InputError
            If lengths do not grow, or lengths or digits do not fit the codes: they reach beyond the longest code, or
            codes end between two levels.

        Examples
        --------
        >>> Hierarchy.from_prefixes(["FR101", "FR102", "FR211"], lengths=[2, 4]).codes
        ('Total', 'FR', 'FR10', 'FR101', 'FR102', 'FR21', 'FR211')
        >>> Hierarchy.from_prefixes(["FR101", "FR102", "FR211"], digits=[2, 2, 1]).codes
        ('Total', 'FR', 'FR10', 'FR101', 'FR102', 'FR21', 'FR211')
        >>> Hierarchy.from_prefixes(["1.1", "1.2", "2"], separator=".").codes
        ('Total', '1', '1.1', '1.2', '2')
        """
        return cls(*codelists.splits_of_prefixes(codes, lengths, separator, total, digits))

    @classmethod
    def flat(cls, codes: Iterable[Any], total: str = "Total") -> Hierarchy:
        """Build a total over all codes, in the given order.

        Examples
        --------
        >>> Hierarchy.flat(["m", "f"]).codes
        ('Total', 'm', 'f')
        """
        return cls(*codelists.splits_of_flat(codes, total))

    @classmethod
    def merge(cls, *hierarchies: Hierarchy, total: str | None = None) -> Hierarchy:
        """Merge groupings of the same leaves into one graph; they need not be nested.

        Parameters
        ----------
        *hierarchies : Hierarchy
            They have to cover the same leaves. One may go deeper than the other.
        total : str, optional
            Code of the common total (by default that of the first).

        Raises
        ------
        InputError
            If a code means different leaves in two of them, or leaves are missing in one.

        Examples
        --------
        >>> county = Hierarchy.from_pairs([("Total", "c1"), ("Total", "c2"), ("c1", "a"), ("c1", "b"), ("c2", "d")])
        >>> group = Hierarchy.from_pairs([("Total", "g1"), ("Total", "g2"), ("g1", "a"), ("g2", "b"), ("g2", "d")])
        >>> both = Hierarchy.merge(county, group)
        >>> both.codes
        ('Total', 'c1', 'c2', 'g1', 'a', 'g2', 'b', 'd')
        >>> both.equations.shape, both.aliases
        ((4, 8), {'a': 'g1', 'd': 'c2'})
        """
        if not hierarchies:
            raise InputError("nothing to merge: give at least one hierarchy")
        top = hierarchies[0].total if total is None else total
        splits: dict[tuple[str, frozenset[str]], tuple[str, tuple[str, ...]]] = {}
        for hierarchy in hierarchies:
            names = {hierarchy.total: top}
            for parent, parts in hierarchy.splits:
                parent = names.get(parent, parent)
                splits.setdefault((parent, frozenset(parts)), (parent, parts))
        alone = (c for h in hierarchies if not h.splits for c in h.codes[1:])
        labels = {code: label for hierarchy in reversed(hierarchies) for code, label in hierarchy.labels.items()}
        return cls(tuple(splits.values()), (top, *alone), labels)

    @classmethod
    def _named(cls, name: str, build: Any, *arguments: Any) -> Hierarchy:
        try:
            found = cls(*build(*arguments))
        except InputError as error:
            raise InputError(*(f"{name}: {problem}" for problem in error.problems)) from error
        object.__setattr__(found, "file", name)
        return found

    def with_leaves(self, codes: Iterable[str]) -> Hierarchy:
        """Return the hierarchy with further leaves directly below the total (such as a code for 'unknown').

        Examples
        --------
        >>> Hierarchy.flat(["m", "f"]).with_leaves(["unknown"]).codes
        ('Total', 'm', 'f', 'unknown')
        """
        new = tuple(code for code in as_items(codes, str, "codes", "codes") if code not in self.position)
        if not new:
            return self
        splits = tuple((p, (*parts, *new) if p == self.total else parts) for p, parts in self.splits)
        return Hierarchy(splits if self.splits else ((self.total, new),), labels=self.labels, file=self.file)

    def labelled(self, labels: Mapping[str, str]) -> Hierarchy:
        """Return the hierarchy with what its codes stand for; labels of other codes are left out.

        Raises
        ------
        InputError
            If they are no texts by code.

        Examples
        --------
        >>> Hierarchy.flat(["m", "f"]).labelled({"m": "men", "f": "women", "x": "others"}).labels
        {'m': 'men', 'f': 'women'}
        """
        return replace(self, labels=labels)

    def under(self, code: str) -> Hierarchy:
        r"""Return the hierarchy below one code, which becomes its total.

        Examples
        --------
        >>> Hierarchy.from_hrc("A\n@1\n@2\nB\n@3").under("A").codes
        ('A', '1', '2')
        """
        if not isinstance(code, str) or code not in self.position:
            raise InputError(f"unknown code '{code}'{did_you_mean(code, self.codes)}")
        kept = {code}
        splits = []
        for parent in self.codes:
            if parent in kept:
                below = [split for split in self.splits if split[0] == parent]
                splits += below
                kept.update(part for _, parts in below for part in parts)
        return Hierarchy(tuple(splits), (code,), self.labels)
