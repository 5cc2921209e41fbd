"""Who may see and do what on the owner's pages."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from ringtrue.service.store import Store
from ringtrue.service.store.audit_log import load_audit_entries
from ringtrue.service.store.records import Project
from ringtrue.service.web.auth.dependencies import list_unguarded_routes
from ringtrue.service.web.owner import adjudication, administration, exports, people, progress, projects
from service.web.owner.stories import said

ROUTES = [
    (method, route.path)
    for part in (adjudication, exports, people, progress, projects, administration)
    for route in part.router.routes
    if isinstance(route, APIRoute)
    for method in sorted(route.methods)
]
FOR_VIEWERS = {"/p/{project}", "/p/{project}/quality", "/p/{project}/exports", "/p/{project}/exports/{key}"}
FOR_EVERYBODY = {"/tokens", "/tokens/{token}/revoke"}


def filled(path: str) -> str:
    numbers = dict.fromkeys(("item", "upload", "invitation", "account", "task", "token"), 1)
    return path.format(project="news", key="csv", **numbers)


def test_every_page_is_guarded(app: FastAPI) -> None:
    assert list_unguarded_routes(app) == []
    assert len(ROUTES) > 35


def asked(visitor: Any, method: str, path: str) -> Any:
    """Ask for a page, or send a form with the word of the login."""
    visitor.get("/")
    return visitor.request(method, filled(path), data=visitor.hidden() if method == "POST" else None)


def test_nobody_who_is_not_logged_in_sees_or_does_anything(nobody: Any, project: Project) -> None:
    for method, path in ROUTES:
        assert nobody.request(method, filled(path)).status_code in (303, 401), (method, path)


def test_judges_see_none_of_it(judge: Any, project: Project) -> None:
    for method, path in ROUTES:
        if path == "/p/{project}":
            assert asked(judge, method, path).headers["location"] == "/p/news/judge"
        elif path not in FOR_EVERYBODY:
            assert asked(judge, method, path).status_code == 403, (method, path)


def test_viewers_see_progress_quality_and_exports_and_change_nothing(viewer: Any, project: Project) -> None:
    for method, path in ROUTES:
        answer = asked(viewer, method, path)
        if path in FOR_VIEWERS:
            assert answer.status_code in (200, 422), (method, path)
            assert "Settings" not in said(answer)
        elif path not in FOR_EVERYBODY:
            assert answer.status_code == 403, (method, path)


def test_a_form_without_the_word_of_the_login_does_nothing(owner: Any, project: Project, web_store: Store) -> None:
    for method, path in ROUTES:
        if method == "POST":
            for sent in ({}, {"csrf": "guessed"}):
                assert owner.post(filled(path), sent | {"typed": "news"}).status_code == 403, path
    with web_store.read() as connection:
        assert load_audit_entries(connection) == []


def test_gold_judges_are_led_to_their_queue(gold_judge: Any, project: Project) -> None:
    assert gold_judge.get("/p/news").headers["location"] == "/p/news/judge?queue=gold"


@pytest.mark.parametrize("path", ["/p/nothing", "/p/nothing/people", "/p/news/adjudicate/99", "/people/99/erase"])
def test_what_is_not_there_is_a_page_that_says_so(owner: Any, project: Project, path: str) -> None:
    answer = owner.get(path)
    assert answer.status_code == 404
    assert "no" in said(answer)


@pytest.mark.parametrize("path", ["/p/news/adjudicate/x", f"/p/news/files/{2**70}", "/people/-1/erase"])
def test_a_number_that_is_none_is_refused(owner: Any, project: Project, path: str) -> None:
    assert owner.get(path).status_code == 422


@pytest.mark.slow
def test_every_page_of_an_empty_project_is_there_and_shows_no_number_that_is_none(owner: Any, project: Project) -> None:
    pages = ("", "people", "quality", "adjudicate", "gold", "exports", "files", "import", "settings", "delete", "audit")
    for page in pages:
        answer = owner.get(f"/p/news/{page}".rstrip("/"))
        assert answer.status_code == 200, (page, answer.text)
        assert not {"nan", "none", "undefined"} & set(said(answer).lower().split()), page
