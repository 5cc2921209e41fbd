"""Who may do what: tokens, scopes and roles; invitations, members, programs, and taking away what is personal."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ringtrue.service.store import Store
from ringtrue.service.store.answers import record_answer
from ringtrue.service.store.completion import hand_in_task
from ringtrue.service.store.invitations import accept_invitation
from ringtrue.service.store.projects import get_project_by_name
from ringtrue.service.store.records import Answer
from ringtrue.service.store.tasks import get_or_create_task, load_next_question
from ringtrue.service.web.api.application import make_api
from ringtrue.service.web.auth.dependencies import list_unguarded_routes
from service.web.pages import code_of
from service.web.programs import Program, World, world

DESCRIPTION = make_api(None).openapi()
OPERATIONS = [
    (method.upper(), path, operation)
    for path, methods in DESCRIPTION["paths"].items()
    for method, operation in methods.items()
]
NAMES = [operation["operationId"] for _, _, operation in OPERATIONS]
VALUES = {"project": "news", "role": "judge", "key": "csv"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world for tests that change nothing."""
    with Store.open(str(tmp_path_factory.mktemp("api") / "shared.db")) as store, world(store) as made:
        yield made


@pytest.fixture
def here(web_store: Store) -> Iterator[World]:
    with world(web_store) as made:
        yield made


@pytest.fixture
def owner(here: World) -> Program:
    return here.owner()


def filled(path: str) -> str:
    for part in [one for one in path.split("/") if one.startswith("{")]:
        path = path.replace(part, VALUES.get(part.strip("{}"), "1"))
    return path


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=NAMES)
def test_no_operation_answers_without_a_token(shared: World, method: str, path: str, operation: object) -> None:
    bodies = {"json": {}} if method in ("POST", "PATCH") else {}
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic b3duZXI6"}):
        refused = shared.nobody()(method, filled(path), headers=headers, **bodies)
        assert refused.status_code in (401, 422), f"{headers}: {refused.text}"
        if refused.status_code == 401:
            assert refused.headers["www-authenticate"] == "Bearer"
            assert refused.json()["error"]["kind"] == "unauthorized"
        else:  # what was sent is looked at first; nothing of it is done
            assert refused.json()["error"]["kind"] == "invalid"


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=NAMES)
def test_no_operation_goes_beyond_the_scope_of_its_token(
    shared: World, method: str, path: str, operation: dict[str, object]
) -> None:
    (security,) = operation["security"]  # type: ignore[misc]
    needed = set(security["token"])
    if not needed:
        return
    other = shared.program("Otto Other", *({"judge", "read", "manage"} - needed), owner=True, role="judge")
    refused = other(method, filled(path), **_body(operation))
    assert (refused.status_code, refused.json()["error"]["kind"]) == (403, "forbidden")
    assert code_of(refused) == "scope-needed"
    assert f"'{needed.pop()}'" in refused.json()["error"]["message"]


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=NAMES)
def test_no_token_does_more_than_its_account_may(
    shared: World, method: str, path: str, operation: dict[str, object]
) -> None:
    stranger = shared.program("Sten Stranger", "judge", "read", "manage")
    answer = stranger(method, filled(path), **_body(operation))
    own = {"whoami", "list_projects", "list_tokens", "make_token", "revoke_a_token"}
    if operation["operationId"] in own:
        assert answer.status_code in (200, 201, 404)
    else:
        assert answer.status_code in (403, 404)


def _body(operation: dict[str, object]) -> dict[str, object]:
    """A body that is as it should be, so that only who sends it is wrong."""
    bodies: dict[str, object] = {
        "open_a_task": {}, "answer_question": {"assignment": 1, "version": 0, "answer": "1"},
        "open_a_whole_task": {}, "answer_questions": {"answers": [{"assignment": 1, "version": 0, "answer": "1"}]},
        "make_a_project": {"name": "a", "title": "A", "scale": {"kind": "preference"}}, "change_a_project": {},
        "add_files": {}, "import_existing": {"file": {"name": "a", "text": ""}}, "draw_gold_labels": {},
        "give_verdict": {"item": 1, "answer": "1"}, "make_program": {"name": "a"}, "invite_to_project": {},
        "invite_owner": {}, "make_token": {"name": "a", "scopes": ["read"]},
    }  # fmt: skip
    name = str(operation["operationId"])
    given: dict[str, object] = {"json": bodies[name]} if name in bodies else {}
    return given | ({"params": {"confirm": "news"}} if name == "delete_a_project" else {})


def test_every_route_of_the_server_is_guarded(here: World) -> None:
    assert list_unguarded_routes(here.app) == []


def test_a_viewer_sees_how_it_goes_and_changes_nothing(here: World) -> None:
    viewer = here.program("Vera Viewer", "read", "manage", "judge", role="viewer")
    for path in ("", "/progress", "/progress/queries", "/progress/judges", "/judgments", "/quality", "/exports/csv"):
        assert viewer("GET", f"/projects/news{path}").status_code in (200, 422), path
    for path in ("/people", "/invitations", "/files", "/disagreements", "/failed-tasks"):
        assert viewer("GET", f"/projects/news{path}").status_code == 403, path
    assert viewer("POST", "/projects/news/tasks", json={}).status_code == 403
    assert [one["name"] for one in viewer.get("/projects")] == ["news"]


def test_a_judge_sees_the_project_and_not_how_it_goes(here: World) -> None:
    judge = here.program("Jan Judge", "read", "judge", role="judge")
    assert judge.get("/projects/news")["roles"] == ["judge"]
    assert judge("GET", "/projects/news/progress").status_code == 403
    assert judge("GET", "/projects/sides").status_code == 404
    messages = set()
    for name in ("sides", "none"):
        refused = judge("GET", f"/projects/{name}").json()["error"]
        assert (refused["kind"], refused["code"], refused["parameter"]) == ("not_found", "no-such-project", None)
        messages.add(refused["message"].replace(name, "…"))
    assert len(messages) == 1  # names cannot be guessed


def test_whoami_tells_whose_token_it_is(here: World) -> None:
    judge = here.program("Jan Judge", "judge", role="judge")
    assert judge.get("/whoami") == {
        "id": judge.account, "handle": "jan-judge", "name": "Jan Judge", "owner": False, "scopes": ["judge"],
        "roles": {"news": ["judge"]},
    }  # fmt: skip


def test_tokens_are_issued_told_once_and_revoked(owner: Program) -> None:
    made = owner.post("/tokens", {"name": "nightly", "scopes": ["read"], "days": 30})["token"]
    nightly = Program(owner.client, owner.runner, made)
    assert nightly.get("/whoami")["scopes"] == ["read"]
    listed = owner.get("/tokens")
    assert [one["name"] for one in listed] == ["nightly", "Olga Owner"]
    assert (listed[0]["expires"], listed[0]["revoked"]) == ("2027-02-14T08:00:00Z", None)
    assert made not in owner("GET", "/tokens").text
    assert owner("DELETE", f"/tokens/{listed[0]['id']}").status_code == 204
    assert nightly("GET", "/whoami").status_code == 401


def test_a_token_ends_when_its_time_is_over(here: World, owner: Program) -> None:
    made = owner.post("/tokens", {"name": "short", "scopes": ["read"], "days": 1})["token"]
    here.clock.now += 86_401
    assert Program(owner.client, owner.runner, made)("GET", "/whoami").status_code == 401


def test_nobody_revokes_the_tokens_of_others(here: World, owner: Program) -> None:
    (mine,) = owner.get("/tokens")
    assert here.program("Kai Keeper", "manage")("DELETE", f"/tokens/{mine['id']}").status_code == 404
    assert owner.get("/whoami")["owner"]


def test_a_token_gives_no_more_than_it_has(here: World) -> None:
    keeper = here.program("Kai Keeper", "manage", "read")
    refused = keeper("POST", "/tokens", json={"name": "more", "scopes": ["judge", "read"]})
    assert (refused.status_code, code_of(refused)) == (403, "scope-not-held")
    assert "'judge'" in refused.json()["error"]["message"]


def test_a_judge_is_invited_by_a_link_that_is_told_once(owner: Program) -> None:
    link = owner.post("/projects/news/invitations", {"role": "viewer", "note": "for Vera"})["link"]
    assert link.startswith("http://ringtrue.test/welcome/")
    (shown,) = owner.get("/projects/news/invitations")
    assert (shown["role"], shown["note"], shown["left"], shown["expires"]) == (
        "viewer", "for Vera", 1, "2027-01-29T08:00:00Z",
    )  # fmt: skip
    assert link.rpartition("/")[2] not in owner("GET", "/projects/news/invitations").text
    page = owner.runner.run(owner.client.get(link))
    assert page.status_code == 200
    assert owner("DELETE", f"/projects/sides/invitations/{shown['id']}").status_code == 404
    assert owner("DELETE", f"/projects/news/invitations/{shown['id']}").status_code == 204
    assert owner.runner.run(owner.client.get(link)).status_code == 410


def test_a_crowd_is_invited_by_one_link_with_a_code(owner: Program) -> None:
    body = {"kind": "crowd", "uses": 100, "code": "C0FFEE"}
    assert "/join/" in owner.post("/projects/news/invitations", body)["link"]
    shown = owner.get("/projects/news/invitations")[0]
    assert (shown["left"], shown["id_required"], shown["one_account"], shown["own_codes"]) == (100, True, True, False)
    more = body | {"partial_code": "HALF", "own_codes": True, "id_required": False, "one_account": False}
    owner.post("/projects/news/invitations", more)
    shown = owner.get("/projects/news/invitations")[0]
    assert {name: shown[name] for name in ("partial_code", "own_codes", "id_required", "one_account")} == {
        "partial_code": "HALF", "own_codes": True, "id_required": False, "one_account": False,
    }  # fmt: skip
    for wrong in (
        {"code": "C0FFEE"}, {"uses": 2}, {"kind": "crowd", "role": "viewer"}, {"days": 0}, {"id_required": True},
        {"kind": "crowd", "partial_code": "HALF"}, {"kind": "crowd", "own_codes": True},
    ):  # fmt: skip
        assert owner("POST", "/projects/news/invitations", json=wrong).status_code == 422, wrong


def test_one_more_owner_is_invited(owner: Program) -> None:
    assert "/welcome/" in owner.post("/invitations", {"note": "for Otto"})["link"]


def test_a_program_gets_an_account_and_a_token_of_its_own(owner: Program) -> None:
    made = owner.post("/projects/news/programs", {"name": "Model 7"})
    model = Program(owner.client, owner.runner, made["token"])
    assert made["handle"] == "model-7"
    assert model.get("/whoami") | {"id": 0} == {
        "id": 0, "handle": "model-7", "name": "Model 7", "owner": False, "scopes": ["judge"],
        "roles": {"news": ["judge"]},
    }  # fmt: skip
    assert model.post("/projects/news/tasks", {})["task"]["open"] == 4


def test_roles_are_given_and_taken(here: World, owner: Program) -> None:
    other = here.program("Ola Other", "judge")
    path = f"/projects/news/people/{other.account}/roles"
    assert owner("PUT", f"{path}/judge").status_code == 204
    assert owner("PUT", f"{path}/judge").status_code == 204
    assert [(one["handle"], one["roles"]) for one in owner.get("/projects/news/people")] == [("ola-other", ["judge"])]
    assert owner("DELETE", f"{path}/judge").status_code == 204
    assert owner("DELETE", f"{path}/judge").status_code == 404
    assert owner("PUT", f"{path}/boss").status_code == 422
    assert owner("PUT", "/projects/news/people/999/roles/judge").status_code == 404


def test_owners_are_made_and_unmade_and_one_stays(here: World, owner: Program) -> None:
    other = here.program("Ola Other", "judge")
    for _ in range(2):
        assert owner("PUT", f"/people/{other.account}/owner").status_code == 204
    assert {one["handle"] for one in owner.get("/people") if one["owner"]} == {"olga-owner", "ola-other"}
    assert owner("DELETE", f"/people/{other.account}/owner").status_code == 204
    assert owner("DELETE", f"/people/{owner.account}/owner").status_code == 409
    assert owner("PUT", "/people/999/owner").status_code == 404
    assert owner.get("/audit")[0]["action"] == "unmake owner"


def test_somebody_is_erased_and_the_labels_stay(here: World, owner: Program) -> None:
    judge = here.judge()
    step = judge.post("/projects/news/tasks", {})
    said = {"assignment": step["question"]["assignment"], "version": 0, "answer": "1"}
    judge.post(f"/tasks/{step['task']['id']}/answers", said)
    erased = owner("DELETE", f"/people/{judge.account}").json()["handle"]
    assert owner.get("/projects/news/judgments")["judgments"][0]["judge"] == erased == f"erased-{judge.account}"
    assert judge("GET", "/whoami").status_code == 401
    assert "jan" not in owner("GET", "/people").text.lower()
    only = owner("DELETE", f"/people/{owner.account}")
    assert (only.status_code, "only owner" in only.json()["error"]["message"]) == (409, True)


def test_a_password_is_reset_by_a_link(here: World, owner: Program) -> None:
    judge = here.judge()
    assert "/welcome/" in owner.post(f"/people/{judge.account}/reset")["link"]
    assert owner("POST", "/people/999/reset").status_code == 404


def test_the_record_tells_what_was_done_and_nothing_personal(owner: Program) -> None:
    owner.post("/projects/news/invitations", {"note": "for Vera"})
    owner.post("/tokens", {"name": "nightly", "scopes": ["read"]})
    told = owner.get("/audit")
    assert [(one["action"], one["handle"], one["project"]) for one in told] == [
        ("issue token", "olga-owner", None), ("invite", "olga-owner", "news"),
    ]  # fmt: skip
    assert "Vera" not in owner("GET", "/audit").text
    assert len(owner.get("/audit?limit=1")) == 1


def test_the_backup_is_one_file(owner: Program) -> None:
    sent = owner("GET", "/backup")
    assert sent.headers["content-type"] == "application/zip"
    assert 'filename="ringtrue-backup.zip"' in sent.headers["content-disposition"]
    assert owner.get("/audit")[0]["action"] == "back up"
    names = zipfile.ZipFile(io.BytesIO(sent.content)).namelist()
    assert any("judgment" in name for name in names)


def crowd_worker(here: World, owner: Program, **terms: Any) -> int:
    """Somebody who came by a crowd link."""
    body = {"kind": "crowd", "code": "C1", **terms}
    secret = owner.post("/projects/news/invitations", body)["link"].rpartition("/")[2]
    return here.store.write(lambda c: accept_invitation(c, secret, worker="prolific:a", now=here.clock()))


def test_nothing_in_the_api_raises_a_crowd_account(here: World, owner: Program) -> None:
    worker = crowd_worker(here, owner)
    for role in ("viewer", "gold"):
        refused = owner("PUT", f"/projects/news/people/{worker}/roles/{role}")
        assert (refused.status_code, code_of(refused)) == (403, "crowd-account")
    assert owner("PUT", f"/projects/sides/people/{worker}/roles/judge").status_code == 403
    assert owner("PUT", f"/projects/news/people/{worker}/roles/judge").status_code == 204
    assert owner("PUT", f"/people/{worker}/owner").status_code == 403
    assert owner("POST", f"/people/{worker}/reset").status_code == 422
    (shown,) = [one for one in owner.get("/people") if one["id"] == worker]
    assert (shown["kind"], shown["owner"], shown["roles"]) == ("crowd", False, ["judge"])


def test_a_token_of_a_crowd_account_lets_nobody_in(here: World, owner: Program) -> None:
    judge = here.judge()
    worker = crowd_worker(here, owner)
    here.store.write(
        lambda c: c.exec_driver_sql(f"UPDATE token SET account = {worker} WHERE account = {judge.account}")
    )
    assert judge("GET", "/whoami").status_code == 401
    assert judge("POST", "/tokens", json={"name": "more", "scopes": ["judge"]}).status_code == 401
    assert judge("POST", "/projects/news/tasks", json={}).status_code == 401


def test_the_owner_looks_up_who_got_which_code(here: World, owner: Program) -> None:
    worker = crowd_worker(here, owner, own_codes=True)

    def work(connection: Any) -> str | None:
        project = get_project_by_name(connection, "news")
        task = get_or_create_task(connection, project, worker, now=here.clock(), rng=np.random.default_rng(1))
        assert task is not None
        while (shown := load_next_question(connection, task.id, worker)) is not None:
            record_answer(connection, worker, shown.assignment, 0, Answer(answer="1"), now=here.clock())
        return hand_in_task(connection, worker, task.id, now=here.clock()).code

    assert owner.get("/projects/news/completions") == []
    code = here.store.write(work)
    (granted,) = owner.get("/projects/news/completions")
    assert (granted["worker"], granted["kind"], granted["code"]) == ("prolific:a", "full", code)
    assert here.judge()("GET", "/projects/news/completions").status_code == 403
    assert here.program("Vera", "read", "manage", role="viewer")("GET", "/projects/news/completions").status_code == 403
