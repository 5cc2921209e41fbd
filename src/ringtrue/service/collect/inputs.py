"""What queries and documents say, and which questions have a known answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from ringtrue.errors import FormatError, InputError, MismatchError, TableError
from ringtrue.files import read_documents, read_judgments, read_preferences, read_topics, recognise_kind
from ringtrue.files.formats import recognise
from ringtrue.formatting.phrases import counted
from ringtrue.service.collect.uploads import GivenFile, source_of
from ringtrue.service.store.projects import FLIPPED

if TYPE_CHECKING:
    from ringtrue.service.store import Scale

__all__ = ["document_rows", "line_of", "read_texts", "read_traps", "require_kind", "topic_rows", "trap_rows"]

Note = Callable[[str], None]
TRUE = ("true", "1", "yes")  # what the column trap says of one
SLICE = 2_000  # documents that are turned into rows at a time
ALL_OF_THEM = 200_000  # documents: of more, only those that are asked about are kept
QUERY_PARTS = {"text": ("title", "text"), "description": ("description", "desc"), "narrative": ("narrative", "narr")}
DOC_PARTS = {
    "title": ("title",), "url": ("url", "link"), "snippet": ("snippet", "abstract", "summary"),
    "text": ("text", "body", "contents", "content"),
}  # fmt: skip


def topic_rows(file: GivenFile, note: Note) -> list[dict[str, Any]]:
    """The queries of a file with their texts, as the store takes them."""
    frame = read_topics(source_of(file), note=note)
    parts = _parts(frame, QUERY_PARTS)
    if not parts:
        raise TableError(
            f"{file.name}: expected a column title, text, description or narrative, found {', '.join(frame.columns)}"
        )
    return frame.select(pl.col("query").alias("name"), *parts).to_dicts()


def read_texts(files: Sequence[GivenFile], wanted: pl.Series, note: Note) -> list[pl.DataFrame]:
    """The documents of files: name, and of title, url, snippet and text what there is.

    Of very many, only those in `wanted` are kept; where that is none of them, something is wrong with the ids.
    """
    found = []
    for file in files:
        frame = read_documents(source_of(file), note=note)
        parts = _parts(frame, DOC_PARTS)
        if not parts:
            columns = ", ".join(frame.columns)
            raise TableError(f"{file.name}: expected a column title, url, snippet or text, found {columns}")
        frame = frame.select(pl.col("doc").alias("name"), *parts)
        asked = frame["name"].is_in(wanted.implode()) if len(wanted) else None
        if asked is not None and not asked.any():
            raise MismatchError(
                f"{file.name}: none of its {counted(frame.height, 'document')} is asked about: the first is "
                f"'{frame['name'][0]}', and asked is '{wanted[0]}'; do both use the same ids?"
            )
        if asked is not None and frame.height > ALL_OF_THEM:
            note(
                f"{file.name}: of {frame.height:,} documents, the {int(asked.sum()):,} that are asked about were taken"
            )
            frame = frame.filter(asked)
        found.append(frame)
    return found


def document_rows(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Documents as the store takes them, some at a time."""
    for piece in frame.iter_slices(SLICE):
        yield from piece.iter_rows(named=True)


def read_traps(file: GivenFile, scale: Scale, note: Note) -> list[dict[str, Any]]:
    """Questions with a known answer: query, doc and label, or pairs with a winner that a judge can choose."""
    require_kind(file, scale, "query, doc and label" if scale.kind == "graded" else "query, left, right and winner")
    if scale.kind == "graded":
        frame = read_judgments(source_of(file), note=note).frame
        rows = frame.select("query", "doc", expected=pl.col("label").cast(pl.String)).to_dicts()
    else:
        frame = read_preferences(source_of(file), note=note).frame
        rows = frame.select("query", doc="left", other="right", expected="winner").to_dicts()
    known = [label.value for label in scale.labels]
    seen: dict[tuple[str, ...], str] = {}
    for place, row in enumerate(rows):
        if row["expected"] not in known:
            raise InputError(
                f"{file.name}: line {line_of(file, place)}: a judge cannot answer '{row['expected']}' here, only "
                f"{', '.join(known)}; give the trap another answer, or choose a scale that has this one"
            )
        docs = (row["doc"], row.get("other") or "")
        key = (row["query"], *sorted(docs))
        answer = row["expected"] if list(docs) == sorted(docs) else FLIPPED.get(row["expected"], row["expected"])
        if seen.setdefault(key, answer) != answer:
            raise InputError(
                f"{file.name}: line {line_of(file, place)}: the trap of query '{row['query']}' and document "
                f"'{row['doc']}' stands there with two answers; keep one"
            )
    return rows


def trap_rows(frame: pl.DataFrame) -> pl.Series:
    """Which rows of a table are said to be traps, by its column of that name."""
    if "trap" not in frame.columns:
        return pl.Series("trap", [False]).new_from_index(0, frame.height)
    return frame["trap"].cast(pl.String).str.to_lowercase().is_in(TRUE).fill_null(value=False)


def line_of(file: GivenFile, row: int) -> int:
    """The line of a file on which a row stands, counted as a spreadsheet does: from 1, the names of columns too.

    Examples:
        >>> line_of(GivenFile(name="a.csv", content=b"query,doc,label\\nq,d,1\\n"), 0)
        2
        >>> line_of(GivenFile(name="a.qrels", content=b"q 0 d 1\\n"), 0)
        1
    """
    source = source_of(file)
    form = recognise(source, "preferences" if recognise_kind(source) == "preferences" else "judgments")
    return row + (2 if form in ("csv", "tsv") else 1)


def require_kind(file: GivenFile, scale: Scale, needs: str | None = None) -> None:
    """Refuse labels where preferences are meant, and the other way round; `needs` names the columns."""
    try:
        found = recognise_kind(source_of(file))
    except FormatError:  # reading it says what is wrong
        return
    wanted = "judgments" if scale.kind == "graded" else "preferences"
    if found != wanted and found in ("judgments", "preferences", "run"):
        usual = "query, doc, judge and label" if scale.kind == "graded" else "query, left, right, judge and winner"
        raise FormatError(f"{file.name}: this looks like {'a run' if found == 'run' else found}, and this project has "
                          f"{wanted}: expected {needs or usual}")  # fmt: skip


def _parts(frame: pl.DataFrame, parts: Mapping[str, tuple[str, ...]]) -> list[pl.Expr]:
    """The columns that a table has of these, as texts; empty cells are no text."""
    found = []
    for ours, names in parts.items():
        spelled = {name.lower(): name for name in frame.columns}
        name = next((spelled[name] for name in names if name in spelled), None)
        if name is not None and not frame[name].dtype.is_nested():
            text = pl.col(name).cast(pl.String)
            found.append(pl.when(text.str.strip_chars() != "").then(text).alias(ours))
    return found
