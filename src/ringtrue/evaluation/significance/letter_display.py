"""Groups of runs that are not told apart, shown by letters: two runs that share one are not."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase

from ringtrue.evaluation.significance.run_pairs import BoolArray

__all__ = ["alike", "lettered"]

LETTERS = ascii_lowercase + ascii_uppercase
MOST = 300  # groups: where there would be more, fewer that also do are looked for


def alike(differ: BoolArray, *, most: int = MOST) -> list[list[int]]:
    """Groups such that two things that differ are in none together, and any other two in at least one.

    `differ` says for each pair whether it does. Insert and absorb [Piepho04]: all begin in one group; each pair that
    differs splits every group that has both of them in two, without the one and without the other, and a group that
    lies within another is dropped. Then groups go, and members leave groups, where nobody meets whom he does not meet
    elsewhere. Of a hundred things there can be more groups than anybody can count; where there are more than `most`,
    groups are grown from single pairs until all have been met [Gramm07]. They come in the order of their first members.

    Examples:
        >>> import numpy as np
        >>> alike(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool))
        [[0, 1], [1, 2]]
    """
    things = len(differ)
    bits = [1 << place for place in range(things)]  # a group is a number whose bits are its members
    groups = [sum(bits)]
    for i in range(things):
        for j in range(i + 1, things):
            if differ[i, j]:
                groups = _split(groups, bits[i], bits[j])
        if len(groups) > most:
            groups = _grown([sum(bit for bit, apart in zip(bits, row, strict=True) if not apart) for row in differ])
            break
    groups.sort(key=_members)
    return sorted(_members(group) for group in _swept(groups) if group)


def lettered(groups: Sequence[Sequence[int]], things: int) -> list[str]:
    """The letters of each thing: a for the first group, b for the second; after Z come a′, b′ and so on.

    Examples:
        >>> lettered([[0, 1], [1, 2]], 3)
        ['a', 'ab', 'b']
    """
    letters = [""] * things
    for number, group in enumerate(groups):
        letter = LETTERS[number % len(LETTERS)] + "′" * (number // len(LETTERS))
        for member in group:
            letters[member] += letter
    return letters


def _members(group: int) -> list[int]:
    return [place for place in range(group.bit_length()) if group >> place & 1]


def _split(groups: list[int], one: int, other: int) -> list[int]:
    """No group with both of them any more."""
    both = one | other
    kept = [group for group in groups if group & both != both]
    parts = {group & ~gone for group in groups if group & both == both for gone in (one, other)}
    for part in sorted(parts, key=int.bit_count, reverse=True):  # the largest first: what lies within comes later
        if not any(part & ~group == 0 for group in kept):
            kept.append(part)
    return kept


def _grown(friends: list[int]) -> list[int]:
    """A group around each pair that no group has yet, with whoever differs from none of it; `friends` have oneself."""
    groups: list[int] = []
    met = [1 << place for place in range(len(friends))]
    for place, mine in enumerate(friends):
        while alone := mine & ~met[place] or (mine if not any(group >> place & 1 for group in groups) else 0):
            first = _members(alone)[0]
            group, left = 1 << place | 1 << first, mine & friends[first]
            for other in _members(left):
                if group & ~friends[other] == 0:
                    group |= 1 << other
            groups.append(group)
            for member in _members(group):
                met[member] |= group
    return groups


def _swept(groups: list[int]) -> list[int]:
    """Without groups, and then without members of a group, that meet nobody there whom they do not meet in another.

    The last go first, so that the first letters stay whole.
    """
    swept = list(groups)
    for place in reversed(range(len(swept))):
        if all(swept[place] & ~_met(swept, place, member) == 0 for member in _members(swept[place])):
            swept[place] = 0
    for place in reversed(range(len(swept))):
        for member in reversed(_members(swept[place])):
            if swept[place] & ~_met(swept, place, member) == 0:
                swept[place] &= ~(1 << member)
    return swept


def _met(groups: list[int], place: int, member: int) -> int:
    """Whom a member meets in other groups than the one at this place."""
    met = 0
    for number, group in enumerate(groups):
        if number != place and group >> member & 1:
            met |= group
    return met
