"""The API asks for the token before it reads anything."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from ringtrue.service.store import Store
from ringtrue.service.store.sessions import load_tokens, revoke_token
from ringtrue.service.web.auth import token_gate
from service.web.programs import Program, World, world

BODIES = [b"{", b"[" * 100_000, b"[]", b'{"queue": 7}', b'{"nothing": 1}', b"\xff\xfe", b"", b"1" * 10_000]
OPERATIONS = ["/projects", "/projects/news/tasks", "/tasks/1/answers", "/whole-tasks/1", "/projects/news/files"]
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def here(web_store: Store) -> Iterator[World]:
    with world(web_store) as made:
        yield made


def strangers(here: World) -> list[Program]:
    """Nobody, and somebody with a token that nobody gave out."""
    return [here.nobody(), Program(here.client, here.runner, "made-up")]


@pytest.mark.parametrize("path", OPERATIONS)
@pytest.mark.parametrize("body", BODIES)
def test_whatever_a_stranger_sends_the_token_is_what_is_missing(here: World, path: str, body: bytes) -> None:
    for stranger in strangers(here):
        refused = stranger("POST", path, content=body, headers=JSON)
        assert (refused.status_code, refused.json()["error"]["kind"]) == (401, "unauthorized")
        assert refused.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("path", OPERATIONS)
def test_nothing_of_a_stranger_s_body_is_read(here: World, path: str) -> None:
    taken = []

    async def endless() -> AsyncIterator[bytes]:
        while True:
            taken.append(1)
            yield b" " * 100_000

    for stranger in strangers(here):
        assert stranger("POST", path, content=endless(), headers=JSON).status_code == 401
    assert not taken


@pytest.mark.parametrize("path", ["/tasks/no-number", "/tasks/1/questions/x", "/projects/news/quality?resamples=-1"])
def test_nothing_of_a_stranger_s_address_is_checked(here: World, path: str) -> None:
    assert [stranger("GET", path).status_code for stranger in strangers(here)] == [401, 401]


def test_who_has_a_token_is_told_what_is_wrong_with_the_body(here: World) -> None:
    owner = here.owner()
    statuses = {body: owner("POST", "/projects/news/tasks", content=body, headers=JSON).status_code for body in BODIES}
    assert statuses[b"{"] == statuses[b"[" * 100_000] == statuses[b"\xff\xfe"] == 400
    assert statuses[b"[]"] == statuses[b'{"queue": 7}'] == statuses[b'{"nothing": 1}'] == statuses[b""] == 422


def test_the_description_needs_no_token(here: World) -> None:
    assert here.nobody()("GET", "/openapi.json").status_code == 200


def test_a_token_that_is_revoked_opens_nothing_though_it_was_known(here: World) -> None:
    owner = here.owner()
    assert owner("GET", "/whoami").status_code == 200

    def revoke(connection: Any) -> None:
        for token in load_tokens(connection, owner.account):
            revoke_token(connection, token.id, account=owner.account, now=here.clock())

    here.store.write(revoke)
    assert owner("GET", "/whoami").status_code == 401
    assert owner("POST", "/projects/news/tasks", json={}).status_code == 401


def test_no_more_tokens_are_remembered_than_there_is_room_for(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_gate, "MAX_KNOWN", 2)
    for name in ("Ann", "Bob", "Cem"):
        assert here.judge(name)("GET", "/whoami").status_code == 200
    assert len(here.app.state.server.known_tokens) == 1
