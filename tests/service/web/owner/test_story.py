"""The owner's whole way: make a project, invite, watch, look at quality, decide, export, and evaluate."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ringtrue.service.store import Scale, Store
from ringtrue.service.store.audit_log import load_audit_entries
from ringtrue.service.web.owner.progress import STATISTIC_NAMES
from ringtrue.service.web.owner.project_form import default_guidelines
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
from service.web.pages import code_of, codes_on, figures, link_text, notices, numbers, table_rows


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
    page = owner.get(made.headers["location"])
    assert numbers(notices(page)[0]) == [8, 2, 5, 2]  # items, texts of queries and documents, traps
    assert 'class="card steps"' in page.text
    assert link_text(page, "/p/sea-bees/people")
    assert notices(owner.get("/p/sea-bees")) == []


def test_guidelines_that_are_left_empty_are_filled_with_a_text_for_the_scale(owner: Any) -> None:
    send_new(owner, whole())
    filled_in = default_guidelines(Scale.graded("Not relevant", "Relevant")).splitlines()[-1]
    assert filled_in in said(owner.get("/p/sea-bees/settings"))
    assert "Not relevant" in said(owner.get("/p/sea-bees/guidelines"))


@pytest.mark.slow
def test_progress_counts_what_was_judged_by_judge_and_by_query(owner: Any, story: Callable[[], None]) -> None:
    story()
    page = owner.get("/p/sea-bees")
    assert numbers(figures(page)["Judgments"]) == [16, 16]
    assert numbers(figures(page)["Complete items"]) == [8, 8]
    by_name = {row[0]: row[1:] for row in table_rows(page)}
    assert by_name["ann"][:4] == by_name["bob"][:4] == ["8", "0", "0", "0"]
    assert by_name["bob"][5] == "0 of 2"
    assert {name for name in by_name if name.startswith("q")} == {"q1 wind at sea", "q2 bees at home"}
    assert link_text(page, "/p/sea-bees/quality#failed") == "1 task"
    assert link_text(page, "/p/sea-bees/adjudicate") == "2 items"


def test_why_judges_could_not_tell_is_counted_in_their_words(owner: Any, visit: Callable[..., Any]) -> None:
    send_new(owner, whole())
    ann = invite_and_join(owner, visit(), "Ann")
    for _ in range(3):  # two of them may be traps, which are not counted
        ann.begin("sea-bees")
        ann.send("/p/sea-bees/answer", kind="unsure", reason="<b>torn</b>")
    page = owner.get("/p/sea-bees")
    assert re.search("[123] <b>torn</b>", said(page))
    assert "<b>torn</b>" not in page.text
    assert numbers(figures(page)["At work now"])[0] == 1
    assert numbers(figures(page)["Judges with answers"]) == [0, 1]


@pytest.mark.slow
def test_quality_shows_agreement_judges_and_failed_tasks_which_can_be_set_aside(
    owner: Any, story: Callable[[], None]
) -> None:
    story()
    page = owner.get("/p/sea-bees/quality")
    assert "75%" in page.text
    assert STATISTIC_NAMES["alpha_ordinal"] in said(page)
    assert ["bob", "0 of 2", "8"] in [row[:3] for row in table_rows(page)]
    task = re.search(r"/p/sea-bees/tasks/(\d+)/set-aside", owner.page.text)
    assert task is not None
    done = owner.send(task[0])
    assert done.status_code == 303
    page = owner.get("/p/sea-bees/quality")
    assert len(notices(page)) == 1
    assert codes_on(page)[0] == "one-judge"
    assert numbers(figures(owner.get("/p/sea-bees"))["Judgments"]) == [8, 16]
    again = re.search(r"/p/sea-bees/tasks/\d+/count-again", owner.get("/p/sea-bees/quality").text)
    assert again is not None
    assert owner.send(again[0]).status_code == 303
    assert numbers(notices(owner.get("/p/sea-bees/quality"))[0]) == [8]
    assert numbers(figures(owner.get("/p/sea-bees"))["Judgments"]) == [16, 16]
    owner.get("/p/sea-bees/quality")
    assert owner.send(again[0]).status_code == 303
    assert codes_on(owner.get("/p/sea-bees/quality"))[0] == "not-set-aside"


@pytest.mark.slow
def test_a_task_that_did_not_fail_or_is_elsewhere_cannot_be_set_aside(owner: Any, story: Callable[[], None]) -> None:
    story()
    owner.get("/p/sea-bees/quality")
    for task in (1, 999, 2**70):
        answer = owner.send(f"/p/sea-bees/tasks/{task}/set-aside")
        assert answer.status_code in (404, 422)
    assert numbers(figures(owner.get("/p/sea-bees"))["Judgments"]) == [16, 16]


def test_disagreements_are_decided_one_after_another_without_names(owner: Any, story: Callable[[], None]) -> None:
    story()
    first = re.search(r'href="(/p/sea-bees/adjudicate/\d+)"', owner.get("/p/sea-bees/adjudicate").text)
    assert first is not None
    page = owner.get(first[1])
    assert "Title of c" in said(page)
    assert "1 vote" in said(page)
    assert "ann" not in said(page).lower().split()
    wrong = owner.send(first[1], answer="7")
    assert (wrong.status_code, code_of(wrong)) == (422, "unknown-answer")
    after = owner.send(first[1], answer="1", reason="obvious")
    assert after.status_code == 303
    last = owner.get(after.headers["location"])
    assert len(notices(last)) == 1
    assert last.url.path != first[1]
    owner.send(after.headers["location"], answer="0")
    page = owner.get("/p/sea-bees/adjudicate")
    assert 'class="empty"' in page.text
    assert "obvious" in said(page)


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
    page = table_rows(owner.get("/p/sea-bees/audit"))
    assert "close project" in [cell for row in page for cell in row]
    (made,) = (row for row in page if "make project" in row)
    assert numbers(" ".join(made[2:])) == [8]


@pytest.mark.slow
def test_a_preference_project_goes_the_same_way(
    owner: Any, visit: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sent = [*files(topics=TOPICS, documents=DOCUMENTS), ("ask", ("pairs.csv", PAIRS.encode(), "text/csv"))]
    made = send_new(owner, sent, scale="preference", traps="0", traps_needed="0")
    assert made.status_code == 303, made.text
    assert judge_all(invite_and_join(owner, visit(), "Ann"), "sea-bees", lambda _: "left") == 3
    assert judge_all(invite_and_join(owner, visit(), "Bob"), "sea-bees", lambda _: "both_good") == 3
    assert numbers(figures(owner.get("/p/sea-bees"))["Judgments"]) == [6, 6]
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
