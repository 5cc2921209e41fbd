"""What files say of queries and documents: the texts that judges see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from ringtrue.errors import MismatchError, TableError
from ringtrue.files import read_documents, read_topics
from ringtrue.files.tabular import NoteHandler
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note
from ringtrue.service.collect.uploads import UploadedFile, open_source

SLICE_ROWS = 2_000  # documents that are turned into rows at a time
MAX_KEPT_WHOLE = 200_000  # documents: of more, only those that are asked about are kept
QUERY_PARTS = {"text": ("title", "text"), "description": ("description", "desc"), "narrative": ("narrative", "narr")}
DOC_PARTS = {
    "title": ("title",),
    "url": ("url", "link"),
    "snippet": ("snippet", "abstract", "summary"),
    "text": ("text", "body", "contents", "content"),
}


def read_topic_rows(file: UploadedFile, note: NoteHandler) -> list[dict[str, Any]]:
    """The queries of a file with their texts, as the store takes them."""
    frame = read_topics(open_source(file), note=note)
    text_columns = _text_columns(frame, QUERY_PARTS)
    if not text_columns:
        raise TableError(
            "no-text-column",
            f"expected a column title, text, description or narrative, found {', '.join(frame.columns)}",
            file=file.name,
        )
    return frame.select(pl.col("query").alias("name"), *text_columns).to_dicts()


def read_document_texts(files: Sequence[UploadedFile], wanted_docs: pl.Series, note: NoteHandler) -> list[pl.DataFrame]:
    """The documents of files: name, and of title, url, snippet and text what there is.

    Of very many, only those in `wanted_docs` are kept; where that is none of them, something is wrong with the ids.
    """
    frames = []
    for file in files:
        frame = read_documents(open_source(file), note=note)
        text_columns = _text_columns(frame, DOC_PARTS)
        if not text_columns:
            columns = ", ".join(frame.columns)
            raise TableError(
                "no-text-column", f"expected a column title, url, snippet or text, found {columns}", file=file.name
            )
        frame = frame.select(pl.col("doc").alias("name"), *text_columns)
        is_wanted = frame["name"].is_in(wanted_docs.implode()) if len(wanted_docs) else None
        if is_wanted is not None and not is_wanted.any():
            raise MismatchError(
                "none-asked-about",
                f"none of its {format_count(frame.height, 'document')} is asked about: the first is "
                f"'{frame['name'][0]}', and asked is '{wanted_docs[0]}'; do both use the same ids?",
                file=file.name,
            )
        if is_wanted is not None and frame.height > MAX_KEPT_WHOLE:
            note(
                Note(
                    "documents-not-asked",
                    f"of {frame.height:,} documents, the {int(is_wanted.sum()):,} that are asked about were taken",
                    subject=file.name,
                )
            )
            frame = frame.filter(is_wanted)
        frames.append(frame)
    return frames


def iter_document_rows(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Documents as the store takes them, some at a time."""
    for chunk in frame.iter_slices(SLICE_ROWS):
        yield from chunk.iter_rows(named=True)


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
