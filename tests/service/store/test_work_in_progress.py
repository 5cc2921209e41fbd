"""What an owner watches while judges work, in both databases."""

from __future__ import annotations

import numpy as np

from ringtrue.service.store import Answer, Scale, Settings, Store
from ringtrue.service.store.accounts import create_account
from ringtrue.service.store.answers import record_answer, undo_last_answer
from ringtrue.service.store.invitations import accept_invitation, invite
from ringtrue.service.store.progress import UnsureReason, count_active_judges, load_unsure_reasons, load_worker_ids
from ringtrue.service.store.projects import add_items, create_project
from ringtrue.service.store.records import Project
from ringtrue.service.store.tasks import get_or_create_task, load_next_question

NOW = 1_800_000_000.0


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
