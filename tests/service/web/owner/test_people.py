"""Invitations, members, new passwords, erasing: secrets are shown once, and what was judged stays."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import Any

import pytest
from sqlalchemy import select

from ringtrue.service.store import Store, schema
from ringtrue.service.store.accounts import load_accounts
from ringtrue.service.store.audit_log import load_audit_entries
from ringtrue.service.store.invitations import load_invitations
from ringtrue.service.store.records import Project
from ringtrue.service.web.owner.people import CROWD_FLAGS
from service.web.owner.stories import judge_all, link_in, said, send_new, title_shown, whole
from service.web.pages import code_beside, code_of, table_rows


def test_each_line_makes_a_link_for_one_person_which_is_shown_once(owner: Any, project: Project) -> None:
    owner.get("/p/news/people")
    page = owner.send("/p/news/invitations", kind="named", role="viewer", days="7", whom="Hanna\n\nIvan <i>\n")
    links = re.findall(r'value="http://ringtrue.test(/welcome/[^"]+)"', page.text)
    assert (page.status_code, len(set(links))) == (200, 2)
    assert escape("Ivan <i>") in page.text
    listed = owner.get("/p/news/people")
    assert ["Hanna", "viewer", "open"] in [row[:3] for row in table_rows(listed)]
    assert not [link for link in links if link.rsplit("/", 1)[1] in listed.text]


@pytest.mark.parametrize(
    ("page", "path", "form"),
    [
        ("/p/news/people", "/p/news/invitations", {"kind": "named", "role": "judge", "days": "7", "whom": "Ida\nIda"}),
        ("/p/news/people", "/p/news/invitations", {"kind": "crowd", "code": "", "uses": "", "crowd_days": "7"}),
        ("/server/people", "/server/owners", {"note": "Otto"}),
        ("/server/people", "/people/1/reset", {}),
        ("/tokens", "/tokens", {"label": "nightly", "days": "7", "read": "on"}),
    ],
)
def test_a_page_of_links_that_is_loaded_again_shows_the_same_and_makes_no_more(
    owner: Any, project: Project, web_store: Store, page: str, path: str, form: dict[str, str]
) -> None:
    def kept() -> list[Any]:
        with web_store.read() as connection:
            return [
                connection.execute(select(table)).all() for table in (schema.invitation, schema.token, schema.audit)
            ]

    def shown(answer: Any) -> list[str]:
        return re.findall(r'<input[^>]* readonly[^>]*>|value="[^"]{43,}"', answer.text)

    owner.get(page)
    sent = owner.hidden() | form
    first, before = owner.post(path, sent), kept()
    assert first.status_code == 200
    assert (shown(owner.post(path, sent)), kept()) == (shown(first), before)
    assert shown(first)
    owner.get(page)
    assert shown(owner.send(path, **form)) != shown(first)
    assert kept() != before


def test_a_link_that_was_withdrawn_lets_nobody_in(owner: Any, nobody: Any, project: Project) -> None:
    owner.get("/p/news/people")
    path = link_in(owner.send("/p/news/invitations", kind="named", role="judge", days="7", whom=""), "welcome")
    assert nobody.get(path).status_code == 200
    revoke = re.search(r"/p/news/invitations/\d+/revoke", owner.get("/p/news/people").text)
    assert revoke is not None
    assert owner.send(revoke[0]).status_code == 303
    assert nobody.get(path).status_code == 410
    assert "withdrawn" in said(owner.get("/p/news/people"))


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"kind": "named", "role": "judge", "days": "0", "whom": ""}, "days"),
        ({"kind": "named", "role": "judge", "days": "x", "whom": ""}, "days"),
        ({"kind": "named", "role": "judge", "days": "5", "whom": "a\n" * 51}, "whom"),
        ({"kind": "crowd", "code": "x" * 61, "uses": "", "crowd_days": "5"}, "code"),
        ({"kind": "crowd", "code": "", "uses": "-1", "crowd_days": "5"}, "uses"),
    ],
)
def test_an_invitation_that_cannot_be_made_is_told(
    owner: Any, project: Project, web_store: Store, form: dict[str, str], field: str
) -> None:
    owner.get("/p/news/people")
    answer = owner.send("/p/news/invitations", **form)
    assert answer.status_code == 422
    assert code_beside(answer, field)
    with web_store.read() as connection:
        assert connection.execute(select(schema.invitation)).first() is None


def test_nobody_is_invited_as_what_there_is_not(owner: Any, project: Project) -> None:
    owner.get("/p/news/people")
    assert owner.send("/p/news/invitations", kind="named", role="owner", days="5", whom="").status_code == 422


def test_a_crowd_link_comes_with_its_code_and_the_forms_for_prolific_and_mechanical_turk(
    owner: Any, visit: Callable[..., Any]
) -> None:
    send_new(owner, whole())
    owner.get("/p/sea-bees/people")
    page = owner.send("/p/sea-bees/invitations", kind="crowd", code="C0DE&X", uses="3", crowd_days="30")
    path = link_in(page, "join")
    assert f"{path}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&amp;STUDY_ID=" in page.text
    assert "complete?cc=C0DE%26X" in page.text
    assert f"{path}?workerId=WORKER_ID&amp;" in page.text
    worker = visit()
    worker.get(f"{path}?PROLIFIC_PID=5f0c&STUDY_ID=s&SESSION_ID=t")
    assert worker.send(path).status_code == 303
    judge_all(worker, "sea-bees", lambda page: "1" if title_shown(page) in "ab" else "0")
    page = said(owner.get("/p/sea-bees/people"))
    assert "prolific:5f0c" in page
    assert "crowd, code C0DE&X judge open 2" in page


def test_a_crowd_link_has_the_settings_that_were_chosen(owner: Any, project: Project, web_store: Store) -> None:
    page = owner.get("/p/news/people").text
    for name, is_on in (("own_codes", False), ("id_required", True), ("one_account", True)):
        (box,) = re.findall(rf'<input id="{name}"[^>]*>', page)
        assert ("checked" in box) == is_on
    form = {"kind": "crowd", "code": "C1", "partial_code": "HALF", "uses": "", "crowd_days": "30"}
    page = owner.send("/p/news/invitations", **form, own_codes="on", id_required="on")
    assert "/submissions/complete" not in page.text  # as Prolific knows one code for all
    (link,) = web_store.write(lambda c: load_invitations(c, project.id))
    chosen = (link.code, link.partial_code, link.own_codes, link.id_required, link.one_account)
    assert chosen == ("C1", "HALF", True, True, False)
    listed = [cell for row in table_rows(owner.get("/p/news/people")) for cell in row]
    (of_link,) = (cell for cell in listed if "C1" in cell)
    for words in ("HALF", CROWD_FLAGS["own_codes"], CROWD_FLAGS["id_required"]):
        assert words in of_link
    assert CROWD_FLAGS["one_account"] not in of_link
    page = owner.send("/p/news/invitations", **form | {"partial_code": "C1"})
    assert code_beside(page, "partial_code") == "same-completion-codes"


def test_the_owner_sees_and_downloads_who_got_which_code(
    owner: Any, visit: Callable[..., Any], web_store: Store
) -> None:
    send_new(owner, whole(), traps="0", traps_needed="0")
    owner.get("/p/sea-bees/people")
    form = {"kind": "crowd", "code": "=C1", "uses": "", "crowd_days": "30", "own_codes": "on"}
    path = link_in(owner.send("/p/sea-bees/invitations", **form), "join")
    worker = visit()
    worker.get(f"{path}?workerId=A1")
    worker.send(path)
    judge_all(worker, "sea-bees", lambda _: "1")
    (code,) = re.findall(r"<code>(=C1-\w{8})</code>", owner.get("/p/sea-bees/people").text)
    table = owner.get("/p/sea-bees/people/codes.csv")
    assert 'filename="sea-bees.codes.csv"' in table.headers["content-disposition"]
    with web_store.read() as connection:
        entry = load_audit_entries(connection)[0]
    assert (entry.action, entry.handle, entry.detail) == ("export", "olga-owner", {"key": "codes", "rows": 1})
    header, row = table.text.splitlines()
    assert header == "judge,worker,code,kind,replaced,task,time"
    assert re.fullmatch(rf"worker-\d+,mturk:A1,'{code},full,,1,2027-.*", row)


def test_an_owner_can_judge_too(owner: Any, project: Project) -> None:
    owner.get("/p/news/people")
    assert owner.send("/p/news/people/me", role="judge").headers["location"] == "/p/news/judge"
    assert owner.get("/p/news/judge", follow_redirects=True).status_code == 200
    assert "/p/news/people/me" not in owner.get("/p/news/people").text
    assert owner.send("/p/news/people/me", role="king").status_code == 422


def test_somebody_who_is_removed_cannot_judge_any_more(owner: Any, judge: Any, project: Project) -> None:
    owner.get("/p/news/people")
    assert owner.send(f"/p/news/people/{judge.account}/remove").status_code == 303
    assert judge.get("/p/news/judge").status_code == 404
    owner.get("/p/news/people")
    assert owner.send("/p/news/people/999/remove").status_code == 404


def test_a_new_password_is_set_by_a_link_that_the_owner_hands_on(
    owner: Any, judge: Any, project: Project, nobody: Any
) -> None:
    owner.get("/p/news/people")
    page = owner.send(f"/people/{judge.account}/reset", back="/p/news/people")
    path = link_in(page, "welcome")
    assert 'href="/p/news/people"' in page.text
    nobody.get(path)
    done = nobody.send(path, password="quite another word", again="quite another word")
    assert done.status_code == 303
    nobody.get("/logout")
    assert nobody.get(path).status_code == 410


def test_erasing_takes_what_is_personal_and_keeps_the_labels(
    owner: Any, judge: Any, project: Project, web_store: Store
) -> None:
    owner.get("/p/news/people")
    owner.send("/p/news/invitations", kind="named", role="viewer", days="7", whom="Jan Judge, again\nHanna")
    page = owner.get(f"/people/{judge.account}/erase?back=/p/news/people")
    assert "“Jan Judge, again”" in said(page)
    assert f"erased-{judge.account}" in said(page)
    done = owner.send(f"/people/{judge.account}/erase")
    assert done.headers["location"] == "/p/news/people"
    with web_store.read() as connection:
        gone = next(one for one in load_accounts(connection) if one.id == judge.account)
    assert (gone.name, gone.handle) == (None, f"erased-{judge.account}")
    assert judge.get("/").status_code == 303
    listed = owner.get("/p/news/people")
    assert "Jan" not in said(listed)
    states = {row[0]: row[2] for row in table_rows(listed)[-2:]}
    assert (states["Hanna"], sorted(states.values())) == ("open", ["open", "withdrawn"])
    assert "Erase what" not in said(owner.get(f"/people/{judge.account}/erase"))


def test_the_way_back_is_only_to_pages_of_this_site(owner: Any, judge: Any, project: Project) -> None:
    page = owner.get(f"/people/{judge.account}/erase?back=https://evil.example/")
    assert "evil.example" not in page.text
    assert owner.send(f"/people/{judge.account}/reset", back="//evil.example").text.count("evil.example") == 0


def test_the_only_owner_cannot_be_erased_or_made_an_ordinary_person(owner: Any) -> None:
    owner.get("/server/people")
    assert owner.send(f"/people/{owner.account}/erase").status_code == 409
    refused = owner.send(f"/people/{owner.account}/owner", owner="no")
    assert (refused.status_code, code_of(refused)) == (409, "only-owner")
    assert owner.get("/server/people").status_code == 200


def test_people_of_the_server_are_made_owners_and_back(owner: Any, judge: Any, project: Project) -> None:
    owner.get("/server/people")
    owner.send(f"/people/{judge.account}/owner", owner="yes")
    assert judge.get("/server/people").status_code == 200
    owner.get("/server/people")
    owner.send(f"/people/{judge.account}/owner", owner="no")
    assert judge.get("/server/people").status_code == 403


def test_one_more_owner_is_invited_by_a_link_that_can_be_withdrawn(owner: Any, nobody: Any) -> None:
    owner.get("/server/people")
    path = link_in(owner.send("/server/owners", note="Otto"), "welcome")
    page = owner.get("/server/people")
    assert "Otto" in [row[0] for row in table_rows(page) if row]
    revoke = re.search(r"/server/invitations/\d+/revoke", page.text)
    assert revoke is not None
    owner.send(revoke[0])
    assert nobody.get(path).status_code == 410
    assert "Otto" not in said(owner.get("/server/people"))
