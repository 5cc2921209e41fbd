"""How the files fit together: which queries and documents they share, and where they should and do not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import combinations
from typing import TypeAlias

import polars as pl

from ringtrue.doctor.file_contents import IdFile, LabelFile, RunFile, VoteFile
from ringtrue.doctor.id_mismatch import likeness
from ringtrue.doctor.results import Overlap
from ringtrue.doctor.summaries.runs import TOP
from ringtrue.formatting.phrases import counted, first_few

__all__ = [
    "Say",
    "doubts_about_crowds",
    "doubts_about_gold",
    "doubts_about_runs",
    "doubts_about_texts",
    "doubts_about_twins",
    "overlap_of",
]

Say: TypeAlias = Callable[[str, str], None]  # a file's path, and a doubt about it
KEYS = ["query", "doc"]
FEW_JUDGED = 0.5
ALIKE = 20  # labels on the same documents that should differ somewhere
MOST_PAIRS = 2_000  # of runs that are held against each other


def overlap_of(run: RunFile, labels: LabelFile, judged: pl.DataFrame) -> Overlap:
    """What a run and judgments share; `judged` are the documents with labels."""
    known = set(labels.judgments.frame["query"].unique().to_list())
    shared = [query for query in run.queries if query in known]
    top = run.top.frame.filter(pl.col("query").is_in(shared)).select(KEYS)
    return Overlap(
        run=run.path, judgments=labels.path, queries=len(shared), not_judged=len(run.queries) - len(shared),
        not_run=len(known) - len(shared), top=top.height,
        judged=top.join(judged, on=KEYS, how="semi").height,
    )  # fmt: skip


def doubts_about_runs(
    runs: Sequence[RunFile], labels: Sequence[LabelFile], found: Iterable[Overlap], traps: Collection[str], say: Say
) -> None:
    """A word where runs and judgments do not meet, where much is not judged, and where two runs are one.

    Gold samples and `traps` need not know what the runs show.
    """
    by_path = {one.path: one for one in (*runs, *labels)}
    for one in found:
        run, judged = by_path[one.run], by_path[one.judgments]
        assert isinstance(run, RunFile)
        assert isinstance(judged, LabelFile)
        if judged.kind == "gold" or judged.path in traps:
            continue
        if not one.queries:
            ours, theirs = pl.Series(run.queries), judged.judgments.frame["query"]
            say(one.run, f"no query in common with {judged.path}{_apart(ours, theirs)}")
        elif not one.judged:
            ours = run.top.docs
            say(one.run, f"no document of its top {TOP} is judged in {judged.path}"
                         f"{_apart(ours, judged.judgments.frame['doc'])}")  # fmt: skip
        else:
            _of_what_is_missing(one, run, judged, say)
    _of_copies(runs, say)


def _of_what_is_missing(one: Overlap, run: RunFile, judged: LabelFile, say: Say) -> None:
    known = set(judged.judgments.frame["query"].unique().to_list())
    if one.not_judged:
        names = first_few([query for query in run.queries if query not in known])
        say(one.run, f"{counted(one.not_judged, 'query')} not judged in {judged.path}, and not counted: {names}")
    if one.not_run:
        has = set(run.queries)
        names = first_few(sorted(known - has))
        say(one.run, f"{counted(one.not_run, 'query')} of {judged.path} not in the run, and counted as 0: {names}")
    if one.share is not None and one.share < FEW_JUDGED:
        say(one.run, f"most of its top {TOP} is not judged in {judged.path}, and counts as not relevant")


def _of_copies(runs: Sequence[RunFile], say: Say) -> None:
    for one, other in list(combinations(runs, 2))[:MOST_PAIRS]:
        if one.top.queries == other.top.queries and one.top.docs.equals(other.top.docs):
            say(other.path, f"the same top {TOP} as {one.path} in every query: is it a copy?")


def doubts_about_gold(gold: Iterable[LabelFile], runs: Sequence[RunFile], say: Say) -> None:
    """A word on gold samples that do not come from the runs."""
    for one in gold:
        if one.kind == "gold":
            _of_draw(one, runs, say)


def doubts_about_twins(judges: Iterable[tuple[LabelFile, LabelFile]], say: Say) -> None:
    """A word on two files of judgments that say the same of every document."""
    for one, other in judges:
        _of_twins(one, other, say)


def doubts_about_crowds(crowds: Sequence[LabelFile], known: Sequence[LabelFile], say: Say) -> None:
    """A word on gold or traps that no judge of a crowd has met."""
    for crowd in crowds:
        for one in known:
            alike = crowd.has_query == one.has_query
            if alike and not one.judged.join(crowd.judged, on=KEYS, how="semi").height:
                docs = one.judgments.frame["doc"], crowd.judgments.frame["doc"]
                say(one.path, f"no document in common with {crowd.path}{_apart(*docs)}")


def _of_draw(gold: LabelFile, runs: Sequence[RunFile], say: Say) -> None:
    wanted = gold.judgments.frame.select(KEYS).unique(maintain_order=True)
    if not runs:
        return
    found = pl.concat([run.wanted.join(wanted, on=KEYS, how="semi") for run in runs]).unique()
    if not found.height:
        say(gold.path, f"none of its {counted(wanted.height, 'document')} is in these runs: it was drawn from others"
                       f"{_apart(wanted['doc'], pl.concat([run.top.docs for run in runs]))}")  # fmt: skip
    elif found.height < wanted.height:
        lost = wanted.height - found.height
        say(gold.path, f"{lost:,} of {wanted.height:,} documents are in none of these runs: was it drawn from others?")


def _of_twins(one: LabelFile, other: LabelFile, say: Say) -> None:
    frames = [file.judgments.frame.filter(pl.col("label") >= 0).unique(KEYS, maintain_order=True)
              for file in (one, other)]  # fmt: skip
    both = frames[0].select(*KEYS, "label").join(frames[1].select(*KEYS, said="label"), on=KEYS)
    if both.height >= ALIKE and (both["label"] == both["said"]).all() and both["label"].n_unique() > 1:
        say(
            one.path,
            f"the same label as {other.path} on all {both.height:,} documents that both judged: is it one judge?",
        )


def doubts_about_texts(
    texts: Sequence[IdFile], runs: Sequence[RunFile], labels: Sequence[LabelFile | VoteFile], say: Say
) -> None:
    """A word where queries have no topic, or documents no text."""
    for file in texts:
        what, column = ("query", "query") if file.kind == "topics" else ("document", "doc")
        asked = _asked(column, runs, labels)
        if file.kind == "scores" or not len(asked):
            continue
        lacking = asked.filter(~asked.is_in(file.ids.implode()))
        if len(lacking) == len(asked):
            say(file.path, f"no {what} of the other files is here{_apart(asked, file.ids)}")
        elif len(lacking):
            which = f"in the top {TOP} of the runs " if what == "document" and runs else ""
            say(file.path, f"{counted(len(lacking), what)} {which}not here: {first_few(lacking.to_list())}")


def _asked(column: str, runs: Sequence[RunFile], labels: Sequence[LabelFile | VoteFile]) -> pl.Series:
    """The queries or documents that people may want to read: those of the runs, else of the labels."""
    parts = [run.top.docs if column == "doc" else pl.Series(run.queries) for run in runs]
    if not parts:
        parts = [file.judgments.frame[column] for file in labels if isinstance(file, LabelFile) and file.has_query]
    kept = [part.alias("id") for part in parts if len(part)]
    return pl.concat(kept).unique(maintain_order=True) if kept else pl.Series("id", [], dtype=pl.String)


def _apart(ours: pl.Series, theirs: pl.Series) -> str:
    """Why ids do not match, as the end of a sentence, with one of each side."""
    found = likeness(ours, theirs)
    if found is None:
        return f": here '{ours[0]}', there '{theirs[0]}'; are they of the same collection?"
    return f": the ids differ only in {found.differ_in}, here '{found.one}', there '{found.other}'; write them alike"
