"""Lanes answer as the routes beside them do."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from fastapi import FastAPI

from ringtrue.service.store import Store
from ringtrue.service.store.records import Project
from ringtrue.service.web.app import create_app
from ringtrue.service.web.fast_path import FastRoute
from service.web.programs import World, world

ADDED = ("date", "content-length")
ANSWER = {"assignment": 1, "version": 0, "answer": "1"}
REQUESTS = [
    ("GET", "/tasks/1/next", {}),
    ("GET", "/tasks/9/next", {}),
    ("GET", "/tasks/0/next", {}),
    ("GET", "/tasks/-1/next", {}),
    ("GET", f"/tasks/{2**64}/next", {}),
    ("GET", "/tasks/1/next/", {}),
    ("PUT", "/tasks/1/next", {}),
    ("POST", "/tasks/1/answers", {"json": ANSWER | {"version": 7}}),
    ("POST", "/tasks/1/answers", {"json": ANSWER | {"answer": "no such"}}),
    ("POST", "/tasks/1/answers", {"json": {"assignment": "1"}}),
    ("POST", "/tasks/1/answers", {"content": b"{"}),
    ("POST", "/tasks/1/answers", {"content": b"x" * 3_000_000}),
]


@pytest.fixture
def here(web_store: Store) -> Iterator[World]:
    with world(web_store) as made:
        yield made


def told(answer: httpx.Response) -> tuple[int, str, dict[str, str]]:
    return answer.status_code, answer.text, {k: v for k, v in answer.headers.items() if k not in ADDED}


@pytest.mark.parametrize(("method", "path", "sent"), REQUESTS)
def test_a_lane_of_the_api_answers_in_the_words_and_headers_of_its_route(
    here: World, method: str, path: str, sent: dict[str, object]
) -> None:
    judge = here.judge()
    judge.post("/projects/news/tasks", {})
    straight = told(judge(method, path, **sent))
    here.app.fast_routes.clear()
    around = told(judge(method, path, **sent))
    assert straight[2] == around[2]
    if "/0/" not in path:  # a number that is none of the database is refused in other words, with 404 or 422
        assert straight == around


@pytest.mark.parametrize("path", ["/p/news/judge", "/p/news/judge?task=99", "/p/none/judge", "/p/news/judge?task=x"])
def test_a_lane_of_the_pages_answers_in_the_words_and_headers_of_its_route(
    app: FastAPI, judge, viewer, nobody, path: str
) -> None:
    def seen() -> list[tuple[int, str, dict[str, str]]]:
        return [told(one.get(path)) for one in (judge, viewer, nobody)]

    straight = seen()
    app.fast_routes.clear()
    assert seen() == straight


def test_a_form_on_a_lane_needs_the_word_of_its_login(judge, project: Project) -> None:
    judge.get("/")
    assert judge.post("/p/news/answer", {"assignment": "1", "version": "0", "answer": "1"}).status_code == 403


def test_a_fault_on_a_lane_is_logged_without_its_address(
    web_store: Store, clock, visit, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_request: object) -> None:
        raise ZeroDivisionError("a secret of ours")

    made = create_app(web_store, secret=b"s", clock=clock)
    made.add_fast_routes([FastRoute(method="GET", path="/broken/{word}", endpoint=broken, app=made)])
    page = visit(of=made).get("/broken/s3cret")
    assert page.status_code == 500
    assert page.headers["x-frame-options"] == "DENY"
    assert "GET /broken/{word} failed" in caplog.text
    assert "s3cret" not in caplog.text
