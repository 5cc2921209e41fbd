"""What counts, what does not, and what is kept all the same; answers a page at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from ringtrue.judges.votes.columns import parse_times
from ringtrue.service.store import PREFERENCE, Answer, Scale, Settings, Store
from ringtrue.service.store.accounts import create_account
from ringtrue.service.store.adjudication import record_verdict
from ringtrue.service.store.answers import record_answer, set_aside_task, undo_last_answer
from ringtrue.service.store.items import add_items
from ringtrue.service.store.label_queries import (
    find_failed_tasks,
    load_answers_after,
    load_collected,
    load_judgments,
    load_known_answers,
    load_preferences,
    load_verdict_frame,
    stream_history,
)
from ringtrue.service.store.projects import create_project
from ringtrue.service.store.records import Project
from ringtrue.service.store.tasks import TrapCount, get_or_create_task, is_task_in_project, load_next_question
from ringtrue.tables import Judgments, Preferences
from service.small_projects import NOW, begin, finish, judge, pairs_project, project, question, rows, say


def told_in(connection, where) -> list[dict]:
    return pl.concat(stream_history(connection, where)).to_dicts()


def frame_of(store: Store, where, **options) -> pl.DataFrame:
    with store.read() as connection:
        return load_judgments(connection, where, **options)


def test_nothing_is_collected_at_first(store: Store) -> None:
    where = project(store)
    with store.read() as connection:
        assert load_collected(connection, where) is None
        assert load_known_answers(connection, where) is None
        assert told_in(connection, where) == []
        assert load_verdict_frame(connection, where).height == 0
    assert frame_of(store, where).height == 0


def test_labels_have_their_judge_time_task_and_place(store: Store) -> None:
    where, ann = project(store), judge(store)
    task = begin(store, where, ann)
    shown = question(store, task, ann)
    say(store, ann, shown, "2", now=NOW + 3.25)
    frame = frame_of(store, where)
    assert frame.columns == ["query", "doc", "judge", "label", "time", "seconds", "batch", "place", "queue"]
    assert frame.row(0, named=True) == {
        "query": "q0", "doc": shown.left.name, "judge": "ann", "label": 2, "time": "1970-01-12T13:46:43.250Z",
        "seconds": 1.0, "batch": task.id, "place": 1, "queue": "main",
    }  # fmt: skip
    assert parse_times(frame["time"]).tolist() == [NOW + 3.25]
    with store.read() as connection:
        assert isinstance(load_collected(connection, where), Judgments)


def test_only_the_last_version_of_a_finished_question_counts_and_all_of_it_is_history(store: Store) -> None:
    where, ann = project(store), judge(store)
    task = begin(store, where, ann)
    first = question(store, task, ann)
    say(store, ann, first, "0")
    again = store.write(lambda connection: undo_last_answer(connection, ann, task.id, now=NOW + 2))
    say(store, ann, again, "1", now=NOW + 3)
    say(store, ann, question(store, task, ann), kind="unsure", reason="in Greek", now=NOW + 4)
    say(store, ann, question(store, task, ann), kind="skip", now=NOW + 5)
    assert frame_of(store, where)["label"].to_list() == [1]
    with store.read() as connection:
        told = [(row["kind"], row["label"], row["counts"], row["reason"]) for row in told_in(connection, where)]
    assert told == [
        ("answer", "0", False, None), ("undo", None, False, None), ("answer", "1", True, None),
        ("unsure", None, False, "in Greek"), ("skip", None, False, None),
    ]  # fmt: skip


def test_a_task_that_was_set_aside_counts_for_nothing_and_stays_in_the_history(store: Store) -> None:
    where, ann = project(store), judge(store)
    task = finish(store, begin(store, where, ann), ann)
    assert frame_of(store, where).height == 4
    store.write(lambda connection: set_aside_task(connection, task.id, now=NOW + 9))
    assert frame_of(store, where).height == 0
    with store.read() as connection:
        told = told_in(connection, where)
    assert {(row["state"], row["counts"], row["outcome"]) for row in told} == {("set_aside", False, "set_aside")}


def test_a_late_answer_is_in_the_history_and_does_not_count(store: Store) -> None:
    where, ann = project(store, minutes=1), judge(store)
    task = begin(store, where, ann)
    assert say(store, ann, question(store, task, ann), "2", now=NOW + 3600).late
    assert frame_of(store, where).height == 0
    with store.read() as connection:
        assert [(row["kind"], row["version"], row["counts"]) for row in told_in(connection, where)] == [
            ("late", -1, False)
        ]


def test_traps_are_left_out_unless_they_are_asked_for_and_so_are_tasks_that_failed_them(store: Store) -> None:
    where = project(store, known=2, task_size=6, traps=2, traps_needed=2, judges=2)
    ann, bob = judge(store, "ann"), judge(store, "bob")
    failed = finish(store, begin(store, where, ann), ann, "1")
    finish(store, begin(store, where, bob), bob, "2")
    assert frame_of(store, where).height == 8
    with_traps = frame_of(store, where, traps="labels")
    assert with_traps.group_by("judge", "trap").len().sort("judge", "trap")["len"].to_list() == [4, 2, 4, 2]
    assert frame_of(store, where, failed=False)["judge"].unique().to_list() == ["bob"]
    with store.read() as connection:
        assert find_failed_tasks(connection, where) == {failed.id: TrapCount(2, 0)}
        known = load_known_answers(connection, where)
    assert isinstance(known, Judgments)
    assert known.frame.select("query", "doc", "label").rows() == [("q0", "t0", 2), ("q0", "t1", 2)]


def test_preferences_name_left_and_right_as_the_judge_saw_them(store: Store) -> None:
    where, ann = pairs_project(store, items=12, known=1, task_size=12), judge(store)
    task = begin(store, where, ann)
    seen = {}
    while (shown := question(store, task, ann)) is not None:
        seen[shown.left.name, shown.right.name] = answer = "left" if shown.place % 2 else "both_bad"
        say(store, ann, shown, answer)
    with store.read() as connection:
        frame = load_preferences(connection, where)
        assert isinstance(load_collected(connection, where), Preferences)
        told = {(row["left"], row["right"]): row["winner"] for row in told_in(connection, where)}
        known = load_known_answers(connection, where)
    assert {(left, right): winner for left, right, winner in frame.select("left", "right", "winner").rows()} == seen
    assert told == seen
    assert {left[0] for left, _ in seen} == {"d", "e"}  # both sides occur
    assert isinstance(known, Preferences)
    assert known.frame.select("left", "right", "winner").rows() == [("t0", "u0", "left")]


def test_only_the_last_verdict_on_an_item_is_the_word(store: Store) -> None:
    where, ann = project(store), judge(store)
    (at,) = rows(store, "SELECT MIN(id) FROM item")[0]
    for answer in ("0", "2"):
        store.write(lambda connection, answer=answer: record_verdict(connection, where, at, ann, answer, " why ", NOW))
    with store.read() as connection:
        frame = load_verdict_frame(connection, where)
    assert frame.select("answer", "judge", "reason", "time").rows() == [("2", "ann", "why", "1970-01-12T13:46:40.000Z")]


def test_the_gold_queue_is_collected_by_itself(store: Store) -> None:
    import numpy as np

    from ringtrue.service.store.items import add_items

    where, ann = project(store), judge(store)
    gold = [{"query": "q0", "doc": "d1", "design": "pool_random", "prob": 0.5}]
    store.write(lambda c: add_items(c, where, gold, queue="gold", wanted=1, rng=np.random.default_rng(1)))
    finish(store, begin(store, where, ann, queue="gold"), ann, "2")
    assert frame_of(store, where).height == 0
    assert frame_of(store, where, queue="gold").select("doc", "label", "queue").rows() == [("d1", 2, "gold")]


SETTINGS = Settings(judges=1, task_size=10, traps=0, traps_needed=0)


def judged(
    connection: Any, scale: Scale, rows: list[dict[str, str]], answer: str
) -> tuple[Project, int, int, list[Any]]:
    """A project whose items were all answered alike: with the account, the task and what was shown."""
    rng = np.random.default_rng(3)
    project = create_project(connection, name="p", title="P", scale=scale, settings=SETTINGS, now=NOW)
    add_items(connection, project, rows, queue="main", wanted=1, rng=rng)
    account = create_account(connection, kind="named", name="Ann", now=NOW)
    task = get_or_create_task(connection, project, account, now=NOW, rng=rng)
    assert task is not None
    seen = []
    while (question := load_next_question(connection, task.id, account)) is not None:
        record_answer(connection, account, question.assignment, 0, Answer(answer=answer), now=NOW)
        seen.append(question)
    return project, account, task.id, seen


def test_pages_follow_each_other_without_a_gap(store: Store) -> None:
    with store.transaction() as connection:
        rows = [{"query": "q", "doc": f"d{at}"} for at in range(5)]
        project, *_ = judged(connection, Scale.graded("No", "Yes"), rows, "1")
        first = load_answers_after(connection, project, limit=3)
        rest = load_answers_after(connection, project, limit=3, after=first[-1].id)
        assert (len(first), len(rest)) == (3, 2)
        assert sorted(one.left for one in first + rest) == ["d0", "d1", "d2", "d3", "d4"]
        assert {one.right for one in first + rest} == {None}


def test_sides_are_those_that_the_judge_saw(store: Store) -> None:
    with store.transaction() as connection:
        rows = [{"query": "q", "doc": "a", "other": f"b{at}"} for at in range(8)]
        project, _, _, seen = judged(connection, PREFERENCE, rows, "left")
        told = [(one.left, one.right) for one in load_answers_after(connection, project)]
        assert told == [(one.left.name, one.right.name) for one in seen]
        assert {left == "a" for left, _ in told} == {True, False}


def test_what_was_taken_back_is_told_only_when_asked_for(store: Store) -> None:
    with store.transaction() as connection:
        rows = [{"query": "q", "doc": f"d{at}"} for at in range(2)]
        project, account, task, _ = judged(connection, Scale.graded("No", "Yes"), rows, "1")
        undo_last_answer(connection, account, task, now=NOW)
        assert [one.counts for one in load_answers_after(connection, project)] == [True]
        every = load_answers_after(connection, project, counting=False)
        assert [(one.kind, one.counts) for one in every] == [("answer", True), ("answer", False), ("undo", False)]


@pytest.mark.parametrize("queue", ["gold", "trap"])
def test_queues_are_told_apart(store: Store, queue: str) -> None:
    with store.transaction() as connection:
        project, _, task, _ = judged(connection, Scale.graded("No", "Yes"), [{"query": "q", "doc": "d"}], "1")
        assert load_answers_after(connection, project, queue=queue) == []
        assert is_task_in_project(connection, task, project.id)
        assert not is_task_in_project(connection, task, project.id + 1)
        assert not is_task_in_project(connection, task + 1, project.id)
