"""What there is to say about preferences, pairs, pools, topics, documents, matrices and gains alone."""

from __future__ import annotations

import polars as pl

from ringtrue.doctor.file_contents import GainsFile, IdFile, MatrixFile, NoteHandler, UnjudgedFile, VoteFile
from ringtrue.doctor.recognise import recognise_table_format
from ringtrue.doctor.results import FileKind
from ringtrue.doctor.roles import is_trusted
from ringtrue.errors import FormatError, TableError
from ringtrue.files import read_confusion, read_documents, read_gains, read_preferences, read_topics
from ringtrue.files.byte_source import Source
from ringtrue.files.formats import recognise_format
from ringtrue.files.tabular import read_table
from ringtrue.formatting.phrases import format_count, join_first_few
from ringtrue.tables.columns import COLUMN_ALIASES, parse_ids, rename_columns

DOMINANT_SHARE = 0.5
MIN_VOTES_PER_JUDGE = 20  # votes of a judge that let a habit show
ONE_SIDED_SHARE = 0.9
NO_WINNER = "no pair has a winner yet"


def summarise_votes(source: Source, note: NoteHandler) -> VoteFile | UnjudgedFile:
    """Read preferences; a table in which nobody has won yet has pairs to judge."""
    form = recognise_format(source, "preferences")
    messages: list[str] = []
    try:
        preferences = read_preferences(source, form=form, note=messages.append)
    except TableError as error:
        if NO_WINNER in str(error):
            return summarise_pairs(source)
        raise
    for message in messages:
        note(message.removeprefix(f"{source.display_name}: "))
    frame = preferences.frame
    sides = pl.min_horizontal("left", "right").alias("one"), pl.max_horizontal("left", "right").alias("other")
    by_judge = frame.select("query", *sides, "judge").unique()
    by_pair = by_judge.group_by("query", "one", "other").len()
    ties = 1 - frame["winner"].is_in(["left", "right"]).mean()  # type: ignore[operator]  # there is a row
    judge_count = frame["judge"].n_unique()
    _note_voter_habits(frame, judge_count, note)
    trap_count = _count_traps(frame)
    counts = {
        "votes": frame.height,
        "queries": frame["query"].n_unique(),
        "pairs": by_pair.height,
        "judges": judge_count,
        "ties": float(ties),
        **({"traps": trap_count} if trap_count else {}),
    }
    return VoteFile(
        path=source.path,
        kind="preferences",
        form=form,
        counts=counts,
        preferences=preferences,
        has_query=not any("no column names the query" in message for message in messages),
        shared_count=int(by_pair["len"].gt(1).sum()),
        repeat_count=frame.height - by_judge.height,
    )


def _note_voter_habits(frame: pl.DataFrame, judge_count: int, note: NoteHandler) -> None:
    if judge_count > 2:
        name, votes = frame["judge"].value_counts().sort("count", "judge", descending=[True, False]).row(0)
        if votes > DOMINANT_SHARE * frame.height:
            note(f"'{name}' gave {votes / frame.height:.0%} of the votes")
    decided = frame.filter(pl.col("winner").is_in(["left", "right"]))
    by_judge = decided.group_by("judge").agg(pl.len().alias("votes"), (pl.col("winner") == "left").mean().alias("left"))
    one_sided = by_judge.filter(
        (pl.col("votes") >= MIN_VOTES_PER_JUDGE) & ~pl.col("left").is_between(1 - ONE_SIDED_SHARE, ONE_SIDED_SHARE)
    )
    if one_sided.height:
        names = join_first_few(one_sided["judge"].sort().to_list())
        note(f"{format_count(one_sided.height, 'judge')} nearly always preferred the same side: {names}")


def _count_traps(frame: pl.DataFrame) -> int:
    if "trap" not in frame.columns:
        return 0
    return int(frame["trap"].cast(pl.String).str.to_lowercase().is_in(["true", "1", "yes"]).sum())


def summarise_pairs(source: Source) -> UnjudgedFile:
    """Pairs of documents that nobody has judged yet."""
    form = recognise_table_format(source)
    if form is None:
        raise FormatError(f"{source.display_name}: expected a table with the columns query, left and right")
    frame = rename_columns(read_table(source, form), required=["left", "right"], optional=["query"], table_kind="pairs")
    if "query" not in frame.columns:
        frame = frame.with_columns(query=pl.lit("0"))
    frame = frame.with_columns(parse_ids(frame, name) for name in ("query", "left", "right"))
    docs = pl.concat([frame.select("query", doc=side) for side in ("left", "right")]).unique(maintain_order=True)
    counts = {"pairs": frame.height, "queries": frame["query"].n_unique(), "documents": docs.height}
    return UnjudgedFile(path=source.path, kind="pairs", form=form, counts=counts, docs=docs)


def summarise_pool(source: Source, kind: FileKind, note: NoteHandler) -> UnjudgedFile:
    """Documents that nobody has labelled yet, or whose labels have a name that we do not know."""
    form = recognise_table_format(source)
    if form is None:
        raise FormatError(f"{source.display_name}: expected a table with the columns query and doc")
    frame = read_table(source, form)
    renamed = rename_columns(frame, required=["query", "doc"], table_kind="pool")
    docs = pl.DataFrame([parse_ids(renamed, "query"), parse_ids(renamed, "doc")])
    known_columns = {name for names in COLUMN_ALIASES.values() for name in names} | {"runs", "best_rank", "drawn"}
    grade_columns = [
        name for name in renamed.columns if name.lower() not in known_columns and _are_small_grades(renamed[name])
    ]
    if grade_columns and kind == "pool":
        verb = "hold" if len(grade_columns) > 1 else "holds"
        note(
            f"{join_first_few(grade_columns)} {verb} small whole numbers: if these are labels, say `--columns "
            f"label={grade_columns[0]}` to the commands, or rename the column to label"
        )
    counts = {"documents": docs.height, "queries": docs["query"].n_unique()}
    if duplicate_count := docs.height - docs.n_unique():
        note(f"{format_count(duplicate_count, 'document')} of a query stand twice")
    trusted_column = (
        next((name for name in grade_columns if is_trusted(name)), None) if docs.n_unique() == docs.height else None
    )
    return UnjudgedFile(path=source.path, kind=kind, form=form, counts=counts, docs=docs, trusted_column=trusted_column)


def _are_small_grades(cells: pl.Series) -> bool:
    if cells.dtype.is_nested():
        return False
    numbers = cells.cast(pl.String).drop_nulls().cast(pl.Float64, strict=False)
    is_small_integer = numbers.is_between(-2, 10) & (numbers == numbers.round(0))
    return bool(len(numbers)) and not numbers.null_count() and bool(is_small_integer.all()) and numbers.n_unique() > 1


def summarise_ids(source: Source, kind: FileKind) -> IdFile:
    """The ids of topics or documents."""
    form = recognise_format(source, "topics" if kind == "topics" else "documents")
    if kind == "topics":
        frame = read_topics(source, form=form)
        return IdFile(path=source.path, kind=kind, form=form, counts={"queries": frame.height}, ids=frame["query"])
    frame = read_documents(source, form=form)
    return IdFile(path=source.path, kind=kind, form=form, counts={"documents": frame.height}, ids=frame["doc"])


def summarise_scores(source: Source) -> IdFile:
    """What `evaluate --per-query` printed; nothing reads it again."""
    form = recognise_table_format(source) or "csv"
    frame = read_table(source, form)
    counts = {name: frame[name[:-1] if name != "queries" else "query"].n_unique() for name in ("runs", "measures")}
    counts["queries"] = frame["query"].n_unique()
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
