"""Maximum distance to average vector: groups of k around the records farthest from the centre.

Domingo-Ferrer and Torra (2005), Data Mining and Knowledge Discovery 11, algorithm MDAV-generic; Solanas and
Martinez-Balleste (2006), COMPSTAT, V-MDAV.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabprotect.microdata.masking.microaggregation.pool import make_pool, squared_distances

__all__ = ["mdav", "v_mdav"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def mdav(points: Floats, k: int, *, compiled: bool | None = None) -> Ints:
    """Form groups of k records, the last one of k to 2k - 1.

    While at least 3k records are left: the record r farthest from their centre with the k - 1 records nearest to it,
    then the record s farthest from r with those nearest to s. Of 2k to 3k - 1 records one more group of k is taken
    around the farthest, the rest is the last group.

    Parameters
    ----------
    points : ndarray of float, shape (records, coordinates)
        At least k records.
    k : int
    compiled : bool, optional
        See `make_pool`; the groups are the same.

    Returns
    -------
    ndarray of int, shape (records,)
        Group of every record.

    Examples
    --------
    >>> mdav(np.array([[0.0], [1.0], [9.0], [10.0], [2.0], [11.0]]), 3).tolist()
    [0, 0, 1, 1, 0, 1]
    """
    pool = make_pool(points, compiled=compiled)
    group = np.full(len(points), -1, dtype=np.int64)
    count = 0

    def take(around: int) -> None:
        nonlocal count
        members = pool.nearest(points[around], k)
        group[members] = count
        count += 1
        pool.remove(members)

    while pool.left >= 3 * k:
        first = pool.farthest(pool.centre())
        second = pool.farthest(points[first])
        take(first)
        take(second)
    if pool.left >= 2 * k:
        take(pool.farthest(pool.centre()))
    group[pool.ids()] = count
    return group


def v_mdav(points: Floats, k: int, gamma: float, *, compiled: bool | None = None) -> Ints:
    """Form groups of k to 2k - 1 records, larger where the next record is near.

    The record farthest from the centre of all records takes the k - 1 nearest ones. The group then grows: of the
    records left, the one nearest to a member joins if it is nearer than gamma times its distance to the nearest other
    record that is left. The last few records join the nearest group that has room.

    Parameters
    ----------
    points : ndarray of float, shape (records, coordinates)
        At least k records.
    k : int
    gamma : float
        0 gives groups of k; the authors use 0.2 for scattered and 1.1 for clustered data.

    Returns
    -------
    ndarray of int, shape (records,)

    Examples
    --------
    >>> v_mdav(np.array([[0.0], [1.0], [1.5], [9.0], [10.0], [9.5]]), 2, 1.1).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    pool = make_pool(points, compiled=compiled)
    group = np.full(len(points), -1, dtype=np.int64)
    centre = pool.centre()
    count = 0
    while pool.left >= k:
        members = pool.nearest(points[pool.farthest(centre)], k)
        pool.remove(members)
        found = [int(m) for m in members]
        # nearest record left of every member: asked again only where it has gone
        beside = {m: int(pool.nearest(points[m], 1)[0]) for m in found} if pool.left else {}
        while pool.left and len(found) < 2 * k - 1:
            apart = {m: float(squared_distances(points[[at]], points[m])[0]) for m, at in beside.items()}
            member = min(apart, key=lambda m: (apart[m], beside[m]))
            joins = beside[member]
            if pool.left > 1:
                two = pool.nearest(points[joins], 2)
                other = next(int(t) for t in two if t != joins)
                if apart[member] >= gamma**2 * float(squared_distances(points[[other]], points[joins])[0]):
                    break
            elif gamma == 0:
                break
            found.append(joins)
            pool.remove(np.array([joins]))
            if pool.left:
                stale = [m for m in found if beside.get(m, joins) == joins]
                beside |= {m: int(pool.nearest(points[m], 1)[0]) for m in stale}
        group[found] = count
        count += 1
    _place_rest(points, group, pool.ids(), k, count)
    return group


def _place_rest(points: Floats, group: Ints, rest: Ints, k: int, count: int) -> None:
    """Give fewer than k records to the groups whose centres are nearest, of those that have room."""
    if not len(rest):
        return
    sizes = np.bincount(group[group >= 0], minlength=count)
    centres = np.zeros((count, points.shape[1]))
    np.add.at(centres, group[group >= 0], points[group >= 0])
    centres /= sizes[:, None]
    for record in rest:
        apart = squared_distances(centres, points[record])
        # where every group is full, one of 2k is split afterwards
        full = sizes >= 2 * k - 1 if (sizes < 2 * k - 1).any() else np.zeros(count, dtype=bool)
        to = int(np.argmin(np.where(full, np.inf, apart)))
        group[record] = to
        sizes[to] += 1
