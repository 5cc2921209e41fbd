"""Every measure once more, slowly and plainly, for one list: labels by rank (None: nobody judged), and the pool.

Written from the textbook definitions, without a look at the vectorised formulas.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log2

Ranking = list[int | None]


def is_relevant(label: int | None, rel: int) -> bool:
    return label is not None and label >= rel


def total_relevant(pool: list[int], rel: int) -> int:
    return sum(label >= rel for label in pool)


def hits(ranking: Ranking, k: int, rel: int) -> int:
    return sum(is_relevant(label, rel) for label in ranking[:k])


def precision(ranking: Ranking, pool: list[int], k: int, rel: int = 1) -> float:
    return hits(ranking, k, rel) / k


def recall(ranking: Ranking, pool: list[int], k: int, rel: int = 1) -> float:
    relevant = total_relevant(pool, rel)
    return hits(ranking, k, rel) / relevant if relevant else 0.0


def f(ranking: Ranking, pool: list[int], k: int, beta: float = 1.0) -> float:
    p, r = precision(ranking, pool, k), recall(ranking, pool, k)
    return (1 + beta**2) * p * r / (beta**2 * p + r) if p + r else 0.0


def average_precision(ranking: Ranking, pool: list[int], k: int | None = None, rel: int = 1) -> float:
    ranks = [i for i, label in enumerate(ranking, start=1) if is_relevant(label, rel) and (k is None or i <= k)]
    relevant = total_relevant(pool, rel)
    return sum(precision(ranking, pool, i, rel) for i in ranks) / relevant if relevant else 0.0


def reciprocal_rank(ranking: Ranking, pool: list[int], rel: int = 1) -> float:
    return next((1 / i for i, label in enumerate(ranking, start=1) if is_relevant(label, rel)), 0.0)


def r_precision(ranking: Ranking, pool: list[int], mult: str = "1") -> float:
    cut = ceil(Fraction(mult) * total_relevant(pool, 1))
    return precision(ranking, pool, cut) if cut else 0.0


def interpolated_precision(ranking: Ranking, pool: list[int], level: str) -> float:
    relevant = total_relevant(pool, 1)
    if not relevant:
        return 0.0
    reached = [
        precision(ranking, pool, k)
        for k in range(1, len(ranking) + 1)
        if Fraction(hits(ranking, k, 1), relevant) >= Fraction(level)
    ]
    return max(reached, default=0.0)


def precision_at_recall(ranking: Ranking, pool: list[int], level: str) -> float:
    relevant = total_relevant(pool, 1)
    for k in range(1, len(ranking) + 1):
        found = hits(ranking, k, 1)
        if found and Fraction(found, relevant) >= Fraction(level):
            return precision(ranking, pool, k)
    return 0.0


def gain(label: int | None, form: str = "log2") -> float:
    if label is None or label <= 0:
        return 0.0
    return float(label) if form == "log2" else 2.0**label - 1


def dcg(ranking: Ranking, pool: list[int], k: int | None = None, form: str = "log2", zipf: bool = False) -> float:
    return sum(gain(label, form) / (i if zipf else log2(i + 1)) for i, label in enumerate(ranking[:k], start=1))


def ndcg(ranking: Ranking, pool: list[int], k: int | None = None, form: str = "log2", zipf: bool = False) -> float:
    ideal = dcg(sorted(pool, reverse=True), pool, k, form, zipf)
    return dcg(ranking, pool, k, form, zipf) / ideal if ideal else 0.0


def gap(ranking: Ranking, pool: list[int], shares: dict[int, float], k: int | None = None) -> float:
    worth = [shares.get(label or 0, 0.0) for label in ranking]
    whole = sum(shares.get(label, 0.0) for label in pool)
    found = sum(min(worth[m], worth[i]) / (i + 1) for i in range(len(ranking[:k])) for m in range(i + 1))
    return found / whole if whole else 0.0


def sdcg(ranking: Ranking, pool: list[int], k: int, top: int) -> float:
    best = dcg([top] * k, pool, k)
    return dcg(ranking, pool, k) / best if best else 0.0


def err(ranking: Ranking, pool: list[int], top: int, k: int | None = None) -> float:
    value, going_on = 0.0, 1.0
    for i, label in enumerate(ranking[:k], start=1):
        stop = gain(label, "exp-log2") / 2**top
        value += going_on * stop / i
        going_on *= 1 - stop
    return value


def rbp(ranking: Ranking, pool: list[int], p: float, rel: int = 1) -> float:
    return (1 - p) * sum(p ** (i - 1) for i, label in enumerate(ranking, start=1) if is_relevant(label, rel))


def rbp_residual(ranking: Ranking, pool: list[int], p: float) -> float:
    unjudged = sum((1 - p) * p ** (i - 1) for i, label in enumerate(ranking, start=1) if label is None or label < 0)
    return unjudged + p ** len(ranking)


def bpref(ranking: Ranking, pool: list[int]) -> float:
    relevant = total_relevant(pool, 1)
    nonrelevant = sum(label == 0 for label in pool)
    value, above = 0.0, 0
    for label in ranking:
        if label == 0:
            above += 1
        elif is_relevant(label, 1):
            value += 1 - (min(above, relevant) / min(nonrelevant, relevant) if above else 0.0)
    return value / relevant if relevant else 0.0


def inferred_ap(ranking: Ranking, pool: list[int]) -> float:
    relevant, value, eps = total_relevant(pool, 1), 0.0, 0.00001
    for i, label in enumerate(ranking, start=1):
        if not is_relevant(label, 1):
            continue
        above = [other for other in ranking[: i - 1] if other is not None]
        rel = sum(is_relevant(other, 1) for other in above)
        nonrel = sum(other == 0 for other in above)
        value += 1 / i
        if i > 1:
            value += ((i - 1) / i) * (len(above) / (i - 1)) * (rel + eps) / (rel + nonrel + 2 * eps)
    return value / relevant if relevant else 0.0


def nonrelevant(ranking: Ranking, pool: list[int], rel: int = 1, size: int | None = None) -> int:
    """All that is not relevant in a collection of this size, or of the judged and the retrieved documents."""
    known = len(pool) + sum(label is None for label in ranking)
    return (known if size is None else size) - total_relevant(pool, rel)


def auc(ranking: Ranking, pool: list[int], rel: int = 1, size: int | None = None) -> float:
    """Every pair of a relevant and another document; what was not retrieved is tied at the end."""
    found = [is_relevant(label, rel) for label in ranking]
    last = len(ranking)
    good = [i for i, yes in enumerate(found) if yes] + [last] * (total_relevant(pool, rel) - sum(found))
    others = [i for i, yes in enumerate(found) if not yes]
    others += [last] * (nonrelevant(ranking, pool, rel, size) - len(others))
    won = sum(1.0 if i < j else 0.5 if i == j else 0.0 for i in good for j in others)
    return won / (len(good) * len(others)) if good and others else 0.0


def judged(ranking: Ranking, pool: list[int], k: int) -> float:
    top = ranking[:k]
    return sum(label is not None and label >= 0 for label in top) / len(top) if top else 0.0


def condensed(ranking: Ranking) -> Ranking:
    return [label for label in ranking if label is not None and label >= 0]
