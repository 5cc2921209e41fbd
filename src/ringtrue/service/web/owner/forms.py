"""Forms as they were sent: texts to be shown again, and what is wrong, beside the field where it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.datastructures import FormData, UploadFile

from ringtrue.service.collect.uploads import GivenFile

if TYPE_CHECKING:
    from ringtrue.errors import RingtrueError

__all__ = ["Filled", "given_files", "sentence"]

FILE_FIRST = re.compile(r"[^:]*\.\w+:")
EVERYTHING = ""  # the place for what is wrong with no single field


@dataclass(slots=True, kw_only=True)
class Filled:
    """A form as it was sent, or as it is shown first; `problems` are sentences by the name of their field.

    Examples:
        >>> form = Filled(values={"judges": "two"})
        >>> form.number("judges", "How many judges", 1, 9), form.problems
        (None, {'judges': "How many judges: expected a whole number from 1 to 9, found 'two'"})
    """

    values: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    @classmethod
    def sent(cls, form: FormData, names: Iterable[str]) -> Filled:
        """The texts that a browser sent; a box that was not ticked sends nothing."""
        return cls(values={name: _text(form.get(name)) for name in names})

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    def is_on(self, name: str) -> bool:
        """Whether a box was ticked."""
        return self[name] != ""

    def number(self, name: str, words: str, low: int, high: int, *, optional: bool = False) -> int | None:
        """A whole number; None with a problem where it is none, or where it may be left empty and was."""
        text = self[name].strip()
        if not text and optional:
            return None
        digits = text.replace(",", "")
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else None
        if number is None or not low <= number <= high:
            found = f"found '{text[:40]}'" if text else "found nothing"
            also = ", or nothing" if optional else ""
            self.problems[name] = f"{words}: expected a whole number from {low:,} to {high:,}{also}, {found}"
            return None
        return number

    def one_of(self, name: str, words: str, choices: Sequence[str]) -> str:
        """One of several choices; the first, with a problem, where it is none of them."""
        if self[name] in choices:
            return self[name]
        self.problems[name] = f"{words}: choose one of {', '.join(choices)}"
        return choices[0]

    def blame(
        self, error: RingtrueError, files: Mapping[str, Sequence[GivenFile]], otherwise: str = EVERYTHING
    ) -> None:
        """Put an error beside the field whose file it speaks of."""
        said = str(error)
        named = [(len(one.name), place) for place, some in files.items() for one in some if one.name in said]
        self.problems[max(named)[1] if named else otherwise] = sentence(said)


def sentence(words: str) -> str:
    """Words of an error as they stand on a page; the name of a file stays as it is.

    Examples:
        >>> sentence("no such thing"), sentence("a.run: this file is empty")
        ('No such thing.', 'a.run: this file is empty.')
    """
    begun = words if FILE_FIRST.match(words) else words[:1].upper() + words[1:]
    return begun if begun.endswith((".", "?", "!")) else f"{begun}."


async def given_files(form: FormData, name: str) -> list[GivenFile]:
    """The files of a field; one that was left empty is none."""
    found = [one for one in form.getlist(name) if isinstance(one, UploadFile) and one.filename]
    return [GivenFile(name=one.filename or "", content=await one.read()) for one in found]


def _text(value: Any) -> str:
    # PostgreSQL keeps no NUL, and browsers send line ends as CR LF.
    return value.replace("\x00", "").replace("\r\n", "\n") if isinstance(value, str) else ""
