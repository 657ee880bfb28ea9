"""Rebuild the inequalities behind a lower bound from the problem itself; the standard library only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tabprotect.certificate.document import (
    PRIMARY,
    fraction,
    integers,
    list_of,
    mapping_of,
    positions,
    question,
    require,
)
from tabprotect.certificate.groups import Groups, Number, bits, multipliers_of
from tabprotect.certificate.numbers import Numbers

__all__ = ["Row", "proven_bound", "rebuild"]

Row = tuple[dict[int, Number], Number, Number]
"""sum coefficient * x >= right-hand side, all times the last number (positive)."""

LONG = 4096
"""Bits of a common denominator of multipliers beyond which they are rounded."""

FINE = 64
"""Bits that the smallest of them keeps."""


def proven_bound(numbers: Numbers, proof: Mapping[str, Any]) -> Fraction:
    """Rebuild the inequalities of a bound proof and return the lower bound that they give.

    Some safe pattern of minimal cost satisfies all rows (`tabprotect.attack.proof_rows` argues why), and weak duality
    gives, for any multipliers pi >= 0 and over the cells whose hiding is a choice that costs something,

        cost >= sum_k pi_k rhs_k + sum_i min(0, w_i - sum_k pi_k c_ki),

    rounded up to a multiple of the greatest common divisor of the weights. Multipliers of many rows may have a common
    denominator of thousands of digits; they are rounded down then, which makes them other multipliers >= 0, as good.
    """
    mapping_of(proof, "proof", ("facts", "rows", "multipliers"))
    meter = numbers.meter
    rows = rebuild(numbers, proof["facts"], proof["rows"])
    factors = _combination(proof["multipliers"], len(rows), "multipliers of the proof")
    weights = {w for i, w in enumerate(numbers.weights) if numbers.is_open(i)}
    if not weights:
        return Fraction(0)
    grain = math.lcm(*(w.denominator for w in weights))
    step = math.gcd(*(int(w * grain) for w in weights))
    parts = [(number, factor / rows[number][2]) for number, factor in factors if factor]
    common = grain
    for _, part in parts:
        common = math.lcm(common, part.denominator)
        meter.long(part.denominator.bit_length())
        if common.bit_length() > LONG:
            common = grain << FINE + max(p.denominator.bit_length() - p.numerator.bit_length() + 1 for _, p in parts)
            break
    total: Number = 0  # from here on all is times the common denominator
    taken: dict[int, Number] = {}
    for number, part in parts:
        coefficients, rhs, _ = rows[number]
        times = part.numerator * common // part.denominator
        meter.long(times.bit_length(), 1 + len(coefficients))
        total += times * rhs
        for i, c in coefficients.items():
            taken[i] = taken.get(i, 0) + times * c
    for i, t in taken.items():
        weight = numbers.weights[i]
        total += min(0, weight.numerator * (common // weight.denominator) - t)
    steps = math.ceil(Fraction(total, common) * grain / step)
    return max(Fraction(0), Fraction(steps * step, grain))


def rebuild(numbers: Numbers, facts: Any, rows: Any) -> list[Row]:
    """Rebuild the inequalities of a proof from the problem."""
    groups = Groups(numbers)
    for number, fact in enumerate(list_of(facts, "facts of the proof")):
        groups.learn(fact, f"fact {number} of the proof")
    built: list[Row] = []
    for number, row in enumerate(list_of(rows, "rows of the proof")):
        where = f"row {number} of the proof"
        made = _row(groups, row, built, where)
        longest = max((bits(c) for c in (*made[0].values(), *made[1:])), default=1)
        numbers.meter.long(longest, 5 + 2 * len(made[0]))
        built.append(made)
    return built


def _of(row: Mapping[str, Any], name: str, where: str) -> Any:
    require(name in row, f"{where} has no '{name}'")
    return row[name]


def _row(groups: Groups, row: Any, earlier: list[Row], where: str) -> Row:
    kinds = {
        "capacity": _capacity,
        "bridge": _bridge,
        "tied": _tied,
        "companion": _companion,
        "at_least_0": _at_least_0,
        "at_most_1": _at_most_1,
    }
    require(isinstance(row, Mapping), f"{where} must be an object")
    kind = row.get("kind")
    require(isinstance(kind, str), f"{where} is of no known kind")
    if kind == "sum":
        coefficients: dict[int, Number] = {}
        right = Fraction(0)
        longest = 1
        for k, factor in _combination(_of(row, "terms", where), len(earlier), where):
            part, rhs, scale = earlier[k]
            longest = max(longest, bits(rhs) + bits(scale) + bits(factor) + bits(right))
            groups.numbers.meter.long(longest, 2 + len(part))
            right += factor * rhs / scale
            for i, c in part.items():
                coefficients[i] = coefficients.get(i, Fraction(0)) + factor * c / scale
        return {i: c for i, c in coefficients.items() if c}, right, 1
    if kind in ("round", "truncate", "cover"):
        (before,) = positions([_of(row, "row", where)], len(earlier), where)
        part, rhs, scale = earlier[before]
        if kind == "round":  # Chvatal and Gomory: x >= 0, and an integral left side is at least the next integer
            return {i: -(-c // scale) for i, c in part.items()}, -(-rhs // scale), 1
        require(rhs > 0 and all(c >= 0 for c in part.values()), f"{where} needs a row without negative numbers")
        if kind == "truncate":
            return {i: min(c, rhs) for i, c in part.items()}, rhs, scale
        cells = set(positions(_of(row, "cells", where), groups.numbers.n, where))
        require(sum(part.get(i, 0) for i in cells) < rhs, f"{where} covers nothing")
        return {i: 1 for i, c in part.items() if c and i not in cells}, 1, 1
    require(kind in kinds, f"{where} is of no known kind")
    return kinds[str(kind)](groups, row, where)


def _capacity(groups: Groups, row: Mapping[str, Any], where: str) -> Row:
    numbers = groups.numbers
    attacker, cell, side = question(_of(row, "key", where))
    require(-1 <= attacker < len(numbers.known) and 0 <= cell < numbers.n, f"{where} asks about nobody")
    known = numbers.known[attacker] if attacker >= 0 else frozenset[int]()
    unasked = numbers.unasked[attacker] if attacker >= 0 else known
    asked = numbers.status[cell] == PRIMARY and cell not in unasked and side in (1, -1, 0)
    require(asked, f"{where} asks about no level")
    vectors = list_of(_of(row, "multipliers", where), where)
    require(all(isinstance(v, list) and len(v) == 3 for v in vectors), f"{where} has no multiplier vectors")
    denominators = integers([d for _, _, d in vectors], where)
    require(len(denominators) == (1 if side else 2), f"{where} has the wrong number of multiplier vectors")
    require(all(d > 0 for d in denominators), f"{where} has a denominator that is not positive")
    common = math.lcm(*denominators)
    numbers.meter.long(common.bit_length(), 5 + len(known))
    seen = {groups.of[j][0] for j in known}
    capacity: dict[int, Number | None] = {}
    for sign, (equations, numerators, d) in zip((side,) if side else (1, -1), vectors, strict=True):
        reduced: dict[int, Number] = {cell: sign * common * numbers.unit}
        for r, m in multipliers_of(numbers, equations, numerators, where):
            for j, a in numbers.rows[r]:
                reduced[j] = reduced.get(j, 0) - a * m * (common // d)
        for group, v in groups.collected(reduced).items():
            if group not in seen:
                bound, before = (groups.up if v > 0 else groups.down)[group], capacity.get(group, 0)
                size: Number = v if v > 0 else -v
                capacity[group] = None if bound is None or before is None else before + size * bound
    rest: Number = numbers.need[side][cell] * common * numbers.unit
    for group in [group for group in capacity if groups.hidden(group)]:
        given = capacity.pop(group)
        if given is None:
            return {}, 0, 1
        rest -= given
    if rest <= 0:
        return {}, 0, 1
    free = {groups.speaker(group): rest if c is None else min(c, rest) for group, c in capacity.items()}
    return {i: c for i, c in free.items() if c}, rest, rest


def _bridge(groups: Groups, row: Mapping[str, Any], where: str) -> Row:
    numbers = groups.numbers
    (cell,) = positions([_of(row, "cell", where)], numbers.n, where)
    (equation,) = positions([_of(row, "equation", where)], len(numbers.rows), where)
    numbers.meter.spend(5 + 2 * len(numbers.rows[equation]))
    terms: dict[int, Number] = {}
    for j, a in numbers.rows[equation]:
        terms[j] = terms.get(j, 0) + a
    linked = groups.collected(terms)
    group = groups.of[cell][0]
    here = terms.get(cell, 0) != 0 or group in linked
    require(numbers.is_open(cell) and here, f"{where} bridges nothing")
    if groups.still[group]:
        return {cell: -1}, 0, 1
    if group not in linked:
        return {}, 0, 1
    others = linked.keys() - {group}
    if any(groups.hidden(group) for group in others):
        return {}, 0, 1
    return {cell: -1, **{groups.speaker(group): 1 for group in others}}, 0, 1


def _tied(groups: Groups, row: Mapping[str, Any], where: str) -> Row:
    pair = positions(_of(row, "cells", where), groups.numbers.n, where)
    require(len(pair) == 2, f"{where} ties two cells")
    cell, other = pair
    together = groups.of[cell][0] == groups.of[other][0]
    require(groups.numbers.is_open(cell) and together, f"{where} ties nothing")
    return ({cell: -1, other: 1} if groups.numbers.is_open(other) and other != cell else {}), 0, 1


def _companion(groups: Groups, row: Mapping[str, Any], where: str) -> Row:
    cell = _free(groups, row, where)
    group = groups.of[cell][0]
    require(groups.hidden(group) and not groups.still[group], f"{where} accompanies no cell that must be protected")
    return {cell: 1}, 1, 1


def _at_least_0(groups: Groups, row: Mapping[str, Any], where: str) -> Row:
    return {_free(groups, row, where): 1}, 0, 1


def _at_most_1(groups: Groups, row: Mapping[str, Any], where: str) -> Row:
    return {_free(groups, row, where): -1}, -1, 1


def _free(groups: Groups, row: Mapping[str, Any], where: str) -> int:
    (cell,) = positions([_of(row, "cell", where)], groups.numbers.n, where)
    require(groups.numbers.is_open(cell), f"{where} is about a cell that is not open to choice")
    return cell


def _combination(terms: Any, n: int, where: str) -> list[tuple[int, Fraction]]:
    pairs = list_of(terms, where)
    require(all(isinstance(pair, list) and len(pair) == 2 for pair in pairs), f"{where} needs pairs")
    rows = positions([k for k, _ in pairs], n, where)
    factors = [fraction(factor, where) for _, factor in terms]
    require(all(f >= 0 for f in factors), f"{where} has negative multipliers")
    return list(zip(rows, factors, strict=True))
