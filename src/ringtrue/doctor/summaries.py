"""What there is to say about a file alone: runs, pairs, pools, topics, documents, matrices and gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.doctor.recognise import recognise_table_format
from ringtrue.doctor.results import FileKind
from ringtrue.doctor.roles import (
    DOC_KEYS,
    GainsFile,
    IdFile,
    MatrixFile,
    NoteHandler,
    RunFile,
    UnjudgedFile,
    is_trusted,
)
from ringtrue.errors import FormatError
from ringtrue.files import read_confusion, read_documents, read_gains, read_run, read_topics
from ringtrue.files.byte_source import Source
from ringtrue.files.formats import Format, recognise_format
from ringtrue.files.tabular import read_table
from ringtrue.formatting.phrases import format_count, join_first_few
from ringtrue.messages import Note, Suggestion
from ringtrue.tables import Run
from ringtrue.tables.columns import COLUMN_ALIASES, parse_ids, rename_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOP_DEPTH = 10  # documents of each query that people look at
MANY_TIES_SHARE = 0.2  # of the first ten documents
MOSTLY_RISING_SHARE = 0.9  # of the lists


def summarise_run(source: Source, gold_docs: pl.DataFrame, note: NoteHandler) -> RunFile:
    """Read a run, and keep its tops, and which of the `gold_docs` (query, doc) it has anywhere."""
    form = recognise_format(source, "run")
    run = read_run(source, form=form, note=note)
    top = cut_run(run).called(source.path)  # two files may have one name, in different folders
    sizes = run.groups.sizes
    if form == "msmarco-run":
        text = "three fields a line, of which the last counts 1, 2, 3: read as ranks, as MS MARCO's runs have them"
        note(Note("read-as-ranks", text))
    _note_odd_scores(run, top, note)
    if len(run.queries) == 1:
        note(Note("single-query", "a single query: nothing can be said about others, and no interval can be given"))
    short_count = int((sizes < TOP_DEPTH).sum())
    if short_count and len(run.queries) > 1:
        verb = "has" if short_count == 1 else "have"
        subject = "every query has" if short_count == len(sizes) else f"{format_count(short_count, 'query')} {verb}"
        text = f"{subject} fewer than {TOP_DEPTH} documents: what is missing counts as not relevant"
        note(Note("short-lists", text))
    counts = {
        "queries": len(run.queries),
        "documents": len(run.docs),
        "fewest": int(sizes.min()),
        "most": int(sizes.max()),
        "tag": run.tag,
    }
    return RunFile(
        path=source.path,
        kind="run",
        form=form,
        counts=counts,
        queries=run.queries,
        top=top,
        gold_docs=_find_retrieved(run, gold_docs),
    )


def cut_run(run: Run, depth: int = TOP_DEPTH) -> Run:
    """The run's first documents of each query, ties broken as everywhere.

    Only what reaches the score of the last of them is sorted: a run of ten million lines has a hundred thousand tops.

    Examples:
        >>> cut_run(Run.of({"q": {"a": 1.0, "b": 3.0, "c": 2.0}}), depth=2).frame["doc"].to_list()
        ['b', 'c']
    """
    scores, starts, sizes = run.scores.to_numpy(), run.groups.offsets[:-1], run.groups.sizes
    sorted_scores = scores
    if not _is_sorted_by_score(scores, starts):
        sorted_scores = scores[np.lexsort((-scores, np.repeat(np.arange(len(starts)), sizes)))]
    cutoff_scores = sorted_scores[starts + np.minimum(sizes, depth) - 1]
    is_candidate = pl.Series(scores >= np.repeat(cutoff_scores, sizes))
    columns = [_queries_of_rows(run, is_candidate), run.docs.filter(is_candidate), run.scores.filter(is_candidate)]
    candidates = Run(pl.DataFrame(columns), name=run.name)
    return Run(candidates.ranked(depth).select("query", "doc", "score"), name=run.name, tag=run.tag)


def _is_sorted_by_score(scores: NDArray[np.float64], starts: NDArray[np.int64]) -> bool:
    """Whether every list comes in the order of its scores, best first."""
    is_falling = scores[1:] <= scores[:-1]
    is_falling[starts[1:] - 1] = True
    return bool(is_falling.all())


def _note_odd_scores(run: Run, top: Run, note: NoteHandler) -> None:
    """A word on scores that say nothing about the order, or the opposite of what is meant."""
    scores = run.scores.to_numpy()
    if len(scores) > len(run.queries) and scores.min() == scores.max():
        note(Note("constant-scores", f"all scores are {scores[0]:g}: the documents are ranked by their ids alone"))
        return
    if run.tag is not None and (rising_share := _rising_share(scores, run.groups.offsets)) > MOSTLY_RISING_SHARE:
        lists_phrase = "in every list" if rising_share == 1 else f"in {rising_share:.0%} of the lists"
        question = "are they distances? The highest score is ranked first"
        note(Note("rising-scores", f"the scores rise from line to line {lists_phrase}: {question}"))
    tied_share = top.frame.select(pl.struct("query", "score").is_duplicated()).to_series().mean()
    if isinstance(tied_share, float) and tied_share > MANY_TIES_SHARE:
        tied = f"{tied_share:.0%} of the first {TOP_DEPTH} documents"
        note(Note("tied-scores", f"{tied} share their score with another: ids decide their order"))


def _rising_share(scores: NDArray[np.float64], offsets: NDArray[np.int64]) -> float:
    """The share of the lists of two or more, in the order of the file, whose scores rise all the way."""
    starts, sizes = offsets[:-1], np.diff(offsets)
    fall_counts = np.concatenate([[0], np.cumsum(scores[1:] <= scores[:-1])])
    has_several = sizes > 1
    if not has_several.any():
        return 0.0
    falls_within = fall_counts[offsets[1:][has_several] - 1] - fall_counts[starts[has_several]]
    return float((falls_within == 0).mean())


def _find_retrieved(run: Run, gold_docs: pl.DataFrame) -> pl.DataFrame:
    """Which of these documents the run has, at any rank."""
    is_gold_doc = run.docs.is_in(gold_docs["doc"].implode())
    candidates = pl.DataFrame([_queries_of_rows(run, is_gold_doc), run.docs.filter(is_gold_doc).alias("doc")])
    return gold_docs.join(candidates, on=DOC_KEYS, how="semi", maintain_order="left")


def _queries_of_rows(run: Run, is_chosen: pl.Series) -> pl.Series:
    """The query of each row of a run that is chosen."""
    codes = np.repeat(np.arange(len(run.queries)), run.groups.sizes)[is_chosen.to_numpy()]
    return pl.Series("query", run.queries, dtype=pl.String).gather(codes)


def summarise_pairs(source: Source) -> UnjudgedFile:
    """Pairs of documents that nobody has judged yet."""
    form, table = _read_named_columns(source, "query, left and right")
    frame = rename_columns(table, required=["left", "right"], optional=["query"], table_kind="pairs")
    if "query" not in frame.columns:
        frame = frame.with_columns(query=pl.lit("0"))
    frame = frame.with_columns(parse_ids(frame, name) for name in ("query", "left", "right"))
    docs = pl.concat([frame.select("query", doc=side) for side in ("left", "right")]).unique(maintain_order=True)
    counts = {"pairs": frame.height, "queries": frame["query"].n_unique(), "documents": docs.height}
    return UnjudgedFile(path=source.path, kind="pairs", form=form, counts=counts, docs=docs)


def summarise_pool(source: Source, kind: FileKind, note: NoteHandler) -> UnjudgedFile:
    """Documents that nobody has labelled yet, or whose labels have a name that we do not know."""
    form, table = _read_named_columns(source, "query and doc")
    renamed = rename_columns(table, required=["query", "doc"], table_kind="pool")
    docs = pl.DataFrame([parse_ids(renamed, "query"), parse_ids(renamed, "doc")])
    known_columns = {name for names in COLUMN_ALIASES.values() for name in names} | {"runs", "best_rank", "drawn"}
    grade_columns = [
        name for name in renamed.columns if name.lower() not in known_columns and _are_small_grades(renamed[name])
    ]
    if grade_columns and kind == "pool":
        verb = "hold" if len(grade_columns) > 1 else "holds"
        text = f"{join_first_few(grade_columns)} {verb} small whole numbers; if these are labels, rename the column"
        say_so = Suggestion("takes them for labels", columns={"label": grade_columns[0]})
        note(Note("unnamed-labels", f"{text} to label", parameter="columns", suggestions=[say_so]))
    counts = {"documents": docs.height, "queries": docs["query"].n_unique()}
    if duplicate_count := docs.height - docs.n_unique():
        text = f"{format_count(duplicate_count, 'document')} of a query stand twice"
        note(Note("duplicate-document", text))
    trusted_column = (
        next((name for name in grade_columns if is_trusted(name)), None) if docs.n_unique() == docs.height else None
    )
    return UnjudgedFile(path=source.path, kind=kind, form=form, counts=counts, docs=docs, trusted_column=trusted_column)


def _read_named_columns(source: Source, names: str) -> tuple[Format, pl.DataFrame]:
    form = recognise_table_format(source)
    if form is None:
        raise FormatError("not-a-table", f"expected a table with the columns {names}", file=source.display_name)
    return form, read_table(source, form)


def _are_small_grades(cells: pl.Series) -> bool:
    if cells.dtype.is_nested():
        return False
    numbers = cells.cast(pl.String).drop_nulls().cast(pl.Float64, strict=False)
    is_small_integer = numbers.is_between(-2, 10) & (numbers == numbers.round(0))
    return bool(len(numbers)) and not numbers.null_count() and bool(is_small_integer.all()) and numbers.n_unique() > 1


def summarise_ids(source: Source, kind: FileKind) -> IdFile:
    """The ids of topics or documents."""
    if kind == "topics":
        form = recognise_format(source, "topics")
        ids, unit = read_topics(source, form=form)["query"], "queries"
    else:
        form = recognise_format(source, "documents")
        ids, unit = read_documents(source, form=form)["doc"], "documents"
    return IdFile(path=source.path, kind=kind, form=form, counts={unit: len(ids)}, ids=ids)


def summarise_scores(source: Source) -> IdFile:
    """What `evaluate --per-query` printed; nothing reads it again."""
    form = recognise_table_format(source) or "csv"
    frame = read_table(source, form)
    columns = {"runs": "run", "measures": "measure", "queries": "query"}
    counts = {name: frame[column].n_unique() for name, column in columns.items()}
    return IdFile(path=source.path, kind="scores", form=form, counts=counts, ids=frame["query"].cast(pl.String))


def summarise_matrix(source: Source) -> MatrixFile:
    """A confusion matrix."""
    matrix = read_confusion(source)
    counts = {"labels": list(matrix.labels), "rows": matrix.rows, "columns": matrix.columns}
    return MatrixFile(path=source.path, kind="confusion", form="json", counts=counts, matrix=matrix)


def summarise_gains(source: Source) -> GainsFile:
    """What each label is worth."""
    gains = read_gains(source)
    counts = {"gains": {str(label): gain for label, gain in gains.items()}}
    return GainsFile(path=source.path, kind="gains", form="json", counts=counts, gains=gains)
