"""Runs against judgments, one run at a time, with every doubt noted; and the pool of what the runs found."""

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
from ringtrue.formatting.phrases import join_first_few
from ringtrue.messages import Note, Suggestion
from ringtrue.tables import Judgments, Run

Missing: TypeAlias = Literal["zero", "skip"]
Judges: TypeAlias = Literal["one", "average"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MatchedRun:
    """One run against the judgments: its lists by each judge's labels, and which judged queries it has."""

    run: Run
    queries: tuple[str, ...]
    present: NDArray[np.bool_]
    absent: tuple[str, ...]
    per_judge: list[tuple[Matcher, RankedLists]]

    def average_over_judges(self, formula: Callable[[RankedLists], FloatArray]) -> FloatArray:
        """The formula for every query, averaged over the judges who judged that query.

        The formula gives each list a number, or a row of them. A judge under whose labels it is NaN has no
        say about that query; where nobody has, it stays NaN.
        """
        if len(self.per_judge) == 1:
            return formula(self.per_judge[0][1])
        row_of_query = {query: i for i, query in enumerate(self.queries)}
        parts = [(matcher.queries, formula(lists)) for matcher, lists in self.per_judge]
        shape = parts[0][1].shape[1:]
        total = np.zeros((len(self.queries), *shape))
        judge_counts = np.zeros((len(self.queries), *[1] * len(shape)))
        for queries, values in parts:
            defined = ~np.isnan(values).reshape(len(values), -1).any(axis=1)
            rows = np.array([row_of_query[query] for query in queries])[defined]
            total[rows] += values[defined]
            judge_counts[rows] += 1
        mean: FloatArray = np.divide(total, judge_counts, out=np.full(total.shape, np.nan), where=judge_counts > 0)
        return mean


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchSettings:
    """How runs are held against judgments, as `evaluate` explains it."""

    missing: Missing = "zero"
    judges: Judges = "one"
    depth: int | None = None
    compat: Compat | None = None
    collection_size: int | None = None

    def __post_init__(self) -> None:
        depth, size = self.depth, self.collection_size
        if depth is not None and not (isinstance(depth, int) and 1 <= depth < 2**31):
            raise UsageError(
                "bad-depth", f"a depth is a whole number of at least 1, found {depth!r}", parameter="depth"
            )
        if size is not None and not (isinstance(size, Integral) and 1 <= size <= 2**53):
            text = f"the size of a collection is a whole number from 1 to 2**53, found {size!r}"
            raise UsageError("out-of-range", text, parameter="collection_size")
        require_choice("missing", self.missing, get_args(Missing))
        require_choice("judges", self.judges, get_args(Judges))
        require_choice("compat", self.compat, (None, *get_args(Compat)))


def match_runs_to_qrels(
    runs: object, judgments: object, settings: MatchSettings, *, notes: NoteCollector, top: int | None = None
) -> Iterator[MatchedRun]:
    """Each run against the judgments, in turn; what is doubtful about the two goes into `notes`.

    `top` says that nothing will look further down the lists.
    """
    missing, depth, compat = settings.missing, settings.depth, settings.compat
    qrels = Judgments.of(judgments)
    qrels_per_judge = [qrels.by(judge) for judge in qrels.judges] if settings.judges == "average" else [qrels]
    max_label = int(qrels.frame.select(pl.col("label").max()).item())
    matchers = [Matcher(judge_qrels, max_label=max_label) for judge_qrels in qrels_per_judge]
    queries = tuple(dict.fromkeys(query for matcher in matchers for query in matcher.queries))
    if len(matchers) > 1:
        notes.add_judge_notes(qrels)

    def match_run(run: Run) -> MatchedRun:
        require_overlap(run, queries)
        run_queries = set(run.queries)
        present = np.array([query in run_queries for query in queries])
        absent = tuple(query for query, is_present in zip(queries, present, strict=True) if not is_present)
        if absent and missing == "skip" and compat == "trec_eval-10":
            lacking = f"{len(absent)} of {len(queries)} judged queries not in the run ({join_first_few(absent)})"
            raise MismatchError(
                "queries-not-in-run",
                f"{lacking}: trec_eval 10 stops here unless they count as 0",
                subject=run.name,
                suggestions=[Suggestion("counts them so", missing="zero")],
            )
        lists = [
            matcher.match(run, depth=depth, top=top, compat=compat, collection_size=settings.collection_size)
            for matcher in matchers
        ]
        per_judge = list(zip(matchers, lists, strict=True))
        return MatchedRun(run=run, queries=queries, present=present, absent=absent, per_judge=per_judge)

    def match_all() -> Iterator[MatchedRun]:
        seen_names: set[str] = set()
        for run in iterate_runs(runs):
            if run.name in seen_names:
                raise UsageError("repeated-run-name", f"two runs are called '{run.name}'; give each its own name")
            seen_names.add(run.name)
            matched = match_run(run)
            notes.add_run_notes(matched, missing)
            yield matched
        if not seen_names:
            raise UsageError("needs-runs", "no run was given", parameter="runs")

    return match_all()


def require_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Refuse a value that is none of the choices."""
    if value not in choices:
        listed = ", ".join(map(repr, choices))
        raise UsageError("unknown-choice", f"expected one of {listed}; found {value!r}", parameter=name)


class NoteCollector:
    """Notes gathered over all runs; the same note about several runs is there once."""

    def __init__(self) -> None:
        self.runs_by_note: dict[Note, list[str]] = {}

    def add(self, note: Note, *runs: str) -> None:
        """Keep a note about these runs, or about the whole."""
        self.runs_by_note.setdefault(note, []).extend(runs)

    def messages(self) -> tuple[Note, ...]:
        """Every note, with the runs that it is about."""
        return tuple(note.about(join_first_few(runs)) if runs else note for note, runs in self.runs_by_note.items())

    def add_run_notes(self, matched: MatchedRun, missing: Missing) -> None:
        """Which queries the run and the judgments do not share, and whether they share documents at all."""
        run, absent = matched.run, matched.absent
        if absent:
            treatment = "counted as having found nothing" if missing == "zero" else "left out of the mean"
            lacking = f"{len(absent)} of {len(matched.queries)} judged queries not in the run"
            self.add(Note("queries-not-in-run", f"{lacking}, {treatment}: {join_first_few(absent)}"), run.name)
        judged = set(matched.queries)
        unjudged = [query for query in run.queries if query not in judged]
        if unjudged:
            count = _format_query_count(unjudged)
            text = f"{count} of the run never judged, not counted: {join_first_few(unjudged)}"
            self.add(Note("queries-not-judged", text), run.name)
        if not any(len(lists.rank) for _, lists in matched.per_judge):
            text = (
                f"no document of the run was judged: it has '{run.docs[0]}', the judgments have "
                f"'{matched.per_judge[0][0].docs[0]}'; are the ids of the same kind?"
            )
            self.add(Note("no-common-document", text), run.name)
        if run.scores.min() == run.scores.max() and len(run.scores) > len(run.queries):
            text = "all scores are equal: the documents are ranked by their ids alone"
            self.add(Note("constant-scores", text), run.name)

    def add_judge_notes(self, qrels: Judgments) -> None:
        """Whether the judges looked at the same documents."""
        docs = pl.col("doc").n_unique()
        seen = qrels.frame.group_by("query", "judge").agg(docs.alias("seen"))
        judged = qrels.frame.group_by("query").agg(docs.alias("judged"))
        share = seen.join(judged, on="query").select(pl.col("seen") / pl.col("judged")).mean().item()
        if share < 0.9:
            text = (
                f"on average a judge labelled {share:.0%} of the judged documents of a query, and all others "
                f"count as not relevant for that judge: the average says little about the run"
            )
            self.add(Note("partly-judged-queries", text))

    def add_no_relevant_note(self, matched: MatchedRun, *, rel: int, treatment: str) -> None:
        """Which queries have nothing to find, and what was done about them."""
        empty_queries = _queries_with_none(matched, lambda lists: lists.relevant(rel))
        if empty_queries:
            reason = f"without a document of label {rel} or higher, {treatment}"
            if len(matched.per_judge) > 1:
                reason = f"to which some judges gave no label of {rel} or higher, {treatment} for those judges"
            text = f"{_format_query_count(empty_queries)} {reason}: {join_first_few(empty_queries)}"
            self.add(Note("queries-without-relevant", text, parameter="rel"))

    def add_no_nonrelevant_note(
        self, matched: MatchedRun, *, count: Callable[[RankedLists], FloatArray], treatment: str
    ) -> None:
        """Which queries have nothing to leave out, and what was done about them; it may depend on the run."""
        empty_queries = _queries_with_none(matched, count)
        if empty_queries:
            who = "" if len(matched.per_judge) == 1 else " for some judges"
            empty = _format_query_count(empty_queries)
            text = f"{empty} with nothing but relevant documents{who}, {treatment}: {join_first_few(empty_queries)}"
            self.add(Note("queries-without-nonrelevant", text), matched.run.name)

    def add_collection_note(self, matched: MatchedRun) -> None:
        """Whether the size of the collection had to be guessed."""
        if matched.per_judge[0][1].collection_size is None:
            text = "the collection's size was not given: taken to be the judged and the retrieved documents"
            given = Suggestion("says how many there are", collection_size=...)
            self.add(Note("collection-size-guessed", text, parameter="collection_size", suggestions=[given]))


def iterate_runs(runs: object) -> Iterable[Run]:
    """One run or several, as they were given: alone, in a list, as an iterator, or by name in a dictionary."""
    if isinstance(runs, Mapping) and runs and all(map(_is_run, runs.values())):
        return [Run.of(run).called(str(name)) for name, run in runs.items()]
    if isinstance(runs, list | tuple) and runs and not _is_run(runs[0]):  # the records of one table
        return [Run.of(runs)]
    if isinstance(runs, Run | Mapping | str | bytes) or _is_frame(runs) or not isinstance(runs, Iterable):
        return [Run.of(runs)]
    return (Run.of(run, name=f"run{i}") for i, run in enumerate(runs, start=1))


def _is_run(candidate: object) -> bool:
    """Whether this is a run of its own, and not a row or a column of one."""
    if isinstance(candidate, Mapping):
        return bool(candidate) and all(isinstance(docs, Mapping) for docs in candidate.values())
    return isinstance(candidate, Run) or _is_frame(candidate)


def _is_frame(candidate: object) -> bool:
    return (
        isinstance(candidate, pl.DataFrame | pl.LazyFrame)
        or hasattr(candidate, "iloc")
        or hasattr(candidate, "__arrow_c_stream__")
    )


def require_overlap(run: Run, queries: Sequence[str]) -> None:
    """Refuse a run that answers none of the judged queries."""
    if not set(run.queries).isdisjoint(queries):
        return
    run_sample, judged_sample = (", ".join(f"'{query}'" for query in ids[:3]) for ids in (run.queries, queries))
    raise MismatchError(
        "no-common-query",
        f"the run and the judgments have no query in common: the run has {run_sample}, "
        f"the judgments have {judged_sample}; are they of the same collection?",
        subject=run.name,
    )


def _queries_with_none(matched: MatchedRun, count: Callable[[RankedLists], FloatArray]) -> dict[str, None]:
    """The queries where, by somebody's labels, there is none of what is counted."""
    return dict.fromkeys(
        query
        for matcher, lists in matched.per_judge
        for query, number in zip(matcher.queries, count(lists), strict=True)
        if not number
    )


def _format_query_count(queries: Collection[str]) -> str:
    return "1 query" if len(queries) == 1 else f"{len(queries)} queries"


def pool(runs: Iterable[Run], *, depth: int) -> pl.DataFrame:
    """The union of the runs' first `depth` documents: query, doc, how many runs found it, and its best rank.

    Queries come in order of appearance; within a query, what most runs found and ranked highest comes first.

    Examples:
        >>> a = Run.of({"q1": {"d1": 2.0, "d2": 1.0}}, name="a")
        >>> b = Run.of({"q1": {"d2": 9.0, "d3": 8.0}}, name="b")
        >>> pool([a, b], depth=2).rows()
        [('q1', 'd2', 2, 1), ('q1', 'd1', 1, 1), ('q1', 'd3', 1, 2)]
    """
    if depth < 1:
        raise UsageError("bad-depth", f"a pool needs a depth of at least 1, found {depth}", parameter="depth")
    rankings = [run.ranked(depth).select("query", "doc", "rank") for run in runs]
    if not rankings:
        raise UsageError("needs-runs", "a pool needs at least one run", parameter="runs")
    retrieved = pl.concat(rankings)
    order = retrieved.select(pl.col("query").unique(maintain_order=True)).with_row_index("place")
    return (
        retrieved.group_by("query", "doc")
        .agg(pl.len().alias("runs"), pl.col("rank").min().alias("best_rank"))
        .join(order, on="query")
        .sort("place", "runs", "best_rank", "doc", descending=[False, True, False, False])
        .select("query", "doc", "runs", "best_rank")
    )
