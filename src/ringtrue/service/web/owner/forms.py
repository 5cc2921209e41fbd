"""Forms as they were sent: texts to be shown again, and what is wrong, beside the field where it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.datastructures import FormData, UploadFile

from ringtrue.service.collect.uploads import UploadedFile

if TYPE_CHECKING:
    from ringtrue.errors import RingtrueError

FILE_NAME_PREFIX = re.compile(r"[^:]*\.\w+:")
WHOLE_FORM = ""  # the place for what is wrong with no single field


@dataclass(slots=True, kw_only=True)
class FormState:
    """A form as it was sent, or as it is shown first; `problems` are sentences by the name of their field.

    Examples:
        >>> form = FormState(values={"judges": "two"})
        >>> form.parse_number("judges", "How many judges", 1, 9), form.problems
        (None, {'judges': "How many judges: expected a whole number from 1 to 9, found 'two'"})
    """

    values: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_submission(cls, form: FormData, names: Iterable[str]) -> FormState:
        """The texts that a browser sent; a box that was not ticked sends nothing."""
        return cls(values={name: _clean_text(form.get(name)) for name in names})

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    def is_on(self, name: str) -> bool:
        """Whether a box was ticked."""
        return self[name] != ""

    def parse_number(self, name: str, label: str, low: int, high: int, *, optional: bool = False) -> int | None:
        """A whole number; None with a problem where it is none, or where it may be left empty and was."""
        text = self[name].strip()
        if not text and optional:
            return None
        digits = text.replace(",", "")
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else None
        if number is None or not low <= number <= high:
            found_text = f"found '{text[:40]}'" if text else "found nothing"
            or_nothing = ", or nothing" if optional else ""
            self.problems[name] = f"{label}: expected a whole number from {low:,} to {high:,}{or_nothing}, {found_text}"
            return None
        return number

    def parse_choice(self, name: str, label: str, choices: Sequence[str]) -> str:
        """One of several choices; the first, with a problem, where it is none of them."""
        if self[name] in choices:
            return self[name]
        self.problems[name] = f"{label}: choose one of {', '.join(choices)}"
        return choices[0]

    def attach_error(
        self, error: RingtrueError, files: Mapping[str, Sequence[UploadedFile]], default_field: str = WHOLE_FORM
    ) -> None:
        """Put an error beside the field whose file it speaks of."""
        message = str(error)
        mentioned = [
            (len(file.name), field_name)
            for field_name, field_files in files.items()
            for file in field_files
            if file.name in message
        ]
        self.problems[max(mentioned)[1] if mentioned else default_field] = as_sentence(message)


def as_sentence(message: str) -> str:
    """Words of an error as they stand on a page; the name of a file stays as it is.

    Examples:
        >>> as_sentence("no such thing"), as_sentence("a.run: this file is empty")
        ('No such thing.', 'a.run: this file is empty.')
    """
    capitalised = message if FILE_NAME_PREFIX.match(message) else message[:1].upper() + message[1:]
    return capitalised if capitalised.endswith((".", "?", "!")) else f"{capitalised}."


async def read_uploaded_files(form: FormData, name: str) -> list[UploadedFile]:
    """The files of a field; one that was left empty is none."""
    uploads = [upload for upload in form.getlist(name) if isinstance(upload, UploadFile) and upload.filename]
    return [UploadedFile(name=upload.filename or "", content=await upload.read()) for upload in uploads]


def _clean_text(submitted: Any) -> str:
    # PostgreSQL keeps no NUL, and browsers send line ends as CR LF.
    return submitted.replace("\x00", "").replace("\r\n", "\n") if isinstance(submitted, str) else ""
