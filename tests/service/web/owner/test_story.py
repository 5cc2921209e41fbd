"""The owner's whole way: make a project, invite, watch, look at quality, decide, export, and evaluate."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ringtrue.service.store import Store
from ringtrue.service.store.audit_log import load_audit_entries
from service.web.owner.stories import (
    DOCUMENTS,
    PAIRS,
    RUN,
    TOPICS,
    files,
    judge_all,
    link_in,
    ringtrue,
    said,
    send_new,
    title_shown,
    whole,
)


def invite_and_join(owner: Any, newcomer: Any, name: str, role: str = "judge") -> Any:
    """The owner makes a link; somebody new opens it and comes in."""
    owner.get("/p/sea-bees/people")
    path = link_in(owner.send("/p/sea-bees/invitations", kind="named", role=role, days="14", whom=name), "welcome")
    newcomer.get(path)
    came = newcomer.send(path, name=name, handle="", password="four words for " + name, again="four words for " + name)
    assert came.status_code == 303, came.text
    return newcomer


@pytest.fixture
def story(owner: Any, visit: Callable[..., Any]) -> Callable[[], None]:
    """Two judges answer everything: Ann well, Bob the opposite of the traps."""

    def tell() -> None:
        made = send_new(owner, whole())
        assert (made.status_code, made.headers["location"]) == (303, "/p/sea-bees"), made.text
        ann, bob = (invite_and_join(owner, visit(), name) for name in ("Ann", "Bob"))
        assert judge_all(ann, "sea-bees", lambda page: "1" if title_shown(page) in "ab" else "0") == 10
        assert judge_all(bob, "sea-bees", lambda page: "1" if title_shown(page) in "abct" else "0") == 10

    return tell


def test_a_new_project_says_what_was_made_of_its_files_once_and_what_to_do_next(owner: Any) -> None:
    made = send_new(owner, whole())
    page = said(owner.get(made.headers["location"]))
    assert "The project is made: 8 items to judge" in page
    assert "Next steps" in page
    assert "Invite judges by a link" in page
    assert "The project is made" not in said(owner.get("/p/sea-bees"))


def test_guidelines_that_are_left_empty_are_filled_with_a_text_for_the_scale(owner: Any) -> None:
    send_new(owner, whole())
    assert "You see one document at a time" in said(owner.get("/p/sea-bees/settings"))
    assert "Not relevant" in said(owner.get("/p/sea-bees/guidelines"))


@pytest.mark.slow
def test_progress_counts_what_was_judged_by_judge_and_by_query(owner: Any, story: Callable[[], None]) -> None:
    story()
    page = said(owner.get("/p/sea-bees"))
    assert "Judgments 16 of 16 wanted" in page
    assert "Complete items 8 of 8" in page
    assert "ann 8 0 0 0" in page
    assert re.search(r"bob 8 0 0 0 \S+ 0 of 2", page)
    assert "q1 wind at sea" in page
    assert "1 task failed its traps and still counts" in page
    assert "Judges disagree on 2 items" in page


def test_why_judges_could_not_tell_is_counted_in_their_words(owner: Any, visit: Callable[..., Any]) -> None:
    send_new(owner, whole())
    ann = invite_and_join(owner, visit(), "Ann")
    for _ in range(3):  # two of them may be traps, which are not counted
        ann.begin("sea-bees")
        ann.send("/p/sea-bees/answer", kind="unsure", reason="It is <b>torn</b>")
    page = owner.get("/p/sea-bees")
    assert re.search("[123] It is <b>torn</b>", said(page))
    assert "<b>torn</b>" not in page.text
    assert "At work now 1" in said(page)
    assert "Judges with answers 0 of 1 who began" in said(page)
    assert "Everybody who began: 1 judge, 0 of them with answers that count" in said(page)


@pytest.mark.slow
def test_quality_shows_agreement_judges_and_failed_tasks_which_can_be_set_aside(
    owner: Any, story: Callable[[], None]
) -> None:
    story()
    page = said(owner.get("/p/sea-bees/quality"))
    assert "Two judges give the same answer in 75% of cases" in page
    assert "Krippendorff's alpha, ordinal" in page
    assert "bob 0 of 2 8" in page
    task = re.search(r"/p/sea-bees/tasks/(\d+)/set-aside", owner.page.text)
    assert task is not None
    done = owner.send(task[0])
    assert done.status_code == 303
    page = said(owner.get("/p/sea-bees/quality"))
    assert "The task is set aside" in page
    assert "set aside" in page
    assert "all answers are by one judge so far" in page.lower()
    assert "Judgments 8 of 16 wanted" in said(owner.get("/p/sea-bees"))
    again = re.search(r"/p/sea-bees/tasks/\d+/count-again", owner.get("/p/sea-bees/quality").text)
    assert again is not None
    assert owner.send(again[0]).status_code == 303
    assert "8 answers of the task count again" in said(owner.get("/p/sea-bees/quality"))
    assert "Judgments 16 of 16 wanted" in said(owner.get("/p/sea-bees"))
    owner.get("/p/sea-bees/quality")
    assert owner.send(again[0]).status_code == 303
    assert "This task is not set aside" in said(owner.get("/p/sea-bees/quality"))


@pytest.mark.slow
def test_a_task_that_did_not_fail_or_is_elsewhere_cannot_be_set_aside(owner: Any, story: Callable[[], None]) -> None:
    story()
    owner.get("/p/sea-bees/quality")
    for task in (1, 999, 2**70):
        answer = owner.send(f"/p/sea-bees/tasks/{task}/set-aside")
        assert answer.status_code in (404, 422)
    assert "Judgments 16 of 16 wanted" in said(owner.get("/p/sea-bees"))


def test_disagreements_are_decided_one_after_another_without_names(owner: Any, story: Callable[[], None]) -> None:
    story()
    first = re.search(r'href="(/p/sea-bees/adjudicate/\d+)"', owner.get("/p/sea-bees/adjudicate").text)
    assert first is not None
    page = owner.get(first[1])
    assert "Title of c" in said(page)
    assert "1 vote" in said(page)
    assert "ann" not in said(page).lower().split()
    wrong = owner.send(first[1], answer="7")
    assert wrong.status_code == 422
    assert "No answer '7' on this scale" in said(wrong)
    after = owner.send(first[1], answer="1", reason="it says so")
    assert after.status_code == 303
    last = owner.get(after.headers["location"])
    assert "This is the next one" in said(last)
    owner.send(after.headers["location"], answer="0")
    page = said(owner.get("/p/sea-bees/adjudicate"))
    assert "Everything is decided" in page
    assert "it says so" in page


@pytest.mark.slow
def test_an_export_is_read_by_evaluate_and_has_the_decision(
    owner: Any, story: Callable[[], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    story()
    first = re.search(r'href="(/p/sea-bees/adjudicate/\d+)"', owner.get("/p/sea-bees/adjudicate").text)
    assert first is not None
    owner.get(first[1])
    owner.send(first[1], answer="1", then="")
    answer = owner.get("/p/sea-bees/exports/qrels", params={"which": "one", "failed": "on"})
    assert answer.status_code == 200, answer.text
    assert 'filename="sea-bees.one.qrels"' in answer.headers["content-disposition"]
    (tmp_path / "sea-bees.qrels").write_bytes(answer.content)
    (tmp_path / "my.run").write_text(RUN)
    found = ringtrue(
        capsys, "evaluate", str(tmp_path / "my.run"), "--qrels", str(tmp_path / "sea-bees.qrels"), "-m", "P@4"
    )
    assert found["runs"]["my"]["P@4"]["value"] == pytest.approx((3 + 2) / 8)


def test_all_that_an_owner_does_is_written_down_without_names(
    owner: Any, story: Callable[[], None], web_store: Store
) -> None:
    story()
    owner.get("/p/sea-bees/settings")
    owner.send("/p/sea-bees/close")
    owner.get("/p/sea-bees/exports/csv")
    with web_store.read() as connection:
        found = load_audit_entries(connection)
    actions = [one.action for one in found]
    assert {"make project", "invite", "close project", "export"} <= set(actions)
    assert "Ann" not in json.dumps([one.detail for one in found])
    page = said(owner.get("/p/sea-bees/audit"))
    assert "close project" in page
    assert "make project items: 8; scale: graded" in page


@pytest.mark.slow
def test_a_preference_project_goes_the_same_way(
    owner: Any, visit: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sent = [*files(topics=TOPICS, documents=DOCUMENTS), ("ask", ("pairs.csv", PAIRS.encode(), "text/csv"))]
    made = send_new(owner, sent, scale="preference", traps="0", traps_needed="0")
    assert made.status_code == 303, made.text
    assert judge_all(invite_and_join(owner, visit(), "Ann"), "sea-bees", lambda _: "left") == 3
    assert judge_all(invite_and_join(owner, visit(), "Bob"), "sea-bees", lambda _: "both_good") == 3
    assert "Judgments 6 of 6 wanted" in said(owner.get("/p/sea-bees"))
    assert "Agreement" in said(owner.get("/p/sea-bees/quality"))
    first = re.search(r'href="(/p/sea-bees/adjudicate/\d+)"', owner.get("/p/sea-bees/adjudicate").text)
    assert first is not None
    page = said(owner.get(first[1]))
    assert "First document" in page
    assert "Second document" in page
    owner.send(first[1], answer="right")
    assert "Second document" in said(owner.get("/p/sea-bees/adjudicate"))
    assert "Gold" not in said(owner.get("/p/sea-bees"))
    for key, ending in (("pairs", ".pref"), ("csv", ".csv"), ("jsonl", ".jsonl"), ("parquet", ".parquet")):
        answer = owner.get(f"/p/sea-bees/exports/{key}")
        assert answer.status_code == 200, (key, answer.text)
        (tmp_path / f"found{ending}").write_bytes(answer.content)
        assert ringtrue(capsys, "rate", str(tmp_path / f"found{ending}"))["votes"] == 6
