"""The server behind nginx, with the very lines that the documentation shows."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from benchmarks.servers import Serving, free_port

from real_parts import missing
from ringtrue.service.store import Store
from ringtrue.service.store.sessions import hash_attempt
from service.small_projects import rows

PAGES = Path(__file__).parents[3] / "docs" / "how-to"
HOST = "judge.example.org"
AROUND = """
daemon off; pid {folder}/pid; error_log stderr; {user}
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    {server}
}}
"""


@pytest.fixture(params=["serve-behind-https.md", "run-the-service.md"])
def client(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[httpx.Client, str]]:
    """A client that reaches the server through nginx by https, and the first owner's secret."""
    nginx, openssl = shutil.which("nginx") or "/usr/sbin/nginx", shutil.which("openssl")
    if not Path(nginx).exists() or openssl is None:
        missing("nginx")
    certificate, key = tmp_path / "judge.pem", tmp_path / "judge.key"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={HOST}",
         "-addext", f"subjectAltName=DNS:{HOST}", "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    database = f"sqlite:///{tmp_path / 'ringtrue.db'}"
    port = free_port()
    with Serving(database, "--base-url", f"https://{HOST}") as server:
        secret = _owner_secret(server)
        configuration = tmp_path / "nginx.conf"
        configuration.write_text(_configuration(PAGES / request.param, tmp_path, port=port, behind=server.port))
        with subprocess.Popen([nginx, "-p", str(tmp_path), "-c", str(configuration)], stderr=subprocess.PIPE) as proxy:
            try:
                trusted = ssl.create_default_context(cafile=str(certificate))
                with httpx.Client(
                    base_url=f"https://127.0.0.1:{port}", verify=trusted, headers={"Host": HOST}, timeout=20
                ) as opened:
                    opened.event_hooks = {"request": [_named]}
                    _await(opened)
                    yield opened, secret
            finally:
                proxy.terminate()


def _configuration(page: Path, folder: Path, *, port: int, behind: int) -> str:
    shown = re.search(r"<!-- tried: nginx -->\n```text\n(.*?)```", page.read_text(), re.S)
    assert shown is not None, f"{page} shows no configuration of nginx"
    server = shown.group(1)
    for before, after in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"), ("127.0.0.1:8000", f"127.0.0.1:{behind}"),
        ("/etc/ssl/judge", f"{folder}/judge"),
    ):  # fmt: skip
        assert before in server, f"the page's configuration has no '{before}'"
        server = server.replace(before, after)
    return AROUND.format(folder=folder, server=server, user="user root;")


def _owner_secret(server: Serving) -> str:
    assert server.process is not None
    assert server.process.stdout is not None
    said = b"".join(server.process.stdout.readline() for _ in range(3)).decode()
    link = re.search(rf"https://{re.escape(HOST)}/welcome/(\S+)", said)
    assert link is not None, said
    return link.group(1)


def _named(request: httpx.Request) -> None:
    request.extensions["sni_hostname"] = HOST


def _await(client: httpx.Client) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            if client.get("/healthz").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    pytest.fail("nginx does not answer")


def _word(page: str, name: str = "word") -> str:
    found = re.search(rf'name="{name}" value="([^"]+)"', page)
    assert found is not None
    return found.group(1)


@pytest.mark.slow
def test_an_owner_comes_in_by_https_and_cookies_stay_there(client: tuple[httpx.Client, str]) -> None:
    browser, secret = client
    page = browser.get(f"/welcome/{secret}")
    password = "four words of nonsense"
    form = {"word": _word(page.text), "name": "Olga Owner", "password": password, "again": password}
    entered = browser.post(f"/welcome/{secret}", data=form, headers={"Origin": f"https://{HOST}"})
    assert entered.status_code == 303, entered.text
    assert entered.headers["location"].startswith("/") or entered.headers["location"].startswith(f"https://{HOST}/")
    cookie = entered.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("secure", "httponly", "samesite=lax"))
    home = browser.get("/")
    assert home.status_code == 200
    assert "Olga Owner" in home.text
    assert "max-age" in home.headers["strict-transport-security"]


@pytest.mark.slow
def test_the_proxy_says_where_somebody_comes_from_and_nobody_else(
    client: tuple[httpx.Client, str], tmp_path: Path
) -> None:
    browser, _ = client
    page = browser.get("/login")
    form = {"word": _word(page.text), "handle": "nobody", "password": "a guess of mine"}
    assert browser.post("/login", data=form, headers={"X-Forwarded-For": "203.0.113.7"}).status_code == 401
    with Store.open(f"sqlite:///{tmp_path / 'ringtrue.db'}") as store:
        tried = {what for (what,) in rows(store, "SELECT what FROM attempt")}
    assert hash_attempt("address", "127.0.0.1") in tried
    assert hash_attempt("address", "203.0.113.7") not in tried


@pytest.mark.slow
@pytest.mark.parametrize("client", ["run-the-service.md"], indirect=True)
def test_the_proxy_names_requests_stops_what_is_too_large_and_keeps_metrics_inside(
    client: tuple[httpx.Client, str],
) -> None:
    browser, _ = client
    page = browser.get("/login", headers={"X-Request-ID": "somebody-outside"})
    assert re.fullmatch("[0-9a-f]{32}", page.headers["x-request-id"])  # nginx's, not ours and not the visitor's
    assert len(page.headers.get_list("x-request-id")) == 1
    for header in ("content-security-policy", "x-content-type-options", "referrer-policy", "x-frame-options"):
        assert len(page.headers.get_list(header)) == 1
    sheet = re.search(r"/static/style\.css\?v=\w+", page.text)
    assert sheet is not None
    assert browser.get(sheet[0]).status_code == 200
    assert browser.get("/metrics").status_code == 403
    assert _status_of_announced_body(int(str(browser.base_url.port)), 2 * 10**9) == "413"
    assert browser.get("/login", headers={"X-Odd": "x" * 20_000}).status_code == 400


def _status_of_announced_body(port: int, size: int) -> str:
    """What is answered to a form of this many bytes before the first of them was sent."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), timeout=20) as plain, trusting.wrap_socket(plain) as stream:
        stream.sendall(f"POST /login HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {size}\r\n\r\n".encode())
        return stream.recv(100).decode().split()[1]
