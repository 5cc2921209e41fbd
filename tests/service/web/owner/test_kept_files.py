"""Files that were chosen survive an error in the form."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from ringtrue.service.store import Store
from ringtrue.service.store.projects import load_uploads
from ringtrue.service.web.disk_space import DiskSpace
from ringtrue.service.web.owner import kept_files
from service.web.owner.stories import FORM, RUN, TOPICS, TRAPS, beside, files, said, send_new, whole
from service.web.pages import code_beside, codes_on, has_element, notices, numbers


def kept_in(folder: Path) -> list[Path]:
    """The files that wait, but for the lists of them."""
    return [file for file in folder.glob("ringtrue-kept-*/*/*") if file.name != "index.json"]


def boxes(page: Any) -> dict[str, list[str]]:
    """The boxes of kept files as a browser sends them."""
    found: dict[str, list[str]] = {}
    for field, number in re.findall(r'name="(kept_\w+)" type="checkbox" value="(\d+)" checked', page.text):
        found.setdefault(field, []).append(number)
    return found


def send_again(owner: Any, sent: Any = (), **changed: Any) -> Any:
    """Send the form as it stands on the page, with changes."""
    form = FORM | boxes(owner.page) | owner.hidden() | changed
    return owner.post("/projects/new", form, files=list(sent) or [("topics", ("", b"", "application/octet-stream"))])


def test_files_need_not_be_chosen_again_after_an_error(owner: Any, web_store: Store, temporary: Path) -> None:
    page = send_new(owner, whole(), judges="none")
    assert page.status_code == 422
    assert not has_element(page, "choose-again")
    for name in ("ask.run", "topics.csv", "documents.csv", "trap_file.csv"):
        assert name in said(page)
    assert len(kept_in(temporary)) == 4
    made = send_again(owner)
    assert made.status_code == 303, said(made)
    assert made.headers["location"] == "/p/sea-bees"
    assert numbers(notices(owner.get("/p/sea-bees"))[0]) == [8, 2, 5, 2]
    assert kept_in(temporary) == []  # what has done its work is not kept


def test_files_survive_a_name_that_is_taken_and_an_error_in_one_of_them(owner: Any) -> None:
    send_new(owner, whole())
    assert send_new(owner, whole()).status_code == 409
    assert send_again(owner, name="again").status_code == 303
    page = send_new(owner, files(ask=RUN, topics="query,text\nelsewhere,x\n"), name="third")
    assert code_beside(page, "topics") == "none-asked-about"
    assert send_again(owner, files(topics=TOPICS), name="third").status_code == 303  # a new file takes its place


def test_a_file_that_was_refused_is_left_out_unless_it_is_ticked(owner: Any) -> None:
    page = send_new(owner, files(ask=RUN, documents="doc,text\na,A\n", topics="query,text\nelsewhere,x\n"))
    assert code_beside(page, "topics") == "none-asked-about"
    assert "refused" in said(page)
    assert boxes(page).keys() == {"kept_ask", "kept_documents"}
    assert (
        send_again(owner, kept_topics=re.findall(r'name="kept_topics".*?value="(\d+)"', page.text)).status_code == 422
    )
    assert send_again(owner).status_code == 303
    assert numbers(notices(owner.get("/p/sea-bees"))[0])[1] == 0


def test_a_kept_file_is_removed_by_its_box(owner: Any) -> None:
    send_new(owner, files(ask=RUN, trap_file=TRAPS), judges="none")
    made = send_again(owner, kept_trap_file=[])
    assert made.status_code == 303
    assert numbers(notices(owner.get("/p/sea-bees"))[0])[3] == 0


def test_a_run_is_replaced_by_one_of_its_name_and_the_others_stay(owner: Any, web_store: Store) -> None:
    sent = files(ask=RUN, ask2="junk\n", topics=TOPICS)
    assert "ask2.run" in beside(send_new(owner, sent), "ask")
    assert send_again(owner, files(ask2=RUN.replace("bm25", "neural"))).status_code == 303
    with web_store.read() as connection:
        kept = [(one.kind, one.name) for one in load_uploads(connection, 1)]
    assert kept == [("run", "ask.run"), ("run", "ask2.run"), ("topics", "topics.csv")]


def test_files_are_kept_through_several_errors_in_a_row(owner: Any, temporary: Path) -> None:
    send_new(owner, files(ask=RUN), judges="none")
    for _ in range(3):
        page = send_again(owner, judges="none")
        assert "ask.run" in said(page)
        assert len(kept_in(temporary)) == 1
    assert send_again(owner).status_code == 303


def test_kept_files_belong_to_the_login_that_sent_them(
    owner: Any, visit: Callable[..., Any], account: Callable[..., int]
) -> None:
    send_new(owner, files(ask=RUN), judges="none")
    token = owner.hidden()["kept"]
    other = visit(account("Otto Owner", owner=True))
    other.get("/projects/new")
    page = other.post("/projects/new", FORM | other.hidden() | {"kept": token, "kept_ask": ["0"]})
    assert page.status_code == 422
    assert "file-not-kept-longer" in codes_on(page)


@pytest.mark.parametrize("token", ["../../../etc/passwd", "x", "\x00", "../" * 50])
def test_a_token_that_is_made_up_finds_nothing(owner: Any, token: str) -> None:
    owner.get("/projects/new")
    page = owner.post("/projects/new", FORM | owner.hidden() | {"kept": token, "kept_ask": ["0", "x", "-1"]})
    assert page.status_code == 422
    assert "file-not-kept-longer" in codes_on(page)


def test_after_an_hour_they_are_gone(owner: Any, temporary: Path) -> None:
    send_new(owner, files(ask=RUN), judges="none")
    (waiting,) = temporary.glob("ringtrue-kept-*/*")
    os.utime(waiting, (1, 1))
    page = send_again(owner)
    assert code_beside(page, "ask") == "file-not-kept-longer"
    assert not waiting.exists()


def test_the_server_removes_what_nobody_comes_back_for(owner: Any, app: FastAPI, temporary: Path) -> None:
    kept_files.remove_old_sets(app.state.server)
    assert list(temporary.iterdir()) == []  # nothing is made where nothing is kept
    for _ in range(2):
        send_new(owner, files(ask=RUN), judges="none")
    old, young = temporary.glob("ringtrue-kept-*/*")
    os.utime(old, (1, 1))
    kept_files.remove_old_sets(app.state.server)
    assert [one for one in (old, young) if one.exists()] == [young]


def test_only_so_many_and_so_much_is_kept(owner: Any, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_files, "MAX_SETS", 3)
    for _ in range(6):
        send_new(owner, files(ask=RUN), judges="none")
    assert len(kept_in(temporary)) == 3
    for _ in range(6):
        send_new(owner, files(ask=RUN + "#" * 2_000_000), judges="none")
        assert sum(file.stat().st_size for file in kept_in(temporary)) <= 3 * 3_000_000  # of what a form may send


def test_where_nothing_can_be_kept_the_form_asks_for_the_files_again(owner: Any, temporary: Path) -> None:
    temporary.rmdir()  # as a disk that is full, or gone
    page = send_new(owner, files(ask=RUN), judges="none")
    assert page.status_code == 422
    assert has_element(page, "choose-again")
    assert "files-not-kept" in codes_on(page)
    assert boxes(page) == {}


def test_nothing_is_kept_where_room_is_low_or_would_be_and_the_page_says_so(
    owner: Any, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = 500_500_000
    monkeypatch.setattr(kept_files, "measure_disk", lambda folder: DiskSpace(total=10**10, free=free))
    assert "no-room-to-keep-files" not in codes_on(send_new(owner, files(ask=RUN), judges="none"))
    assert len(kept_in(temporary)) == 1
    for free, padding in ((500_500_000, 1_000_000), (499_000_000, 0)):  # noqa: B007 - which the function above reads
        page = send_again(owner, files(ask=RUN + "#" * padding), judges="none")
        assert page.status_code == 422
        assert "no-room-to-keep-files" in codes_on(page)
        assert (kept_in(temporary), boxes(page)) == ([], {})


def test_older_sets_stay_where_their_room_would_not_be_enough_for_a_new_one(
    owner: Any, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_files, "MAX_SETS", 1)
    free = 10**10
    monkeypatch.setattr(kept_files, "measure_disk", lambda folder: DiskSpace(total=10**10, free=free))
    send_new(owner, files(ask=RUN), judges="none")
    (waiting,) = kept_in(temporary)
    free = 500_500_000
    send_new(owner, files(ask=RUN + "#" * 1_000_000), judges="none")
    assert kept_in(temporary) == [waiting]
    send_new(owner, files(ask=RUN + "#" * 100_000), judges="none")
    assert [file.stat().st_size > 100_000 for file in kept_in(temporary)] == [True]
    free = 499_950_000  # too little, but for what the older set takes
    send_new(owner, files(ask=RUN), judges="none")
    assert [file.stat().st_size < 100_000 for file in kept_in(temporary)] == [True]


def test_a_folder_of_somebody_else_is_not_used(owner: Any, temporary: Path) -> None:
    send_new(owner, files(ask=RUN), judges="none")
    (ours,) = temporary.glob("ringtrue-kept-*")
    elsewhere = temporary / "elsewhere"
    ours.rename(elsewhere)
    ours.symlink_to(elsewhere)
    assert "file-not-kept-longer" in codes_on(send_again(owner))
    assert has_element(send_new(owner, files(ask=RUN), judges="none"), "choose-again")


def test_more_files_for_a_project_and_labels_to_draw_from_survive_too(owner: Any) -> None:
    send_new(owner, whole())
    owner.get("/p/sea-bees/files")
    page = owner.post("/p/sea-bees/files", owner.hidden() | {"depth": "none"}, files=files(ask=RUN, trap_file=TRAPS))
    assert "ask.run" in said(page)
    form = owner.hidden() | boxes(page) | {"depth": "2"}
    assert owner.post("/p/sea-bees/files", form).status_code == 303
    owner.get("/p/sea-bees/gold")
    draw = {"how": "documents", "number": "none", "measures": "P@2", "wanted": "1"}
    page = owner.post("/p/sea-bees/gold", owner.hidden() | draw, files=files(bronze="query,doc,label\nq1,a,1\n"))
    assert "bronze.csv" in said(page)
