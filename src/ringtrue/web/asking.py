"""What stands around a question: its buttons and their keys, and the time that was spent on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from ringtrue.web.pages import TEMPLATES
from ringtrue.web.reading import guidelines_as_html

if TYPE_CHECKING:
    from ringtrue.store.values import Scale
    from ringtrue.web.site import Site

__all__ = [
    "REASONS",
    "Button",
    "answers_of",
    "buttons_of",
    "seconds_between",
    "seconds_from",
    "time_left",
    "to_hundredths",
]

REASONS = (
    "The document is broken, empty or not readable",
    "I do not understand what was asked",
    "It is in a language that I do not read",
    "It takes knowledge that I do not have",
)
# Up and down stay free: they scroll the documents.
PAIR_KEYS = {
    "left": ("1", "ArrowLeft"), "right": ("2", "ArrowRight"), "both_good": ("3",), "both_bad": ("4",),
}  # fmt: skip
DRAWN = {"ArrowLeft": "←", "ArrowRight": "→"}
PURPOSE = "since"


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """An answer on the screen: `keys` as browsers name them, `shown` as people know them."""

    value: str
    name: str
    hint: str
    keys: tuple[str, ...]
    shown: tuple[str, ...]


@lru_cache(maxsize=256)
def buttons_of(scale: Scale) -> tuple[Button, ...]:
    """The answers of a scale with the keys that give them.

    Labels of one digit are their own keys; others are counted from 1.

    Examples:
        >>> from ringtrue.store import PREFERENCE, Scale
        >>> [button.keys for button in buttons_of(Scale.graded("No", "Yes"))]
        [('0',), ('1',)]
        >>> buttons_of(PREFERENCE)[0].shown
        ('1', '←')
    """
    digits = all(len(label.value) == 1 for label in scale.labels)
    made = []
    for at, label in enumerate(scale.labels, start=1):
        if scale.kind == "preference":
            keys = PAIR_KEYS[label.value]
        else:
            keys = (label.value,) if digits else (str(at),) if at < 10 else ()
        shown = tuple(DRAWN.get(key, key) for key in keys)
        made.append(Button(value=label.value, name=label.name, hint=label.hint, keys=keys, shown=shown))
    return tuple(made)


@lru_cache(maxsize=256)
def answers_of(scale: Scale, guidelines: str, *, shortcuts: bool, first: bool) -> Markup:
    """The lower part of the judge's screen; `first` when there is nothing to undo yet. It takes half a page's time."""
    page = TEMPLATES.get_template("answers.html").render(
        buttons=buttons_of(scale), reasons=REASONS, shortcuts=shortcuts, first=first,
        guidelines=guidelines_as_html(guidelines, top=3) if guidelines.strip() else None,
    )  # fmt: skip
    return Markup(page)


def time_left(seconds: float) -> str:
    """The time that is left, as people say it.

    Examples:
        >>> time_left(1799.5), time_left(59), time_left(-1)
        ('29 min left', '59 s left', 'Time is up')
    """
    if seconds <= 0:
        return "Time is up"
    return f"{int(seconds // 60)} min left" if seconds >= 60 else f"{math.ceil(seconds)} s left"


def seconds_from(site: Site, assignment: int, now: float) -> str:
    """The time at which a question was shown, signed, to come back with the answer."""
    return site.signed(f"{assignment}:{now:.2f}", PURPOSE)


def seconds_between(site: Site, assignment: int, since: str, now: float) -> float | None:
    """How long ago a question was shown; None when the form does not say it in our hand."""
    said = site.unsigned(since, PURPOSE)
    if said is None:
        return None
    number, _, time = said.partition(":")
    return to_hundredths(max(now - float(time), 0.0)) if number == str(assignment) else None


def to_hundredths(seconds: float) -> float:
    """Seconds as they are kept: no browser measures more finely.

    Examples:
        >>> to_hundredths(12.34567)
        12.35
    """
    return round(seconds, 2)
