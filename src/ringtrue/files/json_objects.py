"""JSON that people wrote by hand: names that stand there once, and numbers that are amounts."""

from __future__ import annotations

import json
import math
from typing import Any

from ringtrue.errors import FormatError
from ringtrue.files.byte_source import Source

MAX_SHOWN = 40  # characters of a value in a message


def read_json(source: Source, expected: str) -> Any:
    """What a JSON file holds; a name that stands twice in one object is refused.

    Examples:
        >>> path = getfixture("tmp_path") / "twice.json"
        >>> _ = path.write_text('{"labels": [0, 1], "labels": [1, 0]}')
        >>> try:
        ...     read_json(Source(str(path)), "labels")
        ... except FormatError as error:
        ...     print(str(error).removeprefix(f"{path}: "))
        'labels' stands twice in one object; each has one value
    """
    try:
        return json.loads(source.read_all(), object_pairs_hook=_require_unique_keys)
    except _DuplicateKeyError as error:
        raise FormatError(f"{source.display_name}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{source.display_name}: expected {expected}; {error}") from error


def is_nonnegative_number(value: object) -> bool:
    """Whether a value is a finite number of at least 0; true and "1" are none.

    Examples:
        >>> [is_nonnegative_number(value) for value in (2, 0.5, -1, True, "1", float("nan"))]
        [True, True, False, False, False, False]
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value) and value >= 0
    except OverflowError:  # a whole number beyond all floats
        return False


def shorten_json(value: object) -> str:
    """A value as JSON writes it, cut where it is too long for a message.

    Examples:
        >>> shorten_json(True), shorten_json("x" * 100)[-3:]
        ('true', 'xx…')
    """
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


class _DuplicateKeyError(Exception):
    """One name stands twice in an object."""


def _require_unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose names stand there once: Python would keep the last without a word."""
    by_name: dict[str, object] = {}
    for name, value in pairs:
        if name in by_name:
            raise _DuplicateKeyError(f"'{name}' stands twice in one object; each has one value")
        by_name[name] = value
    return by_name
