"""What is refused, by its code, and the codes of notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest

from ringtrue.errors import RingtrueError
from ringtrue.messages import Note


@contextmanager
def refuses(error: type[RingtrueError], code: str, *values: object) -> Iterator[None]:
    """What stands in the block is refused by an error of this code, whose sentence names these values."""
    with pytest.raises(error) as refused:
        yield
    assert refused.value.code == code
    for value in values:
        assert str(value) in refused.value.text


def codes(notes: Iterable[str]) -> list[str]:
    """The codes of notes; empty for a sentence without one."""
    return [getattr(note, "code", "") for note in notes]


def names(note: str, *values: object) -> bool:
    """Whether a sentence names all of these values."""
    return all(str(value) in note for value in values)


def with_code(notes: Iterable[str], code: str) -> list[Note]:
    """The notes of this code."""
    return [note for note in notes if isinstance(note, Note) and note.code == code]
