"""Do the gold labels fit the pool, and is the judge equally good everywhere?

Checks are reported and refuse nothing; `validity` has when a sample is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.pool import Pool
from ringtrue.gold.correction.score_tests import normal_p
from ringtrue.messages import Note, Suggestion

if TYPE_CHECKING:
    from numpy.typing import NDArray


PERMUTATIONS = 999
MAX_CELLS = 4_000_000  # in memory at once
CHECK_ALPHA = 0.01  # several checks are made: none should cry at every twentieth good sample
MIN_LABELS, MIN_QUERIES = 30, 10
MIN_OF_A_KIND = 10  # relevant labels, and others: of fewer, chance alone may say that bronze is no better than chance
NEGLIGIBLE = 1e-9  # of a statistic that is rounding alone
RANK_BAND_ENDS = (3, 10)  # the last ranks of what people see first, and of what they look at


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One look at the gold labels: what was found in words, and what follows where that gives reason to doubt.

    Examples:
        >>> doubt = Note("few-gold", "trust the intervals with care")
        >>> print(Check(name="number of labels", finding="only 12 gold labels", warning=doubt))
        number of labels: only 12 gold labels: trust the intervals with care
    """

    name: str
    finding: str
    warning: Note | None = None
    p_value: float | None = None

    @property
    def passed(self) -> bool:
        """Whether nothing gives reason to doubt."""
        return self.warning is None

    @property
    def note(self) -> Note | None:
        """What was found and what follows; None where nothing does."""
        return None if self.warning is None else self.warning.changed(text=f"{self.finding}: {self.warning.text}")

    def __str__(self) -> str:
        return f"{self.name}: {self.note or self.finding}"

    def as_dict(self) -> dict[str, object]:
        """The check as plain data, in the key order of the command line's JSON."""
        return {
            "check": self.name,
            "passed": self.passed,
            "p_value": self.p_value,
            "text": self.note or self.finding,
            "code": None if self.warning is None else self.warning.code,
        }


def failed_checks(checks: Iterable[Check]) -> list[Note]:
    """What follows from the checks that give reason to doubt."""
    return [check.note for check in checks if check.note is not None]


def sample_mean_p(sample: float, pool: float, se: float) -> float | None:
    """How often a sample has a mean as far from that of the pool it was drawn from; None where it cannot differ.

        p = 2 · P(Z > |sample − pool| / se)

    Examples:
        >>> round(sample_mean_p(0.63, 0.40, 0.05), 6)
        4e-06
    """
    return normal_p(sample - pool, se) if se > 0 else None


def sample_share_p(sample: float, pool: float, n: float) -> float | None:
    """The same for the share that bronze calls relevant, among so many independent labels: se = √(m(1 − m) / n).

    Examples:
        >>> f"{sample_share_p(60 / 143, 0.634, 143):.0e}"
        '1e-07'
    """
    return sample_mean_p(sample, pool, math.sqrt(pool * (1 - pool) / n))


def check_by_test(name: str, p: float | None, finding: str, warning: Note) -> Check:
    """The check that a test makes: what was found, and the doubt that a small p gives reason for.

    Examples:
        >>> doubt = Note("sample-does-not-fit", "it is no draw from it")
        >>> print(check_by_test("sample against pool", 0.001, "bronze calls 9% relevant", doubt))
        sample against pool: bronze calls 9% relevant: it is no draw from it
    """
    return Check(name=name, p_value=p, finding=finding, warning=None if p is None or p >= CHECK_ALPHA else warning)


def rank_bands(depth: int) -> dict[str, tuple[int, int]]:
    """The ranks down to `depth` in a few bands: the name of each, and its first and last rank.

    Examples:
        >>> rank_bands(20)
        {'ranks 1–3': (1, 3), 'ranks 4–10': (4, 10), 'ranks 11–20': (11, 20)}
    """
    ends = [0, *(end for end in RANK_BAND_ENDS if end < depth), depth]
    bands = [(previous_end + 1, end) for previous_end, end in pairwise(ends)]
    return {f"rank {low}" if low == high else f"ranks {low}–{high}": (low, high) for low, high in bands}


def run_checks(
    pool: Pool,
    sample: GoldSample,
    *,
    relevant: NDArray[np.bool_],
    bronze_relevant: NDArray[np.bool_],
    eligible: NDArray[np.bool_],
    rng: np.random.Generator,
) -> list[Check]:
    """All checks: `relevant` by gold for each label of the sample, `bronze_relevant` for the whole pool.

    `eligible` are the documents of the pool that count: a sample may have left out the others.
    """
    return [
        _check_bronze_share(sample, bronze_relevant, eligible),
        check_ranks(pool, sample, eligible),
        _check_better_than_chance(sample, relevant, bronze_relevant[sample.positions]),
        *_check_accuracy_by_factor(pool, sample, relevant, bronze_relevant[sample.positions], rng),
        _check_label_count(sample),
        _check_query_spread(pool, sample),
    ]


def _check_bronze_share(sample: GoldSample, bronze_relevant: NDArray[np.bool_], eligible: NDArray[np.bool_]) -> Check:
    """Is bronze as generous on the sample as on the pool it was drawn from?"""
    inside = eligible[sample.positions]
    if not eligible.any():
        return Check(name="sample against pool", finding="there is no document to compare by")
    if not inside.any():
        warning = Note("too-few-gold", "nothing corrects what is asked about")
        finding = "no gold label is on a document that counts here"
        return Check(name="sample against pool", finding=finding, warning=warning)
    pool_values = bronze_relevant[eligible]
    pool_share = float(pool_values.mean())
    share, p = _weighted_mean_p(bronze_relevant[sample.positions][inside], sample.prob[inside], pool_values)
    finding = f"bronze calls {share:.0%} of the gold sample relevant (weighted), and {pool_share:.0%} of its pool"
    warning = Note("sample-does-not-fit", "the sample was not drawn from this pool with these probabilities")
    return check_by_test("sample against pool", p, finding, warning)


def check_ranks(pool: Pool, sample: GoldSample, eligible: NDArray[np.bool_]) -> Check:
    """Do the gold documents stand where the pool's do? A sample from the tops says nothing about what is below."""
    inside = eligible[sample.positions]
    best_ranks = _best_ranks(pool)
    prob = sample.prob[inside]
    if not inside.any() or (prob == 1).all() or not eligible.any():
        return Check(name="ranks against pool", finding="there is nothing to compare")
    pool_mean = float(best_ranks[eligible].mean())
    sample_mean, p = _weighted_mean_p(best_ranks[sample.positions][inside], prob, best_ranks[eligible])
    finding = (
        f"the best rank of a gold document is {sample_mean:.1f} on average (weighted), that of the pool {pool_mean:.1f}"
    )
    warning = Note("ranks-do-not-fit", "the sample was not drawn from all of it")
    return check_by_test("ranks against pool", p, finding, warning)


def _weighted_mean_p(
    values: NDArray[np.bool_] | IntArray, prob: FloatArray, pool_values: NDArray[np.bool_] | IntArray
) -> tuple[float, float | None]:
    """The weighted mean of a sample, and p for the pool that it should be drawn from.

    The error is that of a sample from this very pool: labels that all agree would otherwise have none, and few labels
    that all are of the usual kind would have one that is much too small.
    """
    weight, pool_mean = 1 / prob, float(pool_values.mean())
    mean = float((weight * values).sum() / weight.sum())
    squares = np.array([(values - pool_mean) ** 2, np.full(len(values), pool_values.var())])
    se = float(np.sqrt((squares * weight**2 * (1 - prob)).sum(axis=1).max()) / weight.sum())
    return mean, sample_mean_p(mean, pool_mean, se)


def _check_better_than_chance(
    sample: GoldSample, relevant: NDArray[np.bool_], bronze_relevant: NDArray[np.bool_]
) -> Check:
    """Does bronze call relevant documents so more often than others?"""
    name = "better than chance"
    if relevant.all() or not relevant.any():
        return Check(name=name, finding="gold has labels of one kind only")
    weight = 1 / sample.prob
    hit_rate, false_alarm_rate = (
        float((weight * bronze_relevant)[group].sum() / weight[group].sum()) for group in (relevant, ~relevant)
    )
    finding = f"bronze calls {hit_rate:.0%} of what gold calls relevant so, and {false_alarm_rate:.0%} of the rest"
    if hit_rate > false_alarm_rate:
        return Check(name=name, finding=finding)
    fewer = int(min(relevant.sum(), (~relevant).sum()))
    if fewer < MIN_OF_A_KIND:
        kind = "relevant" if relevant.sum() == fewer else "other"
        labels = f"1 {kind} document" if fewer == 1 else f"{fewer} {kind} documents"
        return Check(name=name, finding=f"{finding}, but {labels} are too few to tell")
    warning = Note(
        "judge-at-chance",
        "that is no better than chance; are the gold labels beside their documents?",
        suggestions=[Suggestion("sets the lowest bronze label that counts as relevant", bronze_rel=...)],
    )
    return Check(name=name, finding=finding, warning=warning)


def _check_accuracy_by_factor(
    pool: Pool,
    sample: GoldSample,
    relevant: NDArray[np.bool_],
    bronze_relevant: NDArray[np.bool_],
    rng: np.random.Generator,
) -> list[Check]:
    """Does the judge err alike at every rank, on every run, in every query? By permuting who was right."""
    correct = relevant == bronze_relevant
    ends = [last for _, last in rank_bands(pool.depth).values()]
    band = np.searchsorted(ends, _best_ranks(pool)[sample.positions])
    sample_index = np.full(len(pool), -1)
    sample_index[sample.positions] = np.arange(len(sample))
    sampled = sample_index[pool.doc_index] >= 0
    shown_by_run = np.zeros((len(sample), len(pool.runs)))
    shown_by_run[sample_index[pool.doc_index[sampled]], pool.run[sampled]] = 1
    groups = {
        "rank": _indicator_columns(band),
        "run": shown_by_run,
        "query": _indicator_columns(pool.query[sample.positions]),
    }
    checks = []
    for factor, membership in groups.items():
        p = permutation_p(correct, relevant, membership, rng.spawn(1)[0])
        differs = p is not None and p < CHECK_ALPHA
        verdict = f"differs by {factor}" if differs else f"does not visibly differ by {factor}"
        warning = Note(
            "accuracy-differs",
            "rates measured on one part do not hold for another, and the difference estimator needs none",
        )
        checks.append(check_by_test(f"accuracy by {factor}", p, f"how often bronze is right {verdict}", warning))
    return checks


def _best_ranks(pool: Pool) -> IntArray:
    """The highest place that any run gives each document."""
    ranks = np.full(len(pool), pool.depth)
    np.minimum.at(ranks, pool.doc_index, pool.rank)
    return ranks


def _indicator_columns(kind: IntArray) -> FloatArray:
    """Documents × kinds that occur: 1 where a document is of the kind."""
    kinds, codes = np.unique(kind, return_inverse=True)
    return np.eye(len(kinds))[codes]


def permutation_p(
    correct: NDArray[np.bool_],
    relevant: NDArray[np.bool_],
    groups: FloatArray,
    rng: np.random.Generator,
    within: IntArray | None = None,
) -> float | None:
    """p for accuracy that is the same in all groups, by permuting who was right; None where nothing can differ.

    `groups` is documents × groups, 1 where a document belongs to one. Relevant and other documents are permuted apart,
    and each query by itself where `within` has the query of each document: where gold judged whole queries, some are
    easier than others, and their documents are no witnesses of their own.
    """
    groups = groups[:, (groups.sum(axis=0) > 0) & (groups.sum(axis=0) < len(groups))]
    query = np.zeros(len(correct), dtype=np.int64) if within is None else within
    observed, permuted = 0.0, np.zeros(PERMUTATIONS)
    for stratum in (relevant, ~relevant):
        order = np.flatnonzero(stratum)[np.argsort(query[stratum], kind="stable")]
        hits, membership = correct[order].astype(np.float64), groups[order]
        _, query_codes, sizes = np.unique(query[order], return_inverse=True, return_counts=True)
        rate = (np.bincount(query_codes, weights=hits) / sizes)[query_codes] if len(order) else hits
        expected, scale = rate @ membership, (rate * (1 - rate)) @ membership
        varying = scale > 0
        if not varying.any():
            continue
        expected, scale, membership = expected[varying], scale[varying], membership[:, varying]
        observed += float(((hits @ membership - expected) ** 2 / scale).sum())
        ends = np.cumsum(sizes)
        step = max(1, MAX_CELLS // len(hits))
        for first in range(0, PERMUTATIONS, step):
            batch = slice(first, min(first + step, PERMUTATIONS))
            shuffled = np.tile(hits, (batch.stop - first, 1))
            for end, size in zip(ends.tolist(), sizes.tolist(), strict=True):
                block = shuffled[:, end - size : end]
                rng.permuted(block, axis=1, out=block)
            permuted[batch] += ((shuffled @ membership - expected) ** 2 / scale).sum(axis=1)
    if permuted.max() < NEGLIGIBLE:
        return None
    return float((1 + (permuted >= observed * (1 - 1e-9)).sum()) / (1 + PERMUTATIONS))


def _check_label_count(sample: GoldSample) -> Check:
    finding = f"{len(sample):,} gold labels among the documents that the runs show"
    if len(sample) >= MIN_LABELS:
        return Check(name="number of labels", finding=finding)
    warning = Note("few-gold", "trust the intervals with care")
    return Check(name="number of labels", finding=f"only {finding}", warning=warning)


def _check_query_spread(pool: Pool, sample: GoldSample) -> Check:
    counts = np.bincount(pool.query[sample.positions])
    queries, max_per_query = int((counts > 0).sum()), int(counts.max())
    total_queries = len(pool.queries)
    effective_n = float(counts.sum()) ** 2 / float((counts**2).sum())
    passed = queries >= min(MIN_QUERIES, total_queries) and effective_n >= min(MIN_QUERIES / 2, total_queries / 2)
    finding = f"the gold labels lie in {queries} of {total_queries} queries, at most {max_per_query} in one"
    warning = Note("few-queries", "so few queries say little about others")
    return Check(name="spread over queries", finding=finding, warning=None if passed else warning)
