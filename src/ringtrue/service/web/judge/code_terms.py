"""What earns the completion code, said before any work, from the settings that decide it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ringtrue.messages import Note

if TYPE_CHECKING:
    from ringtrue.service.store.completion import CodeOffer
    from ringtrue.service.store.records import Settings

PARTIAL_TERMS = Note(
    "partial-code-terms",
    "whoever answers at least one question, but does not earn it, is shown a code for part of the work",
)


def describe_code_terms(settings: Settings, offer: CodeOffer | None) -> list[Note]:
    """What a worker has to do for the codes of a crowd link; nothing where there are none.

    Of traps it says no more than that there are attention checks, and that only where the code asks for them.

    Examples:
        >>> from ringtrue.service.store import Settings
        >>> from ringtrue.service.store.completion import CodeOffer
        >>> print(*describe_code_terms(Settings(completion_seconds=5), CodeOffer(full=True, partial=False)))
        you earn the completion code if you answer every question of a task (“Can’t tell” counts for up to 25% of them, skipping does not) and take at least 5 seconds a question on average
    """  # noqa: E501
    if offer is None or not offer.full:
        return []
    conditions = [
        _answers_condition(settings),
        "pass the attention checks" if settings.completion_traps and settings.traps_needed else "",
        f"take at least {settings.completion_seconds} seconds a question on average"
        if settings.completion_seconds
        else "",
    ]
    *first, last = list(filter(None, conditions)) or ["finish a task"]
    all_conditions = f"{', '.join(first)} and {last}" if first else last
    terms = Note("code-terms", f"you earn the completion code if you {all_conditions}")
    return [terms, *([PARTIAL_TERMS] if offer.partial else [])]


def _answers_condition(settings: Settings) -> str:
    """Which share of the questions has to be answered, and what counts as an answer."""
    needed, unsure = settings.completion_answered, settings.completion_unsure
    if needed == 0:
        return ""
    share = "every question of a task" if needed == 1 else f"at least {100 * needed:g}% of the questions of a task"
    if unsure == 0:
        return f"answer {share} (“Can’t tell” and skipping do not count)"
    limit = "" if unsure == 1 else f" for up to {100 * unsure:g}% of {'them' if needed == 1 else 'all'}"
    return f"answer {share} (“Can’t tell” counts{limit}, skipping does not)"
