"""What there is to say about a run alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.doctor.file_contents import Note, RunFile
from ringtrue.files import read_run
from ringtrue.files.formats import recognise
from ringtrue.files.source import Source
from ringtrue.formatting.phrases import counted
from ringtrue.tables import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TOP", "look_at_run", "top_of"]

TOP = 10  # documents of each query that people look at
MANY_TIES = 0.2  # of the first ten documents
MOST = 0.9  # of the lists


def look_at_run(source: Source, wanted: pl.DataFrame, note: Note) -> RunFile:
    """Read a run, and keep its tops, and which of the `wanted` documents (query, doc) it has anywhere."""
    form = recognise(source, "run")
    run = read_run(source, form=form, note=lambda text: note(text.removeprefix(f"{source.shown}: ")))
    top = top_of(run).called(source.path)  # two files may have one name, in different folders
    sizes = run.groups.sizes
    if form == "msmarco-run":
        note("three fields a line, of which the last counts 1, 2, 3: read as ranks, as MS MARCO's runs have them")
    _of_scores(run, top, note)
    if len(run.queries) == 1:
        note("a single query: nothing can be said about others, and no interval can be given")
    short = int((sizes < TOP).sum())
    if short and len(run.queries) > 1:
        whole = "every query has" if short == len(sizes) else f"{counted(short, 'query')} have"
        whole = whole.replace("1 query have", "1 query has")
        note(f"{whole} fewer than {TOP} documents: what is missing counts as not relevant")
    counts = {
        "queries": len(run.queries), "documents": len(run.docs), "fewest": int(sizes.min()), "most": int(sizes.max()),
        "tag": run.tag,
    }  # fmt: skip
    return RunFile(
        path=source.path, kind="run", form=form, counts=counts, queries=run.queries, top=top, wanted=_found(run, wanted)
    )


def top_of(run: Run, depth: int = TOP) -> Run:
    """The run's first documents of each query, ties broken as everywhere.

    Only what reaches the score of the last of them is sorted: a run of ten million lines has a hundred thousand tops.

    Examples:
        >>> top_of(Run.of({"q": {"a": 1.0, "b": 3.0, "c": 2.0}}), depth=2).frame["doc"].to_list()
        ['b', 'c']
    """
    scores, starts, sizes = run.scores.to_numpy(), run.groups.offsets[:-1], run.groups.sizes
    ordered = scores
    if not _falls(scores, starts):
        owner = np.repeat(np.arange(len(starts)), sizes)
        ordered = scores[np.lexsort((-scores, owner))]
    enough = ordered[starts + np.minimum(sizes, depth) - 1]
    reaches = pl.Series(scores >= np.repeat(enough, sizes))
    codes = np.repeat(np.arange(len(starts)), sizes)[reaches.to_numpy()]
    queries = pl.Series("query", run.queries, dtype=pl.String).gather(codes)
    few = Run(pl.DataFrame([queries, run.docs.filter(reaches), run.scores.filter(reaches)]), name=run.name)
    return Run(few.ranked(depth).select("query", "doc", "score"), name=run.name, tag=run.tag)


def _falls(scores: NDArray[np.float64], starts: NDArray[np.int64]) -> bool:
    """Whether every list comes in the order of its scores, best first."""
    falls = scores[1:] <= scores[:-1]
    falls[starts[1:] - 1] = True
    return bool(falls.all())


def _of_scores(run: Run, top: Run, note: Note) -> None:
    """A word on scores that say nothing about the order, or the opposite of what is meant."""
    scores = run.scores.to_numpy()
    if len(scores) > len(run.queries) and scores.min() == scores.max():
        note(f"all scores are {scores[0]:g}: the documents are ranked by their ids alone")
        return
    if run.tag is not None and (rising := _rising(scores, run.groups.offsets)) > MOST:
        lists = "in every list" if rising == 1 else f"in {rising:.0%} of the lists"
        note(f"the scores rise from line to line {lists}: are they distances? The highest score is ranked first")
    tied = top.frame.select(pl.struct("query", "score").is_duplicated()).to_series().mean()
    if isinstance(tied, float) and tied > MANY_TIES:
        note(f"{tied:.0%} of the first {TOP} documents share their score with another: ids decide their order")


def _rising(scores: NDArray[np.float64], offsets: NDArray[np.int64]) -> float:
    """The share of the lists of two or more, in the order of the file, whose scores rise all the way."""
    starts, sizes = offsets[:-1], np.diff(offsets)
    falls = np.concatenate([[0], np.cumsum(scores[1:] <= scores[:-1])])
    long = sizes > 1
    if not long.any():
        return 0.0
    inside = falls[offsets[1:][long] - 1] - falls[starts[long]]
    return float((inside == 0).mean())


def _found(run: Run, wanted: pl.DataFrame) -> pl.DataFrame:
    """Which of these documents the run has, at any rank."""
    here = run.docs.is_in(wanted["doc"].implode())
    codes = np.repeat(np.arange(len(run.queries)), run.groups.sizes)[here.to_numpy()]
    queries = pl.Series("query", run.queries, dtype=pl.String).gather(codes)
    kept = pl.DataFrame([queries, run.docs.filter(here).alias("doc")])
    return wanted.join(kept, on=["query", "doc"], how="semi", maintain_order="left")
