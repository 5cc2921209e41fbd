"""Ratings against labels to be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import MismatchError
from ringtrue.judges.votes import make_votes, require_one_label_each
from ringtrue.messages import Note
from ringtrue.stats.rank_correlation import pair_signs, tau_from_signs
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    from collections.abc import Callable

    from ringtrue.preference.matches import FloatArray, Matches

OVERALL = "all"  # the mean over the queries that have a value


def auc(ratings: FloatArray, relevant: NDArray[np.bool_]) -> float | None:
    """How often a relevant document is rated above another, a tie half: the area under the ROC curve.

        AUC = (Σ_relevant rank − r (r + 1) / 2) / (r · (n − r))    [Mann47]

    None where all are relevant, or none is.

    Examples:
        >>> auc(np.array([3.0, 2.0, 1.0]), np.array([True, False, True]))
        0.5
    """
    relevant_count, other_count = int(relevant.sum()), int((~relevant).sum())
    if not relevant_count or not other_count:
        return None
    ordered = np.sort(ratings)
    below, up_to = (np.searchsorted(ordered, ratings[relevant], side=side) for side in ("left", "right"))
    rank = (below + up_to + 1) / 2  # the mean rank of all that are rated the same
    return float((rank.sum() - relevant_count * (relevant_count + 1) / 2) / (relevant_count * other_count))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GoldComparison:
    """The gold label of each rated document, NaN where it has none, and the least that counts as relevant.

    Documents of different groups, which no chain of votes joins, are not held against each other.
    """

    matches: Matches
    label: FloatArray
    group: NDArray[np.int32]
    rel: float
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, gold: object, matches: Matches, *, rel: float) -> Self:
        """The gold labels of the documents that were compared; labels below 0 say that one was not judged."""
        if OVERALL in matches.queries:
            raise MismatchError(
                "reserved-query",
                f"a query is called '{OVERALL}', which is the name of the mean over queries; rename it",
            )
        judgments = Judgments.of(gold)
        require_one_label_each(make_votes(judgments))
        gold_labels = judgments.frame.filter(pl.col("label") >= 0).select("query", "doc", "label").unique()
        label = (
            matches.docs.join(gold_labels, on=["query", "doc"], how="left", maintain_order="left")["label"]
            .cast(pl.Float64)
            .fill_null(np.nan)
            .to_numpy()
        )
        has_label = ~np.isnan(label)
        if not has_label.any():
            query, doc = matches.docs.row(0)
            raise MismatchError(
                "gold-unlabelled",
                f"gold has no label for any document that was compared, such as '{doc}' of query '{query}'; gold has "
                f"'{gold_labels['doc'][0]}' of query '{gold_labels['query'][0]}'; do both use the same ids?",
            )
        notes = []
        if missing := int((~has_label).sum()):
            text = f"{missing:,} of {len(has_label):,} rated documents have no gold label and are left out of the AUC"
            notes.append(Note("documents-without-gold", text))
        unvoted = gold_labels.select("query").unique().join(matches.docs, on="query", how="anti").height
        if unvoted:
            queries = "1 query of gold has" if unvoted == 1 else f"{unvoted:,} queries of gold have"
            notes.append(Note("queries-without-votes", f"{queries} no preferences, and no ratings"))
        return cls(matches=matches, label=label, group=matches.components(), rel=rel, notes=tuple(notes))

    def aucs(self, ratings: FloatArray) -> dict[str, float | None]:
        """The AUC of each query and their mean; None where all documents are relevant, or none is."""
        return self._score_by_query(ratings, lambda rated, label, group: _grouped_auc(rated, label >= self.rel, group))

    def taus(self, ratings: FloatArray) -> dict[str, float | None]:
        """Kendall's tau-b between ratings and labels, of each query and their mean; None where all labels are equal.

        Where all ratings are equal it is 0, so that all methods have the same queries.
        """
        return self._score_by_query(ratings, _grouped_tau_b)

    def _score_by_query(
        self, ratings: FloatArray, measure: Callable[[FloatArray, FloatArray, NDArray[np.int32]], float | None]
    ) -> dict[str, float | None]:
        start, scores = self.matches.start, {}
        for query, low, high in zip(self.matches.queries, start[:-1], start[1:], strict=True):
            labelled = low + np.flatnonzero(~np.isnan(self.label[low:high]))
            scores[query] = measure(ratings[labelled], self.label[labelled], self.group[labelled])
        defined = [score for score in scores.values() if score is not None]
        return scores | {OVERALL: float(np.mean(defined)) if defined else None}


def _grouped_auc(ratings: FloatArray, relevant: NDArray[np.bool_], group: NDArray[np.int32]) -> float | None:
    """The AUC over the pairs of one group each, all pairs alike."""
    won = pairs = 0.0
    for group_id in np.unique(group):
        in_group = group == group_id
        group_auc = auc(ratings[in_group], relevant[in_group])
        if group_auc is not None:
            pair_count = int(relevant[in_group].sum()) * int((~relevant[in_group]).sum())
            won, pairs = won + group_auc * pair_count, pairs + pair_count
    return won / pairs if pairs else None


def _grouped_tau_b(ratings: FloatArray, label: FloatArray, group: NDArray[np.int32]) -> float | None:
    same = np.equal(*(group[side] for side in np.triu_indices(len(group), k=1)))
    rated, labelled = pair_signs(ratings)[same], pair_signs(label)[same]
    if not labelled.any():
        return None
    return float(tau_from_signs(rated, labelled)) if rated.any() else 0.0
