"""What rankings by one judge really reach by another, beside what the confusion matrix predicts."""

from __future__ import annotations

import numpy as np
import polars as pl

from ringtrue.errors import MismatchError, UsageError
from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.judges.ceiling.estimate_confusion import documents_only
from ringtrue.judges.ceiling.label_counts import Gain, gains_of, ideal_dcg, measure_name, require_matrix, shares_of
from ringtrue.judges.ceiling.ndcg_ceiling import Method, expected_ndcg, require_settings
from ringtrue.judges.ceiling.results import CeilingScatter
from ringtrue.judges.votes import Repeats, Votes
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.encoding import Codes, codes
from ringtrue.stats.intervals import mean_estimate
from ringtrue.stats.ties import tied_dcg

__all__ = ["ceiling_scatter"]

EQUAL = 1e-9  # numbers that differ by less are one
SCHEMA = {"training": pl.String, "testing": pl.String, "query": pl.String, "documents": pl.Int64, "real": pl.Float64,
          "predicted": pl.Float64}  # fmt: skip


def ceiling_scatter(
    labels: object,
    *,
    confusion: Confusion | None = None,
    gain: Gain = "exp",
    k: int | None = None,
    method: Method = "exact",
    repeats: Repeats | None = None,
    pairs: int = 100,
    draws: int = 1000,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> CeilingScatter:
    """For each pair of judges and each query: nDCG of the ranking by one, scored by the other, real and predicted.

    Real is the expected nDCG when the documents that both labelled are ranked by the training judge's labels, ties in
    random order, and scored by the testing judge's. Predicted is the ceiling from the confusion matrix of the two
    judges on all queries, or from one `confusion` for all, which knows nothing of the query: where the points lie
    along the diagonal, a matrix alone tells how high nDCG can go [Metrikov12]. Every pair is taken both ways, the
    `pairs` with the most documents in common first. Queries in which the testing judge gave nothing any worth, and
    those with one document in common, which any ranking puts first, are left out.

    Examples:
        >>> docs, judges = ["a", "a", "b", "b", "c", "c"], ["x", "y"] * 3
        >>> labels = {"query": ["q"] * 6, "doc": docs, "judge": judges, "label": [1, 1, 0, 1, 0, 0]}
        >>> ceiling_scatter(labels).points.select("training", "testing", pl.col("real", "predicted").round(3)).rows()
        [('y', 'x', 0.815, 0.835), ('x', 'y', 0.96, 0.948)]
    """
    require_settings(method, k, draws)
    if not (isinstance(pairs, int) and pairs >= 1):
        raise UsageError(f"pairs is a whole number of at least 1; found {pairs!r}")
    votes = documents_only(labels).settled("last" if repeats == "all" else repeats)
    if confusion is not None:
        require_matrix(confusion)
        votes = votes.on(confusion.labels)
        if unknown := [label for label in votes.labels if label not in confusion.labels]:
            raise MismatchError(
                f"the judges gave the labels {', '.join(map(str, votes.labels))}, the confusion matrix has "
                f"{', '.join(map(str, sorted(confusion.labels)))}, and not {unknown[0]}; both must be on one scale"
            )
    worth = gains_of(votes.labels, gain)
    rng = np.random.default_rng(0) if rng is None else rng
    query, names = codes(votes.items["query"])
    chosen, left = _most_in_common(votes, pairs)
    frames, single = [], 0
    for testing, training in chosen:
        joint = _joint(votes, testing, training, query, len(names))
        counts = joint.sum(axis=2)
        ideal = ideal_dcg(counts, worth, k=k)
        single += int(((ideal > 0) & (counts.sum(axis=1) == 1)).sum())
        some = np.flatnonzero((ideal > 0) & (counts.sum(axis=1) > 1))
        table = confusion or Confusion(rows=votes.judges[testing], columns=votes.judges[training],
                                       labels=votes.labels, counts=joint.sum(axis=0))  # fmt: skip
        matrix = shares_of(table, counts[some].sum(axis=0))
        predicted, _ = expected_ndcg(counts[some], matrix, worth, method=method, k=k, draws=draws, rng=rng)
        frames.append(
            pl.DataFrame(
                {
                    "training": [votes.judges[training]] * len(some),
                    "testing": [votes.judges[testing]] * len(some),
                    "query": [names[int(place)] for place in some],
                    "documents": counts[some].sum(axis=1),
                    "real": tied_dcg(joint[some], worth, k=k) / ideal[some],
                    "predicted": predicted,
                },
                schema=SCHEMA,
            )
        )
    points = pl.concat(frames)
    apart = points.group_by("query", maintain_order=True).agg((pl.col("real") - pl.col("predicted")).mean())["real"]
    notes = [f"{left:,} more pairs of judges, with fewer documents in common, not taken"] if left else []
    if single:
        notes.append(
            f"{single:,} list{'s' * (single != 1)} of one document left out of the scatter: there is nothing to rank"
        )
    return CeilingScatter(
        points=points,
        pairs=len(chosen),
        correlation=_correlation(points["real"].to_numpy(), points["predicted"].to_numpy()),
        difference=mean_estimate(apart.to_numpy(), level=level),
        measure=measure_name(gain, k),
        single=single,
        notes=tuple(notes),
    )


def _most_in_common(votes: Votes, most: int) -> tuple[list[tuple[int, int]], int]:
    """The pairs of judges with the most items in common, both ways, and how many more there are."""
    from scipy.sparse import coo_array, triu

    shape = (len(votes.judges), votes.items.height)
    told = coo_array((np.ones(votes.size, dtype=np.int64), (votes.judge, votes.item)), shape=shape).tocsr()
    met = coo_array(triu(told @ told.T, k=1))
    if not met.nnz:
        who = (
            f"only one judge ('{votes.judges[0]}') labelled" if len(votes.judges) == 1 else "no document has two judges"
        )
        raise MismatchError(f"{who}: there is no pair of judges to compare")
    order = np.lexsort((met.col, met.row, -met.data))[:most]
    chosen = [(int(met.row[place]), int(met.col[place])) for place in order]
    return [way for pair in chosen for way in (pair, pair[::-1])], met.nnz - len(chosen)


def _joint(votes: Votes, testing: int, training: int, query: Codes, queries: int) -> IntArray:
    """How many documents of each query have each label by the one judge and by the other."""
    mine, theirs = (np.flatnonzero(votes.judge == judge) for judge in (testing, training))
    item, one, other = np.intersect1d(votes.item[mine], votes.item[theirs], assume_unique=True, return_indices=True)
    wide = len(votes.labels)
    cell = query[item].astype(np.int64) * wide + votes.label[mine[one]]
    cell = cell * wide + votes.label[theirs[other]]
    return np.bincount(cell, minlength=queries * wide**2).reshape(queries, wide, wide)


def _correlation(one: FloatArray, other: FloatArray) -> float | None:
    if len(one) < 2 or np.ptp(one) < EQUAL or np.ptp(other) < EQUAL:
        return None
    return float(np.corrcoef(one, other)[0, 1])
