from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ringtrue.errors import NotFoundError, UsageError
from ringtrue.service.store import Store
from ringtrue.service.store.accounts import add_member, create_account
from ringtrue.service.store.audit_log import load_audit_entries
from ringtrue.service.store.projects import create_project
from ringtrue.service.store.records import Project
from ringtrue.service.store.sessions import (
    ATTEMPT_LIMITS,
    ATTEMPT_WINDOW,
    authenticate_login,
    authenticate_token,
    clear_login_attempts,
    get_or_create_signing_secret,
    issue_token,
    load_tokens,
    log_in,
    log_out,
    record_login_attempt,
    revoke_token,
)
from service.small_projects import GRADED, NOW, project, rows, settings


def another_project(store: Store) -> Project:
    return store.write(
        lambda c: create_project(c, name="other", title="Other", scale=GRADED, settings=settings(), now=NOW)
    )


@pytest.fixture
def ann(store: Store) -> int:
    return store.write(lambda c: create_account(c, kind="named", name="Ann", now=NOW))


def test_a_visitor_is_known_by_the_secret_with_all_roles(store: Store, ann: int) -> None:
    small, other = project(store), another_project(store)
    secret, csrf = store.write(lambda c: log_in(c, ann, now=NOW, hours=1))
    who, word = store.write(lambda c: authenticate_login(c, secret, NOW + 1))
    assert (who.handle, who.roles, word) == ("ann", {}, csrf)
    for where, role in ((small, "judge"), (small, "viewer"), (other, "gold")):
        store.write(lambda c, where=where, role=role: add_member(c, where.id, ann, role, NOW))
    who, _ = store.write(lambda c: authenticate_login(c, secret, NOW + 1))
    assert who.roles == {small.id: {"judge", "viewer"}, other.id: {"gold"}}


def test_a_visit_ends_with_its_time_or_when_it_is_ended(store: Store, ann: int) -> None:
    first, second = (store.write(lambda c: log_in(c, ann, now=NOW, hours=1))[0] for _ in range(2))
    assert store.write(lambda c: authenticate_login(c, first, NOW + 3599)) is not None
    assert store.write(lambda c: authenticate_login(c, first, NOW + 3600)) is None
    assert store.write(lambda c: authenticate_login(c, first + "x", NOW)) is None
    store.write(lambda c: log_out(c, first))
    assert store.write(lambda c: authenticate_login(c, first, NOW)) is None
    assert store.write(lambda c: authenticate_login(c, second, NOW)) is not None


def test_logging_in_tidies_visits_that_are_over(store: Store, ann: int) -> None:
    for hour in range(5):
        store.write(lambda c, hour=hour: log_in(c, ann, now=NOW + 3600 * hour, hours=1))
    assert rows(store, "SELECT COUNT(*) FROM login") == [(1,)]


def test_no_secret_is_in_the_database(store: Store, ann: int) -> None:
    login, _ = store.write(lambda c: log_in(c, ann, now=NOW, hours=1))
    token = store.write(lambda c: issue_token(c, ann, name="t", scopes=["read"], now=NOW, days=1))
    store.write(lambda c: record_login_attempt(c, handle="ann", address="192.0.2.77", now=NOW))
    kept = repr([rows(store, f"SELECT * FROM {table}") for table in ("login", "token", "attempt")])
    for secret in (login, token, "192.0.2.77", "'ann'"):
        assert secret not in kept


def test_one_who_guesses_is_slowed_down_and_does_not_lock_out_others(store: Store) -> None:
    for _ in range(ATTEMPT_LIMITS["both"]):
        assert store.write(lambda c: record_login_attempt(c, handle="ann", address="192.0.2.1", now=NOW)) == 0
    assert store.write(lambda c: record_login_attempt(c, handle="ann", address="192.0.2.1", now=NOW)) == ATTEMPT_WINDOW
    assert store.write(lambda c: record_login_attempt(c, handle="ann", address="198.51.100.1", now=NOW)) == 0
    assert store.write(lambda c: record_login_attempt(c, handle="bob", address="192.0.2.1", now=NOW)) == 0


def test_many_who_guess_are_slowed_down_for_a_handle_whether_anybody_has_it_or_not(store: Store, ann: int) -> None:
    for handle in ("ann", "nobody"):
        for attempt in range(ATTEMPT_LIMITS["handle"]):
            address = f"192.0.2.{attempt}"
            assert (
                store.write(lambda c, a=address, h=handle: record_login_attempt(c, handle=h, address=a, now=NOW)) == 0
            )
        again = store.write(lambda c, h=handle: record_login_attempt(c, handle=h, address="198.51.100.1", now=NOW + 60))
        assert again == ATTEMPT_WINDOW - 60
        after = store.write(
            lambda c, h=handle: record_login_attempt(c, handle=h, address="198.51.100.1", now=NOW + ATTEMPT_WINDOW)
        )
        assert after == 0


def test_guessing_is_slowed_down_for_an_address_over_many_handles(store: Store) -> None:
    for number in range(ATTEMPT_LIMITS["address"]):
        store.write(lambda c, n=number: record_login_attempt(c, handle=f"h{n}", address="192.0.2.1", now=NOW))
    assert (
        store.write(lambda c: record_login_attempt(c, handle="another", address="192.0.2.1", now=NOW)) == ATTEMPT_WINDOW
    )
    assert store.write(lambda c: record_login_attempt(c, handle="another", address="192.0.2.2", now=NOW)) == 0


def test_an_attempt_that_has_to_wait_does_not_make_the_wait_longer(store: Store) -> None:
    for _ in range(ATTEMPT_LIMITS["both"]):
        store.write(lambda c: record_login_attempt(c, handle="ann", address="192.0.2.1", now=NOW))
    for later in (100, 200, 300):
        wait = store.write(lambda c, t=later: record_login_attempt(c, handle="ann", address="192.0.2.1", now=NOW + t))
        assert wait == ATTEMPT_WINDOW - later


def test_many_attempts_at_once_are_counted_like_any_others(store: Store) -> None:
    def attempt(_: int) -> float:
        return store.write(lambda c: record_login_attempt(c, handle="ann", address="192.0.2.1", now=NOW))

    with ThreadPoolExecutor(8) as pool:
        waits = list(pool.map(attempt, range(40)))
    assert waits.count(0) == ATTEMPT_LIMITS["both"]


def test_the_right_password_is_forgiven_for_the_handle_and_counts_nothing_for_the_address(store: Store) -> None:
    for _ in range(3):
        store.write(lambda c: record_login_attempt(c, handle="bob", address="192.0.2.1", now=NOW))
    for _ in range(ATTEMPT_LIMITS["address"]):
        assert store.write(lambda c: record_login_attempt(c, handle="ann", address="192.0.2.1", now=NOW)) == 0
        store.write(lambda c: clear_login_attempts(c, handle="ann", address="192.0.2.1"))
    assert rows(store, "SELECT COUNT(*) FROM attempt") == [(9,)]


def test_attempts_are_forgotten_after_a_while(store: Store) -> None:
    store.write(lambda c: record_login_attempt(c, handle="ann", address="192.0.2.1", now=NOW))
    store.write(lambda c: record_login_attempt(c, handle="bob", address="192.0.2.2", now=NOW + ATTEMPT_WINDOW))
    assert rows(store, "SELECT COUNT(*) FROM attempt") == [(3,)]


def test_a_token_says_whose_it_is_and_what_for(store: Store, ann: int) -> None:
    small = project(store)
    store.write(lambda c: add_member(c, small.id, ann, "viewer", NOW))
    secret = store.write(lambda c: issue_token(c, ann, name=" nightly ", scopes=["read", "judge"], now=NOW, days=1))
    who, scopes = store.write(lambda c: authenticate_token(c, secret, NOW + 1))
    assert (who.handle, who.roles, scopes) == ("ann", {small.id: {"viewer"}}, {"read", "judge"})
    (listed,) = store.write(lambda c: load_tokens(c, ann))
    assert (listed.name, listed.scopes, listed.expires) == ("nightly", {"read", "judge"}, NOW + 86_400)


def test_a_token_ends_with_its_time_or_when_it_is_revoked(store: Store, ann: int) -> None:
    short = store.write(lambda c: issue_token(c, ann, name="short", scopes=["read"], now=NOW, days=1))
    lasting = store.write(lambda c: issue_token(c, ann, name="lasting", scopes=["read"], now=NOW, days=None))
    late = NOW + 86_400
    assert store.write(lambda c: authenticate_token(c, short, late)) is None
    assert store.write(lambda c: authenticate_token(c, lasting, 10 * late)) is not None
    number = store.write(lambda c: load_tokens(c, ann))[0].id
    bob = store.write(lambda c: create_account(c, kind="named", name="Bob", now=NOW))
    with pytest.raises(NotFoundError) as refused:
        store.write(lambda c: revoke_token(c, number, account=bob, now=NOW))
    assert refused.value.code == "no-such-token"
    store.write(lambda c: revoke_token(c, number, account=ann, now=NOW))
    store.write(lambda c: revoke_token(c, number, account=ann, now=NOW + 5))
    assert store.write(lambda c: authenticate_token(c, lasting, NOW)) is None
    assert store.write(lambda c: load_tokens(c, ann))[0].revoked == NOW


def test_a_token_whose_commit_got_lost_is_one_token(store: Store, ann: int) -> None:
    def issue(connection: Any) -> str:
        return issue_token(
            connection, ann, name="t", scopes=["read"], secret="drawn before", by=ann, days=1, now=NOW
        )  # fmt: skip

    assert [store.write(issue) for _ in range(2)] == ["drawn before"] * 2
    assert len(store.write(lambda c: load_tokens(c, ann))) == 1
    assert [(one.action, one.detail) for one in store.write(load_audit_entries)] == [
        ("issue token", {"scopes": ["read"]})
    ]


def test_tokens_that_make_no_sense_are_refused(store: Store, ann: int) -> None:
    faults: list[tuple[dict[str, Any], str]] = [
        ({"scopes": []}, "no-scope"),
        ({"scopes": ["raed"]}, "unknown-scope"),
        ({"name": " "}, "unnamed-token"),
        ({"days": 0}, "not-positive"),
    ]
    for given, code in faults:
        wanted = {"name": "t", "scopes": ["read"], "now": NOW, "days": 1} | given
        with pytest.raises(UsageError) as refused:
            store.write(lambda c, wanted=wanted: issue_token(c, ann, **wanted))
        assert (refused.value.code, refused.value.parameter) == (code, next(iter(given)))


def test_the_signing_secret_is_drawn_once(store: Store) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(lambda _: store.write(get_or_create_signing_secret), range(8)))
    assert len(found) == 1
    assert len(found.pop()) >= 32
