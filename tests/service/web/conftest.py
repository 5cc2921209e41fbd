"""A server in the same process, and people who visit it with a browser's manners: cookies, forms, redirects."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI

from ringtrue.cli.shell_words import ShellSpelling
from ringtrue.service.store import Scale, Settings, Store
from ringtrue.service.store.accounts import add_member, create_account
from ringtrue.service.store.projects import create_project
from ringtrue.service.store.records import Project
from ringtrue.service.store.sessions import log_in
from ringtrue.service.web.auth import login
from service.web.programs import server_on

SECRET = b"a secret of the tests"
FIELD = re.compile(r"<input\b[^>]*>")


@dataclass
class Clock:
    """The time that the server goes by."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Visitor:
    """A browser: it keeps cookies, and fills in the hidden fields of the last page's forms."""

    client: httpx.AsyncClient
    runner: asyncio.Runner
    account: int | None = None
    page: httpx.Response | None = field(default=None, repr=False)

    def get(self, path: str, **given: Any) -> httpx.Response:
        return self._kept(self.client.get(path, **given))

    def post(self, path: str, data: dict[str, Any] | None = None, **given: Any) -> httpx.Response:
        """Send exactly this."""
        return self._kept(self.client.post(path, data=data, **given))

    def send(self, path: str, **fields: Any) -> httpx.Response:
        """Send a form of the last page: its hidden fields, and these."""
        assert self.page is not None, "no page was looked at"
        return self.post(path, self.hidden() | fields)

    def begin(self, project: str = "news", queue: str | None = None) -> httpx.Response:
        """Look at the judge's page, and press the button that begins a task where there is one; what follows."""
        page = self.get(f"/p/{project}/judge{'' if queue is None else f'?queue={queue}'}")
        if f'method="post" action="/p/{project}/judge"' in page.text:
            page = self.send(f"/p/{project}/judge")
        return self.get(page.headers["location"]) if page.status_code == 303 else page

    def hidden(self) -> dict[str, str]:
        """The hidden fields of the last page."""
        assert self.page is not None
        found = {}
        for field_ in FIELD.findall(self.page.text):
            if 'type="hidden"' in field_:
                found[_attribute(field_, "name")] = _attribute(field_, "value")
        return found

    def request(self, method: str, path: str, **given: Any) -> httpx.Response:
        return self._kept(self.client.request(method, path, **given))

    def _kept(self, work: Any) -> httpx.Response:
        answer: httpx.Response = self.runner.run(_awaited(work))
        self.page = answer
        return answer


async def _awaited(work: Any) -> httpx.Response:
    return await work


def _attribute(field_: str, name: str) -> str:
    found = re.search(rf'\b{name}="([^"]*)"', field_)
    return unescape(found.group(1)) if found else ""


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of temporary files for each test, in which forms keep what was chosen."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def web_store(sqlite_path: Path) -> Iterator[Store]:
    """An SQLite file with nothing but its tables."""
    with Store.open(str(sqlite_path)) as store:
        yield store


@pytest.fixture(scope="session")
def cheap_hasher() -> PasswordHasher:
    """Argon2 as the server has it, at the least cost there is."""
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture
def cheap_passwords(cheap_hasher: PasswordHasher, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each password costs a fifth of a second; what that buys is tested where no server is asked for."""
    monkeypatch.setattr(login, "HASHER", cheap_hasher)
    monkeypatch.setattr(login, "DUMMY_HASH", cheap_hasher.hash("a password that nobody has"))


@pytest.fixture
def app(web_store: Store, clock: Clock, cheap_passwords: None) -> Iterator[FastAPI]:
    with server_on(web_store, secret=SECRET, upload_limit=3_000_000, clock=clock, spelling=ShellSpelling()) as made:
        yield made


@pytest.fixture
def visit(app: FastAPI) -> Iterator[Callable[..., Visitor]]:
    """Somebody new with a browser of their own; `account` is logged in already."""
    with asyncio.Runner() as runner:
        clients = []

        def come(account: int | None = None, *, address: str = "192.0.2.1", of: FastAPI = app) -> Visitor:
            transport = httpx.ASGITransport(of, raise_app_exceptions=False, client=(address, 4000))
            client = httpx.AsyncClient(transport=transport, base_url="http://ringtrue.test")
            clients.append(client)
            if account is not None:
                site = of.state.server
                secret, _ = site.store.write(lambda c: log_in(c, account, now=site.clock(), hours=1))
                client.cookies.set(site.session_cookie, site.sign(secret, "login"), domain="ringtrue.test")
            return Visitor(client, runner, account)

        yield come
        for client in clients:
            runner.run(client.aclose())


@pytest.fixture
def project(web_store: Store, clock: Clock) -> Project:
    """A project `news` with a graded scale, two judges each, and no items."""
    return web_store.write(
        lambda c: create_project(
            c, name="news", title="News of 1994", scale=Scale.graded("Not relevant", "Partly", "Relevant"),
            settings=Settings(judges=2, task_size=4, traps=0, traps_needed=0), guidelines="Read **all** of it.",
            now=clock(),
        )
    )  # fmt: skip


@pytest.fixture
def account(web_store: Store, clock: Clock) -> Callable[..., int]:
    """A new account, with a role in a project where one is given."""

    def make(name: str, project: Project | None = None, role: Any = None, *, owner: bool = False) -> int:
        def work(connection: Any) -> int:
            made = create_account(
                connection, kind="named", name=name, owner=owner, password_hash="unusable", now=clock()
            )
            if project is not None:
                add_member(connection, project.id, made, role, clock())
            return made

        return web_store.write(work)

    return make


@pytest.fixture
def owner(visit: Callable[..., Visitor], account: Callable[..., int]) -> Visitor:
    return visit(account("Olga Owner", owner=True))


@pytest.fixture
def judge(visit: Callable[..., Visitor], account: Callable[..., int], project: Project) -> Visitor:
    return visit(account("Jan Judge", project, "judge"))


@pytest.fixture
def gold_judge(visit: Callable[..., Visitor], account: Callable[..., int], project: Project) -> Visitor:
    return visit(account("Greta Gold", project, "gold"))


@pytest.fixture
def viewer(visit: Callable[..., Visitor], account: Callable[..., int], project: Project) -> Visitor:
    return visit(account("Vera Viewer", project, "viewer"))


@pytest.fixture
def nobody(visit: Callable[..., Visitor]) -> Visitor:
    return visit()
