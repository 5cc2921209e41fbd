from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ringtrue.errors import ConflictError, ForbiddenError, LateError, NotFoundError, UsageError
from ringtrue.service.store import Store
from ringtrue.service.store.accounts import (
    add_member,
    create_account,
    erase_account,
    find_password_hash,
    get_person,
    has_owner,
    load_accounts,
    remove_member,
    set_owner,
    set_password,
)
from ringtrue.service.store.audit_log import load_audit_entries, record_action
from ringtrue.service.store.invitations import accept_invitation, invite, require_valid_invitation
from ringtrue.service.store.projects import create_project
from ringtrue.service.store.records import Project
from ringtrue.service.store.sessions import (
    authenticate_login,
    authenticate_token,
    issue_token,
    log_in,
    record_login_attempt,
)
from service.small_projects import GRADED, NOW, project, rows, settings


def another_project(store: Store) -> Project:
    return store.write(
        lambda c: create_project(c, name="other", title="Other", scale=GRADED, settings=settings(), now=NOW)
    )


def made(store: Store, name: str | None = None, **given: Any) -> int:
    return store.write(lambda c: create_account(c, **({"kind": "named", "name": name, "now": NOW} | given)))


def handle_of(store: Store, account: int) -> str:
    return store.write(lambda c: get_person(c, account)).handle


def test_a_handle_is_made_from_the_name_and_numbered_when_it_is_taken(store: Store) -> None:
    names = ["Zoë van der Berg", "zoe van der berg!", "李", "Jan", None, "Worker 12"]
    handles = [handle_of(store, made(store, name)) for name in names]
    assert handles == ["zoe-van-der-berg", "zoe-van-der-berg-2", "judge", "jan", "judge-2", "judge-3"]


def test_crowd_workers_are_numbered(store: Store) -> None:
    handles = [handle_of(store, made(store, kind="crowd")) for _ in range(3)]
    assert handles == ["worker-1", "worker-2", "worker-3"]


def test_a_handle_that_is_chosen_must_be_free_and_fit_into_an_export(store: Store) -> None:
    assert handle_of(store, made(store, "Ann", handle=" Ann.B ")) == "ann.b"
    with pytest.raises(ConflictError) as refused:
        made(store, "Other", handle="ann.b")
    assert refused.value.code == "handle-taken"
    for wrong in ("", "a b", "-a", "ä", "x" * 64, "a,b"):
        with pytest.raises(UsageError) as refused:
            made(store, "Ann", handle=wrong)
        assert refused.value.code == "bad-handle"
    for reserved in ("worker-7", "erased-1"):
        with pytest.raises(UsageError) as refused:
            made(store, "Ann", handle=reserved)
        assert refused.value.code == "reserved-handle"


def test_many_who_come_at_once_with_one_name_get_a_handle_each(store: Store) -> None:
    def come(_: int) -> int:
        with store.transaction() as connection:
            return create_account(connection, kind="named", name="Ann", now=NOW)

    with ThreadPoolExecutor(8) as pool:
        accounts = list(pool.map(come, range(24)))
    handles = {handle_of(store, account) for account in accounts}
    assert handles == {"ann", *(f"ann-{number}" for number in range(2, 25))}


def test_roles_belong_to_a_project_and_are_given_once(store: Store) -> None:
    small, other = project(store), another_project(store)
    ann = made(store, "Ann")
    for where, role in ((small, "judge"), (small, "judge"), (small, "gold"), (other, "viewer")):
        store.write(lambda c, where=where, role=role: add_member(c, where.id, ann, role, NOW))
    who = store.write(lambda c: get_person(c, ann))
    assert who.roles == {small.id: {"judge", "gold"}, other.id: {"viewer"}}
    assert (who.may("judge", small.id), who.may("viewer", small.id), who.may("judge", other.id)) == (True, False, False)
    store.write(lambda c: remove_member(c, small.id, ann, "gold", now=NOW))
    assert store.write(lambda c: get_person(c, ann)).roles[small.id] == {"judge"}
    store.write(lambda c: remove_member(c, small.id, ann, now=NOW))
    assert small.id not in store.write(lambda c: get_person(c, ann)).roles
    with pytest.raises(UsageError) as refused:
        store.write(lambda c: add_member(c, small.id, ann, "owner", NOW))
    assert refused.value.code == "unknown-role"


def test_the_list_of_people_is_of_a_project_or_of_all(store: Store) -> None:
    small = project(store)
    ann, bob = made(store, "Ann", password_hash="x"), made(store, "Bob", owner=True)
    store.write(lambda c: add_member(c, small.id, ann, "judge", NOW))
    with store.read() as connection:
        (only,) = load_accounts(connection, small.id)
        assert [one.id for one in load_accounts(connection)] == [ann, bob]
    assert (only.handle, only.name, only.roles, only.has_password) == ("ann", "Ann", ("judge",), True)


def test_whoever_judged_stays_on_the_list_without_a_role(store: Store) -> None:
    small = project(store)
    ann = made(store, "Ann")
    store.write(lambda c: add_member(c, small.id, ann, "judge", NOW))
    rows_before = f"INSERT INTO task (project, account, queue, opened, leased) VALUES ({small.id}, {ann}, 'main', 1, 2)"
    store.write(lambda c: c.exec_driver_sql(rows_before))
    store.write(lambda c: remove_member(c, small.id, ann, now=NOW))
    assert [one.handle for one in store.write(lambda c: load_accounts(c, small.id))] == ["ann"]


def test_a_new_password_ends_whatever_opened_the_account_before(store: Store) -> None:
    ann = made(store, "Ann", password_hash="old")
    token = store.write(lambda c: issue_token(c, ann, name="t", scopes=["manage"], now=NOW, days=None))
    thief, used = (store.write(lambda c: invite(c, role="reset", account=ann, now=NOW)) for _ in range(2))
    store.write(lambda c: accept_invitation(c, used, password="between", now=NOW))
    assert store.write(lambda c: authenticate_token(c, token, NOW)) is None
    with pytest.raises(LateError) as refused:
        store.write(lambda c: accept_invitation(c, thief, password="of a thief", now=NOW))
    assert refused.value.code == "link-withdrawn"
    with pytest.raises(LateError) as refused:
        store.write(lambda c: accept_invitation(c, used, password="of a thief", now=NOW))
    assert refused.value.code == "link-used"
    secret, _ = store.write(lambda c: log_in(c, ann, now=NOW, hours=1))
    store.write(lambda c: set_password(c, ann, "new", now=NOW))
    assert store.write(lambda c: find_password_hash(c, " ANN ")) == (ann, "new")
    assert store.write(lambda c: authenticate_login(c, secret, NOW)) is None
    with pytest.raises(NotFoundError):
        store.write(lambda c: set_password(c, 99, "new", now=NOW))


def test_one_owner_has_to_stay(store: Store) -> None:
    ann = made(store, "Ann", owner=True, password_hash="x")
    for work in (lambda c: set_owner(c, ann, False, now=NOW), lambda c: erase_account(c, ann, NOW)):
        with pytest.raises(ConflictError) as refused:
            store.write(work)
        assert refused.value.code == "only-owner"
    bob = made(store, "Bob", password_hash="x")
    store.write(lambda c: set_owner(c, bob, True, now=NOW))
    store.write(lambda c: set_owner(c, ann, False, now=NOW))
    assert store.write(has_owner)
    assert not store.write(lambda c: get_person(c, ann)).owner


def test_erasing_takes_all_that_is_personal_and_leaves_the_account(store: Store) -> None:
    small = project(store)
    ann = made(store, "Ann Arbor", password_hash="hash of it")
    secret = store.write(lambda c: invite(c, role="judge", project=small.id, note="for Ann Arbor", now=NOW))
    store.write(lambda c: accept_invitation(c, secret, account=ann, parameters={"PROLIFIC_PID": "5f0c"}, now=NOW))
    store.write(lambda c: invite(c, role="reset", account=ann, now=NOW))
    login, _ = store.write(lambda c: log_in(c, ann, now=NOW, hours=1))
    store.write(lambda c: issue_token(c, ann, name="of Ann Arbor", scopes=["read"], now=NOW, days=None))
    store.write(lambda c: record_login_attempt(c, handle="ann-arbor", address="192.0.2.1", now=NOW))
    store.write(lambda c: record_action(c, "log in", account=ann, now=NOW))
    again = store.write(lambda c: invite(c, role="viewer", project=small.id, note="for ANN ARBOR", now=NOW))
    other = store.write(lambda c: invite(c, role="judge", project=small.id, note="Anne Arborist", now=NOW))

    assert store.write(lambda c: erase_account(c, ann, NOW + 1)) == f"erased-{ann}"
    assert store.write(lambda c: erase_account(c, ann, NOW + 2)) == f"erased-{ann}"

    everything = repr([
        rows(store, f"SELECT * FROM {table}")
        for table in ("account", "member", "login", "token", "visit", "invitation", "attempt", "audit")
    ]).lower()  # fmt: skip
    for personal in ("ann arbor", "ann-arbor", "hash of it", "5f0c"):
        assert personal not in everything
    assert rows(store, "SELECT COUNT(*) FROM attempt WHERE what LIKE 'handle%'") == [(0,)]
    with pytest.raises(LateError) as refused:
        store.write(lambda c: require_valid_invitation(c, again, NOW))
    assert refused.value.code == "link-withdrawn"
    assert store.write(lambda c: require_valid_invitation(c, other, NOW)).note == "Anne Arborist"
    assert rows(store, "SELECT COUNT(*) FROM member") == rows(store, "SELECT COUNT(*) FROM login") == [(0,)]
    assert store.write(lambda c: authenticate_login(c, login, NOW)) is None
    assert store.write(lambda c: find_password_hash(c, f"erased-{ann}")) is None
    assert {entry.handle for entry in store.write(load_audit_entries)} == {f"erased-{ann}"}
    assert rows(store, "SELECT handle, erased FROM account") == [(f"erased-{ann}", NOW + 1)]
    for gone in (
        lambda c: get_person(c, ann), lambda c: set_password(c, ann, "x", now=NOW),
        lambda c: set_owner(c, ann, True, now=NOW),
    ):  # fmt: skip
        with pytest.raises(NotFoundError):
            store.write(gone)


def test_a_judge_of_a_file_who_is_called_erased_does_not_stand_in_the_way(store: Store) -> None:
    ann = made(store, "Ann")
    made(store, kind="imported", handle=f"erased-{ann}")
    assert store.write(lambda c: erase_account(c, ann, NOW)) == f"erased-{ann}-2"


def test_every_deed_on_people_is_written_down_with_who_did_it(store: Store) -> None:
    small, olga, ann = project(store), made(store, "Olga", owner=True), made(store, "Ann")
    deeds = (
        lambda c: add_member(c, small.id, ann, "judge", NOW, by=olga),
        lambda c: remove_member(c, small.id, ann, now=NOW, by=olga),
        lambda c: set_owner(c, ann, True, now=NOW, by=olga),
        lambda c: set_owner(c, ann, False, now=NOW, by=olga),
        lambda c: erase_account(c, ann, NOW, by=olga),
    )
    for deed in deeds:
        store.write(deed)
    found = store.write(load_audit_entries)[::-1]
    assert {(one.handle, one.detail["account"]) for one in found} == {("olga", ann)}
    told = ["add member", "remove member", "make owner", "unmake owner", "erase person"]
    assert [one.action for one in found] == told


def test_who_erases_their_own_account_is_not_named(store: Store) -> None:
    ann = made(store, "Ann")
    store.write(lambda c: erase_account(c, ann, NOW, by=ann))
    assert [one.handle for one in store.write(load_audit_entries)] == [None]


def crowd_worker(store: Store, where: Project) -> int:
    secret = store.write(lambda c: invite(c, role="judge", kind="crowd", project=where.id, now=NOW))
    return store.write(lambda c: accept_invitation(c, secret, worker="prolific:a", now=NOW))


def test_nothing_gives_a_crowd_account_more_than_judging(store: Store) -> None:
    small, other = project(store), another_project(store)
    worker = crowd_worker(store, small)
    reset = store.write(lambda c: invite(c, role="reset", account=worker, now=NOW))
    refused: list[Any] = [
        lambda c: set_owner(c, worker, True, now=NOW),
        lambda c: set_password(c, worker, "hash", now=NOW),
        lambda c: accept_invitation(c, reset, password="hash", now=NOW),
        lambda c: add_member(c, small.id, worker, "viewer", NOW),
        lambda c: add_member(c, small.id, worker, "gold", NOW),
        lambda c: add_member(c, other.id, worker, "judge", NOW),
        lambda c: create_account(c, kind="crowd", owner=True, now=NOW),
        lambda c: create_account(c, kind="crowd", password_hash="hash", now=NOW),
    ]
    for give in refused:
        with pytest.raises(ForbiddenError) as refused:
            store.write(give)
        assert refused.value.code == "crowd-account"
    with pytest.raises(ForbiddenError) as refused:
        store.write(lambda c: issue_token(c, worker, name="x", scopes=["judge"], now=NOW, days=1))
    assert refused.value.code == "no-crowd-tokens"
    person = store.write(lambda c: get_person(c, worker))
    assert (person.owner, person.roles) == (False, {small.id: {"judge"}})
    assert rows(store, "SELECT password FROM account") == [(None,)]


def test_a_worker_who_was_removed_judges_again_where_they_came_by_the_link(store: Store) -> None:
    small = project(store)
    worker = crowd_worker(store, small)
    store.write(lambda c: remove_member(c, small.id, worker, now=NOW))
    store.write(lambda c: add_member(c, small.id, worker, "judge", NOW))
    assert store.write(lambda c: get_person(c, worker)).roles == {small.id: {"judge"}}


def test_a_crowd_account_that_an_earlier_version_raised_only_judges_and_is_seen(store: Store) -> None:
    small = project(store)
    olga, worker = made(store, "Olga", owner=True, password_hash="x"), crowd_worker(store, small)
    token = store.write(lambda c: issue_token(c, olga, name="x", scopes=["read"], now=NOW, days=1))
    login, _ = store.write(lambda c: log_in(c, worker, now=NOW, hours=1))

    def raise_account(connection: Any) -> None:
        for statement in (
            f"UPDATE account SET owner = TRUE WHERE id = {worker}",
            f"UPDATE token SET account = {worker}",
            f"INSERT INTO member (project, account, role, created) VALUES ({small.id}, {worker}, 'viewer', 0)",
        ):
            connection.exec_driver_sql(statement)

    assert not [one.handle for one in store.write(load_accounts) if one.is_raised_crowd]
    store.write(raise_account)
    session = store.write(lambda c: authenticate_login(c, login, NOW))
    assert session is not None
    assert (session[0].owner, session[0].roles) == (False, {small.id: {"judge"}})
    assert store.write(lambda c: authenticate_token(c, token, NOW)) is None
    for listed in (store.write(load_accounts), store.write(lambda c: load_accounts(c, small.id))):
        assert [one.handle for one in listed if one.is_raised_crowd] == ["worker-2"]
    with pytest.raises(ConflictError) as refused:  # the other one counts for nothing
        store.write(lambda c: set_owner(c, olga, False, now=NOW))
    assert refused.value.code == "only-owner"
    store.write(lambda c: set_owner(c, worker, False, now=NOW))
    store.write(lambda c: remove_member(c, small.id, worker, now=NOW))
    assert not [one.handle for one in store.write(load_accounts) if one.is_raised_crowd]
