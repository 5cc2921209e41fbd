from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ringtrue.errors import ForbiddenError, LateError, NotFoundError, UsageError
from ringtrue.service.store import Store
from ringtrue.service.store.accounts import create_account, find_password_hash, get_person, has_owner
from ringtrue.service.store.audit_log import load_audit_entries
from ringtrue.service.store.invitations import (
    accept_invitation,
    invite,
    invite_first_owner,
    load_invitations,
    require_admission,
    require_valid_invitation,
    revoke_invitation,
)
from ringtrue.service.store.projects import create_project
from ringtrue.service.store.records import Project
from ringtrue.service.store.sessions import authenticate_login, log_in
from service.small_projects import GRADED, NOW, project, rows, settings


def another_project(store: Store) -> Project:
    return store.write(
        lambda c: create_project(c, name="other", title="Other", scale=GRADED, settings=settings(), now=NOW)
    )


def link(store: Store, **given: Any) -> str:
    return store.write(lambda c: invite(c, **({"role": "judge", "now": NOW} | given)))


def accept(store: Store, secret: str, now: float = NOW, **given: Any) -> int:
    return store.write(lambda c: accept_invitation(c, secret, now=now, **given))


def test_a_named_link_makes_one_account_with_the_role(store: Store) -> None:
    small = project(store)
    secret = link(store, role="gold", project=small.id, note="for the expert")
    account = accept(store, secret, name="Ann", password="hash")
    who = store.write(lambda c: get_person(c, account))
    assert (who.handle, who.owner, who.roles) == ("ann", False, {small.id: {"gold"}})
    with pytest.raises(LateError) as refused:
        accept(store, secret, name="Eve", password="another hash")
    assert refused.value.code == "link-used"
    (seen,) = store.write(lambda c: load_invitations(c, small.id))
    assert (seen.left, seen.note, seen.is_open(NOW)) == (0, "for the expert", False)


def test_somebody_who_has_an_account_takes_the_role_with_it(store: Store) -> None:
    small = project(store)
    ann = store.write(lambda c: create_account(c, kind="named", name="Ann", now=NOW))
    assert accept(store, link(store, role="viewer", project=small.id), account=ann) == ann
    assert store.write(lambda c: get_person(c, ann)).roles == {small.id: {"viewer"}}
    assert rows(store, "SELECT COUNT(*) FROM account") == [(1,)]


def test_an_account_that_cannot_be_made_leaves_the_link_as_it_was(store: Store) -> None:
    secret = link(store, project=project(store).id)
    for given in ({"name": "Ann"}, {"name": "Ann", "handle": "a b", "password": "x"}):
        with pytest.raises(UsageError):
            accept(store, secret, **given)
    assert rows(store, 'SELECT "left" FROM invitation') == [(1,)]


def test_only_a_hash_of_the_link_is_kept(store: Store) -> None:
    secret = link(store, project=project(store).id)
    assert secret not in repr(rows(store, "SELECT * FROM invitation"))
    with pytest.raises(NotFoundError) as refused:
        store.write(lambda c: require_valid_invitation(c, secret[:-1], NOW))
    assert refused.value.code == "unknown-link"


def test_a_link_ends_with_its_time_or_when_it_is_withdrawn(store: Store) -> None:
    small = project(store)
    old, withdrawn = link(store, project=small.id, days=1), link(store, project=small.id)
    with pytest.raises(LateError) as refused:
        accept(store, old, NOW + 86_400, name="Ann", password="x")
    assert refused.value.code == "link-expired"
    number = store.write(lambda c: load_invitations(c, small.id))[0].id
    store.write(lambda c: revoke_invitation(c, number, project=small.id + 1, now=NOW))
    assert store.write(lambda c: require_valid_invitation(c, withdrawn, NOW)).revoked is None
    store.write(lambda c: revoke_invitation(c, number, project=small.id, now=NOW))
    with pytest.raises(LateError) as refused:
        accept(store, withdrawn, name="Ann", password="x")
    assert refused.value.code == "link-withdrawn"


def test_a_link_with_some_uses_lets_in_that_many_however_many_come_at_once(store: Store) -> None:
    secret = link(store, project=project(store).id, kind="crowd", uses=5)

    def come(number: int) -> bool:
        try:
            with store.transaction() as connection:
                accept_invitation(connection, secret, worker=f"prolific:{number}", now=NOW)
        except LateError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(come, range(20))) == 5
    assert rows(store, "SELECT COUNT(*) FROM account") == [(5,)]


def test_the_same_worker_gets_the_same_account_in_every_crowd_link_of_a_project(store: Store) -> None:
    small, other = project(store), another_project(store)
    first, second = (link(store, project=small.id, kind="crowd", uses=1) for _ in range(2))
    elsewhere = link(store, project=other.id, kind="crowd")
    account = accept(store, first, worker="prolific:a", parameters={"PROLIFIC_PID": "a"})
    assert accept(store, first, worker="prolific:a") == account  # though it is used up
    assert accept(store, second, worker="prolific:a") == account
    assert accept(store, second, worker="prolific:b") != account
    assert accept(store, elsewhere, worker="prolific:a") != account
    assert rows(store, "SELECT worker, parameters FROM visit ORDER BY id")[0] == (
        "prolific:a",
        '{"PROLIFIC_PID": "a"}',
    )


def test_two_clicks_at_once_make_one_judge_of_one_worker(store: Store) -> None:
    secret = link(store, project=project(store).id, kind="crowd", uses=None)

    def come(_: int) -> int:
        with store.transaction() as connection:
            return accept_invitation(connection, secret, worker="mturk:A1", now=NOW)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(come, range(16)))) == 1


def test_without_a_name_from_the_platform_everybody_is_new_unless_logged_in(store: Store) -> None:
    secret = link(store, project=project(store).id, kind="crowd", uses=None)
    first, second = accept(store, secret), accept(store, secret)
    assert first != second
    assert accept(store, secret, account=first) == first
    assert rows(store, "SELECT COUNT(*) FROM account") == [(2,)]


def test_a_worker_is_not_taken_for_whoever_used_the_browser_before(store: Store) -> None:
    secret = link(store, project=project(store).id, kind="crowd", uses=None)
    first = accept(store, secret, worker="prolific:a")
    assert accept(store, secret, worker="prolific:b", account=first) != first


@pytest.mark.parametrize("role", ["owner", "judge", "gold", "viewer"])
def test_a_named_link_is_not_accepted_by_a_crowd_account(store: Store, role: str) -> None:
    small = project(store)
    worker = accept(store, link(store, project=small.id, kind="crowd"), worker="prolific:a")
    secret = link(store, role=role, project=None if role == "owner" else small.id)
    with pytest.raises(ForbiddenError) as refused:
        accept(store, secret, account=worker)
    assert refused.value.code == "crowd-account"
    person = store.write(lambda c: get_person(c, worker))
    assert (person.owner, person.roles) == (False, {small.id: {"judge"}})
    assert accept(store, secret, name="Ann", password="hash") != worker


@pytest.mark.parametrize("raise_account", [
    "UPDATE account SET owner = TRUE",
    "UPDATE account SET password = 'hash'",
    "UPDATE account SET kind = 'named'",
    "UPDATE member SET role = 'viewer'",
])  # fmt: skip
def test_a_crowd_link_does_not_open_an_account_that_an_earlier_version_raised(store: Store, raise_account: str) -> None:
    secret = link(store, project=project(store).id, kind="crowd", uses=None)
    worker = accept(store, secret, worker="prolific:a")
    store.write(lambda c: c.exec_driver_sql(raise_account))
    for given in ({"worker": "prolific:a"}, {"worker": "prolific:a", "account": worker}):
        with pytest.raises(ForbiddenError) as refused:
            accept(store, secret, **given)
        assert refused.value.code == "raised-crowd-account"


def test_who_is_logged_in_with_a_name_gets_a_crowd_account_beside_it(store: Store) -> None:
    secret = link(store, project=project(store).id, kind="crowd", uses=None)
    ann = store.write(lambda c: create_account(c, kind="named", name="Ann", now=NOW))
    assert accept(store, secret, account=ann) != ann
    assert store.write(lambda c: get_person(c, ann)).roles == {}


def test_a_link_that_asks_for_an_id_makes_no_account_without(store: Store) -> None:
    secret = link(store, project=project(store).id, kind="crowd", uses=None, id_required=True)
    invitation = store.write(lambda c: require_valid_invitation(c, secret, NOW))
    for attempt in (
        lambda c: accept_invitation(c, secret, now=NOW),
        lambda c: require_admission(c, invitation, account=None, worker=None),
    ):
        with pytest.raises(ForbiddenError) as refused:
            store.write(attempt)
        assert refused.value.code == "no-worker-id"
    assert rows(store, "SELECT COUNT(*) FROM account") == [(0,)]


@pytest.mark.parametrize("seen_by", ["account", "browser"])
def test_one_person_has_one_account_in_either_order(store: Store, seen_by: str) -> None:
    secret = link(store, project=project(store).id, kind="crowd", uses=None, one_account=True)
    ids = ("prolific:a", "prolific:b")
    for browser, (first, second) in enumerate((ids, ids[::-1]), start=1):
        own = accept(store, secret, worker=first, browser=str(browser))
        known: dict[str, Any] = {"account": own} if seen_by == "account" else {"browser": str(browser)}
        with pytest.raises(ForbiddenError) as refused:
            accept(store, secret, worker=second, **known)
        assert refused.value.code == "other-worker-id"
        assert accept(store, secret, worker=first, **known) == own
    assert rows(store, "SELECT COUNT(*) FROM account") == [(2,)]


def test_who_came_without_an_id_keeps_the_account_when_the_platform_names_them(store: Store) -> None:
    secret = link(store, project=project(store).id, kind="crowd", uses=None, one_account=True)
    nameless = accept(store, secret)
    assert accept(store, secret, worker="prolific:a", account=nameless) == nameless
    assert accept(store, secret, worker="prolific:a") == nameless
    with pytest.raises(ForbiddenError) as refused:
        accept(store, secret, worker="prolific:b", account=nameless)
    assert refused.value.code == "other-worker-id"


@pytest.mark.contract
def test_two_ids_at_once_in_one_browser_make_one_account(store: Store) -> None:
    secret = link(store, project=project(store).id, kind="crowd", uses=None, one_account=True)

    def come(number: int) -> int | None:
        try:
            with store.transaction() as connection:
                return accept_invitation(connection, secret, worker=f"mturk:{number % 2}", browser="cookie", now=NOW)
        except ForbiddenError:
            return None

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(come, range(16)))
    assert found.count(None) == 8
    assert len(set(found)) == 2
    assert rows(store, "SELECT COUNT(*) FROM account") == [(1,)]


def test_an_erased_worker_comes_back_as_somebody_new(store: Store) -> None:
    from ringtrue.service.store.accounts import erase_account

    secret = link(store, project=project(store).id, kind="crowd", uses=None)
    first = accept(store, secret, worker="prolific:a")
    store.write(lambda c: erase_account(c, first, NOW))
    assert accept(store, secret, worker="prolific:a") != first


def test_the_first_owner_comes_by_a_link_that_works_once(store: Store) -> None:
    lost = store.write(lambda c: invite_first_owner(c, now=NOW))
    secret = store.write(lambda c: invite_first_owner(c, now=NOW + 1))
    assert lost is not None
    assert secret is not None
    with pytest.raises(LateError) as refused:
        accept(store, lost, name="Eve", password="x")
    assert refused.value.code == "link-withdrawn"
    account = accept(store, secret, name="Olga", password="hash")
    assert store.write(lambda c: get_person(c, account)).owner
    assert store.write(has_owner)
    assert store.write(lambda c: invite_first_owner(c, now=NOW)) is None
    with pytest.raises(LateError) as refused:
        accept(store, secret, name="Eve", password="x")
    assert refused.value.code == "link-used"


def test_a_link_for_a_new_password_sets_it_once_and_ends_every_visit(store: Store) -> None:
    ann = store.write(lambda c: create_account(c, kind="named", name="Ann", password_hash="old", now=NOW))
    login, _ = store.write(lambda c: log_in(c, ann, now=NOW, hours=1))
    secret = link(store, role="reset", account=ann, days=1)
    with pytest.raises(UsageError) as refused:
        accept(store, secret)
    assert refused.value.code == "no-password"
    assert accept(store, secret, password="new") == ann
    assert store.write(lambda c: find_password_hash(c, "ann")) == (ann, "new")
    assert store.write(lambda c: authenticate_login(c, login, NOW)) is None
    with pytest.raises(LateError) as refused:
        accept(store, secret, password="another")
    assert refused.value.code == "link-used"


def test_a_link_whose_commit_got_lost_is_one_link(store: Store) -> None:
    small = project(store)
    given: dict[str, Any] = {
        "project": small.id,
        "secret": "drawn before",
        "by": accept(store, link(store, project=small.id), name="Ann", password="x"),
    }
    assert [link(store, **given) for _ in range(2)] == ["drawn before"] * 2
    assert [one.left for one in store.write(lambda c: load_invitations(c, small.id))] == [1, 0]
    assert [one.action for one in store.write(load_audit_entries)] == ["invite", "accept invitation"]


def test_who_came_in_and_lost_the_answer_comes_in_once_more_as_the_same(store: Store) -> None:
    small = project(store)
    secret = link(store, project=small.id)
    ann = accept(store, secret, name="Ann", password="salted")
    assert accept(store, secret, name="Ann", password="salted") == ann
    viewing = link(store, project=small.id, role="viewer")
    assert [accept(store, viewing, account=ann) for _ in range(2)] == [ann, ann]
    reset = link(store, role="reset", account=ann)
    assert [accept(store, reset, password="salted anew") for _ in range(2)] == [ann, ann]
    assert rows(store, "SELECT COUNT(*) FROM account") == [(1,)]
    assert rows(store, "SELECT COUNT(*) FROM visit") == [(3,)]


def test_links_that_make_no_sense_are_refused(store: Store) -> None:
    project(store)
    faults: list[tuple[dict[str, Any], str, str]] = [
        ({"role": "king"}, "bad-invitation", "role"),
        ({"role": "judge"}, "invitation-project", "project"),
        ({"role": "owner", "project": 1}, "invitation-project", "project"),
        ({"role": "reset"}, "invitation-account", "account"),
        ({"role": "viewer", "project": 1, "kind": "crowd"}, "crowd-link-role", "role"),
        ({"project": 1, "id_required": True}, "no-crowd-link", "kind"),
        ({"project": 1, "kind": "crowd", "partial_code": "HALF"}, "no-completion-code", "code"),
        ({"project": 1, "kind": "crowd", "code": "C1", "partial_code": "C1"}, "same-completion-codes", "partial_code"),
        ({"project": 1, "uses": 0}, "not-positive", "uses"),
        ({"project": 1, "days": -1}, "not-positive", "days"),
    ]
    for given, code, parameter in faults:
        with pytest.raises(UsageError) as refused:
            link(store, **given)
        assert (refused.value.code, refused.value.parameter) == (code, parameter)
