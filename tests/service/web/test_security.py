"""What every answer carries, and how much may be sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

import pytest
from fastapi import Depends, FastAPI
from starlette.responses import PlainTextResponse

from ringtrue.service.store import Store
from ringtrue.service.web.app import create_app
from ringtrue.service.web.auth.dependencies import RequestContext, public, require_server_owner_upload
from ringtrue.service.web.security import FORM_LIMIT
from service.web.pages import code_of

MULTIPART = {"Content-Type": "multipart/form-data; boundary=b"}


@pytest.fixture
def app(web_store: Store, clock) -> FastAPI:
    made = create_app(web_store, secret=b"s", clock=clock, upload_limit=3_000_000)

    @made.post("/sent")
    async def sent(here: Annotated[RequestContext, Depends(require_server_owner_upload)]) -> PlainTextResponse:
        return PlainTextResponse("taken")

    @made.get("/broken")
    @made.get("/broken/{word}")
    @public
    async def broken(word: str = "") -> None:
        raise ZeroDivisionError("a secret of ours")

    return made


def part(name: str, value: str, filename: str | None = None) -> bytes:
    more = f'; filename="{filename}"' if filename else ""
    return f'--b\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{value}\r\n'.encode()


async def upload(csrf: str, size: int) -> AsyncIterator[bytes]:
    """A file sent in pieces, without a word about its length."""
    yield part("csrf", csrf)
    yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    for _ in range(size // 50_000):
        yield b"x" * 50_000
    yield b"\r\n--b--\r\n"


@pytest.mark.parametrize(
    "path", ["/", "/login", "/nothing/here", "/static/style.css", "/healthz", "/broken", "/p/news/judge"]
)
def test_every_answer_tells_browsers_to_be_careful(nobody, path: str) -> None:
    headers = nobody.get(path).headers
    policy = dict(one.split(" ", 1) for one in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["form-action"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


def test_pages_are_not_kept_by_browsers_and_style_sheets_are(owner) -> None:
    page = owner.get("/")
    assert page.headers["cache-control"] == "no-store"
    sheet = next(part.split('"')[1] for part in page.text.split() if "style.css" in part)
    assert "immutable" in owner.get(sheet).headers["cache-control"]
    assert owner.get("/static/style.css").headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/"])
def test_only_what_lies_in_the_folder_is_given_out(nobody, path: str) -> None:
    assert nobody.get(path).status_code == 404


def test_a_fault_of_ours_says_nothing_of_itself_and_leaves_no_address_in_the_log(
    nobody, caplog: pytest.LogCaptureFixture
) -> None:
    for path in ("/broken?secret=s3cret", "/broken/s3cret"):
        page = nobody.get(path)
        assert page.status_code == 500
        assert page.headers["x-frame-options"] == "DENY"
        assert code_of(page) == "server-fault"
        assert "of ours" not in page.text
    assert "/broken failed" in caplog.text
    assert "/broken/{word} failed" in caplog.text
    assert "s3cret" not in caplog.text
    told = nobody.get("/broken", headers={"Accept": "application/json"})
    assert (told.status_code, list(told.json())) == (500, ["error"])


def test_uploads_are_counted_as_they_come(owner) -> None:
    owner.get("/")
    csrf = owner.hidden()["csrf"]
    assert owner.post("/sent", content=upload(csrf, 2_500_000), headers=MULTIPART).text == "taken"
    refused = owner.post("/sent", content=upload(csrf, 3_500_000), headers=MULTIPART)
    assert (refused.status_code, code_of(refused)) == (413, "request-too-large")
    assert "3 MB" in refused.text


def test_a_length_that_is_a_lie_changes_nothing(owner) -> None:
    owner.get("/")
    headers = MULTIPART | {"Content-Length": "10"}
    refused = owner.post("/sent", content=upload(owner.hidden()["csrf"], 3_500_000), headers=headers)
    assert refused.status_code == 413


def test_a_form_without_files_is_short(nobody) -> None:
    nobody.get("/login")
    assert nobody.send("/login", handle="a", password="x" * FORM_LIMIT).status_code in (400, 413)
    pieces = 40
    many = {f"field{number}": "x" * (FORM_LIMIT // pieces) for number in range(pieces + 1)}
    nobody.get("/login")
    assert nobody.send("/login", **many).status_code == 413


def test_too_many_fields_are_refused(nobody) -> None:
    nobody.get("/login")
    page = nobody.send("/login", **{f"f{number}": "" for number in range(2000)})
    assert page.status_code == 400


@pytest.mark.parametrize("body", [b"--b\r\nnonsense", b"", b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--"])
def test_a_broken_form_is_told_in_words(nobody, body: bytes) -> None:
    answer = nobody.post("/login", content=body, headers=MULTIPART)
    assert answer.status_code in (400, 403)
    assert "<h1>" in answer.text


@pytest.mark.parametrize(
    "charset",
    ["utf-7", "unicode_escape", "idna", "punycode", "latin-1", "nonsense", '"utf-7"', "utf-8; charset=utf-7", "rot13"],
)
@pytest.mark.parametrize("path", ["/login", "/sent", "/p/news/answer"])
def test_a_form_in_another_charset_than_utf_8_is_refused_from_everybody(owner, nobody, path: str, charset: str) -> None:
    headers = {"Content-Type": f"multipart/form-data; boundary=b; charset={charset}"}
    content = part("reason", "+2AA-") + part("answer", "\\ud800") + b"--b--\r\n"
    answers = [one.post(path, content=content, headers=headers) for one in (owner, nobody)]
    assert not [answer.status_code for answer in answers if answer.status_code not in (400, 401, 404)]
    assert "charset=utf-8" in answers[0 if path == "/sent" else 1].text


@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", "utf8", '"UTF-8"'])
def test_a_form_may_say_that_it_is_utf_8(owner, charset: str) -> None:
    owner.get("/")
    headers = {"Content-Type": f"multipart/form-data; charset={charset}; boundary=b"}
    content = part("csrf", owner.hidden()["csrf"]) + b"--b--\r\n"
    assert owner.post("/sent", content=content, headers=headers).text == "taken"
