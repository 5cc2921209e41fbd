"""Text in columns between white space: TREC runs, qrels, preferences.

A piece of a file whose lines all have the same number of fields, set apart by single characters, goes to
Polars' parser at once. One with other spacing or comments is tidied first. Whatever still does not fit is
read line by line, slowly, by the code that also finds the words for what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ringtrue.errors import FormatError
from ringtrue.files.source import BOM, Source, decoded
from ringtrue.tables.columns import INT32

__all__ = ["Layout", "find_lines", "nth_line", "read_fields", "split_fields"]

BLOCK = 1 << 18
NEWLINE, SPACE = 10, 32
NOT_BLANK = bytes(range(SPACE + 1, 256))
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
BLANKS = re.compile(r"[\t-\r ]+")
CONTROLS = bytes({*range(SPACE)} - {*b"\t\n\v\f\r"})  # below the space, but no white space
LONE_RETURN = re.compile(rb"\r(?![ \t\r\v\f]*\n)")  # how lines ended on old Macs
NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The fields of a line, by name; those named `_` are not kept.

    `extra` allows further fields after the last. A field called score is a finite number, one called label a
    whole number of 32 bits; all others are text.
    """

    fields: tuple[str, ...]
    says: str
    extra: bool = False

    @property
    def kept(self) -> dict[str, int]:
        """Which fields are kept, and where they stand."""
        return {name: place for place, name in enumerate(self.fields) if name != "_"}


@dataclass(slots=True)
class Fields:
    """What was read, and what is worth a word."""

    frame: pl.DataFrame
    notes: tuple[str, ...] = ()


def read_fields(source: Source, layout: Layout) -> Fields:
    """All lines of a file; blank lines and those that begin with # are passed over."""
    frames, line, with_extra = [], 1, 0
    for piece in source.pieces():
        if (parsed := _at_once(piece, layout)) is None:
            parsed = _line_by_line(piece, layout, source, line)
            with_extra += parsed.with_extra
        if parsed.frame.height:
            frames.append(parsed.frame)
        line += parsed.lines
    if not frames:
        raise FormatError(f"{source.shown}: no line of data in this file; expected {layout.says}")
    notes = []
    if with_extra:
        notes.append(
            f"{source.shown}: {with_extra} lines have more than {len(layout.fields)} fields; "
            f"what follows the last was ignored"
        )
    return Fields(pl.concat(frames, rechunk=False), tuple(notes))


def find_lines(source: Source, layout: Layout, **wanted: str) -> list[int]:
    """The numbers of the lines whose fields have these values."""
    places = {layout.kept[name]: value for name, value in wanted.items()}
    return [
        number
        for number, fields in _split_lines(source)
        if all(place < len(fields) and fields[place] == value for place, value in places.items())
    ]


def nth_line(source: Source, row: int) -> int:
    """The number of the line that became this row, from 0, of what was read."""
    return next(number for at, (number, _) in enumerate(_split_lines(source)) if at == row)


def _split_lines(source: Source) -> Iterator[tuple[int, list[str]]]:
    for number, line in source.lines():
        if not line.startswith("#") and (fields := split_fields(line)):
            yield number, fields


def split_fields(line: str) -> list[str]:
    """What stands between ASCII white space; no-break and other Unicode spaces may be part of an id."""
    return [field for field in BLANKS.split(line) if field]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parsed:
    """A piece of a file as columns, and how many lines it had."""

    frame: pl.DataFrame
    lines: int
    with_extra: int = 0


def _at_once(piece: bytes, layout: Layout) -> _Parsed | None:
    """The piece by Polars' parser, or None where it has to be looked at line by line."""
    lines = None  # as many as rows, if nothing has to be tidied away
    separator = _separator(piece, len(layout.fields))
    if separator is None:
        if len(piece.translate(None, CONTROLS)) < len(piece) or LONE_RETURN.search(piece):
            return None
        lines = piece.count(b"\n")
        piece = _tidied(piece)
        separator = _separator(piece, len(layout.fields))
        if separator is None:
            return None
    if piece.startswith(BOM):  # here it is part of an id, which Polars does not know
        return None
    names = [f"{name}{place}" if name == "_" else name for place, name in enumerate(layout.fields)]
    numeric = ("score", "label")
    try:
        frame = pl.read_csv(
            piece,
            has_header=False,
            separator=separator,
            quote_char=None,
            schema={name: pl.Float64 if name in numeric else pl.String for name in names},
            columns=list(layout.kept.values()),
        )
    except pl.exceptions.PolarsError:
        return None
    if "score" in layout.kept and not frame["score"].is_finite().all():
        return None
    if "label" in layout.kept:
        label = frame["label"]
        if not ((label == label.round(0)) & label.is_between(INT32.start, INT32.stop - 1)).all():
            return None
        frame = frame.with_columns(label.cast(pl.Int32))
    if any(frame.null_count().row(0)):
        return None
    return _Parsed(frame=frame, lines=frame.height if lines is None else lines)


def _separator(piece: bytes, fields: int) -> str | None:
    """The one character between fields, if every line has just so many of them; else None."""
    blanks = piece.translate(None, NOT_BLANK)
    separator = blanks[:1] if fields > 1 else b" "
    if separator not in (b" ", b"\t") or blanks != (separator * (fields - 1) + b"\n") * (len(blanks) // fields):
        return None
    if b"#" in piece and (piece.startswith(b"#") or b"\n#" in piece):
        return None
    return None if piece[0] <= SPACE or _side_by_side(piece) else separator.decode()


def _side_by_side(piece: bytes) -> bool:
    """Whether two blanks stand side by side; so few bytes at a time that what is computed stays in the cache."""
    text = np.frombuffer(piece, dtype=np.uint8)
    for start in range(0, len(text), BLOCK):
        blank = text[start : start + BLOCK + 1] <= SPACE
        if np.any(blank[1:] & blank[:-1]):
            return True
    return False


def _tidied(piece: bytes) -> bytes:
    """Each run of white space as one space, or as one line break if there is one in it; no comments."""
    if b"#" in piece:
        piece = b"\n".join(line for line in piece.split(b"\n") if not line.startswith(b"#"))
    text = np.frombuffer(b"\n" + piece, dtype=np.uint8).copy()
    blank = text <= SPACE
    begins = blank.copy()
    begins[1:] &= ~blank[:-1]
    where = np.flatnonzero(begins)
    breaks = np.logical_or.reduceat(text == NEWLINE, where)
    # reduceat runs on to the next beginning, but between the two stands no further line break.
    text[where] = np.where(breaks, NEWLINE, SPACE)
    return text[~blank | begins][1:].tobytes()


def _line_by_line(piece: bytes, layout: Layout, source: Source, first: int) -> _Parsed:
    """The piece, slowly, with an error that names the line where something is wrong."""
    columns: dict[str, list[Any]] = {name: [] for name in layout.kept}
    kept, expected, extra = layout.kept.items(), len(layout.fields), 0
    for number, raw in enumerate(piece[:-1].split(b"\n"), start=first):
        if raw.startswith(b"#") or not (fields := split_fields(decoded(raw, source.shown, number))):
            continue
        if b"\r" in raw.strip():
            raise FormatError(f"{source.shown}:{number}: a carriage return inside a line; end lines with a line feed")
        if len(fields) != expected:
            if len(fields) < expected or not layout.extra:
                raise FormatError(
                    f"{source.shown}:{number}: expected {expected} fields ({layout.says}), found {len(fields)}"
                )
            extra += 1
        for name, place in kept:
            value: Any = fields[place]
            if name == "score":
                value = _score(value, f"{source.shown}:{number}")
            elif name == "label":
                value = _label(value, f"{source.shown}:{number}")
            columns[name].append(value)
    types = {"score": pl.Float64, "label": pl.Int32}
    frame = pl.DataFrame(columns, schema={name: types.get(name, pl.String) for name in columns})
    return _Parsed(frame=frame, lines=piece.count(b"\n"), with_extra=extra)


def _score(text: str, where: str) -> float:
    if NUMBER.fullmatch(text):
        value = float(text)
        if value in (float("inf"), float("-inf")):
            raise FormatError(f"{where}: the score {text} is too large for a 64-bit number")
        return value
    if NOT_FINITE.fullmatch(text):
        raise FormatError(f"{where}: expected a finite score, found '{text}': it has no place in a ranking")
    raise FormatError(f"{where}: expected a number as score, found '{text}'")


def _label(text: str, where: str) -> int:
    value = float(text) if NUMBER.fullmatch(text) else float("nan")
    if value != value or value in (float("inf"), float("-inf")) or value != int(value):
        raise FormatError(f"{where}: expected a whole number as label, found '{text}'")
    if int(value) not in INT32:
        raise FormatError(f"{where}: the label {text} does not fit 32 bits; labels are small grades such as 0 to 3")
    return int(value)
