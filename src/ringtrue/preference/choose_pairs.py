"""Which pairs should be compared next, and in which tasks are they shown to people?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from ringtrue.errors import InputError, TableError, UsageError, did_you_mean
from ringtrue.formatting.phrases import format_count
from ringtrue.preference.active_design import MAX_COPIES, choose_active_pairs
from ringtrue.preference.pair_designs import (
    Candidates,
    Pairs,
    choose_random_pairs,
    choose_seed_pairs,
    choose_swiss_pairs,
    list_tables,
)
from ringtrue.preference.rate import drop_traps, trap_notes
from ringtrue.stats.intervals import require_generator
from ringtrue.stats.results import plain_fields
from ringtrue.tables import Judgments, Preferences
from ringtrue.tables.groups import IntArray
from ringtrue.tables.preferences import concat_tables

if TYPE_CHECKING:
    from ringtrue.preference.matches import Matches


PairDesign: TypeAlias = Literal["seed", "random", "swiss", "active"]
DESIGNS: dict[PairDesign, Callable[..., Pairs]] = {
    "seed": choose_seed_pairs,
    "random": choose_random_pairs,
    "swiss": choose_swiss_pairs,
    "active": choose_active_pairs,
}
DEFAULT_VOTES: dict[PairDesign, int] = {"seed": 4, "random": 4, "swiss": 4, "active": 1}
DEFAULT_TRAPS = 5  # in a task


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairChoice:
    """Pairs for people to compare: `frame` has a row for every vote that is asked for, in tasks of one query.

    Its columns are batch (the task), place in it, query, left, right, trap, vote (which of those on the pair), design,
    and judge and winner, which are empty: filled in, they are preferences that `read_preferences` reads. `pairs`
    counts different pairs, `votes` what is asked about them, `traps` the rows that are mixed in.

    Examples:
        >>> import ringtrue as rt
        >>> choice = rt.choose_pairs({"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}, design="seed")
        >>> print(choice)
        seed: 3 pairs and 12 votes on 1 query in 4 tasks
        >>> choice.frame.columns
        ['batch', 'place', 'query', 'left', 'right', 'trap', 'vote', 'design', 'judge', 'winner']
    """

    frame: pl.DataFrame
    design: PairDesign
    pairs: int
    votes: int
    queries: int
    tasks: int
    traps: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        counts = [format_count(self.pairs, "pair"), format_count(self.votes, "vote")]
        queries = f"{self.queries:,} quer{'y' if self.queries == 1 else 'ies'}"
        traps = f", with {format_count(self.traps, 'trap')}" if self.traps else ""
        return f"{self.design}: {' and '.join(counts)} on {queries} in {format_count(self.tasks, 'task')}{traps}"

    def as_dict(self) -> dict[str, object]:
        """The choice as plain data, in the key order of the command line's JSON."""
        return plain_fields(self, "pairs", "votes", "queries", "tasks", "traps", "design", "notes")


def choose_pairs(
    candidates: object,
    *,
    design: PairDesign = "active",
    preferences: object = None,
    budget: int | None = None,
    votes: int | None = None,
    traps: object = None,
    per_task: int = 20,
    traps_per_task: int | None = None,
    depth: int | None = None,
    rng: np.random.Generator | None = None,
) -> PairChoice:
    """Which pairs of documents should be compared next, and in which tasks are they shown to people?

    `candidates` is a run; or a pool, a table without scores, the best first; or a list of runs, which are pooled at
    `depth`. `active` chooses the pairs that teach most about the top, given the `preferences` so far, a table or a list
    of tables [MacKay92]; `seed` is the published design, 15 + 5 (n − 6) pairs of n documents, 4 votes each [Bashir13];
    `swiss` pairs neighbours in the order so far; `random` draws any.

    A `budget` counts pairs, over all queries; with `active`, which may choose a pair again, it counts choices. Without
    one `active` fills a task for each query, `seed` is given whole, `random` is as large, and `swiss` plays a round.

    Each pair is asked `votes` times, less those that it has; each choice of `active` asks for as many, and all those of
    a pair together for 4 at most, or `votes` if that is more. `traps` are preferences whose winner is known: some are
    mixed into every task, usually 5, and the table does not tell their winner.

    Examples:
        >>> run = {"q1": {f"d{rank}": -rank for rank in range(40)}}
        >>> print(choose_pairs(run, budget=15, rng=np.random.default_rng(1)))
        active: 15 pairs and 15 votes on 1 query in 1 task
    """
    _require_valid_settings(
        design, rng, budget=budget, votes=votes, depth=depth, per_task=per_task, traps=traps_per_task
    )
    if traps is None and traps_per_task:
        raise UsageError(
            f"{format_count(traps_per_task, 'trap')} should be in a task, and no traps are given; --traps FILE"
        )
    votes = DEFAULT_VOTES[design] if votes is None else votes
    trap_count = 0 if traps is None else DEFAULT_TRAPS if traps_per_task is None else traps_per_task
    require_task_size(per_task, trap_count)
    if isinstance(traps, Judgments):
        raise TableError("these look like traps for labels; pairs need two documents and a winner")
    rng = np.random.default_rng(0) if rng is None else rng
    pool, answered, batch, notes = _load_candidates(candidates, preferences, depth)
    matches = pool.to_matches(answered)
    room = per_task - trap_count
    default_budget = max(room // votes, 1) * len(pool.queries) if design == "active" else None
    pairs = DESIGNS[design](matches, votes=votes, budget=default_budget if budget is None else budget, rng=rng)
    if not len(pairs.first):
        raise InputError(f"every pair of the design '{design}' has its {votes} votes: nothing is left to ask")
    notes += _pair_choice_notes(matches, pairs, design=design, votes=votes, budget=budget)
    table, task_notes = build_task_table(
        _name_pairs(pool, pairs),
        None if traps is None else Preferences.of(traps),
        per_task=per_task,
        traps_per_task=trap_count,
        before=batch,
        rng=rng,
    )
    empty = pl.lit(None, dtype=pl.String)
    vote_rows = table.filter(~pl.col("trap"))
    return PairChoice(
        frame=table.with_columns(design=pl.lit(design), judge=empty, winner=empty),
        design=design,
        pairs=int((vote_rows["vote"] == 1).sum()),
        votes=vote_rows.height,
        queries=vote_rows["query"].n_unique(),
        tasks=table["batch"].n_unique(),
        traps=table.height - vote_rows.height,
        notes=(*notes, *task_notes),
    )


def _require_valid_settings(design: object, rng: object, **numbers: object) -> None:
    """Refuse what no design can be asked for, in our words."""
    designs = get_args(PairDesign)
    if not isinstance(design, str) or design not in designs:
        suggestion = did_you_mean(str(design), designs) or "; there is " + ", ".join(designs)
        raise UsageError(f"no design '{design}'{suggestion}")
    require_generator(rng)
    names = {"votes": "number of votes on a pair", "per_task": "number of pairs in a task", "traps": "number of traps"}
    for name, number in numbers.items():
        expectation = f"expected a {names.get(name, name)}"
        if number is not None and (not isinstance(number, Integral) or isinstance(number, bool)):
            raise UsageError(f"{expectation} that is a whole number, found {number!r}")
        if isinstance(number, Integral) and name in ("budget", "votes") and int(number) < 1:
            raise UsageError(f"{expectation} of at least 1, found {number}")


def _load_candidates(
    candidates: object, preferences: object, depth: int | None
) -> tuple[Candidates, Preferences | None, int, list[str]]:
    """The documents, the preferences about them so far, the last batch of these, and what is doubtful."""
    pool = Candidates.of(candidates, depth=depth)
    if preferences is None:
        pool, single_notes = pool.drop_single_documents()
        return pool, None, 0, [*single_notes]
    answered = concat_tables([Preferences.of(table, answered_only=True) for table in list_tables(preferences)])
    votes, trap_votes = drop_traps(answered)
    pool, relevant, mismatch_notes = pool.add_preferences(votes)
    pool, single_notes = pool.drop_single_documents()
    return pool, relevant, last_batch_number(answered), [*trap_notes(trap_votes), *mismatch_notes, *single_notes]


def _name_pairs(candidates: Candidates, pairs: Pairs) -> pl.DataFrame:
    """The pairs by name, each once, the rows of a query side by side."""
    pair_rows = pl.DataFrame({"first": pairs.first, "second": pairs.second, "copies": pairs.copies})
    distinct = pair_rows.group_by("first", "second").agg(pl.col("copies").sum()).sort("first", "second")
    first, second = candidates.docs[distinct["first"]], candidates.docs[distinct["second"]]
    return first.select("query", first="doc").with_columns(second=second["doc"], copies=distinct["copies"])


def _pair_choice_notes(
    matches: Matches, pairs: Pairs, *, design: PairDesign, votes: int, budget: int | None
) -> list[str]:
    notes = []
    if matches.size:
        by_pair = matches.merge_by_pair()
        complete = int((by_pair.weight >= votes).sum())
        suffix = "" if design == "active" else f"; {complete:,} have {votes} or more, and are not asked again"
        notes.append(f"{format_count(matches.size, 'vote')} on {format_count(by_pair.size, 'pair')} are known{suffix}")
    if budget is not None and len(pairs.first) < budget:
        notes.append(
            f"{format_count(budget * votes, 'vote')} were asked for, and only {len(pairs.first) * votes:,} are "
            f"possible: at once, a pair is asked for {max(MAX_COPIES // votes, 1) * votes} at most, each of another "
            f"person"
            if design == "active"
            else f"{budget:,} pairs were asked for, and only {len(pairs.first):,} are left: all of them"
        )
    return notes


def require_task_size(per_task: int, traps_per_task: int) -> None:
    """Refuse a task that has no room for a pair."""
    if per_task < 1:
        raise UsageError(f"a task needs at least one pair, found {per_task}; 20 is usual")
    if not 0 <= traps_per_task < per_task:
        raise UsageError(
            f"a task of {per_task} pairs has room for 0 to {per_task - 1} traps, found {traps_per_task}; "
            f"5 in 20 is usual"
        )


def build_task_table(
    pairs: pl.DataFrame,
    traps: Preferences | None,
    *,
    per_task: int = 20,
    traps_per_task: int = 5,
    before: int = 0,
    rng: np.random.Generator,
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Every vote that is asked for as a row: batch, place, query, left, right, trap and vote.

    `pairs` has query, first, second and copies, the rows of a query side by side. Copies of a pair go to different
    tasks, so that different people see them, and each has its sides drawn anew. A task that is not full has as
    great a share of traps, rounded up. Batches are numbered from `before` + 1 on.

    Examples:
        >>> pairs = pl.DataFrame({"query": ["q", "q"], "first": ["a", "a"], "second": ["b", "c"], "copies": [2, 1]})
        >>> table, _ = build_task_table(pairs, None, per_task=2, rng=np.random.default_rng(0))
        >>> table["batch"].to_list(), table.columns
        ([1, 1, 2], ['batch', 'place', 'query', 'left', 'right', 'trap', 'vote'])
    """
    require_task_size(per_task, 0 if traps is None else traps_per_task)
    decks, notes = build_trap_decks(traps, pairs, rng) if traps is not None and traps_per_task else (None, ())
    room = per_task - traps_per_task if decks else per_task
    pair, task, vote = deal_pairs(pairs, room, rng)
    rows = pairs[pair].select(
        "query", "first", "second", task=pl.Series(task), trap=pl.lit(value=False), vote=pl.Series(vote)
    )
    if decks:
        drawn_by_task = [
            decks.draw(query, -(-traps_per_task * size // room)).with_columns(task=pl.lit(task_number))
            for task_number, query, size in rows.group_by("task", maintain_order=True)
            .agg(pl.col("query").first(), pl.len())
            .iter_rows()
        ]
        trap_rows = pl.concat(drawn_by_task).select(
            pl.col("query", "first", "second"),
            pl.col("task").cast(pl.Int64),
            trap=pl.lit(value=True),
            vote=pl.lit(None, dtype=pl.Int64),
        )
        rows = pl.concat([rows, trap_rows])
        notes += decks.notes(per_task, traps_per_task)
    return _shuffle_tasks(rows, before, rng), notes


def deal_pairs(pairs: pl.DataFrame, room: int, rng: np.random.Generator) -> tuple[IntArray, IntArray, IntArray]:
    """For every vote the row of its pair, its task, and the how-many-th vote on the pair it is.

    The pairs of a query are put in random order, copies side by side, and dealt out to its tasks in turn, as cards
    are: so copies come into different tasks, and no task has two pairs more than another of the query.

    Examples:
        >>> pairs = pl.DataFrame({"query": ["q"] * 2, "copies": [3, 1]})
        >>> pair, task, vote = deal_pairs(pairs, 20, np.random.default_rng(0))
        >>> sorted(task[pair == 0].tolist()), vote[pair == 0].tolist()
        ([0, 1, 2], [1, 2, 3])
    """
    blocks: list[tuple[IntArray, IntArray, IntArray]] = []
    low = first_task = 0
    for block in pairs["query"].rle().struct.field("len").to_list():
        copies = pairs["copies"][low : low + block].to_numpy()
        order = rng.permutation(block)
        pair = np.repeat(order, copies[order])
        tasks = max(-(-len(pair) // room), int(copies.max()))
        # In random order once more: neighbours share most of their pairs, and one person may take several.
        task_numbers = first_task + rng.permutation(tasks)
        starts = np.cumsum(copies[order]) - copies[order]
        vote = np.arange(len(pair)) - np.repeat(starts, copies[order]) + 1
        blocks.append((low + pair, task_numbers[np.arange(len(pair)) % tasks], vote))
        low, first_task = low + block, first_task + tasks
    pair, task, vote = (np.concatenate(columns).astype(np.int64) for columns in zip(*blocks, strict=True))
    return pair, task, vote


@dataclass(slots=True)
class TrapDecks:
    """Traps to draw from: a deck for each query, dealt from the top and begun again when all were seen."""

    traps: pl.DataFrame
    order: list[int]
    by_query: dict[str, list[int]] = field(default_factory=dict)
    positions: dict[str | None, int] = field(default_factory=dict)  # where each deck is; None is the one of all traps
    shown: int = 0
    borrowed: int = 0
    short: int = 0

    def __post_init__(self) -> None:
        for row in self.order:
            self.by_query.setdefault(self.traps["query"][row], []).append(row)

    def draw(self, query: str, count: int) -> pl.DataFrame:
        """So many different traps: the query's own first, then those of others; fewer only where there are no more."""
        deck = self.by_query.get(query, [])
        own_rows, borrowed = self._draw_from_deck(query, deck, count), []
        if len(own_rows) < count:
            own_set = set(deck)
            borrowed = self._draw_from_deck(
                None, [row for row in self.order if row not in own_set], count - len(own_rows)
            )
        self.shown += len(own_rows) + len(borrowed)
        self.borrowed += len(borrowed)
        self.short += count - len(own_rows) - len(borrowed)
        return self.traps[own_rows + borrowed]

    def _draw_from_deck(self, name: str | None, deck: list[int], count: int) -> list[int]:
        position = self.positions.get(name, 0)
        self.positions[name] = position + min(count, len(deck))
        return [deck[(position + step) % len(deck)] for step in range(min(count, len(deck)))]

    def notes(self, per_task: int, traps_per_task: int) -> tuple[str, ...]:
        """What is doubtful about the traps that were drawn."""
        notes = []
        if self.borrowed:
            notes.append(
                f"{self.borrowed:,} of {self.shown:,} traps are of another query than the rest of their task, which "
                f"has too few of its own"
            )
        if self.short:
            notes.append(
                f"{self.shown:,} traps are mixed in where {self.shown + self.short:,} were asked for, {traps_per_task} "
                f"in {per_task} pairs: there are only {self.traps.height:,}"
            )
        return tuple(notes)


def build_trap_decks(
    traps: Preferences, pairs: pl.DataFrame, rng: np.random.Generator
) -> tuple[TrapDecks | None, tuple[str, ...]]:
    """The traps in random order; what is asked anyway cannot be one."""
    distinct = _order_documents(traps.frame, "left", "right").unique(maintain_order=True)
    unused = distinct.join(
        _order_documents(pairs, "first", "second"), on=["query", "first", "second"], how="anti", maintain_order="left"
    )
    notes: tuple[str, ...] = ()
    if used := distinct.height - unused.height:
        notes = (f"{used:,} of {distinct.height:,} traps are among the pairs that are asked, and not used as traps",)
    if not unused.height:
        return None, (*notes, "no trap is left to mix in: give other pairs with a known winner")
    return TrapDecks(traps=unused, order=rng.permutation(unused.height).tolist()), notes


def _order_documents(frame: pl.DataFrame, first_column: str, second_column: str) -> pl.DataFrame:
    return frame.select(
        "query",
        first=pl.min_horizontal(first_column, second_column),
        second=pl.max_horizontal(first_column, second_column),
    )  # a pair is the same either way round


def _shuffle_tasks(rows: pl.DataFrame, before: int, rng: np.random.Generator) -> pl.DataFrame:
    """The rows of each task in random order, with random sides."""
    swapped = pl.Series(rng.random(rows.height) < 0.5)
    left, right = pl.when(swapped).then("second").otherwise("first"), pl.when(swapped).then("first").otherwise("second")
    return (
        rows.with_columns(left=left, right=right, lot=pl.Series(rng.random(rows.height)))
        .sort("task", "lot")
        .select(
            pl.col("task").alias("batch") + before + 1,
            pl.int_range(1, pl.len() + 1).over("task").alias("place"),
            pl.col("query", "left", "right", "trap", "vote"),
        )
    )


def last_batch_number(preferences: Preferences) -> int:
    """The largest number among the batches so far, so that new ones can be told apart; 0 where there is none."""
    if "batch" not in preferences.frame.columns:
        return 0
    numbers = preferences.frame["batch"].cast(pl.String).cast(pl.Int64, strict=False)
    return int(max([0, *numbers.drop_nulls()]))
