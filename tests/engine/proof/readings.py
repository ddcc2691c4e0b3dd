"""Readings of hands with wildcards, enumerated the other way round: all readings first, then their hands.

A reading is a sorted tuple of groups; a group is a tuple of (kind it stands for, is it a substitute). The
wildcard's own kind is never substituted. A group has at least one tile that is not a substitute.
"""

from collections import Counter, defaultdict
from functools import lru_cache
from itertools import combinations_with_replacement, product

KINDS = 34


def shapes(kinds, size):
    """Groups of so many equal kinds, and runs for three, within the kinds."""
    alike = [(kind,) * size for kind in kinds]
    runs = [(k, k + 1, k + 2) for k in kinds if size == 3 and k < 27 and k % 9 <= 6]
    return alike + [run for run in runs if {*run} <= {*kinds}]


def groups(kinds, size, wild):
    """Every group with its substitutes, within the kinds; equal tiles: those that are none first."""
    found = set()
    for shape in shapes(kinds, size):
        for marks in product((False, True), repeat=size):
            alike = len(set(shape)) == 1
            if all(marks) or any(mark and kind == wild for kind, mark in zip(shape, marks, strict=True)):
                continue
            found.add(tuple(zip(shape, sorted(marks) if alike else marks, strict=True)))
    return sorted(found)


def all_readings(kinds, sets, wild, most_wilds):
    """(sorted natural tiles without the wildcard kind, wildcards) → the set of its readings.

    `kinds` must be whole suits, or readings would be missing.
    """
    found = defaultdict(set)
    for chosen in combinations_with_replacement(groups(kinds, 3, wild), sets):
        for pair in groups(kinds, 2, wild):
            reading = tuple(sorted([*chosen, pair]))
            tiles = [tile for group in reading for tile in group]
            natural = [kind for kind, substitute in tiles if not substitute]
            as_itself = natural.count(wild)
            wilds = len(tiles) - len(natural) + as_itself
            if wilds <= most_wilds and max(Counter(natural).values()) <= 4:
                found[tuple(sorted(kind for kind in natural if kind != wild)), wilds].add(reading)
    return found


@lru_cache(maxsize=100_000)
def slow_readings(natural, wilds, wild, *, pair=True):
    """The same for one hand of any size: every group for the lowest tile, repeated readings dropped.

    `natural` are sorted kinds, those of the wildcard kind count as themselves; `wilds` all are substitutes.
    """
    if not natural:
        return frozenset([()]) if not pair and not wilds else frozenset()
    lowest = natural[0]
    found = set()
    for size in (2, 3) if pair else (3,):
        for group in groups_with(lowest, size, wild):
            rest, left = list(natural), wilds
            for kind, substitute in group:
                if substitute:
                    left -= 1
                elif kind in rest:
                    rest.remove(kind)
                else:
                    left = -1
                    break
            if left >= 0:
                for others in slow_readings(tuple(rest), left, wild, pair=pair and size == 3):
                    found.add(tuple(sorted([group, *others])))
    return frozenset(found)


@lru_cache
def groups_with(lowest, size, wild):
    near = [kind for kind in range(lowest - 2, lowest + 3) if 0 <= kind < KINDS and kind // 9 == lowest // 9]
    return [group for group in groups(near, size, wild) if (lowest, False) in group]
