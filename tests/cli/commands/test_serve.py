"""`ringtrue serve`: a real process, spoken to over HTTP."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from benchmarks.servers import PostgreSQL

from ringtrue.service.store import Store
from ringtrue.service.store.accounts import create_account
from ringtrue.service.store.backup import write_backup
from ringtrue.service.web import app

COMMAND = str(Path(sys.executable).with_name("ringtrue"))
PASSWORD = "lamp river seven coat"
PATIENT = 60  # seconds: a slow machine is no bug


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """A server on a free port, once it has said where; it is ended by force if it has not ended by then."""
    process = subprocess.Popen(
        [COMMAND, "serve", "--port", "0", "--json", *words],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        yield process, json.loads(line)
    finally:
        process.kill()
        process.communicate(timeout=PATIENT)


def ended(process: subprocess.Popen[str], by: signal.Signals) -> tuple[int, str]:
    process.send_signal(by)
    _, said = process.communicate(timeout=PATIENT)
    return process.returncode, said


def hidden(page: str) -> dict[str, str]:
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page))


@pytest.mark.slow
def test_an_unused_link_is_replaced_and_makes_an_owner_who_is_still_there_after_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, said):
        unused = said["owner_link"].removeprefix(said["url"])
        ended(process, signal.SIGTERM)
    with serving(tmp_path) as (process, said):
        assert httpx.get(said["url"] + unused, timeout=PATIENT).status_code == 410
        assert said["url"].startswith("http://127.0.0.1:")
        assert said["database"] == "ringtrue.db"
        assert said["notes"] == []
        with httpx.Client(timeout=PATIENT) as browser:
            page = browser.get(said["owner_link"])
            assert page.status_code == 200
            fields = hidden(page.text) | {"name": "Olga", "password": PASSWORD, "again": PASSWORD}
            assert browser.post(said["owner_link"], data=fields).status_code == 303
            assert "Olga" in browser.get(said["url"]).text
            cookies = dict(browser.cookies)
        assert ended(process, signal.SIGINT) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ringtrue.db"]
    with serving(tmp_path) as (process, said):
        assert said["owner_link"] is None
        again = httpx.get(said["url"], cookies=cookies, timeout=PATIENT)  # the signing secret is the same
        assert (again.status_code, "Olga" in again.text) == (200, True)
        assert ended(process, signal.SIGTERM) == (0, "")


@pytest.mark.slow
def test_several_processes_serve_one_database_and_end_together(tmp_path: Path, postgresql: PostgreSQL) -> None:
    database = postgresql.url(postgresql.create())
    with serving(tmp_path, "--db", database, "--workers", "2") as (process, said):
        # One login is good at every process: they sign with the same secret.
        with httpx.Client(timeout=PATIENT) as browser:
            fields = hidden(browser.get(said["owner_link"]).text)
            fields |= {"name": "Olga", "password": PASSWORD, "again": PASSWORD}
            assert browser.post(said["owner_link"], data=fields).status_code == 303
            cookies = dict(browser.cookies)
        for _ in range(20):
            assert httpx.get(said["url"], cookies=cookies, timeout=PATIENT).status_code == 200
        assert ended(process, signal.SIGINT) == (0, "")
    with pytest.raises(httpx.TransportError):
        httpx.get(said["url"])


@pytest.mark.slow
def test_processes_end_with_the_one_that_started_them_even_by_force(tmp_path: Path, postgresql: PostgreSQL) -> None:
    database = postgresql.url(postgresql.create())
    with serving(tmp_path, "--db", database, "--workers", "2") as (process, said):
        assert httpx.get(f"{said['url']}/healthz", timeout=PATIENT).status_code == 200
        process.kill()
        # Their standard output ends only when the last of them has.
        process.communicate(timeout=PATIENT)
    with pytest.raises(httpx.ConnectError):
        httpx.get(said["url"])


@pytest.fixture
def announced(world: Path, ringtrue: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """What is printed before it serves, on a port that is open by then; here it does not begin to."""

    def call(*words: str) -> Any:
        ports: list[int] = []
        monkeypatch.setattr(app, "serve", lambda _, listener, **given: ports.append(listener.getsockname()[1]))
        answer = ringtrue("serve", "--port", "0", *words)
        assert answer.code == 0, answer.err
        assert len(ports) == 1
        return replace(answer, out=answer.out.replace(f"http://127.0.0.1:{ports[0]}", "http://here"))

    return call


def test_people_read_where_it_serves_and_what_to_open(announced: Callable[..., Any]) -> None:
    *words, link = announced("--db", "judged.db").out.splitlines()
    assert "judged.db" in words[0]
    assert re.fullmatch(r"http://here/welcome/[\w-]{43}", link.strip())


def test_the_words_of_the_start_and_of_the_checks_are_golden(
    announced: Callable[..., Any], ringtrue: Callable[..., Any], world: Path, golden: Callable[[str, str], None]
) -> None:
    started = announced("--db", "judged.db", "--host", "0.0.0.0")
    Path("judged.db").unlink()
    checked = [
        ringtrue("serve", "--check", "--db", "judged.db", "--port", "0", *more) for more in ([], ["--workers", "2"])
    ]
    assert [answer.code for answer in checked] == [0, 1]
    text = re.sub(r"welcome/[\w-]{43}", "welcome/SECRET", started.err + started.out)
    lines = [" ".join(line.split()) for answer in checked for line in answer.out.splitlines()]
    details = [
        line for line in lines if not re.match("─|disk|temporary|packages", line)
    ]  # which each machine has its own
    golden("cli/serve_start.txt", "\n".join([text, *details]))


def test_other_machines_and_plain_http_are_worth_a_word(announced: Callable[..., Any]) -> None:
    said = announced("--host", "0.0.0.0", "--json").json
    assert said["note_codes"] == ["reachable-without-https"]
    assert "--base-url" in said["notes"][0]
    assert said["url"] == "http://here"
    said = announced("--host", "0.0.0.0", "--base-url", "https://judge.example.org/", "--json").json
    assert said["notes"] == []
    assert said["owner_link"].startswith("https://judge.example.org/welcome/")


def _login_attempts(tmp_path: Path, *words: str) -> set[str]:
    """What a server wrote down of attempts that claim to come from two addresses."""
    with serving(tmp_path, "--db", "a.db", *words) as (process, said):
        port = int(said["url"].rsplit(":", 1)[1]) if not words else _port_of(process)
        for claimed in ("203.0.113.1", "203.0.113.2"):
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENT) as browser:
                page = browser.get("/login")
                fields = hidden(page.text) | {"handle": "x", "password": "y"}
                headers = {"X-Forwarded-For": claimed, "Cookie": "; ".join(_cookies(page))}
                assert browser.post("/login", data=fields, headers=headers).status_code == 401
        ended(process, signal.SIGTERM)
    with Store.open(str(tmp_path / "a.db")) as store, store.read() as connection:
        rows = connection.exec_driver_sql("SELECT DISTINCT what FROM attempt WHERE what LIKE 'address:%'")
        return {row[0] for row in rows}


def _cookies(page: httpx.Response) -> list[str]:
    return [one.split(";")[0] for one in page.headers.get_list("set-cookie")]


def _port_of(process: subprocess.Popen[str]) -> int:
    """The port on which a process listens, where it said another address."""
    inodes = {
        path.readlink().name.removeprefix("socket:[").rstrip("]")
        for path in Path(f"/proc/{process.pid}/fd").iterdir()
        if str(path.readlink()).startswith("socket:")
    }
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and fields[9] in inodes:
            return int(fields[1].split(":")[1], 16)
    raise AssertionError("the server listens nowhere")


@pytest.mark.slow
def test_a_proxy_is_believed_only_where_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "proxied").mkdir()
    assert len(_login_attempts(tmp_path / "plain")) == 1
    assert len(_login_attempts(tmp_path / "proxied", "--base-url", "https://judge.example.org")) == 2


def test_a_backup_is_restored_before_serving(announced: Callable[..., Any]) -> None:
    with Store.open("old.db") as store:
        store.write(lambda c: create_account(c, kind="named", name="Olga", owner=True, password_hash="x", now=1.0))
        write_backup(store, Path("backup.zip"), now=2.0)
    said = announced("--db", "new.db", "--restore", "backup.zip", "--json").json
    assert said["owner_link"] is None
    assert said["note_codes"] == ["backup-restored"]
    counts = re.findall(r"(\d+) (?:project|account|judgment|token|invitation)", said["notes"][0])
    assert counts == ["0", "1", "0", "0", "0"]
    with Store.open("new.db") as store, store.read() as connection:
        names = connection.exec_driver_sql("SELECT name FROM account").scalars().all()
    assert names == ["Olga"]


@pytest.mark.slow
def test_a_second_ctrl_c_ends_it_at_once_without_a_word(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, said):
        assert httpx.get(f"{said['url']}/healthz", timeout=PATIENT).status_code == 200
        host, port = said["url"].removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as slow:  # a form that never comes to its end
            kind = "Content-Type: application/x-www-form-urlencoded"
            slow.sendall(f"POST /login HTTP/1.1\r\nHost: x\r\n{kind}\r\nContent-Length: 9\r\n\r\n".encode())
            assert httpx.get(f"{said['url']}/healthz", timeout=PATIENT).status_code == 200
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)  # two at the same moment are one
            assert ended(process, signal.SIGINT) == (0, "")


@pytest.mark.parametrize("file", ["none.zip", "notes.txt", "hollow.zip"])
def test_a_backup_that_cannot_be_restored_leaves_no_database(
    world: Path, ringtrue: Callable[..., Any], file: str
) -> None:
    Path("notes.txt").write_text("these are notes")
    zipfile.ZipFile("hollow.zip", "w").close()
    assert ringtrue("serve", "--port", "0", "--db", "new.db", "--restore", file).code == 1
    assert not list(Path().glob("new.db*"))
    with Store.open("old.db") as store:
        store.write(lambda c: create_account(c, kind="crowd", now=1.0))
    assert ringtrue("serve", "--port", "0", "--db", "sqlite:///old.db", "--restore", file).code == 1
    assert Path("old.db").exists()


@pytest.mark.parametrize(
    ("words", "exit_code", "code", "says"),
    [
        (["--db", "none/at/all.db"], 1, "no-database-folder", "none/at"),
        (["--db", "mysql://x/y"], 1, "unknown-database", "mysql"),
        (["--db", "notes.txt"], 1, "not-sqlite", "notes.txt"),
        (["--restore", "none.zip"], 1, "no-such-file", "none.zip:"),
        (["--restore", "notes.txt"], 1, "no-backup", "notes.txt"),
        (["--base-url", "judge.example.org"], 2, "bad-base-url", "'judge.example.org'"),
        (["--base-url", "https://judge example"], 2, "bad-base-url", "a space"),
        (["--host", "no such host"], 2, "unknown-host", "'no such host'"),
        (["--host", "192.0.2.1"], 2, "cannot-listen", "192.0.2.1"),
        (["--port", "70000"], 2, None, "--port"),
        (["--workers", "0"], 2, None, "--workers"),
        (["--workers", "2"], 2, "sqlite-one-process", "--workers"),
    ],
)
def test_what_cannot_be_served_is_told_in_one_line(
    world: Path, ringtrue: Callable[..., Any], words: list[str], exit_code: int, code: str | None, says: str
) -> None:
    Path("notes.txt").write_text("these are notes and no database" * 100)
    port = [] if "--port" in words else ["--port", "0"]
    answer = ringtrue("serve", *port, *words)
    assert (answer.code, answer.out) == (exit_code, "")
    assert says in answer.err
    assert len(answer.err.strip().splitlines()) == 1 or exit_code == 2
    as_data = ringtrue("serve", *port, *words, "--json")
    if code is not None:
        assert json.loads(as_data.err.splitlines()[-1])["error"]["code"] == code


def test_checks_are_wrapped_at_a_terminal_and_nowhere_else(
    world: Path, ringtrue: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("serve", "--check", "--port", "0", "--base-url", "https://judge example")
    long_lines = [line for line in ringtrue(*words).out.splitlines() if len(line) > 80]
    assert any("judge example" in line for line in long_lines)
    main, terminal = os.openpty()
    checked = subprocess.run([COMMAND, *words], cwd=world, stdout=terminal, timeout=PATIENT, check=False)
    os.close(terminal)
    shown = os.read(main, 65_536).decode().splitlines()
    os.close(main)
    assert checked.returncode == 1
    assert max(len(line) for line in shown) <= 80
    at = next(number for number, line in enumerate(shown) if line.startswith("address"))
    assert shown[at + 1].startswith(" " * (len("temporary files") + len("  FAILS  ")))
    one_line = next(line for line in long_lines if line.startswith("address"))
    assert " ".join(one_line.split()) in " ".join(" ".join(shown[at:]).split())


def test_a_port_that_is_taken_is_told_in_one_line(world: Path, ringtrue: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = ringtrue("serve", "--port", str(port))
    assert answer.code == 2
    assert len(answer.err.splitlines()) == 1
    assert f"--port {port + 1}" in answer.err
    assert not Path("ringtrue.db").exists()


def test_a_password_in_the_address_of_the_database_is_not_shown(world: Path, ringtrue: Callable[..., Any]) -> None:
    answer = ringtrue("serve", "--port", "0", "--db", "postgresql://me:s3cret@127.0.0.1:1/none")
    assert answer.code == 1
    assert "s3cret" not in answer.err


@pytest.mark.slow
def test_help_loads_no_server() -> None:
    code = (
        "import sys; from ringtrue.cli import main\n"
        "try: main(['serve', '--help'])\n"
        "except SystemExit: print([m for m in ('sqlalchemy', 'fastapi', 'uvicorn', 'jinja2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
