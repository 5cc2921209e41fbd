"""Real servers on this machine, for benchmarks and tests: PostgreSQL from Debian's binaries, and `ringtrue serve`."""

from __future__ import annotations

import http.client
import itertools
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

BINARIES = Path("/usr/lib/postgresql")
USER = "postgres"  # PostgreSQL refuses to run as root; Debian's package makes this user
PATIENCE = 90.0  # seconds: a slow machine is no bug
MEMORY_DISK, MEMORY_BYTES = Path("/dev/shm"), 2 << 30  # a folder in memory, and what must be free there
SETTINGS = {
    "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "max_connections": "200", "fsync": "on",
    "synchronous_commit": "on", "shared_buffers": "64MB", "log_min_messages": "warning",
}  # fmt: skip


class MissingError(Exception):
    """A part is not installed on this machine."""


class PostgreSQL:
    """A server of its own on a free port of this machine, its data in a folder that is given."""

    def __init__(self, binaries: Path, folder: Path, *, durable: bool = True) -> None:
        self.binaries, self.folder, self.port = binaries, folder, free_port()
        self._settings = SETTINGS if durable else SETTINGS | {"fsync": "off", "full_page_writes": "off"}
        self.process: subprocess.Popen[bytes] | None = None
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
        settings = [word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")]
        self.process = self._run("postgres", "-D", "data", "-p", str(self.port), *settings)
        end = time.monotonic() + PATIENCE
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL did not start: {self._log()}")
            time.sleep(0.02)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop; SIGINT closes the connections and ends cleanly, SIGQUIT leaves as in a crash."""
        if self.process is not None:
            self.process.send_signal(how)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

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
        # The signal comes when this process dies, so that no server is left behind even when it is killed.
        prefix = ["setpriv", "--pdeathsig", "INT"]
        if os.geteuid() == 0:
            prefix += ["--reuid", USER, "--regid", USER, "--init-groups"]
        with open(self.folder / "log", "ab") as log:
            command = [*prefix, str(self.binaries / name), *words]
            return subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-2000:]


def memory_disk() -> Path | None:
    """A folder in memory, where writing waits for no disk; None where there is none, or little room."""
    has_room = MEMORY_DISK.is_dir() and shutil.disk_usage(MEMORY_DISK).free > MEMORY_BYTES
    return MEMORY_DISK if has_room else None


@contextmanager
def running_postgresql(*, durable: bool = True) -> Iterator[PostgreSQL]:
    """The newest PostgreSQL that is installed, running on a folder that goes when it ends.

    One that is not `durable` may lose something when the power fails, but nothing when a process is killed; it is in
    memory where there is room.
    """
    versions = sorted(BINARIES.glob("*/bin/postgres"), key=_number)
    if not versions:
        raise MissingError("PostgreSQL")
    if os.geteuid() == 0 and not any(entry.pw_name == USER for entry in pwd.getpwall()):
        raise MissingError(f"PostgreSQL's user '{USER}'")
    # The folders of tests cannot be entered by others.
    folder = Path(tempfile.mkdtemp(prefix="ringtrue-postgresql-", dir=None if durable else memory_disk()))
    try:
        server = PostgreSQL(versions[-1].parent, folder, durable=durable)
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Serving:
    """`ringtrue serve` as a process of its own."""

    def __init__(self, url: str, *words: str, port: int | None = None) -> None:
        self.url, self.words, self.port = url, words, free_port() if port is None else port
        self.process: subprocess.Popen[bytes] | None = None
        self.said = b""

    def __enter__(self) -> Serving:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start, and wait until it answers."""
        command = [str(Path(sys.executable).parent / "ringtrue"), "serve", "--db", self.url, "--port", str(self.port)]
        prefix = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
        self.process = subprocess.Popen(
            [*prefix, *command, *self.words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        end = time.monotonic() + PATIENCE
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise RuntimeError(f"ringtrue serve did not start: {self.said.decode(errors='replace')}")
            time.sleep(0.02)

    def stop(self) -> int:
        """Ask it to end, as Ctrl-C does, and answer its exit code; what it printed is in `said`."""
        return self._end(signal.SIGINT)

    def kill(self) -> int:
        """End it and its workers without a word, as `kill -9` or a crash does."""
        return self._end(signal.SIGKILL)

    def kill_worker(self, number: int) -> int:
        """End one of its processes without a word, by turns, and answer which; the others go on."""
        assert self.process is not None
        workers = _find_workers(self.process.pid)
        worker = workers[number % len(workers)]
        os.kill(worker, signal.SIGKILL)
        return worker

    def wait_for_workers(self, count: int, *, without: int) -> None:
        """Wait until there are this many processes again, the one that was killed not among them."""
        assert self.process is not None
        end = time.monotonic() + PATIENCE
        while len(set(_find_workers(self.process.pid)) - {without}) < count:
            if time.monotonic() > end:
                raise RuntimeError(f"no other process took the place of {without}")
            time.sleep(0.05)

    def _end(self, how: signal.Signals) -> int:
        if self.process is None:
            return 0
        if self.process.poll() is None:
            if how == signal.SIGKILL:
                os.killpg(self.process.pid, how)
            else:
                self.process.send_signal(how)
        self.said += self.process.communicate(timeout=PATIENCE)[0]
        code, self.process = self.process.returncode, None
        return code

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()


def _find_workers(parent: int) -> list[int]:
    """The processes that serve for a server with several; Linux alone tells."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def free_port() -> int:
    """A port of loopback that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def cpu_seconds(roots: Sequence[int]) -> float:
    """CPU seconds so far of some processes and all that they started and still run; Linux alone tells."""
    parents, spent = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        pid = int(path.parent.name)
        parents[pid] = int(words[1])
        spent[pid] = sum(int(word) for word in words[11:13]) / os.sysconf("SC_CLK_TCK")
    found = set(roots)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sum(spent.get(pid, 0.0) for pid in found)


def _number(path: Path) -> int:
    found = re.match(r"\d+", path.parts[-3])
    return int(found[0]) if found else 0
