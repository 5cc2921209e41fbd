"""What queries and documents say, and which questions have a known answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from ringtrue.errors import FormatError, InputError, MismatchError, TableError
from ringtrue.files import read_documents, read_judgments, read_preferences, read_topics, recognise_kind
from ringtrue.files.formats import recognise_format
from ringtrue.formatting.phrases import format_count
from ringtrue.service.collect.uploads import UploadedFile, open_source
from ringtrue.service.store.records import swap_sides

if TYPE_CHECKING:
    from ringtrue.service.store import Scale

Note = Callable[[str], None]
TRUE_WORDS = ("true", "1", "yes")  # what the column trap says of one
SLICE_ROWS = 2_000  # documents that are turned into rows at a time
MAX_KEPT_WHOLE = 200_000  # documents: of more, only those that are asked about are kept
QUERY_PARTS = {"text": ("title", "text"), "description": ("description", "desc"), "narrative": ("narrative", "narr")}
DOC_PARTS = {
    "title": ("title",),
    "url": ("url", "link"),
    "snippet": ("snippet", "abstract", "summary"),
    "text": ("text", "body", "contents", "content"),
}


def read_topic_rows(file: UploadedFile, note: Note) -> list[dict[str, Any]]:
    """The queries of a file with their texts, as the store takes them."""
    frame = read_topics(open_source(file), note=note)
    text_columns = _text_columns(frame, QUERY_PARTS)
    if not text_columns:
        raise TableError(
            f"{file.name}: expected a column title, text, description or narrative, found {', '.join(frame.columns)}"
        )
    return frame.select(pl.col("query").alias("name"), *text_columns).to_dicts()


def read_document_texts(files: Sequence[UploadedFile], wanted_docs: pl.Series, note: Note) -> list[pl.DataFrame]:
    """The documents of files: name, and of title, url, snippet and text what there is.

    Of very many, only those in `wanted_docs` are kept; where that is none of them, something is wrong with the ids.
    """
    frames = []
    for file in files:
        frame = read_documents(open_source(file), note=note)
        text_columns = _text_columns(frame, DOC_PARTS)
        if not text_columns:
            columns = ", ".join(frame.columns)
            raise TableError(f"{file.name}: expected a column title, url, snippet or text, found {columns}")
        frame = frame.select(pl.col("doc").alias("name"), *text_columns)
        is_wanted = frame["name"].is_in(wanted_docs.implode()) if len(wanted_docs) else None
        if is_wanted is not None and not is_wanted.any():
            raise MismatchError(
                f"{file.name}: none of its {format_count(frame.height, 'document')} is asked about: the first is "
                f"'{frame['name'][0]}', and asked is '{wanted_docs[0]}'; do both use the same ids?"
            )
        if is_wanted is not None and frame.height > MAX_KEPT_WHOLE:
            note(
                f"{file.name}: of {frame.height:,} documents, the {int(is_wanted.sum()):,} that are asked about were "
                f"taken"
            )
            frame = frame.filter(is_wanted)
        frames.append(frame)
    return frames


def iter_document_rows(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Documents as the store takes them, some at a time."""
    for chunk in frame.iter_slices(SLICE_ROWS):
        yield from chunk.iter_rows(named=True)


def read_traps(file: UploadedFile, scale: Scale, note: Note) -> list[dict[str, Any]]:
    """Questions with a known answer: query, doc and label, or pairs with a winner that a judge can choose."""
    require_kind(file, scale, "query, doc and label" if scale.kind == "graded" else "query, left, right and winner")
    if scale.kind == "graded":
        frame = read_judgments(open_source(file), note=note).frame
        rows = frame.select("query", "doc", expected=pl.col("label").cast(pl.String)).to_dicts()
    else:
        frame = read_preferences(open_source(file), note=note).frame
        rows = frame.select("query", doc="left", other="right", expected="winner").to_dicts()
    scale_answers = [label.value for label in scale.labels]
    answer_by_item: dict[tuple[str, ...], str] = {}
    for row_number, row in enumerate(rows):
        if row["expected"] not in scale_answers:
            raise InputError(
                f"{file.name}: line {find_line_number(file, row_number)}: a judge cannot answer "
                f"'{row['expected']}' here, only {', '.join(scale_answers)}; give the trap another answer, "
                f"or choose a scale that has this one"
            )
        docs = (row["doc"], row.get("other") or "")
        item_key = (row["query"], *sorted(docs))
        answer = swap_sides(row["expected"], list(docs) != sorted(docs))
        if answer_by_item.setdefault(item_key, answer) != answer:
            raise InputError(
                f"{file.name}: line {find_line_number(file, row_number)}: the trap of query '{row['query']}' and "
                f"document '{row['doc']}' stands there with two answers; keep one"
            )
    return rows


def trap_mask(frame: pl.DataFrame) -> pl.Series:
    """Which rows of a table are said to be traps, by its column of that name."""
    if "trap" not in frame.columns:
        return pl.Series("trap", [False]).new_from_index(0, frame.height)
    return frame["trap"].cast(pl.String).str.to_lowercase().is_in(TRUE_WORDS).fill_null(value=False)


def find_line_number(file: UploadedFile, row: int) -> int:
    """The line of a file on which a row stands, counted as a spreadsheet does: from 1, the names of columns too.

    Examples:
        >>> find_line_number(UploadedFile(name="a.csv", content=b"query,doc,label\\nq,d,1\\n"), 0)
        2
        >>> find_line_number(UploadedFile(name="a.qrels", content=b"q 0 d 1\\n"), 0)
        1
    """
    source = open_source(file)
    file_format = recognise_format(source, "preferences" if recognise_kind(source) == "preferences" else "judgments")
    return row + (2 if file_format in ("csv", "tsv") else 1)


def require_kind(file: UploadedFile, scale: Scale, columns: str | None = None) -> None:
    """Refuse labels where preferences are meant, and the other way round; `columns` names what is needed."""
    try:
        found_kind = recognise_kind(open_source(file))
    except FormatError:  # reading it says what is wrong
        return
    wanted_kind = "judgments" if scale.kind == "graded" else "preferences"
    if found_kind != wanted_kind and found_kind in ("judgments", "preferences", "run"):
        usual_columns = (
            "query, doc, judge and label" if scale.kind == "graded" else "query, left, right, judge and winner"
        )
        raise FormatError(
            f"{file.name}: this looks like {'a run' if found_kind == 'run' else found_kind}, and this project has "
            f"{wanted_kind}: expected {columns or usual_columns}"
        )


def _text_columns(frame: pl.DataFrame, parts: Mapping[str, tuple[str, ...]]) -> list[pl.Expr]:
    """The columns that a table has of these, as texts; empty cells are no text."""
    expressions = []
    for part, names in parts.items():
        name_by_lower = {name.lower(): name for name in frame.columns}
        name = next((name_by_lower[name] for name in names if name in name_by_lower), None)
        if name is not None and not frame[name].dtype.is_nested():
            text = pl.col(name).cast(pl.String)
            expressions.append(pl.when(text.str.strip_chars() != "").then(text).alias(part))
    return expressions
