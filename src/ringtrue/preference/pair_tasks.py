"""Tasks of pairs: which pairs are shown together, on which side, with which traps."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from ringtrue.errors import UsageError
from ringtrue.messages import Note, Suggestion
from ringtrue.tables import Preferences
from ringtrue.tables.groups import IntArray


def require_task_size(per_task: int, traps_per_task: int) -> None:
    """Refuse a task that has no room for a pair."""
    if per_task < 1:
        raise UsageError(
            "out-of-range",
            f"a task needs at least one pair, found {per_task}",
            parameter="per_task",
            suggestions=[Suggestion("is usual", per_task=20)],
        )
    if not 0 <= traps_per_task < per_task:
        raise UsageError(
            "out-of-range",
            f"a task of {per_task} pairs has room for 0 to {per_task - 1} traps, found {traps_per_task}; "
            f"5 in 20 is usual",
            parameter="traps_per_task",
        )


def build_task_table(
    pairs: pl.DataFrame,
    traps: Preferences | None,
    *,
    per_task: int = 20,
    traps_per_task: int = 5,
    before: int = 0,
    rng: np.random.Generator,
) -> tuple[pl.DataFrame, tuple[Note, ...]]:
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

    def notes(self, per_task: int, traps_per_task: int) -> tuple[Note, ...]:
        """What is doubtful about the traps that were drawn."""
        notes = []
        if self.borrowed:
            text = (
                f"{self.borrowed:,} of {self.shown:,} traps are of another query than the rest of their task, which "
                f"has too few of its own"
            )
            notes.append(Note("traps-of-other-queries", text))
        if self.short:
            text = (
                f"{self.shown:,} traps are mixed in where {self.shown + self.short:,} were asked for, {traps_per_task} "
                f"in {per_task} pairs: there are only {self.traps.height:,}"
            )
            notes.append(Note("too-few-traps", text))
        return tuple(notes)


def build_trap_decks(
    traps: Preferences, pairs: pl.DataFrame, rng: np.random.Generator
) -> tuple[TrapDecks | None, tuple[Note, ...]]:
    """The traps in random order; what is asked anyway cannot be one."""
    distinct = _order_documents(traps.frame, "left", "right").unique(maintain_order=True)
    unused = distinct.join(
        _order_documents(pairs, "first", "second"), on=["query", "first", "second"], how="anti", maintain_order="left"
    )
    notes: tuple[Note, ...] = ()
    if used := distinct.height - unused.height:
        among = f"{used:,} of {distinct.height:,} traps are among the pairs that are asked"
        notes = (Note("traps-among-pairs", f"{among}, and not used as traps"),)
    if not unused.height:
        text = "no trap is left to mix in: give other pairs with a known winner"
        return None, (*notes, Note("no-trap-left", text, parameter="traps"))
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
