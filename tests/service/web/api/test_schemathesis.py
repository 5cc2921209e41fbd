"""What schemathesis makes of the description of the API: no fault of the server, and every answer as described."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st
from schemathesis import GenerationMode, checks

from ringtrue.service.store import Store
from ringtrue.service.store.accounts import add_member
from ringtrue.service.store.projects import get_project_by_name
from ringtrue.service.web.api.application import make_api
from service.web.programs import Program, World, world

EXAMPLES = int(os.environ.get("RINGTRUE_EXAMPLES", "8"))  # for each operation and way of making them up
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
DESCRIPTION = make_api(None).openapi()
OPERATIONS = {
    operation["operationId"]: (path, method)
    for path, methods in DESCRIPTION["paths"].items()
    for method, operation in methods.items()
}
# Those that change much come last, so that there is something to be found until then; and a project is deleted only
# under names that none has.
LAST = (
    "set_task_aside", "hand_in_task", "take_role", "revoke_a_token", "change_a_project", "erase_person",
    "delete_a_project",
)  # fmt: skip
ORDER = sorted(OPERATIONS, key=lambda name: (LAST.index(name) + 1 if name in LAST else 0, name))
TEXTS = (
    "q1 Q0 d0 1 2.5 x\nq1 Q0 d7 2 1.5 x\n",
    "query,doc,judge,label\nq1,d0,ann,0\nq1,d2,bob,1\n",
    "query,left,right,judge,winner\nq1,d1,d2,ann,left\n",
    "q1\told bridges\n",
    '{"_id": "d0", "text": "a text"}\n',
    "",
)


@pytest.fixture(scope="module")
def schema() -> Any:
    """The description as schemathesis reads it; to read it anew for each operation would take long."""
    read = schemathesis.openapi.from_dict(DESCRIPTION)
    read.location = "http://ringtrue.test/api/v1/openapi.json"
    return read


@pytest.fixture(scope="module")
def here(fast_folder: Path) -> Iterator[World]:
    with Store.open(str(fast_folder / "schemathesis.db")) as store, world(store) as made:
        _judged(made)
        yield made


def _judged(here: World) -> None:
    """Two judges have answered, differently."""
    for name, answer in (("Ann", "0"), ("Bob", "2")):
        judge = here.judge(name)
        step = judge.post("/projects/news/tasks", {})
        while step["question"] is not None:
            said = {"assignment": step["question"]["assignment"], "version": 0, "answer": answer}
            step = judge.post(f"/tasks/{step['task']['id']}/answers", said)
    owner = here.owner()
    owner("PATCH", "/projects/news", json={"settings": {"judges": 200}})  # room for whoever comes
    owner.post("/projects/news/files", {"traps": {"name": "traps.csv", "text": "query,doc,label\nq1,d9,2\n"}})
    owner.post("/projects/news/invitations", {})


def _all_round(here: World) -> tuple[Program, dict[str, st.SearchStrategy[Any]]]:
    """An owner who is also a judge everywhere, and values that there really are."""
    owner = here.owner()

    def joined(connection: Any) -> None:
        for name in ("news", "sides"):
            for role in ("judge", "gold"):
                add_member(connection, get_project_by_name(connection, name).id, owner.account, role, here.clock())  # type: ignore[arg-type]

    here.store.write(joined)
    step = owner("POST", "/projects/news/tasks", json={}).json()
    task, question = step.get("task") or {"id": 1}, step.get("question") or {"assignment": 1}
    keys = ("csv", "jsonl", "qrels", "parquet", "gold", "history", "all", "pairs")
    there: dict[str, st.SearchStrategy[Any]] = {
        "project": st.sampled_from(["news", "sides"]),
        "task": st.sampled_from([task["id"], 1, 2]),
        "assignment": st.sampled_from([question["assignment"], 1]),
        "key": st.sampled_from(keys),
        "file": st.integers(1, 3),
        "account": st.integers(1, 5),
        "item": st.integers(1, 8),
        "version": st.integers(0, 2),
        "answer": st.sampled_from(["0", "1", "2", "left", "right"]),
        "text": st.sampled_from(TEXTS),
        "measures": st.sampled_from([["P@10"], ["AP", "nDCG@5"]]),
        "judge": st.sampled_from(["ann", "bob", "nobody"]),
    }
    return owner, there


def _as_there_is(body: Any, there: dict[str, st.SearchStrategy[Any]], data: st.DataObject) -> None:
    """Put values into a body that there really are, in its files too; where it had something."""
    for name, value in list(body.items()) if isinstance(body, dict) else enumerate(body):
        if isinstance(value, dict):
            _as_there_is(value, there, data)
        elif name in there and value is not None:
            body[name] = data.draw(there[name])
        elif isinstance(value, list):
            _as_there_is(value, there, data)


def _without_end(app: Any) -> Any:
    """The server without its beginning and end: schemathesis goes through both with every request."""

    async def asked(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        for part in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{part}.complete"})

    return asked


@pytest.mark.slow
@pytest.mark.parametrize("name", ORDER)
def test_every_answer_is_as_described_and_none_is_a_fault_of_the_server(here: World, schema: Any, name: str) -> None:
    path, method = OPERATIONS[name]
    operation = schema[path][method.upper()]
    owner, there = _all_round(here)

    def tried(mode: GenerationMode) -> None:
        @seed(8)
        @settings(
            max_examples=EXAMPLES, deadline=None, database=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=operation.as_strategy(generation_mode=mode), data=st.data())
        def run(case: Any, data: st.DataObject) -> None:
            if mode.is_positive and name != "delete_a_project":
                for part in (case.path_parameters, case.query, case.body):
                    if isinstance(part, dict):
                        _as_there_is(part, there, data)
            response = case.call(
                app=_without_end(here.app),
                base_url="http://ringtrue.test/api/v1",
                headers={"Authorization": f"Bearer {owner.token}"},
            )
            case.validate_response(response, checks=CHECKS)

        run()

    tried(GenerationMode.POSITIVE)
    tried(GenerationMode.NEGATIVE)
