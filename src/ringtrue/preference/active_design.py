"""The pairs that teach most about the top of the ranking."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.preference.bradley_terry import fit
from ringtrue.preference.laplace import covariance
from ringtrue.preference.outcome_model import Outcome
from ringtrue.preference.pair_designs import RIDGE, Pairs
from ringtrue.stats.student_t import normal_quantile
from ringtrue.tables.groups import IntArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ringtrue.preference.matches import FloatArray, Matches

__all__ = ["Belief", "active_pairs", "believed", "main_group", "most_telling", "top_weights"]

SLOPE = 1.0  # log odds between documents one standard deviation apart in the initial order: as good a guess as 0 or 2
DRAWS = 200  # of the ratings, to see who is likely to be near the top
REACH = 15  # ranks that count: some more than people look at, since who belongs there is still open
KEPT = 10_000  # pairs of a query that are looked at after every choice, of those allowed and of the others
TURN = 256  # choices after which all pairs are looked at again
MOST = 3_000  # documents of a query: their covariance has to be written down
MOST_CHOICES = 100_000  # at once: half a minute
COPIES = 4  # of a pair in one batch, since each needs another person
NOTHING = -1.0  # gains are never negative
Choices: TypeAlias = tuple[IntArray, IntArray, "FloatArray"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Belief:
    """What is believed of the ratings of a query's documents: they are normal, with this mean and covariance."""

    mean: FloatArray
    spread: FloatArray


def active_pairs(known: Matches, *, votes: int, budget: int, rng: np.random.Generator) -> Pairs:
    """The batch of pairs that is expected to teach most about the top, chosen one after another over all queries.

        gain of a pair = ½ (w_i + w_j) · ½ log(1 + n p (1 − p) Var(θ_i − θ_j))    [MacKay92] [Glickman05]

    p is the chance that i beats j, n the votes that each choice asks for, and w the chance that a document is among
    the first 15. After each choice Var is what it will be once the vote is in, whoever wins; so a batch does not
    repeat itself, and comes back to a pair only when one more vote on it teaches more than any other pair, for 4 votes
    at most (or n). A pair has a document in the main group of its query, those that most votes and choices join, so
    that all ratings can be compared. Queries where more is open get more of a budget; fewer pairs than it are chosen
    only where no more are allowed.

    Examples:
        >>> from ringtrue.preference.candidates import Candidates
        >>> nobody = Candidates.of({"query": ["q"] * 60, "doc": [f"d{i}" for i in range(60)]}).matches(None)
        >>> pairs = active_pairs(nobody, votes=1, budget=20, rng=np.random.default_rng(0))
        >>> len(pairs.first), bool(pairs.second.mean() < 30)
        (20, True)
    """
    known, sizes = known.paired(), np.diff(known.start)
    if budget > MOST_CHOICES:
        raise UsageError(
            f"the active design chooses at most {MOST_CHOICES:,} pairs at once, and {budget:,} are asked for; small "
            f"batches learn more often: give a smaller --budget, and continue it with --preferences"
        )
    if sizes.max() > MOST:
        raise UsageError(
            f"the active design takes at most {MOST:,} documents of a query, and query "
            f"'{known.queries[int(sizes.argmax())]}' has {sizes.max():,}; cut the ranking, such as --depth 1000"
        )
    ratings = fit(known, ridge=RIDGE) if known.size else np.zeros(known.docs.height)
    groups = known.components() if known.size else np.arange(known.docs.height)
    noise = rng.standard_normal((DRAWS, int(sizes.max())))

    def choose(part: Matches, own: FloatArray, group: IntArray, count: int) -> Choices:
        belief = believed(part, own)
        return most_telling(belief, top_weights(belief, noise), group=group, count=count, votes=votes)

    by_query: list[Callable[[int], Choices]] = [
        partial(choose, part, ratings[low:high], np.unique(groups[low:high], return_inverse=True)[1])
        for (_, part), low, high in zip(known.by_query(), known.start[:-1], known.start[1:], strict=True)
    ]
    first, second, query = _merged(by_query, budget)
    low = known.start[query]
    return Pairs(first=low + first, second=low + second, copies=np.full(len(first), votes))


def _merged(by_query: list[Callable[[int], Choices]], budget: int) -> tuple[IntArray, IntArray, IntArray]:
    """The pairs with the greatest gains over all queries, and the query of each.

    A choice is possible only after those before it in its query, so it counts for no more than any of them: the best of
    all are the first of each. A query of which all are taken that were looked at is asked for twice as many.
    """
    limits = np.full(len(by_query), min(budget, 2 * (budget // len(by_query)) + 10))
    found = [choose(limit) for choose, limit in zip(by_query, limits.tolist(), strict=True)]
    while True:
        query = np.repeat(np.arange(len(found)), [len(gain) for *_, gain in found])
        gain = np.concatenate([np.minimum.accumulate(gain) for *_, gain in found])
        best = np.argsort(-gain, kind="stable")[:budget]
        taken = np.bincount(query[best], minlength=len(found))
        short = np.flatnonzero((taken == limits) & (limits < budget))
        if not len(short):
            first, second = (np.concatenate([one[side] for one in found])[best] for side in (0, 1))
            return first, second, query[best]
        limits[short] = np.minimum(2 * limits[short], budget)
        for q in short.tolist():
            found[q] = by_query[q](int(limits[q]))


def believed(known: Matches, ratings: FloatArray) -> Belief:
    """What the votes on a query's documents say, together with the initial order.

        θ = s x + δ,   δ_i ~ N(0, 1 / ridge),   s ~ N(1, 1)

    x is the normal score of a document's place in the initial order. How far that order is right, s, is learned from
    the votes like everything else: a good one saves many, and a worthless one costs little. `ratings` are the most
    probable ones with s = 0, from which one step of Newton's method leads to these.

    Examples:
        >>> from ringtrue.preference.candidates import Candidates
        >>> nobody = Candidates.of({"query": ["q"] * 3, "doc": list("abc")}).matches(None)
        >>> belief = believed(nobody, np.zeros(3))
        >>> belief.mean.round(2).tolist(), belief.spread.round(2).tolist()
        ([0.97, 0.0, -0.97], [[4.94, 0.0, -0.94], [0.0, 4.0, 0.0], [-0.94, 0.0, 4.94]])
    """
    size = len(ratings)
    told = known.weight * Outcome().information(ratings[known.first] - ratings[known.second])
    plain = covariance(known.first, known.second, told, size, ridge=RIDGE)
    x = np.array([normal_quantile(1 - (rank + 0.5) / size) for rank in range(size)])
    # The precision of the prior is ridge (I − f x xᵀ), and the covariance follows by Sherman and Morrison's formula.
    length = float(x @ x)
    loose = SLOPE**2 * RIDGE**2 / (1 + SLOPE**2 * RIDGE * length)  # ridge · f
    along = plain @ x
    spread = plain + np.outer(along, along) * (loose / (1 - loose * float(x @ along)))
    pull = loose * float(x @ ratings) + SLOPE * (RIDGE - loose * length)
    return Belief(mean=ratings + spread @ x * pull, spread=spread)


def top_weights(belief: Belief, noise: FloatArray) -> FloatArray:
    """How likely each document is to be among the first 15, by ratings that are drawn from the belief.

    `noise` has a row of standard normal numbers for each draw, and may be longer than needed.

    Examples:
        >>> sure = Belief(mean=np.arange(20.0), spread=np.eye(20) * 1e-6)
        >>> top_weights(sure, np.random.default_rng(0).standard_normal((50, 20)))[3:7].tolist()
        [0.0, 0.0, 1.0, 1.0]
    """
    size = len(belief.mean)
    drawn = belief.mean + noise[:, :size] @ np.linalg.cholesky(belief.spread).T
    top = np.argsort(-drawn, axis=1)[:, :REACH]
    return np.asarray(np.bincount(top.ravel(), minlength=size) / len(top))


def main_group(group: IntArray, weight: FloatArray) -> NDArray[np.bool_]:
    """Which documents are in the largest group; of several as large, the one with the greatest weight.

    Before any vote every document is a group, and this is the one that is likeliest to be near the top.

    Examples:
        >>> main_group(np.array([0, 1, 2, 1]), np.array([1.0, 0.2, 0.9, 0.1])).tolist()
        [False, True, False, True]
    """
    size, heavy = np.bincount(group), np.bincount(group, weights=weight)
    return np.asarray(group == np.lexsort((-heavy, -size))[0])


def most_telling(
    belief: Belief, weight: FloatArray, *, group: IntArray | None = None, count: int, votes: int = 1
) -> Choices:
    """So many pairs, each the one that teaches most after those before it, and the gain of each.

    `group` says which documents votes have joined; without it none are. One of a pair is in the main group, which
    grows by every choice, and a pair is chosen again until it has 4 votes; where no pair is left, there are fewer.
    The gain of a pair only falls as votes come in. So it is enough to look at the pairs with the greatest gains, and at
    all of them anew only when the best falls below what another pair of the main group had.

    Examples:
        >>> belief = Belief(mean=np.zeros(3), spread=4 * np.eye(3))
        >>> first, second, gain = most_telling(belief, np.array([1.0, 1.0, 0.5]), count=3)
        >>> list(zip(first.tolist(), second.tolist())), gain.round(3).tolist()
        ([(0, 1), (0, 2), (1, 2)], [0.549, 0.368, 0.26])
    """
    size, most = len(belief.mean), max(COPIES // votes, 1)
    group = np.arange(size) if group is None else group
    inside = main_group(group, weight)
    first, second = np.triu_indices(size, 1)
    told = votes * Outcome().information(belief.mean[first] - belief.mean[second])
    weigh = (weight[first] + weight[second]) / 4
    left = np.full(len(first), most)  # how often each pair can still be chosen
    spread, chosen, gains = belief.spread, list[int](), list[float]()
    while len(chosen) < count:
        own = np.diag(spread)
        variance = own[first] + own[second] - 2 * spread[first, second]
        gain = np.where(left > 0, weigh * np.log1p(told * variance), NOTHING)
        near = _greatest(gain, inside[first] | inside[second])
        bound = _best_of_each(gain, near, first, second, size)
        variance, one, other, said, counts = variance[near], first[near], second[near], told[near], weigh[near]
        moved = np.empty((min(count - len(chosen), TURN), size))  # what each vote takes from the covariance, as m mᵀ
        step = 0
        while step < len(moved):
            allowed = (left[near] > 0) & (inside[one] | inside[other])
            gain = np.where(allowed, counts * np.log1p(said * variance), NOTHING)
            best = int(gain.argmax())
            if gain[best] < max(bound[inside].max(), 0.0):
                break
            chosen.append(int(near[best]))
            gains.append(float(gain[best]))
            left[near[best]] -= 1
            i, j = one[best], other[best]
            inside |= (group == group[i]) | (group == group[j])
            before = moved[:step]
            along = spread[:, i] - spread[:, j] - (before[:, i] - before[:, j]) @ before
            moved[step] = along * np.sqrt(said[best] / (1 + said[best] * variance[best]))
            variance = variance - (moved[step, one] - moved[step, other]) ** 2
            step += 1
        if not step:  # even after a look at all
            break
        spread = spread - moved[:step].T @ moved[:step]
    return first[chosen], second[chosen], np.array(gains)


def _greatest(gain: FloatArray, allowed: NDArray[np.bool_]) -> IntArray:
    """The pairs with the greatest gains, of those that are allowed and of those that may come to be, in order."""
    parts = [np.flatnonzero(allowed), np.flatnonzero(~allowed)]
    kept = [some if len(some) <= KEPT else some[np.argpartition(-gain[some], KEPT - 1)[:KEPT]] for some in parts]
    return np.sort(np.concatenate(kept))


def _best_of_each(gain: FloatArray, near: IntArray, first: IntArray, second: IntArray, size: int) -> FloatArray:
    """For each document the greatest gain of its pairs that are not near."""
    best = np.full(size, NOTHING)
    rest = np.ones(len(gain), dtype=bool)
    rest[near] = False
    for side in (first, second):
        np.maximum.at(best, side[rest], gain[rest])
    return best
