"""What there is to say about a run alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.doctor.file_contents import NoteHandler, RunFile
from ringtrue.files import read_run
from ringtrue.files.byte_source import Source
from ringtrue.files.formats import recognise_format
from ringtrue.formatting.phrases import format_count
from ringtrue.tables import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOP_DEPTH = 10  # documents of each query that people look at
MANY_TIES_SHARE = 0.2  # of the first ten documents
MOSTLY_RISING_SHARE = 0.9  # of the lists


def summarise_run(source: Source, gold_docs: pl.DataFrame, note: NoteHandler) -> RunFile:
    """Read a run, and keep its tops, and which of the `gold_docs` (query, doc) it has anywhere."""
    form = recognise_format(source, "run")
    run = read_run(source, form=form, note=lambda message: note(message.removeprefix(f"{source.display_name}: ")))
    top = cut_run(run).called(source.path)  # two files may have one name, in different folders
    sizes = run.groups.sizes
    if form == "msmarco-run":
        note("three fields a line, of which the last counts 1, 2, 3: read as ranks, as MS MARCO's runs have them")
    _note_odd_scores(run, top, note)
    if len(run.queries) == 1:
        note("a single query: nothing can be said about others, and no interval can be given")
    short_count = int((sizes < TOP_DEPTH).sum())
    if short_count and len(run.queries) > 1:
        subject = "every query has" if short_count == len(sizes) else f"{format_count(short_count, 'query')} have"
        subject = subject.replace("1 query have", "1 query has")
        note(f"{subject} fewer than {TOP_DEPTH} documents: what is missing counts as not relevant")
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
        list_ids = np.repeat(np.arange(len(starts)), sizes)
        sorted_scores = scores[np.lexsort((-scores, list_ids))]
    cutoff_scores = sorted_scores[starts + np.minimum(sizes, depth) - 1]
    is_candidate = pl.Series(scores >= np.repeat(cutoff_scores, sizes))
    codes = np.repeat(np.arange(len(starts)), sizes)[is_candidate.to_numpy()]
    queries = pl.Series("query", run.queries, dtype=pl.String).gather(codes)
    candidates = Run(
        pl.DataFrame([queries, run.docs.filter(is_candidate), run.scores.filter(is_candidate)]), name=run.name
    )
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
        note(f"all scores are {scores[0]:g}: the documents are ranked by their ids alone")
        return
    if run.tag is not None and (rising_share := _rising_share(scores, run.groups.offsets)) > MOSTLY_RISING_SHARE:
        lists_phrase = "in every list" if rising_share == 1 else f"in {rising_share:.0%} of the lists"
        note(f"the scores rise from line to line {lists_phrase}: are they distances? The highest score is ranked first")
    tied_share = top.frame.select(pl.struct("query", "score").is_duplicated()).to_series().mean()
    if isinstance(tied_share, float) and tied_share > MANY_TIES_SHARE:
        note(
            f"{tied_share:.0%} of the first {TOP_DEPTH} documents share their score with another: ids decide "
            f"their order"
        )


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
    codes = np.repeat(np.arange(len(run.queries)), run.groups.sizes)[is_gold_doc.to_numpy()]
    queries = pl.Series("query", run.queries, dtype=pl.String).gather(codes)
    candidates = pl.DataFrame([queries, run.docs.filter(is_gold_doc).alias("doc")])
    return gold_docs.join(candidates, on=["query", "doc"], how="semi", maintain_order="left")
