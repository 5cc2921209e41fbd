"""JSON that people wrote by hand: names that stand there once, and numbers that are amounts."""

from __future__ import annotations

import json
import math
from typing import Any

from ringtrue.errors import FormatError
from ringtrue.files.source import Source

__all__ = ["is_amount", "read_json", "shortened"]

SHOWN = 40  # characters of a value in a message


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
        return json.loads(source.whole(), object_pairs_hook=_once)
    except _TwiceError as error:
        raise FormatError(f"{source.shown}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{source.shown}: expected {expected}; {error}") from error


def is_amount(value: object) -> bool:
    """Whether a value is a finite number of at least 0; true and "1" are none.

    Examples:
        >>> [is_amount(value) for value in (2, 0.5, -1, True, "1", float("nan"))]
        [True, True, False, False, False, False]
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value) and value >= 0
    except OverflowError:  # a whole number beyond all floats
        return False


def shortened(value: object) -> str:
    """A value as JSON writes it, cut where it is too long for a message.

    Examples:
        >>> shortened(True), shortened("x" * 100)[-3:]
        ('true', 'xx…')
    """
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


class _TwiceError(Exception):
    """One name stands twice in an object."""


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose names stand there once: Python would keep the last without a word."""
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise _TwiceError(f"'{name}' stands twice in one object; each has one value")
        found[name] = value
    return found
