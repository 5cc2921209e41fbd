"""A sample drawn on: from the same documents, or extended to those that a new run or a deeper cutoff brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.errors import InputError, MismatchError, TableError
from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.gold.correction.gold_sample import (
    MAX_LOST_SHARE,
    GoldSample,
    build_gold_sample,
    compare_ids,
    other_pool_notes,
    split_gold,
)
from ringtrue.gold.correction.pool import Pool
from ringtrue.gold.correction.sampling_frame import SamplingFrame
from ringtrue.gold.sampling.allocation import importance, neyman
from ringtrue.gold.sampling.forecast import ExpectedSample
from ringtrue.gold.sampling.weighted_measure import WeightedMeasure
from ringtrue.messages import Note, Suggestion
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    from numpy.typing import NDArray

WITH_FRAME = Suggestion("extends it to what is new", sampling_frame=...)  # beside the same runs and measure


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EarlierDraw:
    """The gold labels of an earlier draw: `sample` has those of the pool, `complete` also its lost labels.

    `gold` are all of them, wherever their documents are, and `unseen` says which documents of the pool it could not
    draw: none, where it has no sampling frame.
    """

    gold: Judgments
    sample: GoldSample
    complete: GoldSample
    unseen: NDArray[np.bool_]
    frame: SamplingFrame | None

    def continued_probabilities(self, allocation: Allocation) -> FloatArray:
        """The probabilities that its documents in the pool have in both draws together."""
        return continued_probability(self.complete.prob, allocation.earlier_share[self.complete.positions])

    def continued_rows(self, allocation: Allocation) -> pl.DataFrame:
        """Its documents with query, doc, prob and label, empty where it was lost; out of the pool as they were."""
        rows = self.gold.frame.with_row_index("row")
        in_pool = pl.DataFrame({"row": self.complete.rows, "both": self.continued_probabilities(allocation)})
        rows = rows.join(in_pool.cast({"row": pl.UInt32}), on="row", how="left", maintain_order="left")
        prob = pl.coalesce("both", "prob") if "prob" in rows.columns else pl.col("both")
        label = pl.when(pl.col("label") >= 0).then("label")
        return rows.select("query", "doc", prob=prob, label=label).filter(pl.col("prob").is_not_null())


def read_earlier_draw(already: Judgments, sampling_frame: object, pool: Pool) -> tuple[EarlierDraw, list[Note]]:
    """The earlier draw as this pool sees it, and what is doubtful about it."""
    frame = None if sampling_frame is None else SamplingFrame.of(sampling_frame)
    gold = split_gold(already, "pool_stratified", frame)
    try:
        sample, notes = build_gold_sample(gold.judged, "pool_stratified", pool)
    except TableError as error:  # who draws on cannot state another design
        raise error.with_note(error.note.renamed({"design": None})) from error
    if frame is None and other_pool_notes(gold.judged, pool):
        raise InputError(
            "drawn-from-other-pool",
            "the earlier sample was drawn from other runs, another cutoff or by other bronze labels: give the same "
            "runs and measure, or draw a new sample",
            parameter="already",
            suggestions=[WITH_FRAME],
        )
    complete = sample if gold.lost is None else build_gold_sample(gold.complete, "pool_stratified", pool)[0]
    return EarlierDraw(
        gold=gold.complete,
        sample=sample,
        complete=complete,
        unseen=np.zeros(len(pool), dtype=bool) if frame is None else ~frame.holds(pool),
        frame=frame,
    ), [*gold.notes, *(_foreign_note(gold.judged, pool) if notes and frame is None else ())]


def _foreign_note(gold: Judgments, pool: Pool) -> tuple[Note, ...]:
    """How many documents of an earlier sample no run shows."""
    foreign = gold.frame.filter(pl.Series(pool.positions_of(gold.frame) < 0))
    query, doc = foreign.row(0)[:2]
    verb = "is" if foreign.height == 1 else "are"
    note = Note(
        "gold-partly-outside-runs",
        f"{foreign.height:,} of {gold.frame.height:,} documents of the earlier sample {verb} in no run's top "
        f"{pool.depth}, as '{doc}' of query '{query}': without weight here, and kept in the file",
        parameter="already",
    )
    return (note,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EarlierQueries:
    """The whole queries of an earlier draw that the bronze judge knows: their names, and what gold said of them.

    `docs` has query, doc and label of all that was listed of them; a lost label is empty there.
    """

    queries: tuple[str, ...]
    docs: pl.DataFrame
    notes: tuple[Note, ...]

    @property
    def judged(self) -> Judgments:
        """The documents that gold judged."""
        return Judgments(self.docs.drop_nulls("label").select("query", "doc", judge=pl.lit("0"), label="label"))

    def foreign_docs_notes(self, listed: pl.DataFrame) -> list[Note]:
        """How many of its documents nobody lists any more; refused, where that is all of them."""
        foreign = self.docs.join(listed, on=["query", "doc"], how="anti", maintain_order="left")
        if foreign.height == self.docs.height:
            ids = compare_ids(self.docs, listed, "the judgments and runs")
            raise MismatchError(
                "gold-outside-runs",
                f"no document of the earlier sample is in the judgments or shown by a run: {ids}; are the ids of the "
                f"same kind?",
                parameter="already",
            )
        if not foreign.height:
            return []
        query, doc = foreign.row(0)[:2]
        verb = "is" if foreign.height == 1 else "are"
        note = Note(
            "gold-partly-outside-runs",
            f"{foreign.height:,} of {self.docs.height:,} documents of the earlier sample {verb} neither in the "
            f"judgments nor shown by a run, as '{doc}' of query '{query}': kept in the file",
            parameter="already",
        )
        return [note]

    def new_docs_note(self, listed: pl.DataFrame) -> tuple[Note, ...]:
        """How many documents of these queries are listed that the earlier draw did not list."""
        new = listed.filter(pl.col("query").is_in(self.queries)).join(self.docs, on=["query", "doc"], how="anti").height
        if not new:
            return ()
        subject = "1 document is" if new == 1 else f"{new:,} documents are"
        text = f"{subject} new in the {len(self.queries):,} queries that were drawn before: gold judges them too"
        return (Note("new-documents", text),)


def read_earlier_queries(already: Judgments, query_ids: Sequence[str]) -> EarlierQueries:
    """The whole queries of an earlier draw among those of the bronze judge, and what is doubtful about them."""
    gold = split_gold(already, "whole_queries")
    rows, known = gold.complete.frame, set(query_ids)
    drawn = rows["query"].unique(maintain_order=True).to_list()
    foreign = [query for query in drawn if query not in known]
    if len(foreign) == len(drawn):
        raise MismatchError(
            "no-common-query",
            f"no query of the earlier sample is in the judgments: it has '{drawn[0]}', and they have '{query_ids[0]}'; "
            f"are the ids of the same kind?",
            parameter="already",
        )
    notes = list(gold.notes)
    if foreign:
        verb = "is" if len(foreign) == 1 else "are"
        notes.append(
            Note(
                "queries-left-out",
                f"{len(foreign):,} of {len(drawn):,} queries of the earlier sample {verb} not in the judgments, and "
                f"left out: {', '.join(foreign[:3])}{', …' if len(foreign) > 3 else ''}",
                parameter="already",
            )
        )
    if "prob" in rows.columns and rows["prob"].n_unique() == 1:
        total = len(drawn) / float(rows["prob"][0])
        if len(query_ids) > total * (1 + MAX_LOST_SHARE) + 1:
            raise InputError(
                "drawn-from-fewer-queries",
                f"the earlier sample was drawn from {total:,.0f} queries by its probabilities, and the judgments have "
                f"{len(query_ids):,}: the others could not be drawn. Give the judgments of those queries alone, or "
                f"draw a new sample",
                parameter="already",
            )
    rows = rows.filter(~pl.col("query").is_in(foreign))
    return EarlierQueries(
        queries=tuple(query for query in query_ids if query in set(rows["query"])),
        docs=rows.select("query", "doc", label=pl.when(pl.col("label") >= 0).then("label")),
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Allocation:
    """How probable each document of the pool is in the draw to come, and how much the earlier draw weighs for it.

    `unseen` are the documents that the earlier draw could not reach.
    """

    prob: FloatArray
    earlier_share: FloatArray
    unseen: NDArray[np.bool_]

    def final_prob(self, positions: IntArray) -> FloatArray:
        """The probability in both draws together of documents that the earlier one has not drawn."""
        share = self.earlier_share[positions]
        final: FloatArray = np.divide(
            self.prob[positions], 1 - share, out=np.zeros(len(positions)), where=self.prob[positions] > 0
        )
        return np.minimum(final, 1.0)

    def expected_sample(self, earlier: EarlierDraw | None) -> ExpectedSample:
        """The documents that gold will have judged, on average over draws like the one to come."""
        count, prob = self.prob.copy(), self.final_prob(np.arange(len(self.prob)))
        if earlier is not None:
            count[earlier.complete.positions] = 1.0
            prob[earlier.complete.positions] = earlier.continued_probabilities(self)
        return ExpectedSample(count=count, prob=np.where(count > 0, prob, 1.0))


def draw_sizes(parts: Sequence[WeightedMeasure], *, compare: bool) -> FloatArray:
    """What a document adds to the runs, times how far gold may lie from its prediction; several measures count alike.

    A document of size 0 says nothing, and is never drawn.
    """
    size: FloatArray = np.sqrt(
        sum(_scale_to_unit(importance(part.weights, compare=compare) * part.residual_sd) ** 2 for part in parts)
    )
    if not size.any():
        raise InputError(
            "same-documents", "the runs show the same documents at the same ranks: there is nothing to compare"
        )
    return size


def _scale_to_unit(size: FloatArray) -> FloatArray:
    largest = size.max(initial=0.0)
    return size / largest if largest > 0 else size


def allocate(size: FloatArray, budget: int, earlier: EarlierDraw | None = None) -> Allocation:
    """The budget over the documents by their size [Neyman34]; what was drawn earlier is not drawn again.

    Documents that the earlier draw could not reach are a stratum of their own: they come first, and get as many labels
    as they would in one draw of all labels together, as far as the budget goes. The rest continues the earlier draw.
    There the two weigh as many documents as each has, but the
    earlier one no more than lets the new one take as many as it should: an earlier document, drawn with probability π,
    counts share/π + (1 − share) times, a new one (1 − share)/π, and that has to be at least once.
    """
    if earlier is None:
        none = np.zeros(len(size))
        return Allocation(prob=neyman(size, budget), earlier_share=none, unseen=none > 0)
    unseen = earlier.unseen & (size > 0)
    left = size.copy()
    left[earlier.complete.positions] = 0.0
    of_all = (len(earlier.complete) + budget) * size[unseen].sum() / size.sum()
    for_unseen = min(budget, int(unseen.sum()), max(int(np.ceil(of_all)), 1))
    rest, remaining = budget - for_unseen, int(((left > 0) & ~unseen).sum())
    share = 1.0
    prob = np.zeros(len(size))
    if unseen.any():
        prob = neyman(np.where(unseen, left, 0.0), for_unseen)
    if rest and remaining:
        labels = len(earlier.complete)
        share = min(labels / (labels + rest), max(0.0, 1 - rest / remaining))
        prob = prob + neyman(np.where(unseen, 0.0, left), rest, max_prob=1 - share)
    # What the new draw cannot reach keeps its place and its probability.
    return Allocation(
        prob=prob,
        earlier_share=np.where(unseen, 0.0, np.where(size > 0, share, 1.0)),
        unseen=unseen,
    )


def continued_probability(prob: FloatArray, earlier_share: FloatArray | float) -> FloatArray:
    """The probability that a document of the earlier draw has in both together; rounding takes none above 1.

    Examples:
        >>> continued_probability(np.array([0.5, 1.0]), 0.5).round(4).tolist()
        [0.6667, 1.0]
    """
    share = np.broadcast_to(earlier_share, prob.shape)
    return np.where(share == 1, prob, np.minimum(1 / (share / prob + 1 - share), 1.0))
