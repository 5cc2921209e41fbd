"""What judges are told where the owner has not said it better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ringtrue.service.store.records import Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

BEGINNING = """\
# What you do

You see what somebody asked a search engine. Where there is a description, it says what this person wants to know: \
that is what counts, more than the words that were typed.
"""

GRADED = """
You see one document at a time. Read as much of it as you need, and choose the answer that fits best:

{answers}

# How to decide

- Imagine you had asked this question yourself. Would the document help you?
- Judge each document by itself. It does not become less relevant because you have read the same elsewhere.
- How it looks, how long it is and who wrote it do not matter, unless the question asks for it.
- One good part is enough: a long document that answers the question in one paragraph does answer it.
"""

PREFERENCE = """
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


def default_guidelines(scale: Scale) -> str:
    """Guidelines in Markdown for judges who work with this scale.

    Examples:
        >>> text = default_guidelines(Scale.graded("Not relevant", "Relevant"))
        >>> [line for line in text.splitlines() if "elevant**" in line][0]
        '- **Not relevant**: it does not help with the question.'
    """
    middle = PREFERENCE if scale.kind == "preference" else GRADED.format(answers=_list_grades(scale))
    return BEGINNING + middle + ENDING


def _list_grades(scale: Scale) -> str:
    hints = _default_hints([label.name for label in scale.labels])
    return "\n".join(
        f"- **{label.name}**{': ' + (label.hint or hint) if label.hint or hint else ''}"
        for label, hint in zip(scale.labels, hints, strict=True)
    )


def _default_hints(names: Sequence[str]) -> list[str]:
    """A word about each name that everybody understands alike; nothing about names that the owner made up."""
    hints = {
        "not relevant": "it does not help with the question.",
        "relevant": "it helps: it answers the question, or a part of it.",
        "somewhat relevant": "it is on the subject, and helps a little.",
        "highly relevant": "it answers the question, completely or nearly so.",
    }
    return [hints.get(name.strip().lower(), "") for name in names]
