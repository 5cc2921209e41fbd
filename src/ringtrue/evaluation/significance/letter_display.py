"""Groups of runs that are not told apart, shown by letters: two runs that share one are not."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase

from ringtrue.evaluation.measures import BoolArray

LETTERS = ascii_lowercase + ascii_uppercase
MAX_GROUPS = 300  # groups: where there would be more, fewer that also do are looked for


def find_homogeneous_groups(differ: BoolArray, *, max_groups: int = MAX_GROUPS) -> list[list[int]]:
    """Groups such that two things that differ are in none together, and any other two in at least one.

    `differ` says for each pair whether it does. Insert and absorb [Piepho04]: all begin in one group; each pair that
    differs splits every group that has both of them in two, without the one and without the other, and a group that
    lies within another is dropped. Then groups go, and members leave groups, where nobody meets whom he does not meet
    elsewhere. Of a hundred things there can be more groups than anybody can count; where there are more than
    `max_groups`, groups are grown from single pairs until all have been met [Gramm07]. They come in the order of their
    first members.

    Examples:
        >>> import numpy as np
        >>> find_homogeneous_groups(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool))
        [[0, 1], [1, 2]]
    """
    n_runs = len(differ)
    bits = [1 << i for i in range(n_runs)]  # a group is a number whose bits are its members
    groups = [sum(bits)]
    for i in range(n_runs):
        for j in range(i + 1, n_runs):
            if differ[i, j]:
                groups = _separate_pair(groups, bits[i], bits[j])
        if len(groups) > max_groups:
            groups = _grow_groups(
                [sum(bit for bit, differs in zip(bits, row, strict=True) if not differs) for row in differ]
            )
            break
    groups.sort(key=_member_indices)
    return sorted(_member_indices(group) for group in _drop_redundant(groups) if group)


def assign_letters(groups: Sequence[Sequence[int]], n_runs: int) -> list[str]:
    """The letters of each thing: a for the first group, b for the second; after Z come a′, b′ and so on.

    Examples:
        >>> assign_letters([[0, 1], [1, 2]], 3)
        ['a', 'ab', 'b']
    """
    letters = [""] * n_runs
    for number, group in enumerate(groups):
        letter = LETTERS[number % len(LETTERS)] + "′" * (number // len(LETTERS))
        for member in group:
            letters[member] += letter
    return letters


def _member_indices(group: int) -> list[int]:
    return [i for i in range(group.bit_length()) if group >> i & 1]


def _separate_pair(groups: list[int], first: int, second: int) -> list[int]:
    """No group with both of them any more."""
    both = first | second
    kept = [group for group in groups if group & both != both]
    parts = {group & ~removed for group in groups if group & both == both for removed in (first, second)}
    for part in sorted(parts, key=int.bit_count, reverse=True):  # the largest first: what lies within comes later
        if not any(part & ~group == 0 for group in kept):
            kept.append(part)
    return kept


def _grow_groups(compatible: list[int]) -> list[int]:
    """A group around each pair that no group has yet, with whoever differs from none of it.

    `compatible` has for each those that do not differ from it, itself among them.
    """
    groups: list[int] = []
    met = [1 << i for i in range(len(compatible))]
    for i, partners in enumerate(compatible):
        while unmet := partners & ~met[i] or (partners if not any(group >> i & 1 for group in groups) else 0):
            first = _member_indices(unmet)[0]
            group, candidates = 1 << i | 1 << first, partners & compatible[first]
            for candidate in _member_indices(candidates):
                if group & ~compatible[candidate] == 0:
                    group |= 1 << candidate
            groups.append(group)
            for member in _member_indices(group):
                met[member] |= group
    return groups


def _drop_redundant(groups: list[int]) -> list[int]:
    """Without groups, and then without members of a group, that meet nobody there whom they do not meet in another.

    The last go first, so that the first letters stay whole.
    """
    pruned = list(groups)
    for i in reversed(range(len(pruned))):
        if all(pruned[i] & ~_met_elsewhere(pruned, i, member) == 0 for member in _member_indices(pruned[i])):
            pruned[i] = 0
    for i in reversed(range(len(pruned))):
        for member in reversed(_member_indices(pruned[i])):
            if pruned[i] & ~_met_elsewhere(pruned, i, member) == 0:
                pruned[i] &= ~(1 << member)
    return pruned


def _met_elsewhere(groups: list[int], own_index: int, member: int) -> int:
    """Whom a member meets in other groups than the one at this place."""
    met = 0
    for i, group in enumerate(groups):
        if i != own_index and group >> member & 1:
            met |= group
    return met
