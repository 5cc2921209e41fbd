"""Tables × measures → Scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from ringtrue.errors import MismatchError, UsageError, did_you_mean
from ringtrue.matching import Matcher
from ringtrue.measures import Compat, FloatArray, Measure, RankedLists, parse_all
from ringtrue.tables import Judgments, Run, Scores

__all__ = ["Judges", "Missing", "evaluate", "split_by"]

Missing: TypeAlias = Literal["zero", "skip"]
Judges: TypeAlias = Literal["one", "average"]
NO_VALUE = "(none)"
NEEDS_COLLECTION = {"SetAcc", "Fallout", "TN"}
BLIND_TO_LABELS = {"Judged", "NumRet"}


def evaluate(
    runs: object,
    judgments: object,
    measures: str | Measure | Iterable[str | Measure],
    *,
    missing: Missing = "zero",
    judges: Judges = "one",
    depth: int | None = None,
    compat: Compat | None = None,
    collection_size: int | None = None,
) -> Scores:
    """The value of every measure for every judged query of every run.

    `runs` is a run or several: `Run`, a frame or a dictionary as `Run.of` takes them, or an iterable of
    `Run` that is read one at a time. A judged query that a run does not have counts as 0, unless `missing`
    is "skip". Where documents have labels from several judges, `judges="average"` evaluates with each
    judge's labels and averages over the judges of a query. `depth` cuts every list. `compat` follows
    trec_eval 9 or 10 where they depart from the plain formulas.

    Examples:
        >>> run = {"q1": {"d1": 3.0, "d2": 2.0}, "q2": {"d7": 1.0}}
        >>> scores = evaluate(run, {"q1": {"d2": 1}, "q2": {"d7": 1}}, "RR, nDCG@10")
        >>> scores.means()["run"]["RR"].value
        0.75
    """
    if isinstance(measures, str | Measure):
        measures = [measures]
    wanted = parse_all(measures if isinstance(measures, Iterable) else [])
    if not wanted:
        raise UsageError("no measure was asked for; nDCG@10 is a good first one")
    if depth is not None and not (isinstance(depth, int) and 1 <= depth < 2**31):
        raise UsageError(f"depth must be a whole number of at least 1, found {depth!r}")
    _require_choice("missing", missing, get_args(Missing))
    _require_choice("judges", judges, get_args(Judges))
    _require_choice("compat", compat, (None, *get_args(Compat)))
    labelled = Judgments.of(judgments)
    apart = [labelled.by(judge) for judge in labelled.judges] if judges == "average" else [labelled]
    top = int(labelled.frame.select(pl.col("label").max()).item())
    matchers = [Matcher(one, max_label=top) for one in apart]
    queries = tuple(dict.fromkeys(query for matcher in matchers for query in matcher.queries))

    ids = pl.Series(queries, dtype=pl.String)

    frames, notes = [], _Notes()
    if len(matchers) > 1:
        notes.of_judges(labelled)
    lacking: dict[str, tuple[str, ...]] = {}
    for run in _runs(runs):
        if run.name in lacking:
            raise UsageError(f"two runs are called '{run.name}'; give each its own name")
        _require_overlap(run, queries)
        per_judge = [
            (matcher, matcher.lists(run, depth=depth, compat=compat, collection_size=collection_size))
            for matcher in matchers
        ]
        has = set(run.queries)
        present = np.array([query in has for query in queries])
        absent = lacking[run.name] = tuple(query for query, there in zip(queries, present, strict=True) if not there)
        if absent and missing == "skip" and compat == "trec_eval-10":
            raise MismatchError(
                f"run '{run.name}' lacks {len(absent)} of {len(queries)} judged queries ({_some(absent)}): "
                f"trec_eval 10 stops here unless they count as 0 (--missing zero)"
            )
        notes.of_run(run, queries, absent, missing)
        notes.of_lists(run, wanted, per_judge)
        for measure in wanted:
            # A query that the run does not have may count as 0, but not as documents that nobody judged.
            skipped = missing == "skip" or measure.name == "Judged"
            counted = present if skipped else np.ones(len(queries), dtype=bool)
            frames.append(
                pl.DataFrame(
                    {"query": ids.filter(counted), "value": _averaged(measure, per_judge, queries)[counted]}
                ).select(pl.lit(run.name).alias("run"), "query", pl.lit(str(measure)).alias("measure"), "value")
            )
    if not frames:
        raise UsageError("no run was given")
    return Scores(
        pl.concat(frames),
        notes=notes.told(),
        absent={name: some for name, some in lacking.items() if some},
    )


def split_by(scores: Scores, table: pl.DataFrame, column: str) -> dict[str, Scores]:
    """The scores apart for each value of a column of a table that has a `query` column.

    Queries without a value come last, under "(none)". A query with two values is an error.

    Examples:
        >>> scores = evaluate({"q1": {"d1": 1.0}, "q2": {"d2": 1.0}}, {"q1": {"d1": 1}, "q2": {"d9": 1}}, "RR")
        >>> kinds = pl.DataFrame({"query": ["q1", "q2"], "kind": ["easy", "hard"]})
        >>> {kind: part.means()["run"]["RR"].value for kind, part in split_by(scores, kinds, "kind").items()}
        {'easy': 1.0, 'hard': 0.0}
    """
    if column not in table.columns:
        near = did_you_mean(column, table.columns) or "; there is " + ", ".join(table.columns)
        raise UsageError(f"no column '{column}' to split by{near}")
    if table[column].dtype.is_nested():
        raise UsageError(f"column '{column}' holds lists or objects; only single values can split the scores")
    values = (
        table.select(pl.col("query"), pl.col(column).cast(pl.String).alias("_by"))
        .drop_nulls()
        .unique(maintain_order=True)
    )
    twice = values.filter(pl.col("query").is_duplicated())
    if twice.height:
        raise UsageError(
            f"query '{twice['query'][0]}' has several values of '{column}' ({', '.join(twice['_by'][:3])}): "
            f"only a column that says one thing for each query can split the scores"
        )
    joined = scores.frame.join(values, on="query", how="left").with_columns(pl.col("_by").fill_null(NO_VALUE))
    parts = {str(key[0]): part.drop("_by") for key, part in joined.group_by("_by", maintain_order=True)}
    return {
        value: Scores(parts[value], scores.notes, scores.absent)
        for value in sorted(parts, key=lambda v: (v == NO_VALUE, v))
    }


def _require_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    if value not in choices:
        raise UsageError(f"{name} is one of {', '.join(map(repr, choices))}; found {value!r}")


def _runs(runs: object) -> Iterable[Run]:
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


def _averaged(measure: Measure, per_judge: list[tuple[Matcher, RankedLists]], queries: tuple[str, ...]) -> FloatArray:
    """The measure for every query, averaged over the judges who judged that query."""
    if len(per_judge) == 1:
        return measure(per_judge[0][1])
    total, judges = np.zeros(len(queries)), np.zeros(len(queries))
    code = {query: i for i, query in enumerate(queries)}
    for matcher, lists in per_judge:
        where = np.array([code[query] for query in matcher.queries])
        total[where] += measure(lists)
        judges[where] += 1
    return total / judges


def _require_overlap(run: Run, queries: tuple[str, ...]) -> None:
    if not set(run.queries).isdisjoint(queries):
        return
    ours, theirs = (", ".join(f"'{query}'" for query in ids[:3]) for ids in (run.queries, queries))
    raise MismatchError(
        f"run '{run.name}' and the judgments have no query in common: the run has {ours}, "
        f"the judgments have {theirs}; are they of the same collection?"
    )


class _Notes:
    """Doubts gathered over all runs; the same doubt about several runs is told once."""

    def __init__(self) -> None:
        self.runs: dict[str, list[str]] = {}

    def add(self, text: str, *runs: str) -> None:
        self.runs.setdefault(text, []).extend(runs)

    def of_run(self, run: Run, queries: tuple[str, ...], absent: Collection[str], missing: Missing) -> None:
        if absent:
            done = "counted as having found nothing" if missing == "zero" else "left out of the mean"
            self.add(
                f"{len(absent)} of {len(queries)} judged queries not in the run, {done}: {_some(absent)}",
                run.name,
            )
        judged = set(queries)
        extra = [query for query in run.queries if query not in judged]
        if extra:
            self.add(f"{_queries(extra)} of the run never judged, not counted: {_some(extra)}", run.name)

    def of_judges(self, labelled: Judgments) -> None:
        docs = pl.col("doc").n_unique()
        seen = labelled.frame.group_by("query", "judge").agg(docs.alias("seen"))
        judged = labelled.frame.group_by("query").agg(docs.alias("judged"))
        share = seen.join(judged, on="query").select(pl.col("seen") / pl.col("judged")).mean().item()
        if share < 0.9:
            self.add(
                f"on average a judge labelled {share:.0%} of the judged documents of a query, and all others "
                f"count as not relevant for that judge: the average says little about the run"
            )

    def of_lists(self, run: Run, wanted: list[Measure], per_judge: list[tuple[Matcher, RankedLists]]) -> None:
        if not any(len(lists.rank) for _, lists in per_judge):
            self.add(
                f"no document of the run was judged: it has '{run.docs[0]}', the judgments have "
                f"'{per_judge[0][0].docs[0]}'; are the ids of the same kind?",
                run.name,
            )
        if run.scores.min() == run.scores.max() and len(run.scores) > len(run.queries):
            self.add("all scores are equal: the documents are ranked by their ids alone", run.name)
        for rel in sorted({dict(m.parameters).get("rel", 1) for m in wanted if m.name not in BLIND_TO_LABELS}):
            without = dict.fromkeys(
                query
                for matcher, lists in per_judge
                for query, count in zip(matcher.queries, lists.relevant(rel), strict=True)
                if not count
            )
            if without and len(per_judge) == 1:
                self.add(
                    f"{_queries(without)} without a document of label {rel} or higher, where most measures are 0: "
                    f"{_some(without)}"
                )
            elif without:
                self.add(
                    f"{_queries(without)} to which some judges gave no label of {rel} or higher, where most measures "
                    f"are 0 for those judges: {_some(without)}"
                )
        if {m.name for m in wanted} & NEEDS_COLLECTION and per_judge[0][1].collection_size is None:
            self.add(
                "the collection's size was not given: taken to be the judged and the retrieved documents "
                "(--collection-size N)"
            )

    def told(self) -> tuple[str, ...]:
        return tuple(f"{_some(runs)}: {text}" if runs else text for text, runs in self.runs.items())


def _queries(some: Collection[str]) -> str:
    return "1 query" if len(some) == 1 else f"{len(some)} queries"


def _some(names: Collection[str], most: int = 3) -> str:
    shown = ", ".join(islice(names, most))
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
