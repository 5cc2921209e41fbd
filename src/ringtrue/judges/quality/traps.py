"""Traps: questions whose answer is known, mixed in to see who pays attention."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import MismatchError, UsageError
from ringtrue.judges.quality.results import Traps
from ringtrue.judges.quality.tail_bounds import binomial_tail
from ringtrue.judges.votes import Votes, align_with_gold, require_one_label_each
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.encoding import rows_by_group
from ringtrue.stats.intervals import estimate_share

MAX_GUESSED_SHARE = 0.2  # a rule that lets more guessers through than this is said to be weak
STRICT_RULE = (4, 5)


def require_accept_rule(accept: tuple[int, int]) -> None:
    """Refuse a rule of acceptance that cannot be kept."""
    min_passed, n_traps = accept
    if not 1 <= min_passed <= n_traps:
        raise UsageError(
            "out-of-range",
            f"a batch is accepted at M of N traps, 1 ≤ M ≤ N, found {min_passed} of {n_traps}",
            parameter="accept",
            suggestions=[Suggestion("is strict", accept=STRICT_RULE)],
        )


def match_traps(votes: Votes, traps: Votes) -> NDArray[np.int32]:
    """The known label of each item, as a position; −1 where it is no trap. The scales must be the same already."""
    if votes.items.columns != traps.items.columns:
        kinds = ["pairs of documents" if table.is_pairwise else "documents" for table in (votes, traps)]
        raise MismatchError(
            "labels-and-pairs", f"the judges labelled {kinds[0]}, the traps are {kinds[1]}; give traps of the same kind"
        )
    n_met = votes.items.join(traps.items, on=votes.items.columns, how="semi").height
    if not n_met:
        raise MismatchError(
            "no-trap-met",
            f"no trap was met by any judge: the first trap is {traps.describe_item(0)}, "
            f"the judges have {votes.describe_item(0)}; do both use the same ids?",
        )
    require_one_label_each(traps, subject="traps")
    return align_with_gold(votes, traps)[1]


def required_passes(n: int, accept: tuple[int, int]) -> int:
    """How many of n traps have to be passed: the same share as M of N, rounded up.

    Examples:
        >>> required_passes(5, (2, 5)), required_passes(4, (2, 5)), required_passes(10, (4, 5))
        (2, 2, 8)
    """
    return -(-n * accept[0] // accept[1])


@lru_cache
def chance_accepted(n: int, accept: tuple[int, int], guess: float) -> float:
    """How often a batch with n traps is accepted when each is passed by luck alone.

        P = Σ_{i ≥ ⌈n M/N⌉} C(n, i) gⁱ (1 − g)ⁿ⁻ⁱ    [Bashir13]

    Examples:
        >>> chance_accepted(5, (2, 5), 0.5), chance_accepted(5, (4, 5), 0.5)
        (0.8125, 0.1875)
    """
    return round(binomial_tail(n - required_passes(n, accept), n, 1 - guess), 12)


def guess_chance(votes: Votes) -> float:
    """How often a trap is passed by luck: 1 of as many labels as there are; one half for a pair."""
    return 0.5 if votes.is_pairwise else 1 / max(len(votes.labels), 2)


def record_traps(votes: Votes, trap: NDArray[np.int32], *, accept: tuple[int, int], level: float) -> list[Traps]:
    """What each judge did with the traps; a judge who met none has n = 0.

    A batch, or where there is no such column all of a judge's work, is accepted when the same share of its traps
    was passed as in the rule M of N, rounded up [Bashir13].
    """
    trap_votes = np.flatnonzero(trap[votes.item] >= 0)
    judge, item = votes.judge[trap_votes], votes.item[trap_votes]
    passed = votes.label[trap_votes] == trap[item]
    cluster = votes.clusters()[0]
    batch = np.zeros(len(trap_votes), dtype=np.int64)
    if "batch" in votes.others.columns:
        names = votes.others["batch"].gather(trap_votes).cast(pl.String).fill_null("")
        batch = names.rank("dense").to_numpy().astype(np.int64)
    guess = guess_chance(votes)

    def record(rows: NDArray[np.intp]) -> Traps:
        _, batch_code, sizes = np.unique(batch[rows], return_inverse=True, return_counts=True)
        n_passed = np.bincount(batch_code, weights=passed[rows], minlength=len(sizes))
        n_required = [required_passes(int(n), accept) for n in sizes]
        chances = [chance_accepted(int(n), accept, guess) for n in sizes]
        clusters = cluster[item[rows]]
        return Traps(
            passed=int(passed[rows].sum()),
            n=len(rows),
            rate=estimate_share(passed[rows], clusters, level=level, case_name="trap that this judge met"),
            accepted=int((n_passed >= n_required).sum()),
            batches=len(sizes),
            guessing=float(np.mean(chances)) if chances else None,
        )

    return [record(rows) for rows in rows_by_group(judge, len(votes.judges))]


def accept_rule_note(votes: Votes, accept: tuple[int, int]) -> Note:
    """How likely the rule lets a guesser through, and what would be stricter."""
    min_passed, n_traps = accept
    guess = guess_chance(votes)
    chance = chance_accepted(n_traps, accept, guess)
    strict_chance = chance_accepted(STRICT_RULE[1], STRICT_RULE, guess)
    stricter = Suggestion(f"would let {strict_chance:.0%} through", accept=STRICT_RULE)
    return Note(
        "accept-rule",
        f"a batch is accepted at {min_passed} of {n_traps} traps passed, and so are "
        f"{chance:.0%} of batches that are guessed, one label in {1 / guess:.0f}",
        parameter="accept",
        suggestions=[stricter] if chance > MAX_GUESSED_SHARE else [],
    )
