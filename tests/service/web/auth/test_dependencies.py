"""Who may see and send what: no route without a guard, no form without its word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends, FastAPI, Request
from starlette.responses import PlainTextResponse

from ringtrue.service.store import Store
from ringtrue.service.store.accounts import erase_account, remove_member
from ringtrue.service.store.records import Project
from ringtrue.service.web.app import create_app
from ringtrue.service.web.auth.dependencies import (
    JudgeAccess,
    RequestContext,
    get_judge_access,
    list_unguarded_routes,
    public,
    require_login,
    require_member,
    require_project_owner,
    require_server_owner,
    require_server_owner_upload,
    require_viewer,
)

GUARDS: dict[str, Callable[..., Any]] = {
    "signed-in": require_login, "owner-only": require_server_owner, "owner": require_project_owner,
    "viewer": require_viewer, "member": require_member,
}  # fmt: skip


@pytest.fixture
def app(web_store: Store, clock) -> FastAPI:
    """The server, with a route for each guard that says who came in."""
    made = create_app(web_store, secret=b"s", clock=clock, upload_limit=3_000_000)
    router = APIRouter()
    for name, guard in GUARDS.items():

        async def who(here: RequestContext) -> PlainTextResponse:
            return PlainTextResponse(f"{here.person.handle} {here.text('said')}".strip())

        who.__annotations__["here"] = Annotated[RequestContext, Depends(guard)]
        path = f"/guard/{name}" if guard in (require_login, require_server_owner) else f"/p/{{project}}/guard/{name}"
        router.add_api_route(path, who, methods=["GET", "POST"])

    @router.api_route("/p/{project}/gate", methods=["GET", "POST"])
    async def gate(gate: Annotated[JudgeAccess, Depends(get_judge_access)]) -> PlainTextResponse:
        ask = gate.read if gate.request.method == "GET" else gate.write
        return PlainTextResponse(await ask(lambda c, here: here.person.handle))

    @router.post("/guard/upload")
    async def upload(here: Annotated[RequestContext, Depends(require_server_owner_upload)]) -> PlainTextResponse:
        return PlainTextResponse(str(len(here.form.getlist("file"))))

    made.include_router(router)
    made.router.routes.insert(0, made.router.routes.pop())
    return made


def test_every_route_is_guarded_or_declared_public(web_store: Store) -> None:
    assert list_unguarded_routes(create_app(web_store, secret=b"s")) == []


def test_a_route_without_a_guard_is_found_wherever_it_hides(app: FastAPI) -> None:
    async def forgotten(request: Request) -> None: ...

    @public
    async def meant() -> None: ...

    inner = FastAPI(openapi_url=None)
    inner.add_api_route("/deep", forgotten, methods=["POST"])
    router = APIRouter()
    router.add_api_route("/shallow", forgotten)
    router.add_api_route("/meant", meant)
    router.add_api_route("/named", forgotten, name="openapi")
    app.include_router(router)
    app.mount("/inner", inner)
    app.add_route("/plain", forgotten)
    found = list_unguarded_routes(app)
    assert sorted(found) == ["GET /named", "GET /shallow", "GET,HEAD /plain", "POST /inner/deep"]


EXPECTED = {
    #              nobody judge gold viewer owner stranger
    "/guard/signed-in": (303, 200, 200, 200, 200, 200),
    "/guard/owner-only": (303, 403, 403, 403, 200, 403),
    "/p/news/guard/owner": (303, 403, 403, 403, 200, 404),
    "/p/news/guard/viewer": (303, 403, 403, 200, 200, 404),
    "/p/news/guard/member": (303, 200, 200, 200, 200, 404),
    "/p/news/gate": (303, 200, 200, 403, 403, 404),
    "/p/none/guard/viewer": (303, 404, 404, 404, 404, 404),
}


@pytest.mark.parametrize("path", EXPECTED)
def test_each_guard_lets_in_those_it_is_for(
    path: str, nobody, judge, gold_judge, viewer, owner, visit, account
) -> None:
    everybody = (nobody, judge, gold_judge, viewer, owner, visit(account("Stranger")))
    assert tuple(one.get(path).status_code for one in everybody) == EXPECTED[path]


def test_a_project_that_is_not_for_one_looks_like_one_that_does_not_exist(project: Project, visit, account) -> None:
    stranger = visit(account("Stranger"))
    there, not_there = stranger.get("/p/news/guard/viewer"), stranger.get("/p/none/guard/viewer")
    shown = [page.text.replace(page.headers["x-request-id"], "") for page in (there, not_there)]
    assert shown[0].replace("news", "none") == shown[1]


@pytest.mark.parametrize("path", ["/p/news/guard/member", "/p/news/gate"])
def test_a_form_needs_the_word_of_its_login(path: str, judge, gold_judge) -> None:
    judge.get("/")
    word = judge.hidden()["csrf"]
    gold_judge.get("/")
    for wrong in ({}, {"csrf": ""}, {"csrf": word[:-1]}, {"csrf": "ä"}, {"csrf": gold_judge.hidden()["csrf"]}):
        assert judge.post(path, wrong).status_code == 403
    assert judge.post(path, {"csrf": word}).text == "jan-judge"
    assert judge.post(path, headers={"X-CSRF-Token": word}).text == "jan-judge"


def test_a_word_that_comes_as_a_file_is_none(judge) -> None:
    judge.get("/")
    word = judge.hidden()["csrf"]
    assert judge.post("/p/news/guard/member", files={"csrf": ("a.txt", word.encode())}).status_code == 403


def test_other_methods_than_post_need_the_word_too(judge) -> None:
    for method in ("PUT", "PATCH", "DELETE"):
        assert judge.request(method, "/p/news/guard/member").status_code == 405


def test_the_form_comes_with_the_one_who_sent_it(judge) -> None:
    judge.get("/")
    assert judge.send("/p/news/guard/member", said="hello").text == "jan-judge hello"


@pytest.mark.parametrize("path", ["/p/news/guard/member", "/p/news/gate"])
def test_a_role_that_is_taken_away_is_gone_at_once(path: str, judge, project: Project, web_store: Store) -> None:
    assert judge.get(path).status_code == 200
    web_store.write(lambda c: remove_member(c, project.id, judge.account, now=1.0))
    assert judge.get(path).status_code == 404


def test_whoever_is_erased_is_out_at_once(judge, web_store: Store, clock) -> None:
    web_store.write(lambda c: erase_account(c, judge.account, clock()))
    assert judge.get("/guard/signed-in").status_code == 303


def test_programs_are_told_in_json(nobody) -> None:
    answer = nobody.get("/guard/signed-in", headers={"Accept": "application/json"})
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert "log in" in answer.json()["error"]["message"]


def test_files_are_taken_from_owners_only_and_strangers_are_refused_before_they_are_read(owner, judge, nobody) -> None:
    owner.get("/")
    fields = {"csrf": owner.hidden()["csrf"]}
    files = [("file", (f"{number}.txt", b"x" * 1_200_000)) for number in range(2)]
    assert owner.post("/guard/upload", fields, files=files).text == "2"
    judge.get("/")
    assert judge.post("/guard/upload", {"csrf": judge.hidden()["csrf"]}, files=files).status_code == 403

    came = []

    async def endless() -> Any:
        for _ in range(50):
            came.append(1)
            yield b"x" * 100_000

    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    assert nobody.post("/guard/upload", content=endless(), headers=headers).status_code == 401
