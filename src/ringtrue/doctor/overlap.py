"""How the files fit together: which queries and documents they share, and where they should and do not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import combinations
from typing import TypeAlias

import polars as pl

from ringtrue.doctor.file_contents import IdFile, LabelFile, RunFile, VoteFile
from ringtrue.doctor.id_mismatch import explain_id_mismatch
from ringtrue.doctor.results import Overlap
from ringtrue.doctor.summaries.runs import TOP_DEPTH
from ringtrue.formatting.phrases import format_count, join_first_few

FileNoteHandler: TypeAlias = Callable[[str, str], None]  # a file's path, and a doubt about it
DOC_KEYS = ["query", "doc"]
FEW_JUDGED_SHARE = 0.5
MIN_SHARED_LABELS = 20  # labels on the same documents that should differ somewhere
MAX_RUN_PAIRS = 2_000  # of runs that are held against each other


def compute_overlap(run: RunFile, labels: LabelFile, judged_docs: pl.DataFrame) -> Overlap:
    """What a run and judgments share; `judged_docs` are the documents with labels."""
    judged_queries = set(labels.judgments.frame["query"].unique().to_list())
    shared_queries = [query for query in run.queries if query in judged_queries]
    top_docs = run.top.frame.filter(pl.col("query").is_in(shared_queries)).select(DOC_KEYS)
    return Overlap(
        run=run.path,
        judgments=labels.path,
        queries=len(shared_queries),
        not_judged=len(run.queries) - len(shared_queries),
        not_run=len(judged_queries) - len(shared_queries),
        top=top_docs.height,
        judged=top_docs.join(judged_docs, on=DOC_KEYS, how="semi").height,
    )


def note_run_mismatches(
    runs: Sequence[RunFile],
    labels: Sequence[LabelFile],
    overlaps: Iterable[Overlap],
    traps: Collection[str],
    add_note: FileNoteHandler,
) -> None:
    """A word where runs and judgments do not meet, where much is not judged, and where two runs are one.

    Gold samples and `traps` need not know what the runs show.
    """
    by_path = {file.path: file for file in (*runs, *labels)}
    for overlap in overlaps:
        run, judgments = by_path[overlap.run], by_path[overlap.judgments]
        assert isinstance(run, RunFile)
        assert isinstance(judgments, LabelFile)
        if judgments.kind == "gold" or judgments.path in traps:
            continue
        if not overlap.queries:
            ours, theirs = pl.Series(run.queries), judgments.judgments.frame["query"]
            add_note(overlap.run, f"no query in common with {judgments.path}{_mismatch_phrase(ours, theirs)}")
        elif not overlap.judged:
            ours = run.top.docs
            add_note(
                overlap.run,
                f"no document of its top {TOP_DEPTH} is judged in {judgments.path}"
                f"{_mismatch_phrase(ours, judgments.judgments.frame['doc'])}",
            )
        else:
            _note_unjudged(overlap, run, judgments, add_note)
    _note_copied_runs(runs, add_note)


def _note_unjudged(overlap: Overlap, run: RunFile, judgments: LabelFile, add_note: FileNoteHandler) -> None:
    judged_queries = set(judgments.judgments.frame["query"].unique().to_list())
    if overlap.not_judged:
        names = join_first_few([query for query in run.queries if query not in judged_queries])
        add_note(
            overlap.run,
            f"{format_count(overlap.not_judged, 'query')} not judged in {judgments.path}, and not counted: {names}",
        )
    if overlap.not_run:
        run_queries = set(run.queries)
        names = join_first_few(sorted(judged_queries - run_queries))
        add_note(
            overlap.run,
            f"{format_count(overlap.not_run, 'query')} of {judgments.path} not in the run, and counted as 0: {names}",
        )
    if overlap.share is not None and overlap.share < FEW_JUDGED_SHARE:
        add_note(
            overlap.run, f"most of its top {TOP_DEPTH} is not judged in {judgments.path}, and counts as not relevant"
        )


def _note_copied_runs(runs: Sequence[RunFile], add_note: FileNoteHandler) -> None:
    for first, second in list(combinations(runs, 2))[:MAX_RUN_PAIRS]:
        if first.top.queries == second.top.queries and first.top.docs.equals(second.top.docs):
            add_note(second.path, f"the same top {TOP_DEPTH} as {first.path} in every query: is it a copy?")


def note_gold_mismatches(gold: Iterable[LabelFile], runs: Sequence[RunFile], add_note: FileNoteHandler) -> None:
    """A word on gold samples that do not come from the runs."""
    for file in gold:
        if file.kind == "gold":
            _note_unretrieved_gold(file, runs, add_note)


def note_identical_judgments(file_pairs: Iterable[tuple[LabelFile, LabelFile]], add_note: FileNoteHandler) -> None:
    """A word on two files of judgments that say the same of every document."""
    for first, second in file_pairs:
        _note_if_identical(first, second, add_note)


def note_crowd_mismatches(crowds: Sequence[LabelFile], trusted: Sequence[LabelFile], add_note: FileNoteHandler) -> None:
    """A word on gold or traps that no judge of a crowd has met."""
    for crowd in crowds:
        for trusted_file in trusted:
            same_keys = crowd.has_query == trusted_file.has_query
            if same_keys and not trusted_file.judged_docs.join(crowd.judged_docs, on=DOC_KEYS, how="semi").height:
                docs = trusted_file.judgments.frame["doc"], crowd.judgments.frame["doc"]
                add_note(trusted_file.path, f"no document in common with {crowd.path}{_mismatch_phrase(*docs)}")


def _note_unretrieved_gold(gold: LabelFile, runs: Sequence[RunFile], add_note: FileNoteHandler) -> None:
    gold_docs = gold.judgments.frame.select(DOC_KEYS).unique(maintain_order=True)
    if not runs:
        return
    retrieved = pl.concat([run.gold_docs.join(gold_docs, on=DOC_KEYS, how="semi") for run in runs]).unique()
    if not retrieved.height:
        add_note(
            gold.path,
            f"none of its {format_count(gold_docs.height, 'document')} is in these runs: it was drawn from others"
            f"{_mismatch_phrase(gold_docs['doc'], pl.concat([run.top.docs for run in runs]))}",
        )
    elif retrieved.height < gold_docs.height:
        missing_count = gold_docs.height - retrieved.height
        add_note(
            gold.path,
            f"{missing_count:,} of {gold_docs.height:,} documents are in none of these runs: was it drawn from others?",
        )


def _note_if_identical(first: LabelFile, second: LabelFile, add_note: FileNoteHandler) -> None:
    frames = [
        file.judgments.frame.filter(pl.col("label") >= 0).unique(DOC_KEYS, maintain_order=True)
        for file in (first, second)
    ]
    shared = frames[0].select(*DOC_KEYS, "label").join(frames[1].select(*DOC_KEYS, other_label="label"), on=DOC_KEYS)
    if (
        shared.height >= MIN_SHARED_LABELS
        and (shared["label"] == shared["other_label"]).all()
        and shared["label"].n_unique() > 1
    ):
        add_note(
            first.path,
            f"the same label as {second.path} on all {shared.height:,} documents that both judged: is it one judge?",
        )


def note_missing_texts(
    texts: Sequence[IdFile], runs: Sequence[RunFile], labels: Sequence[LabelFile | VoteFile], add_note: FileNoteHandler
) -> None:
    """A word where queries have no topic, or documents no text."""
    for file in texts:
        unit, column = ("query", "query") if file.kind == "topics" else ("document", "doc")
        needed_ids = _ids_to_read(column, runs, labels)
        if file.kind == "scores" or not len(needed_ids):
            continue
        missing_ids = needed_ids.filter(~needed_ids.is_in(file.ids.implode()))
        if len(missing_ids) == len(needed_ids):
            add_note(file.path, f"no {unit} of the other files is here{_mismatch_phrase(needed_ids, file.ids)}")
        elif len(missing_ids):
            place_phrase = f"in the top {TOP_DEPTH} of the runs " if unit == "document" and runs else ""
            add_note(
                file.path,
                f"{format_count(len(missing_ids), unit)} {place_phrase}not here: "
                f"{join_first_few(missing_ids.to_list())}",
            )


def _ids_to_read(column: str, runs: Sequence[RunFile], labels: Sequence[LabelFile | VoteFile]) -> pl.Series:
    """The queries or documents that people may want to read: those of the runs, else of the labels."""
    id_columns = [run.top.docs if column == "doc" else pl.Series(run.queries) for run in runs]
    if not id_columns:
        id_columns = [file.judgments.frame[column] for file in labels if isinstance(file, LabelFile) and file.has_query]
    nonempty = [ids.alias("id") for ids in id_columns if len(ids)]
    return pl.concat(nonempty).unique(maintain_order=True) if nonempty else pl.Series("id", [], dtype=pl.String)


def _mismatch_phrase(left_ids: pl.Series, right_ids: pl.Series) -> str:
    """Why ids do not match, as the end of a sentence, with one of each side."""
    mismatch = explain_id_mismatch(left_ids, right_ids)
    if mismatch is None:
        return f": here '{left_ids[0]}', there '{right_ids[0]}'; are they of the same collection?"
    return (
        f": the ids differ only in {mismatch.differ_in}, here '{mismatch.left_id}', there '{mismatch.right_id}'; "
        f"write them alike"
    )
