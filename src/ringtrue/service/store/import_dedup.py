"""What judges said before, to tell labels from elsewhere that are here already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sqlalchemy import select

from ringtrue.service.store import schema
from ringtrue.service.store.records import Project, swap_sides

if TYPE_CHECKING:
    from sqlalchemy import Connection

TIME_TOLERANCE = 0.002  # seconds: exports tell times to the millisecond
account, assignment, judgment, task = schema.account, schema.assignment, schema.judgment, schema.task
ItemKey: TypeAlias = tuple[str, str, str | None]  # query, doc, other


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedLabel:
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
    def key(self) -> ItemKey:
        """What it is about, whichever stood left."""
        return (self.query, self.other, self.doc) if self.other and self.flipped else (self.query, self.doc, self.other)

    @property
    def unflipped_answer(self) -> str:
        """The answer as if the first name stood on the left."""
        return swap_sides(self.answer, self.flipped)


@dataclass(slots=True)
class ExistingAssignment:
    """What one judge has on one item: the assignment as it is, and what was said as if the first name stood left."""

    assignment: int
    version: int
    state: str
    flipped: bool
    answers: list[tuple[str, float]]


def load_existing_assignments(connection: Connection, project: Project) -> dict[tuple[int, int], ExistingAssignment]:
    """What was said so far, by item and judge."""
    assignments: dict[tuple[int, int], ExistingAssignment] = {}
    rows = connection.execute(
        select(
            assignment.c.item,
            assignment.c.account,
            assignment.c.id,
            assignment.c.version,
            assignment.c.state,
            assignment.c.flipped,
            judgment.c.answer,
            judgment.c.time,
        )
        .join(task, task.c.id == assignment.c.task)
        .join(judgment, judgment.c.assignment == assignment.c.id)
        .where(task.c.project == project.id, assignment.c.state != "expired", judgment.c.kind == "answer")
        .order_by(judgment.c.id)
    )
    for item_id, account_id, assignment_id, version, state, flipped, answer, time in rows:
        existing = assignments.setdefault(
            (item_id, account_id), ExistingAssignment(assignment_id, version, state, flipped, [])
        )
        existing.answers.append((swap_sides(answer, flipped), time))
    return assignments


def is_duplicate_label(label: ImportedLabel, assignments: Iterable[ExistingAssignment | None]) -> bool:
    """Whether a label is among what was said before."""
    return any(
        answer == label.unflipped_answer and (label.time is None or abs(time - label.time) < TIME_TOLERANCE)
        for existing in assignments
        if existing is not None
        for answer, time in existing.answers
    )


def match_erased_judges(
    connection: Connection,
    labels: Sequence[ImportedLabel],
    items: dict[ItemKey, int],
    accounts_by_judge: dict[str, list[int]],
    assignments: dict[tuple[int, int], ExistingAssignment],
) -> dict[str, int]:
    """The judges of a file that nobody here is called, and who said the same as somebody whose data was erased.

    The same label at the same moment is the same person; without times, the same labels of the same items, all of them.
    """
    erased_ids = set(connection.execute(select(account.c.id).where(account.c.erased.is_not(None))).scalars())
    by_erased: dict[int, dict[int, ExistingAssignment]] = {}
    for (item_id, account_id), existing in assignments.items():
        if account_id in erased_ids:
            by_erased.setdefault(account_id, {})[item_id] = existing
    matches: dict[str, int] = {}
    if not by_erased:
        return matches
    labels_by_judge: dict[str, list[ImportedLabel]] = {}
    for label in labels:
        if label.judge not in accounts_by_judge:
            labels_by_judge.setdefault(label.judge, []).append(label)
    for judge, judge_labels in labels_by_judge.items():
        for account_id, by_item in by_erased.items():
            duplicates = [is_duplicate_label(label, (by_item.get(items[label.key]),)) for label in judge_labels]
            same_time = any(
                is_duplicate and label.time is not None
                for label, is_duplicate in zip(judge_labels, duplicates, strict=True)
            )
            if same_time or (all(duplicates) and len({label.key for label in judge_labels}) == len(by_item)):
                matches[judge] = account_id
                break
    return matches
