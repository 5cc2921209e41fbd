"""What there is to say about preferences, pairs, pools, topics, documents, matrices and gains alone."""

from __future__ import annotations

import polars as pl

from ringtrue.doctor.file_contents import GainsFile, IdFile, MatrixFile, Note, PairFile, VoteFile
from ringtrue.doctor.recognise import table_form
from ringtrue.doctor.results import FileKind
from ringtrue.doctor.roles import is_trusted
from ringtrue.errors import FormatError, TableError
from ringtrue.files import read_confusion, read_documents, read_gains, read_preferences, read_topics
from ringtrue.files.formats import recognise
from ringtrue.files.source import Source
from ringtrue.files.tabular import read_table
from ringtrue.formatting.phrases import counted, first_few
from ringtrue.tables.columns import NAMES, identifiers, rename

__all__ = [
    "look_at_gains",
    "look_at_ids",
    "look_at_matrix",
    "look_at_pairs",
    "look_at_pool",
    "look_at_scores",
    "look_at_votes",
]

MOST_BY_ONE = 0.5
ENOUGH = 20  # votes of a judge that let a habit show
ONE_SIDED = 0.9
NO_WINNER = "no pair has a winner yet"


def look_at_votes(source: Source, note: Note) -> VoteFile | PairFile:
    """Read preferences; a table in which nobody has won yet has pairs to judge."""
    form = recognise(source, "preferences")
    told: list[str] = []
    try:
        preferences = read_preferences(source, form=form, note=told.append)
    except TableError as error:
        if NO_WINNER in str(error):
            return look_at_pairs(source)
        raise
    for text in told:
        note(text.removeprefix(f"{source.shown}: "))
    frame = preferences.frame
    sides = pl.min_horizontal("left", "right").alias("one"), pl.max_horizontal("left", "right").alias("other")
    by_judge = frame.select("query", *sides, "judge").unique()
    voted = by_judge.group_by("query", "one", "other").len()
    ties = 1 - frame["winner"].is_in(["left", "right"]).mean()  # type: ignore[operator]  # there is a row
    judges = frame["judge"].n_unique()
    _of_voters(frame, judges, note)
    traps = _said_traps(frame)
    counts = {
        "votes": frame.height, "queries": frame["query"].n_unique(), "pairs": voted.height, "judges": judges,
        "ties": float(ties), **({"traps": traps} if traps else {}),
    }  # fmt: skip
    return VoteFile(
        path=source.path, kind="preferences", form=form, counts=counts, preferences=preferences,
        has_query=not any("no column names the query" in text for text in told),
        shared=int(voted["len"].gt(1).sum()), again=frame.height - by_judge.height,
    )  # fmt: skip


def _of_voters(frame: pl.DataFrame, judges: int, note: Note) -> None:
    if judges > 2:
        name, votes = frame["judge"].value_counts().sort("count", "judge", descending=[True, False]).row(0)
        if votes > MOST_BY_ONE * frame.height:
            note(f"'{name}' gave {votes / frame.height:.0%} of the votes")
    decided = frame.filter(pl.col("winner").is_in(["left", "right"]))
    by = decided.group_by("judge").agg(pl.len().alias("votes"), (pl.col("winner") == "left").mean().alias("left"))
    one = by.filter((pl.col("votes") >= ENOUGH) & ~pl.col("left").is_between(1 - ONE_SIDED, ONE_SIDED))
    if one.height:
        names = first_few(one["judge"].sort().to_list())
        note(f"{counted(one.height, 'judge')} nearly always preferred the same side: {names}")


def _said_traps(frame: pl.DataFrame) -> int:
    if "trap" not in frame.columns:
        return 0
    return int(frame["trap"].cast(pl.String).str.to_lowercase().is_in(["true", "1", "yes"]).sum())


def look_at_pairs(source: Source) -> PairFile:
    """Pairs of documents that nobody has judged yet."""
    form = table_form(source)
    if form is None:
        raise FormatError(f"{source.shown}: expected a table with the columns query, left and right")
    frame = rename(read_table(source, form), required=["left", "right"], optional=["query"], what="pairs")
    if "query" not in frame.columns:
        frame = frame.with_columns(query=pl.lit("0"))
    frame = frame.with_columns(identifiers(frame, name) for name in ("query", "left", "right"))
    docs = pl.concat([frame.select("query", doc=side) for side in ("left", "right")]).unique(maintain_order=True)
    counts = {"pairs": frame.height, "queries": frame["query"].n_unique(), "documents": docs.height}
    return PairFile(path=source.path, kind="pairs", form=form, counts=counts, docs=docs)


def look_at_pool(source: Source, kind: FileKind, note: Note) -> PairFile:
    """Documents that nobody has labelled yet, or whose labels have a name that we do not know."""
    form = table_form(source)
    if form is None:
        raise FormatError(f"{source.shown}: expected a table with the columns query and doc")
    frame = read_table(source, form)
    renamed = rename(frame, required=["query", "doc"], what="pool")
    docs = pl.DataFrame([identifiers(renamed, "query"), identifiers(renamed, "doc")])
    known = {name for names in NAMES.values() for name in names} | {"runs", "best_rank", "drawn"}
    grades = [name for name in renamed.columns if name.lower() not in known and _grades(renamed[name])]
    if grades and kind == "pool":
        are = "hold" if len(grades) > 1 else "holds"
        note(f"{first_few(grades)} {are} small whole numbers: if these are labels, say `--columns label={grades[0]}` "
             f"to the commands, or rename the column to label")  # fmt: skip
    counts = {"documents": docs.height, "queries": docs["query"].n_unique()}
    if twice := docs.height - docs.n_unique():
        note(f"{counted(twice, 'document')} of a query stand twice")
    trusted = next((name for name in grades if is_trusted(name)), None) if docs.n_unique() == docs.height else None
    return PairFile(path=source.path, kind=kind, form=form, counts=counts, docs=docs, trusted=trusted)


def _grades(cells: pl.Series) -> bool:
    if cells.dtype.is_nested():
        return False
    numbers = cells.cast(pl.String).drop_nulls().cast(pl.Float64, strict=False)
    small = numbers.is_between(-2, 10) & (numbers == numbers.round(0))
    return bool(len(numbers)) and not numbers.null_count() and bool(small.all()) and numbers.n_unique() > 1


def look_at_ids(source: Source, kind: FileKind) -> IdFile:
    """The ids of topics or documents."""
    form = recognise(source, "topics" if kind == "topics" else "documents")
    if kind == "topics":
        frame = read_topics(source, form=form)
        return IdFile(path=source.path, kind=kind, form=form, counts={"queries": frame.height}, ids=frame["query"])
    frame = read_documents(source, form=form)
    return IdFile(path=source.path, kind=kind, form=form, counts={"documents": frame.height}, ids=frame["doc"])


def look_at_scores(source: Source) -> IdFile:
    """What `evaluate --per-query` printed; nothing reads it again."""
    form = table_form(source) or "csv"
    frame = read_table(source, form)
    counts = {name: frame[name[:-1] if name != "queries" else "query"].n_unique() for name in ("runs", "measures")}
    counts["queries"] = frame["query"].n_unique()
    return IdFile(path=source.path, kind="scores", form=form, counts=counts, ids=frame["query"].cast(pl.String))


def look_at_matrix(source: Source) -> MatrixFile:
    """A confusion matrix."""
    matrix = read_confusion(source)
    counts = {"labels": list(matrix.labels), "rows": matrix.rows, "columns": matrix.columns}
    return MatrixFile(path=source.path, kind="confusion", form="json", counts=counts, matrix=matrix)


def look_at_gains(source: Source) -> GainsFile:
    """What each label is worth."""
    gains = read_gains(source)
    counts = {"gains": {str(label): gain for label, gain in gains.items()}}
    return GainsFile(path=source.path, kind="gains", form="json", counts=counts, gains=gains)
