"""An answer that came after its login had ended is not lost."""

from __future__ import annotations

from ringtrue.service.store import Store
from ringtrue.service.store.accounts import create_account, set_password
from ringtrue.service.store.records import Project
from ringtrue.service.web.auth.anonymous_forms import ANSWER_FIELDS, KEPT_PREFIX, extract_answer_fields, is_answer_path
from ringtrue.service.web.auth.login import hash_password
from service.web.pages import code_of, page_name

PASSWORD = "lamp river seven coat"
ANSWER = {
    "task": "3", "assignment": "17", "version": "0", "kind": "unsure", "reason": 'too "short" <b>', "seconds": "4.5",
    "away": "0", "since": "x.y",
}  # fmt: skip


def test_only_the_fields_of_an_answer_are_kept_and_only_of_answers() -> None:
    sent = ANSWER | {"csrf": "secret", "other": "x"}
    assert extract_answer_fields("/p/news/answer", sent) == ANSWER
    assert extract_answer_fields("/p/news/undo", sent) == {}
    assert extract_answer_fields("//evil/p/news/answer", sent) == {}
    assert extract_answer_fields("/p/news/answer", {"reason": "x" * 99_999})["reason"] == "x" * 10_000
    assert not is_answer_path("/p/news/answer/")
    assert "csrf" not in ANSWER_FIELDS


def test_an_answer_sent_after_the_login_had_ended_comes_back_to_be_sent_again(
    judge, project: Project, web_store: Store, clock
) -> None:
    web_store.write(lambda c: set_password(c, judge.account, hash_password(PASSWORD), now=1.0))  # logs out
    page = judge.post("/p/news/answer", ANSWER | {"csrf": "of-the-old-login"})
    assert page.status_code == 401
    assert code_of(page) == "answer-kept"
    assert {f"{KEPT_PREFIX}{name}": value for name, value in ANSWER.items()}.items() <= judge.hidden().items()

    page = judge.send("/login", handle="jan-judge", password="wrong", resume="")
    assert page.status_code == 401
    assert judge.hidden()[f"{KEPT_PREFIX}reason"] == ANSWER["reason"]  # a wrong password does not lose it

    page = judge.send("/login", handle="jan-judge", password=PASSWORD, resume="")
    assert page.status_code == 200
    assert page_name(page) == "answer-kept"
    assert 'action="/p/news/answer"' in page.text
    fields = judge.hidden()
    assert ANSWER.items() <= fields.items()
    judge.get("/")
    assert fields["csrf"] == judge.hidden()["csrf"]  # good for the new login


def test_an_answer_from_a_tab_of_an_earlier_login_can_be_sent_again(judge, project: Project) -> None:
    page = judge.post("/p/news/answer", ANSWER | {"csrf": "of-the-old-login"})
    assert page.status_code == 403
    assert page_name(page) == "answer-kept"
    fields = judge.hidden()
    assert ANSWER.items() <= fields.items()
    assert fields["csrf"] != "of-the-old-login"


def test_who_came_by_a_link_opens_it_again_and_goes_on(nobody, judge, project: Project, visit) -> None:
    nobody.post("/p/news/answer", ANSWER)
    page = nobody.send("/login")
    assert code_of(page) == "not-logged-in-yet"
    assert judge.client.cookies["ringtrue"]
    nobody.client.cookies.set("ringtrue", judge.client.cookies["ringtrue"], domain="ringtrue.test")  # the other tab
    page = nobody.send("/login")
    assert page_name(page) == "answer-kept"
    assert ANSWER.items() <= nobody.hidden().items()


def test_other_forms_say_that_nothing_was_saved(nobody, project: Project) -> None:
    page = nobody.post("/p/news/undo", {"csrf": "x", "task": "1"})
    assert page.status_code == 401
    assert code_of(page) == "login-ended"
    assert nobody.hidden()["next"] == "/"


def test_the_answer_page_itself_is_not_where_one_lands(nobody, web_store: Store) -> None:
    stored = hash_password(PASSWORD)
    web_store.write(lambda c: create_account(c, kind="named", name="Ann", password_hash=stored, now=1.0))
    nobody.get("/login?next=/p/news/answer")
    assert nobody.send("/login", handle="ann", password=PASSWORD).headers["location"] == "/"
