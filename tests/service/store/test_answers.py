from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ringtrue.errors import ConflictError, LateError, NotFoundError, UsageError
from ringtrue.service.store import Store
from ringtrue.service.store.answers import (
    record_answer,
    record_answers,
    reopen_questions,
    set_aside_task,
    submit_task,
    undo_last_answer,
)
from ringtrue.service.store.records import Answer, Project, SavedAnswer, ShownQuestion, SubmittedAnswer, TaskState
from ringtrue.service.store.tasks import get_or_create_task, load_open_questions, load_question
from service.small_projects import HELD, NOW, begin, finish, judge, pairs_project, project, question, rows, say

pytestmark = pytest.mark.contract

HISTORY = "SELECT version, kind, answer FROM judgment WHERE assignment = :at ORDER BY id"


def _first(store: Store, **changes: object) -> tuple[int, TaskState, ShownQuestion]:
    where, ann = project(store, **changes), judge(store)
    task = begin(store, where, ann)
    shown = question(store, task, ann)
    assert shown is not None
    return ann, task, shown


def _state(store: Store, shown: ShownQuestion) -> tuple[str, int, int]:
    found = rows(
        store, "SELECT a.state, a.version, i.given FROM assignment a JOIN item i ON i.id = a.item WHERE a.id = :at",
        at=shown.assignment,
    )  # fmt: skip
    return found[0]  # type: ignore[return-value]


def nothing_for(store: Store, where: Project, who: int) -> bool:
    """Whether nothing is left for a judge."""
    rng = np.random.default_rng(1)
    return store.write(lambda c: get_or_create_task(c, where, who, now=NOW + 2, rng=rng)) is None


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (Answer(answer="1", seconds=3.5, away=1.5), (3.5, 1.5)),
        (Answer(answer="1", seconds=1e9, away=1e9), (8.0, 0.0)),  # the task was opened 8 seconds ago
        (Answer(answer="1", seconds=3.3, away=1e9), (3.3, 4.7)),
        (Answer(answer="1", seconds=1e9, away=1e9, shown=NOW + 5), (3.0, 0.0)),
        (Answer(answer="1", away=1e9, shown=NOW + 5), (None, 3.0)),
        (Answer(answer="1", seconds=1e9, shown=NOW - 100), (8.0, None)),  # nothing is shown before its task
        (Answer(answer="1", seconds=1e9, shown=NOW + 100), (0.0, None)),  # a clock that was set back
        (Answer(answer="1", seconds=-1.0), (0.0, None)),
        (Answer(answer="1"), (None, None)),
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_no_time_is_longer_than_the_server_saw(
    store: Store, said: Answer, kept: tuple[float | None, float | None], at_once: bool
) -> None:
    ann, task, shown = _first(store)
    if at_once:
        answers = [SubmittedAnswer(shown.assignment, 0, said)]
        store.write(lambda c: record_answers(c, ann, task.id, answers, now=NOW + 8))
    else:
        store.write(lambda c: record_answer(c, ann, shown.assignment, 0, said, now=NOW + 8))
    assert rows(store, "SELECT seconds, away FROM judgment") == [kept]


def test_no_answer_took_longer_than_passed_since_the_answer_before(store: Store) -> None:
    ann, task, shown = _first(store)
    claimed = Answer(answer="1", seconds=1e9, away=1e9)

    def record(assignment: int, version: int, answer: Answer, later: float) -> SavedAnswer:
        return store.write(lambda c: record_answer(c, ann, assignment, version, answer, now=NOW + later))

    for later in (4, 5, 5):
        record(shown.assignment, 0, claimed, later)
        following = question(store, task, ann)
        assert following is not None
        shown = following
    store.write(lambda c: undo_last_answer(c, ann, task.id, now=NOW + 8))
    with store.read() as connection:
        (again,) = (one for one in load_open_questions(connection, task.id, ann) if one.version)
    seen = replace(claimed, shown=NOW + 1)  # in another tab, before the others were answered
    record(again.assignment, again.version, seen, 10)
    store.write(lambda c: set_aside_task(c, task.id, now=NOW + 11))
    assert record(shown.assignment, 0, claimed, 13).late
    recorded = rows(store, "SELECT seconds, away FROM judgment ORDER BY id")
    assert recorded == [(4.0, 0.0), (1.0, 0.0), (0.0, 0.0), (None, None), (2.0, 0.0), (3.0, 0.0)]


def test_answers_that_are_sent_together_share_what_passed(store: Store) -> None:
    ann, task, _ = _first(store)
    with store.read() as connection:
        first, second, third, last = load_open_questions(connection, task.id, ann)
    times = {first: 30.0, second: 10.0, third: None}
    answers = [SubmittedAnswer(shown.assignment, 0, Answer(answer="1", seconds=time)) for shown, time in times.items()]
    store.write(lambda c: record_answers(c, ann, task.id, answers, now=NOW + 8))
    again = [*answers, SubmittedAnswer(last.assignment, 0, Answer(answer="1", seconds=1.5))]
    assert len(store.write(lambda c: record_answers(c, ann, task.id, again, now=NOW + 10)).repeated) == 3
    assert rows(store, "SELECT seconds FROM judgment ORDER BY id") == [(4.0,), (4.0,), (None,), (1.5,)]


def test_times_and_times_away_of_answers_that_are_sent_together_share_what_passed(store: Store) -> None:
    ann, task, _ = _first(store)
    with store.read() as connection:
        shown = load_open_questions(connection, task.id, ann)
    claimed = [(2.0, 1.0), (3.0, 9.0), (None, 2.0)]
    answers = [
        SubmittedAnswer(question.assignment, 0, Answer(answer="1", seconds=seconds, away=away))
        for question, (seconds, away) in zip(shown, claimed, strict=False)
    ]
    store.write(lambda c: record_answers(c, ann, task.id, answers, now=NOW + 8))
    recorded = rows(store, "SELECT seconds, away FROM judgment ORDER BY id")
    assert [seconds for seconds, _ in recorded] == [2.0, 3.0, None]
    assert [away for _, away in recorded] == pytest.approx([3 / 8, 15 / 8, 6 / 8], abs=0.01)  # 3 of the 8 seconds


@pytest.mark.slow
def test_an_answer_is_kept_and_the_next_question_follows(store: Store) -> None:
    ann, task, shown = _first(store)
    saved = say(store, ann, shown, "2")
    assert (saved.late, saved.repeated, saved.task.open) == (False, False, 3)
    assert rows(store, HISTORY, at=shown.assignment) == [(1, "answer", "2")]
    after = question(store, task, ann)
    assert after is not None
    assert after.assignment != shown.assignment


def test_the_same_answer_sent_twice_is_kept_once(store: Store) -> None:
    ann, _, shown = _first(store)
    say(store, ann, shown, "2")
    assert say(store, ann, shown, "2").repeated
    assert rows(store, HISTORY, at=shown.assignment) == [(1, "answer", "2")]


def test_another_answer_from_a_second_tab_overwrites_nothing_unseen(store: Store) -> None:
    ann, _, shown = _first(store)
    say(store, ann, shown, "2")
    with pytest.raises(ConflictError) as refused:
        say(store, ann, shown, "0")
    assert refused.value.code == "answered-meanwhile"
    assert rows(store, HISTORY, at=shown.assignment) == [(1, "answer", "2")]


def test_an_answer_may_be_changed_by_who_has_seen_it(store: Store) -> None:
    ann, _, shown = _first(store)
    say(store, ann, shown, "2")
    with store.read() as connection:
        again = load_question(connection, shown.assignment, ann)
    assert (again.version, again.answer) == (1, "2")
    say(store, ann, again, "0")
    assert rows(store, HISTORY, at=shown.assignment) == [(1, "answer", "2"), (2, "answer", "0")]
    assert _state(store, shown) == ("done", 2, 1)


def test_undo_opens_the_last_question_again_and_keeps_the_history(store: Store) -> None:
    ann, task, shown = _first(store)
    say(store, ann, shown, "2")
    back = store.write(lambda c: undo_last_answer(c, ann, task.id, now=NOW + 5))
    assert (back.assignment, back.version, back.answer) == (shown.assignment, 2, None)
    say(store, ann, back, "1")
    assert rows(store, HISTORY, at=shown.assignment) == [(1, "answer", "2"), (2, "undo", None), (3, "answer", "1")]
    assert _state(store, shown) == ("done", 3, 1)


def test_undo_goes_back_one_answer_at_a_time(store: Store) -> None:
    ann, task, first = _first(store)
    say(store, ann, first)
    second = question(store, task, ann)
    assert second is not None
    say(store, ann, second)
    assert store.write(lambda c: undo_last_answer(c, ann, task.id, now=NOW + 5)).assignment == second.assignment
    assert store.write(lambda c: undo_last_answer(c, ann, task.id, now=NOW + 6)).assignment == first.assignment
    with pytest.raises(ConflictError) as refused:
        store.write(lambda c: undo_last_answer(c, ann, task.id, now=NOW + 7))
    assert refused.value.code == "nothing-to-undo"


@pytest.mark.parametrize(("kind", "state"), [("unsure", "unsure"), ("skip", "skipped")])
def test_an_item_nobody_decided_goes_to_another_judge_but_not_to_the_same(store: Store, kind: str, state: str) -> None:
    where, ann = project(store, items=1), judge(store)
    task = begin(store, where, ann)
    shown = question(store, task, ann)
    assert shown is not None
    say(store, ann, shown, kind=kind, reason="it is in Greek")
    assert _state(store, shown) == (state, 1, 1)
    assert nothing_for(store, where, judge(store, "eve"))
    store.write(lambda c: submit_task(c, ann, task.id, now=NOW + 3))
    assert _state(store, shown) == (state, 1, 0)
    assert begin(store, where, judge(store, "ben")).size == 1
    assert rows(store, "SELECT reason FROM judgment") == [("it is in Greek",)]


@pytest.mark.parametrize("kind", ["unsure", "skip"])
@pytest.mark.parametrize("again", ["undo", "reopen", "answer"])
def test_whoever_comes_back_to_a_question_cannot_tell_a_trap_from_others(store: Store, kind: str, again: str) -> None:
    where, ann = project(store, items=2, known=2, task_size=4, traps=2, traps_needed=0), judge(store)
    task = begin(store, where, ann)
    shown_questions = []
    while (shown := question(store, task, ann)) is not None:
        shown_questions.append(shown)
        say(store, ann, shown, kind=kind)
    assert nothing_for(store, where, judge(store, "ben"))
    if again == "undo":
        for shown in reversed(shown_questions):
            assert store.write(lambda c: undo_last_answer(c, ann, task.id, now=NOW + 3)).assignment == shown.assignment
    elif again == "reopen":
        assert store.write(lambda c: reopen_questions(c, ann, task.id, "skipped", "unsure", now=NOW + 3)) == 4
    outcomes = set()
    for shown in shown_questions:
        with store.read() as connection:
            reopened = load_question(connection, shown.assignment, ann)
        saved = say(store, ann, reopened, "2")
        outcomes.add((reopened.version, saved.late, saved.repeated))
    assert outcomes == {(1 if again == "answer" else 2, False, False)}
    assert rows(store, f"SELECT COUNT(*) FROM item i WHERE i.wanted IS NOT NULL AND i.given <> {HELD}") == [(0,)]


def test_an_answer_after_the_lease_counts_while_nobody_took_the_place(store: Store) -> None:
    where, ann = project(store, items=1, lease_minutes=1), judge(store)
    task = begin(store, where, ann)
    shown = question(store, task, ann)
    assert shown is not None
    assert not say(store, ann, shown, now=NOW + 3_000).late
    assert _state(store, shown) == ("done", 1, 1)


def test_an_answer_after_another_judge_took_the_place_is_kept_and_does_not_count(store: Store) -> None:
    where, ann = project(store, items=1, lease_minutes=1), judge(store)
    task = begin(store, where, ann)
    shown = question(store, task, ann)
    assert shown is not None
    begin(store, where, judge(store, "ben"), now=NOW + 3_000)
    assert say(store, ann, shown, "2", now=NOW + 3_001).late
    assert say(store, ann, shown, "2", now=NOW + 3_002).repeated
    assert say(store, ann, shown, "0", now=NOW + 3_003).late
    assert rows(store, HISTORY, at=shown.assignment) == [(-1, "late", "2"), (-2, "late", "0")]
    assert _state(store, shown) == ("expired", 0, 1)


def test_an_answer_after_the_time_limit_is_kept_and_does_not_count(store: Store) -> None:
    where, ann = project(store, items=1, minutes=1), judge(store)
    task = begin(store, where, ann)
    shown = question(store, task, ann)
    assert shown is not None
    assert say(store, ann, shown, "2", now=NOW + 61).late
    assert rows(store, HISTORY, at=shown.assignment) == [(-1, "late", "2")]


def test_after_handing_in_answers_stay_as_they_are(store: Store) -> None:
    ann, task, shown = _first(store, items=1)
    finish(store, task, ann)
    with store.read() as connection:
        again = load_question(connection, shown.assignment, ann)
    assert say(store, ann, again, "0").late
    assert _state(store, shown) == ("done", 1, 1)
    with pytest.raises(LateError) as refused:
        store.write(lambda c: undo_last_answer(c, ann, task.id, now=NOW + 5))
    assert refused.value.code == "task-over"


def test_a_task_is_handed_in_when_all_is_answered_and_twice_is_once(store: Store) -> None:
    ann, task, shown = _first(store, items=2)
    say(store, ann, shown)
    with pytest.raises(ConflictError) as refused:
        store.write(lambda c: submit_task(c, ann, task.id, now=NOW + 3))
    assert refused.value.code == "open-questions"
    assert "1 question" in refused.value.text
    done = finish(store, task, ann)
    assert done.outcome == "handed_in"
    assert store.write(lambda c: submit_task(c, ann, task.id, now=NOW + 99)) == done


@pytest.mark.parametrize(
    ("answer", "kind", "code"),
    [("3", "answer", "unknown-answer"), (None, "answer", "no-answer"), ("1", "perhaps", "unknown-answer-kind")],
)
def test_answers_that_the_scale_does_not_have_are_refused(
    store: Store, answer: str | None, kind: str, code: str
) -> None:
    ann, _, shown = _first(store)
    with pytest.raises(UsageError) as refused:
        say(store, ann, shown, answer, kind=kind)
    assert refused.value.code == code
    assert rows(store, "SELECT COUNT(*) FROM judgment") == [(0,)]


def test_nobody_answers_for_another(store: Store) -> None:
    _, _, shown = _first(store)
    with pytest.raises(NotFoundError):
        say(store, judge(store, "ben"), shown)


def test_setting_a_task_aside_gives_all_its_items_out_again(store: Store) -> None:
    where, ann = project(store, items=3), judge(store)
    task = begin(store, where, ann)
    finish(store, task, ann)
    store.write(lambda c: set_aside_task(c, task.id, now=NOW + 9))
    store.write(lambda c: set_aside_task(c, task.id, now=NOW + 10))
    assert rows(store, "SELECT DISTINCT state FROM assignment") == [("set_aside",)]
    assert rows(store, "SELECT SUM(given) FROM item") == [(0,)]
    assert rows(store, "SELECT COUNT(*) FROM judgment") == [(3,)]
    assert begin(store, where, judge(store, "ben"), now=NOW + 11).size == 3
    with pytest.raises(NotFoundError):
        store.write(lambda c: set_aside_task(c, 999, now=NOW))


def test_the_winner_is_kept_as_the_judge_saw_the_sides(store: Store) -> None:
    where, ann = pairs_project(store, items=20, task_size=20), judge(store)
    task = begin(store, where, ann)
    finish(store, task, ann, "left")
    assert rows(store, "SELECT DISTINCT answer FROM judgment") == [("left",)]
