"""Which pairs should be compared next, and in which tasks are they shown to people?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from ringtrue.errors import InputError, TableError, UsageError, did_you_mean
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note, Suggestion
from ringtrue.preference.active_design import MAX_COPIES, choose_active_pairs
from ringtrue.preference.pair_designs import (
    Candidates,
    Pairs,
    choose_random_pairs,
    choose_seed_pairs,
    choose_swiss_pairs,
    list_tables,
)
from ringtrue.preference.pair_tasks import build_task_table, last_batch_number, require_task_size
from ringtrue.preference.rate import drop_traps, trap_notes
from ringtrue.stats.intervals import require_generator
from ringtrue.stats.results import plain_fields
from ringtrue.tables import Judgments, Preferences
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
    notes: tuple[Note, ...] = ()

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
        design, rng, budget=budget, votes=votes, depth=depth, per_task=per_task, traps_per_task=traps_per_task
    )
    if traps is None and traps_per_task:
        raise UsageError(
            "traps-not-given",
            f"{format_count(traps_per_task, 'trap')} should be in a task, and no traps are given",
            parameter="traps_per_task",
            suggestions=[Suggestion("gives them", traps=...)],
        )
    votes = DEFAULT_VOTES[design] if votes is None else votes
    trap_count = 0 if traps is None else DEFAULT_TRAPS if traps_per_task is None else traps_per_task
    require_task_size(per_task, trap_count)
    if isinstance(traps, Judgments):
        raise TableError("labels-and-pairs", "these look like traps for labels; pairs need two documents and a winner")
    rng = np.random.default_rng(0) if rng is None else rng
    pool, answered, batch, notes = _load_candidates(candidates, preferences, depth)
    matches = pool.to_matches(answered)
    room = per_task - trap_count
    default_budget = max(room // votes, 1) * len(pool.queries) if design == "active" else None
    pairs = DESIGNS[design](matches, votes=votes, budget=default_budget if budget is None else budget, rng=rng)
    if not len(pairs.first):
        raise InputError(
            "nothing-left-to-ask", f"every pair of the design '{design}' has its {votes} votes: nothing is left to ask"
        )
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
        raise UsageError("unknown-choice", f"no design '{design}'{suggestion}", parameter="design")
    require_generator(rng)
    for name, number in numbers.items():
        if number is not None and (not isinstance(number, Integral) or isinstance(number, bool)):
            raise UsageError("not-a-whole-number", f"expected a whole number, found {number!r}", parameter=name)
        if isinstance(number, Integral) and name in ("budget", "votes") and int(number) < 1:
            raise UsageError("out-of-range", f"expected a number of at least 1, found {number}", parameter=name)


def _load_candidates(
    candidates: object, preferences: object, depth: int | None
) -> tuple[Candidates, Preferences | None, int, list[Note]]:
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
) -> list[Note]:
    notes = []
    if matches.size:
        by_pair = matches.merge_by_pair()
        complete = int((by_pair.weight >= votes).sum())
        suffix = "" if design == "active" else f"; {complete:,} have {votes} or more, and are not asked again"
        known = f"{format_count(matches.size, 'vote')} on {format_count(by_pair.size, 'pair')} are known"
        notes.append(Note("known-votes", f"{known}{suffix}"))
    if budget is not None and len(pairs.first) < budget:
        text = f"{budget:,} pairs were asked for, and only {len(pairs.first):,} are left: all of them"
        if design == "active":
            text = (
                f"{format_count(budget * votes, 'vote')} were asked for, and only {len(pairs.first) * votes:,} are "
                f"possible: at once, a pair is asked for {max(MAX_COPIES // votes, 1) * votes} at most, each of "
                f"another person"
            )
        notes.append(Note("fewer-pairs", text, parameter="budget"))
    return notes
