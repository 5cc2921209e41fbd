"""`--confusion-out`: the matrix of all judges together, in a file that every command reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ringtrue.cli.options.common import Function, option
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.judges.votes import Votes
    from ringtrue.stats.confusion import Confusion


def confusion_out_option(command: Function) -> Function:
    """Where to write the matrix, as `confusion_out`."""
    help_text = "Write the confusion matrix of all judges together, for `ceiling --confusion` and `evaluate --gold`."
    return option("--confusion-out FILE", help_text)(command)


def require_documents(path: str | None, votes: Votes) -> None:
    """Refuse a matrix of preferences: no command reads one."""
    if path is not None and "doc" not in votes.items.columns:
        raise UsageError("--confusion-out is about labels of documents, and these are preferences; leave it out")


def write_pooled_confusion(path: str | None, tables: Sequence[Confusion], notes: list[str]) -> None:
    """Write the matrix of all judges together, where a file was named, and say so."""
    from ringtrue.files import write_confusion
    from ringtrue.stats.confusion import Confusion

    if path is None:
        return
    pooled = Confusion.together(tables)
    write_confusion(path, pooled)
    notes.append(
        f"the confusion matrix of {len(tables):,} judge{'s' * (len(tables) != 1)} is in {path}: rows are "
        f"{pooled.rows}, columns {pooled.columns}"
    )
