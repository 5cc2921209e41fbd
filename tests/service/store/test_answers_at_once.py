"""Several answers of one task, kept together or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given, strategies as st
from sqlalchemy import Connection

from ringtrue.errors import ConflictError, NotFoundError, UsageError
from ringtrue.service.store import Store
from ringtrue.service.store.answers import record_answer, record_answers
from ringtrue.service.store.records import Answer, SavedAnswer, SavedAnswers, ShownQuestion, SubmittedAnswer, TaskState
from ringtrue.service.store.tasks import load_open_questions
from service.small_projects import NOW, begin, judge, project, question, rows, say
from strategies import examples

ALL = "SELECT assignment, version, kind, answer, reason FROM judgment ORDER BY assignment, version"
TIMES = "SELECT COUNT(seconds), COALESCE(SUM(seconds), 0) FROM judgment"
STATES = """
SELECT a.id, a.state, a.version, i.given FROM assignment a JOIN item i ON i.id = a.item ORDER BY a.id"""
SAID = st.sampled_from(
    [
        Answer(kind="answer", answer="2", seconds=3.5),
        Answer(kind="answer", answer="0"),
        Answer(kind="unsure", reason="in Greek"),
        Answer(kind="skip"),
    ]
)


def _begun(store: Store, **changes: object) -> tuple[int, TaskState, list[ShownQuestion]]:
    where, ann = project(store, **changes), judge(store)
    task = begin(store, where, ann)
    with store.read() as connection:
        return ann, task, load_open_questions(connection, task.id, ann)


def _say_all(
    store: Store, who: int, task: TaskState, answers: Sequence[SubmittedAnswer], now: float = NOW + 1
) -> SavedAnswers:
    return store.write(lambda connection: record_answers(connection, who, task.id, answers, now=now))


def _say_one(connection: Connection, *, who: int, answer: SubmittedAnswer) -> SavedAnswer:
    return record_answer(connection, who, *answer, now=NOW + 1)


def _to(shown: ShownQuestion, answer: str = "1") -> SubmittedAnswer:
    return SubmittedAnswer(shown.assignment, shown.version, Answer(kind="answer", answer=answer))


def test_all_questions_of_a_task_are_seen_in_their_order(store: Store) -> None:
    ann, task, shown = _begun(store)
    assert [one.place for one in shown] == [1, 2, 3, 4]
    assert shown[0] == question(store, task, ann)


@pytest.mark.slow
@examples(12)
@given(said=st.lists(SAID, min_size=4, max_size=4), order=st.permutations(range(4)))
def test_at_once_is_the_same_as_one_after_the_other_but_for_how_they_share_the_time(
    said: list[Answer], order: list[int]
) -> None:
    seen = []
    for at_once in (True, False):
        with Store.open("sqlite://") as store:
            ann, task, shown = _begun(store)
            answers = [SubmittedAnswer(shown[at].assignment, shown[at].version, said[at]) for at in order]
            if at_once:
                state = _say_all(store, ann, task, answers).task
            else:
                for each in answers:
                    state = store.write(partial(_say_one, who=ann, answer=each)).task
            ((timed, seconds),) = rows(store, TIMES)
            assert seconds <= 1.0  # which passed
            assert not (at_once and timed) or seconds > 0.95
            seen.append((state, timed, rows(store, ALL), rows(store, STATES)))
    assert seen[0] == seen[1]


def test_what_is_sent_twice_is_kept_once_and_what_is_new_is_added(store: Store) -> None:
    ann, task, shown = _begun(store)
    _say_all(store, ann, task, [_to(shown[0]), _to(shown[1])])
    again = _say_all(store, ann, task, [_to(one) for one in shown[:3]])
    assert (again.repeated, again.late, again.task.open) == ((shown[0].assignment, shown[1].assignment), (), 1)
    assert len(rows(store, ALL)) == 3


@pytest.mark.parametrize("scene", ["another answer", "not on the scale", "twice", "of nobody", "of another judge"])
def test_where_one_is_refused_none_is_kept(store: Store, scene: str) -> None:
    ann, task, shown = _begun(store)
    say(store, ann, shown[3], "2")
    before = rows(store, ALL)
    last, error, code = {
        "another answer": (_to(shown[3], "0"), ConflictError, "answered-meanwhile"),
        "not on the scale": (_to(shown[2], "9"), UsageError, "unknown-answer"),
        "twice": (_to(shown[0], "2"), UsageError, "answered-twice"),
        "of nobody": (SubmittedAnswer(999, 0, Answer(kind="skip")), NotFoundError, "no-such-question"),
        "of another judge": (_to(shown[2]), NotFoundError, "no-such-question"),
    }[scene]
    who = judge(store, "Ben") if scene == "of another judge" else ann
    with pytest.raises(error) as refused:
        _say_all(store, who, task, [_to(shown[0]), _to(shown[1]), last])
    assert refused.value.code == code
    named = shown[0].assignment if scene == "of another judge" else last.assignment
    assert f"question {named}" in str(refused.value)
    assert rows(store, ALL) == before


def test_after_the_time_limit_all_are_kept_and_none_counts(store: Store) -> None:
    ann, task, shown = _begun(store, minutes=30)
    late = _say_all(store, ann, task, [_to(one) for one in shown], now=NOW + 31 * 60)
    assert late.late == tuple(one.assignment for one in shown)
    assert {row[1:4] for row in rows(store, ALL)} == {(-1, "late", "1")}
    assert _say_all(store, ann, task, [_to(shown[0])], now=NOW + 32 * 60).repeated == (shown[0].assignment,)
