"""Which pairs should be compared next?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from ringtrue.errors import InputError, TableError, UsageError, did_you_mean
from ringtrue.formatting.phrases import counted
from ringtrue.preference.active_design import COPIES, active_pairs
from ringtrue.preference.candidates import Candidates, tables_in
from ringtrue.preference.pair_designs import Pairs, random_pairs, seed_pairs, swiss_pairs
from ringtrue.preference.pair_tasks import last_batch, require_tasks, task_table
from ringtrue.preference.rate import told_of_traps, without_traps
from ringtrue.stats.bootstrap import require_generator
from ringtrue.tables import Judgments, Preferences
from ringtrue.tables.preferences import joined

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
TRAPS = 5  # in a task


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
    _require_question(design, rng, budget=budget, votes=votes, depth=depth, per_task=per_task, traps=traps_per_task)
    if traps is None and traps_per_task:
        raise UsageError(f"{counted(traps_per_task, 'trap')} should be in a task, and no traps are given; --traps FILE")
    votes = VOTES[design] if votes is None else votes
    trapped = 0 if traps is None else TRAPS if traps_per_task is None else traps_per_task
    require_tasks(per_task, trapped)
    rng = np.random.default_rng(0) if rng is None else rng
    found, known, batch, notes = _start(candidates, preferences, depth)
    matches = found.matches(known)
    room = per_task - trapped
    usual = max(room // votes, 1) * len(found.queries) if design == "active" else None
    pairs = DESIGNS[design](matches, votes=votes, budget=usual if budget is None else budget, rng=rng)
    if not len(pairs.first):
        raise InputError(f"every pair of the design '{design}' has its {votes} votes: nothing is left to ask")
    notes += _doubts(matches, pairs, design=design, votes=votes, budget=budget)
    table, more = task_table(
        _asked(found, pairs), None if traps is None else _trap_pairs(traps),
        per_task=per_task, traps_per_task=trapped, before=batch, rng=rng,
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


def _require_question(design: object, rng: object, **numbers: object) -> None:
    """Refuse what no design can be asked for, in our words."""
    known = get_args(PairDesign)
    if not isinstance(design, str) or design not in known:
        near = did_you_mean(str(design), known) or "; there is " + ", ".join(known)
        raise UsageError(f"no design '{design}'{near}")
    require_generator(rng)
    names = {"votes": "number of votes on a pair", "per_task": "number of pairs in a task", "traps": "number of traps"}
    for name, number in numbers.items():
        what = f"expected a {names.get(name, name)}"
        if number is not None and (not isinstance(number, Integral) or isinstance(number, bool)):
            raise UsageError(f"{what} that is a whole number, found {number!r}")
        if isinstance(number, Integral) and name in ("budget", "votes") and int(number) < 1:
            raise UsageError(f"{what} of at least 1, found {number}")


def _trap_pairs(traps: object) -> Preferences:
    if isinstance(traps, Judgments):
        raise TableError("these look like traps for labels; pairs need two documents and a winner")
    return Preferences.of(traps)


def _start(
    candidates: object, preferences: object, depth: int | None
) -> tuple[Candidates, Preferences | None, int, list[str]]:
    """The documents, the preferences about them so far, the last batch of these, and what is doubtful."""
    found = Candidates.of(candidates, depth=depth)
    if preferences is None:
        found, alone = found.comparable()
        return found, None, 0, [*alone]
    told = joined([Preferences.of(table, answered_only=True) for table in tables_in(preferences)])
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
        notes.append(f"{counted(known.size, 'vote')} on {counted(tallied.size, 'pair')} are known{done}")
    if budget is not None and len(pairs.first) < budget:
        notes.append(
            f"{counted(budget * votes, 'vote')} were asked for, and only {len(pairs.first) * votes:,} are possible: at "
            f"once, a pair is asked for {max(COPIES // votes, 1) * votes} at most, each of another person"
            if design == "active"
            else f"{budget:,} pairs were asked for, and only {len(pairs.first):,} are left: all of them"
        )
    return notes
