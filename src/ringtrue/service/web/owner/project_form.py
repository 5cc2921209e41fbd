"""A project's settings and scale as fields of a form, and the guidelines where the owner has not said it better."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ringtrue.errors import UsageError
from ringtrue.messages import Note
from ringtrue.service.store.records import PREFERENCE, SETTING_LIMITS, Scale, Settings

if TYPE_CHECKING:
    from ringtrue.service.web.owner.forms import FormState

NUMBER_FIELDS = ("judges", "task_size", "traps", "traps_needed", "minutes", "lease_minutes", "completion_seconds")
PERCENTAGE_FIELDS = ("completion_answered", "completion_unsure")
FLAG_FIELDS = ("shortcuts", "highlight", "html", "together", "active", "completion_traps")
SETTING_FIELDS = (*NUMBER_FIELDS, *PERCENTAGE_FIELDS, "failed_traps", *FLAG_FIELDS)
SCALE_NAMES = {
    "binary": "Relevant or not",
    "graded": "Grades with names of your own",
    "preference": "Which of two documents is better",
}
BINARY_GRADES = ("Not relevant", "Relevant")
MAX_GRADES, MAX_GRADE_LENGTH = 10, 60

BEGINNING = """\
# What you do

You see what somebody asked a search engine. Where there is a description, it says what this person wants to know: \
that is what counts, more than the words that were typed.
"""

GRADED_GUIDELINES = """
You see one document at a time. Read as much of it as you need, and choose the answer that fits best:

{answers}

# How to decide

- Imagine you had asked this question yourself. Would the document help you?
- Judge each document by itself. It does not become less relevant because you have read the same elsewhere.
- How it looks, how long it is and who wrote it do not matter, unless the question asks for it.
- One good part is enough: a long document that answers the question in one paragraph does answer it.
"""

PREFERENCE_GUIDELINES = """
You see two documents side by side. Which of them would you rather have found?

- **Left** or **Right**: this one is better, even if only a little.
- **Equally good**: both help, and you could not say which of them helps more.
- **Equally bad**: neither helps.

# How to decide

- Imagine you had asked this question yourself, and could open only one of the two.
- What answers more of the question is better; of two that answer the same, the one that is easier to read.
- The side says nothing: left and right are drawn by lot.
- Please use the two answers in the middle only where you really see no difference.
"""

ENDING = """
# When you are stuck

- **Can't tell** is an honest answer, for instance when a document is broken or in a language that you do not read. \
Say briefly why.
- **Skip** leaves the question to somebody else.
- **Undo** takes your last answer back.

Take the time that you need.
"""
GRADE_HINTS = {
    "not relevant": "it does not help with the question.",
    "relevant": "it helps: it answers the question, or a part of it.",
    "somewhat relevant": "it is on the subject, and helps a little.",
    "highly relevant": "it answers the question, completely or nearly so.",
}


def format_settings(settings: Settings) -> dict[str, str]:
    """Settings as a form shows them."""
    setting_values: dict[str, Any] = {field.name: getattr(settings, field.name) for field in fields(settings)}
    texts = {
        name: ("on" if value else "") if name in FLAG_FIELDS else "" if value is None else str(value)
        for name, value in setting_values.items()
    }
    return texts | {name: f"{100 * setting_values[name]:g}" for name in PERCENTAGE_FIELDS}


def parse_settings(form: FormState) -> Settings | None:
    """The settings that were filled in; None, with problems, where they are none."""
    numbers = {
        name: form.parse_number(name, *SETTING_LIMITS[name], optional=name == "minutes") for name in NUMBER_FIELDS
    }
    shares = {name: form.parse_percentage(name) for name in PERCENTAGE_FIELDS}
    failed_traps = form.parse_choice("failed_traps", ("flag", "set_aside"))
    if form.problems.keys() & set(SETTING_FIELDS):
        return None
    try:
        flags = {name: form.is_on(name) for name in FLAG_FIELDS}
        return Settings(**numbers, **shares, failed_traps=failed_traps, **flags)  # type: ignore[arg-type]
    except UsageError as error:
        form.attach_error(error)
        return None


def parse_scale(form: FormState) -> Scale | None:
    """The scale that was chosen; None, with a problem, where it cannot be used."""
    kind = form.parse_choice("scale", tuple(SCALE_NAMES))
    if "scale" in form.problems:
        return None
    if kind == "preference":
        return PREFERENCE
    names = (
        BINARY_GRADES
        if kind == "binary"
        else tuple(line.strip() for line in form["grades"].splitlines() if line.strip())
    )
    if kind == "graded":
        if not 2 <= len(names) <= MAX_GRADES:
            form.problems["grades"] = Note(
                "bad-grade-count", f"expected 2 to {MAX_GRADES} names, one in a line; found {len(names)}"
            )
            return None
        if len({name.casefold() for name in names}) < len(names):
            form.problems["grades"] = Note(
                "same-grade-names", "two grades have the same name; judges could not tell them apart"
            )
            return None
        if any(len(name) > MAX_GRADE_LENGTH for name in names):
            form.problems["grades"] = Note(
                "long-grade-name", f"a name has at most {MAX_GRADE_LENGTH} characters, so that it fits on a button"
            )
            return None
    return Scale.graded(*names)


def default_guidelines(scale: Scale) -> str:
    """Guidelines in Markdown for judges who work with this scale.

    Examples:
        >>> text = default_guidelines(Scale.graded("Not relevant", "Relevant"))
        >>> [line for line in text.splitlines() if "elevant**" in line][0]
        '- **Not relevant**: it does not help with the question.'
    """
    middle = (
        PREFERENCE_GUIDELINES if scale.kind == "preference" else GRADED_GUIDELINES.format(answers=_list_grades(scale))
    )
    return BEGINNING + middle + ENDING


def _list_grades(scale: Scale) -> str:
    """The grades, each with its hint, or with a word about names that everybody understands alike."""
    hints = [(label.name, label.hint or GRADE_HINTS.get(label.name.strip().lower(), "")) for label in scale.labels]
    return "\n".join(f"- **{name}**{f': {hint}' if hint else ''}" for name, hint in hints)
