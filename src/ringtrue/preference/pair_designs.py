"""The documents that could be compared, and designs that pair them without a look at what a vote would teach."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Self, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import InputError, MismatchError, TableError, UsageError
from ringtrue.evaluation.inputs import pool
from ringtrue.messages import Note, Suggestion
from ringtrue.preference.bradley_terry import fit_bradley_terry
from ringtrue.preference.matches import Matches
from ringtrue.tables import Preferences, Run
from ringtrue.tables.columns import COLUMN_ALIASES, make_frame, parse_ids, rename_columns
from ringtrue.tables.groups import IntArray, first_duplicate, group_rows

MAX_DEPTH = 2**31 - 1  # of a pool: everything
OPPONENTS = 5  # that a document meets among those above it: all of them, for the first six
RIDGE = 0.25
Pair: TypeAlias = tuple[int, int]
Tally: TypeAlias = dict[Pair, int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates:
    """Documents to compare: `docs` has query and doc, those of a query side by side, in an initial order, best first.

    Query number q has the rows from `start[q]` to `start[q + 1]`.

    Examples:
        >>> Candidates.of({"q1": {"d1": 1.0, "d2": 3.0}}).docs.rows()
        [('q1', 'd2'), ('q1', 'd1')]
        >>> Candidates.of({"query": ["q1", "q1"], "doc": ["d1", "d2"], "best_rank": [1, 2]}).docs["doc"].to_list()
        ['d1', 'd2']
        >>> Candidates.of([{"q1": {"d1": 1.0}}, {"q1": {"d2": 3.0, "d1": 2.0}}]).docs["doc"].to_list()
        ['d1', 'd2']
    """

    docs: pl.DataFrame
    queries: tuple[str, ...]
    start: NDArray[np.int64]

    @classmethod
    def of(cls, source: object, *, depth: int | None = None) -> Self:
        """From a run, in the order of its scores; from a pool, a table without scores, in the order of its rows.

        At most `depth` documents of each query. Several runs are pooled at that depth, in the order of `pool`.
        """
        if depth is not None and depth < 2:
            raise UsageError(
                "out-of-range",
                f"two documents are the least that can be compared, found a depth of {depth}",
                parameter="depth",
                suggestions=[Suggestion("is usual", depth=50)],
            )
        tables = list_tables(source)
        if len(tables) > 1:
            return cls._from_docs(_pool_runs(tables, depth or MAX_DEPTH))
        source = tables[0]
        if isinstance(source, cls):
            docs = source.docs
        elif isinstance(source, Run) or _has_scores(source):
            docs = Run.of(source).ranked().select("query", "doc")
        else:
            docs = _read_pool(source)
        return cls._from_docs(docs if depth is None else docs.filter(pl.int_range(pl.len()).over("query") < depth))

    @classmethod
    def _from_docs(cls, docs: pl.DataFrame) -> Self:
        rows, groups = group_rows(docs)
        return cls(docs=rows, queries=groups.queries, start=groups.offsets)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many documents each query has."""
        return np.diff(self.start)

    def drop_single_documents(self) -> tuple[Self, tuple[Note, ...]]:
        """Without the queries that have a single document, and a note about them."""
        single = [query for query, size in zip(self.queries, self.sizes, strict=True) if size < 2]
        if not single:
            return self, ()
        if len(single) == len(self.queries):
            raise InputError(
                "no-two-documents", "no query has two documents: there is nothing to compare; give a deeper run or pool"
            )
        queries = f"query '{single[0]}'" + (f" and {len(single) - 1:,} more have" if len(single) > 1 else " has")
        comparable = self._from_docs(self.docs.filter(~pl.col("query").is_in(single)))
        return comparable, (
            Note("single-document-queries", f"{queries} a single document, and nothing to compare: left out"),
        )

    def add_preferences(self, preferences: Preferences) -> tuple[Self, Preferences, tuple[Note, ...]]:
        """With every document that preferences know of, after the others; and the preferences about these queries."""
        notes = []
        is_relevant = preferences.frame["query"].is_in(self.queries)
        if not is_relevant.any():
            raise MismatchError(
                "no-common-query",
                f"the preferences are about none of the queries: the first of theirs is "
                f"'{preferences.frame['query'][0]}', the first candidates are of '{self.queries[0]}'; do both use the "
                f"same ids?",
            )
        if not is_relevant.all():
            apart = f"{(~is_relevant).sum():,} of {len(is_relevant):,} preferences"
            notes.append(Note("queries-without-candidates", f"{apart} are about queries with no candidates: left out"))
            preferences = Preferences(preferences.frame.filter(is_relevant))
        names = pl.concat([preferences.frame.select("query", doc=side) for side in ("left", "right")])
        extra = names.unique(maintain_order=True).join(
            self.docs, on=["query", "doc"], how="anti", maintain_order="left"
        )
        if not extra.height:
            return self, preferences, tuple(notes)
        text = (
            f"{extra.height:,} of {names.n_unique():,} documents with preferences are not among the candidates, such "
            f"as '{extra['doc'][0]}' of query '{extra['query'][0]}': they stay in, after the others"
        )
        notes.append(Note("documents-not-candidates", text))
        return self._from_docs(pl.concat([self.docs, extra])), preferences, tuple(notes)

    def to_matches(self, preferences: Preferences | None) -> Matches:
        """The votes so far between these documents, the rows of which they name; repeats all count."""
        empty = pl.DataFrame(schema=dict.fromkeys(("query", "left", "right", "winner"), pl.String))
        votes, numbered = empty if preferences is None else preferences.frame, self.docs.with_row_index("row")
        left, right = (
            votes.select("query", doc=side)
            .join(numbered, on=["query", "doc"], how="left", maintain_order="left")["row"]
            .to_numpy()
            .astype(np.int32)
            for side in ("left", "right")
        )
        nobody = np.full(len(left), -1, dtype=np.int32)
        return Matches.between(
            left,
            right,
            votes["winner"],
            judge=nobody,
            judges=(),
            docs=self.docs,
            queries=self.queries,
            start=self.start,
        )


def list_tables(source: object) -> list[object]:
    """The tables of a list, or those with names in a dictionary; anything else, such as records, is one table.

    Examples:
        >>> len(list_tables([{"q1": {"d1": 1.0}}, {"q1": {"d2": 3.0}}]))
        2
        >>> len(list_tables([{"query": "q1", "doc": "d1"}, {"query": "q1", "doc": "d2"}]))
        1
    """
    parts = list(source.values()) if isinstance(source, Mapping) else source if isinstance(source, list | tuple) else []
    return list(parts) if parts and all(map(_is_table, parts)) else [source]


def _is_table(table: object) -> bool:
    """Whether this is a table of its own, and not a row or a column of one."""
    if isinstance(table, Mapping):
        return any(isinstance(cell, Iterable) and not isinstance(cell, str | bytes) for cell in table.values())
    return isinstance(table, Run | Preferences) or hasattr(type(table), "columns")


def _pool_runs(tables: list[object], depth: int) -> pl.DataFrame:
    """The documents of several runs, in the order of their pool."""
    for number, table in enumerate(tables, 1):
        if not isinstance(table, Run) and not _has_scores(table):
            raise UsageError(
                "missing-score",
                f"several candidates are runs, to be pooled, and number {number} of {len(tables)} has no scores; "
                f"give runs alone, or one pool",
                parameter="candidates",
            )
    return pool([Run.of(table) for table in tables], depth=depth).select("query", "doc")


def _has_scores(table: object) -> bool:
    """Whether documents come with scores; a dictionary of dictionaries has nothing else."""
    if isinstance(table, Mapping) and table and all(isinstance(docs, Mapping) for docs in table.values()):
        return True
    return bool({name.lower() for name in make_frame(table).columns} & set(COLUMN_ALIASES["score"]))


def _read_pool(table: object) -> pl.DataFrame:
    """The documents of a table without scores, in the order of its rows."""
    frame = rename_columns(make_frame(table), required=["query", "doc"], table_kind="pool")
    docs = pl.DataFrame({name: parse_ids(frame, name) for name in ("query", "doc")})
    if not docs.height:
        raise TableError("empty-pool", "the pool has no documents")
    rows, groups = group_rows(docs)
    if (duplicate := first_duplicate(groups, rows["doc"])) is not None:
        query, doc = duplicate
        raise TableError(
            "duplicate-document",
            f"document '{doc}' stands twice under query '{query}' in the pool; keep one of the two",
        )
    return rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """Pairs to ask, as rows of the candidates, `first` above `second`; each is to be asked `copies` times."""

    first: IntArray
    second: IntArray
    copies: IntArray

    @classmethod
    def of(cls, rows: list[tuple[int, int, int]]) -> Self:
        """From a list of first, second and copies."""
        first, second, copies = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        return cls(first=first, second=second, copies=copies)


def choose_seed_pairs(matches: Matches, *, votes: int, budget: int | None, rng: np.random.Generator) -> Pairs:
    """The published design: every document meets five of those above it in the initial order    [Bashir13]

        the first six all meet each other: 15 + 5 (n − 6) pairs of n documents

    Opponents that it has met already count; others are drawn, each of those above alike. A budget is spent from the
    top of the initial order down, evenly over the queries.

    Examples:
        >>> nobody = Candidates.of({"query": ["q"] * 10, "doc": list("abcdefghij")}).to_matches(None)
        >>> len(choose_seed_pairs(nobody, votes=4, budget=None, rng=np.random.default_rng(0)).first)
        35
    """
    tallies = list(_tally_votes(matches))
    designs = [
        [pair for pair in _draw_opponents(int(size), tally, rng) if tally.get(pair, 0) < votes]
        for size, tally in zip(np.diff(matches.start), tallies, strict=True)
    ]
    if budget is not None:
        shares = share_evenly(np.array([len(design) for design in designs]), budget, rng)
        designs = [design[:count] for design, count in zip(designs, shares, strict=True)]
    return _collect_pairs(matches, designs, tallies, votes)


def _draw_opponents(size: int, tally: Tally, rng: np.random.Generator) -> Iterator[Pair]:
    """For each document in its turn, the five above it whom it meets: first those whom it met most often."""
    above: dict[int, list[tuple[int, int]]] = {}
    for (first, second), count in tally.items():
        above.setdefault(second, []).append((-count, first))
    for second in range(1, size):
        familiar = [first for _, first in sorted(above.get(second, []))]
        strangers = np.setdiff1d(np.arange(second), familiar)
        new_opponents = rng.permutation(strangers)[: max(OPPONENTS - len(familiar), 0)]
        for first in sorted([*familiar[:OPPONENTS], *new_opponents.tolist()]):
            yield first, second


def choose_random_pairs(matches: Matches, *, votes: int, budget: int | None, rng: np.random.Generator) -> Pairs:
    """Pairs drawn from all that lack votes, each alike, evenly over the queries; usually as many as the seed has.

    Examples:
        >>> nobody = Candidates.of({"query": ["q"] * 4, "doc": list("abcd")}).to_matches(None)
        >>> len(choose_random_pairs(nobody, votes=4, budget=5, rng=np.random.default_rng(0)).first)
        5
    """
    tallies = list(_tally_votes(matches))
    open_counts = _count_open_pairs(matches, tallies, votes)
    default_shares = np.minimum(published_pair_count(np.diff(matches.start)), open_counts)
    shares = default_shares if budget is None else share_evenly(open_counts, budget, rng)
    designs = []
    for tally, open_count, count in zip(tallies, open_counts, shares, strict=True):
        complete = _number_pairs(pair for pair, vote_count in tally.items() if vote_count >= votes)
        position = rng.choice(open_count, size=count, replace=False)
        # The p-th pair that is not done: as many further on as there are done ones before it.
        number = position + np.searchsorted(complete - np.arange(len(complete)), position, side="right")
        second = ((1 + np.sqrt(8 * number + 1)) // 2).astype(np.int64)
        first = number - second * (second - 1) // 2
        designs.append(list(zip(first.tolist(), second.tolist(), strict=True)))
    return _collect_pairs(matches, designs, tallies, votes)


def choose_swiss_pairs(matches: Matches, *, votes: int, budget: int | None, rng: np.random.Generator) -> Pairs:
    """Neighbours in the order so far who have not met, as in a Swiss tournament; usually a single round.

    The order is that of the Bradley–Terry ratings by the votes so far; where they are equal, as before any vote, the
    initial one. A budget of more than a round goes on with neighbours of neighbours.

    Examples:
        >>> nobody = Candidates.of({"query": ["q"] * 4, "doc": list("abcd")}).to_matches(None)
        >>> pairs = choose_swiss_pairs(nobody, votes=4, budget=4, rng=np.random.default_rng(0))
        >>> list(zip(pairs.first.tolist(), pairs.second.tolist()))
        [(0, 1), (2, 3), (0, 2), (1, 3)]
    """
    ratings = fit_bradley_terry(matches, ridge=RIDGE).round(9) if matches.size else np.zeros(matches.docs.height)
    tallies = list(_tally_votes(matches))
    shares = None if budget is None else share_evenly(_count_open_pairs(matches, tallies, votes), budget, rng).tolist()
    designs = []
    for q, tally in enumerate(tallies):
        order = np.argsort(-ratings[matches.start[q] : matches.start[q + 1]], kind="stable").tolist()
        complete = {pair for pair, vote_count in tally.items() if vote_count >= votes}
        designs.append(
            list(_swiss_round(order, complete))
            if shares is None
            else list(islice(_swiss_rounds(order, complete), shares[q]))
        )
    return _collect_pairs(matches, designs, tallies, votes)


def _swiss_rounds(order: list[int], complete: set[Pair]) -> Iterator[Pair]:
    """One round after another, until everybody has met everybody."""
    while pairs := list(_swiss_round(order, complete)):
        yield from pairs
        complete.update(pairs)


def _swiss_round(order: list[int], complete: set[Pair]) -> Iterator[Pair]:
    """Everybody plays once: the first who is free with the next who is free and has not met him."""
    free = dict.fromkeys(order)
    while free:
        doc = next(iter(free))
        del free[doc]
        opponent = next(
            (opponent for opponent in free if (min(doc, opponent), max(doc, opponent)) not in complete), None
        )
        if opponent is not None:
            del free[opponent]
            yield min(doc, opponent), max(doc, opponent)


def published_pair_count(sizes: IntArray) -> IntArray:
    """How many pairs the published design has, for queries with so many documents.

    Examples:
        >>> published_pair_count(np.array([2, 6, 50])).tolist()
        [1, 15, 235]
    """
    few = np.minimum(sizes, OPPONENTS + 1)
    return np.asarray(few * (few - 1) // 2 + OPPONENTS * (sizes - few))


def share_evenly(limits: IntArray, budget: int, rng: np.random.Generator) -> IntArray:
    """As many for each query, but no more than it can use; what is left over goes to others, one each, by lot.

    Examples:
        >>> share_evenly(np.array([2, 10, 10]), 12, np.random.default_rng(0)).tolist()
        [2, 5, 5]
    """
    share = np.zeros_like(limits)
    remaining = min(budget, int(limits.sum()))
    while remaining:
        open_queries = np.flatnonzero(share < limits)
        if remaining < len(open_queries):
            open_queries = rng.permutation(open_queries)[:remaining]
        extra = np.minimum(max(remaining // len(open_queries), 1), limits[open_queries] - share[open_queries])
        share[open_queries] += extra
        remaining -= int(extra.sum())
    return share


def _collect_pairs(matches: Matches, designs: list[list[Pair]], tallies: list[Tally], votes: int) -> Pairs:
    """The pairs of each query as rows of the candidates, with the votes that they lack."""
    return Pairs.of(
        [
            (low + first, low + second, votes - tally.get((first, second), 0))
            for low, design, tally in zip(matches.start[:-1].tolist(), designs, tallies, strict=True)
            for first, second in design
        ]
    )


def _count_open_pairs(matches: Matches, tallies: list[Tally], votes: int) -> IntArray:
    """How many pairs of each query lack votes."""
    sizes = np.diff(matches.start)
    complete = np.array([sum(vote_count >= votes for vote_count in tally.values()) for tally in tallies])
    return np.asarray(sizes * (sizes - 1) // 2 - complete)


def _tally_votes(matches: Matches) -> Iterator[Tally]:
    """How many votes each pair has, query by query."""
    for _, part in matches.merge_by_pair().by_query():
        pairs = zip(part.first.tolist(), part.second.tolist(), strict=True)
        yield dict(zip(pairs, part.weight.astype(int).tolist(), strict=True))


def _number_pairs(pairs: Iterable[Pair]) -> IntArray:
    """Pairs as numbers: 0 for (0, 1), 1 for (0, 2), 2 for (1, 2), 3 for (0, 3), …; in rising order."""
    return np.sort(np.array([second * (second - 1) // 2 + first for first, second in pairs], dtype=np.int64))
