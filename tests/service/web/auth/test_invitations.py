"""Links: the first owner's, invitations, new passwords."""

from __future__ import annotations

from html import escape
from typing import Any

import pytest
from sqlalchemy import text

from ringtrue.service.store import Store
from ringtrue.service.store.accounts import find_password_hash, get_person
from ringtrue.service.store.invitations import invite, invite_first_owner, load_invitations, revoke_invitation
from ringtrue.service.store.records import Project
from ringtrue.service.web.auth.login import is_correct_password
from service.web.pages import code_of, element_text, has_element

PASSWORD = {"password": "lamp river seven coat", "again": "lamp river seven coat"}


def rows(store: Store, statement: str) -> list[tuple[Any, ...]]:
    with store.read() as connection:
        return [tuple(row) for row in connection.execute(text(statement))]


def test_the_first_owner_comes_in_by_the_link_once(web_store: Store, visit, clock) -> None:
    secret = web_store.write(lambda c: invite_first_owner(c, now=clock()))
    browser = visit()
    assert 'data-role="owner"' in browser.get(f"/welcome/{secret}").text
    done = browser.send(f"/welcome/{secret}", name="Olga O.", **PASSWORD)
    assert (done.status_code, done.headers["location"]) == (303, "/?new=1")
    assert "olga-o" in element_text(browser.get("/?new=1"), "said")
    assert 'href="/projects/new"' in browser.page.text
    found = web_store.write(lambda c: find_password_hash(c, "olga-o"))
    assert found is not None
    assert is_correct_password(PASSWORD["password"], found[1])
    late = visit().get(f"/welcome/{secret}")
    assert (late.status_code, code_of(late)) == (410, "link-used")


def test_a_judge_chooses_a_name_a_handle_and_a_password(web_store: Store, project: Project, nobody, clock) -> None:
    secret = web_store.write(lambda c: invite(c, role="judge", project=project.id, now=clock()))
    page = nobody.get(f"/welcome/{secret}")
    assert 'data-role="judge"' in page.text
    assert "News of 1994" in page.text
    nobody.send(f"/welcome/{secret}", name="Jan <b>", handle="jan", **PASSWORD)
    assert escape("Jan <b>") in nobody.get("/").text
    with_roles = rows(web_store, "SELECT handle, role FROM member m JOIN account a ON a.id = m.account")
    assert with_roles == [("jan", "judge")]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"name": " "}, "missing-name"),
        ({"password": "short", "again": "short"}, "short-password"),
        ({"again": "another one altogether"}, "passwords-differ"),
        ({"handle": "No Spaces"}, "bad-handle"),
        ({"handle": "worker-9"}, "reserved-handle"),
        ({"password": "aaaaaaaaaaaa", "again": "aaaaaaaaaaaa"}, "repetitive-password"),
    ],
)
def test_what_cannot_be_used_is_said_on_the_form_which_keeps_the_rest(
    web_store: Store, project: Project, nobody, clock, fields: dict[str, str], code: str
) -> None:
    secret = web_store.write(lambda c: invite(c, role="judge", project=project.id, now=clock()))
    nobody.get(f"/welcome/{secret}")
    page = nobody.send(f"/welcome/{secret}", **({"name": "Jan"} | PASSWORD | fields))
    assert (page.status_code, code_of(page)) == (422, code)
    assert "lamp river" not in page.text
    assert [link.left for link in web_store.write(lambda c: load_invitations(c, project.id))] == [1]
    assert nobody.send(f"/welcome/{secret}", name="Jan", **PASSWORD).status_code == 303


def test_a_handle_that_is_taken_is_told_and_another_can_be_chosen(
    web_store: Store, project: Project, judge, nobody, clock
) -> None:
    secret = web_store.write(lambda c: invite(c, role="judge", project=project.id, now=clock()))
    nobody.get(f"/welcome/{secret}")
    page = nobody.send(f"/welcome/{secret}", name="Jan", handle="jan-judge", **PASSWORD)
    assert (page.status_code, code_of(page)) == (422, "handle-taken")


def test_who_has_an_account_accepts_with_it(web_store: Store, project: Project, judge, clock) -> None:
    secret = web_store.write(lambda c: invite(c, role="viewer", project=project.id, now=clock()))
    assert has_element(judge.get(f"/welcome/{secret}"), "accept")
    fields = {"word": judge.hidden()["word"], "as": "me"}
    assert judge.post(f"/welcome/{secret}", fields).headers["location"] == "/"
    assert web_store.write(lambda c: get_person(c, judge.account)).roles[project.id] == {"judge", "viewer"}


def test_a_new_password_comes_by_a_link_and_ends_every_visit(web_store: Store, judge, nobody, clock) -> None:
    secret = web_store.write(lambda c: invite(c, role="reset", account=judge.account, days=1, now=clock()))
    page = nobody.get(f"/welcome/{secret}")
    assert not has_element(page, "role")
    assert 'name="name"' not in page.text
    assert nobody.send(f"/welcome/{secret}", **PASSWORD).status_code == 303
    assert "Jan Judge" in nobody.get("/").text
    assert judge.get("/").headers["location"] == "/login"
    assert nobody.get(f"/welcome/{secret}").status_code == 410


@pytest.mark.parametrize("path", ["/welcome/", "/join/"])
def test_links_that_are_unknown_withdrawn_or_too_old_say_so(
    web_store: Store, project: Project, nobody, clock, path: str
) -> None:
    kind: Any = "named" if path == "/welcome/" else "crowd"

    def link() -> str:
        return web_store.write(lambda c: invite(c, role="judge", kind=kind, project=project.id, days=1, now=clock()))

    unknown = nobody.get(f"{path}{'x' * 43}")
    assert (unknown.status_code, code_of(unknown)) == (404, "unknown-link")
    withdrawn, old = link(), link()
    number = web_store.write(lambda c: load_invitations(c, project.id))[1].id
    web_store.write(lambda c: revoke_invitation(c, number, project=project.id, now=clock()))
    gone = nobody.get(f"{path}{withdrawn}")
    assert (gone.status_code, code_of(gone)) == (410, "link-withdrawn")
    clock.now += 86_400
    late = nobody.get(f"{path}{old}")
    assert (late.status_code, code_of(late)) == (410, "link-expired")
