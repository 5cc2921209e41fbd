"""Runs against judgments, one run at a time, with every doubt noted: where evaluation and curves begin."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import MismatchError, UsageError
from ringtrue.evaluation.matching import Matcher
from ringtrue.evaluation.measures import Compat, FloatArray, RankedLists
from ringtrue.formatting.phrases import first_few
from ringtrue.tables import Judgments, Run

__all__ = ["Entry", "Judges", "Missing", "Notes", "every_run", "line_up", "require_choice", "require_overlap"]

Missing: TypeAlias = Literal["zero", "skip"]
Judges: TypeAlias = Literal["one", "average"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entry:
    """One run against the judgments: its lists by each judge's labels, and which judged queries it has."""

    run: Run
    queries: tuple[str, ...]
    present: NDArray[np.bool_]
    absent: tuple[str, ...]
    per_judge: list[tuple[Matcher, RankedLists]]

    def averaged(self, formula: Callable[[RankedLists], FloatArray]) -> FloatArray:
        """The formula for every query, averaged over the judges who judged that query.

        The formula gives each list a number, or a row of them. A judge under whose labels it is NaN has no
        say about that query; where nobody has, it stays NaN.
        """
        if len(self.per_judge) == 1:
            return formula(self.per_judge[0][1])
        code = {query: i for i, query in enumerate(self.queries)}
        parts = [(matcher.queries, formula(lists)) for matcher, lists in self.per_judge]
        shape = parts[0][1].shape[1:]
        total = np.zeros((len(self.queries), *shape))
        judges = np.zeros((len(self.queries), *[1] * len(shape)))
        for queries, values in parts:
            told = ~np.isnan(values).reshape(len(values), -1).any(axis=1)
            where = np.array([code[query] for query in queries])[told]
            total[where] += values[told]
            judges[where] += 1
        mean: FloatArray = np.divide(total, judges, out=np.full(total.shape, np.nan), where=judges > 0)
        return mean


def line_up(
    runs: object,
    judgments: object,
    *,
    notes: Notes,
    missing: Missing,
    judges: Judges,
    depth: int | None,
    compat: Compat | None,
    collection_size: int | None,
    top: int | None = None,
) -> Iterator[Entry]:
    """Each run against the judgments, in turn; what is doubtful about the two goes into `notes`.

    `top` says that nothing will look further down the lists.
    """
    if depth is not None and not (isinstance(depth, int) and 1 <= depth < 2**31):
        raise UsageError(f"depth must be a whole number of at least 1, found {depth!r}")
    if collection_size is not None and not (isinstance(collection_size, Integral) and 1 <= collection_size <= 2**53):
        raise UsageError(f"collection_size must be a whole number from 1 to 2**53, found {collection_size!r}")
    require_choice("missing", missing, get_args(Missing))
    require_choice("judges", judges, get_args(Judges))
    require_choice("compat", compat, (None, *get_args(Compat)))
    labelled = Judgments.of(judgments)
    apart = [labelled.by(judge) for judge in labelled.judges] if judges == "average" else [labelled]
    largest = int(labelled.frame.select(pl.col("label").max()).item())
    matchers = [Matcher(one, max_label=largest) for one in apart]
    queries = tuple(dict.fromkeys(query for matcher in matchers for query in matcher.queries))
    if len(matchers) > 1:
        notes.of_judges(labelled)

    def entry(run: Run) -> Entry:
        require_overlap(run, queries)
        has = set(run.queries)
        present = np.array([query in has for query in queries])
        absent = tuple(query for query, there in zip(queries, present, strict=True) if not there)
        if absent and missing == "skip" and compat == "trec_eval-10":
            raise MismatchError(
                f"run '{run.name}' lacks {len(absent)} of {len(queries)} judged queries ({first_few(absent)}): "
                f"trec_eval 10 stops here unless they count as 0 (--missing zero)"
            )
        lists = [
            matcher.lists(run, depth=depth, top=top, compat=compat, collection_size=collection_size)
            for matcher in matchers
        ]
        lined = list(zip(matchers, lists, strict=True))
        return Entry(run=run, queries=queries, present=present, absent=absent, per_judge=lined)

    def entries() -> Iterator[Entry]:
        names: set[str] = set()
        for run in every_run(runs):
            if run.name in names:
                raise UsageError(f"two runs are called '{run.name}'; give each its own name")
            names.add(run.name)
            one = entry(run)
            notes.of_run(one, missing)
            yield one
        if not names:
            raise UsageError("no run was given")

    return entries()


def require_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Refuse a value that is none of the choices."""
    if value not in choices:
        raise UsageError(f"{name} is one of {', '.join(map(repr, choices))}; found {value!r}")


class Notes:
    """Doubts gathered over all runs; the same doubt about several runs is told once."""

    def __init__(self) -> None:
        self.runs: dict[str, list[str]] = {}

    def add(self, text: str, *runs: str) -> None:
        """Take down a doubt about these runs, or about the whole."""
        self.runs.setdefault(text, []).extend(runs)

    def told(self) -> tuple[str, ...]:
        """Every doubt in a sentence, with the runs that it is about."""
        return tuple(f"{first_few(runs)}: {text}" if runs else text for text, runs in self.runs.items())

    def of_run(self, entry: Entry, missing: Missing) -> None:
        """Which queries the run and the judgments do not share, and whether they share documents at all."""
        run, absent = entry.run, entry.absent
        if absent:
            done = "counted as having found nothing" if missing == "zero" else "left out of the mean"
            text = f"{len(absent)} of {len(entry.queries)} judged queries not in the run, {done}: {first_few(absent)}"
            self.add(text, run.name)
        judged = set(entry.queries)
        extra = [query for query in run.queries if query not in judged]
        if extra:
            self.add(f"{_queries(extra)} of the run never judged, not counted: {first_few(extra)}", run.name)
        if not any(len(lists.rank) for _, lists in entry.per_judge):
            self.add(
                f"no document of the run was judged: it has '{run.docs[0]}', the judgments have "
                f"'{entry.per_judge[0][0].docs[0]}'; are the ids of the same kind?",
                run.name,
            )
        if run.scores.min() == run.scores.max() and len(run.scores) > len(run.queries):
            self.add("all scores are equal: the documents are ranked by their ids alone", run.name)

    def of_judges(self, labelled: Judgments) -> None:
        """Whether the judges looked at the same documents."""
        docs = pl.col("doc").n_unique()
        seen = labelled.frame.group_by("query", "judge").agg(docs.alias("seen"))
        judged = labelled.frame.group_by("query").agg(docs.alias("judged"))
        share = seen.join(judged, on="query").select(pl.col("seen") / pl.col("judged")).mean().item()
        if share < 0.9:
            self.add(
                f"on average a judge labelled {share:.0%} of the judged documents of a query, and all others "
                f"count as not relevant for that judge: the average says little about the run"
            )

    def of_relevant(self, entry: Entry, *, rel: int, done: str) -> None:
        """Which queries have nothing to find, and what was done about them."""
        without = _without(entry, lambda lists: lists.relevant(rel))
        if without and len(entry.per_judge) == 1:
            self.add(f"{_queries(without)} without a document of label {rel} or higher, {done}: {first_few(without)}")
        elif without:
            self.add(
                f"{_queries(without)} to which some judges gave no label of {rel} or higher, {done} for those judges: "
                f"{first_few(without)}"
            )

    def of_nonrelevant(self, entry: Entry, *, count: Callable[[RankedLists], FloatArray], done: str) -> None:
        """Which queries have nothing to leave out, and what was done about them; it may depend on the run."""
        without = _without(entry, count)
        if without:
            who = "" if len(entry.per_judge) == 1 else " for some judges"
            self.add(
                f"{_queries(without)} with nothing but relevant documents{who}, {done}: {first_few(without)}",
                entry.run.name,
            )

    def of_collection(self, entry: Entry) -> None:
        """Whether the size of the collection had to be guessed."""
        if entry.per_judge[0][1].collection_size is None:
            self.add(
                "the collection's size was not given: taken to be the judged and the retrieved documents "
                "(--collection-size N)"
            )


def every_run(runs: object) -> Iterable[Run]:
    """One run or several, as they were given: alone, in a list, as an iterator, or by name in a dictionary."""
    if isinstance(runs, Mapping) and runs and all(map(_is_run, runs.values())):
        return [Run.of(run).called(str(name)) for name, run in runs.items()]
    if isinstance(runs, list | tuple) and runs and not _is_run(runs[0]):  # the records of one table
        return [Run.of(runs)]
    if isinstance(runs, Run | Mapping | str | bytes) or _is_frame(runs) or not isinstance(runs, Iterable):
        return [Run.of(runs)]
    return (Run.of(run, name=f"run{i}") for i, run in enumerate(runs, start=1))


def _is_run(thing: object) -> bool:
    """Whether this is a run of its own, and not a row or a column of one."""
    if isinstance(thing, Mapping):
        return bool(thing) and all(isinstance(docs, Mapping) for docs in thing.values())
    return isinstance(thing, Run) or _is_frame(thing)


def _is_frame(thing: object) -> bool:
    return (
        isinstance(thing, pl.DataFrame | pl.LazyFrame) or hasattr(thing, "iloc") or hasattr(thing, "__arrow_c_stream__")
    )


def require_overlap(run: Run, queries: Sequence[str]) -> None:
    """Refuse a run that answers none of the judged queries."""
    if not set(run.queries).isdisjoint(queries):
        return
    ours, theirs = (", ".join(f"'{query}'" for query in ids[:3]) for ids in (run.queries, queries))
    raise MismatchError(
        f"run '{run.name}' and the judgments have no query in common: the run has {ours}, "
        f"the judgments have {theirs}; are they of the same collection?"
    )


def _without(entry: Entry, count: Callable[[RankedLists], FloatArray]) -> dict[str, None]:
    """The queries where, by somebody's labels, there is none of what is counted."""
    return dict.fromkeys(
        query
        for matcher, lists in entry.per_judge
        for query, counted in zip(matcher.queries, count(lists), strict=True)
        if not counted
    )


def _queries(some: Collection[str]) -> str:
    return "1 query" if len(some) == 1 else f"{len(some)} queries"
