"""What there is to say about a file of labels, or of votes, alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from ringtrue.doctor.recognise import has_column, recognise_table_format
from ringtrue.doctor.roles import LabelFile, NoteHandler, UnjudgedFile, VoteFile, is_trap, is_trusted
from ringtrue.doctor.summaries import summarise_pairs
from ringtrue.errors import TableError
from ringtrue.files import read_judgments, read_preferences
from ringtrue.files.byte_source import Source
from ringtrue.files.formats import recognise_format
from ringtrue.files.tabular import read_table
from ringtrue.formatting.phrases import format_count, join_first_few
from ringtrue.judges.votes import make_votes
from ringtrue.messages import Note, Suggestion
from ringtrue.tables import Judgments
from ringtrue.tables.columns import COLUMN_ALIASES, parse_ids, rename_columns

MAX_USUAL_GRADE = 10  # grades of relevance end before it
DOMINANT_SHARE = 0.5
MIN_LABELS_PER_JUDGE = 10  # labels of a judge that let a habit show
UNNAMED_JUDGES = {"0", "Q0"}  # what stands in the place of a judge's name where there is none
MIN_VOTES_PER_JUDGE = 20  # votes of a judge that let a habit show
ONE_SIDED_SHARE = 0.9
PART_COUNTS = range(2, 21)  # values of a column that tells parts of a file apart


def summarise_labels(source: Source, note: NoteHandler) -> LabelFile | UnjudgedFile:
    """Read labels; those of a sample that still waits for them are documents to judge."""
    form = recognise_format(source, "judgments")
    reading_notes: list[Note] = []
    try:
        judgments = read_judgments(source, form=form, needs_query=False, note=reading_notes.append)
    except TableError:
        if (unjudged := _find_unjudged(source)) is not None:
            return unjudged
        raise
    _pass_on(reading_notes, note)
    frame, has_query = judgments.frame, _names_queries(reading_notes)
    is_gold = {"prob", "design"} <= set(frame.columns)
    by_judge = frame.select("query", "doc", "judge").unique()
    shared_count = int(by_judge.group_by("query", "doc").len()["len"].gt(1).sum())
    repeat_count = frame.height - by_judge.height
    if form == "qrels-3" and frame["label"].min() == 1 and frame["label"].max() > MAX_USUAL_GRADE:  # type: ignore[operator]
        text = "three fields a line: read as labels, and a run with ranks would look the same"
        note(Note("read-as-labels", text))
    _note_odd_grades(judgments, note)
    if not is_gold and not is_trap(Path(source.path).name):
        _note_queries_without_relevant(frame, note)
    _note_judge_habits(frame, note)
    _note_repeats(frame, repeat_count, note)
    if is_gold:
        _note_sample_faults(frame, note)
    trusted_column = next(
        (name for name in _extra_columns(frame) if is_trusted(name) and _are_whole_numbers(frame[name])), None
    )
    counts = _label_file_counts(frame, shared_count=shared_count, repeat_count=repeat_count)
    if not has_query:
        del counts["queries"]
    if is_gold:
        counts["design"] = ", ".join(map(str, frame["design"].drop_nulls().unique().to_list()))
    return LabelFile(
        path=source.path,
        kind="gold" if is_gold else "judgments",
        form=form,
        judgments=judgments,
        has_query=has_query,
        counts=counts,
        shared_count=shared_count,
        repeat_count=repeat_count,
        trusted_column=trusted_column,
    )


def summarise_votes(source: Source, note: NoteHandler) -> VoteFile | UnjudgedFile:
    """Read preferences; a table in which nobody has won yet has pairs to judge."""
    form = recognise_format(source, "preferences")
    reading_notes: list[Note] = []
    try:
        preferences = read_preferences(source, form=form, note=reading_notes.append)
    except TableError as error:
        if error.code == "no-winner":
            return summarise_pairs(source)
        raise
    _pass_on(reading_notes, note)
    frame = preferences.frame
    sides = pl.min_horizontal("left", "right").alias("one"), pl.max_horizontal("left", "right").alias("other")
    by_judge = frame.select("query", *sides, "judge").unique()
    by_pair = by_judge.group_by("query", "one", "other").len()
    _note_voter_habits(frame, note)
    counts = {
        "votes": frame.height,
        "queries": frame["query"].n_unique(),
        "pairs": by_pair.height,
        "judges": frame["judge"].n_unique(),
        "ties": float(1 - frame["winner"].is_in(["left", "right"]).mean()),  # type: ignore[operator]  # there is a row
    }
    if trap_count := _count_traps(frame):
        counts["traps"] = trap_count
    return VoteFile(
        path=source.path,
        kind="preferences",
        form=form,
        counts=counts,
        preferences=preferences,
        has_query=_names_queries(reading_notes),
        shared_count=int(by_pair["len"].gt(1).sum()),
        repeat_count=frame.height - by_judge.height,
    )


def _note_voter_habits(frame: pl.DataFrame, note: NoteHandler) -> None:
    if frame["judge"].n_unique() > 2:
        name, votes = frame["judge"].value_counts().sort("count", "judge", descending=[True, False]).row(0)
        if votes > DOMINANT_SHARE * frame.height:
            note(Note("dominant-judge", f"'{name}' gave {votes / frame.height:.0%} of the votes"))
    decided = frame.filter(pl.col("winner").is_in(["left", "right"]))
    by_judge = decided.group_by("judge").agg(votes=pl.len(), left=(pl.col("winner") == "left").mean())
    one_sided = by_judge.filter(
        (pl.col("votes") >= MIN_VOTES_PER_JUDGE) & ~pl.col("left").is_between(1 - ONE_SIDED_SHARE, ONE_SIDED_SHARE)
    )
    if one_sided.height:
        names = join_first_few(one_sided["judge"].sort().to_list())
        text = f"{format_count(one_sided.height, 'judge')} nearly always preferred the same side: {names}"
        note(Note("one-sided-judges", text))


def _count_traps(frame: pl.DataFrame) -> int:
    if "trap" not in frame.columns:
        return 0
    return int(frame["trap"].cast(pl.String).str.to_lowercase().is_in(["true", "1", "yes"]).sum())


def _pass_on(reading_notes: list[Note], note: NoteHandler) -> None:
    """What the reader said, without the name of the file."""
    for reading_note in reading_notes:
        note(reading_note.changed(subject=None))


def _names_queries(reading_notes: list[Note]) -> bool:
    return all(note.code != "no-query-column" for note in reading_notes)


def _find_unjudged(source: Source) -> UnjudgedFile | None:
    """A drawn sample, or a pool, of which no label, or not every label, is filled in."""
    form = recognise_table_format(source)
    if form is None:
        return None
    frame = read_table(source, form)
    names = {name.lower() for name in frame.columns}
    if not (has_column("query", names) and has_column("doc", names)):
        return None
    label_column = next((name for name in frame.columns if name.lower() in COLUMN_ALIASES["label"]), None)
    empty_count = frame.height
    if label_column is not None:
        cells = frame[label_column]
        empty_count = int((cells.is_null() | (cells.cast(pl.String).str.strip_chars() == "")).sum())
    is_sample = {"prob", "design"} <= set(frame.columns)
    if not empty_count or (not is_sample and empty_count < frame.height):
        return None
    frame = rename_columns(frame, required=["query", "doc"], table_kind="sample")
    docs = pl.DataFrame([parse_ids(frame, "query"), parse_ids(frame, "doc")])
    counts = {"documents": frame.height, "queries": docs["query"].n_unique(), "labelled": frame.height - empty_count}
    return UnjudgedFile(path=source.path, kind="sample" if is_sample else "pool", form=form, counts=counts, docs=docs)


def _label_file_counts(frame: pl.DataFrame, *, shared_count: int, repeat_count: int) -> dict[str, Any]:
    label_counts = frame["label"].value_counts().sort("label")
    counts: dict[str, Any] = {
        "labels": frame.height,
        "queries": frame["query"].n_unique(),
        "documents": frame.select("query", "doc").n_unique(),
        "judges": frame["judge"].n_unique(),
        "shares": {str(label): count / frame.height for label, count in label_counts.rows()},
        "by_several": shared_count,
        "repeated": repeat_count,
    }
    if counts["judges"] == 1:
        counts["judge"] = frame["judge"][0]
    if "time" in frame.columns and not frame["time"].dtype.is_nested():
        times = frame["time"].drop_nulls().cast(pl.String)
        counts |= {"from": times.min(), "to": times.max()} if len(times) else {}
    return counts


def _note_odd_grades(judgments: Judgments, note: NoteHandler) -> None:
    frame = judgments.frame
    grades = frame["label"].unique().sort().to_list()
    try:
        for vote_note in make_votes(judgments).notes:
            note(vote_note.changed(suggestions=()))
    except TableError as error:
        note(error.note.changed(suggestions=()))
    if len(grades) == 1:
        note(Note("constant-labels", f"every label is {grades[0]}: nothing tells one document from another"))
    elif grades[-1] > MAX_USUAL_GRADE:
        text = f"labels up to {grades[-1]:,}: grades of relevance are small numbers such as 0 to 3; are these scores?"
        note(Note("unusual-grades", text))
    elif 0 not in grades and len(grades) > 1:
        lowest = min((grade for grade in grades if grade > 0), default=None)
        if lowest is not None:
            text = f"no label is 0: {lowest}, the lowest, counts as relevant too"
            raise_rel = Suggestion("says from which label on", rel=...)
            note(Note("no-label-0", text, parameter="rel", suggestions=[raise_rel]))


def _note_queries_without_relevant(frame: pl.DataFrame, note: NoteHandler) -> None:
    judged = frame.filter(pl.col("label") >= 0)
    without_relevant = judged.group_by("query").agg(pl.col("label").max()).filter(pl.col("label") < 1)
    if without_relevant.height and judged["label"].n_unique() > 1 and judged["query"].n_unique() > 1:
        names = join_first_few(sorted(without_relevant["query"].to_list()))
        queries = format_count(without_relevant.height, "query")
        text = f"{queries} without a relevant document, where most measures are 0: {names}"
        note(Note("queries-without-relevant", text))


def _note_judge_habits(frame: pl.DataFrame, note: NoteHandler) -> None:
    by_judge = frame.group_by("judge").agg(labels=pl.len(), different=pl.col("label").n_unique())
    if by_judge.height < 2:
        return
    busiest = by_judge.sort("labels", "judge", descending=[True, False]).row(0, named=True)
    share = busiest["labels"] / frame.height
    if by_judge.height > 2 and share > DOMINANT_SHARE:
        name = busiest["judge"]
        text = f"'{name}' gave {share:.0%} of the labels: what is said of all judges is mostly about this one"
        note(Note("dominant-judge", text))
    constant = by_judge.filter((pl.col("different") == 1) & (pl.col("labels") >= MIN_LABELS_PER_JUDGE))["judge"].sort()
    if len(constant) and frame["label"].n_unique() > 1:
        names = join_first_few(constant.to_list())
        text = f"{format_count(len(constant), 'judge')} always gave the same label: {names}"
        note(Note("constant-judges", text))


def _note_repeats(frame: pl.DataFrame, repeat_count: int, note: NoteHandler) -> None:
    if not repeat_count:
        return
    distinct_labels = frame.group_by("query", "doc", "judge").agg(pl.col("label").n_unique())["label"]
    is_unnamed = set(frame["judge"].unique()) <= UNNAMED_JUDGES
    part_columns = [
        name for name in _extra_columns(frame) if frame[name].n_unique() in PART_COUNTS and not is_trusted(name)
    ]
    verb = "repeats" if repeat_count == 1 else "repeat"
    alike = "not always alike" if distinct_labels.gt(1).any() else "always alike"
    text = f"{format_count(repeat_count, 'label')} {verb} a document that the judge had labelled, {alike}"
    suggestions = []
    if part_columns:
        values = frame[part_columns[0]].cast(pl.String).unique(maintain_order=True).drop_nulls().to_list()
        text += f"; column {part_columns[0]} may separate parts of the file"
        suggestions = [Suggestion("takes one part", where={part_columns[0]: values[0]})]
    elif is_unnamed:
        text += "; are there several judges, and no column that names them?"
    note(Note("repeated-labels", text, parameter="repeats", suggestions=suggestions))


def _note_sample_faults(frame: pl.DataFrame, note: NoteHandler) -> None:
    if frame["prob"].null_count():
        note(Note("missing-probability", f"{frame['prob'].null_count():,} labels have no probability in column prob"))
    if frame.select("query", "doc").is_duplicated().any():
        note(Note("drawn-twice", "a document was drawn twice: gold says one thing of each"))


def _extra_columns(frame: pl.DataFrame) -> list[str]:
    """Columns beside ours."""
    known_columns = {"query", "doc", *COLUMN_ALIASES}
    return [name for name in frame.columns if name not in known_columns and not frame[name].dtype.is_nested()]


def _are_whole_numbers(cells: pl.Series) -> bool:
    numbers = cells.cast(pl.String).str.strip_chars().replace("", None).drop_nulls().cast(pl.Float64, strict=False)
    return bool(len(numbers)) and not numbers.null_count() and bool((numbers == numbers.round(0)).all())
