"""The settings of a project as fields of a form, and back."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ringtrue.errors import UsageError
from ringtrue.service.store.records import PREFERENCE, Scale, Settings
from ringtrue.service.web.owner.forms import as_sentence

if TYPE_CHECKING:
    from ringtrue.service.web.owner.forms import FormState

NUMBER_FIELDS = {
    "judges": ("Judges for each item", 1, 1000),
    "task_size": ("Questions in a task", 1, 500),
    "traps": ("Traps in a task", 0, 499),
    "traps_needed": ("Traps to be passed", 0, 499),
    "minutes": ("Time limit of a task, in minutes", 1, 60 * 24),
    "lease_minutes": ("Minutes without an answer", 1, 60 * 24 * 30),
}
FLAG_FIELDS = ("shortcuts", "highlight", "html", "together", "active")
SETTING_FIELDS = (*NUMBER_FIELDS, "failed_traps", *FLAG_FIELDS)
SCALE_NAMES = {
    "binary": "Relevant or not",
    "graded": "Grades with names of your own",
    "preference": "Which of two documents is better",
}
BINARY_GRADES = ("Not relevant", "Relevant")
MAX_GRADES, MAX_GRADE_LENGTH = 10, 60


def format_settings(settings: Settings) -> dict[str, str]:
    """Settings as a form shows them."""
    setting_values: dict[str, Any] = {field.name: getattr(settings, field.name) for field in fields(settings)}
    return {
        name: ("on" if value else "") if name in FLAG_FIELDS else "" if value is None else str(value)
        for name, value in setting_values.items()
    }


def parse_settings(form: FormState) -> Settings | None:
    """The settings that were filled in; None, with problems, where they are none."""
    numbers = {
        name: form.parse_number(name, label, low, high, optional=name == "minutes")
        for name, (label, low, high) in NUMBER_FIELDS.items()
    }
    failed_traps = form.parse_choice(
        "failed_traps", "What becomes of a task that fails its traps", ("flag", "set_aside")
    )
    if form.problems.keys() & set(SETTING_FIELDS):
        return None
    try:
        return Settings(**numbers, failed_traps=failed_traps, **{name: form.is_on(name) for name in FLAG_FIELDS})  # type: ignore[arg-type]
    except UsageError as error:
        name, _, message = str(error).partition(" ")
        label = NUMBER_FIELDS[name][0] if name in NUMBER_FIELDS else name
        form.problems[name] = as_sentence(f"{label} {message}")
        return None


def parse_scale(form: FormState) -> Scale | None:
    """The scale that was chosen; None, with a problem, where it cannot be used."""
    kind = form.parse_choice("scale", "How is it judged", tuple(SCALE_NAMES))
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
            form.problems["grades"] = f"Expected 2 to {MAX_GRADES} names, one in a line; found {len(names)}."
            return None
        if len({name.casefold() for name in names}) < len(names):
            form.problems["grades"] = "Two grades have the same name; judges could not tell them apart."
            return None
        if any(len(name) > MAX_GRADE_LENGTH for name in names):
            form.problems["grades"] = f"A name has at most {MAX_GRADE_LENGTH} characters, so that it fits on a button."
            return None
    return Scale.graded(*names)
