"""Do the gold labels fit the pool, and is the judge equally good everywhere? Reported, never a gate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.gold.correction.difference import GoldSample
from ringtrue.gold.correction.pool import Pool
from ringtrue.gold.correction.score_tests import normal_p

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = [
    "DOUBTFUL",
    "Check",
    "alike_p",
    "check_by_test",
    "checked",
    "drawn_p",
    "rank_bands",
    "rank_check",
    "share_p",
    "stands_for",
]

PERMUTATIONS = 999
NUMBERS = 4_000_000  # in memory at once
DOUBTFUL = 0.01  # several checks are made: none should cry at every twentieth good sample
FEW_LABELS, FEW_QUERIES = 30, 10
NOTHING = 1e-9  # of a statistic that is rounding alone
BANDS = (3, 10)  # the last ranks of what people see first, and of what they look at
FAR_OFF, FAR_SURE = 0.1, 4.0  # a sample that stands for so little of a run, so surely, was not drawn from it


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One look at the gold labels: what was found in words, and whether it gives reason to doubt.

    Examples:
        >>> print(Check(name="number of labels", passed=False, p_value=None, text="only 12 gold labels"))
        number of labels: only 12 gold labels
    """

    name: str
    passed: bool
    p_value: float | None
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"

    def as_dict(self) -> dict[str, object]:
        """The check as plain data, in the key order of the command line's JSON."""
        return {"check": self.name, "passed": self.passed, "p_value": self.p_value, "text": self.text}


def drawn_p(sample: float, pool: float, error: float) -> float | None:
    """How often a sample has a mean as far from that of the pool it was drawn from; None where it cannot differ.

        p = 2 · P(Z > |sample − pool| / error)

    Examples:
        >>> round(drawn_p(0.63, 0.40, 0.05), 6)
        4e-06
    """
    return normal_p(sample - pool, error) if error > 0 else None


def share_p(sample: float, pool: float, labels: float) -> float | None:
    """The same for the share that bronze calls relevant, among so many independent labels: error = √(m(1 − m) / n).

    Examples:
        >>> f"{share_p(60 / 143, 0.634, 143):.0e}"
        '1e-07'
    """
    return drawn_p(sample, pool, math.sqrt(pool * (1 - pool) / labels))


def check_by_test(name: str, p: float | None, told: str, doubt: str) -> Check:
    """The check that a test makes: what was found, and the doubt that a small p gives reason for.

    Examples:
        >>> print(check_by_test("sample against pool", 0.001, "bronze calls 9% relevant", "it is no draw from it"))
        sample against pool: bronze calls 9% relevant: it is no draw from it
    """
    passed = p is None or p >= DOUBTFUL
    return Check(name=name, passed=passed, p_value=p, text=told if passed else f"{told}: {doubt}")


def rank_bands(depth: int) -> dict[str, tuple[int, int]]:
    """The ranks down to `depth` in a few bands: the name of each, and its first and last rank.

    Examples:
        >>> rank_bands(20)
        {'ranks 1–3': (1, 3), 'ranks 4–10': (4, 10), 'ranks 11–20': (11, 20)}
    """
    ends = [0, *(end for end in BANDS if end < depth), depth]
    bands = [(before + 1, end) for before, end in pairwise(ends)]
    return {f"rank {low}" if low == high else f"ranks {low}–{high}": (low, high) for low, high in bands}


def checked(
    pool: Pool, sample: GoldSample, *, relevant: NDArray[np.bool_], called: NDArray[np.bool_],
    among: NDArray[np.bool_], rng: np.random.Generator,
) -> list[Check]:  # fmt: skip
    """All checks: `relevant` by gold for each label of the sample, `called` relevant by bronze for the whole pool.

    `among` are the documents of the pool that count: a sample may have left out the others.
    """
    return [
        _against_pool(sample, called, among),
        rank_check(pool, sample, among),
        _better_than_chance(sample, relevant, called[sample.places]),
        *_alike(pool, sample, relevant, called[sample.places], rng),
        _enough(sample),
        _over_queries(pool, sample),
    ]


def stands_for(weights: csr_array, sample: GoldSample) -> tuple[FloatArray, FloatArray]:
    """How much of each row's weight the sample stands for by its probabilities, as a share, and how sure that is.

    Σ_S |W|/π should be Σ |W|, give or take √Σ_S (1 − π)(W/π)², which is as much too small as the sample stands for too
    little. The second is how many of these it is off; 0 where no label tells.
    """
    size = abs(weights)
    whole = np.asarray(size.sum(axis=1)).ravel()
    drawn = size[:, sample.places].toarray() / sample.prob
    found = drawn.sum(axis=1)
    error = np.sqrt((drawn**2 * (1 - sample.prob)).sum(axis=1))
    share = np.divide(found, whole, out=np.ones(len(whole)), where=whole > 0)
    error *= np.maximum(1.0, np.divide(1.0, share, out=np.ones(len(whole)), where=share > 0))
    certain = np.where(np.isclose(found, whole) | (found == 0), 0.0, np.inf)
    sure = np.divide(found - whole, error, out=certain, where=error > 0)
    return share, np.abs(sure)


def _against_pool(sample: GoldSample, called: NDArray[np.bool_], among: NDArray[np.bool_]) -> Check:
    """Is bronze as generous on the sample as on the pool it was drawn from?"""
    inside = among[sample.places]
    if not among.any():
        return Check(name="sample against pool", passed=True, p_value=None,
                     text="there is no document to compare by")  # fmt: skip
    if not inside.any():
        return Check(name="sample against pool", passed=False, p_value=None,
                     text="no gold label is on a document that counts here")  # fmt: skip
    pool = float(called[among].mean())
    share, p = _weighted(called[sample.places][inside], sample.prob[inside], pool)
    told = f"bronze calls {share:.0%} of the gold sample relevant (weighted), and {pool:.0%} of its pool"
    doubt = "the sample was not drawn from this pool with these probabilities"
    return check_by_test("sample against pool", p, told, doubt)


def rank_check(pool: Pool, sample: GoldSample, among: NDArray[np.bool_]) -> Check:
    """Do the gold documents stand where the pool's do? A sample from the tops says nothing about what is below."""
    inside = among[sample.places]
    best = _best_rank(pool)
    prob = sample.prob[inside]
    if not inside.any() or (prob == 1).all() or not among.any():
        return Check(name="ranks against pool", passed=True, p_value=None, text="there is nothing to compare")
    mean = float(best[among].mean())
    found, p = _weighted(best[sample.places][inside], prob, mean)
    told = f"the best rank of a gold document is {found:.1f} on average (weighted), that of the pool {mean:.1f}"
    return check_by_test("ranks against pool", p, told, "the sample was not drawn from all of it")


def _weighted(values: NDArray[np.bool_] | IntArray, prob: FloatArray, pool: float) -> tuple[float, float | None]:
    """The weighted mean of a sample, and p for the pool that it should be drawn from.

    The error is that of a sample from this very pool: labels that all agree would otherwise have none.
    """
    weight = 1 / prob
    mean = float((weight * values).sum() / weight.sum())
    error = float(np.sqrt((((values - pool) * weight) ** 2 * (1 - prob)).sum()) / weight.sum())
    return mean, drawn_p(mean, pool, error)


def _better_than_chance(sample: GoldSample, relevant: NDArray[np.bool_], called: NDArray[np.bool_]) -> Check:
    """Does bronze call relevant documents so more often than others?"""
    name = "better than chance"
    if relevant.all() or not relevant.any():
        return Check(name=name, passed=True, p_value=None, text="gold has labels of one kind only")
    weight = 1 / sample.prob
    yes, no = (float((weight * called)[kind].sum() / weight[kind].sum()) for kind in (relevant, ~relevant))
    told = f"bronze calls {yes:.0%} of what gold calls relevant so, and {no:.0%} of the rest"
    doubt = "" if yes > no else ": are the gold labels beside their documents, and --bronze-rel as it should be?"
    return Check(name=name, passed=yes > no, p_value=None, text=told + doubt)


def _alike(
    pool: Pool, sample: GoldSample, relevant: NDArray[np.bool_], called: NDArray[np.bool_], rng: np.random.Generator
) -> list[Check]:
    """Does the judge err alike at every rank, on every run, in every query? By permuting who was right."""
    right = relevant == called
    ends = [last for _, last in rank_bands(pool.depth).values()]
    band = np.searchsorted(ends, _best_rank(pool)[sample.places])
    place = np.full(len(pool), -1)
    place[sample.places] = np.arange(len(sample))
    drawn = place[pool.shown] >= 0
    member = np.zeros((len(sample), len(pool.runs)))
    member[place[pool.shown[drawn]], pool.run[drawn]] = 1
    groups = {
        "rank": _one_of(band),
        "run": member,
        "query": _one_of(pool.query[sample.places]),
    }
    found = []
    for what, grouping in groups.items():
        p = alike_p(right, relevant, grouping, rng.spawn(1)[0])
        passed = p is None or p >= DOUBTFUL
        doubt = f"differs by {what}" if not passed else f"does not visibly differ by {what}"
        found.append(Check(name=f"accuracy by {what}", passed=passed, p_value=p,
                           text=f"how often bronze is right {doubt}"))  # fmt: skip
    return found


def _best_rank(pool: Pool) -> IntArray:
    """The highest place that any run gives each document."""
    best = np.full(len(pool), pool.depth)
    np.minimum.at(best, pool.shown, pool.rank)
    return best


def _one_of(kind: IntArray) -> FloatArray:
    """Documents × kinds that occur: 1 where a document is of the kind."""
    found, which = np.unique(kind, return_inverse=True)
    return np.eye(len(found))[which]


def alike_p(
    right: NDArray[np.bool_], relevant: NDArray[np.bool_], groups: FloatArray, rng: np.random.Generator,
    within: IntArray | None = None,
) -> float | None:  # fmt: skip
    """p for accuracy that is the same in all groups, by permuting who was right; None where nothing can differ.

    `groups` is documents × groups, 1 where a document belongs to one. Relevant and other documents are permuted apart,
    and each query by itself where `within` has the query of each document: where gold judged whole queries, some are
    easier than others, and their documents are no witnesses of their own.
    """
    groups = groups[:, (groups.sum(axis=0) > 0) & (groups.sum(axis=0) < len(groups))]
    query = np.zeros(len(right), dtype=np.int64) if within is None else within
    seen, drawn = 0.0, np.zeros(PERMUTATIONS)
    for kind in (relevant, ~relevant):
        order = np.flatnonzero(kind)[np.argsort(query[kind], kind="stable")]
        hits, member = right[order].astype(np.float64), groups[order]
        _, which, sizes = np.unique(query[order], return_inverse=True, return_counts=True)
        rate = (np.bincount(which, weights=hits) / sizes)[which] if len(order) else hits
        expected, scale = rate @ member, (rate * (1 - rate)) @ member
        kept = scale > 0
        if not kept.any():
            continue
        expected, scale, member = expected[kept], scale[kept], member[:, kept]
        seen += float(((hits @ member - expected) ** 2 / scale).sum())
        ends = np.cumsum(sizes)
        step = max(1, NUMBERS // len(hits))
        for first in range(0, PERMUTATIONS, step):
            some = slice(first, min(first + step, PERMUTATIONS))
            shuffled = np.tile(hits, (some.stop - first, 1))
            for end, size in zip(ends.tolist(), sizes.tolist(), strict=True):
                block = shuffled[:, end - size : end]
                rng.permuted(block, axis=1, out=block)
            drawn[some] += ((shuffled @ member - expected) ** 2 / scale).sum(axis=1)
    if drawn.max() < NOTHING:
        return None
    return float((1 + (drawn >= seen * (1 - 1e-9)).sum()) / (1 + PERMUTATIONS))


def _enough(sample: GoldSample) -> Check:
    passed = len(sample) >= FEW_LABELS
    told = f"{len(sample):,} gold labels among the documents that the runs show"
    return Check(name="number of labels", passed=passed, p_value=None,
                 text=told if passed else f"only {told}: trust the intervals with care")  # fmt: skip


def _over_queries(pool: Pool, sample: GoldSample) -> Check:
    counts = np.bincount(pool.query[sample.places])
    queries, most = int((counts > 0).sum()), int(counts.max())
    all_of_them = len(pool.queries)
    worth = float(counts.sum()) ** 2 / float((counts**2).sum())
    passed = queries >= min(FEW_QUERIES, all_of_them) and worth >= min(FEW_QUERIES / 2, all_of_them / 2)
    told = f"the gold labels lie in {queries} of {all_of_them} queries, at most {most} in one"
    doubt = "" if passed else ": so few queries say little about others"
    return Check(name="spread over queries", passed=passed, p_value=None, text=told + doubt)
