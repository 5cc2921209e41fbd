"""Which pairs should be compared next?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from ringtrue.errors import InputError, UsageError, did_you_mean
from ringtrue.preference.active import active_pairs
from ringtrue.preference.candidates import Candidates
from ringtrue.preference.pairings import Pairs, random_pairs, seed_pairs, swiss_pairs
from ringtrue.preference.rating import told_of_traps, without_traps
from ringtrue.preference.tasks import last_batch, require_tasks, task_table
from ringtrue.tables import Preferences
from ringtrue.wording import counted

if TYPE_CHECKING:
    from ringtrue.preference.matches import Matches

__all__ = ["DESIGNS", "PairChoice", "PairDesign", "choose_pairs"]

PairDesign: TypeAlias = Literal["seed", "random", "swiss", "active"]
DESIGNS: dict[PairDesign, Callable[..., Pairs]] = {
    "seed": seed_pairs,
    "random": random_pairs,
    "swiss": swiss_pairs,
    "active": active_pairs,
}
VOTES: dict[PairDesign, int] = {"seed": 4, "random": 4, "swiss": 4, "active": 1}


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
        counts = [counted(self.pairs, "pair"), counted(self.votes, "vote")]
        queries = f"{self.queries:,} quer{'y' if self.queries == 1 else 'ies'}"
        traps = f", with {counted(self.traps, 'trap')}" if self.traps else ""
        return f"{self.design}: {' and '.join(counts)} on {queries} in {counted(self.tasks, 'task')}{traps}"

    def as_dict(self) -> dict[str, object]:
        """The choice as plain data, in the key order of the command line's JSON."""
        return {
            "pairs": self.pairs,
            "votes": self.votes,
            "queries": self.queries,
            "tasks": self.tasks,
            "traps": self.traps,
            "design": self.design,
            "notes": list(self.notes),
        }


def choose_pairs(
    candidates: object,
    *,
    design: PairDesign = "active",
    preferences: object = None,
    budget: int | None = None,
    votes: int | None = None,
    traps: object = None,
    per_task: int = 20,
    traps_per_task: int = 5,
    depth: int | None = None,
    rng: np.random.Generator | None = None,
) -> PairChoice:
    """Which pairs of documents should be compared next, and in which tasks are they shown to people?

    `candidates` is a run, or a pool: a table without scores, the best first. `active` chooses the pairs that teach most
    about the top, given the `preferences` so far [MacKay92]; `seed` is the published design, 15 + 5 (n − 6) pairs
    of n documents, 4 votes each [Bashir13]; `swiss` pairs neighbours in the order so far; `random` draws any. A
    `budget` counts pairs, over all queries. Without one `active` fills a task for each query, `seed` is given whole,
    `random` is as large, and `swiss` plays a round. Each pair is asked `votes` times, less those that it has, but
    `active` may choose a pair again. `traps` are preferences whose winner is known: some are mixed into every task,
    and the table does not tell their winner.

    Examples:
        >>> run = {"q1": {f"d{rank}": -rank for rank in range(40)}}
        >>> print(choose_pairs(run, budget=15, rng=np.random.default_rng(1)))
        active: 15 pairs and 15 votes on 1 query in 1 task
    """
    if design not in DESIGNS:
        near = did_you_mean(design, get_args(PairDesign)) or "; there is " + ", ".join(get_args(PairDesign))
        raise UsageError(f"no design '{design}'{near}")
    votes = VOTES[design] if votes is None else votes
    for what, number in (("budget", budget), ("number of votes on a pair", votes)):
        if number is not None and number < 1:
            raise UsageError(f"expected a {what} of at least 1, found {number}")
    require_tasks(per_task, 0 if traps is None else traps_per_task)
    rng = rng or np.random.default_rng(0)
    found, known, batch, notes = _start(candidates, preferences, depth)
    matches = found.matches(known)
    room = per_task - (0 if traps is None else traps_per_task)
    usual = max(room // votes, 1) * len(found.queries) if design == "active" else None
    pairs = DESIGNS[design](matches, votes=votes, budget=usual if budget is None else budget, rng=rng)
    if not len(pairs.first):
        raise InputError(f"every pair of the design '{design}' has its {votes} votes: nothing is left to ask")
    notes += _doubts(matches, pairs, design=design, votes=votes, budget=budget)
    table, more = task_table(
        _asked(found, pairs), None if traps is None else Preferences.of(traps),
        per_task=per_task, traps_per_task=traps_per_task, before=batch, rng=rng,
    )  # fmt: skip
    empty = pl.lit(None, dtype=pl.String)
    asked = table.filter(~pl.col("trap"))
    return PairChoice(
        frame=table.with_columns(design=pl.lit(design), judge=empty, winner=empty),
        design=design,
        pairs=int((asked["vote"] == 1).sum()),
        votes=asked.height,
        queries=asked["query"].n_unique(),
        tasks=table["batch"].n_unique(),
        traps=table.height - asked.height,
        notes=(*notes, *more),
    )


def _start(
    candidates: object, preferences: object, depth: int | None
) -> tuple[Candidates, Preferences | None, int, list[str]]:
    """The documents, the preferences about them so far, the last batch of these, and what is doubtful."""
    found = Candidates.of(candidates, depth=depth)
    if preferences is None:
        found, alone = found.comparable()
        return found, None, 0, [*alone]
    told = Preferences.of(preferences, answered_only=True)
    votes, trapped = without_traps(told)
    found, known, doubts = found.joined(votes)
    found, alone = found.comparable()
    return found, known, last_batch(told), [*told_of_traps(trapped), *doubts, *alone]


def _asked(candidates: Candidates, pairs: Pairs) -> pl.DataFrame:
    """The pairs by name, each once, the rows of a query side by side."""
    numbers = pl.DataFrame({"one": pairs.first, "other": pairs.second, "copies": pairs.copies})
    once = numbers.group_by("one", "other").agg(pl.col("copies").sum()).sort("one", "other")
    first, second = candidates.docs[once["one"]], candidates.docs[once["other"]]
    return first.select("query", first="doc").with_columns(second=second["doc"], copies=once["copies"])


def _doubts(known: Matches, pairs: Pairs, *, design: PairDesign, votes: int, budget: int | None) -> list[str]:
    notes = []
    if known.size:
        tallied = known.paired()
        full = int((tallied.weight >= votes).sum())
        done = "" if design == "active" else f"; {full:,} have {votes} or more, and are not asked again"
        notes.append(f"{known.size:,} votes on {tallied.size:,} pairs are known{done}")
    if budget is not None and len(pairs.first) < budget:
        notes.append(f"{budget:,} pairs were asked for, and only {len(pairs.first):,} are left: all of them")
    return notes
