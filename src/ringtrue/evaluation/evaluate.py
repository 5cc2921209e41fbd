"""Tables × measures → Scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.evaluation.inputs import Judges, MatchedRun, MatchSettings, Missing, NoteCollector, match_runs_to_qrels
from ringtrue.evaluation.measures import Compat, FloatArray, Measure, RankedLists, parse_all
from ringtrue.evaluation.measures.catalogue import NEEDS_COLLECTION
from ringtrue.evaluation.measures.set_based import num_nonrelevant
from ringtrue.messages import Suggestion
from ringtrue.tables import Scores
from ringtrue.tables.columns import make_frame, rename_columns

NO_VALUE = "(none)"
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
    parsed_measures = parse_all(measures if isinstance(measures, Iterable) else [])
    if not parsed_measures:
        usual = Suggestion("is a good first one", measures="nDCG@10")
        raise UsageError("no-measure", "no measure was asked for", parameter="measures", suggestions=[usual])
    settings = MatchSettings(
        missing=missing, judges=judges, depth=depth, compat=compat, collection_size=collection_size
    )
    reaches, notes = [measure.reach for measure in parsed_measures], NoteCollector()
    top = None if None in reaches else max(rank for rank in reaches if rank is not None)
    frames: list[pl.DataFrame] = []
    absent: dict[str, tuple[str, ...]] = {}
    for matched in match_runs_to_qrels(runs, judgments, settings, notes=notes, top=top):
        _add_measure_notes(notes, matched, parsed_measures)
        queries = pl.Series(matched.queries, dtype=pl.String)
        if matched.absent:
            absent[matched.run.name] = matched.absent
        for measure in parsed_measures:
            # A query that the run does not have may count as 0, but not as documents that nobody judged.
            skipped = missing == "skip" or measure.name == "Judged"
            counted = matched.present if skipped else np.ones(len(queries), dtype=bool)
            frames.append(
                pl.DataFrame(
                    {"query": queries.filter(counted), "value": matched.average_over_judges(measure)[counted]}
                ).select(pl.lit(matched.run.name).alias("run"), "query", pl.lit(str(measure)).alias("measure"), "value")
            )
    return Scores(pl.concat(frames), notes=notes.messages(), absent=absent)


def split_by(scores: Scores, table: object, column: str) -> dict[str, Scores]:
    """The scores apart for each value of a column of a table with a row for each query: any frame will do.

    Queries without a value come last, under "(none)". A query with two values is an error.

    Examples:
        >>> scores = evaluate({"q1": {"d1": 1.0}, "q2": {"d2": 1.0}}, {"q1": {"d1": 1}, "q2": {"d9": 1}}, "RR")
        >>> kinds = pl.DataFrame({"query": ["q1", "q2"], "kind": ["easy", "hard"]})
        >>> {kind: part.means()["run"]["RR"].value for kind, part in split_by(scores, kinds, "kind").items()}
        {'easy': 1.0, 'hard': 0.0}
    """
    table = make_frame(table)
    if column not in table.columns:
        near = did_you_mean(column, table.columns) or "; there is " + ", ".join(table.columns)
        raise UsageError("unknown-column", f"no column '{column}' to split by{near}", parameter="column")
    if table[column].dtype.is_nested():
        text = f"column '{column}' holds lists or objects; only single values can split the scores"
        raise UsageError("nested-column", text, parameter="column")
    values = (
        rename_columns(
            table.with_columns(pl.col(column).cast(pl.String).alias("_by")), required=["query"], table_kind="table"
        )
        .select(pl.col("query").cast(pl.String), "_by")
        .drop_nulls()
        .unique(maintain_order=True)
    )
    ambiguous = values.filter(pl.col("query").is_duplicated())
    if ambiguous.height:
        raise UsageError(
            "several-values",
            f"query '{ambiguous['query'][0]}' has several values of '{column}' ({', '.join(ambiguous['_by'][:3])}): "
            f"only a column that says one thing for each query can split the scores",
            parameter="column",
        )
    joined = scores.frame.join(values, on="query", how="left").with_columns(pl.col("_by").fill_null(NO_VALUE))
    parts = {str(key[0]): part.drop("_by") for key, part in joined.group_by("_by", maintain_order=True)}
    return {
        group: Scores(parts[group], scores.notes, scores.absent)
        for group in sorted(parts, key=lambda v: (v == NO_VALUE, v))
    }


def _add_measure_notes(notes: NoteCollector, matched: MatchedRun, measures: list[Measure]) -> None:
    """What is doubtful about these measures of this run."""
    for rel in sorted({dict(m.parameters).get("rel", 1) for m in measures if m.name not in BLIND_TO_LABELS}):
        notes.add_no_relevant_note(matched, rel=rel, treatment="where most measures are 0")
    if {m.name for m in measures} & NEEDS_COLLECTION:
        notes.add_collection_note(matched)
    for parameters in (dict(m.parameters) for m in measures if m.name == "AUC"):
        notes.add_no_nonrelevant_note(
            matched, count=partial(_count_nonrelevant, parameters), treatment="where AUC is 0"
        )


def _count_nonrelevant(parameters: Mapping[str, Any], lists: RankedLists) -> FloatArray:
    return num_nonrelevant(lists.condensed if parameters.get("judged_only") else lists, rel=parameters.get("rel", 1))
