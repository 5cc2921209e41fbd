"""How pages spell what can be set, by the labels of its fields, and the API; and messages as sentences on a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ringtrue.errors import RingtrueError
from ringtrue.messages import Argument, Note, Spelling, Suggestion, spell


@dataclass(frozen=True, slots=True)
class FieldSpelling:
    """Spells for the users of a form: a parameter is the label of its field; what has no field is not suggested.

    Examples:
        >>> spelling = FieldSpelling({"judges": "Judges for each item", "compare": "Only to compare"})
        >>> spelling.suggestion(Suggestion(judges=3, compare=True))
        '“Judges for each item” 3 and “Only to compare”'
        >>> spelling.suggestion(Suggestion(repeats="last")), spelling.parameter("level")
        ('', '')
    """

    labels: Mapping[str, str]

    def suggestion(self, suggestion: Suggestion) -> str:
        """The labels of the fields and what to fill in; empty where there is no such field."""
        if suggestion.function or not suggestion.arguments.keys() <= self.labels.keys():
            return ""
        return " and ".join(_spell_field(self.labels[name], value) for name, value in suggestion.arguments.items())

    def parameter(self, name: str) -> str:
        """The label of a field."""
        return f"“{self.labels[name]}”" if name in self.labels else ""


def _spell_field(label: str, value: Argument) -> str:
    if value is None or value is False:
        return f"nothing in “{label}”"
    return f"“{label}”" if value is True or value is ... else f"“{label}” {value}"


class _ApiSpelling:
    """Spells for programs, which look at `code` and `parameter`: names as they are sent, and no hints."""

    def suggestion(self, _suggestion: Suggestion) -> str:
        return ""

    def parameter(self, name: str) -> str:
        return name


NO_FIELDS: Spelling = FieldSpelling({})
API_SPELLING: Spelling = _ApiSpelling()


def as_sentence(message: str | RingtrueError, spelling: Spelling = NO_FIELDS) -> str:
    """A note or an error as it stands on a page: with a capital and a full stop, but for the name that it begins with.

    Examples:
        >>> as_sentence(Note("no-such-thing", "no such thing"))
        'No such thing.'
        >>> as_sentence(Note("empty-file", "this file is empty", subject="a.run"))
        'a.run: this file is empty.'
    """
    if isinstance(message, RingtrueError):
        text, begins_with_name = message.spelled(spelling), bool(message.place or message.note.subject)
    elif isinstance(message, Note):
        text, begins_with_name = spell(message, spelling), message.subject is not None
    else:
        text, begins_with_name = message, False
    capitalised = text if begins_with_name else text[:1].upper() + text[1:]
    return capitalised if capitalised.endswith((".", "?", "!")) else f"{capitalised}."
