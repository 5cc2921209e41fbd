"""Whatever is sent to the API, on both databases: an answer in JSON, and never a fault of the server."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ringtrue.service.store import Store
from service.web.pages import code_of
from service.web.programs import Program, World, world

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def here(store: Store) -> Iterator[World]:
    with world(store) as made:
        yield made


def refused(answer: Any, status: int, kind: str) -> str:
    """The message, when the answer is refused as expected."""
    assert (answer.status_code, answer.json()["error"]["kind"]) == (status, kind), answer.text
    message: str = answer.json()["error"]["message"]
    assert "\n" not in message
    return message


BODIES: list[tuple[bytes, int, str]] = [
    (b"{", 400, "malformed"),
    (b"", 400, "malformed"),
    (b'{"queue": "main"} x', 400, "malformed"),
    (b"\xff\xfe{}", 400, "malformed"),
    (b'{"name": "\xff"}', 400, "malformed"),
    (b"[" * 100_000, 400, "malformed"),
    (b"9" * 10_000, 400, "malformed"),
    (b"null", 422, "invalid"),
    (b'"text"', 422, "invalid"),
    (b"NaN", 422, "invalid"),
    (b'{"\\ud800": 1}', 422, "invalid"),
]


@pytest.mark.parametrize("path", ["/projects/news/tasks", "/tasks/1/answers", "/projects", "/projects/news/files"])
def test_a_body_that_is_no_json_is_refused_in_one_line(here: World, path: str) -> None:
    owner = here.owner()
    for body, status, kind in BODIES:
        answer = owner("POST", path, content=body, headers=JSON)
        assert answer.status_code in (status, 400, 422), (body[:30], answer.text)
        refused(answer, answer.status_code, kind if answer.status_code == status else answer.json()["error"]["kind"])


def test_numbers_beyond_the_database_are_refused(here: World) -> None:
    owner = here.owner()
    for number in (0, -1, 2**31, 2**63, 2**64, 10**30):
        for path in (f"/tasks/{number}/next", f"/projects/news/files/{number}", f"/tasks/{number}/questions/{number}"):
            assert owner("GET", path).status_code in (404, 422), path
        for path in (f"/people/{number}", f"/tokens/{number}", f"/projects/news/invitations/{number}"):
            if number > 10:
                assert owner("DELETE", path).status_code in (404, 422), path
        assert owner("POST", f"/tasks/{number}/answers", json={"assignment": 1, "version": 0}).status_code in (404, 422)
    assert owner("GET", f"/projects/news/judgments?after={2**63}").status_code == 422
    assert owner("GET", f"/projects/news/disagreements?offset={2**62}").status_code == 200


@pytest.mark.parametrize("name", ["%00", "a%00b", "%FF", "%ED%A0%80", "NEWS", "a" * 300, "n%65ws%2F", "'; DROP"])
def test_odd_names_in_addresses_are_refused(here: World, name: str) -> None:
    owner = here.owner()
    for path in (f"/projects/{name}", f"/projects/{name}/progress", f"/projects/news/exports/{name}"):
        answer = owner("GET", path)
        assert answer.status_code in (404, 405, 422), path
        assert answer.json()["error"]["message"]


def test_the_character_that_postgresql_refuses_is_refused_in_every_text(here: World) -> None:
    owner = here.owner()
    odd = "a\u0000b"
    tried: list[tuple[str, str, Any]] = [
        ("POST", "/projects", {"name": "a", "title": odd, "scale": {"kind": "preference"}}),
        ("PATCH", "/projects/news", {"guidelines": odd}),
        ("POST", "/projects/news/programs", {"name": odd}),
        ("POST", "/projects/news/invitations", {"note": odd}),
        ("POST", "/projects/news/verdicts", {"item": 1, "answer": "1", "reason": odd}),
        ("POST", "/tokens", {"name": odd, "scopes": ["read"]}),
        ("POST", "/projects/news/files", {"ask": [{"name": odd, "text": "x"}]}),
        ("POST", "/projects/news/gold", {"measures": [odd]}),
    ]
    for method, path, body in tried:
        refused(owner(method, path, json=body), 422, "invalid")
    assert owner("GET", "/projects/news/exports/csv?judge=a%00b").status_code == 422


@pytest.mark.parametrize("text", ["a\u0000b", "\ufffe", "=1+1", "a" * 100_000])
def test_odd_texts_in_files_are_kept_or_refused(here: World, text: str) -> None:
    owner = here.owner()
    document = json.dumps({"_id": "d1", "title": text, "text": text})
    labels = f"query,doc,judge,label\nq1,d1,{text},1\n"
    for path, body in (
        ("files", {"documents": [{"name": "corpus.jsonl", "text": document}]}),
        ("files", {"topics": {"name": "topics.tsv", "text": f"q1\t{text}\n"}}),
        ("files", {"ask": [{"name": "a.run", "text": f"q1 Q0 {text} 1 2.5 x\n"}]}),
        ("imports", {"file": {"name": "labels.csv", "text": labels}}),
    ):
        answer = owner("POST", f"/projects/news/{path}", json=body)
        assert answer.status_code in (200, 422), answer.text


def test_too_much_at_once_is_refused(here: World) -> None:
    owner = here.owner()
    much = b" " * 2_100_000
    message = refused(owner("POST", "/tasks/1/answers", content=much, headers=JSON), 413, "too_large")
    assert "2 MB" in message
    run = ("ask", ("a.run", b"q1 Q0 d1 1 2.5 x\n" * 400_000))
    refused(owner("POST", "/projects/news/files", files=[run]), 413, "too_large")


def test_a_stranger_cannot_send_as_much_as_an_owner(here: World) -> None:
    run = ("ask", ("a.run", b"q1 Q0 d1 1 2.5 x\n" * 200_000))
    assert here.nobody()("POST", "/projects/news/files", files=[run]).status_code == 401


@pytest.mark.slow
def test_unknown_addresses_and_methods_are_told_in_json(here: World) -> None:
    owner = here.owner()
    refused(owner("GET", "/nothing"), 404, "not_found")
    refused(owner("GET", "/projects/"), 404, "not_found")
    answer = owner("PUT", "/projects")
    refused(answer, 405, "not_allowed")
    assert set(answer.headers["allow"].split(", ")) & {"GET", "POST"}
    refused(owner("GET", "/tasks/1/answers"), 405, "not_allowed")


def test_a_database_that_is_locked_is_told_with_when_to_try_again(tmp_path: Path) -> None:
    path = str(tmp_path / "locked.db")
    with Store.open(path, patience=0.2) as store, world(store) as here:
        judge = here.judge()
        step = judge.post("/projects/news/tasks", {})
        said = {"assignment": step["question"]["assignment"], "version": 0, "answer": "1"}
        with sqlite3.connect(path, isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            answer = judge("POST", f"/tasks/{step['task']['id']}/answers", json=said)
            refused(answer, 503, "unavailable")
            assert code_of(answer) == "database-locked"
            assert int(answer.headers["retry-after"]) > 0
            other.execute("ROLLBACK")
        other.close()
        assert not judge.post(f"/tasks/{step['task']['id']}/answers", said)["repeated"]


def test_the_description_is_whole_and_public(here: World) -> None:
    answer = here.nobody()("GET", "/openapi.json")
    told = answer.json()
    assert told["servers"] == [{"url": "/api/v1"}]
    operations = [one for methods in told["paths"].values() for one in methods.values()]
    names = [one["operationId"] for one in operations]
    assert len(names) == len(set(names)) > 40
    for one in operations:
        assert one["summary"]
        assert one["description"]
        assert one["tags"]
        assert one["security"]
        assert {"401", "403", "422", "503"} <= set(one["responses"])
        for status, said in one["responses"].items():
            if int(status) >= 400:
                assert said["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/ErrorResponse"}
    scheme = told["components"]["securitySchemes"]["token"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")


@pytest.mark.slow
def test_the_description_is_also_a_page_without_foreign_hosts(here: World) -> None:
    page = here.runner.run(here.client.get("/api/docs"))
    assert page.status_code == 200
    assert "/tasks/{task}/answers" in page.text
    assert "<script" not in page.text
    assert "https://" not in page.text


def test_answers_of_the_api_carry_the_headers_of_every_page(here: World) -> None:
    answer = here.owner()("GET", "/whoami")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_whole_story_by_program(here: World) -> None:
    """Make, judge twice, look, decide, export: on both databases."""
    owner = here.owner()
    scale = {"kind": "graded", "labels": [{"name": "No"}, {"name": "Yes"}]}
    run = {"name": "a.run", "text": "q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 1.5 x\n"}
    settings = {"judges": 2, "traps": 0, "traps_needed": 0}
    owner.post("/projects", {"name": "story", "title": "Story", "scale": scale, "settings": settings, "ask": [run]})
    for name, answer in (("One", "0"), ("Two", "1")):
        made = owner.post("/projects/story/programs", {"name": name})
        judge = Program(owner.client, owner.runner, made["token"])
        step = judge.post("/projects/story/tasks", {})
        task = step["task"]["id"]
        while step["question"] is not None:
            said = {"assignment": step["question"]["assignment"], "version": 0, "answer": answer}
            step = judge.post(f"/tasks/{task}/answers", said)
        judge.post(f"/tasks/{task}/hand-in")
    assert owner.get("/projects/story/progress")["complete"] == 2
    assert len(owner.get("/projects/story/judgments")["judgments"]) == 4
    first = owner.get("/projects/story/disagreements")["disagreements"][0]
    owner("POST", "/projects/story/verdicts", json={"item": first["item"], "answer": "1"})
    assert owner.get("/projects/story/quality")["labels"] == 4
    assert f"q1 {first['left']['name']} 1" in owner("GET", "/projects/story/exports/qrels-3?which=one").text
    assert owner("DELETE", "/projects/story?confirm=story").status_code == 204
