"""The end of a task: what was open is given back, traps are counted, and failed tasks are set aside."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

from sqlalchemy import text

from ringtrue.store.dialects import Prepared
from ringtrue.store.projects import FLIPPED, settings_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["ONE_LESS", "TrapCount", "close_task", "give_back", "passes"]


class _Outcome(NamedTuple):
    outcome: str | None


# One judge less has an item; `wanted` falls to what is asked, or to as many as still have it.
ONE_LESS = "UPDATE item SET given = given - 1, wanted = CASE WHEN given - 1 > asked THEN given - 1 ELSE asked END"
GIVE_BACK = text(f"""
{ONE_LESS}
WHERE wanted IS NOT NULL AND id IN (
  SELECT item FROM assignment WHERE task = :task AND (state = 'open' OR (state = 'done' AND :done)))""")
END = text("""
UPDATE assignment SET state = :state WHERE task = :task AND (state = 'open' OR (state = 'done' AND :done))""")
LOCKED = Prepared("SELECT outcome FROM task WHERE id = :task", _Outcome, postgresql="FOR UPDATE")
OPEN = text("SELECT COUNT(*) FROM assignment WHERE task = :task AND state = 'open'")
CLOSE = text("""
UPDATE task SET closed = COALESCE(closed, :now), outcome = :outcome, traps = :traps, passed = :passed,
  code = COALESCE(code, :code) WHERE id = :task""")
TRAPS = text("""
SELECT i.expected, a.flipped, a.state, j.answer FROM assignment a JOIN item i ON i.id = a.item
LEFT JOIN judgment j ON j.assignment = a.id AND j.version = a.version AND j.kind = 'answer'
WHERE a.task = :task AND i.queue = 'trap'""")
SETTINGS = text("SELECT p.settings FROM project p JOIN task t ON t.project = p.id WHERE t.id = :task")


class TrapCount(NamedTuple):
    """How many traps a judge met in a task, and passed; one that was skipped or not decided is not passed."""

    seen: int
    passed: int


def passes(count: TrapCount, *, needed: int, usual: int) -> bool:
    """Whether a task has as great a share of its traps right as is needed.

    Examples:
        >>> passes(TrapCount(5, 4), needed=4, usual=5), passes(TrapCount(2, 1), needed=4, usual=5)
        (True, False)
    """
    return count.passed >= math.ceil(needed * count.seen / max(usual, 1))


def close_task(
    connection: Connection, task: int, outcome: Literal["handed_in", "expired", "set_aside"], *, now: float,
    code: str | None = None,
) -> None:  # fmt: skip
    """Close a task for good: its open items go to others, and so do all of them where it is set aside.

    A task that fails its traps is set aside, whether it was finished or not, where the project says so. One whose
    lease ends when all is answered was forgotten to be handed in, and is.
    """
    if not _is_to_be_closed(connection, task, outcome):
        return
    if outcome == "expired" and not connection.execute(OPEN, {"task": task}).scalar_one():
        outcome = "handed_in"
    count = _traps(connection, task)
    settings = settings_of(connection.execute(SETTINGS, {"task": task}).scalar_one())
    failed = not passes(count, needed=settings.traps_needed, usual=settings.traps)
    if failed and settings.failed_traps == "set_aside":
        outcome = "set_aside"
    give_back(connection, task, all_of_it=outcome == "set_aside")
    connection.execute(
        CLOSE,
        {
            "task": task, "now": now, "outcome": outcome, "code": code, "traps": count.seen, "passed": count.passed,
        },
    )  # fmt: skip


def give_back(connection: Connection, task: int, *, all_of_it: bool) -> None:
    """Let others have the items of a task that are open, or all of them."""
    connection.execute(GIVE_BACK, {"task": task, "done": all_of_it})
    connection.execute(END, {"task": task, "done": all_of_it, "state": "set_aside" if all_of_it else "expired"})


def _is_to_be_closed(connection: Connection, task: int, outcome: str) -> bool:
    """Whether a task is not closed that way already; until the end of the transaction nobody else closes it."""
    found = LOCKED.first(connection, task=task)
    if found is None or found.outcome == "set_aside":
        return False
    return found.outcome is None or outcome == "set_aside"


def _traps(connection: Connection, task: int) -> TrapCount:
    rows = [row for row in connection.execute(TRAPS, {"task": task}) if row.state != "open"]
    right = [
        row.state == "done" and row.answer == (FLIPPED.get(row.expected, row.expected) if row.flipped else row.expected)
        for row in rows
    ]
    return TrapCount(len(rows), sum(right))
