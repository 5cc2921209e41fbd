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

import copy
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from ringtrue.messages import PYTHON, Note, Suggestion, join_hints, spell

if TYPE_CHECKING:
    from ringtrue.messages import Spelling


class RingtrueError(Exception):
    """The root of every error raised on purpose: a note that stopped the work.

    `code` says which error it is, `parameter` which argument is meant, `file` and `line` where it was found.

    Examples:
        >>> import ringtrue as rt
        >>> try:
        ...     rt.parse("nDGC@10")
        ... except rt.RingtrueError as error:
        ...     print(error)
        unknown measure 'nDGC@10'; did you mean 'nDCG@10'?
    """

    names_parameter: ClassVar[bool] = False  # whether the sentence ends in the parameter, where no hint has it

    def __init__(
        self,
        code: str,
        text: str,
        *,
        parameter: str | None = None,
        subject: str | None = None,
        file: str | None = None,
        line: int | None = None,
        suggestions: Iterable[Suggestion] = (),
    ) -> None:
        self.file = file
        self.line = line
        self.note = Note(code, text, parameter=parameter, subject=subject, suggestions=suggestions)
        super().__init__(self.spelled(PYTHON))

    @classmethod
    def of(cls, note: Note, **fields: Any) -> Self:
        """The error of a note: one that was made before it was known that it stops the work."""
        return cls(
            note.code,
            note.text,
            parameter=note.parameter,
            subject=note.subject,
            suggestions=note.suggestions,
            **fields,
        )

    @property
    def code(self) -> str:
        """Which error it is; docs/reference/errors.md explains each."""
        return self.note.code

    @property
    def text(self) -> str:
        """What is the matter, without where and without what to do."""
        return self.note.text

    @property
    def parameter(self) -> str | None:
        """The argument that is meant, by its Python name."""
        return self.note.parameter

    @property
    def place(self) -> str | None:
        """Where it was found: `bm25.run:812`."""
        return self.file if self.file is None or self.line is None else f"{self.file}:{self.line}"

    def spelled(self, spelling: Spelling) -> str:
        """The one line that the users of a front end read: where, what, and what to do next."""
        note = self.note
        if self.names_parameter and note.parameter and not join_hints(note.suggestions, spelling):
            parameter = spelling.parameter(note.parameter)
            # Behind a question, it would read as what was meant.
            named = f"{parameter}: {note.text}" if note.text.endswith("?") else f"{note.text} ({parameter})"
            note = note.changed(text=named) if parameter else note
        return spell(note if self.place is None else note.about(self.place), spelling)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled by its fields, whatever a subclass asks for to be made."""
        return _restore, (type(self), self.args, vars(self))

    def with_note(self, note: Note) -> Self:
        """The same error with another note."""
        changed = copy.copy(self)
        changed.note = note
        changed.args = (changed.spelled(PYTHON),)
        return changed

    def about(self, subject: str) -> Self:
        """The same error, said of this: a run, a question, a column."""
        return self.with_note(self.note.about(subject))

    def found_in(self, file: str, line: int | None = None) -> Self:
        """The same error with the place where it was found; one that is known already stays."""
        changed = copy.copy(self)
        changed.file, changed.line = (file, line) if self.file is None else (self.file, self.line)
        return changed.with_note(self.note)

    def as_dict(self, spelling: Spelling = PYTHON) -> dict[str, Any]:
        """The error as plain data: code, message, parameter, file and line."""
        return {
            "code": self.code,
            "message": self.spelled(spelling),
            "parameter": self.parameter,
            "file": self.file,
            "line": self.line,
        }


def _restore(kind: type[RingtrueError], args: tuple[object, ...], fields: dict[str, object]) -> RingtrueError:
    error = kind.__new__(kind, *args)
    vars(error).update(fields)
    return error


class InputError(RingtrueError):
    """The data cannot be used as they are."""


class FileError(InputError):
    """A file cannot be opened or read to its end."""


class FormatError(InputError):
    """A file does not say what its format promises."""


class TableError(InputError):
    """Columns are missing, or hold what they must not; `columns` are their names."""

    def __init__(self, code: str, text: str, *, columns: Iterable[str] = (), **fields: Any) -> None:
        super().__init__(code, text, **fields)
        self.columns = tuple(columns)


class DuplicateError(InputError):
    """One (query, doc) stands twice where it may stand once."""

    def __init__(
        self,
        code: str,
        text: str,
        *,
        table: Literal["run", "judgments"],
        query: str,
        doc: str,
        judge: str | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(code, text, **fields)
        self.table = table
        self.judge = judge  # where one judge said both
        self.query = query
        self.doc = doc


class MismatchError(InputError):
    """Two inputs that belong together share nothing."""


class UsageError(RingtrueError):
    """The question was put wrongly: an option, a name, a parameter."""

    names_parameter = True


class MeasureError(UsageError):
    """No such measure, or not with this parameter."""

    names_parameter = False  # the sentence names the measure


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
    near = find_near_miss(word, candidates)
    return f"; did you mean '{near}'?" if near else ""


def find_near_miss(word: str, candidates: Iterable[str]) -> str | None:
    """The nearest known word; None when nothing is near."""
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in candidates}
    near = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[near[0]] if near else None
