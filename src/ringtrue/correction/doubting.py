"""What is doubtful about single corrected values."""

from __future__ import annotations

from ringtrue.correction.answer import Correction
from ringtrue.grids import footnotes

__all__ = ["doubts"]

SAID_OF_ALL = "holds where the judge errs on these documents"  # the note about the whole says it once


def doubts(found: Correction) -> list[str]:
    """The notes of all corrected values; a doubt that differs only by its numbers is told once."""
    return footnotes(found.corrected, but=SAID_OF_ALL)
