"""Each kind of work has threads of its own: whoever holds all those for long work delays no log-in and no answer."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest
from fastapi import FastAPI
from starlette.requests import ClientDisconnect
from starlette.types import Message

from ringtrue.errors import UnavailableError
from ringtrue.service.store import Store
from ringtrue.service.store.accounts import set_password
from ringtrue.service.web import work_pools
from ringtrue.service.web.auth.login import hash_password
from ringtrue.service.web.client_presence import CLIENT, SCOPE_KEY, ClientPresence
from ringtrue.service.web.request_logs import CLIENT_LEFT
from ringtrue.service.web.work_pools import WorkPool
from service.web.pages import code_of
from service.web.programs import World, world

PASSWORD = "four words of nonsense"


@pytest.fixture
def here(web_store: Store, cheap_passwords: None) -> Iterator[World]:
    with world(web_store) as made:
        yield made


@contextmanager
def held(pool: WorkPool, count: int, account: int | None = None) -> Iterator[None]:
    """So much work in hand that does not end before the block does."""
    ended = threading.Event()
    futures = [pool.submit(ended.wait, account=account) for _ in range(count)]
    try:
        yield
    finally:
        ended.set()
        for future in futures:
            future.result(10)


def fill(app: FastAPI, name: str) -> Iterator[None]:
    """All threads of a pool busy, and as much waiting for them as may wait."""
    threads = {"heavy": work_pools.HEAVY_THREADS, "overview": work_pools.OVERVIEW_THREADS, "pairs": 2}[name]
    waiting = {"heavy": work_pools.HEAVY_WAITING}.get(name, work_pools.OVERVIEW_WAITING)
    return held(getattr(app.state.server.pools, name), threads + waiting)


@pytest.mark.parametrize("busy", ["heavy", "overview", "pairs"])
def test_a_log_in_goes_through_while_others_hold_all_long_work(
    app: FastAPI, nobody, web_store: Store, account: Callable[..., int], busy: str
) -> None:
    person = account("Lena")
    web_store.write(lambda c: set_password(c, person, hash_password(PASSWORD), now=1.0))
    with fill(app, busy):
        nobody.get("/login")
        entered = nobody.send("/login", handle="lena", password=PASSWORD)
        assert entered.status_code == 303, entered.text
        assert nobody.get("/healthz").status_code == 200


@pytest.mark.parametrize("busy", ["heavy", "overview"])
def test_answers_go_through_while_others_hold_all_long_work(here: World, busy: str) -> None:
    judge = here.judge()
    with fill(here.app, busy):
        step = judge.post("/projects/news/tasks", {})
        said = {"assignment": step["question"]["assignment"], "version": 0, "answer": "1"}
        assert judge.post(f"/tasks/{step['task']['id']}/answers", said)["question"] is not None


def test_judges_pages_go_through_while_others_hold_all_long_work(app: FastAPI, judge, project) -> None:
    with fill(app, "heavy"), fill(app, "overview"):
        assert judge.begin().status_code == 200


def test_an_account_with_too_much_in_hand_is_told_to_wait(here: World) -> None:
    owner, other = here.owner(), here.program("Vera", "read", role="viewer")
    heavy = here.app.state.server.pools.heavy
    with held(heavy, work_pools.HEAVY_PER_ACCOUNT, owner.account):
        refused = owner("GET", "/projects/news/quality?resamples=7")
        assert (refused.status_code, refused.json()["error"]["kind"]) == (429, "too_many")
        assert refused.headers["retry-after"] == "5"
        assert owner("GET", "/projects/news/exports/csv").status_code == 429
        assert owner("GET", "/backup").status_code == 429
        assert owner("GET", "/projects/news/progress").status_code == 200
    assert owner("GET", "/projects/news/quality").status_code == 200
    assert other("GET", "/projects/news/quality").status_code == 200


def test_an_account_that_looks_up_too_much_at_once_is_told_to_wait(here: World) -> None:
    owner, other = here.owner(), here.program("Vera", "read", role="viewer")
    overview = here.app.state.server.pools.overview
    ended = threading.Event()
    futures = [overview.submit(ended.wait, account=owner.account) for _ in range(work_pools.OVERVIEW_PER_ACCOUNT)]
    try:
        refused = owner("GET", "/projects/news/progress")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
    finally:
        ended.set()
    assert [future.result(10) for future in futures]
    assert other("GET", "/projects/news/progress").status_code == 200


def test_a_full_queue_is_told_with_a_time_to_come_back(here: World) -> None:
    with fill(here.app, "heavy"):
        refused = here.owner()("GET", "/projects/news/quality")
        assert (refused.status_code, refused.json()["error"]["kind"]) == (503, "unavailable")
        assert refused.json()["error"]["code"] == "server-busy"
        assert refused.headers["retry-after"]


def test_people_see_a_page_where_there_is_too_much_to_do(app: FastAPI, viewer) -> None:
    heavy = app.state.server.pools.heavy
    with held(heavy, work_pools.HEAVY_PER_ACCOUNT, viewer.account):
        page = viewer.get("/p/news/quality")
        assert (page.status_code, "retry-after" in page.headers) == (429, True)
        assert code_of(page) == "too-many-requests"
    with fill(app, "heavy"):
        page = viewer.get("/p/news/quality")
        assert (page.status_code, "retry-after" in page.headers) == (503, True)
        assert "<h1>" in page.text


def test_those_who_ask_for_the_same_at_once_share_one_answer() -> None:
    pool = WorkPool("test", threads=1, waiting=1, per_account=1)
    ended, runs = threading.Event(), []

    def work() -> str:
        runs.append(ended.wait(10))
        return "answer"

    futures = [pool.submit(work, account=account, share="key") for account in (1, 1, 2, 3, 4)]
    ended.set()
    assert [future.result(10) for future in futures] == ["answer"] * 5
    assert len(runs) == 1
    pool.shutdown()


def test_what_failed_gives_its_place_back() -> None:
    pool = WorkPool("test", threads=1, waiting=0, per_account=1)
    for _ in range(3):
        future = pool.submit(lambda: 1 / 0, account=1, share="key")
        assert isinstance(future.exception(10), ZeroDivisionError)
        deadline = time.monotonic() + 10
        while pool.in_hand:
            assert time.monotonic() < deadline
            time.sleep(0.001)
    with held(pool, 1, 1), pytest.raises(UnavailableError):
        pool.submit(lambda: None, account=2)
    pool.shutdown()


def test_threads_that_touch_the_database_are_fewer_than_its_connections(tmp_path) -> None:
    threads = (
        work_pools.READER_THREADS,
        work_pools.OVERVIEW_THREADS,
        work_pools.HEAVY_THREADS,
        work_pools.PAIR_THREADS,
        1,  # which writes
    )
    with Store.open(str(tmp_path / "a.db")) as store:
        assert sum(threads) < store.engine.pool.size()  # type: ignore[attr-defined]


def test_work_is_called_off_when_all_who_wait_for_it_have_left_and_not_before() -> None:
    pool = WorkPool("test", threads=1, waiting=10)
    first, second, third = ClientPresence(), ClientPresence(), ClientPresence()
    done: list[str] = []

    async def ask(client: ClientPresence, name: str) -> None:
        CLIENT.set(client)
        await pool.run(lambda: done.append(name), share=name)

    async def ask_and_leave() -> list[BaseException | None]:
        with held(pool, 1):
            asked = [ask(first, "both"), ask(second, "both"), ask(third, "one")]
            tasks = [asyncio.create_task(work) for work in asked]
            while pool.in_hand < 3:
                await asyncio.sleep(0)
            for client in (first, third):
                client.leave()
            await asyncio.wait(tasks[2:])
            with pytest.raises(ClientDisconnect):
                await ask(third, "after that")
        return await asyncio.gather(*tasks, return_exceptions=True)

    outcomes = asyncio.run(ask_and_leave())
    pool.shutdown()
    assert done == ["both"]
    assert [type(outcome) for outcome in outcomes] == [type(None), type(None), ClientDisconnect]
    assert (pool.in_hand, pool._clients) == (0, {})


def test_what_was_called_off_is_let_go_though_all_threads_are_busy() -> None:
    pool = WorkPool("test", threads=1, waiting=1)

    class Files:
        """What somebody sent, as large as may be."""

    with held(pool, 1):
        files = Files()
        is_kept = weakref.ref(files)
        future = pool.submit(partial(id, files))
        del files
        assert is_kept() is not None
        future.cancel()
        gc.collect()
        assert is_kept() is None
    assert pool.submit(lambda: 1).result(10) == 1
    pool.shutdown()


def test_a_request_whose_client_left_counts_as_that_and_is_no_fault(here: World) -> None:
    async def ask() -> int:
        statuses: list[int] = []

        async def send(message: Message) -> None:
            statuses.append(message.get("status", 0))

        client = ClientPresence()
        client.leave()
        scope = {"type": "http", "method": "GET", "path": "/api/v1/projects", "raw_path": b"/api/v1/projects"}
        headers = [(b"authorization", f"Bearer {here.owner().token}".encode())]
        await here.app(scope | {"query_string": b"", "headers": headers, SCOPE_KEY: client}, no_body, send)
        return statuses[0]

    assert asyncio.run(ask()) == CLIENT_LEFT


async def no_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}
