"""Under which name the server is asked, from which site, and what its links begin with."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from fastapi import FastAPI

from ringtrue.errors import UsageError
from ringtrue.service.store import Store
from ringtrue.service.web.app import create_app
from ringtrue.service.web.origins import find_own_url, normalise_base_url

PUBLIC = "https://judge.example.org"
OWN, FOREIGN = {"Host": "judge.example.org"}, {"Host": "evil.example"}


@pytest.fixture
def public_app(web_store: Store, clock, cheap_passwords: None) -> Iterator[FastAPI]:
    """A server that people reach by https."""
    made = create_app(web_store, secret=b"s", clock=clock, base_url=PUBLIC)
    yield made
    made.state.server.close()


@pytest.fixture
def stranger(visit, public_app: FastAPI):
    return visit(of=public_app)


@pytest.mark.parametrize("path", ["/login", "/api/v1/whoami", "/static/style.css", "/nothing"])
def test_a_foreign_host_is_refused_where_the_address_is_known(stranger, path: str) -> None:
    refused = stranger.get(path, headers=FOREIGN)
    assert refused.status_code == 400
    assert PUBLIC in refused.text
    assert "evil.example" not in refused.text
    assert refused.headers["x-frame-options"] == "DENY"
    assert stranger.get(path, headers=OWN).status_code != 400


@pytest.mark.parametrize("host", ["judge.example.org:443", "JUDGE.example.org", "127.0.0.1:8000", "[::1]:8000"])
def test_the_own_name_with_a_port_and_this_machine_are_not_foreign(stranger, host: str) -> None:
    assert stranger.get("/login", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["judge.example.org@evil.example", "[", "a b", "judge.example.org.evil.example", ""])
def test_a_host_that_only_looks_like_ours_is_refused(stranger, host: str) -> None:
    assert stranger.get("/login", headers={"Host": host}).status_code == 400


def test_whether_it_is_healthy_may_be_asked_under_any_name(stranger) -> None:
    assert stranger.get("/healthz", headers=FOREIGN).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Origin": PUBLIC}, 401),
        ({"Origin": f"{PUBLIC}:443", "Sec-Fetch-Site": "same-origin"}, 401),
        ({"Sec-Fetch-Site": "none"}, 401),
        ({"Origin": "http://judge.example.org"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": PUBLIC, "Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_forms_from_any_other_address_are_refused(stranger, headers: dict[str, str], status: int) -> None:
    stranger.client.base_url = PUBLIC
    stranger.get("/login")
    fields = stranger.hidden() | {"handle": "nobody", "password": "a guess of mine"}
    assert stranger.post("/login", fields, headers=headers).status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://ringtrue.test"}, 401),
        ({"Origin": "https://ringtrue.test"}, 401),  # a proxy may add https
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://ringtrue.test:81"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://seen.example", "Sec-Fetch-Site": "same-origin"}, 401),  # behind a proxy nobody told us of
        ({"Origin": "http://ringtrue.test", "Sec-Fetch-Site": "same-site"}, 403),
    ],
)
def test_without_a_base_url_forms_come_from_the_address_that_is_asked(
    nobody, headers: dict[str, str], status: int
) -> None:
    nobody.get("/login")
    fields = nobody.hidden() | {"handle": "nobody", "password": "a guess of mine"}
    assert nobody.post("/login", fields, headers=headers).status_code == status


def test_a_page_of_another_site_cannot_use_the_api_either(stranger) -> None:
    refused = stranger.post("/api/v1/projects", headers=OWN | {"Origin": "https://evil.example"})
    assert (refused.status_code, refused.json()["error"]["kind"]) == (403, "forbidden")


def test_reading_is_not_bound_to_a_site(stranger) -> None:
    assert stranger.get("/login", headers=OWN | {"Sec-Fetch-Site": "cross-site"}).status_code == 200


@pytest.mark.parametrize("path", ["/login", "/nothing", "/static/style.css", "/healthz"])
def test_browsers_are_told_to_stay_with_https_where_it_is_served_so(stranger, nobody, path: str) -> None:
    assert stranger.get(path, headers=OWN).headers["strict-transport-security"] == "max-age=31536000"
    assert "strict-transport-security" not in nobody.get(path).headers


def made_link(owner, **given) -> str:
    owner.get("/server/people")
    page = owner.post("/server/owners", owner.hidden() | {"note": "x"}, **given)
    return page.text


def test_links_never_begin_with_a_foreign_host(owner) -> None:
    assert "http://ringtrue.test/welcome/" in made_link(owner)
    shown = made_link(owner, headers={"Host": "evil.example"})
    assert "evil.example" not in shown
    assert "http://ringtrue.test/welcome/" in shown


def test_a_redirect_stays_here_whatever_the_host(nobody) -> None:
    moved = nobody.get("/login/", headers={"Host": "evil.example"})
    assert (moved.status_code, moved.headers["location"]) == (307, "/login")
    assert nobody.get("/login/?next=/p/a").headers["location"] == "/login?next=/p/a"
    assert nobody.get("/login/", headers={"Host": "["}).headers["location"] == "/login"


@pytest.mark.parametrize(
    ("host", "server", "url"),
    [
        ("localhost:9000", ("127.0.0.1", 8000), "http://localhost:9000"),
        ("[::1]:8000", ("::1", 8000), "http://[::1]:8000"),
        ("192.0.2.7:8000", ("192.0.2.7", 8000), "http://192.0.2.7:8000"),
        ("judge.lan:8000", ("192.0.2.7", 8000), "http://192.0.2.7:8000"),
        ("localhost:9000@evil.example", ("::1", 8000), "http://[::1]:8000"),
        ("localhost/x", ("127.0.0.1", 8000), "http://localhost"),
        ("localhost:x", ("127.0.0.1", 8000), "http://127.0.0.1:8000"),
        ("", ("127.0.0.1", 8000), "http://127.0.0.1:8000"),
    ],
)
def test_a_link_has_the_address_that_the_request_came_to(host: str, server: tuple[str, int], url: str) -> None:
    assert find_own_url({"scheme": "http", "server": server, "headers": [(b"host", host.encode())]}) == url


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("https://judge example", "has a space"),
        ("https://judge.example.org ", "has a space"),
        ("https://judge.example.org\n", "has a space"),
        ("judge.example.org", "neither https:// nor http://"),
        ("ftp://judge.example.org", "neither https:// nor http://"),
        ("https://olga:secret@judge.example.org", "a name or a password"),
        ("https://@judge.example.org", "a name or a password"),
        ("https://judge.example.org?", "a query or a fragment"),
        ("https://judge.example.org/?a=b", "a query or a fragment"),
        ("https://judge.example.org/#top", "a query or a fragment"),
        ("https://judge.example.org/judge", "has a path"),
        ("https://judge.example.org:", "port is missing"),
        ("https://judge.example.org:0", "port is missing"),
        ("https://judge.example.org:x", "host or port cannot be read"),
        ("https://judge.example.org:70000", "host or port cannot be read"),
        ("https://[::1", "host or port cannot be read"),
        ("https://", "host is no name"),
        ("https:///", "host is no name"),
        ("https://:8000", "host is no name"),
        ("https://judge..org", "host is no name"),
        ("https://-judge.org", "host is no name"),
        ("https://judge,org", "host is no name"),
        ("https://bücher.example", "host is no name"),
        ("", "neither https:// nor http://"),
    ],
)
def test_what_is_no_address_of_a_server_is_refused_in_words(url: str, problem: str) -> None:
    with pytest.raises(UsageError, match=f"found '{re.escape(url)}': .*{problem}") as refused:
        normalise_base_url(url)
    assert (refused.value.code, refused.value.parameter) == ("bad-base-url", "base_url")


@pytest.mark.parametrize(
    "url",
    [
        "https://judge.example.org", "http://127.0.0.1:8000", "https://[2001:db8::1]:8443", "http://localhost",
        "http://labels_2:80", "https://xn--bcher-kva.example", "https://Judge.Example.org",
    ],
)  # fmt: skip
def test_an_address_of_a_server_is_taken_with_and_without_its_last_slash(url: str) -> None:
    assert normalise_base_url(url) == normalise_base_url(f"{url}/") == url
