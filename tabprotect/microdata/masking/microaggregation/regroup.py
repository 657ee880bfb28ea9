"""Changes of a local search that alter the number of groups: one is dissolved, or one is made."""

from __future__ import annotations

import numpy as np

from tabprotect.microdata.masking.microaggregation.search import Search

__all__ = ["regroup"]


def regroup(search: Search) -> bool:
    """Dissolve groups and make groups where that lowers the sum of squares; return whether anything did."""
    dissolved = _dissolve(search)
    return _make(search) or dissolved


def _dissolve(search: Search) -> bool:
    """Give the members of a group to neighbouring groups that have room."""
    s = search
    most = 2 * s.k - 1
    own, to = s.group, s.group[s.near]
    room = (s.sizes[to] < most) & (to != own[:, None])
    size = s.sizes[to].astype(float)
    apart = ((s.points[:, None, :] - s.centres[to]) ** 2).sum(axis=2) * (size / (size + 1))
    cost = np.where(room, apart, np.inf).min(axis=1)
    count = len(s.sizes)
    losses = np.bincount(own, ((s.points - s.centres[own]) ** 2).sum(axis=1), minlength=count)
    gain = np.bincount(own, cost, minlength=count) - losses
    done = False
    for one in np.flatnonzero(gain < s.least)[np.argsort(gain[gain < s.least], kind="stable")].tolist():
        members = s.of(one)
        touched = {one: members}
        for record in members:
            best, where = np.inf, -1
            for other in dict.fromkeys(s.group[s.near[record]].tolist()):
                there = touched.get(other) or s.of(other)
                if other != one and there and len(there) < most:
                    rise = s.loss([*there, record]) - s.loss(there)
                    if rise < best:
                        best, where = rise, other
            if where < 0:
                break
            touched[where] = [*(touched.get(where) or s.of(where)), record]
        else:
            after = sum(s.loss(there) for other, there in touched.items() if other != one)
            before = sum(s.loss(s.of(other)) for other in touched)
            if after - before < s.least:
                for other, there in touched.items():
                    s.place(other, [] if other == one else there)
                done = True
    return done


def _make(search: Search) -> bool:
    """Make a group of a record and its nearest neighbours, all from groups that have more than k records."""
    s = search
    done = False
    for record in np.flatnonzero(s.sizes[s.group] > s.k).tolist():
        spare: dict[int, int] = {}
        chosen = []
        for other in (record, *s.near[record].tolist()):
            home = int(s.group[other])
            if other not in chosen and spare.setdefault(home, int(s.sizes[home]) - s.k) > 0:
                spare[home] -= 1
                chosen.append(other)
                if len(chosen) == s.k:
                    break
        if len(chosen) < s.k or chosen[0] != record:
            continue
        homes = {int(s.group[one]) for one in chosen}
        rest = {home: [m for m in s.of(home) if m not in chosen] for home in homes}
        change = s.loss(chosen) + sum(s.loss(rest[home]) - s.loss(s.of(home)) for home in homes)
        if change < s.least:
            for home, members in rest.items():
                s.place(home, members)
            s.place(s.empty(), chosen)
            done = True
    return done
