"""The settings of a project as fields of a form, and back."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ringtrue.errors import UsageError
from ringtrue.service.store.records import PREFERENCE, Scale, Settings
from ringtrue.service.web.owner.forms import sentence

if TYPE_CHECKING:
    from ringtrue.service.web.owner.forms import Filled

__all__ = ["FLAGS", "NAMES", "NUMBERS", "SCALES", "scale_in", "settings_in", "shown_settings"]

NUMBERS = {
    "judges": ("Judges for each item", 1, 1000),
    "task_size": ("Questions in a task", 1, 500),
    "traps": ("Traps in a task", 0, 499),
    "traps_needed": ("Traps to be passed", 0, 499),
    "minutes": ("Time limit of a task, in minutes", 1, 60 * 24),
    "lease_minutes": ("Minutes without an answer", 1, 60 * 24 * 30),
}
FLAGS = ("shortcuts", "highlight", "html", "together", "active")
NAMES = (*NUMBERS, "failed_traps", *FLAGS)
SCALES = {
    "binary": "Relevant or not",
    "graded": "Grades with names of your own",
    "preference": "Which of two documents is better",
}
BINARY = ("Not relevant", "Relevant")
MOST_GRADES, LONGEST_GRADE = 10, 60


def shown_settings(settings: Settings) -> dict[str, str]:
    """Settings as a form shows them."""
    plain: dict[str, Any] = {field.name: getattr(settings, field.name) for field in fields(settings)}
    return {
        name: ("on" if value else "") if name in FLAGS else "" if value is None else str(value)
        for name, value in plain.items()
    }


def settings_in(form: Filled) -> Settings | None:
    """The settings that were filled in; None, with problems, where they are none."""
    numbers = {
        name: form.number(name, words, low, high, optional=name == "minutes")
        for name, (words, low, high) in NUMBERS.items()
    }
    failed = form.one_of("failed_traps", "What becomes of a task that fails its traps", ("flag", "set_aside"))
    if form.problems.keys() & set(NAMES):
        return None
    try:
        return Settings(**numbers, failed_traps=failed, **{name: form.is_on(name) for name in FLAGS})  # type: ignore[arg-type]
    except UsageError as error:
        name, _, rest = str(error).partition(" ")
        words = NUMBERS[name][0] if name in NUMBERS else name
        form.problems[name] = sentence(f"{words} {rest}")
        return None


def scale_in(form: Filled) -> Scale | None:
    """The scale that was chosen; None, with a problem, where it cannot be used."""
    kind = form.one_of("scale", "How is it judged", tuple(SCALES))
    if "scale" in form.problems:
        return None
    if kind == "preference":
        return PREFERENCE
    names = BINARY if kind == "binary" else tuple(line.strip() for line in form["grades"].splitlines() if line.strip())
    if kind == "graded":
        if not 2 <= len(names) <= MOST_GRADES:
            form.problems["grades"] = f"Expected 2 to {MOST_GRADES} names, one in a line; found {len(names)}."
            return None
        if len({name.casefold() for name in names}) < len(names):
            form.problems["grades"] = "Two grades have the same name; judges could not tell them apart."
            return None
        if any(len(name) > LONGEST_GRADE for name in names):
            form.problems["grades"] = f"A name has at most {LONGEST_GRADE} characters, so that it fits on a button."
            return None
    return Scale.graded(*names)
