"""The ways to spend labels, and the variance of what each estimates.

Throughout there are n queries, K documents of each that gold may be asked about (the top k, or for a comparison those
that only one of the two runs has there), and m gold labels. Queries are a sample of all that there could be: even with
gold on every document the mean has the variance S²/n, with S the sd of the gold score over queries. What a sample of
documents adds comes on top of that, and depends on the judge:

    V = S²/n + B·(1/m − 1/(nK))    [Sarndal92]

for m of the nK documents drawn at random, with B the variance of what a gold label adds to what is known of a document.
This is exact for any judge, also for one whose errors go together within a query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from ringtrue.gold.planning.assumptions import Assumptions
from ringtrue.gold.planning.goals import Array

MIN_GOLD_LABELS = 30  # below, no interval can be trusted
MIN_STRATUM_RATE = 0.1  # of the uniform rate, for a stratum where the judge seems never to err
UNLIMITED = 1e12


class Method(Protocol):
    """A way to spend n queries and m gold labels.

    `any_judge` is whether it holds whatever errors the judge makes; `bronze` whether the bronze judge labels every
    document; `normal` whether intervals take the normal quantile, and not Student's with n − 1 degrees of freedom.
    """

    name: ClassVar[str]
    any_judge: ClassVar[bool]
    bronze: ClassVar[bool]

    @property
    def normal(self) -> bool:
        """Whether intervals take the normal quantile."""
        ...

    def variance(self, queries: Array, gold: Array) -> Array:
        """Of the estimate, with so many queries and gold labels."""
        ...

    def min_gold(self, queries: Array) -> Array:
        """The fewest gold labels that it can do with."""
        ...

    def max_gold(self, queries: Array) -> Array:
        """The most gold labels that there are to have."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentMethod:
    """What the methods have in common that ask gold about the documents in question: `between_variance` is S²."""

    documents: float
    between_variance: float
    normal: bool = False

    def min_gold(self, queries: Array) -> Array:
        """What an interval can rest on."""
        return np.minimum(MIN_GOLD_LABELS, self.max_gold(queries))

    def max_gold(self, queries: Array) -> Array:
        """As many as there are documents."""
        return np.maximum(np.floor(queries * self.documents), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class AllGold(DocumentMethod):
    """Gold judges every document, and there is no bronze judge: V = S²/n."""

    name: ClassVar[str] = "gold"
    any_judge: ClassVar[bool] = True
    bronze: ClassVar[bool] = False

    def variance(self, queries: Array, gold: Array) -> Array:
        """Of the estimate, with so many queries and gold labels."""
        return np.asarray(self.between_variance / queries + 0 * gold, dtype=np.float64)

    def min_gold(self, queries: Array) -> Array:
        """All of them."""
        return self.max_gold(queries)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadGold(DocumentMethod):
    """Gold judges a few documents of each query, as many of one as of the other, and there is no bronze judge.

        V = S²/n + W/n · (E[1/r] − 1/K),    W = K/(K−1) · (B − S²)

    r is the number of labels of a query: m/n, or the whole numbers next to it. W is the variance within a query. With
    one label of each query V = B/m, as in a sample of single documents.
    """

    name: ClassVar[str] = "gold sample"
    any_judge: ClassVar[bool] = True
    bronze: ClassVar[bool] = False
    label_variance: float

    def variance(self, queries: Array, gold: Array) -> Array:
        """Of the estimate, with so many queries and gold labels."""
        labels_per_query = np.maximum(gold / queries, 1)
        fewer = np.floor(labels_per_query)
        inverse = (1 - (labels_per_query - fewer)) / fewer + (labels_per_query - fewer) / (fewer + 1)
        within = 0.0
        if self.documents > 1:
            within = self.documents / (self.documents - 1) * max(self.label_variance - self.between_variance, 0)
        sampling_variance = within * np.maximum(inverse - 1 / self.documents, 0) / queries
        return np.asarray(self.between_variance / queries + sampling_variance, dtype=np.float64)

    def min_gold(self, queries: Array) -> Array:
        """One of each query, where each has one."""
        return np.minimum(queries, self.max_gold(queries))


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomDifference(DocumentMethod):
    """The difference estimator: bronze on every document, gold on some of them, drawn at random.

        B = jP(1−P) + (1−j)Q(1−Q)    [Angelopoulos23]

    j is the share that bronze calls relevant, P and Q the shares of those and of the others that gold calls relevant.
    """

    name: ClassVar[str] = "difference"
    any_judge: ClassVar[bool] = True
    bronze: ClassVar[bool] = True
    label_variance: float

    def variance(self, queries: Array, gold: Array) -> Array:
        """Of the estimate, with so many queries and gold labels."""
        sampling_variance = self.label_variance * np.maximum(1 / gold - 1 / (queries * self.documents), 0)
        return np.asarray(self.between_variance / queries + sampling_variance, dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomGold(RandomDifference):
    """The same without a bronze judge: B = θ(1−θ)."""

    name: ClassVar[str] = "gold sample"
    bronze: ClassVar[bool] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StratifiedDifference(DocumentMethod):
    """The difference estimator with gold drawn apart from what bronze calls relevant and from the rest.

        V = S²/n + Σ_h w_h² v_h · (1/m_h − 1/(w_h nK)),    m_h ∝ w_h √v_h    [Neyman34]

    with w = (j, 1−j) and v = (P(1−P), Q(1−Q)): gold goes where the bronze label leaves most doubt. No stratum gets
    fewer than a tenth of what it would at random, or more than it has.
    """

    name: ClassVar[str] = "stratified"
    any_judge: ClassVar[bool] = True
    bronze: ClassVar[bool] = True
    shares: tuple[float, float]
    label_variances: tuple[float, float]

    def allocate(self, queries: Array, gold: Array) -> tuple[Array, Array]:
        """How many gold labels go to what bronze calls relevant, and how many to the rest."""
        share, label_sd = np.array(self.shares), np.sqrt(self.label_variances)
        total = share @ label_sd
        allocation = share * label_sd / total if total > 0 else share
        allocation = np.maximum(allocation, MIN_STRATUM_RATE * share)
        allocation /= allocation.sum()
        available = np.asarray(queries)[..., None] * self.documents * share
        first = np.clip(np.asarray(gold) * allocation[0], np.asarray(gold) - available[..., 1], available[..., 0])
        return first, np.asarray(gold) - first

    def variance(self, queries: Array, gold: Array) -> Array:
        """Of the estimate, with so many queries and gold labels."""
        sampling_variance = np.zeros(np.broadcast(queries, gold).shape)
        for labels, share, label_variance in zip(
            self.allocate(queries, gold), self.shares, self.label_variances, strict=True
        ):
            available = queries * self.documents * share
            sampling_variance += share**2 * label_variance * np.maximum(1 / np.maximum(labels, 1e-9) - 1 / available, 0)
        return np.asarray(self.between_variance / queries + sampling_variance, dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateInversion:
    """The bronze score corrected by the judge's rates, which are measured on gold labels from elsewhere.

        V = (s²/n + D²/m) / J²,    D = θ√(m_R(1−m_R)) + (1−θ)√(m_N(1−m_N))    [Goldberg17], eq. 7

    s is the sd of the bronze score over queries and J = m_R + m_N − 1; gold has θ√(m_R(1−m_R)) of its labels on
    relevant documents for each (1−θ)√(m_N(1−m_N)) on others, which makes V smallest. Holds where the judge errs on
    these documents as often as on those.
    """

    name: ClassVar[str] = "confusion"
    any_judge: ClassVar[bool] = False
    bronze: ClassVar[bool] = True
    normal: bool = True
    between_variance: float
    rate_sds: tuple[float, float]
    youden: float

    def allocate(self, gold: Array) -> tuple[Array, Array]:
        """How many gold labels are of relevant documents, and how many of others."""
        total = sum(self.rate_sds)
        first = np.asarray(gold) * (self.rate_sds[0] / total if total else 0.5)
        return first, gold - first

    def variance(self, queries: Array, gold: Array) -> Array:
        """Of the estimate, with so many queries and gold labels."""
        rate_variance = sum(self.rate_sds) ** 2
        return np.asarray((self.between_variance / queries + rate_variance / gold) / self.youden**2, dtype=np.float64)

    def min_gold(self, queries: Array) -> Array:
        """What an interval can rest on."""
        return np.full(np.shape(queries), float(MIN_GOLD_LABELS))

    def max_gold(self, queries: Array) -> Array:
        """No end: they need not be of these documents."""
        return np.full(np.shape(queries), UNLIMITED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedJudge:
    """The paired test on the bronze scores alone: V = var(d)/(nJ²), d the difference of a query by bronze labels.

    Holds where the judge errs alike on both runs. No gold label could tell whether that is so.
    """

    name: ClassVar[str] = "shared judge"
    any_judge: ClassVar[bool] = False
    bronze: ClassVar[bool] = True
    between_variance: float
    youden: float
    normal: bool = False

    def variance(self, queries: Array, gold: Array) -> Array:
        """Of the estimate, with so many queries."""
        return np.asarray(self.between_variance / queries / self.youden**2 + 0 * gold, dtype=np.float64)

    def min_gold(self, queries: Array) -> Array:
        """None."""
        return np.zeros(np.shape(queries))

    def max_gold(self, queries: Array) -> Array:
        """None."""
        return np.zeros(np.shape(queries))


def relative_efficiency(method: Method, gold_baseline: RandomGold, queries: int, gold: int) -> float | None:
    """How many gold labels by themselves, drawn at random for the same queries, do the work of one of these.

    None where there is no gold label, or where gold on every document would do worse.

    Examples:
        >>> baseline = RandomGold(documents=10, between_variance=0.09, label_variance=0.25)
        >>> method = RandomDifference(documents=10, between_variance=0.09, label_variance=0.125)
        >>> round(relative_efficiency(method, baseline, 10_000, 100), 4)
        1.998
    """
    if not gold:
        return None
    n, m = np.array(float(queries)), np.array(float(gold))
    sampling_variance = float(method.variance(n, m)) - gold_baseline.between_variance / queries
    inverse = 1 / (queries * gold_baseline.documents) + sampling_variance / gold_baseline.label_variance
    return None if sampling_variance < -1e-12 else 1 / inverse / gold


def available_methods(assumptions: Assumptions) -> tuple[list[Method], RandomGold]:
    """The ways that can answer, in the order of the table; those that rest on the judge's rates only for J > 0.

    Beside them, gold by itself on documents drawn at random, to measure the others by.
    """
    these_queries, prevalence, score = assumptions.population == "these", assumptions.prevalence, assumptions.score
    weight_squared = assumptions.weight**2
    p, q = assumptions.gold_if_relevant, assumptions.gold_if_not
    label_variances = p * (1 - p) * weight_squared, q * (1 - q) * weight_squared
    mean_label_variance = score * label_variances[0] + (1 - score) * label_variances[1]
    gold_variance = weight_squared * (
        prevalence - assumptions.shift**2 if assumptions.paired else prevalence * (1 - prevalence)
    )
    common: dict[str, Any] = {
        "documents": assumptions.documents,
        "between_variance": 0.0 if these_queries else assumptions.gold_sd**2,
        "normal": these_queries,
    }
    random_gold = RandomGold(label_variance=gold_variance, **common)
    methods: list[Method] = [
        AllGold(**common),
        random_gold if these_queries else SpreadGold(label_variance=gold_variance, **common),
        RandomDifference(label_variance=mean_label_variance, **common),
        StratifiedDifference(shares=(score, 1 - score), label_variances=label_variances, **common),
    ]
    if assumptions.youden <= 0:
        return methods, random_gold
    bronze_variance = assumptions.noise if these_queries else assumptions.bronze_sd**2
    if assumptions.paired:
        shared_judge = SharedJudge(between_variance=bronze_variance, youden=assumptions.youden, normal=these_queries)
        return [*methods, shared_judge], random_gold
    m_r, m_n = assumptions.relevant, assumptions.nonrelevant
    rate_sds = prevalence * math.sqrt(m_r * (1 - m_r)), (1 - prevalence) * math.sqrt(m_n * (1 - m_n))
    inversion = RateInversion(between_variance=bronze_variance, rate_sds=rate_sds, youden=assumptions.youden)
    return [*methods, inversion], random_gold
