"""Topics and documents: what was searched for, and the texts that were searched."""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

from ringtrue.errors import FormatError
from ringtrue.files.byte_source import Source

TOPIC_TAG = re.compile(r"<(/?)(top|num|title|desc|narr)\b[^>]*>", re.IGNORECASE)
PART_LABEL = re.compile(r"^\s*(Number|Topic|Description|Narrative)\s*:\s*", re.IGNORECASE)
TOPIC_PARTS = {"num": "query", "title": "title", "desc": "description", "narr": "narrative"}
CRANFIELD_PARTS = {".T": "title", ".A": "author", ".B": "source", ".W": "text"}


def read_trec_topics(source: Source) -> pl.DataFrame:
    """`<top> <num> <title> <desc> <narr>`: query, title, description, narrative; closing tags may be missing."""
    text = "\n".join(line for _, line in source.lines())
    topics: list[dict[str, str]] = []
    tags = list(TOPIC_TAG.finditer(text))
    for tag, following in zip(tags, [*tags[1:], None], strict=False):
        name = tag[2].lower()
        if tag[1]:
            continue
        if name == "top":
            topics.append({})
            continue
        if not topics:
            raise FormatError("misplaced-text", f"<{name}> before the first <top>", file=source.display_name)
        content = text[tag.end() : following.start() if following else len(text)]
        content = PART_LABEL.sub("", content)
        topics[-1][TOPIC_PARTS[name]] = " ".join(content.split())
    if not topics:
        raise FormatError("no-data", "no <top> in this file", file=source.display_name)
    for number, topic in enumerate(topics, start=1):
        if not topic.get("query"):
            raise FormatError("missing-id", f"topic {number} has no <num>", file=source.display_name)
    columns = [name for name in TOPIC_PARTS.values() if any(name in topic for topic in topics)]
    return require_unique_ids(pl.DataFrame(topics, schema=dict.fromkeys(columns, pl.String)), "query", source)


def read_cranfield(source: Source, column: str) -> pl.DataFrame:
    """`.I id` followed by `.T`, `.A`, `.B` and `.W` parts: one row for each text, its id in `column`."""
    records = list(_parse_cranfield(source, column))
    if not records:
        raise FormatError("no-data", "no line '.I id' in this file", file=source.display_name)
    names = [column, *(name for name in CRANFIELD_PARTS.values() if any(name in record for record in records))]
    return require_unique_ids(pl.DataFrame(records, schema=dict.fromkeys(names, pl.String)), column, source)


def _parse_cranfield(source: Source, column: str) -> Iterator[dict[str, str]]:
    record: dict[str, str] = {}
    part: str | None = None
    for number, line in source.lines():
        if line.startswith(".I"):
            if record:
                yield record
            record, part = {column: line[2:].strip()}, None
            if not record[column]:
                raise FormatError("missing-id", "expected '.I id', found no id", file=source.display_name, line=number)
        elif record and line.strip() in CRANFIELD_PARTS:
            part = CRANFIELD_PARTS[line.strip()]
            record.setdefault(part, "")
        elif line.strip():
            if part is None or not record:
                raise FormatError(
                    "misplaced-text",
                    "text before '.I id' and '.T', '.A', '.B' or '.W'",
                    file=source.display_name,
                    line=number,
                )
            record[part] = f"{record[part]} {' '.join(line.split())}".strip()
    if record:
        yield record


def read_id_text(source: Source, column: str) -> pl.DataFrame:
    """Lines of id, tab, text, as MS MARCO has its queries and passages."""
    ids, texts = [], []
    for number, line in source.lines():
        if not line.strip():
            continue
        text_id, tab, text = line.partition("\t")
        if not tab or not text_id.strip():
            raise FormatError(
                "missing-id",
                f"expected an id, a tab and a text, found '{line[:40]}'",
                file=source.display_name,
                line=number,
            )
        ids.append(text_id.strip())
        texts.append(text.strip())
    if not ids:
        raise FormatError(
            "no-data", "no line of data in this file; expected an id, a tab and a text", file=source.display_name
        )
    text_column = "title" if column == "query" else "text"
    return require_unique_ids(pl.DataFrame({column: ids, text_column: texts}), column, source)


def require_unique_ids(frame: pl.DataFrame, column: str, source: Source) -> pl.DataFrame:
    """The frame, unless an id stands there twice."""
    repeated = frame.filter(pl.col(column).is_duplicated())
    if repeated.height:
        raise FormatError(
            "duplicate-id", f"{column} '{repeated[column][0]}' stands there twice", file=source.display_name
        )
    return frame
