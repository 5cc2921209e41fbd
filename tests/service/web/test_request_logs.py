"""Ids of requests, and the lines that are written about them."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi import FastAPI

from ringtrue.service.store import Store
from ringtrue.service.web.request_logs import REQUEST_ID, REQUEST_LOGGER, JsonFormatter, TextFormatter
from service.web.conftest import Visitor
from service.web.programs import server_on

MADE = re.compile("[0-9a-f]{16}")


@pytest.fixture
def lines() -> Iterator[list[dict[str, Any]]]:
    """What is written as JSON, line by line."""
    written: list[dict[str, Any]] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(json.loads(JsonFormatter().format(record)))

    handler, level = Keeping(), REQUEST_LOGGER.level
    REQUEST_LOGGER.addHandler(handler)
    REQUEST_LOGGER.setLevel(logging.INFO)
    yield written
    REQUEST_LOGGER.removeHandler(handler)
    REQUEST_LOGGER.setLevel(level)


@pytest.fixture
def behind_proxy(web_store: Store, clock: Any, visit: Callable[..., Visitor]) -> Iterator[Visitor]:
    """Somebody who comes through a proxy."""
    with server_on(web_store, secret=b"s", clock=clock, base_url="http://ringtrue.test") as app:
        yield visit(of=app)


def test_every_answer_has_an_id_of_its_own(nobody: Any) -> None:
    ids = [nobody.get(path).headers["x-request-id"] for path in ("/login", "/nothing", "/static/style.css", "/login")]
    assert all(MADE.fullmatch(request_id) for request_id in ids)
    assert len(set(ids)) == 4


def test_the_id_of_a_proxy_is_taken_over_where_there_is_one(nobody: Any, behind_proxy: Any) -> None:
    given = {"X-Request-ID": "7f3a-4c.Proxy_1"}
    assert behind_proxy.get("/login", headers=given).headers["x-request-id"] == "7f3a-4c.Proxy_1"
    assert MADE.fullmatch(nobody.get("/login", headers=given).headers["x-request-id"])


@pytest.mark.parametrize("odd", ["short", "x" * 65, "with space in it", "<script>alert</script>", '{"a": "bbb"}', ""])
def test_an_id_that_is_not_well_formed_is_replaced(behind_proxy: Any, odd: str) -> None:
    assert MADE.fullmatch(behind_proxy.get("/login", headers={"X-Request-ID": odd}).headers["x-request-id"])


def test_error_pages_and_errors_of_the_api_name_it(nobody: Any) -> None:
    page = nobody.get("/nothing/here")
    assert f"<code>{page.headers['x-request-id']}</code>" in page.text
    error = nobody.get("/api/v1/whoami")
    assert error.json()["error"]["request_id"] == error.headers["x-request-id"]


def test_a_line_tells_route_status_time_and_account_and_nothing_secret(
    owner: Any, nobody: Any, project: Any, lines: list[dict[str, Any]]
) -> None:
    owner.get("/p/news?secret=s3cret")
    nobody.get("/welcome/s3cret")
    nobody.get("/s3cret")
    nobody.get("/api/v1/projects/s3cret")
    nobody.get("/api/v1/s3cret")
    nobody.get("/static/s3cret.css")
    assert [(line["method"], line["route"], line["status"], line["account"]) for line in lines] == [
        ("GET", "/p/{project}", 200, owner.account),
        ("GET", "/welcome/{secret}", 404, None),
        ("GET", "unmatched", 404, None),
        ("GET", "/api/v1/{path}", 401, None),
        ("GET", "/api/v1/{path}", 401, None),
        ("GET", "/static/{path}", 404, None),
    ]
    assert all(MADE.fullmatch(line["request_id"]) and 0 <= line["ms"] < 60_000 for line in lines)
    assert "s3cret" not in json.dumps(lines)
    assert "Olga" not in json.dumps(lines)


def test_a_token_is_known_by_the_number_of_its_account(web_store: Store, lines: list[dict[str, Any]]) -> None:
    from service.web.programs import world

    with world(web_store) as here:
        owner, judge = here.owner(), here.judge()
        owner.get("/whoami")
        judge.post("/projects/news/tasks", {})
    assert [line["account"] for line in lines] == [owner.account, judge.account]


def test_nothing_is_written_unless_it_is_asked_for(nobody: Any, caplog: pytest.LogCaptureFixture) -> None:
    nobody.get("/login")
    assert not REQUEST_LOGGER.isEnabledFor(logging.INFO)
    assert caplog.text == ""


def test_a_fault_is_found_by_the_id_that_its_page_shows(
    nobody: Any, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries: list[str] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            entries.append(JsonFormatter().format(record))
            entries.append(TextFormatter().format(record))

    monkeypatch.setattr("ringtrue.service.web.auth.login.render_public_form", lambda *_, **__: 1 / 0)
    handler = Keeping()
    logging.getLogger("ringtrue").addHandler(handler)
    try:
        page = nobody.get("/login")
    finally:
        logging.getLogger("ringtrue").removeHandler(handler)
    assert page.status_code == 500
    request_id = page.headers["x-request-id"]
    assert f"<code>{request_id}</code>" in page.text
    as_json, as_text = json.loads(entries[0]), entries[1]
    assert (as_json["request_id"], as_json["level"]) == (request_id, "error")
    assert "GET /login" in as_json["message"]
    assert "ZeroDivisionError" in as_json["traceback"]
    assert f"ERROR [{request_id}] {as_json['message']}\nTraceback" in as_text


def test_outside_of_a_request_there_is_no_id() -> None:
    record = logging.LogRecord("ringtrue", logging.WARNING, "", 1, "the %s", ("message",), None)
    assert REQUEST_ID.get() == ""
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z WARNING \[-\] the message", TextFormatter().format(record))
    assert "request_id" not in json.loads(JsonFormatter().format(record))
