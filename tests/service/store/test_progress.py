"""How far a project is, whoever asks: owner, viewer, or a script."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sqlalchemy import Connection, delete, insert, select, update

from ringtrue.service.store import Answer, Scale, Settings, Store, schema
from ringtrue.service.store.accounts import create_account
from ringtrue.service.store.answers import record_answer, undo_last_answer
from ringtrue.service.store.invitations import accept_invitation, invite
from ringtrue.service.store.items import add_documents, add_items, add_queries
from ringtrue.service.store.progress import (
    UnsureReason,
    count_active_judges,
    count_missing_texts,
    load_failed_tasks,
    load_judge_progress,
    load_progress,
    load_progress_by_query,
    load_query_progress,
    load_unsure_reasons,
    load_worker_ids,
)
from ringtrue.service.store.projects import create_project
from ringtrue.service.store.records import Progress, Project
from ringtrue.service.store.tasks import get_or_create_task, load_next_question, release_all_expired
from service.small_projects import NOW, begin, finish, judge, pairs_project, project, question, say


def test_a_new_project_has_everything_before_it(store: Store) -> None:
    where = project(store, items=4, judges=2)
    with store.read() as connection:
        found = load_progress(connection, where.id)
    assert (found.items, found.wanted, found.done, found.open, found.complete, found.judges) == (4, 8, 0, 0, 0, 0)


def test_an_empty_queue_is_no_error(store: Store) -> None:
    where = project(store)
    with store.read() as connection:
        found = load_progress(connection, where.id, "gold")
        assert load_query_progress(connection, where.id, "gold") == []
    assert (found.items, found.wanted, found.done) == (0, 0, 0)


def test_done_open_unsure_and_skipped_are_counted_and_traps_are_not(store: Store) -> None:
    where = project(store, items=6, known=2, judges=2, task_size=6, traps=2, traps_needed=1, queries=2)
    ann, bob = judge(store, "ann"), judge(store, "bob")
    finish(store, begin(store, where, ann), ann)
    task = begin(store, where, bob)
    kinds = iter(["answer", "unsure", "skip"])
    for kind in kinds:
        say(store, bob, question(store, task, bob), kind=kind)
    with store.read() as connection:
        found = load_progress(connection, where.id)
        by_query = load_query_progress(connection, where.id)
        by_judge = load_judge_progress(connection, where)
    states = found.done + found.open + found.unsure + found.skipped
    assert (found.items, found.wanted, states) == (6, 12, 4 + 4)
    assert found.judges in (1, 2)  # bob's three may have been traps
    assert [one.query for one in by_query] == ["q0", "q1"]
    for name in ("items", "wanted", "done", "open", "complete", "unsure"):
        assert sum(getattr(one, name) for one in by_query) == getattr(found, name)
    for name in ("done", "open", "unsure", "skipped"):  # the tables agree with the tiles
        assert sum(getattr(one, name) for one in by_judge) == getattr(found, name)
    assert [(one.handle, one.tasks) for one in by_judge] == [("ann", 1), ("bob", 1)]
    assert (by_judge[0].done, by_judge[0].traps) == (4, 2)
    assert (by_judge[0].traps, by_judge[0].passed) == (2, 0)
    assert (by_judge[1].unsure, by_judge[1].skipped) == (1, 1)


def test_an_item_is_complete_when_all_the_judges_it_wants_have_answered(store: Store) -> None:
    where = project(store, items=4, judges=2)
    for handle, complete in (("ann", 0), ("bob", 4)):
        who = judge(store, handle)
        finish(store, begin(store, where, who), who)
        with store.read() as connection:
            assert load_progress(connection, where.id).complete == complete


@pytest.mark.parametrize(("seconds", "median"), [([5.0], 5.0), ([9.0, 1.0, 4.0], 4.0), ([1.0, 2.0, 4.0, 9.0], 3.0)])
def test_the_time_of_a_judge_is_the_median(store: Store, seconds: list[float], median: float) -> None:
    where, ann = project(store, items=4), judge(store)
    task = begin(store, where, ann)
    for number, taken in enumerate(seconds, 1):
        shown = question(store, task, ann)
        said, then = Answer(answer="1", seconds=taken), NOW + 9 * number  # none took longer than passed
        store.write(
            lambda c, shown=shown, said=said, then=then: record_answer(
                c, ann, shown.assignment, shown.version, said, now=then
            )
        )
    with store.read() as connection:
        (one,) = load_judge_progress(connection, where)
    assert (one.seconds, one.last_seen, one.done) == (median, NOW + 9 * len(seconds), len(seconds))


def test_a_judge_who_measured_no_time_has_none(store: Store) -> None:
    where, ann = project(store), judge(store)
    begin(store, where, ann)
    with store.read() as connection:
        (one,) = load_judge_progress(connection, where)
    assert (one.seconds, one.last_seen, one.open) == (None, None, 4)


def test_a_judge_has_the_answers_that_count_whatever_was_undone_or_came_late(store: Store) -> None:
    where, ann = project(store, items=5, task_size=4, lease_minutes=1), judge(store)
    gold = [{"query": "q0", "doc": "d0"}]
    store.write(lambda c: add_items(c, where, gold, queue="gold", wanted=1, rng=np.random.default_rng(1)))
    gold_task = begin(store, where, ann, queue="gold")
    say(store, ann, question(store, gold_task, ann), now=NOW + 1)
    task = begin(store, where, ann)
    first = question(store, task, ann)
    say(store, ann, first, now=NOW + 2)
    store.write(lambda c: undo_last_answer(c, ann, task.id, now=NOW + 3))
    say(store, ann, first, version=2, now=NOW + 4)
    for later, kind in ((5, "unsure"), (6, "skip")):
        say(store, ann, question(store, task, ann), kind=kind, now=NOW + later)
    last = question(store, task, ann)
    with store.read() as connection:
        (before,) = load_judge_progress(connection, where)
    assert (before.done, before.open, before.unsure, before.skipped, before.gold) == (1, 1, 1, 1, 1)
    assert before.last_seen == NOW + 6
    store.write(lambda c: release_all_expired(c, NOW + 1_000))
    assert say(store, ann, last, now=NOW + 1_001).late
    with store.read() as connection:
        (after,) = load_judge_progress(connection, where)
    assert (after.done, after.open, after.unsure, after.skipped, after.gold) == (1, 0, 1, 1, 1)
    assert after.last_seen == NOW + 1_001


def test_tasks_that_failed_their_traps_are_listed_with_what_depends_on_them(store: Store) -> None:
    where = pairs_project(store, items=3, known=2, task_size=5, traps=2, traps_needed=2)
    ann = judge(store)
    task = finish(store, begin(store, where, ann), ann, "both_bad")
    with store.read() as connection:
        (found,) = load_failed_tasks(connection, where)
        (one,) = load_judge_progress(connection, where)
    assert (found.task, found.handle, found.traps, found.passed, found.outcome, found.answers) == (
        task.id, "ann", 2, 0, "handed_in", 3,
    )  # fmt: skip
    assert one.failed_tasks == 1


def test_what_judges_cannot_read_is_counted(store: Store) -> None:
    where = project(store, items=3, known=1, queries=2)

    def tell(connection) -> None:
        add_queries(connection, where.id, [{"name": "q0", "text": "bread"}])
        add_documents(connection, where.id, [{"name": "d0", "text": "flour"}, {"name": "far", "text": "away"}])

    store.write(tell)
    with store.read() as connection:
        found = count_missing_texts(connection, where.id)
    assert (found.queries, found.all_queries, found.documents, found.all_documents) == (1, 2, 3, 4)


def small(store: Store) -> Project:
    """Four documents of one query, for three judges each."""
    rng = np.random.default_rng(1)
    with store.transaction() as connection:
        made = create_project(
            connection, name="small", title="Small", scale=Scale.graded("Bad", "Good"),
            settings=Settings(traps=0, traps_needed=0, minutes=None, lease_minutes=10), now=NOW,
        )  # fmt: skip
        rows = [{"query": "q", "doc": f"d{at}"} for at in range(4)]
        add_items(connection, made, rows, queue="main", wanted=3, rng=rng)
    return made


def unsure(store: Store, project: Project, name: str, *reasons: str | None) -> int:
    """A judge who cannot tell, for these reasons; answers the task."""
    with store.transaction() as connection:
        who = create_account(connection, kind="named", name=name, password_hash="x", now=NOW)
        state = get_or_create_task(connection, project, who, now=NOW, rng=np.random.default_rng(1))
        assert state is not None
        for reason in reasons:
            shown = load_next_question(connection, state.id, who)
            assert shown is not None
            said = Answer(kind="unsure", reason=reason)
            record_answer(connection, who, shown.assignment, shown.version, said, now=NOW)
        return state.id


def test_reasons_are_counted_the_most_frequent_first(store: Store) -> None:
    project = small(store)
    unsure(store, project, "Ann", "broken", None)
    unsure(store, project, "Bob", "broken", "foreign")
    with store.read() as connection:
        found = load_unsure_reasons(connection, project.id)
        assert found[0] == UnsureReason(reason="broken", count=2)
        assert {one.reason for one in found[1:]} == {"foreign", "no reason given"}
        assert len(load_unsure_reasons(connection, project.id, limit=1)) == 1


def test_a_reason_that_was_taken_back_does_not_count(store: Store) -> None:
    project = small(store)
    task = unsure(store, project, "Ann", "broken")
    with store.transaction() as connection:
        undo_last_answer(connection, 1, task, now=NOW)
    with store.read() as connection:
        assert load_unsure_reasons(connection, project.id) == []


def test_judges_are_at_work_while_their_lease_lasts(store: Store) -> None:
    project = small(store)
    unsure(store, project, "Ann")
    unsure(store, project, "Bob")
    with store.read() as connection:
        assert count_active_judges(connection, project.id, NOW + 599) == 2
        assert count_active_judges(connection, project.id, NOW + 601) == 0
        assert count_active_judges(connection, project.id + 1, NOW) == 0


def test_ids_of_a_crowd_platform_are_found_by_account(store: Store) -> None:
    project = small(store)
    with store.transaction() as connection:
        secret = invite(connection, role="judge", kind="crowd", project=project.id, uses=None, now=NOW)
        who = accept_invitation(connection, secret, now=NOW, worker="prolific:5f", parameters={"PROLIFIC_PID": "5f"})
        accept_invitation(connection, secret, now=NOW)
    with store.read() as connection:
        assert load_worker_ids(connection, project.id) == {who: "prolific:5f"}


# Of an assignment, its state and whether its task is open.
STATES = [(state, True) for state in ("open", "done", "unsure", "skipped")]
STATES += [(state, False) for state in ("done", "unsure", "skipped", "expired", "set_aside")]
PLACES = st.lists(  # of an item: its query, how many judges it asks for, and its assignments
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.lists(st.sampled_from(STATES), max_size=5)), max_size=12
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(main=PLACES, gold=PLACES)
def test_progress_is_what_counting_every_assignment_gives(store: Store, main: Any, gold: Any) -> None:
    with store.transaction() as connection:
        for table in (schema.assignment, schema.task, schema.item, schema.query, schema.document, schema.project):
            connection.execute(delete(table))
        connection.execute(delete(schema.account))
        where = [
            create_project(
                connection, name=name, title=name, scale=Scale.graded("Bad", "Good"), settings=Settings(), now=NOW
            )
            for name in ("this", "other")
        ]
        for made in where:  # one project is not counted with another
            _place(connection, made, "main", main)
            _place(connection, made, "gold", gold)
        for queue, places in (("main", main), ("gold", gold)):
            found, by_query = load_progress_by_query(connection, where[0].id, queue)
            assert found == _naive_progress(places)
            assert [(one.query, one.items, one.complete, one.done) for one in by_query] == [
                (f"q{query}", part.items, part.complete, part.done)
                for query in sorted({query for query, _, _ in places})
                for part in [_naive_progress([place for place in places if place[0] == query])]
            ]


def _place(connection: Connection, where: Project, queue: str, places: Any) -> None:
    """Items and assignments as they stand; the judge of each assignment is another one, as is the task."""
    add_queries(connection, where.id, [{"name": f"q{query}"} for query in range(4)])
    rows = [{"query": f"q{query}", "doc": f"{queue}{at}"} for at, (query, _, _) in enumerate(places)]
    add_items(connection, where, rows, queue=queue, wanted=0, rng=np.random.default_rng(1))
    names = select(schema.doc.c.name, schema.item.c.id).select_from(schema.named_items)
    ids = dict(connection.execute(names.where(schema.item.c.project == where.id)).all())
    for at, (_, wanted, states) in enumerate(places):
        item, held = ids[f"{queue}{at}"], _count_held(states)
        limits = {"asked": wanted, "wanted": max(wanted, held), "given": held}
        connection.execute(update(schema.item).where(schema.item.c.id == item).values(**limits))
        for number, (state, is_open) in enumerate(states):
            who = connection.execute(
                insert(schema.account)
                .values(handle=f"{where.name}-{queue}-{at}-{number}", kind="named", owner=False, created=NOW)
                .returning(schema.account.c.id)
            ).scalar_one()
            task = connection.execute(
                insert(schema.task)
                .values(
                    project=where.id, account=who, queue=queue, opened=NOW, leased=NOW, closed=None if is_open else NOW
                )
                .returning(schema.task.c.id)
            ).scalar_one()
            row = {"task": task, "item": item, "account": who, "place": 1, "flipped": False, "state": state}
            connection.execute(insert(schema.assignment).values(**row, version=0))


def _count_held(states: list[tuple[str, bool]]) -> int:
    return sum(state == "done" or is_open for state, is_open in states)


def _naive_progress(places: Any) -> Progress:
    names = [[state for state, _ in states] for _, _, states in places]
    counts = Counter(name for states in names for name in states)
    held = [_count_held(states) for _, _, states in places]
    wanted = [max(asked, count) for (_, asked, _), count in zip(places, held, strict=True)]
    return Progress(
        items=len(places),
        wanted=sum(wanted),
        done=counts["done"],
        open=counts["open"],
        complete=sum(states.count("done") >= most for states, most in zip(names, wanted, strict=True)),
        unsure=counts["unsure"],
        skipped=counts["skipped"],
        judges=counts["done"],
    )
