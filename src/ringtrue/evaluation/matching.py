"""A run against judgments: the judged documents that it retrieved, and the rank of each.

Doc ids are compared as 64-bit hashes; wherever two hashes agree the ids themselves are compared, so the
answer is exact. No list is sorted when it comes in score order already, which is usual: only documents that
share a score are put in order, and only where one of them was judged.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import UsageError
from ringtrue.evaluation.measures import Compat, RankedLists
from ringtrue.tables import Judgments, Run
from ringtrue.tables.groups import IntArray, doc_hash, group_rows

NOT_JUDGED = -1
QUERY_BITS = 24


class Matcher:
    """Judgments made ready for any number of runs.

    `max_label` is the top grade, where these are one judge's labels and others used higher ones.

    Examples:
        >>> matcher = Matcher(Judgments.of({"q1": {"d1": 2, "d2": 0}}))
        >>> lists = matcher.match(Run.of({"q1": {"d2": 3.0, "d9": 2.0, "d1": 1.0}}))
        >>> lists.rank.tolist(), lists.label.tolist()
        ([1, 3], [0, 2])
    """

    def __init__(self, judgments: Judgments, *, max_label: int | None = None) -> None:
        judgments.require_one_label_each()
        frame, self.groups = group_rows(judgments.frame.select("query", "doc", "label"))
        self.queries = self.groups.queries
        self.codes = {query: code for code, query in enumerate(self.queries)}
        if len(self.queries) >= 1 << QUERY_BITS:
            text = f"at most {1 << QUERY_BITS:,} judged queries at once, found {len(self.queries):,}"
            raise UsageError("too-many-queries", text)
        owner = np.repeat(np.arange(len(self.queries)), self.groups.sizes)
        labels = frame["label"].to_numpy().astype(np.int64)
        self.pool = labels[np.lexsort((-labels, owner))]
        self.max_label = int(labels.max()) if max_label is None else max_label

        for self.seed in range(64):  # another seed if two judged documents collide, which is next to never
            hashes = doc_hash(frame["doc"], seed=self.seed)
            keys = packed_keys(owner, hashes)
            order = np.argsort(keys)
            if not np.any(keys[order[1:]] == keys[order[:-1]]):
                break
        else:
            text = "a query has too many judged documents, millions of them, to be told apart by a hash"
            raise UsageError("too-many-documents", text)
        self.keys, self.labels, self.docs = keys[order], labels[order], frame["doc"][order]
        # Eight slots for each judged document, a query's together: most others are told apart by one look.
        self.slots = self.groups.sizes.astype(np.uint64) * np.uint64(8)
        self.may_be_judged = np.zeros(8 * frame.height, dtype=bool)
        self.may_be_judged[self._slot_index(owner, hashes)] = True

    def match(
        self,
        run: Run,
        *,
        depth: int | None = None,
        top: int | None = None,
        compat: Compat | None = None,
        collection_size: int | None = None,
    ) -> RankedLists:
        """The run's lists for all judged queries, in the order of the judgments; empty where it has none.

        `depth` cuts the lists. Where nothing looks below the rank `top`, what stands there may be left out; the
        lists keep their whole length.
        """
        sizes = np.zeros(len(self.queries), dtype=np.int64)
        run_codes = np.array([self.codes.get(query, NOT_JUDGED) for query in run.queries], dtype=np.int64)
        judged = run_codes >= 0
        sizes[run_codes[judged]] = run.groups.sizes[judged]
        parts = [
            self._match_batch(run, run_codes, first, stop, top=top, single_precision=compat == "trec_eval-9")
            for first, stop in run.groups.batches()
        ]
        query, rank, label = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        if top is not None and not len(rank):  # is nothing judged at all, or only nothing near the top?
            return self.match(run, depth=depth, compat=compat, collection_size=collection_size)
        if depth is not None:
            within_depth = rank <= depth
            query, rank, label = query[within_depth], rank[within_depth], label[within_depth]
            sizes = np.minimum(sizes, depth)
        order = np.lexsort((rank, query))
        counts = np.bincount(query, minlength=len(self.queries))
        return RankedLists(
            offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            rank=rank[order],
            label=label[order],
            retrieved=sizes,
            pool_offsets=self.groups.offsets,
            pool=self.pool,
            max_label=self.max_label,
            collection_size=collection_size,
            compat=compat,
        )

    def _slot_index(self, codes: IntArray, hashes: NDArray[np.uint64]) -> IntArray:
        """Where a document looks whether it may have been judged: a place among its query's slots.

        A query that nobody judged has the code −1 and looks anywhere.
        """
        offset = ((hashes >> np.uint64(32)) * self.slots[codes]) >> np.uint64(32)
        return 8 * self.groups.offsets[:-1][codes] + offset.astype(np.int64)

    def _match_batch(
        self, run: Run, run_codes: IntArray, first: int, stop: int, *, top: int | None, single_precision: bool
    ) -> tuple[IntArray, IntArray, IntArray]:
        """The judged documents under the run's queries `first` to `stop`: query code, rank and label of each."""
        low, high = run.groups.offsets[first], run.groups.offsets[stop]
        docs, sizes = run.docs[int(low) : int(high)], run.groups.sizes[first:stop]
        scores: NDArray[np.floating] = run.scores[int(low) : int(high)].to_numpy()
        if single_precision:
            with np.errstate(over="ignore"):  # what a 32-bit number cannot hold is infinite there too
                scores = scores.astype(np.float32)
        starts = run.groups.offsets[first:stop] - low
        if top is not None and _is_falling(scores, starts):
            sizes = _leading_sizes(scores, starts, sizes, top)
            ends = np.cumsum(sizes)
            leading = np.arange(ends[-1]) + np.repeat(starts - (ends - sizes), sizes)
            docs, scores, starts = docs.gather(leading), scores[leading], ends - sizes
        codes = np.repeat(run_codes[first:stop], sizes)
        hashes = doc_hash(docs, seed=self.seed)
        candidates = np.flatnonzero(self.may_be_judged[self._slot_index(codes, hashes)] & (codes >= 0))
        keys = packed_keys(codes[candidates], hashes[candidates])
        judged_index = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        same_key = self.keys[judged_index] == keys
        rows, judged_index = candidates[same_key], judged_index[same_key]
        same_doc = (docs.gather(rows) == self.docs.gather(judged_index)).to_numpy()
        rows, judged_index = rows[same_doc], judged_index[same_doc]
        return codes[rows], _rank_rows(rows, scores, docs, starts), self.labels[judged_index]


def packed_keys(codes: IntArray, hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Query code and doc hash in one sortable number, so that a query's documents lie together."""
    return (codes.astype(np.uint64) << np.uint64(64 - QUERY_BITS)) | (hashes >> np.uint64(QUERY_BITS))


def _is_falling(scores: NDArray[np.floating], starts: IntArray) -> bool:
    """Whether every list comes in score order, best first."""
    falling = scores[1:] <= scores[:-1]
    falling[starts[1:] - 1] = True
    return bool(falling.all())


def _leading_sizes(scores: NDArray[np.floating], starts: IntArray, sizes: IntArray, top: int) -> IntArray:
    """How many documents of each falling list may have a rank up to `top`: so many, and those tied with the last."""
    leading = np.minimum(sizes, top)
    last = starts + leading - 1
    tied = np.flatnonzero(scores[last] == scores[np.minimum(last + 1, len(scores) - 1)])
    if len(tied):
        changes = np.append(np.flatnonzero(scores[1:] != scores[:-1]), len(scores) - 1)  # the last of each equal score
        ends = changes[np.searchsorted(changes, last[tied])]
        leading[tied] = np.minimum(ends - starts[tied] + 1, sizes[tied])
    return leading


def _rank_rows(rows: IntArray, scores: NDArray[np.floating], docs: pl.Series, starts: IntArray) -> IntArray:
    """The rank of the document in each row: 1 + those with a higher score + equal scores with a larger doc id."""
    position, row_at = rows, None
    if not _is_falling(scores, starts):
        sizes = np.diff(starts, append=len(scores))
        owner = np.repeat(np.arange(len(starts), dtype=np.min_scalar_type(len(starts))), sizes)
        row_at = np.argsort(-scores)
        row_at = row_at[np.argsort(owner[row_at], kind="stable")]  # the row at each place, best first
        position_of_row = np.empty_like(row_at)
        position_of_row[row_at] = np.arange(len(row_at))
        scores, position = scores[row_at], position_of_row[rows]
    first_of_query = starts[np.searchsorted(starts, position, side="right") - 1]

    starts_group = np.empty(len(scores) + 1, dtype=bool)  # does a group of equal scores begin at this place?
    starts_group[0] = starts_group[-1] = True
    np.not_equal(scores[1:], scores[:-1], out=starts_group[1:-1])
    starts_group[starts] = True
    tied = np.flatnonzero(~starts_group[position] | ~starts_group[position + 1])
    if len(tied):
        position = position.copy()
        position[tied] = _break_ties(docs, position[tied], starts_group, row_at)
    return position - first_of_query + 1


def _break_ties(
    docs: pl.Series, position: IntArray, starts_group: NDArray[np.bool_], row_at: IntArray | None
) -> IntArray:
    """The place of documents within their groups of equal scores, larger doc ids first."""
    edges = np.flatnonzero(starts_group)
    group = np.searchsorted(edges, position, side="right") - 1
    groups, group_index = np.unique(group, return_inverse=True)
    low = edges[groups]
    size = edges[groups + 1] - low
    first = np.concatenate([[0], np.cumsum(size)[:-1]])
    owner = np.repeat(np.arange(len(groups)), size)
    members = np.arange(len(owner)) - first[owner] + low[owner]
    rows = members if row_at is None else row_at[members]
    ordered = (
        pl.DataFrame({"owner": owner, "doc": docs.gather(rows), "member": np.arange(len(owner))})
        .sort("owner", "doc", descending=[False, True])["member"]
        .to_numpy()
    )
    order_in_groups = np.empty_like(members)
    order_in_groups[ordered] = np.arange(len(ordered))
    new_order = order_in_groups[first[group_index] + position - low[group_index]]
    return np.asarray(low[group_index] + new_order - first[group_index], dtype=np.int64)
