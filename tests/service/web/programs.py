"""Programs that use the API of a server in the same process, and a small world for them to work in."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
from fastapi import FastAPI
from starlette.routing import Mount

from ringtrue.service.store import PREFERENCE, Scale, Settings, Store
from ringtrue.service.store.accounts import add_member, create_account
from ringtrue.service.store.items import add_documents, add_items, add_queries
from ringtrue.service.store.projects import create_project
from ringtrue.service.store.sessions import issue_token
from ringtrue.service.web.api.application import PATH as API_PATH
from ringtrue.service.web.app import create_app

NOW = 1_800_000_000.0
SCALE = Scale.graded("Not relevant", "Partly", "Relevant")
IDLE: list[FastAPI] = []  # applications whose test has ended
SETTINGS = Settings(judges=2, task_size=4, traps=0, traps_needed=0)


@dataclass
class Clock:
    """The time that the server goes by."""

    now: float = NOW

    def __call__(self) -> float:
        return self.now


@dataclass
class Program:
    """A program with a token."""

    client: httpx.AsyncClient
    runner: asyncio.Runner
    token: str | None
    account: int | None = None

    def __call__(self, method: str, path: str, **given: Any) -> httpx.Response:
        """Send a request below /api/v1."""
        headers = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        return self.runner.run(
            self.client.request(method, f"/api/v1{path}", headers=headers | given.pop("headers", {}), **given)
        )

    def get(self, path: str, **given: Any) -> Any:
        """What is answered to a GET that is expected to succeed."""
        return _fine(self("GET", path, **given))

    def post(self, path: str, body: Any = None, **given: Any) -> Any:
        """The same for a POST."""
        return _fine(self("POST", path, json=body, **given) if body is not None else self("POST", path, **given))


def _fine(answer: httpx.Response) -> Any:
    assert answer.is_success, f"{answer.status_code}: {answer.text}"
    return answer.json() if answer.content else None


@dataclass
class World:
    """A server with an owner's program, and ways to add others."""

    store: Store
    app: FastAPI
    clock: Clock
    runner: asyncio.Runner
    client: httpx.AsyncClient

    def program(self, name: str, *scopes: str, owner: bool = False, project: str = "news", role: Any = None) -> Program:
        """A new account with a token, and with a role in a project where one is given."""

        def made(connection: Any) -> tuple[int, str]:
            from ringtrue.service.store.projects import get_project_by_name

            account = create_account(connection, kind="named", name=name, owner=owner, now=self.clock())
            if role is not None:
                add_member(connection, get_project_by_name(connection, project).id, account, role, self.clock())
            return account, issue_token(connection, account, name=name, scopes=scopes, now=self.clock(), days=None)

        account, token = self.store.write(made)
        return Program(self.client, self.runner, token, account)

    def owner(self) -> Program:
        """An owner whose token may do everything."""
        return self.program("Olga Owner", "judge", "read", "manage", owner=True)

    def judge(self, name: str = "Jan Judge") -> Program:
        """A judge of the project `news`."""
        return self.program(name, "judge", role="judge")

    def nobody(self) -> Program:
        """A program without a token."""
        return Program(self.client, self.runner, None)


@contextmanager
def server_on(store: Store, **settings: Any) -> Iterator[FastAPI]:
    """A server in this process.

    What FastAPI makes of its routes when they are first asked for takes longer than most tests, so an application
    whose test has ended is lent to the next; all that a server knows is in its context, which is made anew.
    """
    made = create_app(store, **settings)
    app, server = IDLE.pop() if IDLE else made, made.state.server
    for part in (app, *(route.app for route in app.routes if isinstance(route, Mount) and route.path == API_PATH)):
        part.state.server = server
    routes = len(app.routes)
    try:
        yield app
    finally:
        server.close()
        if len(app.routes) == routes:  # else a test gave it routes of its own
            IDLE.append(app)


@contextmanager
def world(store: Store, *, upload_limit: int = 5_000_000) -> Iterator[World]:
    """A server on a store, with the projects `news` (six documents to grade) and `sides` (two pairs)."""
    store.write(_filled)
    clock = Clock()
    settings = {"secret": b"a secret of the tests", "upload_limit": upload_limit, "clock": clock}
    with server_on(store, **settings) as app, asyncio.Runner() as runner:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        client = httpx.AsyncClient(transport=transport, base_url="http://ringtrue.test")
        yield World(store, app, clock, runner, client)
        runner.run(client.aclose())


def _filled(connection: Any) -> None:
    rng = np.random.default_rng(1)
    news = create_project(connection, name="news", title="News", scale=SCALE, settings=SETTINGS, now=NOW)
    add_queries(connection, news.id, [{"name": "q1", "text": "old bridges"}, {"name": "q2", "text": "new roads"}])
    add_documents(connection, news.id, [{"name": f"d{at}", "text": f"Text {at} of a bridge"} for at in range(6)])
    items = [{"query": f"q{1 + at % 2}", "doc": f"d{at}"} for at in range(6)]
    add_items(connection, news, items, queue="main", wanted=2, rng=rng)
    sides = create_project(connection, name="sides", title="Sides", scale=PREFERENCE, settings=SETTINGS, now=NOW)
    pairs = [{"query": "q1", "doc": "d1", "other": "d2"}, {"query": "q1", "doc": "d1", "other": "d3"}]
    add_items(connection, sides, pairs, queue="main", wanted=2, rng=rng)
