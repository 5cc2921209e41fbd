"""Judging a task at once by program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ringtrue.service.store import Store
from service.web.programs import World, world


@pytest.fixture
def here(web_store: Store) -> Iterator[World]:
    with world(web_store) as made:
        yield made


def answers(whole: Any, answer: str = "1") -> list[dict[str, Any]]:
    return [
        {"assignment": one["assignment"], "version": one["version"], "answer": answer} for one in whole["questions"]
    ]


def test_a_task_is_opened_answered_and_handed_in_by_two_requests(here: World) -> None:
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


def test_tasks_of_others_are_not_to_be_found(here: World) -> None:
    whole = here.judge().post("/projects/news/whole-tasks", {})
    for task in (whole["task"]["id"], 999, 2**63):
        refused = here.judge("Ben")("POST", f"/whole-tasks/{task}", json={"answers": answers(whole)})
        assert refused.status_code == 404
    assert here.owner().get("/projects/news/judgments?counting=false")["judgments"] == []


def test_who_is_no_judge_any_more_cannot_answer_and_nothing_is_kept(here: World) -> None:
    judge = here.judge()
    whole = judge.post("/projects/news/whole-tasks", {})
    assert here.owner()("DELETE", f"/projects/news/people/{judge.account}/roles/judge").status_code == 204
    refused = judge("POST", f"/whole-tasks/{whole['task']['id']}", json={"answers": answers(whole)})
    assert refused.status_code == 403
    assert here.owner().get("/projects/news/judgments?counting=false")["judgments"] == []
