"""Judging by program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ringtrue.service.store import Store
from service.web.pages import code_of
from service.web.programs import Program, World, world


@pytest.fixture
def here(web_store: Store) -> Iterator[World]:
    with world(web_store) as made:
        yield made


def said(question: Any, answer: str = "1", **more: Any) -> dict[str, Any]:
    return {"assignment": question["assignment"], "version": question["version"], "answer": answer, **more}


def all_answered(judge: Program, project: str = "news", answer: str = "1") -> int:
    """Open a task, answer everything in it, and give its number."""
    step = judge.post(f"/projects/{project}/tasks", {})
    task = step["task"]["id"]
    while step["question"] is not None:
        step = judge.post(f"/tasks/{task}/answers", said(step["question"], answer))
    return int(task)


def test_a_task_is_opened_answered_and_handed_in(here: World) -> None:
    judge = here.judge()
    step = judge.post("/projects/news/tasks", {})
    assert step["task"]["size"] == step["task"]["open"] == 4
    assert step["question"]["left"]["text"].startswith("Text")
    assert step["question"]["right"] is None
    task = all_answered(judge)
    assert task == step["task"]["id"]
    assert judge.post(f"/tasks/{task}/hand-in")["outcome"] == "handed_in"
    assert here.owner().get("/projects/news/progress")["done"] == 4


def test_an_answer_comes_back_with_the_next_question(here: World) -> None:
    judge = here.judge()
    step = judge.post("/projects/news/tasks", {})
    after = judge.post(f"/tasks/{step['task']['id']}/answers", said(step["question"], seconds=3, away=0.5))
    assert (after["late"], after["repeated"], after["task"]["open"]) == (False, False, 3)
    assert after["question"]["assignment"] != step["question"]["assignment"]
    assert judge.get(f"/tasks/{step['task']['id']}/next")["question"] == after["question"]


def test_an_answer_sent_twice_is_kept_once(here: World) -> None:
    judge = here.judge()
    step = judge.post("/projects/news/tasks", {})
    path = f"/tasks/{step['task']['id']}/answers"
    first, again = judge.post(path, said(step["question"])), judge.post(path, said(step["question"]))
    assert again["repeated"]
    assert again["question"] == first["question"]
    assert len(here.owner().get("/projects/news/judgments?counting=false")["judgments"]) == 1


def test_another_answer_to_the_same_version_is_refused_and_the_question_can_be_looked_at(here: World) -> None:
    judge = here.judge()
    step = judge.post("/projects/news/tasks", {})
    task, question = step["task"]["id"], step["question"]
    judge.post(f"/tasks/{task}/answers", said(question, "1"))
    refused = judge("POST", f"/tasks/{task}/answers", json=said(question, "2"))
    assert (refused.status_code, refused.json()["error"]["kind"]) == (409, "conflict")
    now = judge.get(f"/tasks/{task}/questions/{question['assignment']}")
    assert (now["version"], now["answer"]) == (1, "1")
    assert not judge.post(f"/tasks/{task}/answers", said(now, "2"))["repeated"]


def test_an_undo_opens_the_last_question_again_once_however_often_it_is_sent(here: World) -> None:
    judge = here.judge()
    step = judge.post("/projects/news/tasks", {})
    task = step["task"]["id"]
    second = judge.post(f"/tasks/{task}/answers", said(step["question"]))
    judge.post(f"/tasks/{task}/answers", said(second["question"]))
    undone = judge.post(f"/tasks/{task}/undo?open=2")
    assert undone["question"]["assignment"] == second["question"]["assignment"]
    assert judge.post(f"/tasks/{task}/undo?open=2")["task"]["open"] == 3
    assert judge.post(f"/tasks/{task}/undo")["task"]["open"] == 4
    assert judge("POST", f"/tasks/{task}/undo").status_code == 409


def test_unsure_and_skip_are_answers_too(here: World) -> None:
    judge = here.judge()
    step = judge.post("/projects/news/tasks", {})
    task, question = step["task"]["id"], step["question"]
    body = {"assignment": question["assignment"], "version": 0, "kind": "unsure", "reason": "no text"}
    step = judge.post(f"/tasks/{task}/answers", body)
    body = {"assignment": step["question"]["assignment"], "version": 0, "kind": "skip"}
    assert judge.post(f"/tasks/{task}/answers", body)["task"]["open"] == 2
    told = here.owner().get("/projects/news/judgments", params={"counting": False})["judgments"]
    assert [(one["kind"], one["reason"], one["counts"]) for one in told] == [
        ("unsure", "no text", False), ("skip", None, False),
    ]  # fmt: skip


def test_pairs_are_judged_left_or_right(here: World) -> None:
    judge = here.program("Pia Pairs", "judge", project="sides", role="judge")
    step = judge.post("/projects/sides/tasks", {})
    left, right = step["question"]["left"]["name"], step["question"]["right"]["name"]
    all_answered(judge, "sides", "left")
    told = here.owner().get("/projects/sides/judgments")["judgments"]
    assert (told[0]["left"], told[0]["right"], told[0]["answer"]) == (left, right, "left")


@pytest.mark.slow
def test_pairs_are_chosen_as_votes_arrive(here: World) -> None:
    owner = here.owner()
    run = "".join(f"q1 Q0 d{rank:02} {rank} {50 - rank} x\n" for rank in range(1, 21))
    settings = {"active": True, "traps": 0, "traps_needed": 0, "task_size": 5}
    body = {"name": "active", "title": "A", "scale": {"kind": "preference"}, "settings": settings}
    first = owner.post("/projects", body | {"ask": [{"name": "x.run", "text": run}]})["items"]
    made = owner.post("/projects/active/programs", {"name": "Model"})
    model = Program(here.client, here.runner, made["token"])
    for _ in range(8):
        model.post(f"/tasks/{all_answered(model, 'active', 'left')}/hand-in")
    assert owner.get("/projects/active/progress")["done"] > first


def test_nothing_left_is_no_error(here: World) -> None:
    judge = here.judge()
    for _ in range(2):
        judge.post(f"/tasks/{all_answered(judge)}/hand-in")
    assert judge.post("/projects/news/tasks", {}) == {"task": None, "question": None}


def test_a_task_cannot_be_handed_in_before_all_is_answered(here: World) -> None:
    judge = here.judge()
    task = judge.post("/projects/news/tasks", {})["task"]["id"]
    refused = judge("POST", f"/tasks/{task}/hand-in")
    assert (refused.status_code, "4 questions" in refused.json()["error"]["message"]) == (409, True)


def test_tasks_of_others_are_not_to_be_found(here: World) -> None:
    judge, other = here.judge(), here.judge("Ola Other")
    step = judge.post("/projects/news/tasks", {})
    task = step["task"]["id"]
    tried = [
        other("GET", f"/tasks/{task}/next"),
        other("POST", f"/tasks/{task}/answers", json=said(step["question"])),
        other("POST", f"/tasks/{task}/undo"),
        other("POST", f"/tasks/{task}/hand-in"),
        other("GET", f"/tasks/{task}/questions/{step['question']['assignment']}"),
    ]
    assert [one.status_code for one in tried] == [404] * 5


def test_an_answer_counts_only_in_its_own_task(here: World) -> None:
    judge = here.judge()
    step = judge.post("/projects/news/tasks", {})
    task = all_answered(judge)
    judge.post(f"/tasks/{task}/hand-in")
    second = judge.post("/projects/news/tasks", {})
    assert judge("POST", f"/tasks/{task}/answers", json=said(second["question"])).status_code == 404
    assert judge.get(f"/tasks/{second['task']['id']}/next")["task"]["open"] == 2
    assert step["task"]["id"] != second["task"]["id"]


def test_a_question_is_shown_in_its_own_task_only(here: World) -> None:
    """Of a project that somebody was removed from, nothing is seen by the task of another."""
    judge, owner = here.judge(), here.owner()
    first = judge.post("/projects/news/tasks", {})
    owner("PUT", f"/projects/sides/people/{judge.account}/roles/judge")
    second = judge.post("/projects/sides/tasks", {})
    path = f"/tasks/{second['task']['id']}/questions"
    assert judge("GET", f"{path}/{second['question']['assignment']}").status_code == 200
    assert judge("GET", f"{path}/{first['question']['assignment']}").status_code == 404


def test_seconds_are_kept_to_the_hundredth(here: World) -> None:
    judge = here.judge()
    step = judge.post("/projects/news/tasks", {})
    here.clock.now += 60
    judge.post(f"/tasks/{step['task']['id']}/answers", said(step["question"], seconds=3.14159, away=0.995001))
    (told,) = here.owner().get("/projects/news/judgments")["judgments"]
    assert (told["seconds"], told["away"]) == (3.14, 1.0)


def test_no_times_are_longer_than_passed_since_the_answer_before(here: World) -> None:
    judge = here.judge()
    whole = judge.post("/projects/news/whole-tasks", {})
    first, *others = whole["questions"]
    here.clock.now += 7.5
    judge.post(f"/tasks/{whole['task']['id']}/answers", said(first, seconds=9_000, away=86_400))
    here.clock.now += 2
    answers = [said(question, seconds=seconds) for question, seconds in zip(others, (9_000, 3, 0), strict=True)]
    judge.post(f"/whole-tasks/{whole['task']['id']}", {"answers": answers})
    told = here.owner().get("/projects/news/judgments")["judgments"]
    assert [(one["seconds"], one["away"]) for one in told] == [(7.5, 0), (1, None), (1, None), (0, None)]


def test_who_is_no_judge_any_more_cannot_answer_and_nothing_is_kept(here: World) -> None:
    judge, owner = here.judge(), here.owner()
    step = judge.post("/projects/news/tasks", {})
    assert owner("DELETE", f"/projects/news/people/{judge.account}/roles/judge").status_code == 204
    refused = judge("POST", f"/tasks/{step['task']['id']}/answers", json=said(step["question"]))
    assert refused.status_code == 403
    assert owner.get("/projects/news/judgments", params={"counting": False})["judgments"] == []


def test_gold_is_for_gold_judges(here: World) -> None:
    assert here.judge()("POST", "/projects/news/tasks", json={"queue": "gold"}).status_code == 403
    gold = here.program("Greta Gold", "judge", role="gold")
    assert gold("POST", "/projects/news/tasks", json={"queue": "main"}).status_code == 403
    assert gold.post("/projects/news/tasks", {"queue": "gold"})["task"] is None


def test_a_closed_project_gives_out_no_tasks(here: World) -> None:
    here.owner()("PATCH", "/projects/news", json={"closed": True})
    refused = here.judge()("POST", "/projects/news/tasks", json={})
    assert (refused.status_code, refused.json()["error"]["kind"]) == (410, "late")


def test_an_answer_after_the_deadline_is_kept_and_does_not_count(here: World) -> None:
    judge = here.judge()
    step = judge.post("/projects/news/tasks", {})
    here.clock.now += 31 * 60
    late = judge.post(f"/tasks/{step['task']['id']}/answers", said(step["question"]))
    assert late["late"]
    (told,) = here.owner().get("/projects/news/judgments", params={"counting": False})["judgments"]
    assert (told["kind"], told["version"], told["counts"]) == ("late", -1, False)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"assignment": 1}, "version"),
        ({"assignment": 1, "version": "0"}, "version"),
        ({"assignment": 2**63, "version": 0}, "assignment"),
        ({"assignment": 1, "version": 0, "answer": "a\u0000b"}, "answer"),
        ({"assignment": 1, "version": 0, "seconds": 1e300}, "seconds"),
        ({"assignment": 1, "version": 0, "answer": "1", "rank": 3}, "rank"),
        ([1, 2], "object"),
    ],
)
def test_an_answer_that_is_none_is_told_what_is_wrong_with_it(here: World, body: Any, words: str) -> None:
    refused = here.judge()("POST", "/tasks/1/answers", json=body)
    assert refused.status_code == 422
    assert words in refused.json()["error"]["message"]


def test_an_answer_that_is_not_on_the_scale_is_refused(here: World) -> None:
    judge = here.judge()
    step = judge.post("/projects/news/tasks", {})
    refused = judge("POST", f"/tasks/{step['task']['id']}/answers", json=said(step["question"], "7"))
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["parameter"]) == (422, "unknown-answer", "answer")


ANSWER = {"assignment": 1, "version": 0, "answer": "1"}
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("method", "path", "sent", "status"),
    [
        ("GET", "/tasks/1/next", {}, 200),
        ("GET", "/tasks/9/next", {}, 404),
        ("GET", "/tasks/0/next", {}, 422),
        ("GET", "/tasks/-1/next", {}, 422),
        ("GET", f"/tasks/{2**64}/next", {}, 422),
        ("GET", "/tasks/1/next/", {}, 404),
        ("PUT", "/tasks/1/next", {}, 405),
        ("POST", "/tasks/1/answers", {"json": ANSWER | {"version": 7}}, 409),
        ("POST", "/tasks/1/answers", {"json": ANSWER | {"answer": "no such"}}, 422),
        ("POST", "/tasks/1/answers", {"json": {"assignment": "1"}}, 422),
        ("POST", "/tasks/1/answers", {"content": b"{", "headers": JSON}, 400),
        ("POST", "/tasks/1/answers", {"content": b"x" * 3_000_000, "headers": JSON}, 413),
    ],
)
def test_what_is_asked_for_all_the_time_is_answered_or_refused_in_json(
    here: World, method: str, path: str, sent: dict[str, Any], status: int
) -> None:
    judge = here.judge()
    judge.post("/projects/news/tasks", {})
    answer = judge(method, path, **sent)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
    assert (answer.headers["x-frame-options"], answer.headers["cache-control"]) == ("DENY", "no-store")
    assert ("error" in answer.json()) == (status != 200)


def answers(whole: Any, answer: str = "1") -> list[dict[str, Any]]:
    return [
        {"assignment": one["assignment"], "version": one["version"], "answer": answer} for one in whole["questions"]
    ]


def test_a_whole_task_is_opened_answered_and_handed_in_by_two_requests(here: World) -> None:
    judge = here.judge()
    whole = judge.post("/projects/news/whole-tasks", {})
    assert whole["task"]["open"] == len(whole["questions"]) == 4
    done = judge.post(f"/whole-tasks/{whole['task']['id']}", {"answers": answers(whole)})
    assert (done["late"], done["repeated"], done["task"]["outcome"]) == ([], [], "handed_in")
    assert here.owner().get("/projects/news/progress")["done"] == 4
    rest = judge.post("/projects/news/whole-tasks", {})
    judge.post(f"/whole-tasks/{rest['task']['id']}", {"answers": answers(rest)})
    assert judge.post("/projects/news/whole-tasks", {}) == {"task": None, "questions": []}


def test_one_by_one_and_at_once_can_be_mixed(here: World) -> None:
    judge = here.judge()
    step = judge.post("/projects/news/tasks", {})
    task, first = step["task"]["id"], step["question"]
    judge.post(f"/tasks/{task}/answers", {"assignment": first["assignment"], "version": 0, "answer": "2"})
    whole = judge.post("/projects/news/whole-tasks", {})
    assert whole["task"]["id"] == task
    assert len(whole["questions"]) == 3
    some = judge.post(f"/whole-tasks/{task}", {"answers": answers(whole)[:2]})
    assert (some["task"]["open"], some["task"]["outcome"]) == (1, None)
    rest = judge.post(f"/whole-tasks/{task}", {"answers": answers(whole), "hand_in": False})
    assert rest["repeated"] == [one["assignment"] for one in whole["questions"][:2]]
    assert (rest["task"]["open"], rest["task"]["outcome"]) == (0, None)
    assert judge.post(f"/tasks/{task}/hand-in")["outcome"] == "handed_in"


def test_sent_again_after_a_broken_connection_nothing_is_kept_twice(here: World) -> None:
    judge = here.judge()
    whole = judge.post("/projects/news/whole-tasks", {})
    path, sent = f"/whole-tasks/{whole['task']['id']}", {"answers": answers(whole)}
    judge.post(path, sent)
    again = judge.post(path, sent)
    assert again["repeated"] == [one["assignment"] for one in whole["questions"]]
    assert len(here.owner().get("/projects/news/judgments?counting=false")["judgments"]) == 4


def test_one_that_is_refused_is_named_and_none_is_kept(here: World) -> None:
    judge = here.judge()
    whole = judge.post("/projects/news/whole-tasks", {})
    sent = answers(whole)
    sent[2]["answer"] = "9"
    refused = judge("POST", f"/whole-tasks/{whole['task']['id']}", json={"answers": sent})
    assert refused.status_code == 422
    assert f"question {sent[2]['assignment']}: " in refused.json()["error"]["message"]
    assert here.owner().get("/projects/news/judgments?counting=false")["judgments"] == []


@pytest.mark.parametrize(
    ("body", "words"),
    [({}, "answers"), ({"answers": []}, "at least 1"), ({"answers": [{"assignment": 1}]}, "version"), ([], "object")],
)
def test_what_is_no_list_of_answers_is_told_what_is_wrong_with_it(here: World, body: Any, words: str) -> None:
    whole = here.judge().post("/projects/news/whole-tasks", {})
    refused = here.judge()("POST", f"/whole-tasks/{whole['task']['id']}", json=body)
    assert refused.status_code == 422
    assert words in refused.json()["error"]["message"]


def test_whole_tasks_of_others_are_not_to_be_found(here: World) -> None:
    whole = here.judge().post("/projects/news/whole-tasks", {})
    for task, status in ((whole["task"]["id"], 404), (999, 404), (2**63, 422)):
        refused = here.judge("Ben")("POST", f"/whole-tasks/{task}", json={"answers": answers(whole)})
        assert refused.status_code == status
    assert here.owner().get("/projects/news/judgments?counting=false")["judgments"] == []


def test_who_is_no_judge_any_more_cannot_answer_a_whole_task_and_nothing_is_kept(here: World) -> None:
    judge = here.judge()
    whole = judge.post("/projects/news/whole-tasks", {})
    assert here.owner()("DELETE", f"/projects/news/people/{judge.account}/roles/judge").status_code == 204
    refused = judge("POST", f"/whole-tasks/{whole['task']['id']}", json={"answers": answers(whole)})
    assert refused.status_code == 403
    assert here.owner().get("/projects/news/judgments?counting=false")["judgments"] == []


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}], ids=["no token", "a wrong token"])
def test_a_valid_answer_without_a_right_token_is_refused_and_not_kept(here: World, headers: dict[str, str]) -> None:
    judge = here.judge()
    step = judge.post("/projects/news/tasks", {})
    task, answer = step["task"]["id"], said(step["question"])
    for path, body in ((f"/tasks/{task}/answers", answer), (f"/whole-tasks/{task}", {"answers": [answer]})):
        refused = here.nobody()("POST", path, headers=headers, json=body)
        assert (refused.status_code, refused.json()["error"]["kind"]) == (401, "unauthorized")
    assert judge.post("/projects/news/tasks", {})["task"]["open"] == step["task"]["open"]


def test_json_that_is_sent_as_something_else_is_told_which_header_it_lacks(here: World) -> None:
    judge = here.judge()
    step = judge.post("/projects/news/tasks", {})
    body = json.dumps(said(step["question"])).encode()
    refused = judge(
        "POST", f"/tasks/{step['task']['id']}/answers", content=body, headers={"Content-Type": "text/plain"}
    )
    assert (refused.status_code, code_of(refused)) == (422, "json-expected")
