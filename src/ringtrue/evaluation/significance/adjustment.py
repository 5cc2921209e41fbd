"""Many comparisons at once: p adjusted for the family of each, and the groups of runs that are not told apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from string import ascii_lowercase, ascii_uppercase
from typing import Literal, TypeAlias

import numpy as np

from ringtrue.errors import MismatchError
from ringtrue.evaluation.measures import BoolArray, FloatArray, IntArray
from ringtrue.evaluation.significance.paired_statistics import tukey_hsd
from ringtrue.evaluation.significance.pairwise_tests import ComparisonSettings
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.results import Comparison
from ringtrue.tables.scores import Cube

Adjust: TypeAlias = Literal["holm", "bh", "tukey", "none"]
Family: TypeAlias = Literal["measure", "all"]
LETTERS = ascii_lowercase + ascii_uppercase
MAX_GROUPS = 300  # groups: where there would be more, fewer that also do are looked for


def holm(p: FloatArray) -> FloatArray:
    """Holm's step-down: the chance of any false finding in the family stays below the level [Holm79].

        p̃_(i) = max_{j ≤ i} min(1, (m − j + 1) · p_(j))

    Holds however the comparisons hang together. What is undefined (NaN) stays so, and is not counted.

    Examples:
        >>> holm(np.array([0.01, 0.04, 0.03])).round(4)
        array([0.03, 0.06, 0.06])
    """
    return _stepwise(p, lambda p_ascending: np.maximum.accumulate(np.arange(len(p_ascending), 0, -1) * p_ascending))


def benjamini_hochberg(p: FloatArray) -> FloatArray:
    """Benjamini and Hochberg's step-up: of all findings, the expected share of false ones stays below the level.

        p̃_(i) = min_{j ≥ i} min(1, m / j · p_(j))    [Benjamini95]

    Proven for independent comparisons and for those that lean the same way; for all pairs of runs it held in our
    simulations. What is undefined (NaN) stays so, and is not counted.

    Examples:
        >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03])).round(4)
        array([0.03, 0.04, 0.04])
    """
    return _stepwise(
        p,
        lambda p_ascending: np.minimum.accumulate(
            (p_ascending * len(p_ascending) / np.arange(1, len(p_ascending) + 1))[::-1]
        )[::-1],
    )


def _stepwise(p: FloatArray, step: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """What a step makes of the known p in rising order, at most 1, each back in its place."""
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(step(p[order]), 1.0)
    return adjusted


STEPWISE: dict[str, tuple[str, Callable[[FloatArray], FloatArray]]] = {
    "holm": ("Holm", holm),
    "bh": ("Benjamini–Hochberg", benjamini_hochberg),
}


def adjust_p_values(raw: list[Comparison], adjust: Adjust, family: Family) -> list[Comparison]:
    """By Holm or Benjamini–Hochberg, or not at all."""
    p = np.array([np.nan if comparison.p_value is None else comparison.p_value for comparison in raw])
    if adjust in STEPWISE:
        step = STEPWISE[adjust][1]
        measures = np.array([comparison.measure if family == "measure" else "" for comparison in raw])
        for measure in dict.fromkeys(measures.tolist()):
            p[measures == measure] = step(p[measures == measure])
    return _set_p_adjusted(raw, p)


def _set_p_adjusted(raw: Iterable[Comparison], p: FloatArray) -> list[Comparison]:
    return [
        replace(comparison, p_adjusted=None if np.isnan(p_adjusted) else float(p_adjusted))
        for comparison, p_adjusted in zip(raw, p, strict=True)
    ]


def adjust_by_tukey(
    raw: list[Comparison], cube: Cube, pairs: IntArray, settings: ComparisonSettings
) -> tuple[list[Comparison], tuple[Note, ...]]:
    """By Tukey's test over the queries that all runs have; a note says how many were left out."""
    test = partial(tukey_hsd, resamples=settings.resamples, progress=settings.progress)
    p, left_out = [], 0
    for values in cube.values:
        complete = ~np.isnan(values).any(axis=0)
        if not complete.any():
            raise MismatchError(
                "no-common-query",
                "no query is in all runs, and Tukey's test needs the same queries for all",
                suggestions=[Suggestion("takes those of each pair", adjust="holm")],
            )
        p.append(test(values[:, complete], *pairs.T, rng=settings.rng))
        left_out = max(left_out, int((~complete).sum()))
    text = f"left out of Tukey's test, because not every run has them: {left_out} of the queries"
    notes = (Note("queries-not-in-all-runs", text),) if left_out else ()
    return _set_p_adjusted(raw, np.concatenate(p)), notes


def describe_family(count: int, unit: str, adjust: Adjust, level: float, *, several: bool) -> str:
    """The family and the adjustment, as they are told: `several` measures, each with so many comparisons."""
    of_each = " of each measure" if several else ""
    if count == 1:
        return f"nothing to adjust for, with one comparison{of_each}"
    members = f"the {count:,} {unit}{of_each}"
    if adjust == "none":
        return f"not adjusted; were all runs equal, about {count * (1 - level):.2g} of {members} would look decided"
    return f"{STEPWISE[adjust][0]} over {members}"


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
