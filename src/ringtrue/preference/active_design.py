"""The pairs that teach most about the top of the ranking."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.messages import Suggestion
from ringtrue.preference.bradley_terry import OutcomeModel, fit_bradley_terry
from ringtrue.preference.laplace import covariance
from ringtrue.preference.pair_designs import RIDGE, Pairs
from ringtrue.stats.intervals import normal_quantile
from ringtrue.tables.groups import IntArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ringtrue.preference.matches import FloatArray, Matches

# Log odds between documents one standard deviation apart in the initial order: as good a guess as 0 or 2.
PRIOR_SLOPE = 1.0
RATING_DRAWS = 200  # of the ratings, to see who is likely to be near the top
TOP_RANKS = 15  # ranks that count: some more than people look at, since who belongs there is still open
MAX_SHORTLIST = 10_000  # pairs of a query that are looked at after every choice, of those allowed and of the others
MAX_STEPS = 256  # choices after which all pairs are looked at again
MAX_DOCS = 3_000  # documents of a query: their covariance has to be written down
MAX_CHOICES = 100_000  # at once: half a minute
MAX_COPIES = 4  # of a pair in one batch, since each needs another person
NO_GAIN = -1.0  # gains are never negative
Choices: TypeAlias = tuple[IntArray, IntArray, "FloatArray"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Belief:
    """What is believed of the ratings of a query's documents: they are normal, with this mean and covariance."""

    mean: FloatArray
    covariance: FloatArray


def choose_active_pairs(matches: Matches, *, votes: int, budget: int, rng: np.random.Generator) -> Pairs:
    """The batch of pairs that is expected to teach most about the top, chosen one after another over all queries.

        gain of a pair = ½ (w_i + w_j) · ½ log(1 + n p (1 − p) Var(θ_i − θ_j))    [MacKay92] [Glickman05]

    p is the chance that i beats j, n the votes that each choice asks for, and w the chance that a document is among
    the first 15. After each choice Var is what it will be once the vote is in, whoever wins; so a batch does not
    repeat itself, and comes back to a pair only when one more vote on it teaches more than any other pair, for 4 votes
    at most (or n). A pair has a document in the main group of its query, those that most votes and choices join, so
    that all ratings can be compared. Queries where more is open get more of a budget; fewer pairs than it are chosen
    only where no more are allowed.

    Examples:
        >>> from ringtrue.preference.pair_designs import Candidates
        >>> nobody = Candidates.of({"query": ["q"] * 60, "doc": [f"d{i}" for i in range(60)]}).to_matches(None)
        >>> pairs = choose_active_pairs(nobody, votes=1, budget=20, rng=np.random.default_rng(0))
        >>> len(pairs.first), bool(pairs.second.mean() < 30)
        (20, True)
    """
    matches, sizes = matches.merge_by_pair(), np.diff(matches.start)
    if budget > MAX_CHOICES:
        raise UsageError(
            "too-many-choices",
            f"the active design chooses at most {MAX_CHOICES:,} pairs at once, and {budget:,} are asked for; small "
            f"batches, each with the preferences so far, learn more often",
            parameter="budget",
        )
    if sizes.max() > MAX_DOCS:
        raise UsageError(
            "too-many-documents",
            f"the active design takes at most {MAX_DOCS:,} documents of a query, and query "
            f"'{matches.queries[int(sizes.argmax())]}' has {sizes.max():,}",
            suggestions=[Suggestion("cuts the ranking", depth=1000)],
        )
    ratings = fit_bradley_terry(matches, ridge=RIDGE) if matches.size else np.zeros(matches.docs.height)
    groups = matches.components() if matches.size else np.arange(matches.docs.height)
    noise = rng.standard_normal((RATING_DRAWS, int(sizes.max())))

    def choose(part: Matches, part_ratings: FloatArray, group: IntArray, count: int) -> Choices:
        belief = update_belief(part, part_ratings)
        return choose_most_informative(belief, top_weights(belief, noise), group=group, count=count, votes=votes)

    by_query: list[Callable[[int], Choices]] = [
        partial(choose, part, ratings[low:high], np.unique(groups[low:high], return_inverse=True)[1])
        for (_, part), low, high in zip(matches.by_query(), matches.start[:-1], matches.start[1:], strict=True)
    ]
    first, second, query = _merge_choices(by_query, budget)
    low = matches.start[query]
    return Pairs(first=low + first, second=low + second, copies=np.full(len(first), votes))


def _merge_choices(by_query: list[Callable[[int], Choices]], budget: int) -> tuple[IntArray, IntArray, IntArray]:
    """The pairs with the greatest gains over all queries, and the query of each.

    A choice is possible only after those before it in its query, so it counts for no more than any of them: the best of
    all are the first of each. A query of which all are taken that were looked at is asked for twice as many.
    """
    limits = np.full(len(by_query), min(budget, 2 * (budget // len(by_query)) + 10))
    choices = [choose(limit) for choose, limit in zip(by_query, limits.tolist(), strict=True)]
    while True:
        query = np.repeat(np.arange(len(choices)), [len(gain) for *_, gain in choices])
        gain = np.concatenate([np.minimum.accumulate(gain) for *_, gain in choices])
        best = np.argsort(-gain, kind="stable")[:budget]
        used = np.bincount(query[best], minlength=len(choices))
        exhausted = np.flatnonzero((used == limits) & (limits < budget))
        if not len(exhausted):
            first, second = (np.concatenate([choice[side] for choice in choices])[best] for side in (0, 1))
            return first, second, query[best]
        limits[exhausted] = np.minimum(2 * limits[exhausted], budget)
        for q in exhausted.tolist():
            choices[q] = by_query[q](int(limits[q]))


def update_belief(matches: Matches, ratings: FloatArray) -> Belief:
    """What the votes on a query's documents say, together with the initial order.

        θ = s x + δ,   δ_i ~ N(0, 1 / ridge),   s ~ N(1, 1)

    x is the normal score of a document's place in the initial order. How far that order is right, s, is learned from
    the votes like everything else: a good one saves many, and a worthless one costs little. `ratings` are the most
    probable ones with s = 0, from which one step of Newton's method leads to these.

    Examples:
        >>> from ringtrue.preference.pair_designs import Candidates
        >>> nobody = Candidates.of({"query": ["q"] * 3, "doc": list("abc")}).to_matches(None)
        >>> belief = update_belief(nobody, np.zeros(3))
        >>> belief.mean.round(2).tolist(), belief.covariance.round(2).tolist()
        ([0.97, 0.0, -0.97], [[4.94, 0.0, -0.94], [0.0, 4.0, 0.0], [-0.94, 0.0, 4.94]])
    """
    size = len(ratings)
    information = matches.weight * OutcomeModel().information(ratings[matches.first] - ratings[matches.second])
    base_covariance = covariance(matches.first, matches.second, information, size, ridge=RIDGE)
    x = np.array([normal_quantile(1 - (rank + 0.5) / size) for rank in range(size)])
    # The precision of the prior is ridge (I − f x xᵀ), and the covariance follows by Sherman and Morrison's formula.
    x_squared = float(x @ x)
    ridge_f = PRIOR_SLOPE**2 * RIDGE**2 / (1 + PRIOR_SLOPE**2 * RIDGE * x_squared)  # ridge · f
    along_x = base_covariance @ x
    updated_covariance = base_covariance + np.outer(along_x, along_x) * (ridge_f / (1 - ridge_f * float(x @ along_x)))
    pull = ridge_f * float(x @ ratings) + PRIOR_SLOPE * (RIDGE - ridge_f * x_squared)
    return Belief(mean=ratings + updated_covariance @ x * pull, covariance=updated_covariance)


def top_weights(belief: Belief, noise: FloatArray) -> FloatArray:
    """How likely each document is to be among the first 15, by ratings that are drawn from the belief.

    `noise` has a row of standard normal numbers for each draw, and may be longer than needed.

    Examples:
        >>> sure = Belief(mean=np.arange(20.0), covariance=np.eye(20) * 1e-6)
        >>> top_weights(sure, np.random.default_rng(0).standard_normal((50, 20)))[3:7].tolist()
        [0.0, 0.0, 1.0, 1.0]
    """
    size = len(belief.mean)
    sampled = belief.mean + noise[:, :size] @ np.linalg.cholesky(belief.covariance).T
    top = np.argsort(-sampled, axis=1)[:, :TOP_RANKS]
    return np.asarray(np.bincount(top.ravel(), minlength=size) / len(top))


def main_group(group: IntArray, weight: FloatArray) -> NDArray[np.bool_]:
    """Which documents are in the largest group; of several as large, the one with the greatest weight.

    Before any vote every document is a group, and this is the one that is likeliest to be near the top.

    Examples:
        >>> main_group(np.array([0, 1, 2, 1]), np.array([1.0, 0.2, 0.9, 0.1])).tolist()
        [False, True, False, True]
    """
    group_size, group_weight = np.bincount(group), np.bincount(group, weights=weight)
    return np.asarray(group == np.lexsort((-group_weight, -group_size))[0])


def choose_most_informative(
    belief: Belief, weight: FloatArray, *, group: IntArray | None = None, count: int, votes: int = 1
) -> Choices:
    """So many pairs, each the one that teaches most after those before it, and the gain of each.

    `group` says which documents votes have joined; without it none are. One of a pair is in the main group, which
    grows by every choice, and a pair is chosen again until it has 4 votes; where no pair is left, there are fewer.
    The gain of a pair only falls as votes come in. So it is enough to look at the pairs with the greatest gains, and at
    all of them anew only when the best falls below what another pair of the main group had.

    Examples:
        >>> belief = Belief(mean=np.zeros(3), covariance=4 * np.eye(3))
        >>> first, second, gain = choose_most_informative(belief, np.array([1.0, 1.0, 0.5]), count=3)
        >>> list(zip(first.tolist(), second.tolist())), gain.round(3).tolist()
        ([(0, 1), (0, 2), (1, 2)], [0.549, 0.368, 0.26])
    """
    size, max_copies = len(belief.mean), max(MAX_COPIES // votes, 1)
    group = np.arange(size) if group is None else group
    inside = main_group(group, weight)
    first, second = np.triu_indices(size, 1)
    information = votes * OutcomeModel().information(belief.mean[first] - belief.mean[second])
    pair_weight = (weight[first] + weight[second]) / 4
    remaining = np.full(len(first), max_copies)  # how often each pair can still be chosen
    rating_covariance, chosen, gains = belief.covariance, list[int](), list[float]()
    while len(chosen) < count:
        variances = np.diag(rating_covariance)
        variance = variances[first] + variances[second] - 2 * rating_covariance[first, second]
        gain = np.where(remaining > 0, pair_weight * np.log1p(information * variance), NO_GAIN)
        shortlist = _shortlist_pairs(gain, inside[first] | inside[second])
        bound = _best_gain_off_shortlist(gain, shortlist, first, second, size)
        near_first, near_second = first[shortlist], second[shortlist]
        variance, near_information, near_weight = variance[shortlist], information[shortlist], pair_weight[shortlist]
        # What each vote takes from the covariance, as m mᵀ.
        updates = np.empty((min(count - len(chosen), MAX_STEPS), size))
        step = 0
        while step < len(updates):
            allowed = (remaining[shortlist] > 0) & (inside[near_first] | inside[near_second])
            gain = np.where(allowed, near_weight * np.log1p(near_information * variance), NO_GAIN)
            best = int(gain.argmax())
            if gain[best] < max(bound[inside].max(), 0.0):
                break
            chosen.append(int(shortlist[best]))
            gains.append(float(gain[best]))
            remaining[shortlist[best]] -= 1
            i, j = near_first[best], near_second[best]
            inside |= (group == group[i]) | (group == group[j])
            previous = updates[:step]
            along = rating_covariance[:, i] - rating_covariance[:, j] - (previous[:, i] - previous[:, j]) @ previous
            updates[step] = along * np.sqrt(near_information[best] / (1 + near_information[best] * variance[best]))
            variance = variance - (updates[step, near_first] - updates[step, near_second]) ** 2
            step += 1
        if not step:  # even after a look at all
            break
        rating_covariance = rating_covariance - updates[:step].T @ updates[:step]
    return first[chosen], second[chosen], np.array(gains)


def _shortlist_pairs(gain: FloatArray, allowed: NDArray[np.bool_]) -> IntArray:
    """The pairs with the greatest gains, of those that are allowed and of those that may come to be, in order."""
    parts = [np.flatnonzero(allowed), np.flatnonzero(~allowed)]
    shortlists = [
        rows if len(rows) <= MAX_SHORTLIST else rows[np.argpartition(-gain[rows], MAX_SHORTLIST - 1)[:MAX_SHORTLIST]]
        for rows in parts
    ]
    return np.sort(np.concatenate(shortlists))


def _best_gain_off_shortlist(
    gain: FloatArray, shortlist: IntArray, first: IntArray, second: IntArray, size: int
) -> FloatArray:
    """For each document the greatest gain of its pairs that are not near."""
    best = np.full(size, NO_GAIN)
    is_off_shortlist = np.ones(len(gain), dtype=bool)
    is_off_shortlist[shortlist] = False
    for side in (first, second):
        np.maximum.at(best, side[is_off_shortlist], gain[is_off_shortlist])
    return best
