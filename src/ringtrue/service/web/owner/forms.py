"""Forms of the owner's pages: the label of each field, what was sent, and what is wrong with it beside its field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.datastructures import FormData, UploadFile

from ringtrue.messages import Note
from ringtrue.service.collect.uploads import UploadedFile
from ringtrue.service.web.field_spelling import FieldSpelling

if TYPE_CHECKING:
    from ringtrue.errors import RingtrueError
    from ringtrue.messages import Spelling
    from ringtrue.service.web.owner.kept_files import KeptFile

WHOLE_FORM = ""  # the place for what is wrong with no single field
FIELD_LABELS = {
    # a project
    "title": "Title",
    "name": "Address",
    "scale": "How is it judged?",
    "grades": "Names of the grades",
    "guidelines": "Guidelines for judges",
    "typed": "Name of the project",
    # its files
    "ask": "What is to be judged",
    "depth": "Depth of the pool",
    "topics": "Queries",
    "documents": "Documents",
    "trap_file": "Traps",
    "labels": "Labels",
    # its settings
    "judges": "Judges for each item",
    "task_size": "Questions in a task",
    "minutes": "Time limit of a task, in minutes",
    "lease_minutes": "Minutes without an answer",
    "together": "Documents of a query come one after another",
    "traps": "Traps in a task",
    "traps_needed": "Traps to be passed",
    "failed_traps": "A task that fails its traps",
    "completion_answered": "Questions to be answered, in percent",
    "completion_unsure": "“Can’t tell” that counts as answered, in percent at most",
    "completion_seconds": "Least time for a task, in seconds a question",
    "completion_traps": "Enough traps have to be passed too",
    "highlight": "Mark the words of the query in the documents",
    "shortcuts": "Answer with single keys",
    "html": "Documents are HTML",
    "active": "Choose the next pairs as votes arrive",
    # gold, verdicts and exports
    "how": "What is drawn",
    "number": "How many",
    "measures": "Measures",
    "compare": "Only to compare the runs",
    "wanted": "Gold judges for each document",
    "bronze": "Labels to draw from",
    "reason": "Why",
    "which": "Which answers",
    "judge": "Judge",
    "queue": "Queue",
    "failed": "With tasks that failed their traps",
    # people and tokens
    "role": "As what",
    "whom": "For whom",
    "days": "Good for how many days",
    "code": "Completion code",
    "partial_code": "Code for part of the work",
    "own_codes": "A code of its own for each worker",
    "id_required": "Only with an id of the platform",
    "one_account": "One person, one account",
    "uses": "How many people at most",
    "crowd_days": "Good for how many days",
    "label": "What is it for?",
    "scopes": "It may",
}


@dataclass(slots=True, kw_only=True)
class FormState:
    """A form as it was sent, or as it is shown first; `problems` are notes by the name of their field.

    `notices` are about the form as a whole. `kept` are the files that need not be chosen again, by field; of them,
    those `refused` are not sent again by themselves. Each is named by its field and its own name.

    Examples:
        >>> form = FormState(values={"judges": "two"})
        >>> print(form.parse_number("judges", 1, 9), form.problems["judges"])
        None Judges for each item: expected a whole number from 1 to 9, found 'two'
    """

    values: dict[str, str] = field(default_factory=dict)
    file_fields: Sequence[str] = ()
    problems: dict[str, Note] = field(default_factory=dict)
    notices: list[Note] = field(default_factory=list)
    labels: Mapping[str, str] = field(default_factory=lambda: FIELD_LABELS)
    kept: Mapping[str, Sequence[KeptFile]] = field(default_factory=dict)
    refused: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def from_submission(cls, form: FormData, names: Iterable[str], *, file_fields: Sequence[str] = ()) -> FormState:
        """The texts that a browser sent; a box that was not ticked sends nothing."""
        return cls(values={name: _clean_text(form.get(name)) for name in names}, file_fields=file_fields)

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    @property
    def spelling(self) -> Spelling:
        """How this form spells what can be set: its fields by their labels."""
        names = {*self.values, *self.file_fields}
        return FieldSpelling({name: label for name, label in self.labels.items() if name in names})

    def label(self, name: str) -> str:
        """What stands before a field."""
        return self.labels[name]

    def is_on(self, name: str) -> bool:
        """Whether a box was ticked."""
        return self[name] != ""

    def parse_number(self, name: str, low: int, high: int, *, optional: bool = False) -> int | None:
        """A whole number; None with a problem where it is none, or where it may be left empty and was."""
        text = self[name].strip()
        if not text and optional:
            return None
        digits = text.replace(",", "")
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else None
        if number is None or not low <= number <= high:
            or_nothing = ", or nothing" if optional else ""
            expected = f"expected a whole number from {low:,} to {high:,}{or_nothing}, {_describe_found(text)}"
            self.problems[name] = Note("not-a-whole-number", expected, subject=self.label(name))
            return None
        return number

    def parse_percentage(self, name: str) -> float | None:
        """A share that was written in percent; None, with a problem, where it is none."""
        text = self[name].strip()
        percentage = float(text) if re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", text) else None
        if percentage is None or percentage > 100:
            expected = f"expected a number from 0 to 100, {_describe_found(text)}"
            self.problems[name] = Note("not-a-percentage", expected, subject=self.label(name))
            return None
        return round(percentage / 100, 8)

    def parse_choice(self, name: str, choices: Sequence[str]) -> str:
        """One of several choices; the first, with a problem, where it is none of them."""
        if self[name] in choices:
            return self[name]
        expected = f"choose one of {', '.join(choices)}"
        self.problems[name] = Note("unknown-choice", expected, subject=self.label(name).rstrip("?"))
        return choices[0]

    def attach_error(
        self,
        error: RingtrueError,
        files: Mapping[str, Sequence[UploadedFile]] | None = None,
        *,
        fields: Mapping[str, str | None] | None = None,
        default_field: str = WHOLE_FORM,
    ) -> None:
        """Put an error beside the field of the file in which it was found, which is refused, or of its parameter.

        `fields` has the fields of those parameters that are called otherwise here.
        """
        chosen = {name: [file.name for file in files_of_field] for name, files_of_field in (files or {}).items()}
        note = error.note.renamed(fields or {})
        name, fields_of_file = default_field, [name for name, names in chosen.items() if error.file in names]
        if error.file is not None and fields_of_file:
            name = note.parameter if note.parameter in fields_of_file else fields_of_file[0]
            self.refused.add((name, error.file))
        elif note.parameter is not None and self.spelling.parameter(note.parameter):
            name = note.parameter
            note = note.about(self.label(name))
        self.problems[name] = note if error.place is None else note.about(error.place)


def _describe_found(text: str) -> str:
    return f"found '{text[:40]}'" if text else "found nothing"


async def read_uploaded_files(form: FormData, name: str) -> list[UploadedFile]:
    """The files of a field; one that was left empty is none."""
    uploads = [upload for upload in form.getlist(name) if isinstance(upload, UploadFile) and upload.filename]
    return [UploadedFile(name=upload.filename or "", content=await upload.read()) for upload in uploads]


def empty_file(file: UploadedFile) -> Note:
    """What is wrong with a file that has nothing in it."""
    return Note("empty-file", "this file is empty", subject=file.name)


def _clean_text(submitted: Any) -> str:
    # PostgreSQL keeps no NUL, and browsers send line ends as CR LF.
    return submitted.replace("\x00", "").replace("\r\n", "\n") if isinstance(submitted, str) else ""
