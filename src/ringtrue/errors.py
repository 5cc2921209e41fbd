"""Every error that ringtrue raises on purpose.

    RingtrueError              catch this one to catch them all
    ├── InputError             the data cannot be used as they are
    │   ├── FileError          a file cannot be opened or read to its end
    │   ├── FormatError        a file does not say what its format promises
    │   ├── TableError         columns are missing, or hold what they must not
    │   ├── DuplicateError     one (query, doc) stands twice where it may stand once
    │   └── MismatchError      two inputs that belong together share nothing
    ├── UsageError             the question was put wrongly: an option, a name, a parameter
    │   └── MeasureError       no such measure, or not with this parameter
    ├── StoreError             the database cannot be used
    │   └── UnavailableError   not now: locked, full or gone; nothing was written, and trying again is safe
    │       └── ReadOnlyError  it can be read and not written: its disk is full or fails, or may not be written
    └── RefusedError           what was asked of the store is not to be had
        ├── NotFoundError      there is no such thing, or not for this person
        ├── ForbiddenError     this person, link or token may not do it
        ├── ConflictError      it was already answered, or changed meanwhile
        └── LateError          the lease or the time of the task has ended

Each message is one line: what was expected, what was found, where, and what to do next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable


class RingtrueError(Exception):
    """The root of every error raised on purpose.

    Examples:
        >>> import ringtrue as rt
        >>> try:
        ...     rt.parse("nDGC@10")
        ... except rt.RingtrueError as error:
        ...     print(error)
        unknown measure 'nDGC@10'; did you mean 'nDCG@10'? `ringtrue measures` lists them all
    """


class InputError(RingtrueError):
    """The data cannot be used as they are."""


class FileError(InputError):
    """A file cannot be opened or read to its end."""


class FormatError(InputError):
    """A file does not say what its format promises."""


class TableError(InputError):
    """Columns are missing, or hold what they must not."""


class DuplicateError(InputError):
    """One (query, doc) stands twice where it may stand once."""

    def __init__(
        self, message: str, *, table: Literal["run", "judgments"], query: str, doc: str, judge: str | None = None
    ) -> None:
        super().__init__(message)
        self.table = table
        self.judge = judge  # where one judge said both
        self.query = query
        self.doc = doc


class MismatchError(InputError):
    """Two inputs that belong together share nothing."""


class UsageError(RingtrueError):
    """The question was put wrongly: an option, a name, a parameter."""


class MeasureError(UsageError):
    """No such measure, or not with this parameter."""


class StoreError(RingtrueError):
    """The database cannot be used."""


class UnavailableError(StoreError):
    """The database cannot do it now: locked, full or gone. Nothing was written, and trying again is safe."""


class ReadOnlyError(UnavailableError):
    """The database can be read, and not written: its disk is full or fails, or may not be written."""


class RefusedError(RingtrueError):
    """What was asked of the store is not to be had."""


class NotFoundError(RefusedError):
    """There is no such thing, or not for this person."""


class ForbiddenError(RefusedError):
    """This person, link or token may not do it."""


class ConflictError(RefusedError):
    """It was already answered, or changed meanwhile."""


class LateError(RefusedError):
    """The lease or the time of the task has ended."""


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Suggest the nearest known word, as the middle of a sentence; empty when nothing is near.

    Examples:
        >>> did_you_mean("nDGC", ["nDCG", "AP"])
        "; did you mean 'nDCG'?"
        >>> did_you_mean("xyzzy", ["nDCG", "AP"])
        ''
    """
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in candidates}
    near = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean '{by_lower[near[0]]}'?" if near else ""
