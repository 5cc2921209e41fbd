"""What rankings by one judge's labels really reach by another's, beside what a confusion matrix predicts."""

from __future__ import annotations

import numpy as np
import polars as pl

from ringtrue.errors import MismatchError, UsageError
from ringtrue.evaluation.measures import FloatArray
from ringtrue.evaluation.measures.graded import tied_dcg
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.ceiling.expected_dcg import ideal_dcg
from ringtrue.judges.ceiling.inputs import (
    Gain,
    label_gains,
    measure_name,
    ordered_confusion_matrix,
    read_document_votes,
    require_matrix,
)
from ringtrue.judges.ceiling.ndcg_ceiling import CeilingMethod, expected_ndcg, require_settings
from ringtrue.judges.ceiling.results import CeilingScatter
from ringtrue.judges.votes import Repeats, Votes, match_pair_labels
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.encoding import cross_tabulate, encode_column
from ringtrue.stats.intervals import estimate_mean

CONSTANT_RANGE = 1e-9  # numbers that differ by less are one
TEXTS = dict.fromkeys(("training", "testing", "query"), pl.String)
SCHEMA = TEXTS | {"documents": pl.Int64, "real": pl.Float64, "predicted": pl.Float64}


def ceiling_scatter(
    labels: object,
    *,
    confusion: Confusion | None = None,
    gain: Gain = "exp",
    k: int | None = None,
    method: CeilingMethod = "exact",
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
        raise UsageError("out-of-range", f"expected a whole number of at least 1, found {pairs!r}", parameter="pairs")
    votes = read_document_votes(labels).resolve_repeats("last" if repeats == "all" else repeats)
    if confusion is not None:
        require_matrix(confusion)
        votes = votes.widen_scale(confusion.labels)
        if unknown := [label for label in votes.labels if label not in confusion.labels]:
            raise MismatchError(
                "labels-outside-matrix",
                f"the judges gave the labels {', '.join(map(str, votes.labels))}, the confusion matrix has "
                f"{', '.join(map(str, sorted(confusion.labels)))}, and not {unknown[0]}; both must be on one scale",
            )
    gains = label_gains(votes.labels, gain)
    rng = np.random.default_rng(0) if rng is None else rng
    query, names = encode_column(votes.items["query"])
    judge_pairs, left_out = _largest_overlaps(votes, pairs)
    frames, single = [], 0
    n_labels = len(votes.labels)
    for (testing, training), meetings in zip(judge_pairs, match_pair_labels(votes, judge_pairs), strict=True):
        item, testing_label, training_label = meetings
        cells = cross_tabulate(query[item], testing_label * n_labels + training_label, len(names), n_labels**2)
        joint = cells.reshape(len(names), n_labels, n_labels)
        counts = joint.sum(axis=2)
        ideal = ideal_dcg(counts, gains, k=k)
        single += int(((ideal > 0) & (counts.sum(axis=1) == 1)).sum())
        rows = np.flatnonzero((ideal > 0) & (counts.sum(axis=1) > 1))
        table = confusion or Confusion(
            rows=votes.judges[testing], columns=votes.judges[training], labels=votes.labels, counts=joint.sum(axis=0)
        )
        matrix = ordered_confusion_matrix(table, counts[rows].sum(axis=0))
        predicted, _ = expected_ndcg(counts[rows], matrix, gains, method=method, k=k, draws=draws, rng=rng)
        frames.append(
            pl.DataFrame(
                {
                    "training": [votes.judges[training]] * len(rows),
                    "testing": [votes.judges[testing]] * len(rows),
                    "query": [names[int(row)] for row in rows],
                    "documents": counts[rows].sum(axis=1),
                    "real": tied_dcg(joint[rows], gains, k=k) / ideal[rows],
                    "predicted": predicted,
                },
                schema=SCHEMA,
            )
        )
    points = pl.concat(frames)
    difference = (pl.col("real") - pl.col("predicted")).mean()
    differences = points.group_by("query", maintain_order=True).agg(difference)["real"]
    notes = []
    if left_out:
        text = f"{left_out:,} more pairs of judges, with fewer documents in common, not taken"
        more = Suggestion("takes more", pairs=...)
        notes.append(Note("pairs-left-out", text, parameter="pairs", suggestions=[more]))
    if single:
        lists = f"{format_count(single, 'list')} of one document left out of the scatter"
        notes.append(Note("single-document-lists", f"{lists}: there is nothing to rank"))
    return CeilingScatter(
        points=points,
        pairs=len(judge_pairs),
        correlation=_pearson(points["real"].to_numpy(), points["predicted"].to_numpy()),
        difference=estimate_mean(differences.to_numpy(), level=level),
        measure=measure_name(gain, k),
        single=single,
        notes=tuple(notes),
    )


def _largest_overlaps(votes: Votes, limit: int) -> tuple[list[tuple[int, int]], int]:
    """The pairs of judges with the most items in common, both ways, and how many more there are."""
    chosen, left_out = votes.overlapping_judges(limit)
    if not chosen:
        is_alone = len(votes.judges) == 1
        reason = f"only one judge ('{votes.judges[0]}') labelled" if is_alone else "no document has two judges"
        raise MismatchError(
            "one-judge" if is_alone else "no-shared-items", f"{reason}: there is no pair of judges to compare"
        )
    return [direction for pair in chosen for direction in (pair, pair[::-1])], left_out


def _pearson(real: FloatArray, predicted: FloatArray) -> float | None:
    if len(real) < 2 or np.ptp(real) < CONSTANT_RANGE or np.ptp(predicted) < CONSTANT_RANGE:
        return None
    return float(np.corrcoef(real, predicted)[0, 1])
