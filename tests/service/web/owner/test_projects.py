"""Making, extending, changing, closing and deleting a project: what is wrong stands beside its field, and nothing is
half made."""

from __future__ import annotations

import gzip
import re
from html import escape
from typing import Any

import pytest
from sqlalchemy import func, select

from ringtrue.service.store import Store, schema
from ringtrue.service.store.projects import get_project_by_name, load_projects
from ringtrue.service.store.records import Project
from service.web.owner.stories import (
    DOCUMENTS,
    FORM,
    PAIRS,
    RUN,
    SETTINGS,
    TOPICS,
    TRAPS,
    beside,
    files,
    send_new,
    whole,
)
from service.web.pages import code_beside, code_of, codes_on, notices, numbers, table_rows


def is_empty(store: Store) -> bool:
    with store.read() as connection:
        tables = (schema.project, schema.query, schema.document, schema.item, schema.upload)
        return not any(connection.execute(select(func.count()).select_from(table)).scalar_one() for table in tables)


@pytest.mark.parametrize(
    ("sent", "field", "code"),
    [
        ({}, "ask", "no-files"),
        ({"ask": ""}, "ask", "empty-file"),
        ({"ask": "hello\n"}, "ask", "unknown-content"),
        ({"ask": b"\x00\xff\xfe\x01" * 50}, "ask", "binary-file"),
        ({"ask": RUN, "topics": ""}, "topics", "empty-file"),
        ({"ask": RUN, "topics": "nothing\nuseful\n"}, "topics", "unknown-content"),
        ({"ask": RUN, "topics": "query,text\nz9,elsewhere\n"}, "topics", "none-asked-about"),
        ({"ask": RUN, "documents": "a,b\n1,2\n"}, "documents", "missing-column"),
        ({"ask": RUN, "trap_file": "query,doc,label\nq1,t,9\n"}, "trap_file", "unknown-answer"),
        ({"ask": RUN, "trap_file": "query,doc\nq1,t\n"}, "trap_file", "missing-column"),
        ({"ask": gzip.compress(RUN.encode())[:40]}, "ask", "damaged-file"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_told_beside_its_field_and_nothing_is_made(
    owner: Any, web_store: Store, sent: dict[str, Any], field: str, code: str
) -> None:
    answer = send_new(owner, files(**sent), title="Mine", guidelines="My <words>")
    assert (answer.status_code, code_beside(answer, field)) == (422, code)
    name = f"{field}.{'run' if field == 'ask' else 'csv'}"
    assert beside(answer, field).startswith(f"{name}:") or not sent
    assert 'value="Mine"' in answer.text
    assert escape("My <words>") in answer.text
    assert ('class="inner kept"' in answer.text) == any(sent.values())
    assert is_empty(web_store)


@pytest.mark.parametrize(
    ("changed", "field", "code"),
    [
        ({"title": " "}, "title", "missing-title"),
        ({"title": "x" * 201}, "title", "long-title"),
        ({"title": "李"}, "name", "no-name-from-title"),
        ({"name": "Not/good"}, "name", "bad-project-name"),
        ({"scale": "graded", "grades": "one"}, "grades", "bad-grade-count"),
        ({"scale": "graded", "grades": "Good\ngood"}, "grades", "same-grade-names"),
        ({"scale": "graded", "grades": f"Good\n{'x' * 61}"}, "grades", "long-grade-name"),
        ({"judges": "two"}, "judges", "not-a-whole-number"),
        ({"judges": "0"}, "judges", "not-a-whole-number"),
        ({"judges": ""}, "judges", "not-a-whole-number"),
        ({"minutes": "9999"}, "minutes", "not-a-whole-number"),
        ({"traps": "10"}, "traps", "bad-setting"),
        ({"traps_needed": "3"}, "traps_needed", "bad-setting"),
        ({"depth": "1e3"}, "depth", "not-a-whole-number"),
        ({"judges": "9" * 400}, "judges", "not-a-whole-number"),
        ({"active": "on"}, "active", "active-needs-pairs"),
    ],
)  # fmt: skip
def test_a_field_that_cannot_be_used_is_told_and_what_was_typed_is_kept(
    owner: Any, web_store: Store, changed: dict[str, str], field: str, code: str
) -> None:
    answer = send_new(owner, whole(), **changed)
    assert (answer.status_code, code_beside(answer, field)) == (422, code)
    assert f'href="#{field}"' in answer.text
    assert is_empty(web_store)


def test_choices_that_no_form_has_are_refused(owner: Any, web_store: Store) -> None:
    for changed in ({"scale": "stars"}, {"failed_traps": "fire"}, {"scale": None}):
        answer = send_new(owner, whole(), **changed)
        (field,) = changed
        assert (answer.status_code, code_beside(answer, field)) == (422, "unknown-choice")
    assert is_empty(web_store)


def test_a_run_is_no_file_of_pairs_and_pairs_are_no_run(owner: Any, web_store: Store) -> None:
    answer = send_new(owner, files(ask=PAIRS), scale="binary")
    assert answer.status_code == 422
    assert "ask.run" in beside(answer, "ask")
    answer = send_new(owner, files(ask="q1,d1,1,judge\n"), scale="preference", traps="0", traps_needed="0")
    assert answer.status_code == 422
    assert is_empty(web_store)


def test_a_name_that_is_taken_is_told_and_the_project_there_is_untouched(owner: Any, web_store: Store) -> None:
    assert send_new(owner, whole()).status_code == 303
    again = send_new(owner, whole(), title="Sea bees")
    assert again.status_code == 409
    assert code_beside(again, "name") == "project-name-taken"
    with web_store.read() as connection:
        assert [one.title for one in load_projects(connection)] == ["Sea & bees"]


def test_an_upload_that_is_too_large_is_a_page_and_nothing_is_made(owner: Any, web_store: Store) -> None:
    answer = send_new(owner, files(ask=RUN, documents=b"x" * 3_500_000))
    assert (answer.status_code, code_of(answer)) == (413, "request-too-large")
    assert is_empty(web_store)


def test_settings_and_grades_arrive_as_they_were_chosen(owner: Any, web_store: Store) -> None:
    made = send_new(
        owner, whole(), scale="graded", grades="Bad\n\n Fair \nGood", minutes="", shortcuts=None, html="on",
        name="mine", failed_traps="set_aside", guidelines="# Rules\r\nRead.",
    )  # fmt: skip
    assert made.headers["location"] == "/p/mine"
    with web_store.read() as connection:
        project = get_project_by_name(connection, "mine")
    assert [label.name for label in project.scale.labels] == ["Bad", "Fair", "Good"]
    found = project.settings
    assert (found.minutes, found.shortcuts, found.html, found.failed_traps) == (None, False, True, "set_aside")
    assert project.guidelines == "# Rules\nRead."


def test_what_earns_the_completion_code_arrives_as_it_was_chosen(owner: Any, web_store: Store) -> None:
    chosen = {"completion_answered": "90", "completion_unsure": "12.5", "completion_seconds": "3"}
    send_new(owner, whole(), name="mine", completion_traps="on", **chosen)
    with web_store.read() as connection:
        found = get_project_by_name(connection, "mine").settings
    shown = (found.completion_answered, found.completion_unsure, found.completion_traps, found.completion_seconds)
    assert shown == (0.9, 0.125, True, 3)
    page = owner.get("/p/mine/settings").text
    for name, value in chosen.items():
        assert re.search(rf'<input [^>]*id="{name}"[^>]*value="{value}"', page), name
    for wrong in ("101", "-1", "a", "", "nan", "1e2"):
        refused = send_new(owner, whole(), name="other", completion_unsure=wrong)
        assert (refused.status_code, code_beside(refused, "completion_unsure")) == (422, "not-a-percentage")


def test_several_runs_are_pooled_at_the_depth_that_was_asked(owner: Any) -> None:
    other = RUN.replace(" a ", " z ")
    made = send_new(owner, files(ask1=RUN, ask2=other), depth="1")
    assert numbers(notices(owner.get(made.headers["location"]))[0])[0] == 4


def test_names_with_markup_and_nul_are_shown_as_text(owner: Any) -> None:
    made = send_new(owner, files(ask=RUN), title="<script>alert(1)</script>\x00", name="odd")
    assert made.status_code == 303, made.text
    page = owner.get("/p/odd")
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert(1)" in page.text


def test_more_files_can_be_added_and_wrong_ones_change_nothing(owner: Any) -> None:
    send_new(owner, files(ask=RUN))
    assert ["ask.run", "run"] in [row[:2] for row in table_rows(owner.get("/p/sea-bees/files"))]
    form = owner.hidden() | {"depth": "10"}
    for sent, field, code in (
        ([], None, "no-files"),
        (files(topics="query,text\nz,z\n", ask="junk"), "ask", "unknown-content"),
        (files(documents=""), "documents", "empty-file"),
    ):
        answer = owner.post("/p/sea-bees/files", form, files=sent or None)
        assert answer.status_code == 422
        assert code == (code_of(answer) if field is None else code_beside(answer, field))
    added = owner.post("/p/sea-bees/files", form, files=files(topics=TOPICS, documents=DOCUMENTS, trap_file=TRAPS))
    assert added.status_code == 303, added.text
    assert numbers(notices(owner.get("/p/sea-bees/files"))[0]) == [0, 2, 5, 2]
    assert "q1 wind at sea" in [row[0] for row in table_rows(owner.get("/p/sea-bees"))]


def test_an_uploaded_file_comes_back_as_it_was(owner: Any) -> None:
    send_new(owner, [("ask", ('my "best" rün.run', RUN.encode(), "text/plain"))])
    found = re.search(r'href="(/p/sea-bees/files/\d+)"', owner.get("/p/sea-bees/files").text)
    assert found is not None
    answer = owner.get(found[1])
    assert answer.content == RUN.encode()
    assert "attachment" in answer.headers["content-disposition"]
    assert "r%C3%BCn.run" in answer.headers["content-disposition"]
    assert owner.get("/p/sea-bees/files/999").status_code == 404


def test_settings_are_changed_and_wrong_ones_refused(owner: Any, project: Project, web_store: Store) -> None:
    owner.get("/p/news/settings")
    form = {name: value for name, value in FORM.items() if name in SETTINGS} | {"guidelines": "New rules"}
    wrong = owner.send("/p/news/settings", **form | {"title": "T", "task_size": "many"})
    assert (wrong.status_code, code_beside(wrong, "task_size")) == (422, "not-a-whole-number")
    done = owner.send("/p/news/settings", **form | {"title": "News again", "judges": "5"})
    assert done.status_code == 303, done.text
    with web_store.read() as connection:
        now = get_project_by_name(connection, "news")
    assert (now.title, now.guidelines, now.settings.judges, now.settings.html) == ("News again", "New rules", 5, False)
    assert len(notices(owner.get("/p/news/settings"))) == 1


def test_a_project_is_closed_and_opened_again(owner: Any, judge: Any, project: Project) -> None:
    owner.get("/p/news/settings")
    owner.send("/p/news/close")
    assert judge.get("/p/news/judge", follow_redirects=True).status_code == 410
    assert 'action="/p/news/open"' in owner.get("/p/news/settings").text
    owner.send("/p/news/open")
    assert judge.get("/p/news/judge", follow_redirects=True).status_code == 200


def test_a_project_is_deleted_only_by_its_name(owner: Any, project: Project, web_store: Store) -> None:
    owner.get("/p/news/delete")
    wrong = owner.send("/p/news/delete", typed="News")
    assert (wrong.status_code, code_beside(wrong, "typed")) == (422, "unconfirmed-deletion")
    assert owner.send("/p/news/delete", typed=" news ").headers["location"] == "/"
    assert owner.get("/p/news").status_code == 404
    assert is_empty(web_store)
    assert "delete project" in [row[2] for row in table_rows(owner.get("/server/audit"))]


def test_letters_of_other_languages_make_an_address(owner: Any) -> None:
    made = send_new(owner, whole(), title="Smørrebrød & Größe")
    assert made.headers["location"] == "/p/smorrebrod-grosse"


def test_pairs_that_are_chosen_as_votes_arrive_have_no_number_of_judges(owner: Any) -> None:
    made = send_new(owner, files(ask=RUN), scale="preference", active="on", traps="0", traps_needed="0")
    assert made.status_code == 303, made.text
    assert codes_on(owner.get("/p/sea-bees"))[0] == "first-pairs-chosen"  # more follow as votes arrive
    settings = owner.get("/p/sea-bees/settings")
    assert owner.hidden()["judges"]
    assert 'for="judges"' not in settings.text
    assert owner.send("/p/sea-bees/settings", **SETTINGS, title="Other").status_code == 303


@pytest.mark.parametrize(
    ("field", "text", "code"),
    [
        ("trap_file", "q1 Q0 a 1 3 x\n", "other-kind"),
        ("trap_file", "query,doc,label\nq1,t,3\n", "unknown-answer"),
        ("ask", "what is this\n", "unknown-content"),
    ],
)
def test_errors_are_told_without_the_command_line(owner: Any, field: str, text: str, code: str) -> None:
    sent = files(**({"ask": RUN} | {field: text}))
    answer = send_new(owner, sent)
    assert (answer.status_code, code_beside(answer, field)) == (422, code)
    assert "--" not in beside(answer, field)
