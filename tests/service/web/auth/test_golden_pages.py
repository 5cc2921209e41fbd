"""The words of the pages about accounts, in their main states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ringtrue.service.store import Store
from ringtrue.service.store.accounts import create_account
from ringtrue.service.store.invitations import accept_invitation, invite
from ringtrue.service.store.records import Project
from ringtrue.service.web.auth.login import hash_password
from service.full_disks import make_read_only
from service.web.pages import words_on

PASSWORD = "lamp river seven coat"


@pytest.fixture
def hold(golden: Callable[[str, str], None]) -> Callable[[str, Any], None]:
    """Holds the words of a page against their file."""
    return lambda name, page: golden(f"pages/account/{name}.txt", words_on(page))


def test_golden_pages_of_logging_in(
    hold: Callable[[str, Any], None], nobody: Any, visit: Callable[..., Any], web_store: Store, project: Project
) -> None:
    stored = hash_password(PASSWORD)
    ann = web_store.write(lambda c: create_account(c, kind="named", name="Ann", password_hash=stored, now=1.0))
    hold("log_in", nobody.get("/login"))
    hold("log_in_wrong", nobody.send("/login", handle="ann", password="x"))
    hold("login_ended", nobody.post("/p/news/undo", {"csrf": "x", "task": "1"}))
    hold("login_ended_with_answer", nobody.post("/p/news/answer", {"csrf": "x", "task": "1", "answer": "1"}))
    hold("answer_kept", nobody.send("/login", handle="ann", password=PASSWORD, resume=""))
    browser = visit(ann)
    hold("password", browser.get("/password"))
    hold("password_wrong", browser.send("/password", old="x", password="y" * 12, again="y" * 12))
    hold("no_projects", browser.get("/"))
    hold("not_found", browser.get("/p/news/judge"))
    hold("forbidden", browser.get("/projects/new"))
    hold("form_expired", browser.post("/tokens", {"csrf": "x"}))


def test_golden_pages_of_invitations(
    hold: Callable[[str, Any], None], nobody: Any, judge: Any, visit: Callable[..., Any], web_store: Store,
    project: Project, clock: Any,
) -> None:  # fmt: skip
    def link(**terms: Any) -> str:
        secret: str = web_store.write(lambda c: invite(c, now=clock(), **terms))
        return f"/welcome/{secret}"

    def come(connection: Any) -> int:
        secret = invite(connection, role="judge", kind="crowd", project=project.id, uses=None, now=clock())
        return accept_invitation(connection, secret, now=clock(), worker="w")

    for_judge = link(role="judge", project=project.id)
    hold("welcome_judge", nobody.get(for_judge))
    hold("welcome_without_name", nobody.send(for_judge, name=" ", password=PASSWORD, again=PASSWORD))
    hold("welcome_owner", nobody.get(link(role="owner")))
    hold("welcome_logged_in", judge.get(link(role="viewer", project=project.id)))
    hold("welcome_new_password", nobody.get(link(role="reset", account=judge.account, days=1)))
    hold("welcome_crowd_account", visit(web_store.write(come)).get(for_judge))
    hold("unknown_link", nobody.get("/welcome/x"))


def test_golden_pages_of_projects_and_tokens(
    hold: Callable[[str, Any], None], owner: Any, judge: Any, web_store: Store, project: Project
) -> None:
    hold("projects_of_owner", owner.get("/"))
    hold("projects_of_judge", judge.get("/"))
    hold("tokens_none", owner.get("/tokens"))
    hold("tokens_wrong", owner.send("/tokens", label=" ", days="0"))
    hold("token", owner.send("/tokens", label="nightly", days="9", read="on"))
    hold("tokens", owner.get("/tokens"))
    make_read_only(web_store)
    owner.post("/logout", owner.hidden())
    hold("logged_out_here", owner.get("/login?later=1"))
