"""What judges said before, to tell labels from elsewhere that are here already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sqlalchemy import select

from ringtrue.service.store import schema
from ringtrue.service.store.projects import FLIPPED
from ringtrue.service.store.records import Project

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Given", "Key", "Work", "erased_judges", "turned", "was_said", "work_of"]

SAME_MOMENT = 0.002  # seconds: exports tell times to the millisecond
account, assignment, judgment, task = schema.account, schema.assignment, schema.judgment, schema.task
Key: TypeAlias = tuple[str, str, str | None]  # query, doc, other


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One label from elsewhere; of a pair, `doc` stood on the left. `batch` tells pieces of a judge's work apart."""

    query: str
    doc: str
    other: str | None = None
    judge: str
    answer: str
    time: float | None = None
    seconds: float | None = None
    batch: str | None = None

    @property
    def flipped(self) -> bool:
        """Whether the pair stood the other way round than it is kept."""
        return self.other is not None and self.doc > self.other

    @property
    def key(self) -> Key:
        """What it is about, whichever stood left."""
        return (self.query, self.other, self.doc) if self.other and self.flipped else (self.query, self.doc, self.other)

    @property
    def plain(self) -> str:
        """The answer as if the first name stood on the left."""
        return turned(self.answer, self.flipped)


@dataclass(slots=True)
class Work:
    """What one judge has on one item: the assignment as it is, and what was said as if the first name stood left."""

    assignment: int
    version: int
    state: str
    flipped: bool
    said: list[tuple[str, float]]


def work_of(connection: Connection, project: Project) -> dict[tuple[int, int], Work]:
    """What was said so far, by item and judge."""
    found: dict[tuple[int, int], Work] = {}
    rows = connection.execute(
        select(
            assignment.c.item, assignment.c.account, assignment.c.id, assignment.c.version, assignment.c.state,
            assignment.c.flipped, judgment.c.answer, judgment.c.time,
        )
        .join(task, task.c.id == assignment.c.task)
        .join(judgment, judgment.c.assignment == assignment.c.id)
        .where(task.c.project == project.id, assignment.c.state != "expired", judgment.c.kind == "answer")
        .order_by(judgment.c.id)
    )  # fmt: skip
    for at, who, number, version, state, flipped, answer, when in rows:
        there = found.setdefault((at, who), Work(number, version, state, flipped, []))
        there.said.append((turned(answer, flipped), when))
    return found


def was_said(row: Given, work: Iterable[Work | None]) -> bool:
    """Whether a label is among what was said before."""
    return any(
        answer == row.plain and (row.time is None or abs(when - row.time) < SAME_MOMENT)
        for one in work
        if one is not None
        for answer, when in one.said
    )


def erased_judges(
    connection: Connection, rows: Sequence[Given], items: dict[Key, int], people: dict[str, list[int]],
    work: dict[tuple[int, int], Work],
) -> dict[str, int]:  # fmt: skip
    """The judges of a file that nobody here is called, and who said the same as somebody whose data was erased.

    The same label at the same moment is the same person; without times, the same labels of the same items, all of them.
    """
    gone = set(connection.execute(select(account.c.id).where(account.c.erased.is_not(None))).scalars())
    said: dict[int, dict[int, Work]] = {}
    for (at, who), one in work.items():
        if who in gone:
            said.setdefault(who, {})[at] = one
    found: dict[str, int] = {}
    if not said:
        return found
    by_judge: dict[str, list[Given]] = {}
    for row in rows:
        if row.judge not in people:
            by_judge.setdefault(row.judge, []).append(row)
    for judge, theirs in by_judge.items():
        for who, done in said.items():
            same = [was_said(row, (done.get(items[row.key]),)) for row in theirs]
            timed = any(there and row.time is not None for row, there in zip(theirs, same, strict=True))
            if timed or (all(same) and len({row.key for row in theirs}) == len(done)):
                found[judge] = who
                break
    return found


def turned(answer: str, flipped: bool) -> str:
    """The answer when the two documents change sides."""
    return FLIPPED.get(answer, answer) if flipped else answer
