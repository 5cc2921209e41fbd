"""Requests as no browser sends them, on both databases: each is answered in words, none is a fault of ours."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx
import pytest
from fastapi import FastAPI

from ringtrue.service.store import Store
from ringtrue.service.store.accounts import create_account
from ringtrue.service.store.invitations import invite
from ringtrue.service.store.sessions import log_in
from ringtrue.service.web.app import create_app
from service.small_projects import NOW, project

ODD = [
    "\x00",
    "a\x00b",
    "\ud7ff",
    "\uffff",
    "💥" * 100,
    "%00",
    "'; DROP TABLE account; --",
    "{{ 7*7 }}",
    "\r\nX: y",
    "x" * 5000,
]


@pytest.fixture
def app(store: Store) -> Iterator[FastAPI]:
    made = create_app(store, secret=b"s", clock=lambda: NOW)
    yield made
    made.state.server.close()


@pytest.mark.slow
def test_odd_texts_in_addresses_forms_and_cookies_are_no_fault(store: Store, app: FastAPI) -> None:
    where = project(store)
    owner = store.write(lambda c: create_account(c, kind="named", name="Olga", owner=True, now=NOW))
    secret, csrf = store.write(lambda c: log_in(c, owner, now=NOW, hours=1))
    crowd = store.write(lambda c: invite(c, role="judge", kind="crowd", project=where.id, uses=None, now=NOW))
    named = store.write(lambda c: invite(c, role="judge", project=where.id, now=NOW))
    cookie = {"ringtrue": app.state.server.sign(secret, "login")}
    form = {"ringtrue-form": app.state.server.sign("n", "form")}
    word = app.state.server.form_token("n")

    async def all_of_them() -> list[tuple[str, int]]:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        found = []
        for odd in ODD:
            async with httpx.AsyncClient(
                transport=transport, base_url="http://t.test", cookies=cookie | form
            ) as browser:
                quoted = httpx.QueryParams({"x": odd})["x"]
                path = "".join(f"%{byte:02X}" for byte in quoted.encode())
                for address in (f"/p/{path}/judge", f"/p/{path}", f"/welcome/{path}", f"/join/{path}", f"/{path}"):
                    found.append((address, (await browser.get(address)).status_code))
                ask = {"next": odd, "queue": odd, "task": odd, "said": odd}
                for address in ("/login", "/p/small/judge", f"/join/{crowd}"):
                    found.append((address, (await browser.get(address, params=ask)).status_code))
                fields = dict.fromkeys(
                    ("handle", "password", "next", "name", "again", "PROLIFIC_PID", "old", "kept-answer"), odd
                )
                for address in ("/login", f"/welcome/{named}", f"/join/{crowd}"):
                    sent = await browser.post(address, data=fields | {"word": word})
                    found.append((address, sent.status_code))
                found.append(("csrf", (await browser.post("/logout", data={"csrf": odd})).status_code))
            async with httpx.AsyncClient(transport=transport, base_url="http://t.test") as browser:
                sent = await browser.get("/", headers={"Cookie": f"ringtrue={odd}".encode("utf-8", "replace")})
                found.append(("cookie", sent.status_code))
        return found

    found = asyncio.run(all_of_them())
    assert [(address, status) for address, status in found if status >= 500] == []
    assert len(found) == 13 * len(ODD)
    assert csrf
