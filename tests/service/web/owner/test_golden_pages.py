"""The words of the owner's pages, in their main states."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from ringtrue.service.store import Store
from ringtrue.service.store.projects import get_project_by_name
from service.full_disks import make_read_only
from service.web.owner.stories import FORM, RUN, files, judge_all, send_new, title_shown, whole
from service.web.pages import words_on


@pytest.fixture
def hold(golden: Callable[[str, str], None]) -> Callable[[str, Any], None]:
    """Holds the words of a page against their file."""
    return lambda name, page: golden(f"pages/owner/{name}.txt", words_on(page))


@pytest.fixture
def judged(owner: Any, visit: Callable[..., Any], account: Callable[..., int], web_store: Store) -> None:
    """The small project, judged by Ann, and by Bob, who differs on two documents and fails his traps."""
    send_new(owner, whole())
    with web_store.read() as connection:
        project = get_project_by_name(connection, "sea-bees")
    for name, good in (("Ann", "ab"), ("Bob", "abct")):
        judge = visit(account(name, project, "judge"))
        judge_all(judge, "sea-bees", lambda page, good=good: "1" if title_shown(page) in good else "0")


def test_golden_pages_of_a_new_project(hold: Callable[[str, Any], None], owner: Any) -> None:
    hold("new", owner.get("/projects/new"))
    wrong = {"title": "", "judges": "two", "traps": "10", "scale": "stars", "minutes": "9999"}
    hold("new_wrong", send_new(owner, files(ask=RUN, topics=""), **wrong))
    made = send_new(owner, whole())
    hold("made", owner.get(made.headers["location"]))
    hold("people_none", owner.get("/p/sea-bees/people"))
    hold("quality_none", owner.get("/p/sea-bees/quality"))
    hold("disagreements_none", owner.get("/p/sea-bees/adjudicate"))
    hold("gold_none", owner.get("/p/sea-bees/gold"))
    hold("exports_none", owner.get("/p/sea-bees/exports"))
    hold("files", owner.get("/p/sea-bees/files"))
    hold("files_wrong", owner.post("/p/sea-bees/files", owner.hidden() | {"depth": "deep"}, files=files(topics="")))
    hold("settings", owner.get("/p/sea-bees/settings"))
    hold("settings_wrong", owner.send("/p/sea-bees/settings", title="", task_size="many"))
    hold("delete", owner.get("/p/sea-bees/delete"))
    hold("delete_wrong", owner.send("/p/sea-bees/delete", typed="x"))
    hold("name_taken", send_new(owner, whole()))


def test_golden_pages_of_people(hold: Callable[[str, Any], None], owner: Any) -> None:
    send_new(owner, whole())
    owner.get("/p/sea-bees/people")
    named = {"kind": "named", "role": "judge", "days": "7"}
    hold("invited", owner.send("/p/sea-bees/invitations", **named, whom="Hanna\nIvan"))
    owner.get("/p/sea-bees/people")
    crowd = {"kind": "crowd", "code": "C1", "partial_code": "HALF", "uses": "3", "crowd_days": "30"}
    hold("invited_crowd", owner.send("/p/sea-bees/invitations", **crowd, own_codes="on", id_required="on"))
    owner.get("/p/sea-bees/people")
    hold("people_wrong", owner.send("/p/sea-bees/invitations", **crowd | {"partial_code": "C1", "uses": "x"}))
    owner.get("/p/sea-bees/people")
    owner.send("/p/sea-bees/people/me", role="judge")
    hold("people", owner.get("/p/sea-bees/people"))
    hold("erase", owner.get(f"/people/{owner.account}/erase"))
    hold("only_owner", owner.send(f"/people/{owner.account}/erase"))


def test_golden_pages_of_what_was_judged(
    hold: Callable[[str, Any], None], owner: Any, viewer: Any, judged: None
) -> None:
    hold("progress", owner.get("/p/sea-bees"))
    hold("quality", owner.get("/p/sea-bees/quality"))
    task = re.search(r"/p/sea-bees/tasks/\d+/set-aside", owner.page.text)
    assert task is not None
    owner.send(task[0])
    hold("quality_set_aside", owner.get("/p/sea-bees/quality"))
    again = re.search(r"/p/sea-bees/tasks/\d+/count-again", owner.page.text)
    assert again is not None
    owner.send(again[0])
    disagreements = owner.get("/p/sea-bees/adjudicate")
    hold("disagreements", disagreements)
    first = re.search(r'href="(/p/sea-bees/adjudicate/\d+)"', disagreements.text)
    assert first is not None
    hold("adjudicate", owner.get(first[1]))
    hold("adjudicate_wrong", owner.send(first[1], answer="7"))
    owner.send(first[1], answer="1", reason="obvious")
    hold("disagreements_decided", owner.get("/p/sea-bees/adjudicate"))
    hold("exports", owner.get("/p/sea-bees/exports"))
    hold("exports_wrong", owner.get("/p/sea-bees/exports/csv?judge=nobody"))
    hold("gold", owner.get("/p/sea-bees/gold"))
    form = {"how": "documents", "number": "6", "measures": "P@4", "wanted": "1"}
    hold("gold_wrong", owner.post("/p/sea-bees/gold", owner.hidden() | form | {"number": "0", "measures": "P@@"}))
    owner.get("/p/sea-bees/gold")
    owner.post("/p/sea-bees/gold", owner.hidden() | form)
    hold("gold_drawn", owner.get("/p/sea-bees/gold"))


def test_golden_pages_of_imports(hold: Callable[[str, Any], None], owner: Any) -> None:
    send_new(owner, whole())
    hold("import", owner.get("/p/sea-bees/import"))
    hold("import_wrong", owner.post("/p/sea-bees/import", owner.hidden(), files=files(labels="")))
    labels = "query,doc,judge,label\nq1,a,zoe,1\nq1,z,zoe,0\n"
    owner.post("/p/sea-bees/import", owner.hidden(), files=files(labels=labels))
    address = re.search(r'href="([^"]+/take-back)"', owner.get("/p/sea-bees/files").text)
    assert address is not None
    hold("take_back", owner.get(address[1]))
    owner.send(address[1])
    hold("taken_back", owner.get("/p/sea-bees/files"))
    hold("audit", owner.get("/p/sea-bees/audit"))


def test_golden_pages_of_the_server(hold: Callable[[str, Any], None], owner: Any, judge: Any, web_store: Store) -> None:
    hold("server_people", owner.get("/server/people"))
    hold("owner_invited", owner.send("/server/owners", note="Otto"))
    owner.get("/server/people")
    hold("reset", owner.send(f"/people/{judge.account}/reset"))
    hold("backup", owner.get("/server/backup"))
    hold("server_audit", owner.get("/server/audit"))
    make_read_only(web_store)
    owner.post("/projects/new", FORM | owner.hidden())
    owner.get("/healthz")
    hold("read_only", owner.get("/server/backup"))
