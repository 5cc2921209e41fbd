"""The real parts that tests run against: PostgreSQL, started here on loopback, and where the browser is.

Debian's packages bring both: `tools/real-parts.sh` installs them where it may. Without them the tests that need them
are skipped and say how to get them; in CI that is a failure.
"""

from __future__ import annotations

import itertools
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ringtrue.store import Store

BINARIES = Path("/usr/lib/postgresql")
BROWSERS = ("/usr/bin/chromium", "/usr/bin/chromium-browser")
USER = "postgres"  # PostgreSQL refuses to run as root; Debian's package makes this user
PATIENCE = 30.0
SETTINGS = {
    "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "max_connections": "200", "fsync": "on",
    "synchronous_commit": "on", "shared_buffers": "64MB", "log_min_messages": "warning",
    "deadlock_timeout": "100ms",
}  # fmt: skip


class PostgreSQL:
    """A server of its own on a free port of this machine, its data in a temporary folder."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self.binaries, self.folder, self.port = binaries, folder, free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = itertools.count(1)
        if os.geteuid() == 0:
            shutil.chown(folder, USER, USER)
        words = ["initdb", "--pgdata", "data", "--username", "ringtrue", "--auth", "trust", "--encoding", "UTF8"]
        made = self._run(*words, "--no-locale", "--no-sync", "--no-instructions")
        if made.wait():
            raise RuntimeError(f"initdb failed: {self._log()}")

    def url(self, database: str) -> str:
        """The address of a database."""
        return f"postgresql://ringtrue@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start, and wait until it answers."""
        settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        self._process = self._run("postgres", "-D", "data", "-p", str(self.port), *settings)
        end = time.monotonic() + PATIENCE
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL did not start: {self._log()}")
            time.sleep(0.02)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop; SIGINT closes the connections and ends cleanly, SIGQUIT leaves as in a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            try:
                self._process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def create(self, template: str = "template1") -> str:
        """Make a database, and answer its name."""
        name = f"test{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def drop(self, database: str) -> None:
        """Remove a database, whoever is still connected."""
        self.execute(f"DROP DATABASE {database} WITH (FORCE)")

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Run one statement outside of any transaction."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement)  # type: ignore[call-overload]

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _run(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        # The signal comes when this process dies, so that no server is left behind even when a test run is killed.
        prefix = ["setpriv", "--pdeathsig", "INT"]
        if os.geteuid() == 0:
            prefix += ["--reuid", USER, "--regid", USER, "--init-groups"]
        with open(self.folder / "log", "ab") as log:
            command = [*prefix, str(self.binaries / name), *words]
            return subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-2000:]


def free_port() -> int:
    """A port of loopback that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def missing(what: str) -> None:
    """A part is not installed: fail in CI, else skip and say how to get it."""
    words = f"{what} is not installed: run `tools/real-parts.sh`, which `make test` calls, or see what it says"
    if os.environ.get("CI"):
        pytest.fail(words)
    pytest.skip(words)


def browser_path() -> str:
    """Where Debian's Chromium is."""
    for path in BROWSERS:
        if Path(path).exists():
            return path
    missing("Chromium")
    raise AssertionError


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """A running PostgreSQL, the same for all tests of this process; each makes databases of its own."""
    versions = sorted(BINARIES.glob("*/bin/postgres"), key=lambda path: _number(path.parts[-3]))
    if not versions:
        missing("PostgreSQL")
    if os.geteuid() == 0 and not any(entry.pw_name == USER for entry in pwd.getpwall()):
        missing(f"PostgreSQL's user '{USER}'")
    folder = Path(tempfile.mkdtemp(prefix="ringtrue-postgresql-"))  # not below pytest's own, which others cannot enter
    try:
        server = PostgreSQL(versions[-1].parent, folder)
        try:
            server.start()
            server.execute("CREATE DATABASE migrated")
            Store.open(server.url("migrated")).close()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database that only this test uses."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'ringtrue.db'}"
        return
    server: PostgreSQL = request.getfixturevalue("postgresql")
    name = server.create()
    yield server.url(name)
    server.drop(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An open store with all its tables and nothing in them, in each of the two databases."""
    if request.param == "sqlite":
        with Store.open(f"sqlite:///{tmp_path / 'ringtrue.db'}") as opened:
            yield opened
        return
    server: PostgreSQL = request.getfixturevalue("postgresql")
    name = server.create("migrated")
    with Store.open(server.url(name)) as opened:
        yield opened
    server.drop(name)


def _number(version: str) -> int:
    found = re.match(r"\d+", version)
    return int(found[0]) if found else 0
