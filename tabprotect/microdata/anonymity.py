"""k-anonymity, l-diversity and t-closeness: the measures, for constraints of methods, claims and risk alike.

An equivalence class is a set of records that share their keys. All measures of a confidential column take the counts
of its values in every class, shape (classes, values).

References
----------
Samarati (2001), "Protecting respondents' identities in microdata release", IEEE TKDE 13; Machanavajjhala et al. (2007),
"l-diversity: privacy beyond k-anonymity", ACM TKDD 1; Li, Li, Venkatasubramanian (2007), "t-closeness: privacy beyond
k-anonymity and l-diversity", ICDE.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, did_you_mean
from tabprotect.microdata.keys import frequencies, key_codes, match_counts, same_codes
from tabprotect.table.hierarchy import Hierarchy

if TYPE_CHECKING:
    from tabprotect.microdata.records import Records

__all__ = [
    "MISSING",
    "Distance",
    "Missing",
    "closeness",
    "distinct_diversity",
    "entropy_diversity",
    "key_counts",
    "recursive_diversity",
    "tree_distances",
    "value_counts",
]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

Missing = Literal["any", "both", "stated", "own"]
Distance = Literal["equal", "ordered", "hierarchical"]

MISSING: tuple[Missing, ...] = ("any", "both", "stated", "own")
"""What a missing key may match; see `key_counts`."""


def key_counts(after: Records, keys: Sequence[str], missing: Missing = "any", before: Records | None = None) -> Ints:
    """Return for every record how many records match it on its keys, itself among them.

    Parameters
    ----------
    after : Records
    keys : sequence of str
    missing : {'any', 'both', 'stated', 'own'}
        'any': a missing value of the record matches every value, and all records count by the values that they had
        before anything was blanked (`before`): how many respondents fit what is released of this one. A value that was
        missing before matches every value, too.
        'both': a missing value on either side matches every value (the count that sdcMicro takes).
        'stated': a missing value of the record matches every value, but only records count that state all keys which
        this record states.
        'own': a missing value is a value of its own.
    before : Records, optional
        The same records before; only for 'any', by default `after`.

    Returns
    -------
    ndarray of int, shape (records,)
        For each record 'own' <= 'stated' <= 'any' <= 'both'.

    Raises
    ------
    InputError
        Unknown columns or words.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> read = lambda frame: md.read_records(pd.DataFrame(frame), md.Schema())
    >>> before = read({"a": ["x", "x", "x", "y"], "b": ["1", "1", "2", "2"]})
    >>> after = read({"a": ["x", "x", None, None], "b": ["1", "1", "2", "2"]})
    >>> for missing in ("own", "stated", "any", "both"):
    ...     print(missing, key_counts(after, ["a", "b"], missing, before))
    own [2 2 2 2]
    stated [2 2 2 2]
    any [2 2 2 2]
    both [2 2 2 2]
    """
    if missing not in MISSING:
        raise InputError(f"missing cannot be {missing!r}{did_you_mean(missing, MISSING)}")
    coded = key_codes(after, keys)
    found = coded.patterns()
    if missing == "own":
        counts = frequencies(found.codes, found.sizes, found.counts)
    elif missing == "any" and before is not None:
        earlier = key_codes(before, keys)
        _, _, sizes = same_codes(coded, earlier)
        base = earlier.patterns()
        # codes of before in the numbering of after, pattern by pattern
        other = same_codes(coded, type(coded)(coded.names, earlier.values, base.codes))[1]
        counts = match_counts(found.codes, other, sizes, base.counts)
    else:
        stated = missing == "stated"
        counts = match_counts(found.codes, found.codes, found.sizes, found.counts, missing_matches=not stated)
    return counts[found.index]


def value_counts(classes: Ints, values: Ints, n_classes: int, n_values: int) -> Floats:
    """Count the values of a column in every class, shape (classes, values); records with no value (-1) do not count.

    Examples
    --------
    >>> value_counts(np.array([0, 0, 1, 1]), np.array([0, 1, 1, -1]), 2, 2)
    array([[1., 1.],
           [0., 1.]])
    """
    there = values >= 0
    numbers = classes[there] * n_values + values[there]
    return np.bincount(numbers, minlength=n_classes * n_values).astype(np.float64).reshape(n_classes, n_values)


def distinct_diversity(counts: Floats) -> Floats:
    """Return the number of different values in every class.

    Examples
    --------
    >>> distinct_diversity(np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 0.0]]))
    array([2., 1.])
    """
    found: Floats = (counts > 0).sum(axis=1).astype(np.float64)
    return found


def entropy_diversity(counts: Floats) -> Floats:
    """Return the exponential of the entropy of every class: l of entropy l-diversity (0 for a class without values).

    Examples
    --------
    >>> entropy_diversity(np.array([[2.0, 2.0, 0.0], [0.0, 3.0, 0.0]])).round(9)
    array([2., 1.])
    """
    totals = counts.sum(axis=1, keepdims=True)
    share = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    logs = np.log(share, out=np.zeros_like(share), where=share > 0)
    found: Floats = np.where(totals[:, 0] > 0, np.exp(-(share * logs).sum(axis=1)), 0.0)
    return found


def recursive_diversity(counts: Floats, l: int) -> Floats:
    """Return r_1 / (r_l + ... + r_m) of every class: recursive (c, l)-diversity holds where it is below c.

    r_1 >= r_2 >= ... are the counts of the values; infinite where fewer than l values occur.

    Examples
    --------
    >>> recursive_diversity(np.array([[4.0, 2.0, 2.0], [0.0, 3.0, 0.0]]), 2)
    array([ 1., inf])
    """
    ranked = -np.sort(-counts, axis=1)
    rest = ranked[:, l - 1 :].sum(axis=1) if l <= counts.shape[1] else np.zeros(len(counts))
    first = ranked[:, 0] if counts.shape[1] else np.zeros(len(counts))
    found: Floats = np.divide(first, rest, out=np.full(len(counts), np.inf), where=rest > 0)
    return found


def closeness(
    counts: Floats, whole: Floats | None = None, distance: Distance = "equal", tree: Ints | None = None
) -> Floats:
    """Return how far the values of every class are from those of the whole file: t of t-closeness, from 0 to 1.

    Parameters
    ----------
    counts : ndarray, shape (classes, values)
        For 'ordered' the values are in their order.
    whole : ndarray, shape (values,), optional
        Counts in the whole file, by default the sum over the classes.
    distance : {'equal', 'ordered', 'hierarchical'}
        The earth mover's distance where all values are at distance 1; where neighbours of m values are at distance
        1 / (m - 1); or where two values are at the height of their common ancestor in a tree, divided by its height.
    tree : ndarray of int, shape (levels, values)
        For 'hierarchical': the ancestor of every value at each level, the leaves first and the root last; see
        `tree_distances`.

    Returns
    -------
    ndarray of float, shape (classes,)
        nan for a class without values.

    Examples
    --------
    The example of Li et al.: incomes 3k to 11k, and classes {3k, 4k, 5k} and {6k, 8k, 11k}.

    >>> classes = np.array([[1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0, 1]], dtype=float)
    >>> closeness(classes, np.ones(9), "ordered").round(3)
    array([0.375, 0.167])
    """
    base = counts.sum(axis=0) if whole is None else np.asarray(whole, np.float64)
    totals = counts.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        off = counts / totals - base / base.sum()
    if distance == "equal":
        found: Floats = np.abs(off).sum(axis=1) / 2
    elif distance == "ordered":
        found = np.abs(np.cumsum(off, axis=1)).sum(axis=1) / max(counts.shape[1] - 1, 1)
    elif tree is None:
        raise InputError("the hierarchical distance needs the value tree of the column; name it in the schema")
    else:
        found = _tree_distance(off, np.asarray(tree))
    return found


def _tree_distance(off: Floats, tree: Ints) -> Floats:
    """Li et al., section 5.2: at every inner node the smaller of surplus and deficit below it moves, at its height."""
    height = len(tree) - 1
    found = np.zeros(len(off))
    below, parents = off, np.arange(off.shape[1])
    for level in range(1, height + 1):
        nodes = tree[level]
        # the children of this level, one column each
        first = np.unique(parents, return_index=True)[1]
        up = nodes[first]
        width = int(nodes.max()) + 1
        plus, minus = np.zeros((len(off), width)), np.zeros((len(off), width))
        for child, parent in enumerate(up):
            plus[:, parent] += np.maximum(below[:, child], 0)
            minus[:, parent] += np.maximum(-below[:, child], 0)
        found += level / height * np.minimum(plus, minus).sum(axis=1)
        below, parents = plus - minus, nodes
    return found


def tree_distances(values: Sequence[Any], tree: Hierarchy) -> Ints:
    r"""Return the ancestor of every value at each level of a tree, for `closeness`: shape (levels, values).

    Values at different depths are put at the bottom: a leaf near the root is its own ancestor on the levels between.

    Examples
    --------
    >>> tree = Hierarchy.from_hrc("N\n@1\n@2\nS\n@3\n@4")
    >>> tree_distances(["1", "2", "3"], tree)
    array([[0, 1, 2],
           [0, 0, 1],
           [0, 0, 0]])
    """
    unknown = [value for value in values if str(value) not in tree.position]
    if unknown:
        raise InputError(f"value {unknown[0]!r} is not in the hierarchy{did_you_mean(unknown[0], tree.codes)}")
    height = int(tree.levels.max())
    rows = []
    for level in range(height, -1, -1):
        codes = np.array([tree.position[str(value)] for value in values], dtype=np.int64)
        while (deep := tree.levels[codes] > level).any():
            codes[deep] = tree.parents[codes[deep]]
        rows.append(np.unique(codes, return_inverse=True)[1])
    return np.array(rows, dtype=np.int64).reshape(height + 1, len(values))
